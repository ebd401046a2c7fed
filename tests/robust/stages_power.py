#!/usr/bin/env python3
"""The power goes after parts of a dedup in stages are done: all of them are there and whole, and
the next stages go on from them (tests/store/power.c, power_cut.c).

Usage: stages_power.py DOPPEL POWER_SHIM POWER_CUT"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

DOPPEL, SHIM, CUT = (pathlib.Path(name).resolve() for name in sys.argv[1:4])
PARTS = (("sign", 3), ("join", 2), ("compare", 2), ("decide", 1), ("emit", 2))


def dedup(folder, *words, **environment):
    command = [DOPPEL, "dedup", "-q", "corpus.jsonl", *map(str, words)]
    ran = subprocess.run(command, cwd=folder, env=dict(os.environ, **environment), timeout=100,
                         capture_output=True)  # fmt: skip
    assert ran.returncode == 0, (words, ran.returncode, ran.stderr.decode())
    return ran.stdout


def do_stage(folder, shadow, name, parts):
    for number in range(1, parts + 1):
        part = () if name == "decide" else ("--part", f"{number}/{parts}")
        dedup(folder, "--work", "work", "--stage", name, *part, LD_PRELOAD=str(SHIM),
              POWER_SHADOW=str(shadow))  # fmt: skip


def cut(folder, shadow, seed):
    """What a power cut leaves takes its place."""
    work, after = folder / "work", folder / "after"
    subprocess.run([CUT, work, shadow, str(seed), after], check=True)
    for path in work.iterdir():
        path.unlink()
    work.rmdir()
    after.rename(work)


def keep_all(folder, shadow):
    """What a power cut left is lasting."""
    for path in folder.iterdir():
        (shadow / f"f.{path.stat().st_ino}").write_bytes(path.read_bytes())
    names = [f"{path.stat().st_ino} {path.name}\n" for path in folder.iterdir()]
    (shadow / f"d.{folder.stat().st_ino}").write_text("".join(names))


def done(folder):
    rows = map(json.loads, dedup(folder, "--work", "work", "--stage", "status").splitlines())
    return {row["stage"]: row["done"] for row in rows}


def test(folder, seed):
    wanted = dedup(folder)
    for at, (name, parts) in enumerate(PARTS):
        shadow = folder / f"shadow{at}"
        shadow.mkdir()
        if at:
            keep_all(folder / "work", shadow)
        do_stage(folder, shadow, name, parts)
        cut(folder, shadow, seed)
        expected = {stage: count if before <= at else 0
                    for before, (stage, count) in enumerate(PARTS)}  # fmt: skip
        assert done(folder) == expected, (name, done(folder))
    paths = sorted((folder / "work").glob("emit-*.jsonl"))
    assert b"".join(path.read_bytes() for path in paths) == wanted


def main():
    for seed in range(4):
        with tempfile.TemporaryDirectory(prefix="doppel-power-") as held:
            folder = pathlib.Path(held)
            lines = [{"id": f"r{i}", "text": " ".join(f"word{i % 70}x{j}" for j in range(30))}
                     for i in range(200)]  # fmt: skip
            (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
            test(folder, seed)


main()
