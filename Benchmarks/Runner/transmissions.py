"""Counts with strace how often a request sends to a socket and receives from one: as with instructions, the difference of a run with few
requests and one with more.

Other system calls aren't counted: how often threads wait for each other and for the sockets depends on how they meet, and is four times
as much in one run as in the next.
"""

import pathlib
import shutil
import subprocess
import tempfile

from contestants import Contestant
from instructions import FEW, MANY, WARM_UP
from measure import Bench

SOCKET_CALLS = {"sendmsg", "sendto", "sendmmsg", "sendfile", "recvmsg", "recvfrom", "recvmmsg"}


def can_be_counted() -> bool:
    """Whether strace is there, and may trace: in a container it often mayn't."""
    if not shutil.which("strace"):
        return False
    return subprocess.run(["strace", "-f", "-c", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def total(bench: Bench, one: Contestant, arguments: list[str]) -> float:
    few, many = (calls(bench, one, count, arguments) for count in (FEW, MANY))
    return (many - few) / ((MANY - FEW) * (1 + WARM_UP))


def calls(bench: Bench, one: Contestant, requests: int, arguments: list[str]) -> int:
    """The sends and receives of all threads of a run."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "summary"
        bench.run_under(["strace", "-f", "-c", "-o", str(file)], one, requests, arguments)
        return in_summary(file.read_text())


def in_summary(text: str) -> int:
    """The sum of the column of calls: % time, seconds, usecs/call, calls, errors if there are any, and the name."""
    rows = [line.split() for line in text.splitlines()]
    return sum(int(row[3]) for row in rows if row and row[-1] in SOCKET_CALLS)
