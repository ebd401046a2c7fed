#!/usr/bin/env python3
"""`doppel ingest --stream`: messages of a Redis stream, each decided once, whoever is killed.

Usage: ingest.py BUILD"""

import json
import os
import pathlib
import random
import shutil
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402
from stream_case import (  # noqa: E402
    FOLDER,
    cpu_seconds,
    doppel,
    end,
    ingest,
    logged,
    records,
    start,
    text_of,
    wait_until,
)

if not shutil.which("redis-server"):
    print("1..0 # SKIP redis-server is not installed")
    sys.exit(0)

from redis_server import Server, pairs  # noqa: E402

SERVER = Server(FOLDER / "redis", "--appendfsync", "always")


class Stream:
    """A stream with its group and those of decisions and of the quarantined, named by a test."""

    def __init__(self, name):
        self.name = name
        self.redis = SERVER.client()
        self.out, self.dead, self.library = f"{name}:out", f"{name}:dead", f"lib-{name}"

    def add(self, *messages):
        """Send messages, as dicts of fields. @return their ids"""
        commands = [
            ["XADD", self.name, "*", *(word for pair in fields.items() for word in pair)]
            for fields in messages
        ]
        self.redis.send(*commands)
        return [self.redis.read().decode() for _ in commands]

    def add_records(self, rows):
        return self.add(*({"json": json.dumps(row)} for row in rows))

    def words(self, *options):
        return ["ingest", "-L", self.library, "--stream", SERVER.url(self.name), "--to", self.out,
                *options]  # fmt: skip

    def drain(self, *options, code=0):
        return doppel(*self.words("--drain", *options), code=code)

    def start(self, *options, **more):
        return start(*self.words(*options), **more)

    def entries(self, key):
        return [(entry.decode(), pairs(fields)) for entry, fields in
                self.redis.run("XRANGE", key, "-", "+")]  # fmt: skip

    def decisions(self):
        """What was decided, by the ids of the messages; each is there once."""
        found = [fields for _, fields in self.entries(self.out)]
        by_id = {fields["message"]: json.loads(fields["decision"]) for fields in found}
        assert len(by_id) == len(found), f"{len(found) - len(by_id)} decisions twice"
        return by_id

    def pending(self):
        return self.redis.run("XPENDING", self.name, "doppel")[0]

    def wait_for(self, count):
        wait_until(lambda: self.redis.run("XLEN", self.out) >= count, f"{count} decisions", 90)


def assert_answered(stream, ids, dead=()):
    """Each message has one decision, but those of `dead`, and no text is in the library twice."""
    decisions = stream.decisions()
    assert sorted([*decisions, *dead]) == sorted(ids), (len(decisions), len(dead), len(ids))
    assert stream.pending() == 0
    items = [decision["item"] for decision in decisions.values()]
    assert len(set(items)) == len(items)
    known = [row["item"] for row in logged(stream.library) if row["action"] == "decided"]
    assert len(set(known)) == len(known) and set(items) <= set(known), (len(known), len(items))
    assert len(known) <= len(ids), (len(known), len(ids))


def test_records_paths_texts_and_codes():
    stream = Stream("kinds")
    folder = FOLDER / "files"
    folder.mkdir()
    (folder / "a.txt").write_text(text_of("a file"))
    ids = stream.add(
        {"json": json.dumps({"id": "a", "text": text_of("a"), "source": "wire", "labels": "x"})},
        {"text": text_of("a"), "id": "b", "source": "blog", "meta": '{"n": 1}'},
        {"text": text_of("other")},
        {"path": "files/a.txt"},
        {"json": json.dumps({"path": str(folder / "a.txt")})},
        {"code": "9f3c2a01b4d85e67", "id": "c1"},
        {"code": "9f3c2a01b4d85e66", "scheme": "phash64"},
    )
    stream.drain()
    got = [stream.decisions()[message] for message in ids]
    assert [row["decision"] for row in got] == [
        "new", "duplicate", "new", "new", "duplicate", "new", "duplicate",
    ], got  # fmt: skip
    assert got[1]["of"] == "a" and got[2]["id"] == f"kinds/{ids[2]}", got
    assert "line" not in got[0] and "path" not in got[0] and got[3]["path"].endswith("a.txt"), got
    assert stream.pending() == 0 and stream.redis.run("EXISTS", stream.dead) == 0
    shown = json.loads(doppel("show", "-L", stream.library, "b", "--json").stdout)
    assert shown["meta"] == {"n": 1} and shown["source"] == "blog", shown


