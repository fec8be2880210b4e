"""Says in which folder the thing is that the compiler didn't find: a guess by name, which spares the reader a search."""

import pathlib
import re

DECLARATION = re.compile(
    r"\b(?:struct|class|enum|actor|protocol|typealias|associatedtype|func|var|let|case)\s+`?(\w+)")


class Declared:
    def __init__(self, files: dict[str, list[pathlib.Path]]):
        self.folders: dict[str, set[str]] = {}
        for folder, paths in files.items():
            for path in paths:
                for name in DECLARATION.findall(path.read_text()):
                    self.folders.setdefault(name, set()).add(folder)

    def hint(self, complaint: str, visible: set[str]) -> str:
        """The folders, out of sight, that declare what is quoted last in the complaint."""
        quoted = re.findall(r"'([^']+)'", complaint)
        if not quoted:
            return ""
        name = re.split(r"[(<]", quoted[-1])[0].rpartition(".")[2]
        folders = self.folders.get(name, set())
        return f" ({', '.join(sorted(folders))})" if folders and not folders & visible else ""
