#!/usr/bin/env python3
"""What can befall a node: it is full, hangs, has no module, is saved, rewritten and emptied under
load, takes the place of another, and gives its shards away."""

import pathlib
import random
import re
import struct
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))

import tap
from cluster_client import NODE_HIT, ClusterClient, Uncovered, hits_of, shards_of
from load import (
    BATCH,
    KEYS,
    RADIUS,
    Loader,
    Oracle,
    Searcher,
    check_all,
    create_shards,
    dict_of,
    far_apart,
    key_of,
    near,
)
from redis import RedisError, Server, slot_of
from replicas import ReplicatedCluster

BUILD = pathlib.Path(sys.argv[1]).resolve()
WORK = tempfile.TemporaryDirectory()


def folder_of(name):
    return pathlib.Path(WORK.name) / name


class Loaded:
    """A cluster with loaders and searchers at work."""

    def __init__(self, name, *options):
        self.cluster = ReplicatedCluster(BUILD, folder_of(name), *options)
        self.oracle = Oracle()
        self.client = self.new_client()
        create_shards(self.client)
        kinds = ((Loader, False), (Loader, False), (Searcher, True), (Searcher, False))
        self.workers = [
            kind(self.oracle, self.new_client(replicas), number)
            for number, (kind, replicas) in enumerate(kinds)
        ]
        for worker in self.workers:
            worker.start()

    def new_client(self, replicas=False):
        return ClusterClient(self.cluster.ports(), replicas=replicas)

    def go_on(self, searches=40):
        """Until so many more were searched for."""
        for searcher in self.workers[-2:]:
            end, wanted = time.monotonic() + 60, searcher.done + searches
            while searcher.done < wanted and time.monotonic() < end:
                failed = [worker.failure for worker in self.workers if worker.failure]
                assert not failed, failed
                time.sleep(0.02)
            assert searcher.done >= wanted, "nothing goes on"

    def end(self):
        for worker in self.workers:
            worker.end()
        kept = check_all(self.oracle, self.client)
        self.check_replicas()
        self.cluster.stop()
        return kept

    def check_replicas(self):
        """The answers of a replica are those of its master, and what both have is the same."""
        self.cluster.wait_whole()
        chance = random.Random(3)
        codes = [near(chance, chance.choice(self.oracle.middles)) for _ in range(50)]
        packed = struct.pack("<50Q", *codes)
        for master in self.cluster.masters():
            replica = self.cluster.replica_of(master)
            ours, theirs = master.client(), replica.client()
            assert theirs.run("READONLY") == "OK"
            shard = next(s for s in KEYS if self.client.place(s)[0] == master.port)
            ask = ("DOPPEL.SEARCH", key_of(shard), "RADIUS", RADIUS, "NODE", "PACKED", packed)
            self.cluster.wait(lambda a=ours, b=theirs: same_digest(a, b), "a replica differs", 10)
            first, second = ours.run(*ask), theirs.run(*ask)
            assert first == second and first[1], (len(first[1]), len(second[1]))
            assert shard in shards_of(first[0])
            assert theirs.error("DOPPEL.REMOVE", key_of(shard), 1).startswith("MOVED")


def same_digest(one, other):
    return one.run("DEBUG", "DIGEST") == other.run("DEBUG", "DIGEST")


# ---- replicas ----


def test_a_replica_takes_over_and_is_made_again():
    loaded = Loaded("replicas")
    cluster = loaded.cluster
    loaded.go_on()
    # asked to: nothing stops
    master = cluster.masters()[0]
    replica = cluster.replica_of(master)
    replica.client().run("CLUSTER", "FAILOVER")
    cluster.wait_promoted(replica)
    cluster.wait_whole()
    loaded.go_on()
    # killed, and given all again by its master
    replica = cluster.replica_of(cluster.masters()[1])
    replica.kill()
    loaded.go_on(20)
    replica.start()
    cluster.wait_whole()
    # its connection is lost: given what it missed
    for master in cluster.masters():
        master.client().run("CLIENT", "KILL", "TYPE", "replica")
    cluster.wait_whole()
    loaded.go_on()
    # it has all, and is given all again
    for master in cluster.masters():
        before = full_syncs(master)
        master.client().run("DEBUG", "CHANGE-REPL-ID")
        master.client().run("CLIENT", "KILL", "TYPE", "replica")
        cluster.wait(lambda m=master, b=before: full_syncs(m) > b, "there is no full sync")
        loaded.go_on(20)
    cluster.wait_whole()
    loaded.go_on()
    loaded.end()


def full_syncs(master):
    return int(re.search(rb"sync_full:(\d+)", master.client().run("INFO", "stats"))[1])


