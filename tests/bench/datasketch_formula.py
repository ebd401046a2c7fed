"""The speed of datasketch's batch path, by its formula: text on standard input, seconds of CPU
on standard output."""

import hashlib
import re
import struct
import sys
import time

import numpy as np

PERMUTATIONS, SHINGLE = 128, 5
PRIME, MASK = np.uint64((1 << 61) - 1), np.uint64((1 << 32) - 1)

random = np.random.RandomState(1)
drawn = [
    (random.randint(1, PRIME, dtype=np.uint64), random.randint(0, PRIME, dtype=np.uint64))
    for _ in range(PERMUTATIONS)
]
factors, summands = np.array(drawn, dtype=np.uint64).T


def sign(text):
    words = re.findall(rb"[a-z0-9]+", text.lower())
    shingles = {b" ".join(words[i : i + SHINGLE]) for i in range(len(words) - SHINGLE + 1)}
    hashes = np.array(
        [struct.unpack("<I", hashlib.sha1(s).digest()[:4])[0] for s in shingles], dtype=np.uint64
    )
    values = ((hashes * np.tile(factors, (len(hashes), 1)).T).T + summands) % PRIME & MASK
    return values.min(axis=0)


documents = [d for d in sys.stdin.buffer.read().split(b"\0") if d]
np.seterr(over="ignore")
started = time.process_time()
for document in documents:
    sign(document)
print(time.process_time() - started)
