#!/usr/bin/env python3
"""doppel_find(code, radius), which asks the kept index, beside a scan with hamming(), in the
catalogue of one library. Usage: find_sql.py BUILD [ITEMS [QUERIES]]."""

import subprocess
import sys
import tempfile

from beside import cpu_of, in_turns, number, row, use_build

BUILD = use_build()

import numpy  # noqa: E402

import doppel  # noqa: E402

ITEMS, QUERIES = number(1, 200_000), number(2, 20)
ROUNDS = 3
RANDOM = numpy.random.default_rng(24)


def make_library(folder):
    """Of codes that are imported: an item each."""
    codes = RANDOM.integers(0, 2**64, ITEMS, dtype=numpy.uint64)
    with open(f"{folder}/codes.jsonl", "w") as file:
        for number, code in enumerate(codes.tolist()):
            known = f'"scheme":"phash64","code":"{code:016x}","quality":90'
            file.write(f'{{"path":"{number}",{known}}}\n')
    subprocess.run(
        [BUILD / "doppel", "import", "-q", "-L", f"{folder}/library", f"{folder}/codes.jsonl"],
        check=True,
        stdout=sys.stderr,
    )
    return codes


def main(folder):
    codes = make_library(folder)
    near = codes[RANDOM.integers(0, ITEMS, QUERIES)] ^ numpy.uint64(0b1001001)
    queries = [f"{code:016x}" for code in near.tolist()]
    with doppel.Library(f"{folder}/library", create=False) as library:
        connection = library.sql
        row(f"{ITEMS} images, {QUERIES} queries", "doppel_find", "scan", "scan / doppel_find")
        row(*["---"] * 4)
        for radius in (3, 8):
            found = [[], []]

            def run(side, statement):
                found[side] = [
                    sorted(connection.execute(statement, (query, radius))) for query in queries
                ]

            find = "SELECT id, distance FROM doppel_find(?1, ?2)"
            scan = "SELECT id, hamming(simhash, ?1) AS bits FROM items WHERE bits <= ?2"
            a, b = in_turns(
                lambda: cpu_of(lambda: run(0, find)), lambda: cpu_of(lambda: run(1, scan)), ROUNDS
            )
            assert found[0] == found[1] and all(found[0])
            cells = f"{a / QUERIES * 1e3:.3f} ms", f"{b / QUERIES * 1e3:.1f} ms", f"{b / a:.0f} ×"
            row(f"radius {radius}: {sum(map(len, found[0]))} found, the same", *cells)
        connection.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(folder)
