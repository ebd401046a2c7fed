#!/usr/bin/env python3
"""`doppel log --sink`: the log in PostgreSQL, each entry once, whoever is killed. Usage: sink.py
BUILD"""

import json
import os
import pathlib
import random
import signal
import sqlite3
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import postgres  # noqa: E402
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
    wait_until,
)

if not postgres.programs():
    print("1..0 # SKIP PostgreSQL is not installed")
    sys.exit(0)

SERVER = postgres.Server(FOLDER)
ENV = SERVER.environment()


def sink(library, *options, code=0, url=None, passfile=None):
    env = os.environ | {"HOME": str(FOLDER)} | SERVER.environment(passfile)
    words = ["log", "-L", library, "--sink", url or SERVER.url(), "--sink-name", library]
    process = start(*words, *options, env=env)
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, (process.returncode, out, err)
    assert out == b"", out
    return err.decode()


def follow(library):
    words = ["log", "-L", library, "--follow", "--sink", SERVER.url(), "--sink-name", library]
    return start(*words, env=ENV)


def count(library):
    return SERVER.number(f"SELECT count(*) FROM decisions WHERE library = '{library}'")


def assert_whole(library):
    """As many rows as entries, by their numbers, and each as the log has it."""
    rows = SERVER.ask(f"SELECT record FROM decisions WHERE library = '{library}' ORDER BY entry")
    kept = [json.loads("|".join(row)) for row in rows]
    assert kept == logged(library), (len(kept), len(logged(library)))


def wait_for(library, number):
    wait_until(lambda: count(library) >= number, f"{number} rows of {library}")


def test_all_entries_come_once():
    ingest("once", records(0, 2500))
    assert "2500 entries written, up to 2500" in sink("once")
    assert_whole("once")
    assert sink("once") == ""
    ingest("once", records(2500, 7))
    assert "7 entries written, up to 2507" in sink("once")
    assert_whole("once")


def test_columns_say_who_is_canonical():
    texts = records(0, 2, "c")
    newer = {"id": "c0", "text": texts[0]["text"] + " and some words more", "source": "wire"}
    copy = {"id": "copy", "text": texts[1]["text"], "source": "blog"}
    ingest("columns", [*texts, copy, newer])
    sink("columns")
    rows = SERVER.ask(
        "SELECT entry, action, item, name, source, decision, canonical, former_item, reason,"
        " round(similarity::numeric, 2), time > now() - interval '5 minutes' AND time < now()"
        " FROM decisions WHERE library = 'columns' ORDER BY entry"
    )
    assert rows[0] == ["1", "decided", "1", "c0", "", "new", "1", "", "", "", "t"], rows[0]
    assert rows[2][3:7] == ["copy", "blog", "duplicate", "2"], rows[2]
    revision = next(row for row in rows if row[5] == "revision")
    assert revision[6] == revision[2] and revision[8] == "newer" or revision[7], rows
    assert_whole("columns")


def test_columns_are_those_of_the_library():
    named = SERVER.ask("SELECT column_name FROM information_schema.columns"
                       " WHERE table_name = 'decisions'")  # fmt: skip
    only_here = {"library", "canonical", "record"}
    columns = sorted({name for (name,) in named} - only_here - {"time", "similarity"})
    assert len(columns) == 9, columns
    with sqlite3.connect(FOLDER / "columns" / "catalogue.db") as database:
        query = f"SELECT {', '.join(columns)} FROM decisions"
        kept = database.execute(f"{query} ORDER BY entry").fetchall()
        database.execute("SELECT time, similarity FROM decisions")
        database.execute("SELECT canonical FROM items")
    rows = SERVER.ask(f"{query} WHERE library = 'columns' ORDER BY entry")
    wanted = [["" if value is None else str(value) for value in row] for row in kept]
    assert rows == wanted, (rows, wanted)


def test_any_name_is_kept():
    folder = FOLDER / "odd"
    folder.mkdir()
    names = [b"back\\slash.txt", b"tab\there.txt", b"line\nbreak.txt", b"\\N.txt", b"\\."]
    names.append(b"\xff.txt")
    for i, name in enumerate(names):
        (pathlib.Path(os.fsdecode(os.fsencode(folder) + b"/" + name))).write_text(
            records(i, 1, "odd")[0]["text"]
        )
    doppel("add", "-q", "-L", "oddly", "odd")
    sink("oddly")
    assert_whole("oddly")
    found = {
        json.loads(row[0]) for row in SERVER.ask(
            "SELECT to_json(regexp_replace(name, '^.*/', '')) FROM decisions WHERE library ="
            " 'oddly'"
        )
    }  # fmt: skip
    added = {row["path"].rsplit("/", 1)[1] for row in logged("oddly")}
    assert found == added and "\ufffd.txt" in found and "tab\there.txt" in found, found


def test_it_follows_and_costs_nothing_to_wait():
    ingest("follows", records(0, 3))
    process = follow("follows")
    wait_for("follows", 3)
    ingest("follows", records(3, 4))
    wait_for("follows", 7)
    before = cpu_seconds(process)
    time.sleep(1.5)
    assert cpu_seconds(process) - before < 0.2
    _, said = end(process)
    assert "7 entries written" in said, said
    assert_whole("follows")


def test_the_server_is_killed_meanwhile():
    ingest("killed", records(0, 50))
    process = follow("killed")
    wait_for("killed", 50)
    for turn in range(4):
        SERVER.kill()
        ingest("killed", records(50 + 300 * turn, 300))
        SERVER.start()
        wait_for("killed", 50 + 300 * turn + (300 if turn % 2 else 1))
    wait_for("killed", 1250)
    _, said = end(process, signal.SIGINT)
    assert said.count("the database is away, and waited for") == 4, said
    assert_whole("killed")