def test_empty_ids_are_none_and_empty_paths_are_quarantined():
    stream = Stream("empty")
    ids = stream.add(
        {"text": text_of("one"), "id": ""},
        {"json": json.dumps({"text": text_of("two"), "id": ""})},
        {"code": "9f3c2a01b4d85e67", "id": ""},
        {"path": ""},
        {"json": '{"path": "", "id": "a"}'},
    )
    stream.drain()
    got = stream.decisions()
    assert [(got[one]["id"], got[one]["decision"]) for one in ids[:3]] == [
        (f"empty/{one}", "new") for one in ids[:3]
    ], got
    dead = {fields["message"]: fields["reason"] for _, fields in stream.entries(stream.dead)}
    assert sorted(dead) == sorted(ids[3:]) and stream.pending() == 0, dead
    assert all("the path is empty" in reason for reason in dead.values()), dead


def test_decisions_are_those_of_lines():
    stream = Stream("same")
    rows = records(0, 1500)
    rows += [{"id": f"d{i}", "text": rows[i * 7]["text"] + " more"} for i in range(200)]
    random.Random(3).shuffle(rows)
    ids = stream.add_records(rows)
    stream.drain()
    lines = [json.loads(line) for line in ingest("by-lines", rows).splitlines()]
    wanted = [{k: v for k, v in row.items() if k not in ("path", "line", "of_line", "of_path")}
              for row in lines]  # fmt: skip
    found = stream.decisions()
    got = [{k: v for k, v in found[message].items() if k not in ("of_path", "of_line")}
           for message in ids]  # fmt: skip
    assert got == wanted
    assert_answered(stream, ids)


def test_what_is_no_record_is_quarantined():
    stream = Stream("broken")
    bad = [
        {"json": "{"}, {"json": "[1]"}, {"json": ""}, {"json": '{"text": 5}'}, {"json": "{}"},
        {"nothing": "here"}, {"text": b"a\x00b"}, {"path": "/etc/passwd"},
        {"code": "xyz"}, {"code": "9f3c2a01b4d85e67", "scheme": "none"}, {"code": "9f"},
        {"text": text_of("m"), "meta": "{broken"}, {"json": b"\xff\xfe{}"},
        {"text": text_of("both"), "code": "9f3c2a01b4d85e67"},
        {"path": "a.jpg", "code": "9f3c2a01b4d85e67", "scheme": "phash64"},
        {"json": json.dumps({"text": text_of("both"), "code": "9f3c2a01b4d85e67"})},
    ]  # fmt: skip
    ids = stream.add(*bad, {"text": text_of("good"), "code": "DE"})
    said = stream.drain().stderr
    assert f"{len(bad)} messages quarantined: read them in 'broken:dead'" in said, said
    assert "nothing to" not in said, said
    dead = [fields for _, fields in stream.redis.run("XRANGE", stream.dead, "-", "+")]
    dead = [dict(zip(fields[::2], fields[1::2], strict=True)) for fields in dead]
    assert [row[b"message"].decode() for row in dead] == ids[:-1]
    for row, message in zip(dead, bad, strict=True):
        assert row[b"reason"], row
        if "code" in message and len(message["code"]) == 16 and message.get("scheme") != "none":
            assert b"it has a code beside its " in row[b"reason"], row
        for name, value in message.items():
            wanted = value if isinstance(value, bytes) else value.encode()
            assert row[name.encode()] == wanted, row
    assert list(stream.decisions()) == ids[-1:] and stream.pending() == 0


