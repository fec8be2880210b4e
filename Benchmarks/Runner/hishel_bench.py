"""Prints what hishel, the cache for httpx, makes of the requests that cache-bench makes: hits a second from a database in memory and from one
on disk; the processor time of a miss that is stored there as a multiple of that of the same request by httpx alone;
and how many microseconds that one takes.

Usage: hishel_bench.py URL FOLDER
"""

import itertools
import os
import sqlite3
import statistics
import sys
import time

import httpx
from hishel import SqliteStorage
from hishel.httpx import CacheTransport

HITS, MISSES, ROUNDS = 1000, 300, 7


class Fresh(httpx.BaseTransport):
    """Gives responses a freshness, within the cache, since the server says nothing about it."""

    def __init__(self):
        self.transport = httpx.HTTPTransport()

    def handle_request(self, request):
        response = self.transport.handle_request(request)
        response.headers["Cache-Control"] = "max-age=600"
        return response

    def close(self):
        self.transport.close()


def in_memory():
    return SqliteStorage(connection=sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None))


def on_disk(folder):
    return SqliteStorage(database_path=os.path.join(folder, "hishel.db"))


# A client that is closed closes its storage, too.
def client(storage=None):
    return httpx.Client(transport=Fresh() if storage is None else CacheTransport(Fresh(), storage, rfc=True), trust_env=False)


def hits(url, storage):
    with client(storage) as cached:
        cached.get(url)
        start = time.perf_counter()
        responses = [cached.get(url) for _ in range(HITS)]
        duration = time.perf_counter() - start
        if not all(response.extensions["caching"]["from_cache"] for response in responses):
            sys.exit("hishel didn't answer from its cache")
    return HITS / duration


def misses(urls, storage=None):
    with client(storage) as some:
        start = time.process_time()
        for url in itertools.islice(urls, MISSES):
            some.get(url)
        return time.process_time() - start


def main():
    url, folder = sys.argv[1:]
    urls = (f"{url}?hishel={number}" for number in itertools.count())
    memory_hits, disk_hits, memory_misses, disk_misses, plain = [], [], [], [], []
    for _ in range(ROUNDS):
        memory_hits.append(hits(url, in_memory()))
        disk_hits.append(hits(url, on_disk(folder)))
        alone = misses(urls)
        plain.append(alone / MISSES * 1e6)
        memory_misses.append(misses(urls, in_memory()) / alone)
        disk_misses.append(misses(urls, on_disk(folder)) / alone)
    for figures in (memory_hits, disk_hits, memory_misses, disk_misses, plain):
        print(statistics.median(figures))


main()
