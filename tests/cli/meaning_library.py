#!/usr/bin/env python3
"""A library's texts by their meaning: `ingest`, `check` and `find` with --semantic.

`meaning_library.py BUILD`
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
HELD = tempfile.TemporaryDirectory(prefix="doppel-meaning-library-")
FOLDER = pathlib.Path(HELD.name)
MODELS = str(FOLDER / "models")
CHANCE = random.Random(7)
# Meanings, with two words each that lie near each other.
MEANINGS, DIMENSION, TEXTS, WORDS = 500, 24, 1700, 20
LONG, PARAGRAPHS = 40, 10


def doppel(*words, code=0, models=MODELS, **options):
    done = subprocess.run(
        [BUILD / "doppel", *map(str, words)],
        capture_output=True,
        cwd=FOLDER,
        env=dict(os.environ, HOME=str(FOLDER), DOPPEL_MODELS=str(models)),
        text=True,
        **options,
    )
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def lines_of(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def spelled(number):
    return "".join("etaoinshrd"[int(digit)] for digit in str(number))


def write_model(path, seed):
    chance = random.Random(seed)
    with open(path, "w") as file:
        for meaning in range(MEANINGS):
            centre = [chance.gauss(0, 1) for _ in range(DIMENSION)]
            for word in "ab":
                own = [x + chance.gauss(0, 0.2) for x in centre]
                print(f"m{word}{spelled(meaning)}", *(f"{x:.4f}" for x in own), file=file)


def in_words(meanings, word):
    words = [f"m{word}{spelled(one)}" for one in meanings]
    CHANCE.shuffle(words)
    return " ".join(words)


def some_meanings():
    return [CHANCE.randrange(MEANINGS) for _ in range(WORDS)]


MEANT = [some_meanings() for _ in range(TEXTS)]
PASSAGES = [[CHANCE.sample(range(MEANINGS), 130) for _ in range(PARAGRAPHS)] for _ in range(LONG)]


def document(paragraphs, word="a"):
    return "\n\n".join(in_words(one, word) + "." for one in paragraphs)


def prepare():
    write_model(FOLDER / "words.txt", 1)
    write_model(FOLDER / "other.txt", 2)
    doppel("model", "add", "words.txt", "--name", "words")
    doppel("model", "add", "other.txt", "--name", "other")
    records = [{"id": f"t{i}", "text": in_words(one, "a")} for i, one in enumerate(MEANT)]
    records += [{"id": f"d{i}", "text": document(one)} for i, one in enumerate(PASSAGES)]
    (FOLDER / "corpus.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    done = doppel("ingest", "-L", "library", "--semantic", "--model", "words", "--jsonl",
                  "corpus.jsonl", "--json")  # fmt: skip
    decided = lines_of(done)
    assert [one["decision"] for one in decided] == ["new"] * len(records)
    # few are told, as chance has it that some are near
    assert sum("semantic" in one for one in decided) < 0.05 * len(records)


def find(path, *words, code=0):
    return lines_of(doppel("find", "-L", "library", "--semantic", "--model", "words", "--json",
                           path, *words, code=code))  # fmt: skip


def write(name, text):
    (FOLDER / name).write_text(text)
    return name


def test_a_text_in_other_words_is_found():
    found = 0
    for i in range(0, TEXTS, 60):
        rows = find(write("query.txt", in_words(MEANT[i], "b")))
        found += rows[0].get("record") == f"t{i}"
        for row in rows:
            assert row["relation"] == "semantic" and 0 < row["false_positive_rate"] <= 1e-5, row
            assert row["extent"] == "same" and "segments" not in row, row
    assert found >= 27, found


def test_scores_find_no_fewer():
    found = 0
    for i in range(0, TEXTS, 60):
        query = write("query.txt", in_words(MEANT[i], "b"))
        rows = find(query, "--scores", "--max-fp-rate", "1e-4")
        found += rows[0].get("record") == f"t{i}"
        levels = [row["cosine"] - row["score"] for row in rows]  # half of that of the query
        assert 0.1 < min(levels) and max(levels) - min(levels) < 2e-4, rows
        assert all(0 < row["false_positive_rate"] <= 1e-4 for row in rows), rows
        rates = [row["false_positive_rate"] for row in rows]
        assert rates == sorted(rates) and all("tier" in row for row in rows), rows
        by_cosine = find(query, "--max-fp-rate", "1e-4")
        assert not any("score" in row for row in by_cosine)
        assert by_cosine[0]["cosine"] == rows[0]["cosine"]
    assert found >= 28, found
    find(write("query.txt", in_words(some_meanings(), "b")), "--scores", code=1)


def test_scores_of_passages():
    mixed = [CHANCE.sample(range(MEANINGS), 130) for _ in range(PARAGRAPHS)]
    mixed[4] = PASSAGES[9][3]
    rows = find(write("query.txt", document(mixed, "b")), "--scores")
    row = next(row for row in rows if row["record"] == "d9")
    assert row["extent"] == "overlaps" and row["segments"], row
    assert row["score"] < row["cosine"] - 0.1, row


def test_decisions_by_scores():
    lines = "".join(json.dumps({"id": f"o{i}", "text": in_words(MEANT[i], "b")}) + "\n"
                    for i in range(30, 900, 60))  # fmt: skip
    done = doppel("check", "-L", "library", "--semantic", "--scores", "--json", "-", input=lines)
    links = [one["semantic"] for one in lines_of(done) if "semantic" in one]
    assert len(links) >= 14 and all(one["score"] < one["cosine"] - 0.1 for one in links), links
    for words in ((), ("--semantic", "--min-cosine", "0.9")):
        for verb in ("find", "check", "ingest", "groups", "scan"):
            done = doppel(verb, "--scores", *words, "kept.txt", code=2)
            assert "'--scores' goes with '--semantic'" in done.stderr, done.stderr


def test_an_unrelated_text_is_not():
    rows = find(write("query.txt", in_words(some_meanings(), "b")), code=1)
    assert rows == [{"query": "query.txt", "match": False}], rows
    rows = find(write("query.txt", "xyzzy " * 40), code=1)
    assert rows == [{"query": "query.txt", "match": False}], rows


def test_a_passage_of_a_long_text_is_found_where_it_stands():
    mixed = [CHANCE.sample(range(MEANINGS), 130) for _ in range(PARAGRAPHS)]
    mixed[4] = PASSAGES[7][3]
    text = document(mixed, "b")
    rows = find(write("query.txt", text))
    row = next(row for row in rows if row["record"] == "d7")
    assert row["extent"] == "overlaps" and row["query_coverage"] < 0.5, row
    segment = max(row["segments"], key=lambda one: one["cosine"])
    start = text.index(text.split("\n\n")[4])
    assert segment["a_start"] <= start + 60 and segment["a_end"] >= start + 300, (segment, start)


def test_what_words_tell_is_not_told_twice():
    doppel("ingest", "-L", "library", "--semantic", "--model", "words", write("kept.txt", (
        "the same text of more than ten words, which is in the library as a file by itself")))
    rows = find("kept.txt")
    assert [row["relation"] for row in rows] == ["same"], rows


def test_check_keeps_nothing():
    words = in_words(some_meanings(), "a")
    query = write("query.txt", words)
    for _ in range(2):
        decided = lines_of(doppel("check", "-L", "library", "--semantic", "--model", "words",
                                  "--json", query, code=1))  # fmt: skip
        assert decided[0]["decision"] == "new" and "semantic" not in decided[0], decided
    other = write("other-words.txt", in_words(MEANT[60], "b"))
    decided = lines_of(doppel("check", "-L", "library", "--semantic", "--model", "words", "--json",
                              other))  # fmt: skip
    assert decided[0]["decision"] == "new", decided
    assert decided[0]["semantic"]["of"] == "t60", decided


def test_help_has_it():
    for verb in "find", "check", "ingest", "dedup", "tune", "scan", "groups":
        assert "  --semantic " in doppel(verb, "--help").stdout, verb


def test_what_was_removed_is_not_found():
    query = write("query.txt", in_words(MEANT[120], "b"))
    row = find(query)[0]
    assert row["record"] == "t120", row
    doppel("remove", "-L", "library", row["id"])
    assert all(row.get("record") != "t120" for row in find(query, code=1))


def test_a_stream_finds_what_came_before_in_it():
    meant = some_meanings()
    lines = [{"id": "s1", "text": in_words(meant, "a")}, {"id": "s2", "text": in_words(meant, "b")}]
    done = doppel("ingest", "-L", "library", "--semantic", "--model", "words", "--json", "-",
                  input="".join(json.dumps(one) + "\n" for one in lines))  # fmt: skip
    first, second = lines_of(done)
    assert first["decision"] == second["decision"] == "new"
    assert second["semantic"]["of"] == "s1" and second["semantic"]["item"] == first["item"], second


def test_vectors_of_two_models_do_not_meet():
    for verb in ("find", "check", "ingest"):
        done = doppel(verb, "-L", "library", "--semantic", "--model", "other", "kept.txt", code=2)
        assert "words" in done.stderr and "other" in done.stderr, done.stderr


def test_a_library_knows_its_model():
    query = write("query.txt", in_words(MEANT[180], "b"))
    assert find_in("library", "--semantic", "--json", query)[0] == "t180"
    for verb in "check", "ingest":
        done = doppel(verb, "-L", "library", "--semantic", "--json", "kept.txt")
        assert lines_of(done)[0]["decision"] == "duplicate", done.stdout
    done = doppel("ingest", "-L", "fresh", "--semantic", "kept.txt", code=2)
    assert "say which with --model" in done.stderr, done.stderr
    models = FOLDER / "models-of-others"
    for seed in 3, 4:
        write_model(FOLDER / "another.txt", seed)
        doppel("model", "add", "another.txt", "--name", f"m{seed}", models=models)
    done = doppel("find", "-L", "library", "--semantic", query, models=models, code=2)
    assert "of the model 'words', and none of the 2" in done.stderr, done.stderr


def test_a_library_without_vectors_says_so():
    doppel("add", "-L", "plain", write("plain.txt", in_words(MEANT[0], "a")))
    done = doppel("find", "-L", "plain", "--semantic", "--model", "words", "plain.txt", code=2)
    assert "ingest --semantic" in done.stderr, done.stderr
    words = ("-L", "plain", "--semantic", "--model", "words")
    done = doppel("ingest", *words, write("one.txt", in_words(MEANT[1], "a")))
    query = write("query.txt", in_words(MEANT[1], "b"))
    done = doppel("find", *words, query, code=1)
    assert "too few to tell" in done.stderr and "1415" in done.stderr, done.stderr
    for verb in "find", "check", "ingest":
        done = doppel(verb, *words, "-q", "one.txt")
        assert "too few to tell" in done.stderr, (verb, done.stderr)
    rows = lines_of(doppel("find", *words, "--min-cosine", "0.8", "--json", query))
    assert rows[0]["path"].endswith("one.txt") and rows[0]["cosine"] > 0.8, rows
    assert "false_positive_rate" not in rows[0], rows  # of one text nothing can be told


def test_thresholds_are_tuned_by_meaning():
    labels = []
    for i in range(12):
        meant = some_meanings()
        labels.append((write(f"a{i}.txt", in_words(meant, "a")),
                       write(f"b{i}.txt", in_words(meant, "b")), 1))  # fmt: skip
    labels += [(f"a{i}.txt", f"b{(i + 5) % 12}.txt", 0) for i in range(12)]
    write("labels.csv", "".join(",".join(map(str, label)) + "\n" for label in labels))
    done = doppel("tune", "--semantic", "--model", "words", "--json", "labels.csv")
    rows = lines_of(done)
    assert all(row["scheme"] == "vector" and "min_cosine" in row["limit"] for row in rows), rows
    best = next(row for row in rows if row["recommended"])
    assert best["caught"] == 12 and best["false"] == 0, best
    wanted = f"--min-cosine {best['limit']['min_cosine']:.2f}"
    assert wanted in done.stderr, done.stderr
    plain = lines_of(doppel("tune", "--json", "labels.csv"))
    assert not any(row["recommended"] for row in plain) and plain[0]["scheme"] == "minhash128"


def test_a_rate_is_tuned_by_a_library():
    labels = [(f"a{i}.txt", f"b{(i + shift) % 12}.txt", int(not shift))
              for i in range(12) for shift in (0, 5)]  # fmt: skip
    for i in range(12):
        meant = some_meanings()
        write(f"a{i}.txt", in_words(meant, "a"))
        write(f"b{i}.txt", in_words(meant, "b"))
    write("rates.csv", "".join(",".join(map(str, label)) + "\n" for label in labels))
    for words in (), ("--scores",):
        done = doppel("tune", "-L", "library", "--semantic", *words, "--json", "rates.csv")
        rows = lines_of(done)
        assert all(list(row["limit"]) == ["max_fp_rate"] for row in rows), rows
        best = next(row for row in rows if row["recommended"])
        assert best["caught"] == 12 and best["false"] == 0, best
        rate = best["limit"]["max_fp_rate"]
        assert 1e-6 < rate < 0.1 and f"--max-fp-rate {rate:.1e}" in done.stderr, done.stderr
    for words, reason in ((("-L", "library"), "goes with '--semantic'"),
                          (("--semantic", "--scores"), "goes with '--library'")):  # fmt: skip
        assert reason in doppel("tune", *words, "rates.csv", code=2).stderr
    doppel("ingest", "-L", "rates", "--semantic", "--model", "words", "-q", "a0.txt")
    done = doppel("tune", "-L", "rates", "--semantic", "--json", "rates.csv")
    assert "too few to tell" in done.stderr and "no threshold" in done.stderr, done.stderr


def test_writers_take_turns():
    texts = [[in_words(some_meanings(), "a") for _ in range(150)] for _ in range(3)]
    running = []
    for number, own in enumerate(texts):
        lines = [json.dumps({"id": f"p{number}-{i}", "text": text}) for i, text in enumerate(own)]
        write(f"turns{number}.jsonl", "\n".join(lines) + "\n")
        running.append(subprocess.Popen(
            [BUILD / "doppel", "ingest", "-L", "turns", "--semantic", "--model", "words",
             "--min-cosine", "0.9", "--jsonl", f"turns{number}.jsonl"],
            cwd=FOLDER, env=dict(os.environ, HOME=str(FOLDER), DOPPEL_MODELS=MODELS),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))  # fmt: skip
    for one in running:
        out, err = one.communicate()
        assert one.returncode == 0 and not err, err
        assert out.count('"decision":"new"') == 150, out
    for number, own in enumerate(texts):
        for i in (0, 77, 149):
            words = own[i].replace("ma", "mb")
            found = find_in("turns", "--semantic", "--model", "words", "--json",
                            "--min-cosine", "0.8", write("query.txt", words))  # fmt: skip
            assert found[0] == f"p{number}-{i}", (number, i, found)


def test_vectors_go_with_the_library():
    doppel("backup", "-L", "turns", "turns-copy")
    texts = json.loads((FOLDER / "turns0.jsonl").read_text().splitlines()[5])["text"]
    query = write("query.txt", texts.replace("ma", "mb"))
    words = ("--semantic", "--model", "words", "--json", "--min-cosine", "0.8", query)
    assert find_in("turns", *words) == find_in("turns-copy", *words)
    doppel("verify", "-L", "turns-copy")
    doppel("index", "compact", "library/vectors")
    segment = next((FOLDER / "library" / "vectors").glob("*.segment"))
    content = bytearray(segment.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 100] = bytes(100)
    segment.write_bytes(content)
    done = doppel("verify", "-L", "library", "--json", code=3)
    problem = lines_of(done)[0]
    assert problem["problem"] == "vectors" and problem["path"].endswith(".segment"), problem
    doppel("verify", "-L", "library", "--repair", code=3)
    doppel("verify", "-L", "library")


def find_in(library, *words):
    return [row["record"] for row in lines_of(doppel("find", "-L", library, *words))]


def test_a_cosine_without_a_stage_is_refused():
    for verb in ("find", "check", "ingest", "dedup"):
        done = doppel(verb, "--min-cosine", "0.9", "corpus.jsonl", code=2)
        assert "'--min-cosine' goes with '--semantic'" in done.stderr, done.stderr
        done = doppel(verb, "--semantic", "--min-cosine", "2", "corpus.jsonl", code=2)
        assert "a cosine from 0 to 1" in done.stderr, done.stderr


def test_damage_is_told():
    doppel("ingest", "-L", "damaged", "--semantic", "--model", "words", "kept.txt")
    (FOLDER / "damaged" / "vectors" / "vectors.db").write_bytes(b"no database" * 100)
    done = doppel("find", "-L", "damaged", "--semantic", "--model", "words", "kept.txt", code=2)
    assert "vectors.db" in done.stderr, done.stderr


if __name__ == "__main__":
    prepare()
    sys.exit(tap.main(sys.modules[__name__]))
