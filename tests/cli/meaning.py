#!/usr/bin/env python3
"""Texts of the same meaning in other words: `doppel dedup --semantic`, by a model made here.

`meaning.py BUILD`
"""

import array
import ast
import csv
import gzip
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
HELD = tempfile.TemporaryDirectory(prefix="doppel-meaning-")
FOLDER = pathlib.Path(HELD.name)
MODELS = FOLDER / "models"
CHANCE = random.Random(21)
# Meanings, each with two words that lie near each other; a topic is what several have in common.
MEANINGS, TOPICS, DIMENSION, TEXTS, EDITED = 600, 30, 24, 3000, 300
# Long texts, and how many of them have a passage of another.
DOCUMENTS, PARAGRAPHS, PASSAGES = 400, 12, 20


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


def vector(*near):
    return [sum(v) + CHANCE.gauss(0, 1) for v in zip([0] * DIMENSION, *near)]


def write_model():
    common = [3 * x for x in vector()]
    topics = [vector(common) for _ in range(TOPICS)]
    with open(FOLDER / "words.txt", "w") as file:
        for meaning in range(MEANINGS):
            centre = vector(topics[meaning % TOPICS], [0] * DIMENSION)
            for word in ("a", "b"):
                own = [x + CHANCE.gauss(0, 0.3) for x in centre]
                print(f"m{word}{spelled(meaning)}", *(f"{x:.4f}" for x in own), file=file)


def spelled(number):
    return "".join("etaoinshrd"[int(digit)] for digit in str(number))