def test_connections_are_cut_at_any_moment():
    ingest("cut", records(0, 1500))
    process = follow("cut")
    chance = random.Random(5)
    for turn in range(8):
        ingest("cut", records(1500 + 100 * turn, 100))
        SERVER.ask(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ="
            " 'doppel'"
        )
        time.sleep(chance.random() * 0.3)
    wait_for("cut", 2300)
    end(process)
    assert_whole("cut")


def test_the_sink_is_killed_at_any_moment():
    ingest("dies", records(0, 3000))
    chance = random.Random(6)
    for turn in range(12):
        process = follow("dies")
        time.sleep(chance.random() * 0.25)
        process.kill()
        process.communicate(timeout=60)
    sink("dies")
    assert_whole("dies")


def test_two_at_once_take_turns():
    ingest("both", records(0, 4000))
    processes = [follow("both") for _ in range(3)]
    ingest("both", records(4000, 500))
    wait_for("both", 4500)
    for process in processes:
        end(process)
    assert_whole("both")


def test_a_server_that_comes_later_is_waited_for():
    ingest("later", records(0, 5))
    SERVER.kill()
    process = follow("later")
    time.sleep(1)
    assert process.poll() is None
    SERVER.start()
    wait_for("later", 5)
    _, said = end(process)
    assert "the database is away" in said, said


def test_a_server_that_hangs_holds_nobody():
    ingest("hangs", records(0, 5))
    process = follow("hangs")
    wait_for("hangs", 5)
    SERVER.signal_all(signal.SIGSTOP)
    try:
        ingest("hangs", records(5, 5))
        time.sleep(0.5)
        began = time.monotonic()
        end(process)
        assert time.monotonic() - began < 5
    finally:
        SERVER.signal_all(signal.SIGCONT)
    sink("hangs")
    assert_whole("hangs")


def test_passwords_are_in_no_address():
    ingest("secret", records(0, 1))
    for url in (
        f"postgresql://writer:hunter2@127.0.0.1:{SERVER.port}/postgres",
        f"postgresql://127.0.0.1:{SERVER.port}/postgres?user=writer&password=hunter2",
    ):
        said = sink("secret", url=url, code=2)
        assert "PGPASSFILE" in said and "hunter2" not in said, said
    said = sink("secret", url="postgresql://writer:hunter2@host:port/x", code=2)
    assert "hunter2" not in said, said


def test_what_is_refused_has_a_sentence():
    ingest("refused", records(0, 1))
    wrong = FOLDER / "wrong"
    SERVER.write_passfile(wrong, "wrong")
    SERVER.ask("CREATE ROLE guest LOGIN PASSWORD '" + postgres.PASSWORD + "'")
    SERVER.ask("CREATE DATABASE other")
    assert "password authentication failed" in sink("refused", passfile=wrong, code=2)
    assert "password" in sink("refused", passfile=FOLDER / "missing", code=2)
    assert "does not exist" in sink("refused", url=SERVER.url("nowhere"), code=2)
    assert "permission denied" in sink("refused", url=SERVER.url("other", "guest"), code=2)
    assert "postgresql://USER@HOST" in sink("refused", url="host=127.0.0.1", code=2)
    assert "postgresql://USER@HOST" in sink("refused", url="mysql://a@b/c", code=2)
    for ports in ("0", "99999", "5432,65536"):
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports.split(","))
        url = f"postgresql://writer@{hosts}/postgres"
        assert "from 1 to 65535" in sink("refused", url=url, code=2)
    for option, value in (("--since", "1h"), ("--last", "3"), ("--after", "3"), ("1", None)):
        words = [option] if value is None else [option, value]
        assert "leave out" in sink("refused", *words, code=2)
    doppel("log", "-L", "refused", "--sink-name", "x", code=2)


def test_rows_that_were_deleted_are_reported():
    ingest("holes", records(0, 50))
    assert "missing" not in sink("holes")
    SERVER.ask("DELETE FROM decisions WHERE library = 'holes' AND entry < 11")
    assert sink("holes") == ""
    SERVER.ask("DELETE FROM decisions WHERE library = 'holes' AND entry IN (20, 21, 49)")
    said = sink("holes")
    assert "3 from 11 to 50 are missing" in said, said
    ingest("holes", records(50, 1))
    said = sink("holes")
    assert "3 from 11 to 50 are missing" in said and "1 entries written" in said, said
    assert count("holes") == 38
    SERVER.ask("DELETE FROM decisions WHERE library = 'holes'")
    said = sink("holes")
    assert "missing" not in said and "51 entries written" in said, said


def test_another_library_of_the_same_name_is_refused():
    for library, first in (("same1", 0), ("same2", 50)):
        ingest(library, records(first, 20))
    sink("same1")
    words = ["log", "-L", "same2", "--sink", SERVER.url(), "--sink-name", "same1"]
    process = start(*words, env=ENV)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2 and b"another library named same1" in err, err
    ingest("short", records(0, 3))
    process = start(*words[:2], "short", *words[3:], env=ENV)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2 and b"another library" in err, err


def test_its_own_name_is_host_and_path():
    ingest("named", records(0, 1))
    process = start("log", "-L", "named", "--sink", SERVER.url(), env=ENV)
    process.communicate(timeout=60)
    rows = SERVER.ask("SELECT library FROM decisions WHERE library LIKE '%/named'")
    assert rows == [[f"{os.uname().nodename}:{FOLDER}/named"]], rows


if __name__ == "__main__":
    try:
        sys.exit(tap.main(sys.modules[__name__]))
    finally:
        SERVER.kill()
