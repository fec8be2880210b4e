"""Type-checks a folder with what it may see; what has been checked before and hasn't changed is skipped."""

import hashlib
import pathlib
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Check:
    label: str
    # Whether they compile is the question.
    files: list[pathlib.Path]
    # What they may see; inside, these are looked at only as far as it is needed.
    visible: list[pathlib.Path]
    flags: list[str]
    # Modules of other targets.
    modules: list[pathlib.Path]
    # What is to be added to a complaint of the compiler.
    hint: Callable[[str], str]


class Compiler:
    def __init__(self, root: pathlib.Path, version: str):
        self.root = root
        self.version = version
        self.stamps = root / ".build" / "structure"

    def complaints(self, check: Check) -> list[str]:
        stamp = self.stamps / self.digest(check)
        if stamp.exists():
            return []
        command = ["swiftc", "-frontend", "-typecheck", *check.flags, *self.macros(), "-suppress-warnings"]
        for file in check.files:
            command += ["-primary-file", str(file)]
        command += map(str, check.visible)
        done = subprocess.run(command, cwd=self.root, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode == 0:
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.touch()
            return []
        found = re.findall(r"^(\S+\.swift:\d+):\d+: error: (.*)$", done.stdout, re.MULTILINE)
        lines = [f"{check.label} → {place.removeprefix(f'{self.root}/')}: {what}{check.hint(what)}" for place, what in found]
        # Without an error in a file the compiler itself is at a loss, and has told why in its own words.
        return list(dict.fromkeys(lines)) or [f"{check.label}: {done.stdout.strip()}"]

    @staticmethod
    def macros() -> list[str]:
        """Where the macros of the standard library are; the driver would tell the frontend."""
        compiler = pathlib.Path(shutil.which("swiftc") or "swiftc").resolve()
        return ["-plugin-path", str(compiler.parent.parent / "lib" / "swift" / "host" / "plugins")]

    def digest(self, check: Check) -> str:
        digest = hashlib.sha256(repr((self.version, check.flags)).encode())
        for file in [*check.files, None, *check.visible, None, *check.modules]:
            digest.update(b"-" if file is None else f"{file} ".encode() + hashlib.sha256(file.read_bytes()).digest())
        return digest.hexdigest()