def test_a_master_hangs_and_comes_back():
    """The client's time limit is over before a replica is promoted: the others are searched. What
    hung is a replica when it goes on, and has what was added meanwhile."""
    loaded = Loaded("hangs", "--cluster-node-timeout", "3000")
    cluster = loaded.cluster
    loaded.go_on()
    master = cluster.masters()[0]
    replica = cluster.replica_of(master)
    own = {shard for shard in KEYS if loaded.client.place(shard)[0] == master.port}
    hasty = ClusterClient(cluster.ports(), limit=0.5, timeout=0.3)
    master.pause()
    missing = missing_of(hasty)
    assert missing == own, (missing, own)
    cluster.wait_promoted(replica)
    assert missing_of(ClusterClient(cluster.ports(), timeout=0.3)) == set()
    master.resume()
    cluster.wait_whole()
    loaded.go_on()
    assert max(worker.slowest for worker in loaded.workers[:-1]) <= 10
    loaded.end()


def missing_of(client):
    """The shards that no node answered for within the client's limit."""
    try:
        client.search(KEYS, [0], RADIUS)
    except Uncovered as failure:
        return set(failure.args[0])
    return set()


# ---- full ----


def fill(client, key, first=0):
    """Add until it is refused. @return the payloads that were taken, and why no more were."""
    for at in range(first, first + (1 << 22), 1 << 12):
        payloads = range(at, at + (1 << 12))
        client.send(("DOPPEL.ADD", key, "PACKED", struct.pack("<8192Q", *payloads, *payloads)))
        answer = client.read()
        if isinstance(answer, RedisError):
            return list(range(first, at)), str(answer)
    raise AssertionError("it is never full")


def test_a_full_node_searches_and_removes():
    server = Server(BUILD, folder_of("full"), "--maxmemory", "6mb",
                    "--maxmemory-policy", "noeviction")  # fmt: skip
    client = server.client()
    client.run("DOPPEL.CREATE", "k", "TABLE", "HAMMING", "FAMILY", "f")
    taken, why = fill(client, "k")
    assert why.startswith("OOM") and len(taken) > 1 << 14, (why, len(taken))
    assert client.error("DOPPEL.CREATE", "l", "TABLE", "HAMMING").startswith("OOM")
    for scripted in ("redis.call('HSET', KEYS[2], 'a', 'b'); ", ""):
        script = scripted + "return redis.call('DOPPEL.ADD', KEYS[1], '1', ARGV[1])"
        assert "OOM" in client.error("EVAL", script, 2, "k", "h", "00" * 8)
    client.send(("MULTI",), ("HSET", "h", "a", "b"), ("DOPPEL.ADD", "k", 1, "00" * 8), ("EXEC",))
    assert str([client.read() for _ in range(4)][-1]).startswith("EXECABORT")
    assert client.run("EXISTS", "h", "l") == 0
    for code in (0, taken[-1]):
        packed = struct.pack("<Q", code)
        assert hits_of(client.run("DOPPEL.SEARCH", "k", "RADIUS", 0, packed), 3) == {(0, code, 0)}
    assert client.run("DOPPEL.KNN", "k", "COUNT", 1, "NODE", struct.pack("<Q", 5))[1][1] == 5
    # what is removed makes room
    for at in range(0, len(taken), 4096):
        assert client.run("DOPPEL.REMOVE", "k", *taken[at : at + 4096]) == 4096
    assert dict_of(client.run("DOPPEL.INFO", "k"))["codes"] == 0
    again, why = fill(client, "k", 1 << 23)
    assert why.startswith("OOM") and len(again) >= len(taken) // 2, (why, len(again), len(taken))
    server.stop()


# ---- without the module ----


def test_a_node_without_the_module_gets_no_shards():
    cluster = ReplicatedCluster(BUILD, folder_of("missing"), masters=3)
    client = ClusterClient(cluster.ports())
    create_shards(client)
    for shard, key in KEYS.items():
        client.run(shard, "DOPPEL.ADD", key, shard, struct.pack("<Q", shard))
    bare = Server(BUILD, folder_of("bare"), "--cluster-node-timeout", "1500", cluster=True,
                  with_module=False)  # fmt: skip
    master = cluster.masters()[0]
    bare.client().run("CLUSTER", "MEET", "127.0.0.1", master.port)
    cluster.wait(lambda: b"known_nodes:7" in bare.client().run("CLUSTER", "INFO"), "alone")
    assert "unknown command" in bare.client().error("DOPPEL.INFO", key_of(0))
    shard = next(s for s in KEYS if client.place(s)[0] == master.port)
    refused = move_slot(master, bare, slot_of(str(shard)))
    assert "ERR" in refused, refused
    hits = client.search(KEYS, list(KEYS), 0)
    assert hits == {(shard, shard, 0) for shard in KEYS}
    bare.kill()
    # as a replica it does not start, and the master goes on
    lonely = Server(BUILD, folder_of("lonely"), with_module=False)
    one = Server(BUILD, folder_of("master"))
    one.client().run("DOPPEL.CREATE", "k", "TABLE", "HAMMING")
    lonely.client().run("REPLICAOF", "127.0.0.1", one.port)
    cluster.wait(lambda: "dopplshrd" in lonely.log(), "it says nothing of the module")
    assert one.client().run("DOPPEL.ADD", "k", 1, "00" * 8) == 1
    for server in (lonely, one):
        server.kill()
    cluster.stop()


