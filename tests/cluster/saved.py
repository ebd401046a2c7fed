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


def crc64(data):
    """That of Redis: CRC-64, Jones' polynomial, reflected."""
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95AC9329AC4BC9B5 if crc & 1 else 0)
        table.append(crc)
    crc = 0
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def test_damaged_shards_are_refused():
    server = start("damaged", "--rdbcompression", "no")
    client = server.client()
    client.run("DOPPEL.CREATE", "k", "TABLE", "HAMMING", "FAMILY", "f", "SHARD", 3)
    client.run("DOPPEL.ADD", "k", "PACKED", packed(range(40), some_codes(40)))
    dump = client.run("DUMP", "k")
    body = dump[:-8]
    assert client.run("RESTORE", "same", 0, body + struct.pack("<Q", crc64(body))) == "OK"
    client.run("DEL", "same")
    refused = restored = 0
    for at in range(1, len(body) - 2):
        for bit in (0, 5, 7):
            bent = bytearray(body)
            bent[at] ^= 1 << bit
            client.send(("RESTORE", "bent", 0, bytes(bent) + struct.pack("<Q", crc64(bent))))
            answer = client.read()
            refused += isinstance(answer, RedisError)
            if not isinstance(answer, RedisError):
                restored += 1
                assert client.run("DUMP", "bent") == dump, at
                client.run("DEL", "bent")
    for size in range(1, len(body) - 2, 3):
        cut = body[:size] + body[-2:]
        client.error("RESTORE", "bent", 0, cut + struct.pack("<Q", crc64(cut)))
    assert refused > 1000 and restored < 10, (refused, restored)
    assert "of a shard is damaged" in server.log()
    assert client.run("DOPPEL.SEARCH", "k", "RADIUS", 64, "NODE", "00" * 8)[0] == b"\x08"
    server.stop()


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
