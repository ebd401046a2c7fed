#!/usr/bin/env python3
"""Six nodes, a million codes, and a master that is killed: says what happens, and when.

usage: demo.py BUILD [CODES]"""

import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

from cluster_client import ClusterClient
from pictures import draw_all
from replicas import ReplicatedCluster

SHARDS, RADIUS, BATCH = 1024, 3, 1000
KEYS = {shard: f"demo:{{{shard}}}" for shard in range(SHARDS)}


def say(*words):
    print(*words, flush=True)


def at_once(work, pieces):
    """Each piece by a thread of its own. @return seconds"""
    threads = [threading.Thread(target=work, args=(piece,)) for piece in pieces]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - began


class Demo:
    def __init__(self, build, folder, count):
        self.doppel, self.folder = build / "doppel", folder
        self.cluster = ReplicatedCluster(build, folder)
        self.chance = random.Random(7)
        self.codes = [self.chance.getrandbits(64) for _ in range(count)]
        self.added = []  # while the master was killed, acknowledged
        self.waits = {"search": [], "add": []}
        self.over, self.missed = False, 0

    def client(self):
        return ClusterClient(self.cluster.ports(), limit=60, timeout=5)

    # ---- loading ----

    def load_shards(self, shards):
        client = self.client()
        for shard in shards:
            own, payloads = self.codes[shard::SHARDS], range(shard, len(self.codes), SHARDS)
            client.run(shard, "DOPPEL.CREATE", KEYS[shard], "TABLE", "HAMMING", "RADIUS", RADIUS,
                       "FAMILY", "demo", "SHARD", shard)  # fmt: skip
            client.run(shard, "DOPPEL.ADD", KEYS[shard], "REPLACE", "PACKED",
                       struct.pack(f"<{2 * len(own)}Q", *payloads, *own), durable=True)  # fmt: skip

    def load(self):
        taken = at_once(self.load_shards, [range(first, SHARDS, 4) for first in range(4)])
        say(f"{len(self.codes):,} codes of 64 bits were added in {taken:.1f} s, in {SHARDS} shards;"
            f" a replica has each as well.")  # fmt: skip

    # ---- searching ----

    def ask(self, client, count):
        """Of so many codes, 3 bits changed, how many are not found."""
        numbers = [self.chance.randrange(len(self.codes)) for _ in range(count)]
        queries = [self.codes[number] ^ 1 << 5 ^ 1 << 17 ^ 1 << 60 for number in numbers]
        hits = client.search(KEYS, queries, RADIUS)
        return sum((at, number, 3) not in hits for at, number in enumerate(numbers))

    def search(self, count=10000):
        client = self.client()
        self.ask(client, 1)
        began = time.monotonic()
        missed = sum(self.ask(client, BATCH) for _ in range(0, count, BATCH))
        say(f"{count:,} codes that differ from some of them in 3 bits were searched for in "
            f"{time.monotonic() - began:.1f} s: {count - missed:,} found.")  # fmt: skip
        return missed

    def keep_searching(self):
        client = self.client()
        while not self.over:
            began = time.monotonic()
            self.missed += self.ask(client, 100)
            self.waits["search"].append(time.monotonic() - began)

    def keep_adding(self):
        client = self.client()
        while not self.over:
            began = time.monotonic()
            payload, code = len(self.codes) + len(self.added), self.chance.getrandbits(64)
            shard = payload % SHARDS
            client.run(shard, "DOPPEL.ADD", KEYS[shard], "REPLACE", payload,
                       struct.pack("<Q", code), durable=True)  # fmt: skip
            self.added.append(code)
            self.waits["add"].append(time.monotonic() - began)

    # ---- the command ----

    def run_doppel(self, verb, *words):
        """@return the lines that it prints."""
        address = f"redis://127.0.0.1:{self.cluster.nodes[0].port}/photos"
        home = {"HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder)}
        done = subprocess.run([self.doppel, verb, "-L", address, *words], env=home, check=True,
                              stdout=subprocess.PIPE, text=True)  # fmt: skip
        return done.stdout.splitlines()

    def add_pictures(self, count=100):
        began = time.monotonic()
        draw_all(self.folder / "photos", count)
        told = self.run_doppel("ingest", "--durable", "--json", self.folder / "photos")
        say(f"doppel ingest -L redis://… : {sum('new' in line for line in told)} pictures are new, "
            f"in {time.monotonic() - began:.1f} s.")  # fmt: skip

    def find_pictures(self, count=100):
        """@return how many are not found."""
        began = time.monotonic()
        copies = draw_all(self.folder / "copies", count, brighter=9)
        rows = self.run_doppel("find", "--json", *copies)
        found = sum(f"/photos/{copy.name}" in row for copy, row in zip(copies, rows))
        say(f"doppel find -L redis://… : of {count} brighter copies, {found} are found, "
            f"in {time.monotonic() - began:.1f} s.")  # fmt: skip
        return count - found

    # ---- the kill ----

    def kill(self):
        work = (self.keep_searching, self.keep_adding)
        workers = [threading.Thread(target=each) for each in work]
        for worker in workers:
            worker.start()
        time.sleep(1)
        self.waits = {"search": [], "add": []}
        victim = self.chance.choice(self.cluster.masters())
        replica = self.cluster.replica_of(victim)
        own = sum(self.client().place(shard)[0] == victim.port for shard in KEYS)
        say(f"\nWhile two clients add and search: kill -9 of the master at port {victim.port}, "
            f"which has {own} of the shards.")  # fmt: skip
        victim.kill()
        say(f"After {self.cluster.wait_promoted(replica):.1f} s its replica, port {replica.port}, "
            f"had taken its place.")  # fmt: skip
        victim.start()
        say(f"The killed node was started again, and {self.cluster.wait_whole():.1f} s later it was"
            f" the replica of the other.")  # fmt: skip
        time.sleep(1)
        self.over = True
        for worker in workers:
            worker.join()

    def report(self):
        """@return how many codes were lost."""
        searches, adds = self.waits["search"], self.waits["add"]
        say(f"{len(searches)} searches of 100 codes each went on meanwhile: the longest took "
            f"{max(searches):.1f} s, and {self.missed} codes were not found.")  # fmt: skip
        say(f"{len(adds)} codes were added meanwhile: the longest took {max(adds):.1f} s.")
        first, client, lost = len(self.codes), self.client(), 0
        for at in range(0, len(self.added), BATCH):
            some = self.added[at : at + BATCH]
            hits = client.search(KEYS, some, 0)
            lost += sum((number, first + at + number, 0) not in hits for number in range(len(some)))
        say(f"Of {len(self.added)} that were acknowledged, {lost} are lost.")
        return lost


def main(build, count=1_000_000):
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    with tempfile.TemporaryDirectory(prefix="doppel-cluster-") as folder:
        began = time.monotonic()
        demo = Demo(pathlib.Path(build).resolve(), pathlib.Path(folder), int(count))
        masters = [node.port for node in demo.cluster.masters()]
        say(f"Six nodes of Redis with doppel's module run on this machine: masters at ports "
            f"{', '.join(map(str, masters))}, and a replica of each.")  # fmt: skip
        demo.load()
        wrong = demo.search()
        demo.add_pictures()
        demo.kill()
        wrong += demo.report() + demo.missed
        say()
        wrong += demo.search() + demo.find_pictures()
        demo.cluster.stop()
        say(f"The nodes are ended, and their files removed. All took "
            f"{time.monotonic() - began:.0f} s.")  # fmt: skip
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
