"""Prints the Swift modules in Sources, each after those that it imports."""

import pathlib

from package import Package


def in_order(uses: dict[str, list[str]]) -> list[str]:
    found: list[str] = []

    def add(name: str) -> None:
        for one in uses.get(name, []):
            add(one)
        if name in uses and name not in found:
            found.append(name)

    for name in uses:
        add(name)
    return found


package = Package(pathlib.Path.cwd())
kinds = {target["name"]: target["type"] for target in package.manifest["targets"]}
print(*(name for name in in_order(package.targets()) if kinds[name] in ("regular", "executable")))