def test_it_waits_at_no_cost_and_gives_back_at_its_end():
    stream = Stream("waits")
    process = stream.start()
    ids = stream.add_records(records(0, 5))
    stream.wait_for(5)
    before = cpu_seconds(process)
    time.sleep(1.5)
    assert cpu_seconds(process) - before < 0.25
    began = time.monotonic()
    ids += stream.add_records(records(5, 1))
    stream.wait_for(6)
    assert time.monotonic() - began < 5
    _, said = end(process)
    assert "6 messages decided about; 0 wait, 0 are in hand" in said, said
    assert_answered(stream, ids)


def test_a_clean_end_leaves_nothing_half_done():
    """What was read ahead is as if it had not been."""
    stream = Stream("ends")
    ids = stream.add_records(records(0, 9000))
    chance = random.Random(7)
    for turn in range(4):
        before = stream.redis.run("XLEN", stream.out)
        process = stream.start("--consumer", f"c{turn}")
        stream.wait_for(min(before + 1, len(ids)))
        time.sleep(chance.random() * 0.05)
        end(process, signal.SIGINT if turn % 2 else signal.SIGTERM)
        pending = stream.redis.run("XPENDING", stream.name, "doppel", "-", "+", 9000)
        assert all(entry[3] == 0 for entry in pending), pending[:3]
    stream.drain()
    assert_answered(stream, ids)


def test_two_consumers_share():
    stream = Stream("shares")
    ids = stream.add_records(records(0, 3000))
    processes = [stream.start("--consumer", name) for name in ("one", "two")]
    ids += stream.add_records(records(3000, 2000))
    stream.wait_for(5000)
    for process in processes:
        end(process)
    assert_answered(stream, ids)


def test_consumers_are_killed_at_any_moment():
    stream = Stream("killed")
    ids = stream.add_records(records(0, 8000))
    chance = random.Random(8)
    for turn in range(10):
        same = "same" if turn % 2 else f"c{turn}"
        process = stream.start("--claim-after", "100ms", "--consumer", same)
        stream.wait_for(300 * turn)
        time.sleep(chance.random() * 0.1)
        process.kill()
        process.communicate(timeout=60)
    wait_until(lambda: drained(stream), "all are answered")
    dead = [fields["message"] for _, fields in stream.entries(stream.dead)]
    assert len(dead) <= 10, dead  # in hand at a third kill, alone: one a kill
    assert_answered(stream, ids, dead)


def drained(stream):
    stream.drain("--claim-after", "100ms")
    return stream.pending() == 0


def test_the_server_is_killed_meanwhile():
    stream = Stream("outage")
    ids = stream.add_records(records(0, 1000))
    process = stream.start("--consumer", "only")
    chance = random.Random(9)
    for turn in range(1, 6):
        ids += stream.add_records(records(1000 * turn, 1000))
        stream.wait_for(700 * turn)
        time.sleep(chance.random() * 0.05)
        SERVER.kill()
        SERVER.start()
        stream.redis = SERVER.client()
    stream.wait_for(len(ids))
    wait_until(lambda: stream.pending() == 0, "all are acknowledged")
    _, said = end(process)
    assert "the stream is away" in said, said
    assert_answered(stream, ids)


def test_poison_is_tried_three_times():
    """A message that kills whoever reads it: by a file so slow that the reader is killed."""
    stream = Stream("poison")
    fifo = FOLDER / "poison.txt"
    os.mkfifo(fifo)
    ids = stream.add_records(records(0, 30))
    poison = stream.add({"path": "poison.txt"})[0]
    stream.redis.run("XGROUP", "CREATE", stream.name, "doppel", "0")
    for turn in range(3):  # as if three readers had died of it
        wanted = [poison] if turn else [*ids, poison]
        if not turn:
            stream.redis.run("XREADGROUP", "GROUP", "doppel", "dead", "STREAMS", stream.name, ">")
        else:
            stream.redis.run("XCLAIM", stream.name, "doppel", f"dead{turn}", 0, *wanted)
    time.sleep(0.2)
    stream.drain("--claim-after", "100ms")
    dead = stream.entries(stream.dead)
    assert [fields["message"] for _, fields in dead] == [poison], dead
    assert "3 times" in dead[0][1]["reason"] and dead[0][1]["path"] == "poison.txt", dead
    assert_answered(stream, ids)


