#!/usr/bin/env python3
"""Index.search beside FAISS' IndexBinaryFlat.range_search (python3-faiss) on the same arrays, one
thread each, and the same results. Usage: search_faiss.py BUILD [CODES [QUERIES]]."""

from beside import cpu_of, in_turns, number, row, use_build

use_build()

import faiss  # noqa: E402
import numpy  # noqa: E402

import doppel  # noqa: E402

CODES, QUERIES = number(1, 1_000_000), number(2, 200)
RANDOM = numpy.random.default_rng(24)
ROUNDS = 5


def draw():
    """Uniform codes, and queries of which half are near one of them."""
    codes = RANDOM.integers(0, 2**64, CODES, dtype=numpy.uint64)
    queries = RANDOM.integers(0, 2**64, QUERIES, dtype=numpy.uint64)
    near = codes[RANDOM.integers(0, CODES, QUERIES // 2)]
    for _ in range(6):
        near ^= numpy.uint64(1) << RANDOM.integers(0, 64, len(near), dtype=numpy.uint64)
    queries[: len(near)] = near
    return codes, queries


def in_order(lims, ids, distances):
    """Hits by query, distance, id, whatever order they came in."""
    query = numpy.repeat(numpy.arange(len(lims) - 1), numpy.diff(lims.astype(numpy.int64)))
    order = numpy.lexsort((ids, distances, query))
    return numpy.stack([query[order], distances[order].astype(int), ids[order].astype(int)])


def main():
    codes, queries = draw()
    ours, theirs = doppel.Index(64, 8), faiss.IndexBinaryFlat(64)
    ours.add(codes)
    theirs.add(codes.view(numpy.uint8).reshape(-1, 8))
    as_bytes = queries.view(numpy.uint8).reshape(-1, 8)
    faiss.omp_set_num_threads(1)
    row(f"{CODES} codes, {QUERIES} queries", "doppel, µs", "FAISS, µs", "FAISS / doppel", "goal")
    row(*["---"] * 5)
    for radius in (3, 8, 12):
        found = []

        def search():
            found[:1] = [ours.search(queries, radius, threads=1)]

        def scan():  # its radius is exclusive
            found[1:] = [theirs.range_search(as_bytes, radius + 1)]

        a, b = in_turns(lambda: cpu_of(search), lambda: cpu_of(scan), ROUNDS)
        lims, distances, ids = found[1]
        assert numpy.array_equal(in_order(*found[0]), in_order(lims, ids, distances))
        assert len(ids) >= (QUERIES // 2 if radius >= 6 else 0)
        cells = (f"{a / QUERIES * 1e6:.2f}", f"{b / QUERIES * 1e6:.0f}", f"{b / a:.0f} ×")
        row(f"r {radius}: {len(ids)} hits, the same", *cells, "≥ 100 ×" if radius == 8 else "")


if __name__ == "__main__":
    main()
