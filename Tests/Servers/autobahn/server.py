"""Usage: PYTHONPATH=FOLDER server.py CASE[,CASE…] COMMAND [ARGUMENT…]

Runs the Autobahn test suite's server on a port of loopback, from the package that convert.py has made in FOLDER, and the command with
MIDSTREAM_AUTOBAHN, the server's URL. Ends with the command, with its status. A case is a number, such as 1.1.1, or a pattern such as 9.*.
"""

import json
import os
import socket
import subprocess
import sys

import txaio

# Before the library is imported.
txaio.use_twisted()

from autobahntestsuite.fuzzing import FuzzingServerFactory, FuzzingServerProtocol
from autobahntestsuite.octets import octets
from twisted.internet import reactor
from twisted.internet.threads import deferToThread


class Protocol(FuzzingServerProtocol):
    """What the suite calls, as the library has it now: with bytes, where the suite has texts of which each character is a byte."""

    debug = False

    def failConnection(self):
        self._fail_connection()

    def sendFrame(self, opcode, payload=b"", payload_len=None, **settings):
        payload = octets(payload)
        if payload_len is not None:
            payload = (payload * (payload_len // len(payload) + 1))[:payload_len]
        super().sendFrame(opcode, payload, **settings)

    def sendMessage(self, payload, isBinary=False, **settings):
        super().sendMessage(octets(payload), isBinary, **settings)

    def sendMessageFrameData(self, payload, sync=False):
        return super().sendMessageFrameData(octets(payload), sync)

    def sendCloseFrame(self, code=None, reasonUtf8=None, isReply=False):
        super().sendCloseFrame(code, octets(reasonUtf8), isReply)

    def onMessage(self, payload, isBinary):
        # The cases of compression take bytes, and decode them.
        super().onMessage(payload if hasattr(self.runCase, "SERVER_ACCEPT") else payload.decode("latin-1"), isBinary)

    def onPong(self, payload):
        super().onPong(payload.decode("latin-1"))

    def logRxFrame(self, frameHeader, payload):
        super().logRxFrame(frameHeader, [part.decode("latin-1") for part in payload])

    def onOpen(self):
        # The suite's own answer has but the first of what the verdict consists of.
        if self.path == "/getCaseStatus":
            name = self.factory.CaseSet.caseClasstoId(self.Case)
            self.factory.addResultListener(self.caseAgent, name, self.send_verdict)
        else:
            super().onOpen()

    def send_verdict(self, result):
        keys = ("behavior", "behaviorClose", "result", "resultClose", "remoteCloseCode", "duration")
        self.sendMessage(json.dumps({key: result[key] for key in keys}))
        self.sendClose()


class Factory(FuzzingServerFactory):
    protocol = Protocol


# The library cuts the ends of its times to whole seconds: of the one second that it gives a close frame's answer, it may give none.
OPTIONS = {"openHandshakeTimeout": 10, "closeHandshakeTimeout": 10}


def main(cases, command):
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    url = f"ws://127.0.0.1:{listener.getsockname()[1]}"
    reactor.adoptStreamPort(listener.fileno(), socket.AF_INET, Factory({"url": url, "options": OPTIONS, "cases": cases}))
    status = []

    def run():
        status.append(subprocess.run(command, env={**os.environ, "MIDSTREAM_AUTOBAHN": url}).returncode)

    deferToThread(run).addErrback(lambda failure: failure.printTraceback()).addBoth(lambda _: reactor.stop())
    reactor.run()
    return status[0] if status else 1


sys.exit(main(sys.argv[1].split(","), sys.argv[2:]))