def move_slot(source, target, slot):
    """@return what MIGRATE was answered; where it failed the slot stays."""
    here, there = source.client(), target.client()
    ids = [client.run("CLUSTER", "MYID") for client in (here, there)]
    there.run("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0])
    here.run("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])
    for key in here.run("CLUSTER", "GETKEYSINSLOT", slot, 100):
        here.send(("MIGRATE", "127.0.0.1", target.port, key, 0, 5000))
        answer = here.read()
        if isinstance(answer, RedisError):
            for client in (here, there):
                client.run("CLUSTER", "SETSLOT", slot, "STABLE")
            return str(answer)
    for client in (there, here):
        client.run("CLUSTER", "SETSLOT", slot, "NODE", ids[1])
    return "OK"


# ---- shards that move ----


def test_a_third_of_the_slots_moves_under_load():
    """By the tool that Redis has for it."""
    loaded = Loaded("reshard")
    names = [node.client().run("CLUSTER", "MYID").decode() for node in loaded.cluster.masters()]
    loaded.go_on(20)
    for source, target in zip(names, names[1:] + names[:1]):
        tap.run("redis-cli", "--cluster", "reshard", f"127.0.0.1:{loaded.cluster.nodes[0].port}",
                "--cluster-from", source, "--cluster-to", target, "--cluster-slots", 1650,
                "--cluster-yes", "--cluster-pipeline", 100, timeout=120)  # fmt: skip
        loaded.go_on(20)
    loaded.end()


# ---- saved, rewritten, emptied ----


def is_busy(client):
    info = client.run("INFO", "persistence")
    return b"bgsave_in_progress:1" in info or b"rewrite_in_progress:1" in info


def test_saved_and_rewritten_under_load():
    for preamble in ("yes", "no"):
        loaded = Loaded("saved" + preamble, "--appendonly", "yes", "--appendfsync", "always",
                        "--aof-use-rdb-preamble", preamble)  # fmt: skip
        masters = [node.client() for node in loaded.cluster.masters()]
        for command in ("BGSAVE", "BGREWRITEAOF", "BGSAVE", "BGREWRITEAOF"):
            for client in masters:
                client.run(command)
            loaded.go_on(20)
            for client in masters:
                loaded.cluster.wait(lambda c=client: not is_busy(c), "it saves without end")
                assert b"bgsave_status:ok" in client.run("INFO", "persistence")
                assert b"bgrewrite_status:ok" in client.run("INFO", "persistence")
        # all nodes at once: what they have on their disks is all
        for worker in loaded.workers:
            worker.end()
        for node in loaded.cluster.nodes:
            node.kill()
        for node in loaded.cluster.nodes:
            node.start()
        loaded.cluster.wait_whole()
        loaded.client = loaded.new_client()
        loaded.end()


class Flushed(threading.Thread):
    """Searches of one server whose codes are numbered by how often it was emptied before."""

    def __init__(self, server, middle):
        super().__init__(daemon=True)
        self.client, self.middle = server.client(), middle
        self.generation, self.over, self.failure, self.full = 0, False, None, 0

    def run(self):
        try:
            while not self.over:
                self.search()
        except Exception as failure:
            self.failure = failure

    def search(self):
        before = self.generation
        self.client.send(("DOPPEL.SEARCH", key_of(0), "RADIUS", 10, "NODE",
                          struct.pack("<Q", self.middle)))  # fmt: skip
        answer = self.client.read()
        if isinstance(answer, RedisError):
            assert "no such shard" in str(answer) or "ask again" in str(answer), answer
            return
        found = {payload >> 20 for payload in answer[1][1::NODE_HIT]}
        assert all(before <= generation <= before + 1 for generation in found), (before, found)
        self.full += len(answer[1]) // NODE_HIT == 8 * BATCH


def test_emptied_under_searches():
    server = Server(BUILD, folder_of("emptied"))
    chance = random.Random(4)
    middle = far_apart(chance, 1)[0]
    client = server.client()
    searchers = [Flushed(server, middle) for _ in range(2)]
    for searcher in searchers:
        searcher.start()
    for generation in range(60):
        for shard in range(8):
            client.run("DOPPEL.CREATE", key_of(shard), "TABLE", "HAMMING", "FAMILY", "d", "SHARD",
                       shard)  # fmt: skip
            payloads = [generation << 20 | shard << 10 | number for number in range(BATCH)]
            codes = [near(chance, middle) for _ in payloads]
            client.run("DOPPEL.ADD", key_of(shard), "PACKED",
                       struct.pack(f"<{2 * BATCH}Q", *payloads, *codes))  # fmt: skip
        time.sleep(0.01)
        client.run("FLUSHALL", ("SYNC", "ASYNC")[generation % 2])
        for searcher in searchers:
            searcher.generation = generation + 1
    for searcher in searchers:
        searcher.over = True
        searcher.join(20)
        assert searcher.failure is None, repr(searcher.failure)
    assert sum(searcher.full for searcher in searchers) > 20
    assert client.run("DBSIZE") == 0 and server.runs()
    server.stop()


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
