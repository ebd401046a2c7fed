#!/usr/bin/env python3
"""The module in a Redis server: its answers are those of a scan, and survive all that Redis does
with keys."""

import pathlib
import random
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))

import tap
from redis import RedisError, Server

BUILD = pathlib.Path(sys.argv[1]).resolve()
WORK = tempfile.TemporaryDirectory()
FAMILY = "pictures"
SHARDS = 8


def random_codes(seed, count):
    """Many near each other."""
    chance = random.Random(seed)
    middles = [chance.getrandbits(64) for _ in range(40)]
    codes = []
    for _ in range(count):
        code = chance.choice(middles)
        for _ in range(chance.randrange(8)):
            code ^= 1 << chance.randrange(64)
        codes.append(code)
    return codes


def key_of(shard):
    return f"doppel:{{{shard}}}:{FAMILY}"


def packed(payloads, codes):
    return struct.pack(f"<{len(payloads)}Q{len(codes)}Q", *payloads, *codes)


class Collection:
    """Codes in shards of a server, and the same ones here."""

    def __init__(self, client, seed=1, count=4000):
        self.codes = dict(enumerate(random_codes(seed, count)))
        for shard in range(SHARDS):
            client.run("DOPPEL.CREATE", key_of(shard), "TABLE", "HAMMING", "BITS", 64, "RADIUS", 8,
                       "FAMILY", FAMILY, "SHARD", shard)  # fmt: skip
            ours = {p: c for p, c in self.codes.items() if p % SHARDS == shard}
            added = client.run("DOPPEL.ADD", key_of(shard), "PACKED",
                               packed(ours.keys(), ours.values()))  # fmt: skip
            assert added == len(ours)

    def remove(self, client, payloads):
        for payload in payloads:
            assert client.run("DOPPEL.REMOVE", key_of(payload % SHARDS), payload) == 1
            del self.codes[payload]

    def near(self, query, radius, shard=None):
        found = [
            ((code ^ query).bit_count(), payload)
            for payload, code in self.codes.items()
            if (code ^ query).bit_count() <= radius and shard in (None, payload % SHARDS)
        ]
        return sorted(found)

    def check(self, client, seed=7, key=key_of(3), shards=range(SHARDS)):
        queries = random_codes(seed, 20)
        covered, hits = client.run("DOPPEL.SEARCH", key, "RADIUS", 9, "NODE", "PACKED",
                                   struct.pack("<20Q", *queries))  # fmt: skip
        assert covered == bytes([sum(1 << shard for shard in shards)]), covered
        assert of_node(hits) == [
            (number, payload, distance, payload % SHARDS)
            for number, query in enumerate(queries)
            for distance, payload in self.near(query, 9)
        ]


def triples(hits):
    return list(zip(hits[::3], hits[1::3], hits[2::3]))


def of_node(hits):
    return list(zip(hits[::4], hits[1::4], hits[2::4], hits[3::4]))


def start(name, *options, **more):
    return Server(BUILD, pathlib.Path(WORK.name) / name, *options, **more)


# ---- answers ----


def test_answers_are_those_of_a_scan():
    server = start("scan")
    client = server.client()
    collection = Collection(client)
    collection.check(client)
    collection.remove(client, range(0, 4000, 17))
    collection.check(client)
    query = random_codes(5, 1)[0]
    own = client.run("DOPPEL.SEARCH", key_of(2), "RADIUS", 12, f"{query:016x}")
    assert [(d, p) for _, p, d in triples(own)] == collection.near(query, 12, shard=2)
    nearest = client.run("DOPPEL.KNN", key_of(2), "COUNT", 5, "NODE", f"{query:016x}")[1]
    assert [(d, p) for _, p, d, _ in of_node(nearest)] == collection.near(query, 64)[:5]
    some = client.run("DOPPEL.SEARCH", key_of(2), "COUNT", 3, "RADIUS", 20, "NODE",
                      struct.pack("<Q", query))[1]  # fmt: skip
    assert [(d, p) for _, p, d, _ in of_node(some)] == collection.near(query, 20)[:3]
    server.stop()


