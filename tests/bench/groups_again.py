#!/usr/bin/env python3
"""groups_again BUILD [MILLIONS [FOLDER]]: what `groups` takes of a library of so many made pictures
(library_large.c), and of so many PDQ codes, at first and again. The libraries are made in FOLDER,
or where temporary files lie, and removed at the end."""

import os
import sys
import tempfile

from ask_library import make_codes
from commands import print_run


def main():
    build, millions = os.path.abspath(sys.argv[1]), float((sys.argv[2:] or [1])[0])
    doppel = os.path.join(build, "doppel")
    large = os.path.join(build, "tests/bench/library_large")
    parent = sys.argv[3] if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory(prefix="doppel-groups-", dir=parent) as folder:
        make_codes(os.path.join(folder, "list"), int(millions * 1e6))
        for what, command in (
            ("pictures", [large, doppel, f"{millions:f}", "pictures"]),
            ("codes", [doppel, "import", "-q", "--format", "pdq", "-L", "codes", "list"]),
        ):
            print_run(f"{what}: make the library", command, folder)
            for run in "first", "second":
                print_run(f"{what}: groups, {run} run",
                          [doppel, "groups", "-q", "--json", "-L", what], folder)


if __name__ == "__main__":
    main()
