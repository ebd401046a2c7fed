#!/usr/bin/env python3
"""What the package adds to calls of the engine: the same call from Python and from C (calls.c), in
turns, CPU time of the thread. Usage: calls.py BUILD [CODES]."""

import ctypes
import gc
import time

from beside import in_turns, number, row, use_build

BUILD = use_build()

import numpy  # noqa: E402

import doppel  # noqa: E402

CODES = number(1, 1_000_000)
ROUNDS = 15
WORDS = numpy.random.default_rng(24).integers(0, 2**64, CODES, dtype=numpy.uint64)
QUERIES = WORDS[:1000] ^ numpy.uint64(0b1000001000001)
SIDE_C = ctypes.PyDLL(str(BUILD / "python" / "bench" / "calls.so"))
P, N = ctypes.c_void_p, ctypes.c_size_t
for name, result, arguments in (
    ("index", P, [ctypes.c_uint, ctypes.c_uint]),
    ("free", None, [P]),
    ("add", ctypes.c_double, [P, P, N]),
    ("search", ctypes.c_double, [P, P, N, N, ctypes.c_uint]),
    ("compare", ctypes.c_double, [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint]),
):
    function = getattr(SIDE_C, f"calls_{name}")
    function.restype, function.argtypes = result, arguments


def loop(call, times):
    began = time.thread_time()
    for _ in range(times):
        call()
    return time.thread_time() - began


def tell(what, ours, theirs, times, goal):
    """Microseconds a call, of a loop that did nothing but call taken away from Python's."""
    a, b = in_turns(ours, theirs, ROUNDS)
    a = (a - min(loop(lambda: None, times) for _ in range(5))) / times * 1e6
    b = b / times * 1e6
    row(what, f"{a:.2f}", f"{b:.2f}", f"{a - b:.2f}", f"{(a / b - 1) * 100:.1f} %", goal)


def search_both(codes, count, nearest, times, goal):
    index, in_c = doppel.Index(64, 8), SIDE_C.calls_index(64, 8)
    index.add(WORDS[:codes])
    assert SIDE_C.calls_add(in_c, WORDS.ctypes.data, codes) >= 0
    queries = QUERIES[:count]
    if nearest:
        what, call = f"knn, k {nearest}", lambda: index.knn(queries, nearest, threads=1)
    else:
        what, call = "search, r 8", lambda: index.search(queries, threads=1)
    tell(
        f"{what}: {count} in {codes} codes",
        lambda: loop(call, times),
        lambda: SIDE_C.calls_search(in_c, queries.ctypes.data, count, nearest, times),
        times,
        goal,
    )
    SIDE_C.calls_free(in_c)


def add_both(goal):
    """Thousands, one after the other: now and then one makes a segment."""
    parts = numpy.split(WORDS[:200_000], 200)

    def ours():
        index = doppel.Index(64, 8)
        return sum(loop(lambda: index.add(part), 1) for part in parts)

    def theirs():
        index = SIDE_C.calls_index(64, 8)
        took = sum(SIDE_C.calls_add(index, part.ctypes.data, 1000) for part in parts)
        SIDE_C.calls_free(index)
        return took

    tell("add: 1000 codes of 200000", ours, theirs, 200, goal)


def compare_both(goal):
    a, b = (doppel.Fingerprint.from_hex(text, "phash64") for text in ("f0" * 8, "f1" * 8))
    in_c = [int(text * 8, 16) for text in ("f0", "f1")]
    tell(
        "compare of two images' codes",
        lambda: loop(lambda: doppel.compare(a, b), 5000),
        lambda: SIDE_C.calls_compare(*in_c, 5000),
        5000,
        goal,
    )


if __name__ == "__main__":
    gc.disable()
    row("", "Python, µs", "C, µs", "more, µs", "more", "goal")
    row(*["---"] * 6)
    search_both(10, 1, 0, 20000, "≤ 3 µs")
    search_both(CODES, 1, 0, 5000, "≤ 3 µs")
    search_both(CODES, 1000, 0, 5, "≤ 5 %")
    search_both(CODES, 1, 5, 500, "≤ 3 µs")
    search_both(CODES, 1000, 5, 1, "≤ 5 %")
    add_both("≤ 5 %")
    compare_both("≤ 3 µs")
