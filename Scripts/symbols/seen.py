"""Opens pages of the documentation's site in Chromium, and follows all links of its articles; Scripts/check site runs this."""

import functools
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading

SITE = pathlib.Path(".build/site/html")
SEEN = pathlib.Path(".build/site/seen")
# What each page has to show once its script has run.
PAGES = {
    "": ["Midstream", "Requests and responses", "With other packages"],
    "documentation/midstream/httpclient/": ["HTTPClient", "explain(_:)"],
    "documentation/midstream/httprequest/": ["HTTPRequest", "acceptableStatus"],
    "documentation/midstream/pipeline/": ["The pipeline", "Interceptor"],
}
# As Blink numbers them.
SCHEMES = {"dark": 0, "light": 1}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def links() -> int:
    """How many links lead from articles to declarations; all have to lead somewhere."""
    count = 0
    for page in (SITE / "data" / "documentation" / "midstream").glob("*.json"):
        content = json.loads(page.read_text())
        if content["kind"] != "article":
            continue
        for reference in content["references"].values():
            if reference.get("type") != "topic":
                continue
            if not (SITE / reference["url"].partition("#")[0].strip("/") / "index.html").exists():
                sys.exit(f"site: {page.stem} links to {reference['url']}, which isn't there")
            count += reference.get("kind") == "symbol"
    return count


def shown(url: str, scheme: str, picture: pathlib.Path) -> str:
    """The document after its script has run; its picture is kept."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={directory}",
                   "--window-size=1280,1600", "--virtual-time-budget=15000", f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}"]
        subprocess.run([*command, f"--screenshot={picture.resolve()}", url], check=True, timeout=120, stderr=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)
        return subprocess.run([*command, "--dump-dom", url], check=True, timeout=120, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout


def main() -> None:
    count = links()
    if count < 20:
        sys.exit(f"site: only {count} links lead from articles to declarations")
    SEEN.mkdir(exist_ok=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for path, texts in PAGES.items():
        for scheme in SCHEMES:
            picture = SEEN / f"{path.strip('/').rpartition('/')[2] or 'front'}-{scheme}.png"
            document = shown(f"http://127.0.0.1:{server.server_port}/{path}", scheme, picture)
            missing = [text for text in texts if text not in document]
            if missing:
                sys.exit(f"site: /{path} doesn't show {missing}")
    server.shutdown()
    print(f"site: {len(PAGES)} pages are shown in light and dark ({SEEN}); {count} links lead from articles to declarations")


main()
