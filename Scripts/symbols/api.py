"""Writes the public API down, or compares it with what is written; Scripts/api runs this."""

import difflib
import pathlib
import re
import sys

import graph
from graph import Declaration
from package import Package

FOLDER = pathlib.Path("Documentation/API")
UMBRELLA = "Midstream"
# How many public types it may bring, nested ones included: who adds one makes another unnecessary.
MOST_TYPES = 170
# How members are ordered; what isn't here comes last.
KINDS = ["associatedtype", "typealias", "enum.case", "type.property", "property", "init", "type.subscript", "subscript",
         "type.method", "method"]


def member_order(member: Declaration) -> tuple:
    return (KINDS.index(member.kind) if member.kind in KINDS else len(KINDS), member.path[-1], member.text)


def page(declarations: list[Declaration]) -> str:
    """A paragraph for each type, its members indented; then what belongs to none."""
    types = {one.path: one for one in declarations if one.is_type and one.kind != "typealias"}
    members: dict[tuple[str, ...], list[Declaration]] = {path: [] for path in types}
    for one in declarations:
        if one.path not in types or one != types[one.path]:
            members.setdefault(one.path[:-1], []).append(one)
    paragraphs = []
    for path in sorted(members, key=lambda path: (not path, path)):
        head = types[path].text if path in types else f"extension {'.'.join(path)}"
        indentation = "    " if path else ""
        lines = [head] if path else []
        lines += [indentation + member.text for member in sorted(members[path], key=member_order)]
        paragraphs.append("\n".join(lines) + "\n")
    return "\n".join(paragraphs)


def reexported(package: Package, module: str) -> list[str]:
    """The module, and those that come with it."""
    found = [module]
    for one in found:
        files = sorted(package.folder(one).rglob("*.swift"))
        exported = {
            name for file in files
            for name in re.findall(r"^\s*@_exported\s+(?:public\s+)?import\s+(\w+)", file.read_text(), re.MULTILINE)
        }
        # Some of them depend on platform and traits, which the compiler knows.
        imported = package.imports(one, files) if exported else []
        found += [name for name in imported if name in exported and name not in found]
    return sorted(found)


def types_of(modules: dict[str, list[Declaration]], names: list[str]) -> list[Declaration]:
    return [one for name in names for one in modules.get(name, []) if one.is_type]


def overview(modules: dict[str, list[Declaration]], together: list[str]) -> str:
    def counted(names: list[str]) -> str:
        types = types_of(modules, names)
        top = sum(len(one.path) == 1 for one in types)
        return f"{top} | {len(types)} | {sum(len(modules.get(name, [])) for name in names)}"

    rows = "\n".join(f"| [{name}]({name}.txt) | {counted([name])} |" for name in sorted(modules))
    return f"""# The public API

Every public declaration, on Linux with the default traits. `Scripts/api` writes these files from what the compiler sees, so that
a change of the API shows as a change of them; `Scripts/check api` compares.

| module | types at the top level | with nested ones | declarations |
| --- | --- | --- | --- |
{rows}
| **`import {UMBRELLA}`** | {counted(together)} |

`import {UMBRELLA}` brings {', '.join(together[:-1])} and {together[-1]}.
"""


def main() -> None:
    package = Package(pathlib.Path.cwd())
    package.build()
    symbols = graph.extracted(package)
    modules = {name: graph.declarations(symbols, name) for name in package.libraries()}
    files = {f"{name}.txt": page(declarations) for name, declarations in modules.items()}
    together = reexported(package, UMBRELLA)
    files["README.md"] = overview(modules, together)
    count = len(types_of(modules, together))
    if count > MOST_TYPES:
        sys.exit(f"api: `import {UMBRELLA}` brings {count} public types, and may bring {MOST_TYPES}")
    written = {path.name: path.read_text() for path in FOLDER.glob("*")} if FOLDER.exists() else {}
    if "--check" in sys.argv:
        differences = [
            line for name in sorted(files.keys() | written.keys())
            for line in difflib.unified_diff(
                written.get(name, "").splitlines(), files.get(name, "").splitlines(), f"committed {name}", f"now {name}",
                lineterm="")
        ]
        if differences:
            print(*differences, sep="\n")
            sys.exit("api: the public API isn't what Documentation/API says; Scripts/api writes it anew")
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in written.keys() - files.keys():
        (FOLDER / name).unlink()
    for name, text in files.items():
        (FOLDER / name).write_text(text)


main()
