#!/usr/bin/env python3
"""doppel -L redis://… while nodes are killed, hang, are full, or refuse its password.

usage: command.py BUILD [DOPPEL]"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))

import tap
from pictures import draw_all
from redis import slot_of
from replicas import ReplicatedCluster

BUILD = pathlib.Path(sys.argv[1]).resolve()
DOPPEL = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else BUILD / "doppel"
WORK = tempfile.TemporaryDirectory(prefix="doppel-cluster-")
HOME = {"HOME": WORK.name, "XDG_DATA_HOME": WORK.name, "XDG_CACHE_HOME": WORK.name}


def folder_of(name):
    return pathlib.Path(WORK.name) / name


def address_of(cluster, name="doppel"):
    return "redis://" + ",".join(f"127.0.0.1:{port}" for port in cluster.ports()) + "/" + name


def command(verb, address, *words):
    return [DOPPEL, verb, "-L", address, *map(str, words)]


def run(verb, address, *words, code=0, **options):
    """@return what it prints, its complaints, seconds."""
    began = time.monotonic()
    done = subprocess.run(command(verb, address, *words), capture_output=True, text=True,
                          timeout=90, env=os.environ | HOME, **options)  # fmt: skip
    assert code in (None, done.returncode), (verb, done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr, time.monotonic() - began


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def listed(address):
    return {item["path"] for item in objects(run("list", address, "--json")[0])}


def lines_of(paths):
    return "".join(f"{path}\n" for path in paths)


# ---- killed ----


class Ingest:
    """`doppel ingest -`, given a path now and then."""

    def __init__(self, address, paths, pause=0.03):
        self.process = subprocess.Popen(
            command("ingest", address, "--json", "--durable", "-"), env=os.environ | HOME,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.lines = []
        self.feeder = threading.Thread(target=self.feed, args=(paths, pause), daemon=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.feeder.start()
        self.reader.start()

    def feed(self, paths, pause):
        try:
            for path in paths:
                self.process.stdin.write(f"{path}\n")
                self.process.stdin.flush()
                time.sleep(pause)
            self.process.stdin.close()
        except OSError:
            pass  # it was killed

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def decisions(self):
        """By path; the last line may be cut."""
        whole = [line for line in self.lines if line.endswith("}\n")]
        return {one["path"]: one["decision"] for one in objects("".join(whole))}

    def end(self):
        self.reader.join(120)
        self.told = self.process.stderr.read()
        assert self.process.wait(10) == 0, self.told
        return self.decisions()


def test_nothing_that_was_told_is_lost_with_a_master():
    cluster = ReplicatedCluster(BUILD, folder_of("killed"))
    address = address_of(cluster)
    paths = [str(path) for path in draw_all(folder_of("pictures"), 200)]
    copies = [str(path) for path in draw_all(folder_of("copies"), 200, brighter=9)]
    ingest = Ingest(address, paths)
    for seed in range(3):
        time.sleep(0.6)
        victim = random.Random(seed).choice(cluster.masters())
        cluster.fail_over(victim, cut_off=seed == 1)
        cluster.wait_whole()
    decisions = ingest.end()
    other = {path: decisions.get(path) for path in paths if decisions.get(path) != "new"}
    assert not other, (other, ingest.told)
    assert listed(address) == set(paths)
    # the command is killed as well: what it had told is there
    one, more = copies[:100], [str(p) for p in draw_all(folder_of("more"), 100, first=1000)]
    ingest = Ingest(address, [path for pair in zip(one, more) for path in pair], 0.005)
    while len(ingest.lines) < 20:
        time.sleep(0.01)
    ingest.process.kill()
    ingest.reader.join(20)
    told = ingest.decisions()
    assert all(told[path] == "duplicate" for path in one if path in told)
    new = {path for path in more if told.get(path) == "new"}
    assert len(new) >= 9
    again = objects(run("ingest", address, "--json", "--durable", "-", input=lines_of(more))[0])
    now = {one["path"]: (one["decision"], one.get("reason")) for one in again}
    assert {now[path] for path in new} == {("duplicate", "identical")}
    assert listed(address) == set(paths + more)
    cluster.stop()


def test_of_each_pair_one_is_new():
    cluster = ReplicatedCluster(BUILD, folder_of("pairs"))
    address = address_of(cluster)
    left, right = draw_all(folder_of("left"), 100), draw_all(folder_of("right"), 100, brighter=9)
    both = [Ingest(address, paths, 0) for paths in (left, reversed(right))]
    first, second = (ingest.end() for ingest in both)
    for one, other in zip(left, right):
        pair = sorted((first[str(one)], second[str(other)]))
        assert pair == ["duplicate", "new"], (one, pair)
    assert len(listed(address)) == 100
    cluster.stop()


# ---- moving ----


def test_a_move_that_was_not_ended():
    """The slots' keys are on their new node, which is asked by ASK; replicas of the old one do not
    say so."""
    cluster = ReplicatedCluster(BUILD, folder_of("moves"))
    address = address_of(cluster)
    paths = draw_all(folder_of("moved"), 20)
    items = objects(run("ingest", address, "--json", *paths)[0])
    source, target = cluster.masters()[:2]
    ids = [node.client().run("CLUSTER", "MYID") for node in (source, target)]
    here, there = source.client(), target.client()
    moved, slots = [], []
    for path, item in zip(paths, items):
        slot = slot_of(str(item["item"] % 1024))
        if not here.run("CLUSTER", "COUNTKEYSINSLOT", slot):
            continue
        there.run("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0])
        here.run("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])
        for key in here.run("CLUSTER", "GETKEYSINSLOT", slot, 100):
            here.run("MIGRATE", "127.0.0.1", target.port, key, 0, 5000)
        moved.append(path)
        slots.append(slot)
    assert len(moved) > 3
    assert here.run("WAIT", 1, 5000) == 1
    for words in ((), ("--replicas",)):
        found = objects(run("find", address, "--json", *words, *paths)[0])
        assert {one.get("path") for one in found} == {str(path) for path in paths}, words
    for slot in slots:
        for client in (there, here):
            client.run("CLUSTER", "SETSLOT", slot, "NODE", ids[1])
    again = objects(run("ingest", address, "--json", *moved)[0])
    assert {one["decision"] for one in again} == {"duplicate"}
    cluster.stop()


# ---- hanging ----


def test_a_hanging_node_is_named():
    """It is not replaced within the limit."""
    cluster = ReplicatedCluster(BUILD, folder_of("hangs"), "--cluster-node-timeout", "60000")
    address = address_of(cluster)
    paths = draw_all(folder_of("seen"), 60)
    copies = draw_all(folder_of("again"), 60, brighter=9)
    items = objects(run("ingest", address, "--json", "-", input=lines_of(paths))[0])
    shards = {one["path"]: one["item"] % 1024 for one in items}
    master = cluster.masters()[1]
    (first, last, *_), = [
        part for part in master.client().run("CLUSTER", "SLOTS") if part[2][1] == master.port
    ]
    gone = {n for n in range(1024) if first <= slot_of(str(n)) <= last}
    master.pause()
    there = [n for n in range(60) if shards[str(paths[n])] not in gone]
    away = [n for n in range(60) if shards[str(paths[n])] in gone]
    assert there and away
    one, other = copies[there[0]], copies[away[0]]
    found, told, taken = run("find", address, "--json", one, code=3)
    assert taken < 8, taken
    (first,), (second,) = objects(found), objects(run("find", address, "--json", other, code=3)[0])
    assert first["path"] == str(paths[there[0]]) and first["partial"], first
    assert second["match"] is False and second["partial"], second
    assert f"{len(gone)} of 1024 shards" in told and f":{master.port} " in told, told
    told = run("find", address, "--partial", "refuse", one, code=2)[1]
    assert f"{len(gone)} of 1024 shards" in told, told
    found, told, taken = run("find", address, "--replicas", "--json", other)
    assert objects(found)[0]["path"] == str(paths[away[0]]) and not told, (found, told)
    assert taken < 4, taken
    master.resume()
    found, told, _ = run("find", address, "--json", other)
    assert str(paths[away[0]]) in found and "partial" not in found + told
    cluster.stop()


# ---- refused ----


def test_a_wrong_password():
    cluster = ReplicatedCluster(BUILD, folder_of("locked"))
    for node in cluster.nodes:
        node.client().run("CONFIG", "SET", "masterauth", "sesame", "requirepass", "sesame")
    address = address_of(cluster)
    key, wrong = folder_of("key"), folder_of("wrong")
    key.write_text("sesame\n")
    wrong.write_text("barley\n")
    paths = draw_all(folder_of("secret"), 2)
    for words in ((), ("--library-key", wrong)):
        for verb in ("ingest", "find", "add", "stats"):
            told = run(verb, address, *words, *([] if verb == "stats" else paths[:1]), code=2)[1]
            assert "password" in told or "WRONGPASS" in told or "NOAUTH" in told, (verb, told)
            assert "barley" not in told and told.count("\n") <= 2, told
    assert '"new"' in run("ingest", address, "--library-key", key, "--json", paths[0])[0]
    assert str(paths[0]) in run("find", address, "--library-key", key, paths[0])[0]
    for node in cluster.nodes:
        node.kill()


# ---- full ----


def test_a_full_cluster_searches_and_removes():
    cluster = ReplicatedCluster(BUILD, folder_of("full"))
    address = address_of(cluster)
    paths = draw_all(folder_of("few"), 20)
    items = objects(run("ingest", address, "--json", *paths[:10])[0])
    for node in cluster.nodes:
        node.client().run("CONFIG", "SET", "maxmemory", 1 << 20)
    for verb in ("add", "ingest"):
        told = run(verb, address, paths[15], code=2)[1]
        assert "memory" in told and told.count("\n") <= 2, told
    assert str(paths[3]) in run("find", address, paths[3])[0]
    run("remove", address, items[3]["item"])
    assert listed(address) == {str(path) for path in paths[:10]} - {str(paths[3])}
    run("find", address, paths[3], code=1)
    for node in cluster.nodes:
        node.client().run("CONFIG", "SET", "maxmemory", 0)
    assert '"new"' in run("ingest", address, "--json", paths[3])[0]
    cluster.stop()


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
