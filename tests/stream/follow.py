#!/usr/bin/env python3
"""`doppel log --follow`: entries as they come, each once. Usage: follow.py BUILD"""

import json
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
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
)

LINE_SECONDS = 30


class Follower:
    """A run that follows; a thread takes its lines."""

    def __init__(self, library, *options):
        self.process = start("log", "-L", library, "--follow", *options)
        self.lines = []
        self.news = threading.Condition()
        self.reader = threading.Thread(target=self.take, daemon=True)
        self.reader.start()

    def take(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line.decode())
                self.news.notify()

    def wait(self, count):
        with self.news:
            enough = self.news.wait_for(lambda: len(self.lines) >= count, LINE_SECONDS)
        assert enough, (count, len(self.lines))
        return self.lines

    def end(self, number=signal.SIGTERM, code=0):
        self.process.send_signal(number)
        assert self.process.wait(30) == code, self.process.returncode
        self.reader.join(30)
        said = self.process.stderr.read().decode()
        self.process.stdout.close()
        self.process.stderr.close()
        return [line.rstrip("\n") for line in self.lines], said


def entries(lines):
    return [json.loads(line)["entry"] for line in lines]


def test_lines_come_as_others_commit_them():
    ingest("grows", records(0, 3))
    follower = Follower("grows", "--json")
    follower.wait(3)
    for i in range(3, 8):
        began = time.monotonic()
        ingest("grows", records(i, 1))
        follower.wait(i + 1)
        assert time.monotonic() - began < 20
    lines, said = follower.end()
    assert said == "", said
    assert [json.loads(line) for line in lines] == logged("grows")
    assert json.loads(lines[7])["decision"] == "new"


def test_more_than_a_page_comes_once():
    ingest("large", records(0, 2500))
    follower = Follower("large", "--json")
    ingest("large", records(2500, 1200))
    follower.wait(3700)
    lines, _ = follower.end()
    assert entries(lines) == list(range(1, 3701))


def test_it_goes_on_behind_an_entry():
    ingest("resumed", records(0, 40))
    first = Follower("resumed", "--json")
    first.wait(40)
    before, _ = first.end(signal.SIGKILL, -9)
    ingest("resumed", records(40, 20))
    then = Follower("resumed", "--json", "--after", entries(before)[-1])
    then.wait(20)
    ingest("resumed", records(60, 5))
    then.wait(25)
    after, _ = then.end()
    assert entries(before + after) == list(range(1, 66))
    assert [row["entry"] for row in logged("resumed", "--after", 60)] == list(range(61, 66))
    assert logged("resumed", "--after", 65) == []
    assert len(logged("resumed", "--after", 0)) == 65
    doppel("log", "-L", "resumed", "--after", "x", code=2)


def test_the_last_ones_then_what_comes():
    ingest("last", records(0, 10))
    follower = Follower("last", "--json", "--last", 2)
    follower.wait(2)
    ingest("last", records(10, 1))
    follower.wait(3)
    lines, _ = follower.end(signal.SIGINT)
    assert entries(lines) == [9, 10, 11]
    ahead = Follower("last", "--json", "--after", 11)
    ingest("last", records(11, 1))
    ahead.wait(1)
    assert entries(ahead.end()[0]) == [12]


def test_people_see_rows_and_a_story():
    ingest("people", records(0, 2))
    table, story = Follower("people"), Follower("people", "1")
    table.wait(3)
    story.wait(1)
    ingest("people", [{"id": "again", "text": records(0, 1)[0]["text"]}])
    table.wait(4)
    story.wait(2)
    rows, _ = table.end()
    told, _ = story.end()
    assert rows[0].split()[:2] == ["entry", "time"] and "duplicate" in rows[3], rows
    assert len(told) == 2 and "again" in told[1], told


def test_it_costs_next_to_nothing_to_wait():
    ingest("quiet", records(0, 1))
    follower = Follower("quiet", "--json")
    follower.wait(1)
    before = cpu_seconds(follower.process)
    time.sleep(2)
    used = cpu_seconds(follower.process) - before
    follower.end()
    assert used < 0.2, used


def test_a_reader_that_is_gone_ends_it():
    ingest("unread", records(0, 1))
    process = start("log", "-L", "unread", "--follow", "--json")
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(30) == 141
    process.stderr.close()


def test_a_reader_that_is_slow_holds_nobody_up():
    """Its pipe is full, and the library is written and compacted meanwhile."""
    ingest("slow", records(0, 1500))
    process = start("log", "-L", "slow", "--follow", "--json")
    time.sleep(0.5)
    ingest("slow", records(1500, 1500))
    doppel("compact", "-q", "-L", "slow")
    lines = [process.stdout.readline() for _ in range(3000)]
    assert entries(lines) == list(range(1, 3001))
    end(process)


def test_a_library_that_is_moved_removed_or_replaced_ends_it():
    for what in ("moved", "removed", "replaced"):
        ingest(what, records(0, 2))
        follower = Follower(what, "--json")
        follower.wait(2)
        (FOLDER / what).rename(FOLDER / f"{what}-away")
        if what == "removed":
            shutil.rmtree(FOLDER / "removed-away")
        elif what == "replaced":
            ingest(what, records(2, 3))
        assert follower.process.wait(30) == 2, what
        said = follower.process.stderr.read().decode()
        assert "was moved, removed or replaced" in said, (what, said)
        follower.reader.join(30)
        follower.process.stdout.close()
        follower.process.stderr.close()
        assert len(follower.lines) == 2, follower.lines


def test_there_is_no_library():
    doppel("log", "-L", "nowhere", "--follow", code=2)


def test_its_end_says_nothing_also_before_a_line():
    ingest("empty", records(0, 1))
    process = start("log", "-L", "empty", "--follow", "--after", 1, stdin=subprocess.DEVNULL)
    time.sleep(0.5)
    out, err = end(process)
    assert (out, err) == (b"", ""), (out, err)


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
