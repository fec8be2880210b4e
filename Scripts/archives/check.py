"""Reads an archive and telemetry with other programs' readers. Prints what each made of it, and fails when one refuses an entry."""

import json
import sys

import chromium
import page
import proxies
import telemetry


def main(path):
    with open(path) as file:
        archive = json.load(file)
    entries = archive["log"]["entries"]
    assert len(entries) >= 300, f"the sample has {len(entries)} entries"
    assert "S3CR3T" not in json.dumps(archive), "the sample has a secret"
    print(f"{len(entries)} entries")
    proxies.check_mitmproxy(archive)
    proxies.check_replay(path, archive)
    proxies.check_haralyzer(archive)
    telemetry.check(path + ".otlp")
    chromium.check(archive)
    page.check(path)


main(sys.argv[1])
