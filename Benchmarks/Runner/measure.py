"""Runs contestants in turn and gathers what they print."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from contestants import Contestant

# One result for each round, as the contestants print them.
Results = dict[str, list[dict]]


class Bench:
    def __init__(self, binaries: pathlib.Path, rounds: int):
        self.binaries = binaries
        self.rounds = rounds

    def in_rounds(self, contestants: list[Contestant], run: Callable[[Contestant], dict]) -> Results:
        """A B C, A B C, …: what slows the machine down for a while hits all of them."""
        results: Results = {one.name: [] for one in contestants}
        for round_number in range(self.rounds):
            for one in contestants:
                progress(f"round {round_number + 1} of {self.rounds}: {one.name}")
                results[one.name].append(run(one))
        progress("")
        return results

    def interleaved(self, contestants: list[Contestant], requests: int, arguments: list[str]) -> Results:
        results = self.in_rounds(contestants, lambda one: self.run(one, requests, arguments))
        # Counting costs time, so it has runs of its own.
        for one in contestants:
            progress(f"counting allocations: {one.name}")
            counted = self.run(one, min(requests, 5000), arguments, counts=True)["allocations"]
            for result in results[one.name]:
                result["allocations"] = counted
        progress("")
        return results

    def run(self, one: Contestant, requests: int, arguments: list[str], counts: bool = False) -> dict:
        count = max(1, int(requests * one.share))
        line = self.output([*one.command, "--requests", str(count), *arguments], counts)
        return json.loads(line)

    def run_under(self, tool: list[str], one: Contestant, requests: int, arguments: list[str]) -> None:
        """Runs a contestant by a tool that writes what it finds to a file."""
        program, *options = one.command
        words = [*tool, str(self.binaries / program), *options, "--requests", str(requests), *arguments]
        completed(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def downloads(self, contestants: list[Contestant], url: str) -> Results:
        return self.in_rounds(contestants, lambda one: self.download([*one.command, url]))

    def download(self, command: list[str]) -> dict:
        before, start = os.times(), time.monotonic()
        output = self.output(command)
        seconds, after = time.monotonic() - start, os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        # From start to end of the process for both, as curl tells nothing about itself.
        peak = json.loads(output)["peakKiB"] if output else None
        return {"seconds": seconds, "cpuSeconds": cpu, "peakKiB": peak}

    def output(self, command: list[str], counts: bool = False) -> str:
        environment = dict(os.environ)
        if counts:
            environment["LD_PRELOAD"] = str(self.binaries / "libMallocCount.so")
        program = self.binaries / command[0]
        words = [str(program) if program.exists() else command[0], *command[1:]]
        return completed(words, env=environment, stdout=subprocess.PIPE).stdout


def completed(words: list[str], **settings) -> subprocess.CompletedProcess:
    """What has come of a command; ends the benchmark when it fails, or takes five minutes."""
    try:
        done = subprocess.run(words, text=True, timeout=300, **settings)
    except (OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"\nbench: {error}")
    if done.returncode:
        sys.exit(f"\nbench: {' '.join(words)} ended with {done.returncode}\n{done.stderr or ''}")
    return done


def progress(text: str) -> None:
    """A line that the next one overwrites; only for who watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def median(results: list[dict], figure) -> float | None:
    values = [figure(result) for result in results]
    return None if None in values else statistics.median(values)


def median_ratio(results: list[dict], yardstick: list[dict], figure) -> float | None:
    """The median of each round's ratio: both were measured within seconds of each other."""
    pairs = [(figure(mine), figure(other)) for mine, other in zip(results, yardstick)]
    if any(mine is None or not other for mine, other in pairs):
        return None
    return statistics.median(mine / other for mine, other in pairs)
