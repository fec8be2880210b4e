"""Compares allocations, instructions, sends and receives, and the memory of idle sockets with thresholds.json: never times.

Without a network allocations are the same in every run, and instructions differ by a fraction of a per cent from run to run, and by a
little more from one processor to another, since the C library chooses by it how to copy memory. Over the wire all of them differ by
several per cent, as more or fewer responses come at a time, and a body with its head or after it: what is too much there is counted again,
and the least counts. What takes more each time is found all the same.

The memory of a socket differs by some bytes.
"""

import json
import pathlib

import idle
import instructions
import transmissions
from contestants import Contestant
from measure import Bench, progress

FILE = pathlib.Path(__file__).parent.parent / "thresholds.json"
CALLS = 5000
# Whose difference is what the interceptors cost, and how many these are.
FEW, MANY, MORE = "stub, 0 interceptors", "stub, 5 interceptors", 5
# How often what depends on how responses come is counted, unless it is within its threshold before.
MOST_COUNTS = 5
# By what share the counts of each group may differ from what is written down.
TOLERANCES = {
    "pipeline": {"allocations": 0, "instructions": 0.03},
    "wire": {"allocations": 0.05, "instructions": 0.05, "sends and receives": 0.25},
    "sockets": {"bytes": 0.05},
}

# By kind, and by the name of a contestant.
Counts = dict[str, dict[str, float]]


def taking_part(groups: dict[str, list[Contestant]]) -> dict[str, list[Contestant]]:
    return {
        group: [one for one in groups[group] if any(one.name in of_each for of_each in limits.values())]
        for group, limits in json.loads(FILE.read_text()).items()
        if group in groups
    }


def check(bench: Bench, groups: dict[str, list[Contestant]], arguments: dict[str, list[str]]) -> bool:
    """Prints the counts, and tells whether none is above its threshold; each group's contestants get its arguments."""
    is_good = True
    for group, limits in json.loads(FILE.read_text()).items():
        if "sends and receives" in limits and not transmissions.can_be_counted():
            print("Sends and receives aren't counted: there is no strace, or it may not trace here.")
            del limits["sends and receives"]
        if group in groups:
            counts = counted(bench, groups[group], arguments.get(group, []), limits, TOLERANCES[group])
        else:
            # Without contestants, since the system's libcurl has no sockets.
            counts = {"bytes": idle.sockets(bench)}
        for kind, of_each in limits.items():
            is_good &= check_kind(kind, counts[kind], of_each, TOLERANCES[group][kind])
    return is_good


def counted(bench: Bench, contestants: list[Contestant], arguments: list[str], limits: Counts, tolerances: dict[str, float]) -> Counts:
    counters = {
        "allocations": lambda one: bench.run(one, CALLS, arguments, counts=True)["allocations"],
        "instructions": lambda one: instructions.total(bench, one, arguments),
        "sends and receives": lambda one: transmissions.total(bench, one, arguments),
    }
    counts: Counts = {}
    for kind, of_each in limits.items():
        counts[kind] = {}
        for one in contestants:
            progress(f"counting {kind}: {one.name}")
            most = allowed(of_each.get(one.name, float("inf")), tolerances[kind])
            least = counters[kind](one)
            # Without arguments no response comes from elsewhere.
            further = MOST_COUNTS - 1 if arguments else 0
            while least > most and further:
                least = min(least, counters[kind](one))
                further -= 1
            counts[kind][one.name] = least
    progress("")
    for of_each in counts.values():
        if FEW in of_each and MANY in of_each:
            of_each["an interceptor"] = (of_each[MANY] - of_each[FEW]) / MORE
    return counts


def allowed(limit: float, tolerance: float) -> float:
    return limit * (1 + tolerance)


def check_kind(kind: str, counts: dict[str, float], limits: dict[str, float], tolerance: float) -> bool:
    digits = None if kind == "instructions" else 1
    is_good = True
    for name, limit in limits.items():
        if name not in counts:
            print(f"{name}: has a threshold, but isn't in contestants.json")
            is_good = False
            continue
        count = round(counts[name], digits)
        verdict = ""
        if count > allowed(limit, tolerance):
            verdict = f"  too many: {limit:,} are allowed"
            is_good = False
        elif count < limit * (1 - tolerance):
            verdict = f"  fewer than the {limit:,} in {FILE.parent.name}/{FILE.name}: write {count:,} there"
        print(f"{count:10,} {kind} for {name}{verdict}")
    return is_good
