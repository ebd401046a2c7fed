"""Loaders and searchers of a cluster that something happens to, and what must be true of every
answer: what was acknowledged before a question is found, and nothing else than what was sent."""

import random
import struct
import threading
import time

SHARDS, RADIUS, BATCH = 64, 5, 32


def key_of(shard):
    return f"doppel:{{{shard}}}"


KEYS = {shard: key_of(shard) for shard in range(SHARDS)}


def create_shards(client):
    for shard, key in KEYS.items():
        client.run(shard, "DOPPEL.CREATE", key, "TABLE", "HAMMING", "RADIUS", RADIUS, "FAMILY",
                   "d", "SHARD", shard, durable=True)  # fmt: skip


def far_apart(chance, count):
    """Codes of which no two are within the reach of one question."""
    middles = []
    while len(middles) < count:
        code = chance.getrandbits(64)
        if all((code ^ other).bit_count() > 3 * RADIUS for other in middles):
            middles.append(code)
    return middles


def near(chance, code):
    for _ in range(chance.randrange(RADIUS + 1)):
        code ^= 1 << chance.randrange(64)
    return code


class Entry:
    """A code that was sent, and when (by the oracle's clock) what was known of it."""

    __slots__ = ("code", "added", "leaves", "removed")

    def __init__(self, code):
        self.code = code
        self.added = self.leaves = self.removed = None


class Oracle:
    """All codes that were sent, by the middle that they are near."""

    def __init__(self, seed=1, middles=200):
        self.lock = threading.Lock()
        self.now = 0
        self.middles = far_apart(random.Random(seed), middles)
        self.groups = [{} for _ in self.middles]
        self.entries = {}

    def tick(self):
        with self.lock:
            self.now += 1
            return self.now

    def sends(self, group, payload, code):
        with self.lock:
            self.groups[group][payload] = self.entries[payload] = Entry(code)

    def note(self, payloads, what):
        """`what`: added, leaves (its removal was sent) or removed."""
        with self.lock:
            self.now += 1
            for payload in payloads:
                setattr(self.entries[payload], what, self.now)

    def kept(self):
        with self.lock:
            return {p: e.code for p, e in self.entries.items() if e.added and not e.leaves}

    def check(self, group, query, began, found):
        """`found`: {(payload, distance)} of a question that was asked at `began`."""
        with self.lock:
            entries = list(self.groups[group].items())
        may = {(p, (e.code ^ query).bit_count()): e for p, e in entries}
        may = {hit: e for hit, e in may.items() if hit[1] <= RADIUS}
        must = {hit for hit, e in may.items() if e.added and e.added <= began and not e.leaves}
        gone = {hit for hit, e in may.items() if e.removed and e.removed <= began}
        assert must <= found, f"{len(must - found)} of {len(must)} acknowledged codes are lost"
        assert found <= set(may), f"{found - set(may)} were never sent"
        assert not found & gone, f"{len(found & gone)} removed codes came back"


class Worker(threading.Thread):
    """Works until it is told to end, or something is wrong."""

    def __init__(self, oracle, client, number):
        super().__init__(daemon=True)
        self.oracle, self.client, self.number = oracle, client, number
        self.chance = random.Random(number)
        self.failure, self.over = None, False
        self.steps, self.done, self.slowest = 0, 0, 0.0

    def run(self):
        try:
            while not self.over:
                began = time.monotonic()
                self.done += self.step()
                self.steps += 1
                self.slowest = max(self.slowest, time.monotonic() - began)
        except Exception as failure:
            self.failure = failure

    def end(self):
        self.over = True
        self.join(120)
        assert self.failure is None, repr(self.failure)
        assert not self.is_alive(), "a worker does not end"


class Loader(Worker):
    """Adds codes, and removes some of them, each acknowledged by a replica."""

    def step(self):
        shard = self.chance.randrange(SHARDS)
        payloads = [((self.done + i) << 4 | self.number) * SHARDS + shard for i in range(BATCH)]
        codes = []
        for payload in payloads:
            group = self.chance.randrange(len(self.oracle.middles))
            codes.append(near(self.chance, self.oracle.middles[group]))
            self.oracle.sends(group, payload, codes[-1])
        packed = struct.pack(f"<{2 * BATCH}Q", *payloads, *codes)
        # REPLACE: sent twice it is there once
        self.client.run(shard, "DOPPEL.ADD", key_of(shard), "REPLACE", "PACKED", packed,
                        durable=True)  # fmt: skip
        self.oracle.note(payloads, "added")
        if self.chance.random() < 0.3:
            self.remove(shard, self.chance.sample(payloads, 4))
        return BATCH

    def remove(self, shard, payloads):
        self.oracle.note(payloads, "leaves")
        self.client.run(shard, "DOPPEL.REMOVE", key_of(shard), *payloads, durable=True)
        self.oracle.note(payloads, "removed")


class Searcher(Worker):
    """Asks all shards for what is near some middles."""

    def step(self):
        groups = [self.chance.randrange(len(self.oracle.middles)) for _ in range(8)]
        queries = [near(self.chance, self.oracle.middles[group]) for group in groups]
        began = self.oracle.tick()
        hits = self.client.search(KEYS, queries, RADIUS)
        for number, (group, query) in enumerate(zip(groups, queries)):
            found = {(p, distance) for q, p, distance in hits if q == number}
            self.oracle.check(group, query, began, found)
        return len(queries)


def check_all(oracle, client, limit=1024):
    """Every code that was acknowledged and not removed is there once, and no other."""
    kept = oracle.kept()
    infos = [dict_of(client.run(shard, "DOPPEL.INFO", key)) for shard, key in KEYS.items()]
    held = sum(info["codes"] for info in infos)
    assert held == len(kept), f"{held} codes, and {len(kept)} were acknowledged"
    payloads = list(kept)
    for at in range(0, len(payloads), limit):
        some = payloads[at : at + limit]
        hits = client.search(KEYS, [kept[payload] for payload in some], 0)
        own = {(number, payload, 0) for number, payload in enumerate(some)}
        assert own <= hits, f"{len(own - hits)} are not found"
    return len(kept)


def dict_of(fields):
    return {name.decode(): value for name, value in zip(fields[::2], fields[1::2])}