def test_who_is_tried_twice_is_tried_alone():
    """The innocent beside it are answered, though each reader dies at the poison."""
    stream = Stream("alone")
    rows = records(0, 40)
    ids = stream.add_records(rows)
    stream.redis.run("XGROUP", "CREATE", stream.name, "doppel", "0")
    stream.redis.run("XREADGROUP", "GROUP", "doppel", "dead", "STREAMS", stream.name, ">")
    stream.redis.run("XCLAIM", stream.name, "doppel", "dead", 0, *ids)
    time.sleep(0.2)
    monitor = SERVER.client()
    assert monitor.run("MONITOR") == "OK"
    stream.drain("--claim-after", "100ms")
    stream.redis.run("PING")
    lines = []
    while b"PING" not in (line := monitor.answers.readline()):
        lines.append(line)
    claims = [line for line in lines if b'"XCLAIM"' in line and b"JUSTID" not in line]
    assert len(claims) == 40, len(claims)
    assert_answered(stream, ids)


def test_what_is_deleted_or_gone_does_no_harm():
    stream = Stream("gone")
    ids = stream.add_records(records(0, 20))
    stream.redis.run("XGROUP", "CREATE", stream.name, "doppel", "0")
    read = ("XREADGROUP", "GROUP", "doppel", "dead", "COUNT", 10, "STREAMS", stream.name, ">")
    stream.redis.run(*read)
    stream.redis.run("XDEL", stream.name, *ids[3:12])
    time.sleep(0.2)
    stream.drain("--claim-after", "100ms")
    assert sorted(stream.decisions()) == sorted(ids[:3] + ids[12:])
    process = stream.start()
    stream.redis.run("DEL", stream.name)
    time.sleep(1)
    more = stream.add_records(records(20, 3))
    stream.wait_for(len(ids) - 9 + 3)
    end(process)
    assert set(more) <= set(stream.decisions())


def test_without_another_stream_decisions_are_printed():
    stream = Stream("prints")
    stream.add_records(records(0, 3))
    words = ["ingest", "-L", stream.library, "--drain", "--stream", SERVER.url(stream.name)]
    lines = doppel(*words).stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["r0", "r1", "r2"]
    assert stream.pending() == 0 and doppel(*words).stdout == ""


def test_what_nobody_has_read_waits_again():
    """The reader of standard output is gone: what it may not have read is not acknowledged."""
    stream = Stream("unread")
    ids = stream.add_records(records(0, 3000))
    words = ["ingest", "-L", stream.library, "--stream", SERVER.url(stream.name)]
    process = start(*words)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(60) == 141
    process.stderr.close()
    answered = len(ids) - stream.pending() - stream.redis.run("XINFO", "GROUPS", stream.name)[0][11]
    assert answered < len(ids)
    lines = doppel(*words, "--drain").stdout.splitlines()
    assert len(lines) == len(ids) - answered and stream.pending() == 0, (len(lines), answered)


def test_progress_has_how_many_wait():
    stream = Stream("progress")
    stream.add_records(records(0, 9000))
    said = stream.drain("--progress", "json").stderr
    assert "9000 messages decided about; 0 wait, 0 are in hand" in said, said
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert rows and rows[-1]["unit"] == "messages", said
    assert rows[-1]["done"] == rows[-1]["total"] == 9000, rows[-1]


