"""Has sockets of Midstream and of libcurl exchange messages with the same server, in turn; Scripts/bench sockets builds them and runs this."""

import json
import operator
import pathlib
import subprocess
import sys

from idle import serving
from measure import completed, median, median_ratio

BINARIES, NEWER = pathlib.Path(sys.argv[1]), sys.argv[2]
DIRECTORY, ROUNDS = pathlib.Path(sys.argv[3]), int(sys.argv[4])
SIZE, COUNT = 64 << 10, 1600
# Figures of a result.
SECONDS, CPU, PEAK = map(operator.itemgetter, ("seconds", "cpuSeconds", "peak"))


def run(program: str, *words: object) -> dict:
    """Midstream's with the system's libraries, libcurl's sockets with a libcurl that has them."""
    command = [str(BINARIES / program), *map(str, words)]
    if program == "socket-baseline":
        command = [NEWER, *command]
    return json.loads(completed(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout)


def rounds(contestants: dict[str, tuple]) -> dict[str, list[dict]]:
    results: dict[str, list[dict]] = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, words in contestants.items():
            results[name].append(run(*words))
    return results


def megabytes(count: float) -> str:
    return f"{count / 1e6:.2f} MB"


def echo(url: str) -> None:
    times = 20_000
    results = rounds({
        "libcurl in C": ("socket-baseline", "echo", url, times, 100),
        "client": ("socket-bench", "echo", url, times, 100),
        "client, on the loop": ("socket-bench", "echo", url, times, 100, "loop"),
    })
    yardstick = results["libcurl in C"]
    print("100 bytes echoed, one by one:")
    for name, mine in results.items():
        rate = times / median(mine, SECONDS)
        cost = median(mine, CPU) / times * 1e6
        print(f"  {name}: {rate:,.0f} ({1 / median_ratio(mine, yardstick, SECONDS):.2f}×), "
              f"{cost:.1f} µs ({median_ratio(mine, yardstick, CPU):.2f}×)")


def bulk(url: str) -> None:
    results = rounds({
        "libcurl in C": ("socket-baseline", "bulk", url, COUNT, SIZE),
        "client": ("socket-bench", "bulk", url, COUNT, SIZE),
        "client, on the loop": ("socket-bench", "bulk", url, COUNT, SIZE, "loop"),
        "client, one message, streamed up": ("socket-bench", "chunks", url, COUNT, SIZE),
        "client, one message, there and back": ("socket-bench", "receive", url, 1, COUNT * SIZE),
    })
    yardstick = results["libcurl in C"]
    print("100 MiB in messages or chunks of 64 KiB:")
    for name, mine in results.items():
        print(f"  {name}: {median(mine, SECONDS):.2f} s ({median_ratio(mine, yardstick, SECONDS):.2f}×), "
              f"CPU {median(mine, CPU):.2f} s ({median_ratio(mine, yardstick, CPU):.2f}×), "
              f"{megabytes(median(mine, PEAK))} above the start")


def idle(clear: str, secured: str, certificate: str) -> None:
    count = 1_000
    print(f"memory of one of {count:,} idle sockets, in bytes:")
    for name, words in {
        "libcurl in C": ("socket-baseline", "idle", clear, count),
        "client": ("socket-bench", "idle", clear, count, "unread"),
        "client, and a task that reads": ("socket-bench", "idle", clear, count),
        "client, and a task that reads, compression agreed on": ("socket-bench", "idle", clear, count, "deflate"),
        "libcurl in C, TLS": ("socket-baseline", "idle", secured, count, certificate),
        "client, TLS": ("socket-bench", "idle", secured, count, certificate, "unread"),
        "client, TLS, and a task that reads": ("socket-bench", "idle", secured, count, certificate),
    }.items():
        print(f"  {name}: {run(*words)['bytes']:,.0f}")


def main() -> None:
    certificate, key = str(DIRECTORY / "cert.pem"), str(DIRECTORY / "key.pem")
    with serving(BINARIES, certificate, key) as (port, secured):
        echo(f"ws://127.0.0.1:{port}")
        bulk(f"ws://127.0.0.1:{port}")
        idle(f"ws://127.0.0.1:{port}", f"wss://localhost:{secured}", certificate)


main()
