"""Compares the package with the diagram; Scripts/check structure runs this. `--root` is for the self-test."""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import time

import diagram
from compiler import Check, Compiler
from declared import Declared
from package import Package

LONGEST_FILE = 400
IMPORT = re.compile(r"\s*(?:@\w+(?:\(\w+\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?"
                    r"import\s+(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(\w+)")


def agrees_with_manifest(targets: dict[str, diagram.Target], manifest: dict[str, list[str]]) -> list[str]:
    problems = [f"{name} is in the diagram, but no target in Sources" for name in targets if name not in manifest]
    for name, uses in manifest.items():
        if name not in targets:
            problems.append(f"{name} isn't in the diagram")
            continue
        drawn = targets[name].uses
        problems += [f"{name} ← {one} is drawn, but Package.swift doesn't say so" for one in drawn if one not in uses]
        problems += [f"{name} ← {one} is missing: Package.swift says so" for one in uses if one not in drawn]
    return problems


def long_files(root: pathlib.Path) -> list[str]:
    problems = []
    for file in sorted((root / "Sources").rglob("*")):
        if file.suffix in (".swift", ".c", ".h"):
            lines = file.read_text().count("\n")
            if lines > LONGEST_FILE:
                problems.append(f"{file.relative_to(root)} has {lines} lines; {LONGEST_FILE} is the most")
    return problems


def undrawn_imports(targets: dict[str, diagram.Target], package: Package) -> list[str]:
    """Imports of targets that the target doesn't depend on: the build finds these modules all the same, if they come first."""
    problems = []
    for target in targets.values():
        folder = package.folder(target.name)
        for file in sorted(folder.rglob("*.swift")):
            for number, line in enumerate(file.read_text().splitlines(), 1):
                imported = IMPORT.match(line)
                if imported and imported[1] in targets and imported[1] not in target.uses:
                    place = file.relative_to(package.root)
                    problems.append(f"{target.name} → {place}:{number}: imports {imported[1]}, which it mustn't use")
    return problems


def groups(target: diagram.Target, folder: pathlib.Path) -> tuple[dict[str, list[pathlib.Path]], list[str]]:
    """The files of each folder of the diagram, and what doesn't match."""
    files: dict[str, list[pathlib.Path]] = {name: [] for name in [*target.folders, "."]}
    problems = []
    for file in sorted(folder.rglob("*.swift")):
        path = file.relative_to(folder)
        group = target.folder_of(path)
        if group:
            files[group].append(file)
        else:
            problems.append(f"{target.name}/{path.parent} isn't in the diagram")
    problems += [f"{target.name}/{name} is in the diagram, but has no files" for name in target.folders if not files[name]]
    return files, list(dict.fromkeys(problems))


def checks(target: diagram.Target, files: dict[str, list[pathlib.Path]], package: Package) -> list[Check]:
    flags = package.flags(target.name)
    modules = [package.modules / f"{name}.swiftmodule" for name in sorted(target.uses)]
    modules = [module for module in modules if module.exists()]
    declared = Declared(files)
    # What the build has made of the files that are embedded in code: all folders may use it.
    made = list((package.modules.parent / f"{target.name}.build" / "DerivedSources").glob("embedded_resources.swift"))

    def check(name: str) -> Check:
        used = target.reachable(name)
        return Check(
            f"{target.name}/{name}", files[name], [*made, *(file for folder in used for file in files[folder])], flags, modules,
            lambda complaint: declared.hint(complaint, {name, *used}))

    return [check(name) for name in target.folders]


def finish(problems: list[str]) -> None:
    if problems:
        print(*problems, sep="\n")
        sys.exit(1)


def main() -> None:
    parser = argparse.ArgumentParser(prog="Scripts/check structure", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="look into the folders of these only")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path.cwd(), help=argparse.SUPPRESS)
    options = parser.parse_args()
    start = time.monotonic()
    root = options.root.resolve()
    package = Package(root)
    targets, problems = diagram.read(root)
    finish(problems)
    problems += agrees_with_manifest(targets, package.targets()) + undrawn_imports(targets, package) + long_files(root)
    chosen = {}
    for target in targets.values():
        # One that is listed without folders is one group, and the build has checked it.
        if target.folders and target.name in (options.targets or targets):
            chosen[target.name], more = groups(target, package.folder(target.name))
            problems += more
    finish(problems)
    package.build()
    planned = [check for name, files in chosen.items() for check in checks(targets[name], files, package)]
    version = subprocess.run(["swiftc", "--version"], text=True, capture_output=True).stdout
    compiler = Compiler(root, version)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for complaints in pool.map(compiler.complaints, planned):
            problems += complaints
    finish(problems)
    print(f"The structure is as drawn: {len(targets)} targets, {len(planned)} folders ({time.monotonic() - start:.0f} s)")


main()
