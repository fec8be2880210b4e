"""Makes a DocC catalogue of the pages and the public declarations, and builds it; Scripts/docs runs this."""

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
# What stands for the whole: its table of contents becomes the root page.
ROOT = PAGES / "README.md"
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")


def symbols(package: Package, directory: pathlib.Path) -> None:
    """The declarations of all modules as those of one, since links lead from each to each, and users see most of them as one."""
    directory.mkdir(parents=True)
    for file in graph.extracted(package).glob("*.symbols.json"):
        content = json.loads(file.read_text())
        content["module"]["name"] = UMBRELLA
        (directory / file.name.replace("@", "+")).write_text(json.dumps(content))


def pages() -> list[pathlib.Path]:
    folders = [PAGES, PAGES / "Integrations", PAGES / "ComingFrom", PAGES / "decisions"]
    return [page for folder in folders for page in sorted(folder.glob("*.md")) if page != ROOT]


def article(page: pathlib.Path, names: set[str]) -> str:
    """The page with links that DocC follows; those that lead out of the catalogue become plain text."""
    def link(found: re.Match) -> str:
        text, target = found.groups()
        if "://" in target:
            return found[0]
        path, _, anchor = target.partition("#")
        name = pathlib.PurePosixPath(path).stem if path else page.stem
        if name not in names or path.endswith(".txt"):
            return text
        return f"[{text}](doc:{name}{'#' + anchor_name(page, path, anchor) if anchor else ''})"

    return LINK.sub(link, page.read_text())


def anchor_name(page: pathlib.Path, path: str, anchor: str) -> str:
    """DocC's name for a heading, which keeps capitals, from the one that Git hosts make of it."""
    target = (page.parent / path) if path else page
    for heading in re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE):
        if re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") == anchor:
            return re.sub(r"[^\w\-]+", "-", heading).strip("-")
    sys.exit(f"{page}: {path}#{anchor} leads nowhere")


def catalogue(directory: pathlib.Path) -> None:
    directory.mkdir(parents=True)
    found = pages()
    names = {page.stem for page in found}
    if len(names) < len(found):
        sys.exit("Two pages have the same name.")
    for page in found:
        (directory / page.name).write_text(article(page, names))
    root = article(ROOT, names).partition("\n")[2]
    (directory / f"{UMBRELLA}.md").write_text(
        f"# ``{UMBRELLA}``\n\nAn HTTP client for Swift whose one idea is interception.\n\n## Pages\n{root}")


def main() -> None:
    package = Package(pathlib.Path.cwd())
    package.build()
    work = pathlib.Path(".build/docs")
    shutil.rmtree(work, ignore_errors=True)
    symbols(package, work / "symbols")
    catalogue(work / f"{UMBRELLA}.docc")
    done = subprocess.run(
        ["docc", "convert", str(work / f"{UMBRELLA}.docc"), "--additional-symbol-graph-dir", str(work / "symbols"),
         "--fallback-display-name", UMBRELLA, "--fallback-bundle-identifier", "midstream", "--warnings-as-errors",
         "--output-path", str(work / f"{UMBRELLA}.doccarchive")])
    if done.returncode:
        sys.exit("docs: the documentation has warnings; see above")
    print(f"docs: {work / f'{UMBRELLA}.doccarchive'}")


main()
