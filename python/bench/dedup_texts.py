#!/usr/bin/env python3
"""doppel.dedup of texts beside datasketch's MinHash and MinHashLSH, in CPU time. Usage:
dedup_texts.py BUILD [RECORDS [SAMPLE]]: of datasketch, whose time for a record does not depend on
how many there are, a sample is measured.

datasketch is in no package of Debian: in its place stands its algorithm, as published, in numpy:
128 permutations, bands chosen for a threshold, dictionaries of bands. Both ways to make signatures
are measured: update() for each shingle, as its documentation has it, and update_batch()."""

import hashlib
import time

from beside import cpu_of, number, row, use_build

use_build()

import numpy  # noqa: E402
import scipy.integrate  # noqa: E402

import doppel  # noqa: E402

RECORDS, SAMPLE, WORDS = number(1, 100_000), number(2, 1000), 150
MERSENNE, MOST = numpy.uint64((1 << 61) - 1), numpy.uint64((1 << 32) - 1)
RANDOM = numpy.random.default_rng(24)


def draw_permutations():
    generator = numpy.random.RandomState(1)
    pairs = [
        (
            generator.randint(1, MERSENNE, dtype=numpy.uint64),
            generator.randint(0, MERSENNE, dtype=numpy.uint64),
        )
        for _ in range(128)
    ]
    return numpy.array(pairs, dtype=numpy.uint64).T


class MinHash:
    """MinHash(num_perm=128, seed=1)."""

    a, b = draw_permutations()

    def __init__(self):
        self.hashvalues = numpy.full(128, MOST, dtype=numpy.uint64)

    @staticmethod
    def hashed(token):
        return int.from_bytes(hashlib.sha1(token).digest()[:4], "little")

    def update(self, token):
        hashed = numpy.uint64(self.hashed(token))
        value = numpy.bitwise_and((self.a * hashed + self.b) % MERSENNE, MOST)
        self.hashvalues = numpy.minimum(value, self.hashvalues)

    def update_batch(self, tokens):
        values = numpy.array([self.hashed(token) for token in tokens], dtype=numpy.uint64)
        values = (values[:, None] * self.a + self.b) % MERSENNE & MOST
        self.hashvalues = numpy.vstack([values, self.hashvalues]).min(axis=0)


class MinHashLSH:
    """MinHashLSH(threshold, num_perm=128): the bands with the least of both errors."""

    def __init__(self, threshold):
        def errors(bands, rows):
            def found(similarity):
                return 1 - (1 - similarity**rows) ** bands

            low = scipy.integrate.quad(found, 0, threshold)[0]
            return low + scipy.integrate.quad(lambda at: 1 - found(at), threshold, 1)[0]

        shapes = [(b, r) for b in range(1, 129) for r in range(1, 128 // b + 1)]
        self.bands, self.rows = min(shapes, key=lambda shape: errors(*shape))
        self.tables = [{} for _ in range(self.bands)]

    def keys(self, made):
        for band in range(self.bands):
            part = made.hashvalues[band * self.rows : (band + 1) * self.rows]
            yield bytes(part.byteswap().data)

    def query(self, made):
        found = set()
        for table, key in zip(self.tables, self.keys(made)):
            found.update(table.get(key, ()))
        return list(found)

    def insert(self, name, made):
        for table, key in zip(self.tables, self.keys(made)):
            table.setdefault(key, set()).add(name)


def draw():
    """Texts of words as often as in a language; every tenth is an earlier one with some more."""
    words = numpy.array([f"word{at}" for at in range(20_000)])
    ranks = numpy.minimum(RANDOM.zipf(1.2, (RECORDS, WORDS)) - 1, 19_999)
    texts = [" ".join(row) for row in words[ranks]]
    for at in range(10, RECORDS, 10):
        texts[at] = texts[RANDOM.integers(0, at // 10) * 10 + 1] + " and a little more"
    return texts


def sketch(texts, batch, lsh):
    """The texts that nothing before is like."""
    kept = 0
    for name, text in enumerate(texts):
        words, made = text.split(), MinHash()
        tokens = {" ".join(words[at : at + 5]).encode() for at in range(len(words) - 4)}
        if batch:
            made.update_batch(tokens)
        else:
            for token in tokens:
                made.update(token)
        kept += not lsh.query(made)
        lsh.insert(name, made)
    return kept


def main():
    texts, unique = draw(), []
    began = time.perf_counter()
    ours = cpu_of(lambda: unique.append(len(doppel.dedup(texts).unique))) / RECORDS * 1e6
    clock = (time.perf_counter() - began) / RECORDS * 1e6
    kept, theirs = [], []
    for batch in (False, True):
        lsh = MinHashLSH(0.7)
        used = cpu_of(lambda: kept.append(sketch(texts[:SAMPLE], batch, lsh)))
        theirs.append(used / SAMPLE * 1e6)
    of_sample = len(doppel.dedup(texts[:SAMPLE]).unique)
    row(f"texts of {WORDS} words", "CPU of each, µs", "datasketch / doppel", "kept", "goal")
    row(*["---"] * 5)
    row(f"doppel.dedup, {RECORDS}", f"{ours:.1f} (clock {clock:.1f})", "", unique[0], "")
    row(f"doppel.dedup, {SAMPLE}", "", "", of_sample, "")
    for name, each, left in zip(("update()", "update_batch()"), theirs, kept):
        goal = "≥ 50 ×" if name == "update()" else ""
        row(f"datasketch's {name}, {SAMPLE}", f"{each:.0f}", f"{each / ours:.0f} ×", left, goal)


if __name__ == "__main__":
    main()
