#!/usr/bin/env python3
"""Answers of a library in a cluster are those of one in a folder.

usage: answers.py BUILD [QUERIES ITEMS]

With more of both than usual it takes some minutes."""

import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TOP / "house"), str(TOP / "cluster")]

import tap
from redis import start_cluster

BUILD = pathlib.Path(sys.argv[1]).resolve()
QUERIES, ITEMS = (int(word) for word in sys.argv[2:] or ("1500", "3000"))
folder = tempfile.TemporaryDirectory(prefix="doppel-shards-")
nodes = []


def address(name):
    """Of a library of its own."""
    if not nodes:
        nodes.extend(start_cluster(BUILD, pathlib.Path(folder.name), 3))
    return "redis://" + ",".join(f"127.0.0.1:{node.port}" for node in nodes[1:]) + "/" + name


def compare(scheme, seed):
    done = subprocess.run(
        [BUILD / "tests" / "shards" / "compare-answers", address(scheme), scheme, str(ITEMS),
         str(QUERIES), str(seed)],
        capture_output=True, text=True, timeout=3600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    print("#", done.stdout.strip())


def test_pictures_by_all_views():
    compare("phash64", 1)


def test_pictures_of_one_code():
    compare("pdq", 2)


def test_pictures_of_64_bits():
    compare("imagehash", 3)


if __name__ == "__main__":
    code = tap.main(sys.modules[__name__])
    for node in nodes:
        node.stop()
    sys.exit(code)
