"""The readers of mitmproxy and haralyzer."""

import os
import socket
import subprocess
import sys
import time
import urllib.request

import haralyzer
from mitmproxy.io import har


def check_mitmproxy(archive):
    entries = archive["log"]["entries"]
    for entry in entries:
        flow = har.request_to_flow(entry)
        assert flow.request.pretty_url.split("?")[0].rstrip("/") == entry["request"]["url"].split("?")[0].rstrip("/"), entry
        assert (flow.response.status_code if flow.response else 0) == entry["response"]["status"], entry
    print(f"mitmproxy read {len(entries)}")


def check_haralyzer(archive):
    pages = haralyzer.HarParser(archive).pages
    count = sum(len(page.entries) for page in pages)
    assert count == len(archive["log"]["entries"]), f"haralyzer has {count} entries"
    for page in pages:
        for entry in page.entries:
            _ = (entry.startTime, entry.time, entry.status, entry.response.mimeType, entry.request.method)
    print(f"haralyzer read {count}")


def check_replay(path, archive):
    """mitmdump answers a request from the archive."""
    wanted = next(
        entry for entry in archive["log"]["entries"]
        if entry["request"]["url"].endswith("/echo-headers?n=1") and entry["response"]["status"] == 200)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = os.path.join(os.path.dirname(sys.executable), "mitmdump")
    options = ["--set", "server_replay_extra=kill", "--set", "connection_strategy=lazy", "--set", f"confdir={path}.mitm"]
    proxy = subprocess.Popen([program, "-q", "-p", str(port), "-S", path] + options)
    try:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": f"http://127.0.0.1:{port}"}))
        for attempt in range(200):
            try:
                body = opener.open(wanted["request"]["url"], timeout=5).read().decode()
                break
            except urllib.error.URLError as error:
                if not isinstance(error.reason, ConnectionRefusedError) or attempt == 199:
                    raise
                time.sleep(0.1)
        assert body == wanted["response"]["content"]["text"], body
        print("mitmdump answered from it")
    finally:
        proxy.terminate()
        proxy.wait()
