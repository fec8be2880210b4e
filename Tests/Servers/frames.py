"""Usage: frames.py websockets|curl FILE

Tells what another reader of WebSocket frames makes of a server's bytes: the sans-I/O protocol of Python's websockets, or libcurl's curl_ws_recv
over a connection of loopback. FILE has cases one after the other, each behind its length in four bytes. For each one a line is written: the
code with which the connection is to be closed, or 0, the messages and control frames before it, and ~ when more is needed of a frame or a
message. No message may exceed 4096 bytes.
"""

import base64
import hashlib
import pathlib
import select
import socket
import sys
import threading

LIMIT = 4096
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
NAMES = {TEXT: "t", BINARY: "b", CLOSE: "c", PING: "i", PONG: "o"}


class Messages:
    """Puts messages together from frames, and checks texts, which both leave to what is above them."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.kind = 0
        self.parts: list[bytes] = []
        self.has_closed = False

    def take(self, opcode: int, payload: bytes, is_final: bool) -> int:
        """The code of what is wrong, or 0."""
        if opcode in (CLOSE, PING, PONG):
            self.events.append(f"{NAMES[opcode]}{payload.hex()}")
            self.has_closed = opcode == CLOSE
            return 0
        if opcode != CONTINUATION:
            self.kind = opcode
        self.parts.append(payload)
        if not is_final:
            return 0
        message = b"".join(self.parts)
        self.parts = []
        if self.kind == TEXT:
            try:
                message.decode()
            except UnicodeDecodeError:
                return 1007
        self.events.append(f"{NAMES[self.kind]}{message.hex()}")
        return 0


def by_websockets(cases: list[bytes]) -> None:
    from websockets.protocol import CLIENT, Protocol

    for case in cases:
        protocol = Protocol(CLIENT, max_size=LIMIT)
        protocol.receive_data(case)
        messages, code = Messages(), 0
        for frame in protocol.events_received():
            code = code or messages.take(int(frame.opcode), bytes(frame.data), frame.fin)
        if not code and protocol.parser_exc is not None:
            code = protocol.close_sent.code if protocol.close_sent else 1002
        # Between two frames its parser waits for more or the end, within one for more.
        waits_in = getattr(protocol.parser.gi_yieldfrom, "__name__", "")
        is_cut = not code and (messages.parts or waits_in not in ("at_eof", ""))
        print(code, *messages.events, *["~"] * bool(is_cut))


# MARK: libcurl


def serve(listener: socket.socket, cases: list[bytes]) -> None:
    for case in cases:
        connection, _ = listener.accept()
        with connection:
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(4096)
            key = next(line[18:].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key:"))
            accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            try:
                connection.sendall(
                    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
                    + accept + b"\r\n\r\n" + case)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass
            except OSError:
                pass


def by_curl(cases: list[bytes]) -> None:
    import pycurl

    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    threading.Thread(target=serve, args=(listener, cases), daemon=True).start()
    url = f"ws://127.0.0.1:{listener.getsockname()[1]}/"
    opcodes = {pycurl.WS_TEXT: TEXT, pycurl.WS_BINARY: BINARY, pycurl.WS_CLOSE: CLOSE, pycurl.WS_PING: PING, pycurl.WS_PONG: PONG}
    for _ in cases:
        curl = pycurl.Curl()
        curl.setopt(pycurl.URL, url)
        curl.setopt(pycurl.CONNECT_ONLY, 2)
        curl.perform()
        messages, code, payload = Messages(), 0, b""
        while not code and not messages.has_closed:
            try:
                piece, meta = curl.ws_recv(65536)
            except BlockingIOError:
                select.select([curl.getinfo(pycurl.ACTIVESOCKET)], [], [], 10)
                continue
            except pycurl.error as error:
                # The end of the connection isn't the frames' fault.
                code = 0 if error.args[0] == pycurl.E_GOT_NOTHING else 1002
                break
            payload += piece
            if meta.bytesleft:
                continue
            kind = next(opcode for flag, opcode in opcodes.items() if meta.flags & flag)
            is_final = not meta.flags & pycurl.WS_CONT
            # libcurl calls each fragment by the kind of its message, and marks all but the last.
            code = messages.take(CONTINUATION if messages.parts and kind in (TEXT, BINARY) else kind, payload, is_final)
            payload = b""
        # What libcurl has of a frame it hands over at once, but for the head.
        print(code, *messages.events, *["~"] * (not code and not messages.has_closed))
        curl.close()


def main() -> None:
    data = pathlib.Path(sys.argv[2]).read_bytes()
    cases, place = [], 0
    while place < len(data):
        length = int.from_bytes(data[place:place + 4], "big")
        cases.append(data[place + 4:place + 4 + length])
        place += 4 + length
    {"websockets": by_websockets, "curl": by_curl}[sys.argv[1]](cases)


main()
