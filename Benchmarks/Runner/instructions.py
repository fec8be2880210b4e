"""Counts the instructions of a request with callgrind, and says in whose code they are.

A contestant is run twice, with few requests and with more: the difference is what the requests cost, without the start of the
process. The counts hardly depend on the machine, nor on what else it does; those over a network differ by a few per cent from
run to run, as the contestants meet more or fewer responses at a time.
"""

import os
import pathlib
import re
import subprocess
import tempfile

from contestants import Contestant
from measure import Bench, progress
from report import number, table

FEW, MANY = 1000, 3000
# What a contestant sends before it measures, as a share of what it measures.
WARM_UP = 0.1
# The program itself, into which the package is linked.
OURS = "program"
# Whose code it is: the first pattern that occurs in the object's path.
LAYERS = [
    ("libcurl", re.compile(r"libcurl|libnghttp2")),
    ("TLS", re.compile(r"libssl|libcrypto")),
    ("concurrency", re.compile(r"libswift_Concurrency|libdispatch|libBlocksRuntime")),
    ("Swift", re.compile(r"libswift|lib_Foundation|libFoundation")),
    ("libc", re.compile(r"libc\.so|ld-linux|libpthread|libm\.so|libz|vdso|vgpreload|^\?\?\?")),
]


def layer(path: str) -> str:
    return next((name for name, pattern in LAYERS if pattern.search(path)), OURS)


class Profile:
    """The instructions of each function that a file of callgrind's tells of."""

    REFERENCE = re.compile(r"\((\d+)\)(?: (.*))?")

    def __init__(self, file: pathlib.Path):
        self.functions: dict[tuple[str, str], int] = {}
        self.names: dict[str, dict[str, str]] = {"ob": {}, "fn": {}}
        path = function = "???"
        is_cost_of_call = False
        for line in file.read_text(errors="replace").splitlines():
            key, separator, value = line.partition("=")
            if separator:
                if key in ("ob", "cob"):
                    name = self.name("ob", value)
                    path = name if key == "ob" else path
                elif key in ("fn", "cfn"):
                    name = self.name("fn", value)
                    function = name if key == "fn" else function
                elif key == "calls":
                    is_cost_of_call = True
            elif line[:1] in "+-*0123456789" and line:
                if not is_cost_of_call:
                    place = path, function
                    self.functions[place] = self.functions.get(place, 0) + int(line.split()[1])
                is_cost_of_call = False

    def name(self, kind: str, reference: str) -> str:
        """A name is written out where it occurs first, and by its number from there on."""
        match = self.REFERENCE.fullmatch(reference)
        if not match:
            return reference
        number, name = match.groups()
        return self.names[kind].setdefault(number, name or "???")


def counted(bench: Bench, one: Contestant, arguments: list[str]) -> dict[tuple[str, str], float]:
    """The instructions of one request, by object and function."""
    few, many = (profile(bench, one, count, arguments) for count in (FEW, MANY))
    requests = (MANY - FEW) * (1 + WARM_UP)
    return {place: (cost - few.functions.get(place, 0)) / requests for place, cost in many.functions.items()}


def profile(bench: Bench, one: Contestant, requests: int, arguments: list[str]) -> Profile:
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "profile"
        tool = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={file}"]
        bench.run_under(tool, one, requests, arguments)
        return Profile(file)


def by_layer(counts: dict[tuple[str, str], float]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for (path, _), count in counts.items():
        name = layer(path)
        sums[name] = sums.get(name, 0) + count
    return sums


def total(bench: Bench, one: Contestant, arguments: list[str]) -> float:
    return sum(counted(bench, one, arguments).values())


def report(bench: Bench, title: str, contestants: list[Contestant], arguments: list[str]) -> str:
    """Thousands of instructions of one request, by layer."""
    names = [OURS, *(name for name, _ in LAYERS)]
    rows, yardstick = [], None
    for one in contestants:
        progress(f"counting instructions: {title}, {one.name}")
        sums = by_layer(counted(bench, one, arguments))
        whole = sum(sums.values())
        yardstick = yardstick or whole
        rows.append([
            one.name, f"{whole / 1000:,.1f} ({whole / yardstick:.2f}×)",
            *(number(sums.get(name, 0) / 1000, 1) for name in names),
        ])
    progress("")
    return table(f"{title}: thousands of instructions a request", ["", "all", *names], rows)


def functions(bench: Bench, one: Contestant, arguments: list[str], count: int) -> str:
    """The functions that cost most, with what they cost in one request."""
    costs = sorted(counted(bench, one, arguments).items(), key=lambda item: -item[1])[:count]
    text = "\n".join(f"{cost:10,.0f}  {pathlib.Path(path).name}  {name}" for (path, name), cost in costs)
    readable = subprocess.run(["swift", "demangle", "--compact"], input=text, stdout=subprocess.PIPE, text=True).stdout
    return f"{one.name}: instructions of the {count} functions that cost most\n\n{readable}"
