"""How many files a second `doppel ingest -` answers that a library knows: by their bytes, at paths
that it has not met, and by their paths. The goal is 10 000 a second.

    python3 tests/bench/ingest_known.py build/doppel [FILES]
"""

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter

FLIGHT = 256  # lines that are written before answers are read


def write_texts(folder, count):
    os.mkdir(folder)
    paths = []
    for i in range(count):
        path = f"{folder}/{i}.txt"
        with open(path, "w") as file:
            file.write(" ".join(f"w{i * 31 % 9973}x{j * (i + 7) % 8191}" for j in range(40)))
        paths.append(path)
    return paths


def ingest(doppel, folder, paths):
    process = subprocess.Popen(
        [doppel, "ingest", "-L", f"{folder}/library", "--cache", f"{folder}/cache.db", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    decisions = Counter()
    begun, sent = time.monotonic(), 0
    for answered in range(len(paths)):
        if sent - answered < FLIGHT // 2 and sent < len(paths):
            lines = paths[sent : sent + FLIGHT // 2]
            process.stdin.write("".join(f"{line}\n" for line in lines).encode())
            process.stdin.flush()
            sent += len(lines)
        line = process.stdout.readline()
        decisions[
            line.split(b'"reason":"', 1)[-1].split(b'"', 1)[0] if b'"reason"' in line else b"new"
        ] += 1
    seconds = time.monotonic() - begun
    process.stdin.close()
    process.wait()
    return seconds, decisions


def main():
    doppel, count = os.path.abspath(sys.argv[1]), int((sys.argv[2:] or [20000])[0])
    with tempfile.TemporaryDirectory() as folder:
        first, second = write_texts(f"{folder}/a", count), write_texts(f"{folder}/b", count)
        for name, paths in ("new texts", first), ("known bytes", second), ("known paths", second):
            if name == "known paths":
                time.sleep(2.1)  # only then a stamp proves that a file is unchanged
                ingest(doppel, folder, second)
            seconds, decisions = ingest(doppel, folder, paths)
            told = ", ".join(f"{n} {reason.decode()}" for reason, n in decisions.most_common())
            print(f"{name:12} {len(paths) / seconds:8.0f} files a second ({told})", flush=True)


main()
