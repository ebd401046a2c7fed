#!/usr/bin/env python3
"""One allocation of doppel fails, each time another one: the run ends with a sentence and 2 or 3,
or it prints what it prints else.
Usage: alloc_faults.py DOPPEL DEMO SHIM [FAULTS a verb]"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

doppel, demo, shim = sys.argv[1:4]
faults = int(sys.argv[4]) if len(sys.argv) > 4 else 25
work = pathlib.Path(tempfile.mkdtemp(prefix="doppel-faults-"))
count_file = work / "count"

VERBS = [
    ["hash", "pictures/originals"],
    ["scan", "pictures/originals", "pictures/copies"],
    ["compare", "pictures/originals/sea.jpg", "pictures/copies/sea-cropped.jpg"],
    ["list"],
    ["show", "1"],
    ["log"],
    ["stats"],
    ["groups"],
    ["find", "pictures/copies/sea-cropped.jpg"],
    ["check", "text.txt"],
    ["add", "pictures/originals", "pictures/copies"],
]


def run(verb, fail_at=0):
    """In a copy of the library, with a cache of its own."""
    for name in ("data", "cache"):
        shutil.rmtree(work / name, ignore_errors=True)
    if verb[0] != "add":
        shutil.copytree(work / "library", work / "data")
    environment = os.environ | {
        "HOME": str(work),
        "XDG_CACHE_HOME": str(work / "cache"),
        "DOPPEL_LIBRARY": str(work / "data"),
        "LD_PRELOAD": shim,
        "FAIL_AT": str(fail_at),
        "FAIL_COUNT": str(count_file),
    }
    return subprocess.run([doppel, *verb], cwd=work, env=environment,
                          capture_output=True, timeout=120)


def problem_of(ended, whole):
    """What is wrong with a run in which an allocation failed; None: nothing."""
    if ended.returncode not in (whole.returncode, 2, 3):
        return f"exit {ended.returncode}"
    if ended.returncode != whole.returncode and not ended.stderr.startswith(b"doppel: "):
        return "no sentence"
    if b"damaged" in ended.stderr or b"astray" in ended.stderr:
        return "the file is blamed"
    if ended.returncode == whole.returncode and ended.stdout != whole.stdout and not ended.stderr:
        return f"silently other: {ended.stdout!r} in place of {whole.stdout!r}"
    return None


def problems_of_verb(verb):
    whole = run(verb)
    assert whole.returncode in (0, 1), whole.stderr
    total = int(count_file.read_text())
    for i in range(faults):
        fail_at = 1 + i * total // faults
        ended = run(verb, fail_at)
        problem = problem_of(ended, whole)
        if problem:
            yield f"{' '.join(verb)}, allocation {fail_at} of {total}: {problem} {ended.stderr!r}"


def main():
    subprocess.run([demo, str(work / "pictures")], check=True, stdout=subprocess.DEVNULL)
    (work / "pictures/copies/broken.jpg").unlink()
    (work / "text.txt").write_text("the old fox lives in the deep wood behind the hill " * 20)
    assert run(["add", "pictures/originals", "pictures/copies"]).returncode == 0
    shutil.copytree(work / "data", work / "library")
    problems = [problem for verb in VERBS for problem in problems_of_verb(verb)]
    shutil.rmtree(work)
    sys.exit("\n".join(problems) or 0)


main()
