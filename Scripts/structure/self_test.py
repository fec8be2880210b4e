"""Runs the check on packages that break one rule each, and on one that breaks none."""

import pathlib
import subprocess
import sys
import tempfile

MANIFEST = """// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "Sample",
    targets: [.target(name: "Base"), .target(name: "Client", dependencies: ["Base"])],
    swiftLanguageModes: [.v6]
)
"""
DIAGRAM = """Base
Client          ← Base
    Message
    Message/Body    ← Message
    Trace       ← Message/Body
"""
FILES = {
    "Base/Base.swift": "public struct Base { public init() {} }\n",
    "Client/Client.swift": "struct Client { let trace = Trace() }\n",
    "Client/Message/Message.swift": "import Base\nstruct Message { let base = Base() }\n",
    "Client/Message/Body/Body.swift": "struct Body { let message = Message() }\n",
    # By way of Body it may use Message, too.
    "Client/Trace/Trace.swift": "struct Trace {\n    let body = Body()\n    let message = Message()\n}\n",
    "Client/Trace/Text.swift": "extension Message {\n    var text: String { \"\" }\n}\n",
}
# What is broken: the files, the diagram, and what the check has to say.
CASES: dict[str, tuple[dict[str, str], str, str | None]] = {
    "nothing": ({}, DIAGRAM, None),
    "a type from above": (
        {"Client/Message/Message.swift": "struct Message {\n    static let trace: Trace? = nil\n}\n"}, DIAGRAM,
        "Client/Message → Sources/Client/Message/Message.swift:2: cannot find type 'Trace' in scope (Trace)"),
    "a member from above": (
        {"Client/Message/Body/Body.swift": "struct Body { let copy = Message().text }\n"}, DIAGRAM,
        "Client/Message/Body → Sources/Client/Message/Body/Body.swift:1: value of type 'Message' has no member 'text' (Trace)"),
    "a file of the target's own folder": (
        {"Client/Trace/Text.swift": "extension Message {\n    var client: Client { Client() }\n}\n"}, DIAGRAM,
        "Client/Trace → Sources/Client/Trace/Text.swift:2: cannot find type 'Client' in scope (.)"),
    "a cycle": ({}, DIAGRAM.replace("Message\n", "Message ← Trace\n", 1), "nothing goes in a circle"),
    "a cycle of targets": ({}, DIAGRAM.replace("Base\n", "Base ← Client\n", 1), "nothing goes in a circle"),
    "a folder that isn't drawn": (
        {"Client/New/New.swift": "struct New {}\n"}, DIAGRAM, "Client/New isn't in the diagram"),
    "a line without a folder": ({}, DIAGRAM + "    Gone\n", "Client/Gone is in the diagram, but has no files"),
    "a dependency that isn't drawn": ({}, DIAGRAM.replace("← Base", ""), "Client ← Base is missing"),
    "an import of a target that it doesn't depend on": (
        {"Base/Base.swift": "@_exported public import struct Client.Client\n"}, DIAGRAM,
        "Base → Sources/Base/Base.swift:1: imports Client, which it mustn't use"),
    "a target that isn't drawn": ({}, DIAGRAM.replace("Base\n", "", 1).replace("← Base", ""), "Base isn't in the diagram"),
    "a long file": ({"Base/Long.swift": "\n" * 401}, DIAGRAM, "Sources/Base/Long.swift has 401 lines"),
}


def main() -> None:
    check = pathlib.Path(__file__).parent / "check.py"
    failures = 0
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory).resolve() / "sample"
        for name, (changes, diagram, expected) in CASES.items():
            for path in root.glob("Sources/**/*.swift"):
                path.unlink()
            for path, text in (FILES | changes).items():
                file = root / "Sources" / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            (root / "Package.swift").write_text(MANIFEST)
            (root / "CONTRIBUTING.md").write_text(f"# Sample\n\n```structure\n{diagram}```\n")
            done = subprocess.run(
                [sys.executable, "-B", str(check), "--root", str(root)], text=True, capture_output=True)
            passed = done.returncode == 0 if expected is None else done.returncode == 1 and expected in done.stdout
            if not passed:
                failures += 1
                print(f"{name}: expected {expected or 'success'!r}, got {done.returncode}: {done.stdout}{done.stderr}")
    print(f"check structure: {len(CASES) - failures} of {len(CASES)} cases behave")
    sys.exit(failures != 0)


main()
