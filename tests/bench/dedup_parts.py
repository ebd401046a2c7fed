"""How many records that are a part of an earlier one `doppel dedup` finds, by bands alone and with
--parts, and what that costs: python3 dedup_parts.py BUILD REPOSITORY.... The records are all
sections of all versions of the Markdown and text files in the history of Git repositories."""

import collections
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

SHINGLE, LIMIT, ROUNDS = 5, 0.9, 5


def sections_of(repository):
    git = ["git", "-C", repository]
    log = git + ["log", "--reverse", "--format=", "--raw", "--no-abbrev", "--no-renames"]
    listed = subprocess.run(log, capture_output=True, text=True, errors="replace", check=True)
    seen = set()
    blobs = []
    for line in listed.stdout.splitlines():
        fields, _, path = line.partition("\t")
        blob = fields.split()[3] if fields.startswith(":") else ""
        if path.endswith((".md", ".txt", ".rst")) and blob.strip("0") and blob not in seen:
            seen.add(blob)
            blobs.append(blob)
    wanted = "\n".join(blobs).encode()
    out = subprocess.run(git + ["cat-file", "--batch"], input=wanted, capture_output=True).stdout
    at = 0
    while at < len(out):
        end = out.index(b"\n", at)
        size = int(out[at:end].split()[2])
        text = out[end + 1 : end + 1 + size].decode("utf-8", "replace")
        yield from re.split(r"(?m)^(?=#+ |=====)", text)
        at = end + size + 2


def shingles(text):
    words = re.findall(r"\w+", text.lower())
    return {hash(tuple(words[i : i + SHINGLE])) for i in range(len(words) - SHINGLE + 1)}


def decide(build, corpus, *options):
    command = [build / "doppel", "dedup", "-q", "-j1", corpus, "--json", *options]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [json.loads(line) for line in out.splitlines()], cpu


def holders(sets, decisions):
    """Of records that are new by bands: those with an earlier representative that holds them."""
    found, of_shingle = set(), collections.defaultdict(list)
    for i, (some, decision) in enumerate(zip(sets, decisions)):
        if decision["decision"] not in ("new", "part", "revision"):
            continue
        shared = collections.Counter(w for s in some for w in of_shingle[s])
        if some and any(n >= LIMIT * len(some) for n in shared.values()):
            found.add(i)
        for s in some:
            of_shingle[s].append(i)
    return found


def measure_cost(build, corpus):
    taken = {"": [], "--parts": []}
    for _ in range(ROUNDS):
        for option, seconds in taken.items():
            seconds.append(decide(build, corpus, *option.split())[1])
    size = corpus.stat().st_size / 1e6
    before, now = min(taken[""]), min(taken["--parts"])
    print(f"CPU: {before:.2f} s, with --parts {now:.2f} s ({now / before:.2f} x); "
          f"{size / before:.0f}, {size / now:.0f} MB/s of CPU")


def main():
    build = pathlib.Path(sys.argv[1])
    texts = [text for repository in sys.argv[2:] for text in sections_of(repository)]
    with tempfile.TemporaryDirectory() as folder:
        corpus = pathlib.Path(folder) / "sections.jsonl"
        corpus.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
        plain, parts = decide(build, corpus)[0], decide(build, corpus, "--parts")[0]
        sets = [shingles(text) for text in texts]
        held = holders(sets, plain)
        by_bands = {i for i in held if plain[i].get("relation") == "contained"}
        by_parts = {i for i in held if parts[i].get("relation") == "contained"}
        wrong = [d for d in parts if d["decision"] == "part" and d["query_coverage"] < LIMIT]
        print(f"{len(texts)} records; {len(held)} are held by an earlier one: found by bands "
              f"{len(by_bands) / len(held):.3f}, with --parts {len(by_parts) / len(held):.3f}; "
              f"parts that are none: {len(wrong)}")
        measure_cost(build, corpus)


if __name__ == "__main__":
    main()
