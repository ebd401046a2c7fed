#!/usr/bin/env python3
"""Texts that mean the same, linked all with all: `groups` and `scan` with --semantic.

`meaning_groups.py BUILD`
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
HELD = tempfile.TemporaryDirectory(prefix="doppel-meaning-groups-")
FOLDER = pathlib.Path(HELD.name)
MODELS = str(FOLDER / "models")
CHANCE = random.Random(11)
# Meanings, with three words each that lie near each other.
MEANINGS, DIMENSION, TEXTS, WORDS = 500, 24, 1500, 20
AGAIN = range(0, TEXTS, 100)  # in other words, once or twice
LIBRARY = ("-L", "library", "--semantic")


def doppel(*words, code=0, models=MODELS, folder="."):
    done = subprocess.run(
        [BUILD / "doppel", *map(str, words)],
        capture_output=True,
        cwd=FOLDER / folder,
        env=dict(os.environ, HOME=str(FOLDER), DOPPEL_MODELS=str(models)),
        text=True,
    )
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def lines_of(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def spelled(number):
    return "".join("etaoinshrd"[int(digit)] for digit in str(number))


def write_model(path):
    chance = random.Random(1)
    with open(path, "w") as file:
        for meaning in range(MEANINGS):
            centre = [chance.gauss(0, 1) for _ in range(DIMENSION)]
            for word in "abc":
                own = [x + chance.gauss(0, 0.2) for x in centre]
                print(f"m{word}{spelled(meaning)}", *(f"{x:.4f}" for x in own), file=file)


def in_words(meanings, word):
    words = [f"m{word}{spelled(one)}" for one in meanings]
    CHANCE.shuffle(words)
    return " ".join(words)


def write(name, text):
    path = FOLDER / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return name


MEANT = [[CHANCE.randrange(MEANINGS) for _ in range(WORDS)] for _ in range(TEXTS)]


def prepare():
    write_model(FOLDER / "words.txt")
    doppel("model", "add", "words.txt", "--name", "words")
    texts = {f"t{i}": in_words(one, "a") for i, one in enumerate(MEANT)}
    texts |= {f"b{i}": in_words(MEANT[i], "b") for i in AGAIN}
    texts |= {f"c{i}": in_words(MEANT[i], "c") for i in AGAIN[::2]}
    lines = [json.dumps({"id": key, "text": text}) for key, text in texts.items()]
    lines.append(json.dumps({"id": "copy", "text": texts["b0"]}))  # of the same words
    write("corpus.jsonl", "\n".join(lines) + "\n")
    doppel("ingest", *LIBRARY, "--jsonl", "corpus.jsonl")
    write("long/page.txt", document(["b", "b", "b", "b", "b", "b"]))
    write("long/other.txt", document(["a", None, None, "a", None, None]))
    doppel("ingest", *LIBRARY, "long/page.txt", "long/other.txt")


PASSAGES = [CHANCE.sample(range(MEANINGS), 130) for _ in range(6)]


def document(words):
    return "\n\n".join(
        in_words(PASSAGES[i] if word else CHANCE.sample(range(MEANINGS), 130), word or "a") + "."
        for i, word in enumerate(words)
    )


def links_of(*words, verb="groups"):
    rows = lines_of(doppel(verb, *LIBRARY, "--json", *words))
    first = sum("group" in row for row in rows)
    assert all("group" in row for row in rows[:first]), "groups come first"
    return [row for row in rows if "group" not in row]


def family(name):
    return int(name[1:])


def test_groups_come_first_and_then_links():
    rows = lines_of(doppel("groups", *LIBRARY, "--json"))
    assert rows[0]["group"] == 1 and [one["reason"] for one in rows[0]["members"]] == [
        "kept", "same-content"]  # fmt: skip
    links = rows[1:]
    assert len(links) >= 12, len(links)
    seen = set()
    for row in links:
        link = row["semantic"]
        assert family(row["record"]) == family(link["of"]) and link["item"] < row["id"], row
        assert "keep" not in row and "members" not in row and row["kind"] == "text", row
        assert link["relation"] == "semantic" and link["cosine"] > 0.9, row
        assert 0 < link["false_positive_rate"] <= 1e-5 and link["tier"] == "very-similar", row
        assert link["extent"] == "same" and "segments" not in link, row
        assert row["id"] not in seen, row
        seen.add(row["id"])
        assert (row["record"] == "b0") == ("in_group" in row), row
    assert not any(row["semantic"]["item"] in seen for row in links), "a chain"
    assert not any(row["record"] == "copy" for row in links)


def test_a_link_is_what_find_says():
    for row in links_of()[:5]:
        key = row["record"]
        text = next(json.loads(line)["text"] for line in CORPUS if json.loads(line)["id"] == key)
        found = lines_of(doppel("find", *LIBRARY, "--model", "words", "--json",
                                write("query.txt", text)))  # fmt: skip
        of = next(one for one in found if one["id"] == row["semantic"]["item"])
        assert of["cosine"] == row["semantic"]["cosine"], (of, row)
        assert of["false_positive_rate"] == row["semantic"]["false_positive_rate"], (of, row)


def test_passages_of_long_texts_are_linked():
    links = links_of("--min-cosine", "0.9")
    row = next(row for row in links if row.get("path", "").endswith("other.txt"))
    link = row["semantic"]
    assert link["of_path"].endswith("page.txt") and link["extent"] == "overlaps", row
    assert link["segments"] and link["query_coverage"] < 0.5, row


def test_people_read_what_it_is():
    done = doppel("groups", *LIBRARY)
    head, table = done.stdout.split("Texts that mean the same in other words; nothing is done ")
    assert "same-content" in head and "very-similar" not in head, head
    row = next(line for line in table.splitlines() if "b0" in line)
    assert "(in group 1)" in row and "very-similar" in row and "t0" in row, row
    assert "1525 texts have vectors" in done.stderr, done.stderr
    plain = doppel("groups", "-L", "library")
    assert plain.stdout == head[: len(plain.stdout)] and "other words" not in plain.stdout


def test_it_is_never_acted_on():
    for words in (["--action", "script"], ["-0"], ["--format", "csv"], ["--kind", "image"]):
        done = doppel("groups", *LIBRARY, *words, code=2)
        assert words[0] in done.stderr and "--semantic" in done.stderr, done.stderr


def test_no_model_is_needed():
    done = doppel("groups", *LIBRARY, "--json", models=FOLDER / "nowhere")
    assert '"semantic"' in done.stdout
    assert "--model" in doppel("groups", *LIBRARY, "--model", "words", code=2).stderr


def test_few_texts_and_none():
    few = ("-L", "few", "--semantic")
    for name, word in (("one.txt", "a"), ("two.txt", "b")):
        doppel("ingest", *few, write(name, in_words(MEANT[3], word)))
    done = doppel("groups", *few, "--json")
    assert done.stdout == "" and "too few to tell" in done.stderr, done
    row = lines_of(doppel("groups", *few, "--json", "--min-cosine", "0.9"))[0]
    assert row["path"].endswith("two.txt") and row["semantic"]["of_path"].endswith("one.txt"), row
    assert "tier" not in row["semantic"] and "false_positive_rate" not in row["semantic"], row
    doppel("add", "-L", "plain", "one.txt")
    assert "ingest --semantic" in doppel("groups", "-L", "plain", "--semantic", code=2).stderr
    assert "'--min-cosine' goes with '--semantic'" in doppel(
        "groups", "-L", "few", "--min-cosine", "0.9", code=2).stderr  # fmt: skip


def test_what_is_distinct_or_gone_is_not_linked():
    first, last = (lambda links: (links[0], links[-1]))(links_of())
    doppel("mark", "-L", "library", first["id"], first["semantic"]["item"], "--distinct")
    doppel("remove", "-L", "library", last["semantic"]["item"])
    for row in links_of():
        pair = (row["id"], row["semantic"]["item"])
        assert pair != (first["id"], first["semantic"]["item"]), row
        assert last["semantic"]["item"] not in pair, row


def test_links_by_scores():
    plain, links = links_of(), links_of("--scores")
    assert len(links) >= 16 and len(links) > len(plain), (plain, links)
    for row in links:
        link = row["semantic"]
        assert family(row["record"]) == family(link["of"]), row
        assert link["score"] < link["cosine"] - 0.1 and link["false_positive_rate"] <= 1e-5, row
    said = doppel("groups", *LIBRARY, "--scores").stderr
    assert "at a score of 0." in said, said


# ---- files ----


def scan(*words, code=0):
    return doppel("scan", "--semantic", *words, code=code)


def prepare_files():
    for i, one in enumerate(MEANT):
        write(f"files/t{i:04}.txt", in_words(one, "a"))
    for i in AGAIN:
        write(f"files/z{i:04}.txt", in_words(MEANT[i], "b"))
    text = (FOLDER / "files" / "z0000.txt").read_text()
    write("files/z0000-copy.txt", text)
    write("files/z0000-near.txt", text + " and")


def test_files_are_linked_without_a_library():
    prepare_files()
    done = scan("files", "--json")
    rows = lines_of(done)
    first = sum("group" in row for row in rows)
    assert first == 1 and len(rows[0]["members"]) == 3, rows[0]
    links = rows[first:]
    right = 0
    for row in links:
        link = row["semantic"]
        right += row["path"][7:11] == link["of_path"][7:11] and link["of_path"][6] == "t"
        assert "id" not in row and "item" not in link and "keep" not in row, row
        assert link["relation"] == "semantic" and link["extent"] == "same", row
        assert 0 < link["false_positive_rate"] <= 1e-5, row
    assert right >= 12 and len(links) <= right + 5, (right, links)
    kept = next(row for row in links if row["path"][7:11] == "0000")
    assert kept["in_group"] == 1 and kept["path"] == rows[0]["keep"], kept
    assert "1515 texts have vectors, of 1515 passages; 2 more needed not be" in done.stderr
    table = scan("files").stdout.split("Texts that mean the same")[1]
    assert kept["path"] + " (in group 1)" in table, table
    assert scan("files", "--json").stdout == done.stdout


def test_files_are_linked_by_scores():
    done = scan("files", "--scores", "--json", "--save", "scores.scan")
    links = [row for row in lines_of(done) if "group" not in row]
    right = sum(row["path"][7:11] == row["semantic"]["of_path"][7:11] for row in links)
    assert right >= 14 and len(links) <= right + 5, (right, links)
    assert all(row["semantic"]["score"] < row["semantic"]["cosine"] - 0.1 for row in links), links
    assert "at a score of 0." in done.stderr, done.stderr
    assert doppel("scan", "scores.scan", "--json").stdout == done.stdout


def test_scan_without_what_it_needs():
    assert "doppel model add" in doppel("scan", "--semantic", "files", code=2,
                                        models=FOLDER / "nowhere").stderr  # fmt: skip
    assert "absent" in scan("files", "--model", "absent", code=2).stderr
    done = scan("few.txt", "one.txt", "two.txt", "--json", code=3)  # the first is not there
    assert "too few to tell" in done.stderr, done.stderr
    for words in (["--action", "script"], ["-0"], ["--format", "csv"], ["--kind", "audio"],
                  ["--not-within"], ["--cross-folder", "two.txt"]):  # fmt: skip
        assert words[0] in scan("one.txt", *words, code=2).stderr
    done = scan("one.txt")  # by itself
    assert "semantic" not in done.stderr and "means the same" not in done.stdout, done


def test_files_that_lie_deep():
    os.makedirs(FOLDER / "deep")
    here = os.open(FOLDER / "deep", os.O_RDONLY)
    for _ in range(20):  # beyond what one call of the kernel can say
        os.mkdir("d" * 240, dir_fd=here)
        here = os.open("d" * 240, os.O_RDONLY, dir_fd=here)
    for name, word in (("a.txt", "a"), ("b.txt", "b")):
        with open(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=here), "w") as file:
            file.write(in_words(MEANT[6], word))
    row = lines_of(scan("deep", "--min-cosine", "0.9", "--json"))[0]
    assert row["path"].endswith("d/b.txt") and len(row["path"]) > 4096, row


def test_references_and_saved_scans():
    for name, word in (("old/a.txt", "a"), ("old/b.txt", "b"), ("new/c.txt", "c")):
        write(name, in_words(MEANT[5], word))
    rows = lines_of(scan("--min-cosine", "0.9", "--reference", "old", "new", "--json"))
    assert [row["path"] for row in rows] == ["new/c.txt"], rows
    done = scan("--min-cosine", "0.9", "old", "new", "--json", "--save", "saved.scan")
    assert len(lines_of(done)) == 2, done.stdout
    assert "'--semantic' is for the scan" in scan("saved.scan", code=2).stderr
    assert doppel("scan", "saved.scan", "--json").stdout == done.stdout
    table = doppel("scan", "saved.scan").stdout
    assert "Texts that mean the same in other words" in table and "new/c.txt" in table, table
    for words in (["--format", "csv"], ["-0"], ["--kind", "image"], ["--action", "script"]):
        assert "new/c.txt" not in doppel("scan", "saved.scan", *words).stdout, words
    there = doppel("scan", "../saved.scan", "--json", folder="old").stdout
    assert json.loads(there.splitlines()[0])["path"].startswith("/"), there
    doppel("report", "saved.scan", "-o", "saved.html")
    page = (FOLDER / "saved.html").read_text()
    assert page.count('"link-looks-') == 2 and '"links":[{"kind":"text"' in page
    write("new/c.txt", "changed meanwhile")
    done = doppel("scan", "saved.scan", "--json")
    assert "1 of its texts of the same meaning is left out" in done.stderr, done.stderr
    assert len(lines_of(done)) == 1, done.stdout


def test_a_scan_is_saved_when_nothing_can_be_linked():
    scan("one.txt", "--save", "alone.scan")
    done = scan("few.txt", "one.txt", "--save", "too-few.scan", code=3)
    for name in ("alone.scan", "too-few.scan"):
        assert json.loads((FOLDER / name).read_text().splitlines()[-1])["links"] == 0, done


if __name__ == "__main__":
    prepare()
    CORPUS = (FOLDER / "corpus.jsonl").read_text().splitlines()
    sys.exit(tap.main(sys.modules[__name__]))
