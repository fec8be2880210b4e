"""The importer of Chromium's developer tools, run in a headless browser by the DevTools protocol."""

import copy
import json
import re
import subprocess
import tempfile

from websockets.sync.client import connect

FORMAT = "devtools://devtools/bundled/models/har/har.js"
PAGE = "devtools://devtools/bundled/devtools_app.html"
IMPORT = """
(async text => {
    const har = await import('%s');
    const root = new har.HARFormat.HARRoot(JSON.parse(text));
    const requests = har.Importer.Importer.requestsFromHARLog(root.log);
    return JSON.stringify(requests.map(request =>
        [request.url(), request.statusCode, request.requestMethod, request.protocol, request.duration, request.cached()]));
})(%s)
"""


class Browser:
    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
             f"--user-data-dir={self.directory.name}", "about:blank"],
            stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if found := re.search(r"ws://\S+", line):
                break
        self.socket = connect(found.group(), max_size=None)
        self.number = 0
        target = self.call("Target.createTarget", url=PAGE)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv(timeout=60))
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["result"]

    def evaluate(self, text):
        """The value, or the text of what was thrown."""
        result = self.call("Runtime.evaluate", expression=text, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            return None, json.dumps(result["exceptionDetails"].get("exception", {}).get("description", ""))
        return result["result"].get("value"), None

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
        self.directory.cleanup()


def imported(browser, archive):
    value, failure = browser.evaluate(IMPORT % (FORMAT, json.dumps(json.dumps(archive))))
    return (json.loads(value) if value else None), failure


def check(archive):
    browser = Browser()
    try:
        _, failure = browser.evaluate(f"import('{FORMAT}').then(har => har.HARFormat.HARRoot.name + har.Importer.Importer.name)")
        if failure:
            print(f"SKIPPED: this Chromium's importer isn't at {FORMAT}: {failure}")
            return
        entries = archive["log"]["entries"]
        requests, failure = imported(browser, archive)
        assert requests is not None, f"Chromium refused the archive: {failure}"
        assert len(requests) == len(entries), f"Chromium has {len(requests)} of {len(entries)}"
        for request, entry in zip(requests, sorted(entries, key=lambda entry: entry["startedDateTime"])):
            assert request[1] in (entry["response"]["status"], 0), (request, entry)
        assert any(request[3] == "http/2.0" or request[3] == "h2" for request in requests), "none is HTTP/2"
        assert any(request[5] for request in requests), "none is from a cache"
        print(f"Chromium read {len(requests)}")
        # What the check is worth: these it has to refuse.
        for change in (lambda entry: entry["request"].pop("headersSize"), lambda entry: entry.update(_initiator=None)):
            damaged = copy.deepcopy(archive)
            change(damaged["log"]["entries"][0])
            requests, failure = imported(browser, damaged)
            assert failure, "Chromium took an archive that it should have refused"
        print("Chromium refused both damaged ones")
    finally:
        browser.close()
