"""Makes a DocC catalogue of the pages and the public declarations, and builds it; Scripts/site runs this."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import graph
from package import Package

UMBRELLA = "Midstream"
PAGES = pathlib.Path("Documentation")
# What stands for the whole: its table of contents becomes a page of its own.
INDEX = PAGES / "README.md"
FRONT = pathlib.Path("Scripts/symbols/front.md")
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
# A fenced block, a link, or a name in code that isn't part of either.
NAMED = re.compile(r"(^ *```.*?^ *```|\[[^\]]*\]\([^)]*\)|``[^`]+``)|`([A-Z]\w+)`", re.MULTILINE | re.DOTALL)


def symbols(package: Package, directory: pathlib.Path) -> None:
    """The declarations of all modules as those of one, since links lead from each to each, and users see most of them as one."""
    directory.mkdir(parents=True)
    for file in graph.extracted(package).glob("*.symbols.json"):
        content = json.loads(file.read_text())
        content["module"]["name"] = UMBRELLA
        (directory / file.name.replace("@", "+")).write_text(json.dumps(content))


def pages() -> list[pathlib.Path]:
    folders = [PAGES, PAGES / "Integrations", PAGES / "ComingFrom", PAGES / "decisions"]
    return [page for folder in folders for page in sorted(folder.glob("*.md")) if page != INDEX]


def article(page: pathlib.Path, names: set[str], types: set[str]) -> str:
    """The page with links that DocC follows; those that lead out of the catalogue become plain text, and the names of types links."""
    def link(found: re.Match) -> str:
        text, target = found.groups()
        if "://" in target:
            return found[0]
        path, _, anchor = target.partition("#")
        name = pathlib.PurePosixPath(path).stem if path else page.stem
        if name not in names or path.endswith((".txt", ".swift")):
            return text
        return f"[{text}](doc:{name}{'#' + anchor_name(page, path, anchor) if anchor else ''})"

    return LINK.sub(link, NAMED.sub(lambda found: linked(found, types), page.read_text()))


def linked(found: re.Match, types: set[str]) -> str:
    whole, name = found.groups()
    return whole or (f"``{name}``" if name in types else found[0])


def anchor_name(page: pathlib.Path, path: str, anchor: str) -> str:
    """DocC's name for a heading, which keeps capitals, from the one that Git hosts make of it."""
    target = (page.parent / path) if path else page
    for heading in re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE):
        if re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") == anchor:
            return re.sub(r"[^\w\-]+", "-", heading.replace("/", "")).strip("-")
    sys.exit(f"{page}: {path}#{anchor} leads nowhere")


def catalogue(directory: pathlib.Path, types: set[str]) -> int:
    """Writes it, and returns how many links lead from pages to declarations."""
    directory.mkdir(parents=True)
    found = pages()
    names = {page.stem for page in found} | {"Contents"}
    if len(names) <= len(found):
        sys.exit("Two pages have the same name.")
    texts = {page.name: article(page, names, types) for page in found}
    texts["Contents.md"] = "# Contents\n" + article(INDEX, names, types).partition("\n")[2]
    texts[f"{UMBRELLA}.md"] = FRONT.read_text()
    for name, text in texts.items():
        (directory / name).write_text(text)
    return sum(len(re.findall(r"``[A-Z]\w+``", text)) for text in texts.values())


def main() -> None:
    package = Package(pathlib.Path.cwd())
    package.build()
    work = pathlib.Path(".build/site")
    shutil.rmtree(work, ignore_errors=True)
    folder = graph.extracted(package)
    declared = [one for module in package.libraries() for one in graph.declarations(folder, module)]
    types = {one.path[0] for one in declared if one.is_type and len(one.path) == 1}
    symbols(package, work / "symbols")
    count = catalogue(work / f"{UMBRELLA}.docc", types)
    # It doesn't count what it follows, but every link that leads nowhere is a warning.
    done = subprocess.run(
        ["docc", "convert", str(work / f"{UMBRELLA}.docc"), "--additional-symbol-graph-dir", str(work / "symbols"),
         "--fallback-display-name", UMBRELLA, "--fallback-bundle-identifier", "midstream", "--warnings-as-errors",
         "--transform-for-static-hosting", "--output-path", str(work / "html")])
    if done.returncode:
        sys.exit("site: the documentation has warnings; see above")
    (work / "html" / "index.html").write_text(
        f'<!doctype html><meta charset="utf-8"><title>{UMBRELLA}</title>'
        f'<meta http-equiv="refresh" content="0; url=documentation/{UMBRELLA.lower()}/">\n')
    written = len(list((work / "html" / "data").rglob("*.json")))
    print(f"site: {work / 'html'} has {written} pages, and {count} links from pages to declarations")


main()
