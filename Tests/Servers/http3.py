"""Usage: http3.py PORT CERTIFICATE KEY UPSTREAM

Speaks HTTP/3 (RFC 9114) on a port of loopback, by aioquic, and asks a server of HTTP/1.1 for the answers: for the authority
127.0.0.1:PORT the one on that port, for any other the one on the port UPSTREAM. Requests that come one after the other over a connection
go on over one, too. What that breaks off is broken off here, by a reset of the stream.

/-/connection answers with the number of the connection that the request came by, /-/stop/SECONDS stops the process for so long, and then
answers; /-/pings sends ten pings after its answer; /-/goaway has the connection take no further requests; /-/garbage answers with frames that break the rules.
"""

import asyncio
import os
import signal
import subprocess
import sys
from itertools import count

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.buffer import encode_uint_var
from aioquic.h3.connection import ErrorCode, FrameType, H3_ALPN, H3Connection, encode_frame
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, ProtocolNegotiated, StopSendingReceived, StreamReset

OF_THE_CONNECTION = {b"connection", b"keep-alive", b"transfer-encoding", b"upgrade", b"proxy-connection"}
# So much may wait for a client that is behind.
MOST_WAITING = 128 << 10

connection_numbers = count(1)


class Broken(Exception):
    """The server behind broke off, or wrote no HTTP."""


class Connection(QuicConnectionProtocol):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.number = next(connection_numbers)
        self.http = None
        self.exchanges = {}
        # Connections to servers that wait for the next request, by port.
        self.kept = {}

    def quic_event_received(self, event):
        if isinstance(event, ProtocolNegotiated) and event.alpn_protocol in H3_ALPN:
            self.http = H3Connection(self._quic)
        elif isinstance(event, ConnectionTerminated):
            for exchange in list(self.exchanges.values()):
                exchange.cancel()
            for _, writer in self.kept.values():
                writer.close()
        elif isinstance(event, (StreamReset, StopSendingReceived)) and event.stream_id in self.exchanges:
            self.exchanges[event.stream_id].cancel()
        if self.http is None:
            return
        for event in self.http.handle_event(event):
            if isinstance(event, HeadersReceived) and event.stream_id not in self.exchanges:
                self.exchanges[event.stream_id] = Exchange(self, event)
            elif isinstance(event, (HeadersReceived, DataReceived)) and event.stream_id in self.exchanges:
                self.exchanges[event.stream_id].receive(event)


