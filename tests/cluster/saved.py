#!/usr/bin/env python3
"""What the module saved, and what comes of bytes that were changed, or of another version."""

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

# Shards as version 1 saved them, before LOW: a key with two codes, and one with a signature.
SAVED_BY_1 = {
    "codes": "0781768a6996c86b74010201024040020502408002190205020302020501660281944bd46841"
    "e4984e05200100000000000000ffffffffffff0000a5a5a5a5a5a5a5a55a5a5a5a5a5a5a5a02"
    "81d68715e8e86a50df000a009d3a790ce2989738",
    "signatures": "0781768a6996c86b7401020202404002080208020202040200020105000281ce1ab9d9f6662b"
    "6c05180700000000000000000001000200030004000500060007000281338fbaf02d0bc9e400"
    "0a00bfc663b9f2fe7e03",
}


def start(name, *options):
    return Server(BUILD, pathlib.Path(WORK.name) / name, *options)


def packed(payloads, codes):
    return struct.pack(f"<{len(payloads)}Q{len(codes)}Q", *payloads, *codes)


def some_codes(count):
    chance = random.Random(2)
    return [chance.getrandbits(64) for _ in range(count)]


# ---- other versions ----


def test_what_an_earlier_version_saved():
    server = start("earlier", "--rdbcompression", "no")
    client = server.client()
    for key, dump in SAVED_BY_1.items():
        assert client.run("RESTORE", key, 0, bytes.fromhex(dump)) == "OK"
    found = client.run("DOPPEL.SEARCH", "codes", "RADIUS", 64, "NODE", "a5" * 8)
    assert found == [b"\x08", [0, 1, 0, 3, 0, (1 << 48) - 1, 64, 3]]
    lanes = struct.pack("<8H", *range(8))
    assert client.run("DOPPEL.SEARCH", "signatures", "RADIUS", 0, lanes) == [0, 7, 0]
    again = client.run("DUMP", "codes")
    assert again[:9] == b"\x07\x81" + bytes.fromhex(SAVED_BY_1["codes"])[2:8] + b"\x74"
    assert again[9] == 2
    assert client.run("RESTORE", "codes", 0, again, "REPLACE") == "OK"
    assert client.run("DOPPEL.SEARCH", "codes", "RADIUS", 0, "a5" * 8) == [0, 1, 0]
    server.stop()


def test_what_a_later_version_saved():
    server = start("later", "--rdbcompression", "no")
    client = server.client()
    client.run("DOPPEL.CREATE", "k", "TABLE", "HAMMING")
    body = bytearray(client.run("DUMP", "k")[:-8])
    for version in (0, 3, 9):
        body[9] = version
        client.error("RESTORE", "later", 0, bytes(body) + struct.pack("<Q", crc64(body)))
        assert f"in version {version} of its form" in server.log()
    assert "load a newer one" in server.log()
    server.stop()


# ---- bytes that were changed ----


def crc_table():
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95AC9329AC4BC9B5 if crc & 1 else 0)
        table.append(crc)
    return table


CRC_TABLE = crc_table()


def crc64(data):
    """That of Redis: CRC-64, Jones' polynomial, reflected."""
    crc = 0
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def dump_of(client, kind):
    if kind == "codes":
        client.run("DOPPEL.CREATE", "k", "TABLE", "HAMMING", "FAMILY", "f", "SHARD", 3)
        client.run("DOPPEL.ADD", "k", "PACKED", packed(range(40), some_codes(40)))
    elif kind == "views":
        client.run("DOPPEL.CREATE", "k", "TABLE", "HAMMING", "BITS", 256, "RADIUS", 256, "LOW", 17,
                   "FAMILY", "f", "SHARD", 3)  # fmt: skip
        client.run("DOPPEL.ADD", "k", "PACKED", packed(range(12), some_codes(48)))
    elif kind == "keys":
        client.run("DOPPEL.CREATE", "k", "TABLE", "POSTINGS", "BITS", 20, "FAMILY", "f", "SHARD", 3)
        codes = [code & 0x7FFFFFFF000FFFFF for code in some_codes(40)]
        client.run("DOPPEL.ADD", "k", "PACKED", packed([n // 10 for n in range(40)], codes))
    else:
        client.run("DOPPEL.CREATE", "k", "TABLE", "BANDS", "LANES", 8, "BANDS", 2, "ROWS", 4,
                   "FAMILY", "f", "SHARD", 3)  # fmt: skip
        client.run("DOPPEL.ADD", "k", "PACKED", packed(range(20), some_codes(40)))
    return client.run("DUMP", "k")

def restore(client, body):
    """What comes of a value: the same one, or an error."""
    client.send(("RESTORE", "bent", 0, bytes(body) + struct.pack("<Q", crc64(body))))
    answer = client.read()
    return isinstance(answer, RedisError)


def changed(body, chance):
    """Each byte, in two ways; and some bytes at once, left out, or written twice."""
    for at in range(1, len(body) - 2):
        for bit in (0, 6):
            yield body[:at] + bytes([body[at] ^ 1 << bit]) + body[at + 1 :]
    for _ in range(150):
        bent = bytearray(body)
        for _ in range(chance.randrange(1, 9)):
            bent[chance.randrange(1, len(body) - 2)] = chance.randrange(256)
        yield bytes(bent)
        at, size = chance.randrange(1, len(body) - 2), chance.randrange(1, 40)
        yield body[:at] + body[min(at + size, len(body) - 2) :]
        yield body[: at + size] + body[at:]


def test_damaged_shards_are_refused():
    server = start("damaged", "--rdbcompression", "no")
    client = server.client()
    for kind in ("codes", "views", "keys", "signatures"):
        dump = dump_of(client, kind)
        body = dump[:-8]
        assert not restore(client, body)
        client.run("DEL", "bent")
        refused = restored = 0
        for bent in changed(body, random.Random(1)):
            if restore(client, bent):
                refused += 1
                continue
            client.run("PING")
            assert client.run("DUMP", "bent") == dump, (kind, bent.hex())
            client.run("DEL", "bent")
            restored += 1
        assert refused > 500 and restored < 60, (kind, refused, restored)
        for size in range(1, len(body) - 2, 3):
            assert restore(client, body[:size] + body[-2:])
        info = client.run("DOPPEL.INFO", "k")
        assert info[info.index(b"node_shards") + 1] == 1, kind
        client.run("DEL", "k")
    assert "of a shard is damaged" in server.log()
    server.stop()


def test_a_damaged_file_is_not_served():
    server = start("file", "--rdbchecksum", "no", "--rdbcompression", "no")
    client = server.client()
    dump = dump_of(client, "codes")
    client.run("SAVE")
    server.kill()
    path = server.folder / "dump.rdb"
    whole = path.read_bytes()
    first = whole.index(struct.pack("<Q", some_codes(1)[0])) - 40 * 8
    chance = random.Random(3)
    for _ in range(5):
        at = first + chance.randrange(40 * 16)
        bent = bytearray(whole)
        bent[at] ^= 1 << chance.randrange(8)
        path.write_bytes(bent)
        try:
            server.start()
        except AssertionError as ended:
            assert "a piece of a shard is damaged" in str(ended)
        else:
            raise AssertionError(f"byte {at} was changed, and the server starts")
    path.write_bytes(whole)
    server.start()
    assert server.client().run("DUMP", "k") == dump
    server.stop()


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
