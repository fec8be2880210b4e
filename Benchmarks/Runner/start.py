"""Starts programs again and again, each in turn, and compares their times with curl's; Scripts/bench start runs this."""

import os
import statistics
import sys
import time


def run(command: list[str]) -> tuple[float, float]:
    """The wall's and the processor's seconds of one run."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        begin = time.perf_counter()
        actions = [(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
        process = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
        _, status, usage = os.wait4(process, 0)
        wall = time.perf_counter() - begin
    finally:
        os.close(null)
    if status:
        sys.exit(f"{' '.join(command)} failed")
    return wall, usage.ru_utime + usage.ru_stime


def main() -> None:
    rounds, loaded, dynamic, static = int(sys.argv[1]), *sys.argv[2:]
    page = os.environ["MIDSTREAM_NGINX_HTTP"] + "/hello"
    tasks = {"--version": (["--version"], ["--version"]), "get of 6 bytes": (["get", page], ["-s", page])}
    print("| | curl: wall, CPU | Foundation and libcurl, loaded | midst | midst, static |")
    print("| --- | --- | --- | --- | --- |")
    for name, (ours, theirs) in tasks.items():
        contestants = [["curl", *theirs], [loaded], [dynamic, *ours], [static, *ours]]
        times: list[list[tuple[float, float]]] = [[] for _ in contestants]
        for command in contestants:
            run(command)
        for _ in range(rounds):
            for kept, command in zip(times, contestants):
                kept.append(run(command))
        cells = []
        for kept in times[1:]:
            # Of each round the ratio, since a machine's speed changes between rounds.
            ratios = [
                statistics.median(mine[kind] / curl[kind] for mine, curl in zip(kept, times[0])) for kind in (0, 1)
            ]
            cells.append(f"{ratios[0]:.2f}×, {ratios[1]:.2f}×")
        wall, cpu = (statistics.median(one[kind] for one in times[0]) * 1000 for kind in (0, 1))
        print(f"| {name} | {wall:.1f} ms, {cpu:.1f} ms | {' | '.join(cells)} |")
    sizes = [os.path.getsize(path) / 1_000_000 for path in (dynamic, static)]
    print(f"| size, stripped | | | {sizes[0]:.1f} MB | {sizes[1]:.1f} MB |")


main()
