"""Serves a gibibyte of zeros, encoded, and has bomb-bench decode it; Scripts/bench bombs builds that and runs this."""

import ctypes
import http.server
import pathlib
import subprocess
import sys
import threading
import zlib

SIZE = 1 << 30
PIECE = bytes(1 << 20)


def gzip() -> bytes:
    encoder = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(encoder.compress(PIECE) for _ in range(SIZE // len(PIECE))) + encoder.flush()


def brotli() -> bytes:
    """By the encoder that comes with the decoder, since Python has none."""
    library = ctypes.CDLL("libbrotlienc.so.1")
    library.BrotliEncoderCreateInstance.restype = ctypes.c_void_p
    encoder = ctypes.c_void_p(library.BrotliEncoderCreateInstance(None, None, None))
    # Not the best quality, which takes ten times as long and comes to the same here.
    library.BrotliEncoderSetParameter(encoder, 1, 5)
    room = ctypes.create_string_buffer(1 << 20)
    piece = ctypes.create_string_buffer(PIECE, len(PIECE))
    encoded = b""
    finish = 2
    for number in range(SIZE // len(PIECE) + 1):
        is_end = number == SIZE // len(PIECE)
        left, place = ctypes.c_size_t(0 if is_end else len(PIECE)), ctypes.cast(piece, ctypes.c_void_p)
        while True:
            free, end = ctypes.c_size_t(len(room)), ctypes.cast(room, ctypes.c_void_p)
            library.BrotliEncoderCompressStream(
                encoder, finish if is_end else 0, ctypes.byref(left), ctypes.byref(place), ctypes.byref(free),
                ctypes.byref(end), None)
            encoded += room.raw[:len(room) - free.value]
            if not left.value and not library.BrotliEncoderHasMoreOutput(encoder):
                break
    library.BrotliEncoderDestroyInstance(encoder)
    return encoded


def zstandard() -> bytes:
    """One byte and how often it is repeated, for each 128 KiB (RFC 8878 section 3.1.1.2), within a window of as much."""
    block = 128 << 10
    count = SIZE // block
    blocks = b"".join(
        (block << 3 | 1 << 1 | (number == count - 1)).to_bytes(3, "little") + b"\0" for number in range(count))
    return b"\x28\xb5\x2f\xfd\x00\x38" + blocks


def server(bodies: dict[str, tuple[bytes, str | None]]) -> http.server.ThreadingHTTPServer:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16

        def do_GET(self) -> None:
            body, coding = bodies[self.path]
            self.send_response(200)
            if coding:
                self.send_header("Content-Encoding", coding)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
                self.wfile.flush()
            except OSError:
                self.close_connection = True

        def log_message(self, *_) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_) -> None:
            """A body that isn't wanted ends with its connection."""

    made = Server(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    threading.Thread(target=made.serve_forever, daemon=True).start()
    return made


def main() -> None:
    small = b"x" * 1024
    compressed = zlib.compressobj(9, zlib.DEFLATED, 31)
    encoded_small = compressed.compress(small) + compressed.flush()
    once = gzip()
    again = zlib.compressobj(9, zlib.DEFLATED, 31)
    twice = again.compress(once) + again.flush()
    serving = server({
        "/gzip": (once, "gzip"), "/br": (brotli(), "br"), "/zstd": (zstandard(), "zstd"), "/gzip-gzip": (twice, "gzip, gzip"),
        "/plain": (small, None), "/small-gzip": (encoded_small, "gzip"),
    })
    program = pathlib.Path(sys.argv[1]) / "bomb-bench"
    sys.exit(subprocess.run([program, f"http://127.0.0.1:{serving.server_port}"], timeout=600).returncode)


main()
