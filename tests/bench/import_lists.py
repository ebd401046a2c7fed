#!/usr/bin/env python3
"""import_lists BUILD [CODES [FOLDER]]: what it takes to import lists of so many codes (1 000 000),
as exchanges hand them on, and digests, and to carry the library on. What is made lies in FOLDER,
or where temporary files lie, and is removed at the end."""

import itertools
import os
import pathlib
import random
import sys
import tempfile

from commands import print_run

LINES = 1_000_000


def codes(seed, count):
    numbers = random.Random(seed)
    return (f"{numbers.getrandbits(256):064x}" for _ in range(count))


def write_lists(folder, count):
    """Line by line: what this process holds would count for its children, too."""
    with open(folder / "codes", "w") as file:
        file.writelines(f"{code}\n" for code in codes(1, count))
    with open(folder / "sums", "w") as file:
        file.writelines(f"{code}  file {i}\n" for i, code in enumerate(codes(1, count)))
    with open(folder / "imagehash", "w") as file:
        file.writelines(f"{code[:16]}\n" for code in codes(1, count))
    few = count // 100
    changed = itertools.chain(itertools.islice(codes(1, count), few, None), codes(2, few))
    for name, lines in ("list.csv", codes(1, count)), ("changed.csv", changed):
        with open(folder / name, "w") as file:
            file.write("hash,hash_type,tags\n")
            file.writelines(f'{code},pdq,"tag{code[0]},{code[1]}tag"\n' for code in lines)


def runs(folder):
    """What is done, one after the other: a name, and the words of the command."""
    sync = ["import", "-q", "-L", "tagged", "--list", "list", "--sync"]
    return (
        ("import of PDQ codes", ["import", "-q", "-L", "codes.l", "--format", "pdq", "codes"]),
        ("again: all is there", ["import", "-q", "-L", "codes.l", "--format", "pdq", "codes"]),
        ("import --list, two tags each", ["import", "-q", "-L", "tagged", "list.csv", "--list",
                                          "list"]),
        ("import --sync, unchanged", [*sync, "list.csv"]),
        ("import --sync, 1 % gone, 1 % new", [*sync, "changed.csv"]),
        ("import of imagehash lines", ["import", "-q", "-L", "imagehash.l", "--format",
                                       "imagehash", "imagehash"]),
        ("import of sha256sum lines", ["import", "-q", "-L", "sums.l", "sums"]),
        ("export", ["export", "-L", "tagged", "-o", "export.jsonl"]),
        ("export --format csv", ["export", "-L", "tagged", "--format", "csv", "-o", "export.csv"]),
        ("import of that export", ["import", "-q", "-L", "again", "export.jsonl"]),
        ("merge into a new library", ["merge", "-q", "tagged", "-L", "merged"]),
        ("backup", ["backup", "copy", "-L", "tagged"]),
    )


def main():
    doppel = os.path.abspath(os.path.join(sys.argv[1], "doppel"))
    count = int(sys.argv[2]) if len(sys.argv) > 2 else LINES
    parent = sys.argv[3] if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory(prefix="doppel-lists-", dir=parent) as name:
        folder = pathlib.Path(name)
        write_lists(folder, count)
        for what, words in runs(folder):
            print_run(what, [doppel, *words], folder, count)


if __name__ == "__main__":
    main()
