"""What SwiftPM knows: the targets of the manifest, and the flags with which the build compiles each."""

import json
import pathlib
import re
import subprocess
import sys

# Flags of the build that say what is written where, and how many values follow each.
OUTPUT_FLAGS = {
    "-emit-dependencies": 0, "-emit-module": 0, "-emit-module-path": 1, "-output-file-map": 1, "-incremental": 0, "-c": 0,
    "-enable-batch-mode": 0, "-serialize-diagnostics": 0, "-index-store-path": 1, "-parseable-output": 0, "-g": 0,
    "-emit-objc-header": 0, "-emit-objc-header-path": 1,
}


class Package:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.manifest = json.loads(self.swift("package", "dump-package"))

    def swift(self, *arguments: str) -> str:
        done = subprocess.run(["swift", *arguments], cwd=self.root, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            sys.exit(f"{done.stdout}{done.stderr}\nswift {' '.join(arguments)} failed")
        return done.stdout

    def build(self) -> None:
        """Builds, so that each target finds the modules of those that it imports."""
        self.swift("build")
        binaries = pathlib.Path(self.swift("build", "--show-bin-path").strip())
        self.modules = binaries / "Modules"
        # SwiftPM's plan, since asking the manifest for flags would be guessing what becomes of them.
        self.plan = (self.root / ".build" / f"{binaries.name}.yaml").read_text().splitlines()

    def libraries(self) -> list[str]:
        """The targets in Sources that users can import: those of the products, and what is re-exported. What is public in another is so
        for other targets only."""
        kinds = {target["name"]: target["type"] for target in self.manifest["targets"]}
        regular = [name for name in self.targets() if kinds[name] == "regular"]
        reached = {name for product in self.manifest["products"] for name in product["targets"]}
        for name in regular:
            for file in self.folder(name).rglob("*.swift"):
                reached.update(re.findall(r"^\s*@_exported\s+(?:public\s+)?import\s+(\w+)", file.read_text(), re.MULTILINE))
        return [name for name in regular if name in reached]

    def targets(self) -> dict[str, list[str]]:
        """The targets in Sources, and what the manifest says that each uses."""
        found = {}
        for target in self.manifest["targets"]:
            folder = target.get("path") or ("Tests/" if target["type"] == "test" else "Sources/") + target["name"]
            if folder.startswith("Sources/"):
                found[target["name"]] = [
                    dependency[kind][0] for dependency in target["dependencies"] for kind in dependency
                    if kind in ("byName", "target")
                ]
        return found

    def folder(self, target: str) -> pathlib.Path:
        path = next((one.get("path") for one in self.manifest["targets"] if one["name"] == target), None)
        return self.root / (path or f"Sources/{target}")

    def flags(self, target: str) -> list[str]:
        """The build's flags for the target, as the compiler's frontend takes them."""
        for line in self.plan:
            if f'"-module-name","{target}",' in line and '"-emit-module-path"' in line:
                break
        else:
            sys.exit(f"SwiftPM's plan doesn't compile {target}")
        words = iter(json.loads(line.partition(":")[2])[1:])
        flags = []
        for word in words:
            if word in OUTPUT_FLAGS:
                for _ in range(OUTPUT_FLAGS[word]):
                    next(words)
            elif word == "-Xcc":
                flags += [word, next(words)]
            elif not word.startswith(("@", "-j")) and not (word == "-parse-as-library" and word in flags):
                flags.append(word)
        return flags

    def imports(self, target: str, files: list[pathlib.Path]) -> list[str]:
        """The modules that the target imports with the build's settings."""
        names = self.flags(target)
        conditions = [flag for flag in names if flag.startswith("-D")]
        conditions += [word for flag, value in zip(names, names[1:]) if flag == "-D" for word in (flag, value)]
        command = ["swiftc", "-frontend", "-emit-imported-modules", *conditions, "-module-name", target, *map(str, files), "-o", "-"]
        return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.split()

    def import_flags(self, target: str) -> list[str]:
        """Those of them that say where modules are: what it takes to import the target."""
        words = iter(self.flags(target))
        flags = []
        for word in words:
            if word in ("-I", "-Xcc", "-target", "-module-cache-path"):
                flags += [word, next(words)]
            elif word.startswith("-I"):
                flags.append(word)
        return flags
