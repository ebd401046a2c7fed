#!/usr/bin/env python3
"""`doppel dedup --stage`: parts that are killed, run twice, and divided anyhow give what one
`dedup` prints.

`stages.py BUILD`
"""

import itertools
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
HELD = tempfile.TemporaryDirectory(prefix="doppel-stages-")
FOLDER = pathlib.Path(HELD.name)
CHANCE = random.Random(22)
RECORDS, WORDS = 4000, 40
CORPUS = ["a.jsonl", "b.jsonl"]
SERIAL = itertools.count()


def start(*words):
    return subprocess.Popen(
        [BUILD / "doppel", "dedup", *map(str, words)],
        cwd=FOLDER,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ, HOME=str(FOLDER)),
    )


def dedup(*words, code=0):
    process = start(*words)
    out, error = process.communicate(timeout=100)
    assert process.returncode == code, (words, process.returncode, error.decode())
    return out if not code else error.decode()


def write_corpus():
    words = ["".join(CHANCE.choices("abcdefghij", k=6)) for _ in range(3000)]
    texts = [CHANCE.choices(words, k=WORDS) for _ in range(RECORDS // 2)]
    while len(texts) < RECORDS:
        copy = list(CHANCE.choice(texts))
        copy[CHANCE.randrange(len(copy))] = CHANCE.choice(words)
        texts.append(copy[: CHANCE.randrange(len(copy) // 2, len(copy) + 1)])
    CHANCE.shuffle(texts)
    lines = [json.dumps({"id": f"r{i}", "text": " ".join(text)}) for i, text in enumerate(texts)]
    lines[70] = "no record"
    for name, part in zip(CORPUS, (lines[: RECORDS // 3], lines[RECORDS // 3 :])):
        (FOLDER / name).write_text("\n".join(part) + "\n")


def work():
    return f"work{next(SERIAL)}"


def stage(folder, name, number=None, count=None, *more, code=0):
    part = ("--part", f"{number}/{count}") if count else ()
    return dedup(*CORPUS, "-q", "--work", folder, "--stage", name, *part, *more, code=code)


def until_decided(folder, sign, join, compare=0):
    for number in range(1, sign + 1):
        stage(folder, "sign", number, sign, code=0)
    for number in range(1, join + 1):
        stage(folder, "join", number, join)
    for number in range(1, compare + 1):
        stage(folder, "compare", number, compare)
    stage(folder, "decide")


def emitted(folder, count, emit="decisions"):
    for number in range(1, count + 1):
        code = 3 if emitted_unreadable(folder, number, count) else 0
        stage(folder, "emit", number, count, "--emit", emit, code=code)
    paths = sorted((FOLDER / folder).glob(f"emit-{emit}-*-of-{count:04}.jsonl"))
    assert len(paths) == count
    return b"".join(path.read_bytes() for path in paths)


def emitted_unreadable(folder, number, count):
    """Record 70 cannot be read, which the exit code of its part says."""
    return RECORDS * (number - 1) // count <= 70 < RECORDS * number // count


def at_once(*words):
    process = start(*CORPUS, "-q", *words)
    out, error = process.communicate(timeout=100)
    assert process.returncode == 3, error
    return out


def test_any_parts_print_what_one_dedup_prints():
    wanted = {emit: at_once("--emit", emit) for emit in ("decisions", "unique", "annotated")}
    for sign, join, compare, emit in ((1, 1, 0, 1), (5, 3, 4, 4), (16, 8, 2, 2)):
        folder = work()
        until_decided(folder, sign, join, compare)
        for name, lines in wanted.items():
            assert emitted(folder, emit, name) == lines, (sign, join, emit, name)


def test_all_of_them_here():
    folder = work()
    for _ in range(2):
        process = start(*CORPUS, "-q", "--work", folder, "--stage", "all", "--jobs", "2")
        out, error = process.communicate(timeout=100)
        assert process.returncode == 3, error
        assert out == at_once()


def run_killed(usual, folder, name, *part):
    """Kill it, later and later, until it ends before."""
    words = [*CORPUS, "-q", "--work", folder, "--stage", name, "--jobs", "2", *part]
    for attempt in range(100):
        process = start(*words)
        time.sleep(CHANCE.random() * usual * (1 + attempt) / 10)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if process.returncode != -signal.SIGKILL:
            return process.returncode, attempt
    raise AssertionError("never ended")


def test_parts_that_are_killed_are_run_again():
    folder, kills, began = work(), 0, time.monotonic()
    wanted = at_once()
    usual = time.monotonic() - began
    for name, parts in (("sign", 4), ("join", 3), ("compare", 3), ("decide", 0), ("emit", 3)):
        for number in range(1, max(parts, 1) + 1):
            part = ("--part", f"{number}/{parts}") if parts else ()
            code, attempts = run_killed(usual, folder, name, *part)
            kills += attempts
            assert code in (0, 3), (name, number, code)
    assert kills > 5, kills
    paths = sorted((FOLDER / folder).glob("emit-*.jsonl"))
    assert b"".join(path.read_bytes() for path in paths) == wanted
    left = [path.name for path in (FOLDER / folder).iterdir() if path.name.startswith(".")]
    assert not left, left


def test_a_manifest_whose_writer_was_killed_is_finished():
    folder = work()
    stage(folder, "sign", 1, 2)
    left = FOLDER / folder / ".manifest~1-1"
    left.write_text("{}")
    stage(folder, "sign", 2, 2)
    assert not left.exists()


def test_the_same_part_at_once():
    folder = work()
    for name, parts in (("sign", 2), ("join", 2), ("compare", 2), ("decide", 0), ("emit", 2)):
        for number in range(1, max(parts, 1) + 1):
            part = ("--part", f"{number}/{parts}") if parts else ()
            words = [*CORPUS, "-q", "--work", folder, "--stage", name, *part]
            both = [start(*words) for _ in range(3)]
            for process in both:
                error = process.communicate(timeout=100)[1]
                assert process.returncode in (0, 3), error
    paths = sorted((FOLDER / folder).glob("emit-*.jsonl"))
    assert b"".join(path.read_bytes() for path in paths) == at_once()


def test_status_says_what_is_missing():
    folder = work()
    stage(folder, "sign", 2, 3)
    rows = [json.loads(line) for line in stage(folder, "status").splitlines()]
    assert rows[0] == {"stage": "sign", "parts": 3, "done": 1, "missing": [1, 3]}, rows
    assert [row["stage"] for row in rows] == ["sign", "join", "compare", "decide", "emit"]
    said = stage(folder, "join", 1, 1, code=2)
    assert "lacks 2 of the 3 parts of --stage sign: 1, 3" in said, said
    said = stage("nowhere", "status", code=2)
    assert "nowhere cannot be opened" in said and not (FOLDER / "nowhere").exists(), said


def test_an_output_that_is_there_is_reported_the_same():
    folder = work()
    until_decided(folder, 2, 1)
    words = [*CORPUS, "-v", "--work", folder, "--stage", "emit", "--emit", "unique"]
    for number in (1, 2):
        part = ("--part", f"{number}/2")
        runs = [dedup(*words, *part, code=3 if emitted_unreadable(folder, number, 2) else 0)
                for _ in range(2)]  # fmt: skip
        if number == 1:
            first, second = (run.splitlines() for run in runs)
            assert "emit 1/2: done" in runs[0] and "emit 1/2: was there" in runs[1], runs
            assert sum("a.jsonl:71: " in line for line in second) == 1, second
            assert [line for line in first if "records" in line] == [
                line for line in second if "records" in line], runs  # fmt: skip


def made_now(folder, since):
    return sorted(path.name for path in (FOLDER / folder).iterdir()
                  if path.stat().st_mtime_ns > since)  # fmt: skip


def test_all_of_them_go_on_with_what_is_there():
    folder = work()
    for number in (1, 2, 3, 5, 6):
        stage(folder, "sign", number, 6)
    stage(folder, "sign", 1, 3)  # of this set more is missing
    since = time.time_ns()
    time.sleep(0.02)
    assert at_once("--work", folder, "--stage", "all") == at_once()
    assert made_now(folder, since) == ["decide-0001-of-0001", "join-0001-of-0001",
                                       "sign-0004-of-0006"]  # fmt: skip
    for name in ("join-0001-of-0001", "decide-0001-of-0001"):
        (FOLDER / folder / name).unlink()
    for number in (1, 3):
        stage(folder, "join", number, 3)
    (FOLDER / folder / "compare-0002-of-0002").write_bytes(b"")  # a part that is to be done again
    since = time.time_ns()
    time.sleep(0.02)
    assert at_once("--work", folder, "--stage", "all") == at_once()
    assert made_now(folder, since) == ["compare-0001-of-0002", "compare-0002-of-0002",
                                       "decide-0001-of-0001", "join-0002-of-0003"]  # fmt: skip


def test_an_output_that_was_changed_is_made_again():
    folder = work()
    until_decided(folder, 1, 1)
    before = emitted(folder, 2)
    path = FOLDER / folder / "emit-decisions-0002-of-0002.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    emitted(folder, 2)
    paths = sorted((FOLDER / folder).glob("emit-*.jsonl"))
    assert b"".join(path.read_bytes() for path in paths) == before


def test_what_does_not_go_together_is_refused():
    folder = work()
    cases = [
        (("--work", folder), "goes with '--stage'"),
        (("--stage", "sign"), "wants '--work DIR'"),
        (("--stage", "sign", "--work", folder), "want '--part I/N'"),
        (("--stage", "decide", "--work", folder, "--part", "1/2"), "'--part' goes with"),
        (("--stage", "sign", "--work", folder, "--part", "3/2"), "such as 7/400"),
        (("--stage", "sign", "--work", folder, "--part", "1/2x"), "such as 7/400"),
        (("--stage", "sign", "--work", folder, "--part", "1/ 2"), "not '1/ 2'"),
        (("--stage", "sign", "--work", folder, "--part", "+1/2"), "not '+1/2'"),
        (("--stage", "sign", "--work", folder, "--part", "1/-1"), "not '1/-1'"),
        (("--stage", "sign", "--work", folder, "--part", "1/4294967298"), "not '1/4294967298'"),
        (("--stage", "sign", "--work", folder, "--part", f"1/{10**30}"), f"not '1/{10**30}'"),
        (("--stage", "join", "--work", folder, "--part", "1/300"), "at most 256"),
        (("--stage", "all", "--work", folder, "--semantic"), "'--semantic' does not go"),
        (("--stage", "all", "--work", folder, "--against", "x"), "'--against' does not go"),
        (("--stage", "all", "--work", folder, "--clusters", "x"), "'--clusters' does not go"),
        (("--stage", "all", "--work", folder, "--output-dir", "x"), "'--output-dir' does not go"),
        (("--stage", "all", "--work", folder, "--keep-shingles"), "'--keep-shingles' does not go"),
        (("--stage", "all", "--work", folder, "--unit", "paragraph"), "does not go"),
        (("--stage", "emit", "--work", folder, "--part", "1/1", "--format", "csv"), "'--format'"),
    ]
    for words, sentence in cases:
        said = dedup(*CORPUS, *words, code=2)
        assert sentence in said, (words, said)
    stage(folder, "sign", 1, 2)
    said = dedup(*CORPUS, "--stage", "sign", "--work", folder, "--part", "2/2",
                 "--min-similarity", "0.8", code=2)  # fmt: skip
    assert "is of another run" in said and "min-similarity" in said, said


def test_what_is_no_regular_file_is_named_and_not_waited_for():
    folder = work()
    stage(folder, "sign", 1, 1)
    path = FOLDER / folder / "sign-0001-of-0001"
    for make in (os.mkfifo, os.mkdir):
        path.unlink()
        make(path)
        assert f"{path.name} is no regular file" in stage(folder, "join", 1, 1, code=2)
        assert json.loads(stage(folder, "status").splitlines()[0])["done"] == 0
        if make == os.mkfifo:
            stage(folder, "sign", 1, 1)  # in its place
    path.rmdir()
    until_decided(folder, 1, 1)
    for name in ("emit-decisions-0001-of-0001.jsonl", "emit-decisions-0001-of-0001.jsonl.xxh128"):
        os.mkfifo(FOLDER / folder / name)
    assert emitted(folder, 1) == at_once()
    manifest = FOLDER / folder / "manifest"
    manifest.unlink()
    os.mkfifo(manifest)
    assert "manifest is no regular file" in stage(folder, "status", code=2)


def test_a_manifest_that_is_shorter_or_empty_is_told():
    folder = work()
    stage(folder, "sign", 1, 1)
    words = ("--stage", "sign", "--work", folder, "--part", "1/1")
    said = dedup(*CORPUS[:1], *words, code=2)
    assert '"input":"b.jsonl"' in said and "where this one has nothing more" in said, said
    (FOLDER / "c.jsonl").write_text('{"text": "a"}\n')
    said = dedup(*CORPUS, "c.jsonl", *words, code=2)
    assert "it has nothing more where this one has" in said and "c.jsonl" in said, said
    (FOLDER / folder / "manifest").write_text("")
    assert "manifest is empty" in dedup(*CORPUS, *words, code=2)


if __name__ == "__main__":
    write_corpus()
    sys.exit(tap.main(sys.modules[__name__]))
