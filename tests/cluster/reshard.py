#!/usr/bin/env python3
"""Three nodes, whose shards move while they are searched and added to: every answer is that of a
scan. The way of a client: all nodes are asked for all that they have, and what none has named is
asked for by its own key."""

import pathlib
import random
import struct
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))

import tap
from redis import SLOTS, Client, RedisError, slot_of, start_cluster

BUILD = pathlib.Path(sys.argv[1]).resolve()
SHARDS, NODES = 64, 3


def key_of(shard):
    return f"doppel:{{{shard}}}"


class Cluster:
    def __init__(self, folder):
        self.nodes = start_cluster(BUILD, folder, NODES)
        self.ids = [node.client().run("CLUSTER", "MYID") for node in self.nodes]
        self.owner = {s: slot_of(str(s)) * NODES // SLOTS for s in range(SHARDS)}

    def clients(self):
        return {node.port: Client(node.port) for node in self.nodes}

    def move(self, clients, shard, target):
        """As `redis-cli --cluster reshard` moves a slot."""
        source, slot = self.owner[shard], slot_of(str(shard))
        there, here = clients[self.nodes[target].port], clients[self.nodes[source].port]
        there.run("CLUSTER", "SETSLOT", slot, "IMPORTING", self.ids[source])
        here.run("CLUSTER", "SETSLOT", slot, "MIGRATING", self.ids[target])
        for key in here.run("CLUSTER", "GETKEYSINSLOT", slot, 100):
            here.run("MIGRATE", "127.0.0.1", self.nodes[target].port, key, 0, 60000)
        for client in (there, here):
            client.run("CLUSTER", "SETSLOT", slot, "NODE", self.ids[target])
        for other in (s for s in self.owner if slot_of(str(s)) == slot):
            self.owner[other] = target


def run_where_it_is(clients, first, *command):
    """Follow MOVED and ASK."""
    client, asking = clients[first], False
    for _ in range(200):
        if asking:
            client.run("ASKING")
        client.send(command)
        answer = client.read()
        if not isinstance(answer, RedisError):
            return answer
        kind, _, where = (str(answer).split() + ["", ""])[:3]
        if kind in ("MOVED", "ASK"):
            client, asking = clients[int(where.rsplit(":", 1)[1])], kind == "ASK"
        elif kind == "TRYAGAIN" or "ask again" in str(answer) or "no such shard" in str(answer):
            time.sleep(0.002)
        else:
            raise answer
    raise AssertionError(f"{command[:2]} is nowhere")


def any_key_of(client):
    """One that a node has: some have gone meanwhile."""
    for shard in range(SHARDS):
        client.send(("EXISTS", key_of(shard)))
        if client.read() == 1:
            return key_of(shard)
    return None


def search_everywhere(clients, codes, radius):
    packed = struct.pack(f"<{len(codes)}Q", *codes)
    hits, covered = set(), set()
    for client in clients.values():
        key = any_key_of(client)
        if not key:
            continue
        client.send(("DOPPEL.SEARCH", key, "RADIUS", radius, "NODE", "PACKED", packed))
        answer = client.read()
        if isinstance(answer, RedisError):
            continue
        shards, found = answer
        covered |= {i for i in range(8 * len(shards)) if shards[i // 8] >> i % 8 & 1}
        hits |= set(zip(found[::4], found[1::4], found[2::4]))
        assert all(payload & 127 == at for payload, at in zip(found[1::4], found[3::4]))
    for shard in set(range(SHARDS)) - covered:
        found = run_where_it_is(clients, next(iter(clients)), "DOPPEL.SEARCH", key_of(shard),
                                "RADIUS", radius, "PACKED", packed)  # fmt: skip
        hits |= set(zip(found[::3], found[1::3], found[2::3]))
    return sorted((query, distance, payload) for query, payload, distance in hits)


def scan(known, codes, radius):
    return sorted(
        (query, (code ^ wanted).bit_count(), payload)
        for query, wanted in enumerate(codes)
        for payload, code in known.items()
        if (code ^ wanted).bit_count() <= radius
    )


def random_near(chance, middles):
    code = chance.choice(middles)
    for _ in range(chance.randrange(6)):
        code ^= 1 << chance.randrange(64)
    return code


class Searching(threading.Thread):
    """Adds and searches in turns, until it is told to end."""

    def __init__(self, cluster, number):
        super().__init__()
        self.cluster, self.number = cluster, number
        self.searched, self.failure, self.over = 0, None, False

    def run(self):
        try:
            self.search_on()
        except Exception as failure:
            self.failure = failure

    def search_on(self):
        clients = self.cluster.clients()
        chance = random.Random(self.number)
        # far from those of the other threads
        middles = [chance.getrandbits(62) | self.number << 62 for _ in range(10)]
        known = {}
        while not self.over:
            for _ in range(20):
                shard = chance.randrange(SHARDS)
                payload = len(known) << 8 | self.number << 7 | shard
                known[payload] = random_near(chance, middles)
                run_where_it_is(clients, next(iter(clients)), "DOPPEL.ADD", key_of(shard), payload,
                                f"{known[payload]:016x}")  # fmt: skip
            codes = [random_near(chance, middles) for _ in range(8)]
            found = search_everywhere(clients, codes, 5)
            own = [hit for hit in found if hit[2] in known]
            assert own == scan(known, codes, 5), (len(own), len(known))
            self.searched += len(codes)


def test_shards_move_under_load():
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(pathlib.Path(folder))
        clients = cluster.clients()
        for shard in range(SHARDS):
            run_where_it_is(clients, next(iter(clients)), "DOPPEL.CREATE", key_of(shard), "TABLE",
                            "HAMMING", "FAMILY", "d", "SHARD", shard)  # fmt: skip
        threads = [Searching(cluster, number) for number in range(2)]
        for thread in threads:
            thread.start()
        chance = random.Random(3)
        movers = cluster.clients()
        moved = 0
        while moved < SHARDS and not any(thread.failure for thread in threads):
            shard = chance.randrange(SHARDS)
            cluster.move(movers, shard, (cluster.owner[shard] + 1) % NODES)
            moved += 1
            time.sleep(0.02)
        for thread in threads:
            thread.over = True
            thread.join()
            assert thread.failure is None, repr(thread.failure)
        assert sum(thread.searched for thread in threads) >= 100
        print(f"# {sum(thread.searched for thread in threads)} searches, {moved} shards moved")


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
