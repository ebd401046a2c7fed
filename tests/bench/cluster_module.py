#!/usr/bin/env python3
"""The module in a cluster of three nodes, against the same index in one process.

usage: cluster_module.py BUILD [CODES]"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

from redis import SLOTS, Client, encode, slot_of, start_cluster

NODES, SHARDS, BATCH = 3, 1024, 1024


def node_of(shard):
    return slot_of(str(shard)) * NODES // SLOTS


def key_of(shard):
    return f"doppel:{{{shard}}}"


def exchange(client, encoded, most=64):
    """Send commands, so many in flight."""
    for at in range(0, len(encoded), most):
        client.socket.sendall(b"".join(encoded[at : at + most]))
        for _ in encoded[at : at + most]:
            answer = client.read()
            assert not isinstance(answer, Exception), answer


def at_once(work):
    threads = [threading.Thread(target=run, args=arguments) for run, *arguments in work]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - start


def load(nodes, codes, radius, family):
    each = len(codes) // 8 // SHARDS
    commands = [[] for _ in nodes]
    for shard in range(SHARDS):
        first = shard * each
        payloads = b"".join(n.to_bytes(8, "little") for n in range(first, first + each))
        made = ("DOPPEL.CREATE", key_of(shard), "TABLE", "HAMMING", "RADIUS", radius, "FAMILY",
                family, "SHARD", shard)  # fmt: skip
        own = codes[first * 8 : (first + each) * 8]
        commands[node_of(shard)].append(encode(made))
        for at in range(0, each, 128):
            some = slice(at * 8, min(at + 128, each) * 8)
            commands[node_of(shard)].append(
                encode(("DOPPEL.ADD", key_of(shard), "PACKED", payloads[some] + own[some]))
            )
    taken = at_once((exchange, Client(node.port), some) for node, some in zip(nodes, commands))
    start = time.monotonic()
    for node in nodes:
        search_node(Client(node.port), nodes.index(node), codes[:8], 0)
    return each * SHARDS / taken, each * SHARDS / (taken + time.monotonic() - start)


def shard_of_node(number):
    return next(shard for shard in range(SHARDS) if node_of(shard) == number)


def search_command(number, codes, radius):
    return encode(("DOPPEL.SEARCH", key_of(shard_of_node(number)), "RADIUS", radius, "NODE",
                   "PACKED", codes))  # fmt: skip


def search_node(client, number, codes, radius):
    client.socket.sendall(search_command(number, codes, radius))
    return client.read()


def search(nodes, radius, batches):
    """Each batch is asked of every node."""
    codes = [random.randbytes(BATCH * 8) for _ in range(batches)]
    work = []
    for number, node in enumerate(nodes):
        commands = [search_command(number, some, radius) for some in codes]
        work += [(exchange, Client(node.port), commands[half::2], 1) for half in range(2)]
    return batches * BATCH / at_once(work)


def in_process(build, folder, codes, radius):
    """Searches a second of one thread, in CPU time."""
    index, queries, raw = folder / f"index{radius}", folder / "queries", folder / "codes"
    raw.write_bytes(codes)
    queries.write_bytes(random.randbytes(20000 * 8))
    doppel = [str(build / "doppel"), "index"]
    run(doppel + ["build", raw, "-o", index, "--input", "raw", "--radius", radius])
    said = run(doppel + ["search", index, queries, "--input", "raw", "--radius", radius,
                         "--count", "--stats"])  # fmt: skip
    stats = json.loads(said.splitlines()[-1])
    return 1e6 / stats["mean_us"]


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def single(nodes, codes):
    taken = []
    clients = [Client(node.port) for node in nodes]
    for at in range(0, 8000, 8):
        start = time.monotonic()
        for number, client in enumerate(clients):
            client.socket.sendall(search_command(number, codes[at : at + 8], 3))
        for client in clients:
            client.read()
        taken.append(time.monotonic() - start)
    taken.sort()
    return taken[len(taken) // 2] * 1e3, taken[len(taken) * 99 // 100] * 1e3


# ---- pictures by all views ----

QUESTIONS, VIEWS, ASKED = 256, 10, 32


def load_pictures(nodes, folder, count):
    """Picture i, of ids from 1 on, in shard i % SHARDS; for each node the commands."""
    payloads, codes, full = ((folder / name).read_bytes() for name in ("payloads", "codes", "full"))
    commands = [[] for _ in nodes]
    for shard in range(SHARDS):
        node = commands[node_of(shard)]
        own = range(shard, count, SHARDS)
        for family, radius, width in (("views", 256, VIEWS), ("full", 112, 1)):
            key = f"{key_of(shard)}:{family}"
            node.append(encode(("DOPPEL.CREATE", key, "TABLE", "HAMMING", "BITS", 256, "RADIUS",
                                radius, "LOW", 17 if width > 1 else 0, "FAMILY", family, "SHARD",
                                shard)))  # fmt: skip
            numbers = b"".join(payloads[8 * VIEWS * i : 8 * (VIEWS * i + width)] for i in own)
            source = codes if width > 1 else full
            node.append(encode(("DOPPEL.ADD", key, "PACKED", numbers + b"".join(
                source[32 * width * i : 32 * width * (i + 1)] for i in own))))  # fmt: skip
    at_once((exchange, Client(node.port), some) for node, some in zip(nodes, commands))


def look(nodes, folder):
    """Questions a second; each batch is asked of every node."""
    questions = (folder / "questions").read_bytes()
    full = (folder / "full-questions").read_bytes()
    size = len(questions) // QUESTIONS
    work = []
    for number, node in enumerate(nodes):
        key, commands = key_of(shard_of_node(number)), []
        for at in range(0, QUESTIONS, ASKED):
            some = [questions[size * i : size * (i + 1)] for i in range(at, at + ASKED)]
            commands.append(
                encode(("DOPPEL.LOOK", key + ":views", "NODE", *some))
                + encode(("DOPPEL.SEARCH", key + ":full", "RADIUS", 96, "NODE", "PACKED",
                          full[32 * at : 32 * (at + ASKED)]))
            )  # fmt: skip
        work += [(exchange_pairs, Client(node.port), commands[half::2]) for half in range(2)]
    return QUESTIONS / at_once(work)


def exchange_pairs(client, encoded):
    for pair in encoded:
        client.socket.sendall(pair)
        for _ in range(2):
            answer = client.read()
            assert not isinstance(answer, Exception), answer


def pictures(build, folder, count):
    folder.mkdir()
    run_codes = [build / "tests" / "bench" / "look_codes", count, QUESTIONS, folder]
    done = subprocess.run([str(part) for part in run_codes], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    here = 1e3 / float(done.stdout.split()[0])
    nodes = start_cluster(build, folder / "cluster", NODES)
    load_pictures(nodes, folder, count)
    look(nodes, folder)
    there = look(nodes, folder)
    print(f"{count} pictures of {VIEWS} views, all views, questions of {ASKED}: {there:.3g} "
          f"a second; in process, one thread, {here:.3g}: {there / here:.2f}")  # fmt: skip
    for node in nodes:
        node.stop()


# ---- all ----


def longest_command(nodes):
    """By Redis' own slow log, in ms: while one runs, all others wait."""
    entries = [entry for node in nodes for entry in node.client().run("SLOWLOG", "GET", 1000)]
    return max((entry[2] / 1e3 for entry in entries), default=0)


