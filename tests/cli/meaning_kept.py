#!/usr/bin/env python3
"""The vectors of a library are not lost unnoticed: what is missing is named, and comes again.

`meaning_kept.py BUILD`
"""

import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
HELD = tempfile.TemporaryDirectory(prefix="doppel-meaning-kept-")
FOLDER = pathlib.Path(HELD.name)
CHANCE = random.Random(11)
MEANINGS, DIMENSION, TEXTS, WORDS = 300, 24, 40, 20
SEMANTIC = ("--semantic", "--model", "words", "--min-cosine", "0.8")
WHERE = dict(cwd=FOLDER, env=dict(os.environ, HOME=HELD.name, DOPPEL_MODELS=f"{FOLDER}/models"))


def doppel(*words, code=0):
    done = subprocess.run([BUILD / "doppel", *map(str, words)], capture_output=True, text=True,
                          timeout=120, **WHERE)  # fmt: skip
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def lines_of(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def write_model(name):
    with open(FOLDER / f"{name}.txt", "w") as file:
        for meaning in range(MEANINGS):
            centre = [CHANCE.gauss(0, 1) for _ in range(DIMENSION)]
            for word in "ab":
                own = [x + CHANCE.gauss(0, 0.2) for x in centre]
                print(f"{word}{spelled(meaning)}", *(f"{x:.4f}" for x in own), file=file)
    doppel("model", "add", f"{name}.txt", "--name", name)


def spelled(number):
    return "".join("etaoinshrd"[int(digit)] for digit in str(number))


def in_words(meanings, word):
    return " ".join(f"{word}{spelled(one)}" for one in meanings)


MEANT = [CHANCE.sample(range(MEANINGS), WORDS) for _ in range(TEXTS)]


def write(name, text):
    (FOLDER / name).write_text(text)
    return name


def write_corpus(name="corpus.jsonl", numbers=range(TEXTS), prefix="t"):
    rows = [{"id": f"{prefix}{i}", "text": in_words(MEANT[i], "a")} for i in numbers]
    return write(name, "".join(json.dumps(row) + "\n" for row in rows))


def ingest(library, *words, code=0):
    return doppel("ingest", "-L", library, *SEMANTIC, *words, code=code)


def find(library, i):
    """The record of the same meaning as text number i, by all its other words."""
    query = write("query.txt", in_words(MEANT[i], "b"))
    done = subprocess.run([BUILD / "doppel", "find", "-L", library, *SEMANTIC, "--json", query],
                          capture_output=True, text=True, **WHERE)  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return [row.get("record") or row["path"] for row in lines_of(done) if row.get("relation")]


def is_found(library, i, name):
    return find(library, i)[:1] == [name]


def make(library):
    write_corpus()
    ingest(library, "--jsonl", "corpus.jsonl")
    for i in (0, 7, TEXTS - 1):
        assert is_found(library, i, f"t{i}")
    return FOLDER / library / "vectors"


def problems(library, *words, code=3):
    done = doppel("verify", "-L", library, "--json", *words, code=code)
    assert all(row["problem"] == "vectors" for row in lines_of(done)), done.stdout
    return lines_of(done)


def expect_loss(library, lost, *, by_count=True):
    """Verbs that use vectors refuse, verify names the texts, and after --repair they come again."""
    for verb in ("find", "check", "ingest") if by_count else ():
        done = doppel(verb, "-L", library, "--semantic", "query.txt", code=2)
        for part in ("vectors", "words", str(TEXTS), "verify --repair", "ingest --semantic"):
            assert part in done.stderr, (part, done.stderr)
    rows = problems(library)
    summary = rows[-1]
    assert summary["path"].endswith("/vectors"), rows
    assert f"{len(lost)} text" in summary["detail"], rows
    assert "ingest --semantic" in summary["detail"], rows
    assert [row["id"] for row in rows if "id" in row] == lost, rows
    repaired = problems(library, "--repair")
    assert all(row["repaired"] for row in repaired), repaired
    assert [row["id"] for row in repaired if "id" in row] == lost, repaired
    doppel("verify", "-L", library)
    done = ingest(library, "--jsonl", "corpus.jsonl")
    assert f"{len(lost)} known text" in done.stderr, done.stderr
    for i in range(0, TEXTS, 9):
        assert is_found(library, i, f"t{i}")
    doppel("verify", "-L", library)
    assert "known text" not in ingest(library, "--jsonl", "corpus.jsonl").stderr


def test_a_removed_folder_is_told():
    shutil.rmtree(make("removed"))
    expect_loss("removed", list(range(1, TEXTS + 1)))


def test_a_removed_database_is_told():
    for file in make("gone").glob("vectors.db*"):
        file.unlink()
    expect_loss("gone", list(range(1, TEXTS + 1)))


def test_an_emptied_database_is_told():
    folder = make("emptied")
    for file in folder.glob("vectors.db-*"):
        file.unlink()
    (folder / "vectors.db").write_bytes(b"")
    rows = problems("emptied")
    assert rows[0]["path"].endswith("/vectors") and f"{TEXTS} texts" in rows[0]["detail"], rows
    for verb in ("find", "check", "ingest"):
        done = doppel(verb, "-L", "emptied", *SEMANTIC, "query.txt", code=2)
        assert f"{TEXTS} texts" in done.stderr and "verify --repair" in done.stderr, done.stderr
    assert (folder / "vectors.db").stat().st_size == 0
    rows = problems("emptied", "--repair")
    assert [row["id"] for row in rows if "id" in row] == list(range(1, TEXTS + 1)), rows
    assert all(row["repaired"] for row in rows), rows
    assert (FOLDER / "emptied" / "vectors.damaged").is_dir()
    assert f"{TEXTS} known texts" in ingest("emptied", "--jsonl", "corpus.jsonl").stderr
    doppel("verify", "-L", "emptied")


def test_another_model_may_come_after_a_loss():
    shutil.rmtree(make("exchanged"))
    problems("exchanged", "--repair")
    done = doppel("ingest", "-L", "exchanged", "--semantic", "--model", "other", "--min-cosine",
                  "0.8", "--jsonl", "corpus.jsonl")  # fmt: skip
    assert f"{TEXTS} known texts" in done.stderr, done.stderr


def test_an_older_copy_is_told():
    write_corpus("first.jsonl", range(10))
    ingest("older", "--jsonl", "first.jsonl")
    copy = FOLDER / "older-vectors"
    shutil.copytree(FOLDER / "older" / "vectors", copy)
    shutil.rmtree(make("older"))
    shutil.copytree(copy, FOLDER / "older" / "vectors")
    expect_loss("older", list(range(11, TEXTS + 1)))


def test_a_damaged_segment_costs_its_texts():
    folder = make("segment")
    doppel("index", "compact", folder)
    extra = [CHANCE.sample(range(MEANINGS), WORDS) for _ in range(5)]
    rows = [{"id": f"x{i}", "text": in_words(one, "a")} for i, one in enumerate(extra)]
    write("more.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    ingest("segment", "--jsonl", "more.jsonl")
    (segment,) = folder.glob("*.segment")
    content = bytearray(segment.read_bytes())
    for at in range(100, len(content), 500):
        content[at] ^= 0x55
    segment.write_bytes(content)
    assert problems("segment")[0]["path"].endswith(".segment")
    rows = problems("segment", "--repair")
    assert rows[0]["path"].endswith(".segment") and all(row["repaired"] for row in rows), rows
    assert [row["id"] for row in rows if "id" in row] == list(range(1, TEXTS + 1)), rows
    assert all(row["path"].endswith("corpus.jsonl") for row in rows if "id" in row), rows
    assert f"{TEXTS} texts have lost" in rows[-1]["detail"], rows
    doppel("verify", "-L", "segment")
    assert find("segment", 3) == []
    done = ingest("segment", "--jsonl", "corpus.jsonl", "--jsonl", "more.jsonl")
    assert f"{TEXTS} known texts" in done.stderr, done.stderr
    assert is_found("segment", 3, "t3")


def test_chunks_of_which_one_is_lost_are_told():
    folder = make("chunk")
    with sqlite3.connect(folder / "vectors.db") as database:
        database.execute("DELETE FROM vector_id WHERE number = 4")
    rows = problems("chunk")
    assert len(rows) == 2 and "1 text has lost" in rows[-1]["detail"], rows
    expect_loss("chunk", [rows[0]["id"]], by_count=False)


def test_each_text_that_lost_them_is_a_problem():
    folder = make("three")
    with sqlite3.connect(folder / "vectors.db") as database:
        database.execute("DELETE FROM vector_id WHERE number IN (2, 4, 6)")
    done = doppel("verify", "-v", "-L", "three", code=3)
    assert "3 problems;" in done.stderr, done.stderr
    done = doppel("verify", "-v", "-L", "three", "--repair", code=3)
    assert "3 problems, all repaired" in done.stderr, done.stderr


def test_vectors_of_texts_that_are_gone_are_told():
    folder = make("strange")
    with sqlite3.connect(folder / "vectors.db") as database:
        database.execute("UPDATE vector_id SET id = '7' || id WHERE number = 4")
    rows = problems("strange")
    assert [row.get("id") for row in rows] == [5, None, None], rows
    assert "1 text is not in the library" in rows[-1]["detail"], rows
    problems("strange", "--repair")
    doppel("verify", "-L", "strange")


def test_a_damaged_row_is_mended():
    make("row")
    with sqlite3.connect(FOLDER / "row" / "catalogue.db") as database:
        database.execute("UPDATE text_vectors SET chunks = 9 WHERE number = 4")
    done = doppel("verify", "-L", "row", "--json", code=3)
    assert any(row["problem"] == "text_vectors" and row["id"] == 4 for row in lines_of(done))
    doppel("verify", "-L", "row", "--repair", code=3)
    doppel("verify", "-L", "row")
    assert is_found("row", 3, "t3")
    assert "known text" not in ingest("row", "--jsonl", "corpus.jsonl").stderr


def test_removed_texts_are_no_problem():
    folder = make("fewer")
    for i in range(1, 11):
        doppel("remove", "-L", "fewer", i)
    assert find("fewer", 3) == []
    doppel("verify", "-L", "fewer")
    ingest("fewer", "--jsonl", write_corpus("last.jsonl", [TEXTS - 1]))
    with sqlite3.connect(folder / "vectors.db") as database:
        (least,) = database.execute("SELECT min(CAST(id AS INTEGER)) FROM vector_id").fetchone()
    assert least == 11, least
    doppel("verify", "-L", "fewer")


def test_what_came_without_gets_its_vectors():
    write_corpus()
    doppel("ingest", "-L", "late", "--jsonl", "corpus.jsonl")
    files = [write(f"late{i}.txt", in_words(CHANCE.sample(range(MEANINGS), WORDS), "a"))
             for i in range(3)]  # fmt: skip
    copy = write("late-copy.txt", (FOLDER / files[0]).read_text())
    doppel("ingest", "-L", "late", *files)
    done = ingest("late", "--jsonl", "corpus.jsonl", "--json")
    assert f"{TEXTS} known texts got their vectors" in done.stderr, done.stderr
    assert all(row["replayed"] for row in lines_of(done))
    assert is_found("late", 12, "t12")
    # one by a copy of it, the others by themselves
    assert "1 known text got its vectors" in ingest("late", copy).stderr
    assert "2 known texts got their vectors" in ingest("late", *files).stderr
    assert "known text" not in ingest("late", copy, *files, "late.txt", code=3).stderr
    doppel("verify", "-L", "late")


def test_equal_texts_keep_their_meaning():
    meant = CHANCE.sample(range(MEANINGS), WORDS)
    text = in_words(meant, "a")
    MEANT.append(meant)
    ingest("equal", *[write(f"equal{i}.txt", text) for i in range(3)])
    rows = [{"id": f"e{i}", "text": in_words(MEANT[5], "a")} for i in range(3)]
    write("equal.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    ingest("equal", "--jsonl", "equal.jsonl")
    for i in range(3):
        assert find("equal", -1) == [str(FOLDER / f"equal{i}.txt")], i
        assert find("equal", 5) == [f"e{i}"], i
        doppel("remove", "-L", "equal", f"equal{i}.txt")
        doppel("remove", "-L", "equal", f"id:e{i}")
        doppel("verify", "-L", "equal")
    assert find("equal", -1) == find("equal", 5) == []


def test_too_short_a_text_gets_none():
    doppel("add", "-L", "short", write("short.txt", in_words(range(5), "a")))
    for _ in range(2):
        assert "known text" not in ingest("short", "short.txt").stderr


def test_a_check_keeps_nothing():
    write_corpus()
    doppel("ingest", "-L", "asked", "--jsonl", "corpus.jsonl")
    ingest("asked", write("other.txt", in_words(range(40, 60), "a")))
    doppel("check", "-L", "asked", *SEMANTIC, "--jsonl", "corpus.jsonl")
    assert find("asked", 5) == []


def test_a_changed_file_is_found_as_it_is_now():
    write("changes.txt", in_words(MEANT[1], "a"))
    ingest("changes", "changes.txt")
    write("changes.txt", in_words(MEANT[2], "a"))
    ingest("changes", "changes.txt")
    assert find("changes", 1) == [] and len(find("changes", 2)) == 1
    doppel("verify", "-L", "changes")


def test_a_killed_run_goes_on():
    rows = [{"id": f"k{i}", "text": in_words(CHANCE.sample(range(MEANINGS), WORDS), "a")}
            for i in range(3000)]  # fmt: skip
    write("killed.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    doppel("ingest", "-L", "killed", "--jsonl", "killed.jsonl")
    words = ["ingest", "-L", "killed", *SEMANTIC, "--jsonl", "killed.jsonl"]
    running = subprocess.Popen([BUILD / "doppel", *words], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, **WHERE)  # fmt: skip
    counted = 0
    while counted < 200 and running.poll() is None:
        time.sleep(0.01)
        with sqlite3.connect(FOLDER / "killed" / "catalogue.db") as database:
            (counted,) = database.execute("SELECT count(*) FROM text_vectors").fetchone()
    assert running.poll() is None, "it was too quick to be killed"
    running.send_signal(signal.SIGKILL)
    running.wait()
    doppel("verify", "-L", "killed")
    done = doppel(*words)
    known = int(done.stderr.split(" known texts")[0].split()[-1])
    assert 0 < known <= 2800, done.stderr
    assert "known text" not in doppel(*words).stderr
    doppel("verify", "-L", "killed")


def test_an_older_library_is_noted():
    folder = make("before")
    with sqlite3.connect(FOLDER / "before" / "catalogue.db") as database:
        database.executescript("DROP TABLE text_vectors; PRAGMA user_version = 14")
    assert is_found("before", 3, "t3")
    doppel("verify", "-L", "before")
    assert "known text" not in ingest("before", "--jsonl", "corpus.jsonl").stderr
    shutil.rmtree(folder)
    expect_loss("before", list(range(1, TEXTS + 1)))


def test_a_merge_takes_vectors_along():
    make("source")
    doppel("remove", "-L", "source", 4)
    write_corpus("own.jsonl", [0, 1, 2], "own")
    ingest("target", "--jsonl", "own.jsonl")  # so ids differ
    doppel("ingest", "-L", "target", "--jsonl", "corpus.jsonl")  # the others are there, without
    done = doppel("merge", "-L", "target", "source")
    assert f"semantic: {TEXTS - 4} texts brought their vectors" in done.stderr, done.stderr
    assert is_found("target", 9, "t9") and is_found("target", 1, "own1")
    doppel("verify", "-L", "target")
    assert "brought" not in doppel("merge", "-L", "target", "source").stderr
    doppel("merge", "-L", "made", "source")
    assert is_found("made", 9, "t9") and find("made", 3) == []
    doppel("verify", "-L", "made")
    assert "known text" not in ingest("made", "--jsonl", "own.jsonl").stderr


def test_vectors_of_another_model_stay_behind():
    make("these")
    doppel("ingest", "-L", "those", "--semantic", "--model", "other", "--min-cosine", "0.8",
           write("those.txt", in_words(range(100, 130), "a")))  # fmt: skip
    done = doppel("merge", "-L", "those", "these")
    for part in (f"{TEXTS} texts stay behind", "words", "other", "ingest --semantic"):
        assert part in done.stderr, (part, done.stderr)
    doppel("verify", "-L", "those")
    shutil.rmtree(FOLDER / "these" / "vectors")
    done = doppel("merge", "-L", "new", "these")
    assert f"{TEXTS} texts stay behind" in done.stderr and "lost" in done.stderr, done.stderr
    assert not (FOLDER / "new" / "vectors").exists()
    doppel("verify", "-L", "new")


def test_an_export_says_what_stays_behind():
    make("exported")
    done = doppel("export", "-L", "exported", "--output", "exported.jsonl")
    assert f"vectors of {TEXTS} texts are not exported" in done.stderr, done.stderr
    assert not doppel("import", "-L", "imported", "exported.jsonl").stderr.count("semantic")
    ingest("partly", write("partly.txt", in_words(range(100, 130), "a")))
    done = doppel("import", "-L", "partly", "exported.jsonl")
    assert f"{TEXTS} texts came without vectors" in done.stderr, done.stderr
    assert f"{TEXTS} known texts got" in ingest("partly", "--jsonl", "corpus.jsonl").stderr
    assert is_found("partly", 9, "t9")
    assert "vectors" not in doppel("export", "-L", "imported", "--output", "again.jsonl").stderr


def test_a_backup_without_vectors_is_refused():
    folder = make("whole")
    doppel("backup", "-L", "whole", "copy")
    doppel("verify", "-L", "copy")
    shutil.rmtree(folder)
    done = doppel("backup", "-L", "whole", "copy-of-less", code=2)
    assert "lost" in done.stderr and "verify --repair" in done.stderr, done.stderr
    shutil.copytree(FOLDER / "copy" / "vectors", folder)
    doppel("verify", "-L", "whole")
    assert is_found("whole", 9, "t9")


if __name__ == "__main__":
    write_model("words")
    write_model("other")
    sys.exit(tap.main(sys.modules[__name__]))