def test_passwords():
    closed = Server(FOLDER / "closed", "--requirepass", "redis-secret")
    client = closed.client()
    client.run("AUTH", "redis-secret")
    client.run("ACL", "SETUSER", "reader", "on", ">other-secret", "~*", "+@all")
    client.run("XADD", "in", "*", "text", text_of("p"))
    words = ["ingest", "-L", "closed-lib", "--drain", "--stream"]
    right, wrong = FOLDER / "right.key", FOLDER / "wrong.key"
    right.write_text("redis-secret\n")
    wrong.write_text("hunter2\n")
    said = doppel(*words, closed.url("in"), code=2).stderr
    assert "NOAUTH" in said, said
    said = doppel(*words, closed.url("in"), "--stream-key", wrong, code=2).stderr
    assert "WRONGPASS" in said and "hunter2" not in said, said
    said = doppel(*words, closed.url("in", "default:hunter2@"), code=2).stderr
    assert "--stream-key" in said and "hunter2" not in said, said
    said = doppel(*words, closed.url("in", ":hunter2@"), code=2).stderr
    assert "hunter2" not in said, said
    assert len(doppel(*words, closed.url("in"), "--stream-key", right).stdout.splitlines()) == 1
    right.write_text("other-secret\n")
    client.run("XADD", "in", "*", "text", text_of("q"))
    said = doppel(*words, closed.url("in", "reader@"), "--stream-key", right).stdout
    assert len(said.splitlines()) == 1
    closed.kill()


def test_what_is_refused_has_a_sentence():
    SERVER.client().run("SET", "text", "no stream")
    for url, word in (
        (SERVER.url("text"), "'text' is no stream, but a string"),
        ("redis://127.0.0.1", "redis://HOST/KEY"),
        ("redis://127.0.0.1/", "redis://HOST/KEY"),
        ("redis:///in", "redis://HOST/KEY"),
        ("redis://[::1/in", "redis://HOST/KEY"),
        ("redis://127.0.0.1:x/in", "redis://HOST/KEY"),
        ("redis://127.0.0.1:0/in", "from 1 to 65535, not 0"),
        ("redis://127.0.0.1:65536/in", "from 1 to 65535, not 65536"),
        ("redis://[::1]:99999999999999999999999/in", "from 1 to 65535"),
        ("redis://127.0.0.1/in?db=x", "redis://HOST/KEY"),
        ("redis://127.0.0.1/a%zz", "redis://HOST/KEY"),
        ("redis://127.0.0.1/a%00", "redis://HOST/KEY"),
        ("http://127.0.0.1/in", "redis://HOST/KEY"),
    ):
        said = doppel("ingest", "-L", "refused", "--drain", "--stream", url, code=2).stderr
        assert word in said, (url, said)
    for to, word in (("in", "the stream of the messages"), ("in:dead", "where quarantined")):
        words = ["ingest", "-L", "refused", "--drain", "--stream", SERVER.url("in"), "--to", to]
        said = doppel(*words, code=2).stderr
        assert f"'{to}' is {word}" in said, (to, said)
    SERVER.client().run("SADD", "held:dead", "a set")
    for url, to, word in (
        (SERVER.url("in"), "text", "'text' is no stream, but a string"),
        (SERVER.url("held"), "out", "'held:dead' is no stream, but a set"),
    ):
        words = ["ingest", "-L", "refused", "--drain", "--stream", url, "--to", to]
        said = doppel(*words, code=2).stderr
        assert word in said, (to, said)
    assert SERVER.client().run("EXISTS", "held") == 0
    for words in (
        ["--stream", SERVER.url("in"), "file.txt"],
        ["--stream", SERVER.url("in"), "--jsonl", "a.jsonl"],
        ["--to", "x", "-"],
        ["--drain", "-"],
        ["--stream-ca", "x", "-"],
        ["--stream", SERVER.url("in"), "--stream-ca", "x"],
        ["--stream", SERVER.url("in"), "--group", ""],
    ):
        doppel("ingest", "-L", "refused", *words, code=2)


def test_keys_and_databases_are_as_they_are_named():
    client = SERVER.client()
    client.run("SELECT", 3)
    client.run("XADD", "a/b c", "*", "text", text_of("z"))
    url = SERVER.url("a/b%20c", more="?db=3")
    out = doppel("ingest", "-L", "named", "--drain", "--stream", url, "--to", "answers").stdout
    assert out == "" and client.run("XLEN", "answers") == 1


if __name__ == "__main__":
    try:
        sys.exit(tap.main(sys.modules[__name__]))
    finally:
        SERVER.kill()
