#!/usr/bin/env python3
"""doppel.hash of JPEGs beside imagehash.phash: a process each, and doppel's one worker. Usage:
hash_images.py BUILD [COUNT [FILE...]]: of the files in turn, or of pictures that are drawn.

imagehash is in no package of Debian: in its place stands what its phash() does, by Pillow and
scipy as there; where it can be imported, it is taken itself."""

import io
import sys
import tempfile
import time

from beside import cpu, number, row, use_build

BUILD = use_build()

import numpy  # noqa: E402
import scipy.fftpack  # noqa: E402
from PIL import Image  # noqa: E402

import doppel  # noqa: E402

COUNT = number(1, 1000)
RANDOM = numpy.random.default_rng(24)
ROUND = 250  # pictures of a turn: a worker starts once for them


def draw():
    """A JPEG of 1600 × 1200 with detail of every size, as photographs have it."""
    sum_of = numpy.zeros((1200, 1600, 3), numpy.float32)
    for side in (4, 12, 40, 160, 400):
        low = RANDOM.integers(0, 256, (side * 3 // 4, side, 3), dtype=numpy.uint8)
        large = Image.fromarray(low).resize((1600, 1200), Image.BICUBIC)
        sum_of += numpy.asarray(large, numpy.float32) * (2 / side) ** 0.7
    sum_of += RANDOM.normal(0, 3, sum_of.shape).astype(numpy.float32)
    scaled = (sum_of - sum_of.min()) * (255 / (sum_of.max() - sum_of.min()))
    out = io.BytesIO()
    Image.fromarray(scaled.astype(numpy.uint8)).save(out, "JPEG", quality=85)
    return out.getvalue()


def draw_all(folder):
    """Some that are different, and the others their copies: what is read has no cache."""
    paths = []
    for at in range(20):
        paths.append(f"{folder}/{at}.jpg")
        with open(paths[-1], "wb") as file:
            file.write(draw())
    return paths


def formula(path):
    """imagehash.phash(), by its published code."""
    with Image.open(path) as picture:
        pixels = numpy.asarray(picture.convert("L").resize((32, 32), Image.LANCZOS))
    low = scipy.fftpack.dct(scipy.fftpack.dct(pixels, axis=0), axis=1)[:8, :8]
    return low > numpy.median(low)


def find_peer():
    try:
        import imagehash

        return "imagehash", lambda path: imagehash.phash(Image.open(path))
    except ImportError:
        return "imagehash's code", formula


def timed(work, paths):
    """Seconds of CPU, also of a worker, which has ended by then; and by the clock."""
    began, used = time.perf_counter(), cpu()
    work(paths)
    return numpy.array([cpu() - used, time.perf_counter() - began])


def hash_all(paths, scheme=None):
    run = doppel.Run(jobs=1)
    for path in paths:
        doppel.hash(path, scheme=scheme, run=run)


def main(paths):
    peer, phash = find_peer()
    ways = {
        f"{peer}, phash": lambda paths: [phash(path) for path in paths],
        "doppel.hash, all views": hash_all,
        "doppel.hash, scheme imagehash": lambda paths: hash_all(paths, "imagehash"),
    }
    took = {name: numpy.zeros(2) for name in ways}
    for first in range(0, COUNT, ROUND):
        part = [paths[at % len(paths)] for at in range(first, min(first + ROUND, COUNT))]
        for name, work in ways.items():
            took[name] += timed(work, part)
    theirs = took[f"{peer}, phash"]
    row(f"{COUNT} JPEGs", "CPU, ms", "clock, ms", "CPU", "clock", "goal")
    row(*["---"] * 6)
    for name, seconds in took.items():
        each, times = seconds * 1e3 / COUNT, theirs / seconds
        goal = "≥ 5 ×" if "views" in name else ""
        row(name, *(f"{ms:.2f}" for ms in each), *(f"{of:.1f} ×" for of in times), goal)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[3:] or draw_all(folder))
