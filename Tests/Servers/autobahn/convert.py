"""Usage: convert.py SUITE FOLDER

Makes a package of Python 3 in FOLDER of the Autobahn test suite in SUITE, which is written in Python 2: of its cases, and of the server
that runs them. What 2to3 can't know is here. A text of Python 2 is bytes; in the package it is a text of which each character is a byte.
"""

import re
import shutil
import sys
import warnings
from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from lib2to3.refactor import RefactoringTool, get_fixers_from_package

# In the files that match, what is replaced. What isn't found is a mistake here, or another suite.
MENDS = [
    # octets.py has what takes such a text for bytes.
    ("fuzzing.py", r"^import os, json, binascii, time, textwrap, pkg_resources$",
     "import os, json, time, textwrap\nfrom autobahntestsuite import octets as binascii"),
    ("case/case12_x_x.py", r"^import copy, os, pkg_resources, hashlib, binascii$",
     "import copy, os, hashlib\nfrom autobahntestsuite import octets as binascii, octets as pkg_resources"),
    ("case/*.py", r"^import binascii$", "from autobahntestsuite import octets as binascii"),
    ("case/*.py", r"^from autobahn\.websocket\.utf8validator import", "from autobahntestsuite.octets import"),
    # A class that all others derive from can't be a base before another one.
    ("case/*.py", r"\(object, Case, \)", "(Case, )"),
    # Whether two strings are the same object makes a difference when they are pickled, and none here.
    ("case/case.py", r"pickle\.dumps\((obj[12])\)", r"\1"),
    ("case/case10_1_1.py", r" / ", " // "),
    # Not on the suite's own list of cases, and it needs an interface that is gone.
    ("case/__init__.py", r"^from case9_9_1 import \*$", ""),
    # For reports as pages, which nobody makes.
    ("fuzzing.py", r"^from report import (.*\\\n)*.*$", ""),
    # For TLS, which it isn't run over.
    ("fuzzing.py", r"^from twisted.internet import reactor, ssl$", "from twisted.internet import reactor"),
    # The library has no such settings any more.
    ("fuzzing.py", r", debug = debug, debugCodePaths = debug", ""),
]


def main(suite: Path, folder: Path) -> None:
    cases = [f"case/{path.name}" for path in suite.glob("case/*.py") if path.name != "case9_9_1.py"]
    # Each byte is a character of Latin-1, whatever the file says.
    texts = {
        name: (suite / name).read_text(encoding="latin-1").replace("# coding=utf-8", "")
        for name in ["fuzzing.py", "caseset.py", *cases]
    }
    for pattern, old, new in MENDS:
        count = 0
        for name in filter(lambda name: Path(name).match(pattern), texts):
            texts[name], found = re.subn(old, new, texts[name], flags=re.MULTILINE)
            count += found
        if not count:
            sys.exit(f"convert.py: nothing in {pattern} is {old}")
    tool = RefactoringTool(get_fixers_from_package("lib2to3.fixes"))
    (folder / "case").mkdir(parents=True)
    for name, text in texts.items():
        # By the path it knows which modules are imported from beside the file.
        (folder / name).write_text(str(tool.refactor_string(text + "\n", str(suite / name))), encoding="utf-8")
    shutil.copy(suite / "_version.py", folder)
    shutil.copytree(suite / "testdata", folder / "testdata")
    shutil.copy(Path(__file__).with_name("octets.py"), folder)
    (folder / "__init__.py").write_text("from autobahntestsuite._version import __version__ as version\n")


main(Path(sys.argv[1]), Path(sys.argv[2]))
