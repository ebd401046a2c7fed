#!/usr/bin/env python3
"""A stream of files and records, killed at random moments, and sent by two at once: what was
answered is kept, nothing is there twice. Usage: ingest_killed.py DOPPEL [KILLS [ITEMS]]"""

import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

KILLS_A_LIBRARY = 10
doppel = sys.argv[1]
kills = int(sys.argv[2]) if len(sys.argv) > 2 else 20
items = int(sys.argv[3]) if len(sys.argv) > 3 else 600
chance = random.Random(7)
work = pathlib.Path(tempfile.mkdtemp(prefix="doppel-killed-"))
environment = os.environ | {
    "HOME": str(work),
    "XDG_CACHE_HOME": str(work / "cache"),
    "XDG_DATA_HOME": str(work),
}


def words():
    return " ".join(
        chance.choice("abcdefghij") * chance.randint(1, 6) + str(chance.randint(0, 99))
        for _ in range(60)
    )


def make_stream():
    """Half files, half records; of both one in four has the text of an earlier one. Names are
    told in answers and lists."""
    texts, lines, names = [], [], []
    (work / "files").mkdir()
    for i in range(items):
        text = chance.choice(texts) if texts and i % 4 == 3 else words()
        texts.append(text)
        if i % 2:
            names.append(f"r{i}")
            lines.append(json.dumps({"id": f"r{i}", "text": text}))
        else:
            path = work / "files" / f"{i}.txt"
            path.write_text(text)
            names.append(str(path))
            lines.append(str(path))
    (work / "stream").write_text("\n".join(lines) + "\n")
    return names


def start(library, out):
    return subprocess.Popen(
        [doppel, "ingest", "-L", library, "--json", "-"],
        stdin=open(work / "stream"),
        stdout=out,
        stderr=subprocess.DEVNULL,
        env=environment,
    )


def answered(path):
    """The names in whole lines of answers."""
    lines = path.read_text().split("\n")[:-1]
    rows = [json.loads(line) for line in lines]
    assert all(
        row["decision"] in ("new", "duplicate", "too_short", "revision", "part") for row in rows
    ), rows
    return [row.get("id") or row["path"] for row in rows]


def held(library):
    listed = subprocess.run(
        [doppel, "list", "-L", library, "--json"], capture_output=True, text=True, env=environment
    )
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    return collections.Counter(row.get("record") or row["path"] for row in rows)


def assert_kept(library, names):
    there = held(library)
    assert not [name for name in names if there[name] == 0], "an answer was lost"
    assert not [name for name, count in there.items() if count > 1], "something is there twice"
    return there


def kill_one(library, round_number):
    out = work / "answers"
    with open(out, "w") as stream:
        process = start(library, stream)
        wanted = chance.randint(0, items * (round_number % KILLS_A_LIBRARY + 1) // KILLS_A_LIBRARY)
        began = time.monotonic()
        while (
            process.poll() is None
            and time.monotonic() - began < 60
            and out.read_bytes().count(b"\n") < wanted
        ):
            pass
        cut = process.poll() is None
        process.kill()
        process.wait()
    assert_kept(library, answered(out))
    return cut


def check_whole(library, names):
    """What is left is done by one more run: each item exactly once."""
    with open(work / "answers", "w") as stream:
        assert start(library, stream).wait() == 0
    assert answered(work / "answers") == names
    assert assert_kept(library, names) == collections.Counter(names)


def test_kills(names):
    cut = 0
    for i in range(kills):
        library = str(work / f"library{i // KILLS_A_LIBRARY}")
        cut += kill_one(library, i)
        if i % KILLS_A_LIBRARY == KILLS_A_LIBRARY - 1 or i == kills - 1:
            check_whole(library, names)
            shutil.rmtree(library)
    print(f"{kills} runs killed, {cut} of them before their end: nothing lost, nothing twice")
    assert cut >= kills // 2


def test_two_at_once(names):
    library, outs = str(work / "shared"), [work / "first", work / "second"]
    processes = [start(library, open(out, "w")) for out in outs]
    assert [process.wait() for process in processes] == [0, 0]
    assert all(answered(out) == names for out in outs)
    assert assert_kept(library, names) == collections.Counter(names)
    print(f"{items} items sent by two at once: each is there once")


try:
    stream_names = make_stream()
    test_kills(stream_names)
    test_two_at_once(stream_names)
finally:
    shutil.rmtree(work)
