"""Reads the list of contestants: contestants.json, in which the first of each group is what the others are compared with."""

import json
import pathlib
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Contestant:
    name: str
    # The program and its first arguments; it prints a line of JSON, except for the curl command.
    command: tuple[str, ...]
    # How many requests it sends, as a share of what the first one sends: slow ones get fewer.
    share: float = 1
    protocols: tuple[str, ...] = ("http1", "http2")


def load(pattern: str) -> dict[str, list[Contestant]]:
    """The contestants of each group whose name matches. The yardstick of a group always takes part."""
    text = (pathlib.Path(__file__).parent.parent / "contestants.json").read_text()
    groups = {}
    for group, entries in json.loads(text).items():
        all_of_them = [
            Contestant(
                entry["name"],
                tuple(entry["command"]),
                entry.get("share", 1),
                tuple(entry.get("protocols", Contestant.protocols)),
            )
            for entry in entries
        ]
        chosen = [one for one in all_of_them if re.search(pattern, one.name)]
        if chosen:
            groups[group] = chosen if chosen[0] is all_of_them[0] else [all_of_them[0], *chosen]
    return groups


def products(groups: dict[str, list[Contestant]]) -> set[str]:
    """What has to be built for them."""
    return {one.command[0] for group in groups.values() for one in group} - {"curl"}
