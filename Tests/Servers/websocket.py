"""Usage: websocket.py SOCKET PORT

Sends back what it gets, over a unix socket and a port of loopback, by Python's websockets. What a path means:
/close/CODE closes at once, /late pings and wants its answer, /small takes no message above 1 KiB, /refused answers 403, /half sends no more and
goes on reading, /stop stops the whole process, any other echoes.
"""

import asyncio
import os
import signal
import sys

from websockets.asyncio.server import serve, unix_serve
from websockets.exceptions import ConnectionClosed


async def handle(connection):
    path = connection.request.path
    if path.startswith("/ws/"):
        path = path[3:]
    try:
        if path.startswith("/close/"):
            await connection.close(int(path.rsplit("/", 1)[1]), "as asked")
        if path == "/late":
            await asyncio.wait_for(await connection.ping(), 5)
            await connection.send("answered")
        if path == "/half":
            connection.transport.write_eof()
        if path == "/stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        async for message in connection:
            # In as many frames as it has pieces.
            if isinstance(message, bytes) and len(message) > 100_000:
                await connection.send(message[start:start + 50_000] for start in range(0, len(message), 50_000))
            else:
                await connection.send(message)
    except ConnectionClosed:
        pass


def refuse(connection, request):
    if request.path.endswith("/refused"):
        return connection.respond(403, "not you")


def choose(connection, offered):
    return next((name for name in ("v1", "v2") if name in offered), None)


async def main(path, port):
    stop = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set_result, None)
    settings = dict(process_request=refuse, select_subprotocol=choose, max_size=64 << 20)
    async with unix_serve(handle, path, **settings), serve(handle, "127.0.0.1", port, **settings):
        await stop


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
