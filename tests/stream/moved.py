#!/usr/bin/env python3
"""`doppel ingest --stream` of a cluster: another node is named, and a slot moves meanwhile.

Usage: moved.py BUILD"""

import pathlib
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402
from stream_case import FOLDER, doppel, end, start, text_of, wait_until  # noqa: E402

if not shutil.which("redis-server"):
    print("1..0 # SKIP redis-server is not installed")
    sys.exit(0)

from redis_server import Server, pairs, slot_of  # noqa: E402

NODES, SLOTS = 3, 16384


def is_ready(node):
    return b"state:ok" in node.client().run("CLUSTER", "INFO")


def start_nodes(name):
    options = ["--cluster-enabled", "yes", "--cluster-config-file", "nodes"]
    nodes = [Server(FOLDER / f"{name}{i}", *options) for i in range(NODES)]
    for number, node in enumerate(nodes):
        first, last = number * SLOTS // NODES, (number + 1) * SLOTS // NODES - 1
        node.client().run("CLUSTER", "ADDSLOTSRANGE", first, last)
        node.client().run("CLUSTER", "MEET", "127.0.0.1", nodes[0].port)
    for node in nodes:
        wait_until(lambda node=node: is_ready(node), "the nodes meet")
    return nodes


CLUSTER = start_nodes("node")


class Stream:
    """{TAG}, {TAG}:out and {TAG}:dead, and the node that has them."""

    def __init__(self, tag):
        self.key, self.out, self.dead = f"{{{tag}}}", f"{{{tag}}}:out", f"{{{tag}}}:dead"
        self.slot = slot_of(tag)
        self.node = CLUSTER[self.slot * NODES // SLOTS]
        self.library = f"lib-{tag}"
        self.sent = []

    def others(self):
        return [node for node in CLUSTER if node is not self.node]

    def add(self, count, asking=False):
        client = self.node.client()
        for _ in range(count):
            if asking:
                client.run("ASKING")
            fields = ["text", text_of(f"{self.key}{len(self.sent)}")]
            self.sent.append(client.run("XADD", self.key, "*", *fields).decode())

    def words(self, node, *options):
        url = node.url(self.key.replace("{", "%7B").replace("}", "%7D"))
        return ["ingest", "-L", self.library, "--stream", url, *options]

    def answered(self, asking=False):
        client = self.node.client()
        if asking:
            client.run("ASKING")
        return [pairs(fields)["message"] for _, fields in client.run("XRANGE", self.out, "-", "+")]

    def has(self, count, asking=False):
        wait_until(lambda: len(self.answered(asking)) >= count, f"{count} decisions")
        assert self.answered(asking) == self.sent[:count]

    def begin_move(self, to):
        source, target = self.node.client(), to.client()
        ids = [client.run("CLUSTER", "MYID").decode() for client in (source, target)]
        target.run("CLUSTER", "SETSLOT", self.slot, "IMPORTING", ids[0])
        source.run("CLUSTER", "SETSLOT", self.slot, "MIGRATING", ids[1])

    def move_keys(self, to, *keys):
        self.node.client().run("MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "KEYS", *keys)

    def end_move(self, to):
        target = to.client()
        own = target.run("CLUSTER", "MYID").decode()
        for node in (to, self.node, *CLUSTER):
            node.client().run("CLUSTER", "SETSLOT", self.slot, "NODE", own)
        self.node = to


def test_any_node_may_be_named():
    stream = Stream("any")
    for node in stream.others():
        stream.add(3)
        done = doppel(*stream.words(node, "--drain", "--to", stream.out))
        assert f"lies at 127.0.0.1:{stream.node.port} of the cluster" in done.stderr, done.stderr
        stream.has(len(stream.sent))
    quarantined = stream.node.client()
    quarantined.run("XADD", stream.key, "*", "json", "{")
    doppel(*stream.words(stream.others()[0], "--drain", "--to", stream.out))
    assert quarantined.run("XLEN", stream.dead) == 1


def test_a_slot_that_moves_under_a_consumer():
    """Three times, also with its keys here and there for a while; each message has one decision."""
    stream = Stream("moves")
    process = start(*stream.words(stream.others()[0], "--to", stream.out))
    try:
        stream.add(20)
        stream.has(20)
        for _ in range(3):
            to = stream.others()[0]
            stream.begin_move(to)
            stream.add(5)
            stream.move_keys(to, stream.out)
            time.sleep(0.3)
            stream.move_keys(to, stream.key)
            source, stream.node = stream.node, to
            stream.add(5, asking=True)
            stream.has(len(stream.sent), asking=True)
            stream.node = source
            stream.end_move(to)
            stream.add(5)
            stream.has(len(stream.sent))
        assert stream.node.client().run("XPENDING", stream.key, "doppel")[0] == 0
    finally:
        _, err = end(process)
    assert "lies at 127.0.0.1:" in err and "65 messages decided" in err, err


def test_keys_of_several_slots_are_refused():
    stream = Stream("apart")
    stream.add(1)
    said = doppel(*stream.words(stream.node, "--drain", "--to", "elsewhere"), code=2).stderr
    assert "{apart}" in said and "'elsewhere'" in said and "slot" in said, said
    assert stream.node.client().run("XINFO", "STREAM", stream.key)[1] == 1
    assert not (FOLDER / stream.library / "catalogue.db").exists() or not doppel(
        "list", "-L", stream.library
    ).stdout


def test_a_node_that_is_gone():
    """The one that has the stream, which comes back: the node that was named leads there again."""
    stream = Stream("gone")
    process = start(*stream.words(stream.others()[0], "--to", stream.out))
    try:
        stream.add(2)
        stream.has(2)
        stream.node.kill()
        time.sleep(0.5)
        stream.node.start()
        wait_until(lambda: is_ready(stream.node), "the node is back")
        stream.add(2)
        stream.has(4)
    finally:
        _, err = end(process)
    assert "is away" in err, err


if __name__ == "__main__":
    try:
        sys.exit(tap.main(sys.modules[__name__]))
    finally:
        for server in CLUSTER:
            server.kill()
