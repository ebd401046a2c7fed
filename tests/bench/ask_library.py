#!/usr/bin/env python3
"""ask_library BUILD MILLIONS [FOLDER]: what one question costs a process that asks a library of so
many PDQ codes, from its start to its end: warm, with the page cache emptied (as root), and what
others need for the same: FAISS indexes from a file, SQLite with hamming() over all rows. The
library is made by import, which is timed, unless it is there."""

import os
import random
import statistics
import subprocess
import sys

from commands import print_run, run

ROUNDS = 9


def main():
    build, millions = os.path.abspath(sys.argv[1]), float(sys.argv[2])
    folder = sys.argv[3] if len(sys.argv) > 3 else "ask-library"
    os.makedirs(folder, exist_ok=True)
    codes = os.path.join(folder, f"codes-{millions:g}.txt")
    library = os.path.join(folder, f"library-{millions:g}")
    if not os.path.exists(codes):
        make_codes(codes, int(millions * 1e6))
    doppel = os.path.join(build, "doppel")
    if not os.path.exists(library):
        print_run("import", [doppel, "import", "-q", "--library", library, "--format", "pdq",
                             codes])
    with open(codes) as file:
        code = next(line.strip() for number, line in enumerate(file) if number == 4711)
    near = flip(code, 20)
    find = [doppel, "find", "--library", library, "--scheme", "pdq", "--code", near]
    report("doppel find --code", find, library)
    peers(build, folder, codes, millions, near, library)


def make_codes(path, count):
    numbers = random.Random(1)
    with open(path, "w") as file:
        for _ in range(count):
            file.write(f"{numbers.getrandbits(256):064x}\n")


def flip(code, bits):
    """The code with so many bits changed."""
    number = int(code, 16)
    for i in range(bits):
        number ^= 1 << (i * 11)
    return f"{number:064x}"


def peers(build, folder, codes, millions, near, library):
    ask = os.path.join(build, "tests/bench/index/faiss_ask")
    if os.path.exists(ask):
        for kind in ("flat", "ivf"):
            index = os.path.join(folder, f"faiss-{kind}-{millions:g}")
            if not os.path.exists(index):
                print_run(f"faiss {kind}: make", [ask, "make", kind, codes, index])
            report(f"faiss {kind}, from a file", [ask, "ask", "31", near, index], index)
    rows = os.path.join(folder, f"rows-{millions:g}.db")
    extension = os.path.join(build, "library/doppel_sqlite.so")
    if not os.path.exists(rows):
        make_rows(rows, codes)
    scan = ["sqlite3", rows, f".load {extension}",
            f"SELECT count(*) FROM code WHERE hamming(code, x'{near}') <= 31"]
    report("SQLite, hamming() of all rows", scan, rows)


def make_rows(path, codes):
    import sqlite3
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE code(code BLOB)")
    with open(codes) as file:
        database.executemany("INSERT INTO code VALUES(?)",
                             ((bytes.fromhex(line.strip()),) for line in file))
    database.commit()
    database.close()


def empty_cache(path):
    """Take what a file or folder has in the page cache out of it."""
    for base, _, names in os.walk(path) if os.path.isdir(path) else [(os.path.dirname(path), [],
                                                                     [os.path.basename(path)])]:
        for name in names:
            with open(os.path.join(base, name), "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def report(name, command, data):
    try:
        run(command)
    except (subprocess.CalledProcessError, FileNotFoundError):
        print(f"{name:34} cannot be run here")
        return
    warm = [run(command) for _ in range(ROUNDS)]
    cold = []
    for _ in range(3):
        empty_cache(data)
        cold.append(run(command)[0])
    walls, cpus, _ = zip(*warm)
    print(f"{name:34} {ms(walls)} ms wall {ms(cpus)} ms CPU {ms(cold)} ms cold", flush=True)


def ms(seconds):
    return f"{statistics.median(seconds) * 1e3:8.1f}"


if __name__ == "__main__":
    main()
