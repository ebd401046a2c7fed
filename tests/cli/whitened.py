#!/usr/bin/env python3
"""Whitened models: `doppel model whiten`, and every verb by what it makes.

`whitened.py BUILD`
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "house"), str(TESTS / "embed")]
import tap  # noqa: E402
from embedding_server import Server, packed, vector  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
HELD = tempfile.TemporaryDirectory(prefix="doppel-whitened-")
FOLDER = pathlib.Path(HELD.name)
CHANCE = random.Random(11)
# Meanings, with two words each that lie near each other; all vectors have much in common.
MEANINGS, DIMENSION, TEXTS, WORDS, ASKED = 400, 48, 1500, 20, 20


def run_doppel(words, **options):
    return subprocess.run(
        [BUILD / "doppel", *map(str, words)],
        capture_output=True,
        cwd=FOLDER,
        env=dict(os.environ, HOME=str(FOLDER), DOPPEL_MODELS=str(FOLDER / "models"),
                 XDG_CACHE_HOME=str(FOLDER / "cache")),
        text=True,
        timeout=120,
        **options,
    )  # fmt: skip


def doppel(*words, code=0, **options):
    done = run_doppel(words, **options)
    assert done.returncode == code, (words, done.returncode, done.stdout[:2000], done.stderr)
    return done


def lines_of(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def spelled(number):
    return "".join("etaoinshrd"[int(digit)] for digit in str(number))


def write_model(path, seed):
    """The first numbers of all words are alike, and vary much: they say nothing."""
    chance = random.Random(seed)
    with open(path, "w") as file:
        for meaning in range(MEANINGS):
            centre = [chance.gauss(0, 1) for _ in range(DIMENSION)]
            for word in "ab":
                own = [x + chance.gauss(0, 0.15) for x in centre]
                own[:3] = [4 + 6 * chance.gauss(0, 1) for _ in range(3)]
                print(f"m{word}{spelled(meaning)}", *(f"{x:.4f}" for x in own), file=file)


def in_words(meanings, word):
    words = [f"m{word}{spelled(one)}" for one in meanings]
    CHANCE.shuffle(words)
    return " ".join(words)


def some_meanings():
    return [CHANCE.randrange(MEANINGS) for _ in range(WORDS)]


def write(name, text):
    (FOLDER / name).write_text(text)
    return name


def write_records(name, texts, field="text"):
    write(name, "".join(json.dumps({"id": f"t{i}", field: t}) + "\n" for i, t in enumerate(texts)))


MEANT = [some_meanings() for _ in range(TEXTS)]


def prepare():
    write_model(FOLDER / "words.txt", 1)
    doppel("model", "add", "words.txt", "--name", "words")
    write_records("corpus.jsonl", [in_words(one, "a") for one in MEANT])
    write_records("learn.jsonl", [in_words(some_meanings(), "a") for _ in range(TEXTS)], "body")


def model_of(name):
    return next(one for one in lines_of(doppel("model", "list", "--json")) if one["name"] == name)


def test_a_model_is_learned_from_records():
    done = doppel("model", "whiten", "words", "--as", "white", "--text-field", "body",
                  "learn.jsonl", "--json")  # fmt: skip
    made = lines_of(done)[0]
    assert made["tokens"] == "whitened" and made["base"] == "words", made
    assert made["learned_from"] == TEXTS and made["dimension"] == DIMENSION, made
    assert not made["of_service"] and "vocabulary" not in made, made
    assert made == model_of("white")
    assert made["revision"] != model_of("words")["revision"]
    again = doppel("model", "whiten", "words", "--as", "white", "--text-field", "body",
                   "learn.jsonl", "--json")  # fmt: skip
    assert lines_of(again) == [made]


def found_by(model, library):
    """Of some paraphrases, how many are found first."""
    right = 0
    for i in range(0, TEXTS, TEXTS // ASKED):
        query = write("query.txt", in_words(MEANT[i], "b"))
        words = ("find", "-L", library, "--semantic", "--model", model, "--json", query)
        done = run_doppel(words)
        rows = lines_of(done)
        right += rows[0].get("record") == f"t{i}"
    return right


def test_a_library_finds_more_by_it():
    for library, model in (("raw", "words"), ("whitened", "white")):
        doppel("ingest", "-L", library, "--semantic", "--model", model, "--jsonl", "corpus.jsonl")
    raw, white = found_by("words", "raw"), found_by("white", "whitened")
    assert white >= ASKED - 1 and raw < white / 2, (raw, white)
    query = write("query.txt", in_words(MEANT[3], "b"))
    row = lines_of(doppel("find", "-L", "whitened", "--semantic", "--json", query))[0]
    assert row["record"] == "t3", row  # by the library's model, which need not be named
    other = write("other.txt", in_words(MEANT[4], "b"))
    decided = lines_of(doppel("check", "-L", "whitened", "--semantic", "--json", other))[0]
    assert decided["decision"] == "new" and decided["semantic"]["of"] == "t4", decided
    write_records("more.jsonl", [in_words(MEANT[5], "b")])
    text = (FOLDER / "more.jsonl").read_text().replace("t0", "new")
    doppel("ingest", "-L", "whitened", "--semantic", "--jsonl", "-", input=text)
    done = doppel("groups", "-L", "whitened", "--semantic", "--json")
    pairs = [one for one in lines_of(done) if "semantic" in one]
    assert any(one["record"] == "new" and one["semantic"]["of"] == "t5" for one in pairs), pairs


def test_vectors_of_base_and_whitening_do_not_meet():
    for library, model in (("raw", "white"), ("whitened", "words")):
        for verb in "find", "check", "ingest":
            done = doppel(verb, "-L", library, "--semantic", "--model", model, "query.txt", code=2)
            assert "never compared" in done.stderr, done.stderr
            assert "'doppel verify --repair'" in done.stderr, done.stderr


def test_a_library_takes_another_model_as_it_is_told():
    doppel("ingest", "-L", "turned", "--semantic", "--model", "words", "--jsonl", "corpus.jsonl")
    for path in sorted((FOLDER / "turned" / "vectors").glob("*")):
        path.unlink()
    (FOLDER / "turned" / "vectors").rmdir()
    doppel("verify", "-L", "turned", "--repair", code=3)
    doppel("ingest", "-L", "turned", "--semantic", "--model", "white", "--jsonl", "corpus.jsonl")
    assert found_by("white", "turned") >= ASKED - 1


def linked(*words):
    decided = lines_of(doppel("dedup", "--semantic", "--max-fp-rate", "0.0001", *words))
    return {one["id"]: one["semantic"] for one in decided if "semantic" in one}


def test_dedup_and_scan_whiten_once():
    texts = [in_words(one, "a") for one in MEANT] + [in_words(one, "b") for one in MEANT[:40]]
    write_records("both.jsonl", texts)
    plain = linked("--model", "words", "both.jsonl")
    learned = doppel("model", "whiten", "words", "--as", "both", "both.jsonl", "--json")
    assert lines_of(learned)[0]["learned_from"] == len(texts)
    whitened = linked("--model", "both", "both.jsonl")
    # learned from the same texts, it is what dedup does in memory
    originals = [{i: one["of"] for i, one in found.items()} for found in (plain, whitened)]
    assert originals[0] == originals[1], originals
    assert len(whitened) >= 38, len(whitened)
    for i, one in plain.items():
        assert abs(one["cosine"] - whitened[i]["cosine"]) < 1e-3, (one, whitened[i])
    folder = FOLDER / "texts"
    folder.mkdir()
    for i, text in enumerate(texts):
        (folder / f"{i:04}.txt").write_text(text)
    scanned = [lines_of(doppel("scan", "--semantic", "--max-fp-rate", "0.0001", "--model", model,
                               "--json", "texts")) for model in ("words", "both")]  # fmt: skip
    pairs = [{one["path"]: one["semantic"] for one in rows if "semantic" in one}
             for rows in scanned]  # fmt: skip
    assert pairs[0].keys() == pairs[1].keys() and len(pairs[0]) >= 38, pairs
    for path, one in pairs[0].items():
        assert abs(one["cosine"] - pairs[1][path]["cosine"]) < 1e-3, (one, pairs[1][path])


def test_texts_of_a_folder_and_records_teach_the_same():
    made = lines_of(doppel("model", "whiten", "words", "--as", "of-files", "texts", "--json"))[0]
    assert made["learned_from"] == TEXTS + 40, made
    made = lines_of(doppel("model", "whiten", "words", "--as", "of-both", "texts", "corpus.jsonl",
                           "learn.jsonl", "--json", code=3))  # fmt: skip
    assert made[0]["learned_from"] == 2 * TEXTS + 40, made  # learn.jsonl has its texts elsewhere
    doppel("model", "remove", "of-files", "of-both")


def test_a_model_is_learned_from_a_library():
    done = doppel("model", "whiten", "words", "--as", "mine", "-L", "raw", "--json")
    made = lines_of(done)[0]
    assert made["learned_from"] == TEXTS, made
    doppel("ingest", "-L", "fresh", "--semantic", "--model", "mine", "--jsonl", "corpus.jsonl")
    assert found_by("mine", "fresh") >= ASKED - 1
    for library, said in (("whitened", "never compared"), ("empty", "no library here")):
        done = doppel("model", "whiten", "words", "--as", "no", "-L", library, code=2)
        assert said in done.stderr, done.stderr
    doppel("add", "-L", "plain", write("plain.txt", in_words(MEANT[0], "a")))
    done = doppel("model", "whiten", "words", "--as", "no", "-L", "plain", code=2)
    assert "give texts to learn from" in done.stderr, done.stderr


def test_what_is_wrong_is_told():
    few = write("few.txt", in_words(MEANT[0], "a"))
    cases = {
        ("words", few): "wants the name of what it makes",
        ("words", "--as", "no", few): "too few to whiten",
        ("words", "--as", "a/b", few): "is no name of a model",
        ("white", "--as", "no", few): "are whitened already",
        ("words", "--as", "white", "corpus.jsonl"): "there is another model 'white'",
        ("words", "--as", "no", "-L", "raw", few): "not both",
    }
    for words, said in cases.items():
        done = doppel("model", "whiten", *words, code=2)
        assert said in done.stderr and not done.stdout, (words, done.stderr)
    done = doppel("model", "whiten", "nothing", "--as", "no", few, code=3)
    assert "there is no such model" in done.stderr, done.stderr
    done = doppel("dedup", "--semantic", "--model", "white", "--embeddings", "http://127.0.0.1:1",
                  "corpus.jsonl", code=2)  # fmt: skip
    assert "no service has it" in done.stderr, done.stderr
    models = FOLDER / "models"
    (models / "words.model").rename(models / "hidden")
    done = doppel("dedup", "--semantic", "--model", "white", "corpus.jsonl", code=2)
    assert "add that one again with 'doppel model add'" in done.stderr, done.stderr
    (models / "hidden").rename(models / "words.model")
    whole = (models / "white.model").read_bytes()
    (models / "white.model").write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    done = doppel("dedup", "--semantic", "--model", "white", "corpus.jsonl", code=2)
    assert "make it again with 'doppel model whiten'" in done.stderr, done.stderr
    done = doppel("model", "list", code=3)
    assert "white.model: is damaged" in done.stderr, done.stderr
    doppel("model", "remove", "white")


# ---- a service ----


def text_of(topic, words):
    chance = random.Random(f"{topic} {words}")
    return f"topic {topic} " + " ".join(
        "".join(chance.choices("abcdefghijklmnop", k=7)) for _ in range(45)
    )


def meanings(salt=""):
    """By the topic, with much in common."""

    def answer(call):
        out = []
        for i, text in enumerate(call.texts):
            topic = " ".join(text.split()[:2])
            whole, own = vector(topic, 8, salt), vector(text, 8)
            near = [x + 0.01 * y for x, y in zip(whole, own)]
            near[0] += 6
            out.append({"index": i, "embedding": packed(near)})
        call.answer(out)

    return answer


def test_a_model_of_a_service_is_whitened():
    server = Server()
    server.behave(meanings())
    service = ("--embeddings", server.url)
    write_records("topics.jsonl", [text_of(i, "first") for i in range(200)]
                  + [text_of(i, "other") for i in range(20)])  # fmt: skip
    done = doppel("model", "whiten", "far/m", "--as", "far-white", *service, "topics.jsonl",
                  "--json")  # fmt: skip
    made = lines_of(done)[0]
    assert made["base"] == "far/m" and made["of_service"] and made["learned_from"] == 220, made
    assert "to be embedded: 220 texts" in done.stderr, done.stderr
    server.behave(meanings())
    words = ("dedup", "--semantic", *service, "--model", "far-white", "--min-cosine", "0.98")
    done = doppel(*words, "topics.jsonl")
    # what was embedded to learn from is not embedded again: the cache has vectors of the base
    assert len(server.calls) == 1 and server.calls[0][2]["model"] == "far/m", server.calls
    assert "220 were in the cache" in done.stderr and "'far-white'" in done.stderr, done.stderr
    near = {one["id"]: one["semantic"]["of"] for one in lines_of(done) if "semantic" in one}
    assert near == {f"t{200 + i}": f"t{i}" for i in range(20)}, near
    done = doppel("dedup", "--semantic", *service, "--model", "far/m", "--min-cosine", "0.94",
                  "topics.jsonl")  # fmt: skip
    assert sum("semantic" in one for one in lines_of(done)) > 20  # raw ones are all alike
    done = doppel("dedup", "--semantic", "--model", "far-white", "topics.jsonl", code=2)
    assert "say where it is (--embeddings URL)" in done.stderr, done.stderr
    server.behave(meanings("another model"), always=True)
    for more in ((), ("--no-cache",)):
        done = doppel(*words, *more, "topics.jsonl", code=2)
        assert "it is another model" in done.stderr, done.stderr
        assert "make it again with 'doppel model whiten'" in done.stderr, done.stderr


if __name__ == "__main__":
    prepare()
    sys.exit(tap.main(sys.modules[__name__]))