def text_of(topic):
    """Words of one topic, and some of any."""
    meanings = [topic + TOPICS * CHANCE.randrange(MEANINGS // TOPICS) for _ in range(10)]
    return meanings + [CHANCE.randrange(MEANINGS) for _ in range(10)]


def in_words(meanings, share):
    words = [("mb" if CHANCE.random() < share else "ma") + spelled(one) for one in meanings]
    CHANCE.shuffle(words)
    return " ".join(words)


def make_corpus():
    texts = [text_of(CHANCE.randrange(TOPICS)) for _ in range(TEXTS)]
    lines = [{"id": f"t{i}", "text": in_words(one, 0)} for i, one in enumerate(texts)]
    lines += [{"id": f"e{i}", "text": in_words(texts[i], 0.5)} for i in range(EDITED)]
    lines += [{"id": "same", "text": lines[0]["text"]}, {"id": "no word", "text": "xyzzy " * 20}]
    (FOLDER / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def decisions(*words, **options):
    printed = doppel("dedup", "--semantic", *words, **options).stdout
    return [json.loads(line) for line in printed.splitlines()]


def test_edited_texts_are_found_by_meaning():
    plain = doppel("dedup", "corpus.jsonl").stdout
    assert '"semantic"' not in plain
    found = decisions("corpus.jsonl", "--max-fp-rate", "1e-4")
    right = [
        one
        for one in found
        if one["id"][0] == "e" and one.get("semantic", {}).get("of") == "t" + one["id"][1:]
    ]
    assert len(right) >= 0.95 * EDITED, len(right)
    for one in right:
        link = one["semantic"]
        assert one["decision"] == "new" and link["relation"] == "semantic", one
        assert 0 < link["false_positive_rate"] <= 1e-4 and 0.4 < link["cosine"] <= 1, one
        assert link["tier"] in ("near-duplicate", "very-similar", "related"), one
        assert link["of_line"] == 1 + int(link["of"][1:]), one
    unrelated = [one for one in found if one["id"][0] == "t" and "semantic" in one]
    assert len(unrelated) < 0.2 * TEXTS, len(unrelated)
    linked = {one["id"] for one in found if "semantic" in one}
    assert not any(one["semantic"]["of"] in linked for one in found if "semantic" in one)
    assert "semantic" not in found[-1] and "semantic" not in found[-2]
    for one in found:
        one.pop("semantic", None)
    assert found == [json.loads(line) for line in plain.splitlines()]  # nothing follows from it


def test_what_was_decided_is_not_embedded():
    told = doppel("dedup", "--semantic", "-v", "corpus.jsonl").stderr
    embedded = f"{TEXTS + EDITED + 1} texts embedded (1 without a word that the model knows)"
    assert f"{embedded}, 1 record needed not be" in told, told


def test_the_same_from_any_source_and_threads():
    wanted = decisions("corpus.jsonl", "--jobs", "1")
    for more in ("--jobs", "3"), ("--memory", "1M"):
        assert decisions("corpus.jsonl", *more) == wanted
    content = (FOLDER / "corpus.jsonl").read_bytes()
    (FOLDER / "packed.jsonl.gz").write_bytes(gzip.compress(content))

    def without_paths(some):
        return [{k: v for k, v in one.items() if k not in ("path", "of_path")} for one in some]

    assert without_paths(decisions("packed.jsonl.gz")) == without_paths(wanted)
    assert without_paths(decisions("-", input=content.decode())) == without_paths(wanted)


def test_lines_come_with_it():
    lines = doppel("dedup", "--semantic", "corpus.jsonl", "--emit", "annotated").stdout
    annotated = [json.loads(line) for line in lines.splitlines()]
    assert [one["doppel"] for one in annotated] == decisions("corpus.jsonl")
    unique = doppel("dedup", "--semantic", "corpus.jsonl", "--emit", "unique").stdout
    assert len(unique.splitlines()) == TEXTS + EDITED + 1  # of the same meaning, and kept


def write_long_documents():
    """Of paragraphs about anything; some have one of another in other words."""
    documents = [
        [[CHANCE.randrange(MEANINGS) for _ in range(110)] for _ in range(PARAGRAPHS)]
        for _ in range(DOCUMENTS)
    ]
    edited = {}
    for i in range(DOCUMENTS - PASSAGES, DOCUMENTS):
        of, a, b = i - DOCUMENTS // 2, CHANCE.randrange(PARAGRAPHS), CHANCE.randrange(PARAGRAPHS)
        documents[i][a] = documents[of][b]
        edited[i] = of, a, b
    texts = [
        "\n\n".join(
            in_words(one, 0.5 if i in edited and edited[i][1] == at else 0)
            for at, one in enumerate(paragraphs)
        )
        for i, paragraphs in enumerate(documents)
    ]
    lines = [json.dumps({"id": f"d{i}", "text": text}) + "\n" for i, text in enumerate(texts)]
    (FOLDER / "long.jsonl").write_text("".join(lines))
    return texts, edited


def paragraph_at(text, number):
    start = sum(len(one) + 2 for one in text.split("\n\n")[:number])
    return start, start + len(text.split("\n\n")[number]) + 2


def test_passages_of_long_documents_are_found():
    texts, edited = write_long_documents()
    found = decisions("long.jsonl", "--max-fp-rate", "1e-3")
    links = {int(one["id"][1:]): one["semantic"] for one in found if "semantic" in one}
    right = 0
    for i, (of, a, b) in edited.items():
        link = links.get(i)
        if not link or link["of"] != f"d{of}":
            continue
        places = paragraph_at(texts[i], a), paragraph_at(texts[of], b)
        segment = max(link["segments"], key=lambda one: one["cosine"])
        got = ("a_start", "a_end"), ("b_start", "b_end")
        right += all(
            min(segment[end], last) - max(segment[start], first) > 0.8 * (last - first)
            and segment[end] - segment[start] < 2.2 * (last - first)
            for (start, end), (first, last) in zip(got, places)
        )
        assert link["extent"] == "overlaps" and 0 < link["query_coverage"] < 0.5, link
        assert link["relation"] == "semantic" and 0 < link["item_coverage"] < 0.5, link
    assert right >= 0.9 * PASSAGES, right
    pairs = DOCUMENTS * (DOCUMENTS - 1) / 2
    assert len(set(links) - set(edited)) < 2 * pairs * 1e-3, len(links)


def handed_off(folder):
    """The rows and the lines, read as the format says."""
    content = (FOLDER / folder / "vectors.npy").read_bytes()
    assert content[:8] == b"\x93NUMPY\x01\x00"
    size = 10 + int.from_bytes(content[8:10], "little")
    header = ast.literal_eval(content[10:size].decode())
    assert size % 64 == 0 and content[size - 1:size] == b"\n"
    assert header["descr"] == "<f4" and header["fortran_order"] is False, header
    count, dimension = header["shape"]
    assert dimension == DIMENSION and len(content) == size + 4 * count * dimension, header
    values = array.array("f", content[size:])
    if sys.byteorder == "big":
        values.byteswap()
    lines = (FOLDER / folder / "vectors.jsonl").read_text().splitlines()
    assert len(lines) == count, header
    rows = [values[i * dimension:(i + 1) * dimension] for i in range(count)]
    return rows, [json.loads(line) for line in lines]


def test_vectors_are_handed_off():
    plain = decisions("corpus.jsonl")
    done = doppel("dedup", "--semantic", "-v", "corpus.jsonl", "--hand-off", "off")
    assert [json.loads(line) for line in done.stdout.splitlines()] == plain
    assert f"{TEXTS + EDITED} vectors are in off" in done.stderr, done.stderr
    rows, lines = handed_off("off")
    assert sorted(path.name for path in (FOLDER / "off").iterdir()) == [
        "vectors.jsonl",
        "vectors.npy",
    ]
    unique = [one for one in plain if one["decision"] == "new" and one["id"] != "no word"]
    # Also those that are linked.
    assert [one["id"] for one in lines] == [one["id"] for one in unique]
    model = json.loads(doppel("model", "list", "--json").stdout)
    for number, (row, line) in enumerate(zip(rows, lines)):
        assert abs(sum(x * x for x in row) - 1) < 1e-5
        assert line.items() >= {"row": number, "path": "corpus.jsonl", "model": "words"}.items()
        assert line["line"] == unique[number]["line"] and "chunk" not in line
        assert line["revision"] == model["revision"]
    (FOLDER / "ids").write_text("".join(line["id"] + "\n" for line in lines))
    words = ("off/vectors.npy", "--ids", "ids", "--min-cosine", "0.999", "--json")
    pairs = [json.loads(one) for one in doppel("index", "join", *words).stdout.splitlines()]
    assert pairs and all(one["cosine"] >= 0.999 for one in pairs)
    at = {line["id"]: row for line, row in zip(lines, rows)}
    for one in pairs[:50]:
        cosine = sum(x * y for x, y in zip(at[one["a"]], at[one["b"]]))
        assert abs(cosine - one["cosine"]) < 1e-3, one


def test_chunks_are_handed_off_with_their_places():
    texts, _ = write_long_documents()
    decisions("long.jsonl", "--max-fp-rate", "1e-3", "--hand-off", "new/")
    rows, lines = handed_off("new")
    assert len(rows) > DOCUMENTS * PARAGRAPHS / 2
    for before, line in zip([None] + lines, lines):
        number = int(line["id"][1:])
        assert line["line"] == number + 1 and 0 <= line["chunk"] < line["chunks"]
        assert line["start"] == (before["end"] if line["chunk"] else 0), line
        assert line["end"] <= len(texts[number]), line
        assert line["chunk"] + 1 < line["chunks"] or line["end"] == len(texts[number]), line


def test_documents_miss_what_chunks_find():
    """The mean of a document's chunks says less of a passage than that two are about the same."""
    _, edited = write_long_documents()
    decisions("long.jsonl", "--max-fp-rate", "1e-3", "--hand-off", "long", "--force")
    rows, lines = handed_off("long")
    means = [[0.0] * DIMENSION for _ in range(DOCUMENTS)]
    for row, line in zip(rows, lines):
        mean = means[int(line["id"][1:])]
        mean[:] = map(sum, zip(mean, row))
    common = [sum(one) / DOCUMENTS for one in zip(*means)]
    means = [[x - y for x, y in zip(mean, common)] for mean in means]
    lengths = [sum(x * x for x in mean) ** 0.5 for mean in means]

    def cosine(a, b):
        return sum(x * y for x, y in zip(means[a], means[b])) / lengths[a] / lengths[b]

    by_chance = sorted(cosine(a, b) for a in range(DOCUMENTS) for b in range(0, a, 7))
    least = by_chance[-len(by_chance) // 1000]
    assert sum(cosine(i, of) >= least for i, (of, _, _) in edited.items()) < PASSAGES / 2


def test_files_are_not_replaced_unless_asked():
    (FOLDER / "taken").mkdir()
    (FOLDER / "taken" / "vectors.jsonl").write_text("mine")
    words = ("dedup", "--semantic", "corpus.jsonl", "--hand-off")
    refused = doppel(*words, "taken", code=2)
    assert "vectors.jsonl is there already" in refused.stderr, refused.stderr
    assert "--force" in refused.stderr and not refused.stdout
    assert (FOLDER / "taken" / "vectors.jsonl").read_text() == "mine"
    doppel(*words, "taken", "--force")
    assert len(handed_off("taken")[0]) == TEXTS + EDITED
    (FOLDER / "odd" / "vectors.npy").mkdir(parents=True)
    assert "no file" in doppel(*words, "odd", "--force", code=2).stderr
    assert "cannot be made" in doppel(*words, "no/where", code=2).stderr
    assert "--semantic" in doppel("dedup", "corpus.jsonl", "--hand-off", "x", code=2).stderr
    (FOLDER / "none.jsonl").write_text("")
    doppel("dedup", "--semantic", "none.jsonl", "--hand-off", "empty")
    assert handed_off("empty") == ([], [])


def summary_of(*words, semantic=True):
    stage = ["--semantic"] if semantic else []
    told = doppel("dedup", *stage, "--progress", "json", *words).stderr
    return json.loads(next(line for line in told.splitlines() if '"summary"' in line))["summary"]


def test_few_texts_want_a_cosine():
    few = (FOLDER / "corpus.jsonl").read_text().splitlines()
    few = few[:20] + few[TEXTS:TEXTS + 20]
    (FOLDER / "few.jsonl").write_text("\n".join(few) + "\n")
    done = doppel("dedup", "--semantic", "few.jsonl", "-v")
    assert "too few" in done.stderr and "--min-cosine" in done.stderr, done.stderr
    assert '"semantic"' not in done.stdout
    quiet = doppel("dedup", "--semantic", "few.jsonl", "-q").stderr
    assert "too few" in quiet and len(quiet.splitlines()) == 1, quiet
    assert summary_of("few.jsonl")["semantic"] == {
        "embedded": 40, "without_vector": 0, "linked": 0, "too_few": True}  # fmt: skip
    found = summary_of("few.jsonl", "--min-cosine", "0.98")["semantic"]
    assert found["linked"] >= 10 and found["min_cosine"] == 0.98 and "too_few" not in found, found
    assert "semantic" not in summary_of("few.jsonl", semantic=False)
    found = decisions("few.jsonl", "--min-cosine", "0.98")
    right = [one for one in found[20:] if one.get("semantic", {}).get("of") == "t" + one["id"][1:]]
    assert len(right) >= 10, len(right)  # others are nearer to another


def test_scores():
    stage = ("corpus.jsonl", "--max-fp-rate", "1e-4")
    by_cosine, by_score = decisions(*stage), decisions(*stage, "--scores")
    links = {one["id"]: one["semantic"] for one in by_score if "semantic" in one}
    right = [name for name, one in links.items() if name[0] == "e" and one["of"] == "t" + name[1:]]
    least = summary_of(*stage, "--scores")["semantic"]
    assert len(right) >= 0.95 * EDITED, len(right)
    assert "min_cosine" not in least and least["linked"] == len(links), least
    assert all(least["min_score"] - 1e-4 <= one["score"] < one["cosine"] and
               0 < one["false_positive_rate"] <= 1e-4 for one in links.values()), links
    assert not any("score" in one.get("semantic", {}) for one in by_cosine)
    assert [one["decision"] for one in by_cosine] == [one["decision"] for one in by_score]
    done = doppel("dedup", "--semantic", *stage, "--scores", "-v").stderr
    assert f"at a score of {least['min_score']:.3f} or more" in done, done
    for words in [("--scores",), ("--semantic", "--scores", "--min-cosine", "0.9")]:
        done = doppel("dedup", "corpus.jsonl", *words, code=2)
        assert "'--scores' goes with '--semantic'" in done.stderr, done.stderr


def test_a_table_has_it():
    words = ("dedup", "--semantic", "few.jsonl", "--min-cosine", "0.98", "--format")
    linked = next(one for one in decisions(*words[2:-1]) if "semantic" in one)
    table = doppel(*words, "table").stdout.splitlines()
    row = next(line for line in table if line.split()[0] == linked["id"])
    assert {"semantic", "cosine"} < set(table[0].split()), table[0]
    assert {linked["semantic"]["of"], f'{linked["semantic"]["cosine"]}'} <= set(row.split()), row
    rows = list(csv.DictReader(doppel(*words, "csv").stdout.splitlines()))
    row = next(row for row in rows if row["id"] == linked["id"])
    assert row["semantic.of_line"] == str(linked["semantic"]["of_line"]), row
    assert row["semantic.extent"] == "same", row


def test_without_texts():
    (FOLDER / "empty.jsonl").write_text("")
    (FOLDER / "bad.jsonl").write_text('{"text": ""}\nnonsense\n{"text": "maet matt"}\n')
    assert decisions("empty.jsonl") == []
    said = [one["decision"] for one in decisions("bad.jsonl", "--min-cosine", "0.5", code=3)]
    assert said == ["too_short", "unreadable", "too_short"], said


def test_the_model_is_named():
    nothing = doppel("dedup", "--semantic", "corpus.jsonl", code=2, models=FOLDER / "none")
    assert "doppel model add" in nothing.stderr, nothing.stderr
    unknown = doppel("dedup", "--semantic", "--model", "other", "corpus.jsonl", code=2)
    assert "other" in unknown.stderr, unknown.stderr
    two = FOLDER / "two"
    for name in "a", "b":
        doppel("model", "add", "words.txt", "--name", name, models=two)
    several = doppel("dedup", "--semantic", "few.jsonl", code=2, models=two)
    assert "--model" in several.stderr, several.stderr
    named = ("dedup", "--semantic", "few.jsonl", "--min-cosine", "0.98", "--model", "b")
    assert '"semantic"' in doppel(*named, models=two).stdout


if __name__ == "__main__":
    write_model()
    make_corpus()
    doppel("model", "add", "words.txt")
    sys.exit(tap.main(sys.modules[__name__]))