class Exchange:
    """A request and its response, in a task of its own."""

    def __init__(self, connection, head):
        self.connection = connection
        self.id = head.stream_id
        self.fields = head.headers
        self.has_body = not head.stream_ended
        self.body = asyncio.Queue()
        self.trailers = []
        self.task = asyncio.ensure_future(self.run())

    def receive(self, event):
        if isinstance(event, HeadersReceived):
            self.trailers = event.headers
        elif event.data:
            self.body.put_nowait(event.data)
        if event.stream_ended:
            self.body.put_nowait(None)

    def cancel(self):
        self.task.cancel()

    async def run(self):
        quic = self.connection._quic
        try:
            await self.answer()
        except (Broken, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            quic.reset_stream(self.id, ErrorCode.H3_INTERNAL_ERROR)
        finally:
            self.connection.exchanges.pop(self.id, None)
            if self.has_body and self.body.empty():
                quic.stop_stream(self.id, ErrorCode.H3_NO_ERROR)
            self.connection.transmit()

    # What is sent to the client.

    def send_head(self, fields, is_last=False):
        self.connection.http.send_headers(self.id, fields, is_last)
        self.connection.transmit()

    async def send(self, data):
        # Split, since what waits is looked at between two pieces.
        stream = self.connection._quic._streams[self.id]
        for start in range(0, len(data), 16 << 10):
            while len(stream.sender._buffer) > MOST_WAITING:
                await asyncio.sleep(0.002)
            self.connection.http.send_data(self.id, data[start : start + (16 << 10)], False)
            self.connection.transmit()

    def end(self, trailers=()):
        if trailers:
            self.send_head(list(trailers), True)
        else:
            self.connection.http.send_data(self.id, b"", True)
            self.connection.transmit()

    # What the answer is.

    async def answer(self):
        head = dict(self.fields)
        path = head[b":path"].decode("latin-1")
        if path.startswith("/-/"):
            return await self.answer_itself(path[3:])
        host, _, port = head[b":authority"].rpartition(b":")
        port = int(port) if host == b"127.0.0.1" else upstream_port
        reader, writer = self.connection.kept.pop(port, (None, None))
        # What has come before it is asked for answers nothing.
        if reader is not None and (reader.at_eof() or reader._buffer):
            writer.close()
            reader = None
        if reader is None:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
        sending = asyncio.ensure_future(self.send_request(writer, head))
        is_whole = False
        try:
            is_whole = await self.pass_response(reader, head[b":method"]) and sending.done()
        finally:
            sending.cancel()
            if not is_whole:
                writer.transport.abort() if sys.exc_info()[0] else writer.close()
            elif port in self.connection.kept or self.connection._quic._close_event:
                writer.close()
            else:
                self.connection.kept[port] = reader, writer

    async def answer_itself(self, what):
        if what.startswith("stop/"):
            me = os.getpid()
            subprocess.Popen(["sh", "-c", f"kill -STOP {me}; sleep {float(what[5:])}; kill -CONT {me}"])
            await asyncio.sleep(0.1)
        elif what == "pings":
            for number in range(10):
                asyncio.get_running_loop().call_later(0.05 + number / 100, self.ping)
        elif what == "goaway":
            http = self.connection.http
            data = encode_uint_var(self.id + 4)
            self.connection._quic.send_stream_data(http._local_control_stream_id, encode_frame(FrameType.GOAWAY, data))
        elif what == "garbage":
            # A body before any head (RFC 9114 §4.1).
            self.connection._quic.send_stream_data(self.id, encode_frame(FrameType.DATA, b"no head"), True)
            return self.connection.transmit()
        body = str(self.connection.number).encode()
        self.send_head([(b":status", b"200"), (b"content-length", str(len(body)).encode())])
        await self.send(body)
        self.end()

    def ping(self):
        self.connection._quic.send_ping(0)
        self.connection.transmit()

    async def send_request(self, writer, head):
        fields = [(name, value) for name, value in self.fields if not name.startswith(b":") and name not in OF_THE_CONNECTION]
        is_chunked = self.has_body and not any(name == b"content-length" for name, _ in fields)
        if not any(name == b"host" for name, _ in fields):
            fields.insert(0, (b"host", head[b":authority"]))
        if is_chunked:
            fields.append((b"transfer-encoding", b"chunked"))
        lines = [b"%s %s HTTP/1.1" % (head[b":method"], head[b":path"])] + [b"%s: %s" % field for field in fields]
        writer.write(b"\r\n".join(lines) + b"\r\n\r\n")
        while self.has_body and (data := await self.body.get()) is not None:
            writer.write(b"%x\r\n%s\r\n" % (len(data), data) if is_chunked else data)
            await writer.drain()
        if is_chunked:
            writer.write(b"0\r\n" + b"".join(b"%s: %s\r\n" % field for field in self.trailers) + b"\r\n")
        self.has_body = False

    async def pass_response(self, reader, method):
        """Whether the connection may serve another request."""
        while True:
            status, fields = await self.read_head(reader)
            if status >= 200:
                break
            self.send_head([(b":status", b"%d" % status)] + fields)
        lengths = {value for name, value in fields if name == b"content-length"}
        is_chunked = any(name == b"transfer-encoding" for name, _ in fields)
        is_kept = (b"connection", b"close") not in fields
        head = [(b":status", b"%d" % status)] + [field for field in fields if field[0] not in OF_THE_CONNECTION]
        if status == 204:
            head = [field for field in head if field[0] != b"content-length"]
        if method == b"HEAD" or status in (204, 304):
            self.send_head(head, True)
            return is_kept
        self.send_head(head)
        if is_chunked:
            self.end(await self.pass_chunks(reader))
            return is_kept
        if not lengths:
            while data := await reader.read(64 << 10):
                await self.send(data)
            self.end()
            return False
        if len(lengths) > 1:
            raise Broken
        left = int(lengths.pop())
        while left > 0:
            data = await reader.read(min(left, 64 << 10))
            if not data:
                raise Broken
            left -= len(data)
            await self.send(data)
        self.end()
        return is_kept

    async def pass_chunks(self, reader):
        while size := int((await self.read_line(reader)).split(b";")[0], 16):
            while size > 0:
                data = await reader.read(min(size, 64 << 10))
                if not data:
                    raise Broken
                size -= len(data)
                await self.send(data)
            await self.read_line(reader)
        return await self.read_fields(reader)

    async def read_head(self, reader):
        parts = (await self.read_line(reader)).split(b" ", 2)
        if len(parts) < 2 or not parts[0].startswith(b"HTTP/1.") or not parts[1].isdigit():
            raise Broken
        return int(parts[1]), await self.read_fields(reader)

    async def read_fields(self, reader):
        fields = []
        while line := await self.read_line(reader):
            name, colon, value = line.partition(b":")
            if not colon:
                raise Broken
            fields.append((name.strip().lower(), value.strip()))
        return fields

    async def read_line(self, reader):
        return (await reader.readuntil(b"\n")).rstrip(b"\r\n")


async def main(certificate, key):
    stop = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set_result, None)
    settings = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN, idle_timeout=600)
    settings.load_cert_chain(certificate, key)
    await serve("127.0.0.1", own_port, configuration=settings, create_protocol=Connection)
    print("ready", flush=True)
    await stop


own_port, upstream_port = int(sys.argv[1]), int(sys.argv[4])
asyncio.run(main(sys.argv[2], sys.argv[3]))