def memory_of(nodes):
    total = 0
    for number, node in enumerate(nodes):
        info = node.client().run("DOPPEL.INFO", key_of(shard_of_node(number)))
        fields = dict(zip(info[::2], info[1::2]))
        total += fields[b"node_bytes"]
    return total


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 20
    random.seed(1)
    codes = random.randbytes(count * 8)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pictures(build, folder / "pictures", count // 10)
        for design in (3, 8):
            nodes = start_cluster(build, folder / f"cluster{design}", NODES,
                                  "--slowlog-log-slower-than", "1000")  # fmt: skip
            loaded, searchable = load(nodes, codes, design, f"r{design}")
            time.sleep(3)
            print(f"radius {design}: loads {loaded:.3g}/s, {searchable:.3g}/s until searchable, "
                  f"{memory_of(nodes) / count + 16:.1f} bytes a code")  # fmt: skip
            here = in_process(build, folder, codes, design)
            there = search(nodes, design, 240 if design == 3 else 48)
            print(f"  batches of {BATCH}: {there:.3g} searches/s; in process, one thread, "
                  f"{here:.3g}: {there / here:.2f}")  # fmt: skip
            if design == 3:
                print("  one at a time: {:.2f} ms, 99 of 100 within {:.2f} ms".format(
                    *single(nodes, codes)))  # fmt: skip
            print(f"  the longest command took {longest_command(nodes):.1f} ms")
            for node in nodes:
                node.stop()


if __name__ == "__main__":
    main()
