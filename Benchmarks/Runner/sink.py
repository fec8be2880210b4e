"""A server that reads bodies and keeps nothing of them, since writing them to a disk would take longer than sending."""

import contextlib
import re
import socket
import threading
from collections.abc import Iterator

LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)
END = b"\r\n0\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """Its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, args=[listener], daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"


def accept(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()


def serve(connection: socket.socket) -> None:
    """Answers each body at its end. The bodies are zeros, so nothing within them looks like the end of one without a length."""
    room = memoryview(bytearray(1 << 20))
    with connection, contextlib.suppress(OSError):
        while head := read_head(connection):
            length = LENGTH.search(head)
            if length:
                left = int(length[1])
                while left > 0 and (count := connection.recv_into(room)):
                    left -= count
            else:
                last = b""
                while last != END and (count := connection.recv_into(room)):
                    last = (last + bytes(room[max(0, count - len(END)):count]))[-len(END):]
            connection.sendall(ANSWER)


def read_head(connection: socket.socket) -> bytes:
    """A head and nothing behind it; empty at the end of the connection."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            return b""
        head += byte
    return head
