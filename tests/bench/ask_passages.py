#!/usr/bin/env python3
"""ask_passages BUILD FOLDER: what a text that shares a passage costs a process that asks a library
of many texts, from its start to its end, and its private memory. The library is that of
`passage_library TEXTS FOLDER`."""

import os
import re
import subprocess
import sys

from ask_texts import report


def main():
    build, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    find = [os.path.join(build, "doppel"), "find", "--scheme", "winnow32", "--library",
            os.path.join(folder, "library"), os.path.join(folder, "one.txt")]
    print(f"{'':28}wall ms  cpu ms  cold ms")
    report("find of a passage", find)
    print(f"private memory {max(private_memory(find) for _ in range(5)) / 1024:.1f} MB")


def private_memory(command):
    """KB at most, as seen while it runs."""
    most = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/smaps_rollup") as file:
                    most = max(most, *map(int, re.findall(r"Private_Dirty: +(\d+)", file.read())))
            except (OSError, TypeError):
                pass
    return most


if __name__ == "__main__":
    main()