def test_codes_of_other_widths():
    server = start("widths")
    client = server.client()
    for bits in (32, 64, 128, 256):
        client.run("DOPPEL.CREATE", f"w{bits}", "TABLE", "HAMMING", "BITS", bits, "RADIUS", 4)
        one, two = "a5" * (bits // 8), "a5" * (bits // 8 - 1) + "a4"
        assert client.run("DOPPEL.ADD", f"w{bits}", 1, one, 2, two) == 2
        assert client.run("DOPPEL.SEARCH", f"w{bits}", "RADIUS", 0, one) == [0, 1, 0]
        assert client.run("DOPPEL.SEARCH", f"w{bits}", "RADIUS", 1, two) == [0, 2, 0, 0, 1, 1]
    client.run("DOPPEL.CREATE", "texts", "TABLE", "BANDS", "LANES", 8, "BANDS", 2, "ROWS", 4)
    lanes = [1, 2, 3, 4, 5, 6, 7, 8]
    other = lanes[:4] + [0, 0, 0, 0]
    for payload, signature in ((1, lanes), (2, other), (3, [9] * 8)):
        client.run("DOPPEL.ADD", "texts", payload, struct.pack("<8H", *signature))
    found = client.run("DOPPEL.SEARCH", "texts", "RADIUS", 4, struct.pack("<8H", *lanes))
    assert triples(found) == [(0, 1, 0), (0, 2, 4)]
    server.stop()


def test_replacing_and_adding_twice():
    server = start("replace")
    client = server.client()
    client.run("DOPPEL.CREATE", "k", "TABLE", "HAMMING")
    for _ in range(3):
        client.run("DOPPEL.ADD", "k", "REPLACE", 5, "00" * 8, 6, "ff" * 8)
    assert client.run("DOPPEL.SEARCH", "k", "RADIUS", 0, "00" * 8) == [0, 5, 0]
    client.run("DOPPEL.ADD", "k", 5, "0f" * 8)
    assert client.run("DOPPEL.SEARCH", "k", "RADIUS", 0, "00" * 8, "0f" * 8) == [0, 5, 0, 1, 5, 0]
    assert client.run("DOPPEL.REMOVE", "k", 5, 77) == 2
    assert client.run("DOPPEL.REMOVE", "k", 5) == 0
    assert client.run("DOPPEL.SEARCH", "k", "RADIUS", 64, "00" * 8) == [0, 6, 64]
    server.stop()


def test_where_clients_cannot_wait():
    server = start("multi")
    client = server.client()
    collection = Collection(client)
    query = random_codes(5, 1)[0]
    search = ("DOPPEL.SEARCH", key_of(2), "RADIUS", 12, f"{query:016x}")
    expected = client.run(*search)
    client.send(("MULTI",), search, ("EXEC",))
    assert [client.read() for _ in range(3)][2] == [expected]
    script = "return redis.call('DOPPEL.SEARCH', KEYS[1], 'RADIUS', '12', ARGV[1])"
    assert client.run("EVAL", script, 1, key_of(2), f"{query:016x}") == expected
    collection.check(client)
    server.stop()


# ---- keys at positions ----


def test_keys_of_items():
    server = start("keys", "--appendonly", "yes", "--aof-use-rdb-preamble", "no")
    client = server.client()
    chance = random.Random(6)
    items = {
        n: [(chance.randrange(200), chance.randrange(9000)) for _ in range(1 + n * 3)]
        for n in range(100)
    }
    for shard in range(SHARDS):
        made = ("DOPPEL.CREATE", key_of(shard), "TABLE", "POSTINGS", "BITS", 20, "FAMILY", "keys",
                "SHARD", shard)  # fmt: skip
        assert client.run(*made) == client.run(*made) == "OK"
    for n, postings in items.items():
        codes = [position << 32 | key for key, position in postings]
        client.run("DOPPEL.ADD", key_of(n % SHARDS), "PACKED", packed([n] * len(codes), codes))
    client.run("DOPPEL.REMOVE", key_of(5), 13, 21)
    items[13], items[21] = [(7, 1 << 30)], []
    client.run("DOPPEL.ADD", key_of(5), "REPLACE", 13, f"{1 << 62 | 7:016x}")

    def check():
        wanted = [7, 199, 201, 7]
        expected = sorted(
            (number, n, position, n % SHARDS)
            for number, key in enumerate(wanted)
            for n, postings in items.items()
            for of, position in postings
            if of == key
        )
        covered, hits = client.run("DOPPEL.SEARCH", key_of(2), "NODE", "PACKED",
                                   struct.pack("<4Q", *wanted))  # fmt: skip
        assert covered == b"\xff" and of_node(hits) == expected
        own = client.run("DOPPEL.SEARCH", key_of(5), *(f"{key:016x}" for key in wanted))
        assert triples(own) == [hit[:3] for hit in expected if hit[3] == 5]

    check()
    assert client.run("DEBUG", "RELOAD") == "OK"
    check()
    client.run("BGREWRITEAOF")
    while b"aof_rewrite_in_progress:1" in client.run("INFO", "persistence"):
        pass
    assert client.run("DEBUG", "LOADAOF") == "OK"
    check()
    assert client.run("DOPPEL.INFO", key_of(1))[:4] == [b"table", b"postings", b"bits", 20]
    server.stop()


# ---- candidates of pictures ----

# Which bits of word 0 a table has in its lowest, and so on (image/near.c).
SORTED = (0x018180332018C098, 0x1224098410C12222, 0x0C42064809221141, 0x00187000C6040C04, 7 << 61)


def sorted_bits(word):
    order = [bit for part in SORTED for bit in range(64) if part >> bit & 1]
    return sum((word >> bit & 1) << to for to, bit in enumerate(order))


def question(codes, distance=-1):
    """Of views 0, 1, …: docs/formats.md."""
    none = struct.unpack("<q", struct.pack("<d", -1))[0]
    head = struct.pack("<4Biqd", 3, 1, 2, 14, distance, none, 0.001)
    count = len(codes)
    return head + struct.pack(f"<4HI{count}I", 1, 2, 256, 0, count, *range(count)) + b"".join(
        struct.pack("<4Q", *code) for code in codes
    )  # fmt: skip


def test_pictures_by_their_views():
    server = start("look", "--appendonly", "yes", "--aof-use-rdb-preamble", "no")
    client = server.client()
    chance = random.Random(4)
    pictures = [[[chance.getrandbits(64) for _ in range(4)] for _ in range(3)] for _ in range(80)]
    for shard in range(SHARDS):
        made = ("DOPPEL.CREATE", key_of(shard), "TABLE", "HAMMING", "BITS", 256, "RADIUS", 256,
                "LOW", 17, "FAMILY", "views", "SHARD", shard)  # fmt: skip
        assert client.run(*made) == client.run(*made) == "OK"
    for counter, codes in enumerate(pictures):
        payloads = [counter << 17 | 7 << 5 | view for view in range(3)]
        words = [word for code in codes for word in (sorted_bits(code[0]), *code[1:])]
        client.run("DOPPEL.ADD", key_of(counter % SHARDS), "PACKED", packed(payloads, words))
    near = [[[word ^ 1 << 9 for word in code] for code in codes] for codes in pictures]

    def check():
        asked = [question(codes) for codes in near]
        covered, found = client.run("DOPPEL.LOOK", key_of(1), "NODE", *asked)
        assert covered == b"\xff"
        assert list(zip(found[::3], found[1::3], found[2::3])) == [
            (counter, counter, counter % SHARDS) for counter in range(80) if counter != 40
        ]
        own = client.run("DOPPEL.LOOK", key_of(1), question(near[9], 2), question(near[8], 2))
        assert own == [0, 9]

    client.run("DOPPEL.REMOVE", key_of(0), *(40 << 17 | 7 << 5 | view for view in range(3)))
    check()
    assert client.run("DEBUG", "RELOAD") == "OK"
    check()
    client.run("BGREWRITEAOF")
    while b"aof_rewrite_in_progress:1" in client.run("INFO", "persistence"):
        pass
    assert client.run("DEBUG", "LOADAOF") == "OK"
    check()
    bad = client.error("DOPPEL.LOOK", key_of(1), question(near[0]), question(near[1])[:-1])
    assert "question 2" in bad, bad
    assert "no question" in client.error("DOPPEL.LOOK", key_of(1), "NODE")
    client.send(("MULTI",), ("DOPPEL.LOOK", key_of(1), question(near[9])), ("EXEC",))
    assert [client.read() for _ in range(3)][2] == [[0, 9]]
    server.stop()


# ---- what Redis does with keys ----


def test_saved_and_loaded():
    server = start("saved", "--appendonly", "yes", "--aof-use-rdb-preamble", "no")
    client = server.client()
    collection = Collection(client)
    collection.remove(client, range(0, 4000, 13))
    before = client.run("DEBUG", "DIGEST")
    assert client.run("DEBUG", "RELOAD") == "OK"
    assert client.run("DEBUG", "DIGEST") == before
    collection.check(client)
    client.run("BGREWRITEAOF")
    while b"aof_rewrite_in_progress:1" in client.run("INFO", "persistence"):
        pass
    assert client.run("DEBUG", "LOADAOF") == "OK"
    collection.check(client)
    client.run("CONFIG", "SET", "appendfsync", "always")
    collection.remove(client, [1])
    server.kill()
    server.start()
    collection.check(server.client())
    server.stop()


def test_moved_copied_and_deleted():
    server, other = start("one"), start("two")
    client, second = server.client(), other.client()
    collection = Collection(client)
    client.run("RENAME", key_of(1), "elsewhere")
    collection.check(client)
    assert client.run("COPY", key_of(2), "copy") == 1
    collection.check(client)
    assert client.run("MIGRATE", "127.0.0.1", other.port, key_of(4), 0, 60000) == "OK"
    there = {p: c for p, c in collection.codes.items() if p % SHARDS == 4}
    everything, collection.codes = collection.codes, there
    collection.check(second, key=key_of(4), shards=[4])
    collection.codes = {p: c for p, c in everything.items() if p % SHARDS != 4}
    collection.check(client, shards=set(range(SHARDS)) - {4})
    client.run("PEXPIRE", key_of(5), 1)
    while client.run("EXISTS", key_of(5)):
        pass
    collection.codes = {p: c for p, c in everything.items() if p % SHARDS not in (4, 5)}
    collection.check(client, shards=set(range(SHARDS)) - {4, 5})
    for emptied in ("SYNC", "ASYNC"):
        client.run("FLUSHALL", emptied)
        collection = Collection(client, seed=3, count=300)
        collection.check(client)
    server.stop()
    other.stop()


def test_other_options_after_all_was_emptied():
    server = start("options")
    client = server.client()
    Collection(client)
    client.run("FLUSHALL", "ASYNC")
    made = ("DOPPEL.CREATE", "k", "TABLE", "HAMMING", "BITS", 256, "FAMILY", FAMILY, "SHARD", 1)
    assert client.run(*made) == "OK"
    assert client.run(*made) == "OK"
    assert "other options" in client.error(
        "DOPPEL.CREATE", "l", "TABLE", "HAMMING", "BITS", 64, "FAMILY", FAMILY, "SHARD", 2
    )
    server.stop()


def test_a_replica_answers_the_same():
    server, replica = start("master"), start("replica")
    client, second = server.client(), replica.client()
    collection = Collection(client)
    second.run("REPLICAOF", "127.0.0.1", server.port)
    while b"master_link_status:up" not in second.run("INFO", "replication"):
        pass
    collection.remove(client, range(0, 4000, 19))
    assert client.run("WAIT", 1, 20000) == 1
    collection.check(second)
    assert client.run("DEBUG", "DIGEST") == second.run("DEBUG", "DIGEST")
    assert second.error("DOPPEL.REMOVE", key_of(1), 1).startswith("READONLY")
    server.stop()
    replica.stop()


def test_what_was_done_before_is_waited_for():
    """By the client that asks a second time, on another connection: nothing is done by it, and its
    WAIT waits for what the first did."""
    server, replica = start("first"), start("second")
    replica.client().run("REPLICAOF", "127.0.0.1", server.port)
    client = server.client()
    while client.run("WAIT", 1, 100) != 1:
        pass
    made = ("DOPPEL.CREATE", "k", "TABLE", "HAMMING")
    for command in (made, ("DOPPEL.ADD", "k", 1, "00" * 8), ("DOPPEL.REMOVE", "k", 1)):
        replica.pause()
        client.run(*command)
        again = server.client()
        again.run(*(command if command[0] != "DOPPEL.ADD" else ("DOPPEL.REMOVE", "k", 2)))
        assert again.run("WAIT", 1, 50) == 0, command
        replica.resume()
        assert again.run("WAIT", 1, 20000) == 1
    server.stop()
    replica.stop()


# ---- bad input ----


def test_commands_that_are_wrong():
    server = start("wrong")
    client = server.client()
    client.run("SET", "text", "x")
    client.run("DOPPEL.CREATE", "k", "TABLE", "HAMMING")
    client.run("DOPPEL.CREATE", "keys", "TABLE", "POSTINGS", "BITS", 20)
    wanted = {
        "wanted": [
            ("DOPPEL.CREATE", "n", "TABLE", "VECTORS"),
            ("DOPPEL.CREATE", "n", "TABLE", "POSTINGS", "BITS", 33),
            ("DOPPEL.CREATE", "n", "TABLE", "POSTINGS", "RADIUS", 3),
            ("DOPPEL.ADD", "keys", 1, f"{1 << 20:016x}"),
            ("DOPPEL.ADD", "keys", 1, f"{1 << 63:016x}"),
            ("DOPPEL.ADD", "keys", "PACKED", struct.pack("<QQ", 1, 1 << 20)),
            ("DOPPEL.CREATE", "n", "TABLE", "HAMMING", "BITS"),
            ("DOPPEL.CREATE", "n", "TABLE", "HAMMING", "BITS", "-1"),
            ("DOPPEL.CREATE", "n", "TABLE", "HAMMING", "LANES", 128),
            ("DOPPEL.CREATE", "n", "TABLE", "HAMMING", "LOW", 33),
            ("DOPPEL.CREATE", "n", "TABLE", "BANDS", "LOW", 3),
            ("DOPPEL.CREATE", "n", "TABLE", "HAMMING", "SHARD", 1 << 14),
            ("DOPPEL.CREATE", "n", "TABLE", "HAMMING", "FAMILY", "x" * 256),
            ("DOPPEL.CREATE", "n", "TABLE", "HAMMING", "FAMILY", b"a\0b"),
            ("DOPPEL.ADD", "k", 1, "00" * 7),
            ("DOPPEL.ADD", "k", 1, "zz" * 8),
            ("DOPPEL.ADD", "k", 1, "00" * 8, 2),
            ("DOPPEL.ADD", "k", 1 << 50, "00" * 8),
            ("DOPPEL.ADD", "k", "PACKED", b"x" * 17),
            ("DOPPEL.ADD", "k", "PACKED", b""),
            ("DOPPEL.ADD", "k", "PACKED", struct.pack("<QQ", 1 << 50, 0)),
            ("DOPPEL.REMOVE", "k", "x"),
            ("DOPPEL.SEARCH", "k", "COUNT", 3, "00" * 8),
            ("DOPPEL.SEARCH", "k", "RADIUS", 65, "00" * 8),
            ("DOPPEL.KNN", "k", "RADIUS", 3, "00" * 8),
            ("DOPPEL.KNN", "k", "COUNT", 0, "00" * 8),
        ],
        "code": [
            ("DOPPEL.SEARCH", "k", "RADIUS", 3, "00" * 8, "11"),
            ("DOPPEL.SEARCH", "k", "RADIUS", 3, "NODE"),
            ("DOPPEL.SEARCH", "k", "RADIUS", 3),
            ("DOPPEL.SEARCH", "keys", "NODE"),
            ("DOPPEL.SEARCH", "keys", "RADIUS", 0, "00" * 8),
            ("DOPPEL.SEARCH", "keys", f"{1 << 20:016x}"),
            ("DOPPEL.SEARCH", "keys", "PACKED", struct.pack("<Q", 1 << 20)),
            ("DOPPEL.SEARCH", "k", "RADIUS", 3, "PACKED", "1234567"),
            ("DOPPEL.CREATE", "n", "TABLE", "HAMMING", "BITS", 40),
        ],
        "wrong number": [
            ("DOPPEL.CREATE", "n", "TABLE"),
            ("DOPPEL.ADD", "k", 1),
            ("DOPPEL.REMOVE", "k"),
            ("DOPPEL.SEARCH", "k"),
            ("DOPPEL.LOOK", "k"),
            ("DOPPEL.INFO", "k", "x"),
        ],
        "no such shard": [
            ("DOPPEL.ADD", "absent", 1, "00" * 8),
            ("DOPPEL.REMOVE", "absent", 1),
            ("DOPPEL.SEARCH", "absent", "RADIUS", 3, "00" * 8),
            ("DOPPEL.LOOK", "absent", "x"),
            ("DOPPEL.INFO", "absent"),
        ],
        "WRONGTYPE": [
            ("DOPPEL.ADD", "text", 1, "00" * 8),
            ("DOPPEL.INFO", "text"),
            ("DOPPEL.SEARCH", "text", "RADIUS", 3, "00" * 8),
        ],
        "is there": [
            ("DOPPEL.CREATE", "text", "TABLE", "HAMMING"),
            ("DOPPEL.CREATE", "k", "TABLE", "HAMMING", "BITS", 128),
            ("DOPPEL.CREATE", "k", "TABLE", "HAMMING", "LOW", 17),
        ],
        "no distance": [("DOPPEL.KNN", "keys", "COUNT", 1, "00" * 8)],
        "is looked through": [("DOPPEL.LOOK", "k", "x"), ("DOPPEL.LOOK", "k", "NODE")],
        "bands": [("DOPPEL.CREATE", "n", "TABLE", "BANDS", "LANES", 8, "BANDS", 9, "ROWS", 2)],
    }
    for part, commands in wanted.items():
        for command in commands:
            assert part in client.error(*command), (part, command)
    assert client.run("DOPPEL.INFO", "k")[13] == 0
    client.run("SELECT", 3)
    assert "database 0" in client.error("DOPPEL.CREATE", "n", "TABLE", "HAMMING")
    server.stop()


def test_no_memory_is_said():
    server = start("memory", "--maxmemory", "4mb")
    client = server.client()
    client.run("DOPPEL.CREATE", "k", "TABLE", "HAMMING")
    for at in range(0, 1 << 20, 1 << 12):
        client.send(
            ("DOPPEL.ADD", "k", "PACKED", packed(range(at, at + 4096), random_codes(at, 4096)))
        )
        answer = client.read()
        if isinstance(answer, RedisError):
            break
    assert str(answer).startswith("OOM"), answer
    assert client.run("DOPPEL.INFO", "k")[13] == at
    assert client.run("DOPPEL.KNN", "k", "COUNT", 1, "00" * 8)
    server.stop()


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
