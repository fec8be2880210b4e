"""Measures the memory of sockets over which nothing goes, at a server that sends back what it gets."""

import contextlib
import json
import os
import pathlib
import subprocess
from collections.abc import Iterator

from measure import Bench

PRODUCTS = {"socket-bench", "socket-echo"}
# Fewer than the 1,024 descriptors that a process usually may have.
COUNT = 900
# What socket-bench is told beside that, by the name of the threshold.
OPTIONS = {"an idle socket": ["unread"], "an idle socket and its reader": []}


@contextlib.contextmanager
def serving(binaries: pathlib.Path, certificate: str, key: str) -> Iterator[tuple[str, str]]:
    """The server's ports, in the clear and with TLS."""
    server = subprocess.Popen([binaries / "socket-echo", certificate, key], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        port, secured = server.stdout.readline().split()
        yield port, secured
    finally:
        server.kill()
        server.wait()


def sockets(bench: Bench) -> dict[str, float]:
    """The bytes of one of many. In the clear, so that they are Midstream's alone."""
    with serving(bench.binaries, os.environ["MIDSTREAM_SERVER_CERT"], os.environ["MIDSTREAM_SERVER_KEY"]) as (port, _):
        command = ["socket-bench", "idle", f"ws://127.0.0.1:{port}", str(COUNT)]
        return {name: json.loads(bench.output([*command, *options]))["bytes"] for name, options in OPTIONS.items()}
