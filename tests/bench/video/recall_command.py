#!/usr/bin/env python3
"""recall_command.py BUILD WORK VIDEO...: edited copies of videos, as 'doppel find' has them.

WORK has the copies and queries.tsv, as video_edits.py makes them. VIDEO... are added to a library
of default options. Copies that do not find their video there are compared with it by 'doppel
compare': below a rate of 1e-4 the look-up lost them. A copy is put at two places where two segments
share half of the shorter one's time in it, or in the video: without a word, where neither is told
to be a repeat, and no uncertainty is."""

import collections
import csv
import itertools
import json
import os
import subprocess
import sys
import tempfile

LOST_BELOW = 1e-4


def run(doppel, *arguments):
    done = subprocess.run([doppel, *arguments], stdout=subprocess.PIPE, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def shares_half(one, other, side):
    start, end = side + "_start", side + "_end"
    shared = min(one[end], other[end]) - max(one[start], other[start])
    return shared > min(one[end] - one[start], other[end] - other[start]) / 2


def is_at_two_places(row, in_words):
    pairs = itertools.combinations(row.get("segments", []), 2)
    return any(
        (shares_half(*pair, "a") or shares_half(*pair, "b"))
        and (in_words or not (row.get("time_uncertain") or any(s.get("repeat") for s in pair)))
        for pair in pairs
    )


def ask(doppel, library, work, films, queries):
    """The names of what each copy finds, with the row of each."""
    listed = os.path.join(os.path.dirname(library), "queries")
    with open(listed, "w", encoding="utf-8") as file:
        file.writelines(os.path.join(work, name) + "\n" for name in queries)
    run(doppel, "add", "-q", "-L", library, *films.values())
    out = {name: {} for name in queries}
    for row in run(doppel, "find", "-q", "--json", "-L", library, "--files-from", listed):
        if "path" in row:
            out[os.path.basename(row["query"])][stem(row["path"])] = row
    return out


def is_lost(doppel, copy, film):
    row = run(doppel, "compare", "--json", copy, film)[0]
    return row["match"] and row["false_positive_rate"] < LOST_BELOW


def main():
    doppel, work = os.path.abspath(os.path.join(sys.argv[1], "doppel")), sys.argv[2]
    films = {stem(path): os.path.realpath(path) for path in sys.argv[3:]}
    with open(os.path.join(work, "queries.tsv"), encoding="utf-8") as file:
        queries = {row["file"]: row for row in csv.DictReader(file, delimiter="\t")}
    counts, found, lost, wrong, twice, untold = (collections.Counter() for _ in range(6))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        answers = ask(doppel, os.path.join(folder, "library"), work, films, queries)
        for name, row in queries.items():
            film, edit = row["film"], row["edit"]
            right = film in answers[name]
            counts[edit] += 1
            found[edit] += right
            twice[film] += right and is_at_two_places(answers[name][film], in_words=True)
            untold[film] += right and is_at_two_places(answers[name][film], in_words=False)
            others = answers[name].keys() - {film}
            wrong[edit] += any(other not in row["also"] for other in others)
            if not right and is_lost(doppel, os.path.join(work, name), films[film]):
                lost[edit] += 1
                print(f"{name}: compare matches")
    for edit, count in counts.items():
        print(f"{edit:16} {found[edit]:3} of {count}, lost {lost[edit]}, another one {wrong[edit]}")
    print("put at two places:", dict(+twice), "without a word:", dict(+untold))
    total, right = sum(counts.values()), sum(found.values())
    share = right / (right + sum(lost.values()))
    print(f"{right} of {total} found, {100 * share:.1f} % of what compare matches")


if __name__ == "__main__":
    main()
