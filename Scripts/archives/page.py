"""The page of calls in a headless Chromium: what it draws of none, one and a thousand calls, in light and dark, on paper, and by keys."""

import base64
import json
import pathlib
import shutil

import chromium

# Bars need a contrast of 3 to what is behind them, texts one of 4.5 (WCAG 2.2).
CONTRAST = """
(() => {
    const styles = getComputedStyle(document.documentElement);
    const light = name => {
        let hex = styles.getPropertyValue(name).trim().slice(1);
        if (hex.length === 3) hex = [...hex].map(one => one + one).join('');
        const parts = [0, 2, 4].map(at => parseInt(hex.slice(at, at + 2), 16) / 255).map(one => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const bad = [];
    for (const back of ['--back', '--row', '--mark']) {
        for (const name of ['lookup', 'connect', 'tls', 'send', 'wait', 'receive', 'idle']) if (ratio('--' + name, back) < 3) bad.push([name, back, ratio('--' + name, back)]);
        for (const name of ['text', 'dim', 'good', 'bad', 'turn']) if (ratio('--' + name, back) < 4.5) bad.push([name, back, ratio('--' + name, back)]);
    }
    return JSON.stringify(bad);
})()
"""
ROWS = "document.querySelectorAll('.call').length"
BARS = "[...document.querySelectorAll('.call')].slice(0, 20).flatMap(one => [...one.querySelectorAll('.bar i')]).filter(one => one.offsetHeight > 3 && one.offsetWidth > 0).length"
TYPE = """(text => { const box = document.getElementById('filter'); box.value = text; box.dispatchEvent(new Event('input')); return %s; })(%r)"""

# What is copied of an exchange, which somebody else may have recorded.
COMMANDS = [
    ({"method": "POST", "url": "-o/x[1]", "requestHeaders": [["A", ""], [":path", "/"], ["@/etc/passwd", "1"], ["Content-Length", "5"]],
      "requestBody": {"text": "@it's"}},
     "curl -g --path-as-is -X 'POST' --url '-o/x[1]' -H 'A;' -H 'Content-Type:' --data-raw '@it'\\''s'"),
    ({"method": "$(id)", "url": "http://h", "requestHeaders": [["Content-Type", "image/png"]], "requestBody": {"text": "AAAA", "encoding": "base64"}},
     "curl -g --path-as-is -X '$(id)' --url 'http://h' -H 'Content-Type: image/png' --data-binary @-"),
    ({"method": "PUT", "url": "http://h", "requestHeaders": [], "requestBody": {"text": "the beginn"}, "isRequestCut": True},
     "curl -g --path-as-is -X 'PUT' --url 'http://h' -H 'Content-Type:' --data-binary @-"),
    ({"method": "HEAD", "url": "http://h", "requestHeaders": []}, "curl -g --path-as-is --head --url 'http://h'"),
]


def opened(browser, path, **media):
    return opened_url(browser, pathlib.Path(path).resolve().as_uri(), **media)


def opened_url(browser, url, **media):
    browser.call("Emulation.setEmulatedMedia", media=media.get("media", ""),
                 features=[{"name": "prefers-color-scheme", "value": media.get("scheme", "light")}])
    browser.call("Page.navigate", url=url)
    for _ in range(200):
        value, _ = browser.evaluate("document.readyState === 'complete' && document.getElementById('summary') ? document.getElementById('summary').textContent : ''")
        if value:
            return value
    raise AssertionError(f"{url} draws nothing")


def value(browser, text):
    found, thrown = browser.evaluate(text)
    assert thrown is None, thrown
    return found


def check(path):
    seen = pathlib.Path(".build/seen")
    shutil.rmtree(seen, ignore_errors=True)
    seen.mkdir(parents=True)
    browser = chromium.Browser()
    browser.call("Page.enable")
    browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    try:
        for count in (0, 1, 1000):
            for scheme in ("light", "dark"):
                file = f"{path}.{count}.html"
                summary = opened(browser, file, scheme=scheme)
                assert summary.startswith(f"{count} calls"), summary
                assert value(browser, ROWS) == count
                assert value(browser, BARS) >= min(count, 20)
                assert value(browser, CONTRAST) == "[]", value(browser, CONTRAST)
                picture(browser, seen / f"{count}-{scheme}.png")
        opened(browser, f"{path}.1000.html")
        assert value(browser, "document.title") == "A thousand"
        for exchange, command in COMMANDS:
            copied = value(browser, f"curl({json.dumps(exchange)})")
            assert copied == command, copied
        failed = value(browser, TYPE % (ROWS, "status:404"))
        assert 0 < failed < 1000, failed
        assert value(browser, TYPE % (ROWS, "status:404 -status:404")) == 0
        value(browser, TYPE % (ROWS, "redirect"))
        press = "document.dispatchEvent(new KeyboardEvent('keydown', { key: %r }))"
        for key in ("j", "Enter"):
            value(browser, press % key)
        assert value(browser, "document.querySelectorAll('.exchange').length") == 2
        story = value(browser, "document.getElementById('panel').innerText")
        assert "What happened" in story and "302" in story and "2." in story, story
        picture(browser, seen / "one-call.png")
        value(browser, press % "Escape")
        assert value(browser, "document.getElementById('panel').hidden")
        value(browser, TYPE % (ROWS, ""))
        value(browser, "(() => { const axis = document.getElementById('axis'); axis.value = 'capture'; axis.dispatchEvent(new Event('change')); axis.onchange?.(); })()")
        assert not value(browser, "document.getElementById('strip').hidden")
        picture(browser, seen / "capture.png")
        browser.call("Emulation.setDeviceMetricsOverride", width=700, height=900, deviceScaleFactor=1, mobile=False)
        assert value(browser, "document.documentElement.scrollWidth <= innerWidth")
        picture(browser, seen / "narrow.png")
        opened(browser, f"{path}.1000.html", media="print")
        shown = "[...document.querySelectorAll('.call')].filter(one => one.offsetHeight > 0).length"
        assert value(browser, shown) == 1000
        assert value(browser, "document.getElementById('list').clientHeight") > 20000, "not all rows are on paper"
        opened(browser, f"{path}.archive.html")
        assert value(browser, ROWS) > 300
    finally:
        browser.close()
    for count in (0, 1, 1000):
        assert "S3CR3T" not in pathlib.Path(f"{path}.{count}.html").read_text()
    print(f"Chromium: the page of 0, 1 and 1,000 calls in light and dark, filtered, by keys, narrow and on paper ({seen})")


def picture(browser, path):
    path.write_bytes(base64.b64decode(browser.call("Page.captureScreenshot")["data"]))
