"""The live page in a headless Chromium: calls that end while it is open, in light and dark, and the end of the server."""

import pathlib
import sys
import time

import chromium
import page

STATUS = "document.querySelector('[role=status]').textContent"
LAST = "Number([...document.querySelectorAll('.call')].at(-1)?.id.slice(5) || 0)"
FOLLOWS = "(list => list.scrollHeight - list.scrollTop - list.clientHeight < 60)(document.getElementById('list'))"


def until(browser, text):
    for _ in range(600):
        if found := page.value(browser, text):
            return found
        time.sleep(0.05)
    raise AssertionError(f"never: {text}")


def check(file):
    for _ in range(600):
        if file.exists():
            break
        time.sleep(0.1)
    url = file.read_text()
    seen = pathlib.Path(".build/seen")
    seen.mkdir(parents=True, exist_ok=True)
    browser = chromium.Browser()
    try:
        browser.call("Page.enable")
        browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
        for scheme in ("light", "dark"):
            page.opened_url(browser, url, scheme=scheme)
            until(browser, f"{STATUS} === '● live'")
            first = page.value(browser, LAST)
            until(browser, f"{LAST} > {first + 100} && {FOLLOWS}")
            assert page.value(browser, page.CONTRAST) == "[]"
            page.picture(browser, seen / f"live-{scheme}.png")
        until(browser, f"{LAST} > 250")
        assert page.value(browser, page.ROWS) <= 200, "the page keeps more calls than it should"
        # What is chosen and filtered stays so while calls come.
        page.value(browser, page.TYPE % (page.ROWS, "status:503"))
        page.value(browser, "[...document.querySelectorAll('.call')].at(-1).click()")
        chosen = "document.querySelector('.call[aria-selected=true]')?.id"
        before, last = page.value(browser, chosen), page.value(browser, LAST)
        until(browser, f"{LAST} > {last}")
        assert before and page.value(browser, chosen) == before, "another call is chosen"
        page.picture(browser, seen / "live-chosen.png")
        assert "S3CR3T" not in page.value(browser, "document.documentElement.outerHTML")
        file.unlink()
        until(browser, f"{STATUS} !== '● live'")
        assert page.value(browser, page.ROWS) > 0
    finally:
        browser.close()
    print(f"Chromium: the live page ({seen})")


check(pathlib.Path(sys.argv[1]))
