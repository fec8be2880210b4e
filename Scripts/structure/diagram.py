"""Reads the diagram: the block ```structure in CONTRIBUTING.md.

A target starts a line, its folders are indented below it, and what each may use follows an arrow. Whoever is used is listed
first, so that there can't be a cycle:

    Base
    Client          ← Base
        Message
        Trace       ← Message

Files that lie in the target's folder itself may use all of its folders, and aren't listed.
"""

import pathlib
import re
from dataclasses import dataclass, field


@dataclass
class Target:
    name: str
    uses: list[str]
    # The folders in the order of the diagram, and what each may use.
    folders: dict[str, list[str]] = field(default_factory=dict)

    def reachable(self, folder: str) -> list[str]:
        """What the folder may use, directly and by way of what it uses."""
        found: list[str] = []
        waiting = list(self.folders[folder])
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.append(one)
                waiting += self.folders.get(one, [])
        return sorted(found)

    def folder_of(self, path: pathlib.PurePath) -> str | None:
        """The folder of the diagram that a file belongs to: the deepest one; `.` for a file in none of the target's folders."""
        if len(path.parts) == 1:
            return "."
        parents = [parent.as_posix() for parent in path.parents]
        return next((parent for parent in parents if parent in self.folders), None)


def read(root: pathlib.Path) -> tuple[dict[str, Target], list[str]]:
    """The targets, and what is wrong with the diagram itself."""
    text = (root / "CONTRIBUTING.md").read_text()
    block = re.search(r"^```structure\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if not block:
        return {}, ["CONTRIBUTING.md has no block ```structure"]
    targets: dict[str, Target] = {}
    problems: list[str] = []
    for line in filter(str.strip, block[1].splitlines()):
        name, _, right = line.partition("←")
        uses = [one.strip() for one in right.split(",") if one.strip()]
        is_folder = line[0].isspace()
        name = name.strip()
        if is_folder and not targets:
            problems.append(f"{name} is indented, but no target is above it")
            continue
        target = list(targets.values())[-1] if is_folder else None
        siblings = target.folders if target else targets
        label = f"{target.name}/{name}" if target else name
        if name in siblings:
            problems.append(f"{label} is listed twice")
        # What is used has to be known already, which leaves no way to draw a cycle.
        problems += [
            f"{label} ← {one}: {one} isn't listed above it; what is used comes first, so that nothing goes in a circle"
            for one in uses if one not in siblings
        ]
        if target:
            target.folders[name] = uses
        else:
            targets[name] = Target(name, uses)
    return targets, problems
