"""Compares allocations and instructions with thresholds.json: counts, and never times.

Only contestants without a network have counts that are the same in every run: over libcurl that of allocations differs by half a one.
Instructions differ by a fraction of a per cent from run to run, and by a little more from one processor to another, since the C library
chooses by it how to copy memory.
"""

import json
import pathlib

import instructions
from contestants import Contestant
from measure import Bench, progress

FILE = pathlib.Path(__file__).parent.parent / "thresholds.json"
CALLS = 5000
# Whose difference is what the interceptors cost, and how many these are.
FEW, MANY, MORE = "stub, 0 interceptors", "stub, 5 interceptors", 5
# By what share the instructions may differ from what is written down.
TOLERANCE = 0.03


def taking_part(groups: dict[str, list[Contestant]]) -> dict[str, list[Contestant]]:
    limits = json.loads(FILE.read_text())
    names = limits["allocations"].keys() | limits["instructions"].keys()
    return {"pipeline": [one for one in groups["pipeline"] if one.name in names]}


def check(bench: Bench, groups: dict[str, list[Contestant]]) -> bool:
    """Prints the counts, and tells whether none is above its threshold."""
    limits = json.loads(FILE.read_text())
    allocations = {one.name: bench.run(one, CALLS, [], counts=True)["allocations"] for one in groups["pipeline"]}
    executed = {}
    for one in groups["pipeline"]:
        progress(f"counting instructions: {one.name}")
        executed[one.name] = instructions.total(bench, one, [])
    progress("")
    counts = {"allocations": allocations, "instructions": executed}
    for kind, of_each in counts.items():
        if FEW in of_each and MANY in of_each:
            of_each["an interceptor"] = (of_each[MANY] - of_each[FEW]) / MORE
    return all([check_kind(kind, counts[kind], limits[kind]) for kind in counts])


def check_kind(kind: str, counts: dict[str, float], limits: dict[str, float]) -> bool:
    tolerance, digits = (TOLERANCE, None) if kind == "instructions" else (0, 1)
    is_good = True
    for name, limit in limits.items():
        if name not in counts:
            print(f"{name}: has a threshold, but isn't in contestants.json")
            is_good = False
            continue
        count = round(counts[name], digits)
        verdict = ""
        if count > limit * (1 + tolerance):
            verdict = f"  too many: {limit:,} are allowed"
            is_good = False
        elif count < limit * (1 - tolerance):
            verdict = f"  fewer than the {limit:,} in {FILE.parent.name}/{FILE.name}: write {count:,} there"
        print(f"{count:10,} {kind} for {name}{verdict}")
    return is_good
