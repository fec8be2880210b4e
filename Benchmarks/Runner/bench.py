"""Measures the contestants against each other; Scripts/bench builds them, starts the servers and runs this."""

import argparse
import os
import pathlib
import sys

import contestants
import idle
import instructions
import report
import sink
import thresholds
from measure import Bench

PROTOCOLS = {
    "http1": ("HTTP/1.1", "MIDSTREAM_NGINX_HTTP"),
    "http2": ("HTTP/2 over TLS", "MIDSTREAM_NGINX_HTTPS"),
}
# By how many are in flight: about a second for the first contestant on a quiet machine.
REQUESTS = {
    "http1": {1: 8000, 64: 30000, 1000: 30000},
    "http2": {1: 8000, 64: 30000},
}
# A thousand requests at a time would take callgrind too long.
COUNTED_IN_FLIGHT = [1, 64]
UPLOADS, UPLOAD_MIB = 24, 256
PIPELINE_REQUESTS = 200_000


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="Scripts/bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured (5)")
    parser.add_argument("--only", default="", metavar="REGEX", help="contestants whose name matches")
    parser.add_argument("--thresholds", action="store_true", help="only count what a request takes in memory, instructions, sends and receives, and an idle socket in memory, and fail if it is too much")
    parser.add_argument("--instructions", action="store_true", help="count instructions by layer, and measure no time")
    parser.add_argument("--functions", type=int, default=0, metavar="N", help="with --instructions: the N functions that cost most")
    parser.add_argument("--print-products", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--binaries", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds is at least 1")
    return options


def main() -> None:
    options = arguments()
    groups = contestants.load(options.only)
    if options.thresholds:
        groups = thresholds.taking_part(contestants.load(""))
    if options.print_products:
        print(*sorted(contestants.products(groups) | (idle.PRODUCTS if options.thresholds else set())), sep="\n")
        return
    bench = Bench(options.binaries, options.rounds)
    if options.thresholds:
        _, wire = of_wire("http1", 64)
        sys.exit(not thresholds.check(bench, groups, {"wire": wire}))
    if options.instructions:
        count_instructions(bench, groups, options.functions)
    else:
        measure(bench, groups)


def of_wire(protocol: str, in_flight: int) -> tuple[str, list[str]]:
    """A title, and the arguments of the contestants."""
    title, variable = PROTOCOLS[protocol]
    return f"{title}, {in_flight} in flight, 1 KiB", [
        "--url", os.environ[variable] + "/bench", "--protocol", protocol,
        "--ca", os.environ["MIDSTREAM_CA"], "--in-flight", str(in_flight),
    ]


def count_instructions(bench: Bench, groups: dict[str, list[contestants.Contestant]], functions: int) -> None:
    trials = [(of_wire(protocol, in_flight), [one for one in groups.get("wire", []) if protocol in one.protocols])
              for protocol in PROTOCOLS for in_flight in COUNTED_IN_FLIGHT]
    trials.append((("The pipeline alone", []), groups.get("pipeline", [])))
    for (title, arguments), taking_part in trials:
        if taking_part:
            print(instructions.report(bench, title, taking_part, arguments), flush=True)
        for one in taking_part if functions else []:
            print(instructions.functions(bench, one, arguments, functions), flush=True)


def measure(bench: Bench, groups: dict[str, list[contestants.Contestant]]) -> None:
    print(f"Medians of {bench.rounds} interleaved rounds; in parentheses the ratio to the first line.\n")
    if "wire" in groups:
        for protocol in PROTOCOLS:
            taking_part = [one for one in groups["wire"] if protocol in one.protocols]
            for in_flight, requests in REQUESTS[protocol].items():
                title, arguments = of_wire(protocol, in_flight)
                print(report.wire(title, bench.interleaved(taking_part, requests, arguments)), flush=True)
    if "download" in groups:
        results = bench.downloads(groups["download"], os.environ["MIDSTREAM_NGINX_HTTP"] + "/large")
        print(report.downloads("Download of 1 GiB, HTTP/1.1", results), flush=True)
    if "upload" in groups:
        with sink.serving() as url:
            results = bench.interleaved(
                groups["upload"], UPLOADS, ["--url", url, "--protocol", "http1", "--in-flight", "1", "--upload", str(UPLOAD_MIB)])
        print(report.uploads(f"Upload of {UPLOAD_MIB} MiB in chunks of 64 KiB, HTTP/1.1", results, UPLOAD_MIB), flush=True)
    if "pipeline" in groups:
        results = bench.interleaved(groups["pipeline"], PIPELINE_REQUESTS, [])
        print(report.pipeline("The pipeline alone, over a transport that answers at once", results), flush=True)


main()
