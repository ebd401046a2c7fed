#!/usr/bin/env python3
"""Writers that decide about near copies at once. Usage: writers.py BUILD"""

import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TOP / "house"), str(TOP / "cluster")]

import tap
from redis import start_cluster

BUILD = pathlib.Path(sys.argv[1]).resolve()
folder = tempfile.TemporaryDirectory(prefix="doppel-shards-")
nodes = []


def race(name, *arguments):
    if not nodes:
        nodes.extend(start_cluster(BUILD, pathlib.Path(folder.name), 3))
    address = f"redis://127.0.0.1:{nodes[0].port}/{name}"
    done = subprocess.run(
        [BUILD / "tests" / "shards" / "race-writers", address, *map(str, arguments)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    print("#", done.stdout.strip())


def test_of_copies_in_one_writer_one_is_new():
    race("one", 1, 400, 1)


def test_of_copies_sent_at_once_exactly_one_is_new():
    for seed in range(4):
        race(f"many{seed}", 4, 300, seed)


def test_what_a_dead_writer_left_pending_is_nobodys_duplicate():
    race("dead", 3, 400, 5, "dead")


if __name__ == "__main__":
    code = tap.main(sys.modules[__name__])
    for node in nodes:
        node.stop()
    sys.exit(code)
