#!/usr/bin/env python3
"""The power goes while a durable writer works, each time at another call: what was acknowledged is
there, the library is whole, and the next run does the rest. What was not synced is lost, or parts
of it are (tests/store/power.c, power_cut.c).

Usage: power_cuts.py DOPPEL FAULT_SHIM POWER_SHIM POWER_CUT CUTS [VERB]..."""

import argparse
import collections
import json
import os
import random
import shutil
import subprocess
import sys

from fault_scene import Scene, Verb, between, items, named_verbs, sentence_of

HOME = "home/library"  # whether the folder's own name is lasting is a question, too


def home_state(scene):
    return items(scene, HOME)


COPY = [["backup", HOME]]
FULL = [["backup", HOME, "-L", "full"]]
DURABLE = ["--durable", "-L", HOME]
VERBS = [
    Verb("add new", ["add", "tree", "--json", *DURABLE], home_state),
    Verb("add", ["add", "tree", "--json", *DURABLE], home_state, COPY),
    Verb("ingest new", ["ingest", "tree", "--json", *DURABLE], home_state),
    Verb("ingest", ["ingest", "tree", "--json", *DURABLE], home_state, COPY),
    Verb("ingest records", ["ingest", "--jsonl", "records.jsonl", "--json", *DURABLE], home_state,
         COPY),
    Verb("import", ["import", "other.jsonl", *DURABLE], home_state, COPY),
    Verb("import new", ["import", "hashes.csv", "--format", "pdq", "--list", "hashes", *DURABLE],
         home_state),
    Verb("merge", ["merge", "other", *DURABLE], home_state, COPY),
    Verb("remove", ["remove", "tree/2.txt", "tree/near.txt", "tree/deep/clock.png", *DURABLE],
         home_state, FULL, again=False),
]


def shadow_path(shadow, kind, path):
    return shadow / f"{kind}.{path.stat().st_ino}"


def keep_all(shadow, folder):
    """All that is there is lasting."""
    shutil.rmtree(shadow, ignore_errors=True)
    shadow.mkdir()
    for path in (folder, *folder.rglob("*")):
        if path.is_file():
            shutil.copy(path, shadow_path(shadow, "f", path))
        else:
            names = [f"{entry.stat().st_ino} {entry.name}\n" for entry in path.iterdir()]
            shadow_path(shadow, "d", path).write_text("".join(names))


def acknowledged(scene, ran):
    """Paths and records of the whole lines of its answers."""
    lines = ran.stdout.decode().split("\n")[:-1]
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    paths = {os.path.join(scene.run, row["path"]) for row in rows if "path" in row}
    return paths | {row["id"] for row in rows if isinstance(row.get("id"), str)}


def cut(scene, verb, options, number, seed):
    """@return what the run printed"""
    home, shadow, after = (scene.run / name for name in ("home", "shadow", "after"))
    home.mkdir()
    for arguments in verb.before:
        assert scene.doppel_runs(arguments).returncode == 0
    keep_all(shadow, home)
    ran = scene.doppel_runs(verb.arguments, f"change {number} kill", preloads=[options.power],
                            POWER_SHADOW=str(shadow))
    assert ran.returncode in (-9, 0), f"exit {ran.returncode}: {sentence_of(ran)}"
    subprocess.run([options.power_cut, home, shadow, str(seed), after], check=True)
    shutil.rmtree(home)
    after.rename(home)
    return ran


def moment(chance, changes):
    """One in two is late, when there is something acknowledged to be lost."""
    return chance.randint(1 if chance.random() < 0.5 else changes * 2 // 3, changes + 1)


def names_of(state):
    return {path for path, _, _, _ in state} | {record for _, record, _, _ in state}


def problem_of(scene, verb, whole, options, number, seed):
    scene.begin(verb, prepared=False)
    try:
        ran = cut(scene, verb, options, number, seed)
        now = verb.state(scene)
        assert between(now, whole.before, whole.after), \
            f"neither before nor after: {now ^ whole.before} {now ^ whole.after}"
        lost = acknowledged(scene, ran) - names_of(now)
        assert not lost, f"acknowledged and lost: {sorted(lost)}"
        assert ran.returncode != 0 or now == whole.after, f"lost: {whole.after ^ now}"
        if now != whole.after or verb.again:
            again = scene.doppel_runs(verb.arguments)
            assert again.returncode == 0, f"the next run: {sentence_of(again)}"
        assert verb.state(scene) == whole.after, "the next run does not do the rest"
    except AssertionError as wrong:
        return str(wrong)
    return None


Whole = collections.namedtuple("Whole", "before after changes")


def whole_run(scene, verb):
    scene.begin(verb, prepared=False)
    (scene.run / "home").mkdir()
    for arguments in verb.before:
        scene.doppel_runs(arguments)
    before = verb.state(scene)
    ran = scene.doppel_runs(verb.arguments, "")
    assert ran.returncode == 0, (verb.name, sentence_of(ran))
    changes = scene.count()["change"]
    return Whole(before, verb.state(scene), changes)


def read_options():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("doppel", "shim", "power", "power_cut"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("cuts", type=int)
    parser.add_argument("verbs", nargs="*")
    options = parser.parse_args()
    options.media = None
    return options


def main():
    options, problems = read_options(), 0
    verbs = named_verbs(VERBS, options.verbs)
    scene, chance = Scene(options), random.Random(1)
    try:
        for verb in verbs:
            whole = whole_run(scene, verb)
            done = range(-(-options.cuts // len(verbs)))
            for seed in done:
                number = moment(chance, whole.changes)
                problem = problem_of(scene, verb, whole, options, number, seed)
                if problem:
                    print(f"{verb.name}: change {number} of {whole.changes}, seed {seed}: "
                          f"{problem}", flush=True)
                    problems += 1
            print(f"{verb.name}: {len(done)} power cuts", flush=True)
    finally:
        scene.end()
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
