"""Makes and reads the symbol graphs of the modules: their public declarations as the compiler sees them."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

from package import Package

TYPES = {"struct", "enum", "class", "actor", "protocol", "typealias"}
# What every type gets unasked.
UNASKED = {"Copyable", "Escapable", "SendableMetatype", "BitwiseCopyable"}


@dataclass(frozen=True)
class Declaration:
    path: tuple[str, ...]
    # As in source, without access level and body.
    text: str
    # struct, enum, …, property, method, init, …
    kind: str

    @property
    def is_type(self) -> bool:
        return self.kind in TYPES


def extracted(package: Package) -> pathlib.Path:
    """A folder with the symbol graphs of all libraries: for each module a file, and one for each module that it extends. They are kept
    until the build makes other modules."""
    folder = package.root / ".build" / "symbols"
    modules = package.libraries()
    state = "\n".join(f"{file.name} {file.stat().st_mtime_ns}" for file in sorted(package.modules.glob("*.swift[dm]o*")))
    stamp = folder / "modules.txt"
    if stamp.exists() and stamp.read_text() == state:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for module in modules:
        extract(module, package.import_flags(module), folder)
    stamp.write_text(state)
    return folder


def extract(module: str, flags: list[str], folder: pathlib.Path) -> None:
    done = subprocess.run(
        ["swift", "symbolgraph-extract", "-module-name", module, "-output-dir", str(folder), *flags,
         "-minimum-access-level", "public", "-skip-synthesized-members", "-skip-inherited-docs"],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{done.stdout}\nThe symbols of {module} can't be extracted.")


def files(folder: pathlib.Path, module: str) -> list[pathlib.Path]:
    """The graph of a module, and those of what it adds to others."""
    return [folder / f"{module}.symbols.json", *sorted(folder.glob(f"{module}@*.symbols.json"))]


def declarations(folder: pathlib.Path, module: str) -> list[Declaration]:
    found = set()
    for graph in (json.loads(path.read_text()) for path in files(folder, module)):
        relations = Relations(graph["relationships"], {one["identifier"]["precise"]: one for one in graph["symbols"]})
        found |= {declaration(symbol, relations) for symbol in graph["symbols"] if is_written(symbol)}
    return sorted(found, key=lambda one: (one.path, one.text))


def is_written(symbol: dict) -> bool:
    """Not made up by the compiler, and not marked by an underscore as nobody's business."""
    hidden = any(re.match("[_$]", component) for component in symbol["pathComponents"])
    return "location" in symbol and "::SYNTHESIZED::" not in symbol["identifier"]["precise"] and not hidden


class Relations:
    def __init__(self, relationships: list[dict], symbols: dict[str, dict]):
        # What a type demands of its own parameters: extensions repeat it.
        self.demands = {
            tuple(one["pathComponents"]): one.get("swiftGenerics", {}).get("constraints", []) for one in symbols.values()
        }
        self.conformances: dict[str, list[str]] = {}
        self.defaults: set[str] = set()
        for one in relationships:
            if one["kind"] == "defaultImplementationOf":
                self.defaults.add(one["source"])
            if one["kind"] not in ("conformsTo", "inheritsFrom"):
                continue
            target = symbols.get(one["target"])
            name = ".".join(target["pathComponents"]) if target else one.get("targetFallback", "").partition(".")[2]
            if name and name not in UNASKED:
                source = symbols.get(one["source"])
                condition = self.condition(one.get("swiftConstraints", []), source["pathComponents"] if source else [])
                self.conformances.setdefault(one["source"], []).append(name + condition)

    def condition(self, clauses: list[dict], path: list[str]) -> str:
        """What an extension of the type demands beyond what the type does."""
        operators = {"conformance": ":", "superclass": ":", "sameType": " =="}
        words = [
            f"{one['lhs']}{operators[one['kind']]} {one['rhs']}" for one in clauses
            if one not in self.demands.get(tuple(path), []) and (one["lhs"], one["rhs"]) != ("Self", path[-1])
        ]
        return f" where {', '.join(words)}" if words else ""


def declaration(symbol: dict, relations: Relations) -> Declaration:
    identifier = symbol["identifier"]["precise"]
    text = " ".join("".join(piece["spelling"] for piece in symbol["declarationFragments"]).split()).replace(" : ", ": ")
    kind = symbol["kind"]["identifier"].removeprefix("swift.")
    path = tuple(symbol["pathComponents"])
    if kind in TYPES and kind != "typealias":
        # A nested type stands on its own, under its full name.
        head, name, rest = text.partition(f" {path[-1]}")
        text = f"{head} {'.'.join(path)}{rest}" if name else text
        conformances = sorted(set(relations.conformances.get(identifier, [])))
        if conformances:
            clause = text.find(" where ")
            head, rest = (text, "") if clause < 0 else (text[:clause], text[clause:])
            text = f"{re.sub(r': .*', '', head)}: {', '.join(conformances)}{rest}"
    else:
        extension = symbol.get("swiftExtension", {}).get("constraints", [])
        if extension and " where " not in text:
            text += relations.condition(extension, list(path[:-1]))
        if identifier in relations.defaults:
            text += "  // default"
    if symbol["accessLevel"] == "open":
        text = f"open {text}"
    return Declaration(path, text, kind)
