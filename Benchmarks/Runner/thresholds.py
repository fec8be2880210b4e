"""Compares allocations with thresholds.json: counts, which are the same on every machine, and never times.

Only contestants without a network have a count that is the same in every run; over libcurl it differs by half an allocation.
"""

import json
import pathlib

from contestants import Contestant
from measure import Bench

FILE = pathlib.Path(__file__).parent.parent / "thresholds.json"
CALLS = 5000
# Whose difference is what the interceptors cost, and how many these are.
FEW, MANY, MORE = "stub, 0 interceptors", "stub, 5 interceptors", 5


def taking_part(groups: dict[str, list[Contestant]]) -> dict[str, list[Contestant]]:
    limits = json.loads(FILE.read_text())["call"]
    return {"pipeline": [one for one in groups["pipeline"] if one.name in limits]}


def check(bench: Bench, groups: dict[str, list[Contestant]]) -> bool:
    """Prints the counts, and tells whether none is above its threshold."""
    limits = json.loads(FILE.read_text())
    counts = {one.name: bench.run(one, CALLS, [], counts=True)["allocations"] for one in groups["pipeline"]}
    missing = limits["call"].keys() - counts.keys()
    for name in sorted(missing):
        print(f"{name}: has a threshold, but isn't in contestants.json")
    rows = [(f"a call, {name}", round(count, 1), limits["call"][name]) for name, count in counts.items()]
    if FEW in counts and MANY in counts:
        rows.append(("an interceptor", round((counts[MANY] - counts[FEW]) / MORE, 1), limits["interceptor"]))
    for name, count, limit in rows:
        verdict = ""
        if count > limit:
            verdict = f"  too many: {limit} are allowed"
        elif count < limit:
            verdict = f"  fewer than the {limit} in {FILE.parent.name}/{FILE.name}: write {count} there"
        print(f"{count:5.1f} allocations for {name}{verdict}")
    return not missing and all(count <= limit for _, count, limit in rows)
