#!/usr/bin/env python3
"""A build holds nothing of where and when it was made. `tests/long/reproducible.sh` makes two and
compares them whole. Usage: reproducible.py BUILD"""

import pathlib
import re
import sys

import tap

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()
FILES = ["doppel", "doppel-worker", "include/libdoppel.so", "include/libdoppel.a"]
TIMES = re.compile(r"__(DATE|TIME|TIMESTAMP)__")


def test_files_do_not_say_where_they_were_built():
    for name in FILES:
        content = (BUILD / name).read_bytes()
        for folder in {TOP, BUILD}:
            assert str(folder).encode() not in content, (name, folder)


def test_sources_do_not_ask_for_the_time_of_compilation():
    for name in tap.run("git", "-C", TOP, "ls-files", "*.c", "*.h", "*.cpp").splitlines():
        assert not TIMES.search((TOP / name).read_text()), name


def test_archives_hold_no_times():
    for line in tap.run("ar", "tv", BUILD / "include/libdoppel.a", env={"TZ": "UTC"}).splitlines():
        assert " 1970 " in line and " 0/0 " in line, line


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
