#!/usr/bin/env python3
"""What the package costs beside what people use in Python: CPU time, in one run. Usage:
bench.py [PICTURES [CODES [TEXTS]]], the package on PYTHONPATH.

imagehash, datasketch and FAISS are not in Debian for Python: in their place stand their published
formulas in numpy and scipy. Of what is slow a sample is measured; the table says of how many."""

import io
import resource
import sys
import tempfile
import time

import numpy
import scipy.fftpack
from PIL import Image

import doppel

PICTURES, CODES, TEXTS = (int(word) for word in (sys.argv[1:] + ["300", "1000000", "20000"])[:3])
RANDOM = numpy.random.default_rng(24)
MERSENNE, MOST = numpy.uint64((1 << 61) - 1), numpy.uint64((1 << 32) - 1)


def cpu():
    """Seconds of this process and of those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)


def seconds(work, times=1):
    began = cpu()
    for _ in range(times):
        work()
    return (cpu() - began) / times


def call_us(work, times):
    """Microseconds of this process for a call."""
    began = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - began) / times * 1e6


def hash_all(paths, scheme=None):
    """By one worker, which is waited for at the end: so its time is counted."""
    run = doppel.Run(jobs=1)
    for path in paths:
        doppel.hash(path, scheme=scheme, run=run)


def row(what, ours, theirs, peer, goal):
    print(f"{what:<48} {ours:>10} {theirs:>12}  {peer:<28} goal {goal}", flush=True)


# ---- pictures ----


def draw(number):
    """A JPEG of 1600 × 1200 with structure of its own."""
    low = RANDOM.integers(0, 256, (24, 32, 3), dtype=numpy.uint8)
    out = io.BytesIO()
    Image.fromarray(low).resize((1600, 1200), Image.BICUBIC).save(out, "JPEG", quality=85)
    return out.getvalue()


def phash(path):
    """imagehash.phash(), by its published code."""
    with Image.open(path) as picture:
        pixels = numpy.asarray(picture.convert("L").resize((32, 32), Image.LANCZOS))
    low = scipy.fftpack.dct(scipy.fftpack.dct(pixels, axis=0), axis=1)[:8, :8]
    return low > numpy.median(low)


def measure_pictures():
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/{number}.jpg" for number in range(PICTURES)]
        for number, path in enumerate(paths):
            with open(path, "wb") as file:
                file.write(draw(number))
        theirs = seconds(lambda: [phash(path) for path in paths]) / PICTURES
        ours = seconds(lambda: hash_all(paths)) / PICTURES
        codes = seconds(lambda: hash_all(paths, "imagehash")) / PICTURES
    row("hash of a JPEG, all views, 1 worker, ms", f"{ours * 1e3:.2f}", f"{theirs * 1e3:.2f}",
        "imagehash's code", f"5 x: {theirs / ours:.1f} x")
    row("  by scheme imagehash", f"{codes * 1e3:.2f}", f"{theirs * 1e3:.2f}", "imagehash's code",
        f"5 x: {theirs / codes:.1f} x")


# ---- codes ----


def scan_linearly(codes, query, radius):
    """What IndexBinaryFlat does, by numpy."""
    table = scan_linearly.table
    near = table[(codes ^ query).view(numpy.uint16)].reshape(-1, 4).sum(axis=1)
    return numpy.flatnonzero(near <= radius)


scan_linearly.table = numpy.array([bin(i).count("1") for i in range(65536)], numpy.uint8)


def measure_codes():
    codes = RANDOM.integers(0, 2**64, CODES, dtype=numpy.uint64)
    queries = codes[:1000] ^ numpy.uint64(0b1000001000001)
    index = doppel.Index(64, 8)
    index.add(codes)
    index.search(queries)
    ours = seconds(lambda: index.search(queries, threads=1)) / 1000
    theirs = seconds(lambda: [scan_linearly(codes, query, 8) for query in queries[:5]]) / 5
    row(f"range search, {CODES} codes, r 8, ms a query", f"{ours * 1e3:.4f}",
        f"{theirs * 1e3:.2f}", "a scan by numpy", f"100 x of FAISS: {theirs / ours:.0f} x")
    small = doppel.Index(64, 8)
    small.add(codes[:10])
    one = queries[:1]
    call = call_us(lambda: small.search(one, threads=1), 20000)
    inner = call_us(
        lambda: doppel._doppel.index_search(small._handle, one, 8, 0, 0, 1), 20000
    )
    row("a call of Index.search, us", f"{call:.2f}", f"{inner:.2f}", "the extension alone",
        "3 over the C call")
    a = doppel.Fingerprint.from_hex("00ff00ff00ff00ff", "phash64")
    row("a - b, us", f"{call_us(lambda: a - a, 50000):.2f}", "", "", "3 over the C call")


# ---- texts ----


class Sketch:
    """datasketch's MinHash and MinHashLSH, by their published formulas."""

    def __init__(self, permutations=128, bands=24, rows=5):
        generator = numpy.random.RandomState(1)
        pairs = [(generator.randint(1, MERSENNE, dtype=numpy.uint64),
                  generator.randint(0, MERSENNE, dtype=numpy.uint64)) for _ in range(permutations)]
        self.a, self.b = numpy.array(pairs, dtype=numpy.uint64).T
        self.bands, self.rows = bands, rows
        self.tables = [{} for _ in range(bands)]

    def add(self, number, text):
        import hashlib

        words = text.split()
        values = numpy.full(len(self.a), MOST)
        for at in range(max(len(words) - 4, 1)):
            token = " ".join(words[at : at + 5]).encode()
            value = numpy.uint64(int.from_bytes(hashlib.sha1(token).digest()[:4], "little"))
            values = numpy.minimum(values, (self.a * value + self.b) % MERSENNE & MOST)
        near = set()
        for band, table in enumerate(self.tables):
            key = values[band * self.rows : (band + 1) * self.rows].tobytes()
            near.update(table.setdefault(key, []))
            table[key].append(number)
        return near


def measure_texts():
    words = numpy.array([f"word{number}" for number in range(5000)])
    texts = [" ".join(RANDOM.choice(words, 150)) for _ in range(TEXTS)]
    for number in range(0, TEXTS, 10):
        texts[number] = texts[number // 2] + " and more"
    sketch, sample = Sketch(), min(300, TEXTS)
    theirs = seconds(lambda: [sketch.add(n, text) for n, text in enumerate(texts[:sample])])
    ours = seconds(lambda: doppel.dedup(texts))
    ours, theirs = ours / TEXTS * 1e6, theirs / sample * 1e6
    row(f"dedup of {TEXTS} texts of 150 words, us each", f"{ours:.1f}", f"{theirs:.0f}",
        f"datasketch's formulas, {sample}", f"50 x: {theirs / ours:.0f} x")


if __name__ == "__main__":
    row("", "doppel", "peer", "", "")
    measure_pictures()
    measure_codes()
    measure_texts()
