#!/usr/bin/env python3
"""A dedup in stages against one dedup of the same records, each with as many jobs.

`dedup_stages.py BUILD [RECORDS [JOBS [FILE]]]`

FILE is a corpus that is there, such as text_dedup keeps; else one is made: texts of 100 words, four
in ten of them copies with changed words, or a beginning, or cut. In turns: one `dedup`; the stages,
so many processes at a time, as a scheduler has them, with a job each but for `decide`, which is
alone, and once more what it takes after `compare`; and `--stage all`. Of each the best of three
turns counts. All must print the same.
"""

import concurrent.futures
import os
import pathlib
import random
import sys
import tempfile
import time

TURNS, WORDS, GOAL = 3, 100, 1.3
BUILD = pathlib.Path(sys.argv[1]).resolve()
RECORDS = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
JOBS = int(sys.argv[3]) if len(sys.argv) > 3 else 2


class Clock:
    """Seconds on the wall, and of CPU, since it was made."""

    def __init__(self):
        self.began, self.cpu_began = time.monotonic(), sum(os.times()[2:4])

    def read(self):
        return time.monotonic() - self.began, sum(os.times()[2:4]) - self.cpu_began


def write_corpus(path):
    chance = random.Random(4711)
    words = ["".join(chance.choices("etaoinshrdlu", k=3 + i % 7)) for i in range(30000)]
    texts = []
    with open(path, "w") as file:
        for number in range(RECORDS):
            if texts and chance.random() < 0.4:
                text = list(chance.choice(texts))
                for _ in range(chance.randrange(6)):
                    text[chance.randrange(len(text))] = chance.choice(words)
                if chance.random() < 0.3:
                    text = chance.choices(words, k=8) + text[: chance.randrange(60, WORDS + 1)]
            else:
                text = chance.choices(words, k=WORDS)
                if number % 4 == 0:
                    texts.append(text)
            file.write(f'{{"id":"r{number}","text":"{" ".join(text)}"}}\n')


def dedup(corpus, *words, to=os.devnull):
    """Run it to its end; it may not fail."""
    with open(to, "wb") as out:
        program = [str(BUILD / "doppel"), "dedup", "-q", str(corpus), *map(str, words)]
        actions = [(os.POSIX_SPAWN_DUP2, out.fileno(), 1)]
        child = os.posix_spawn(program[0], program, os.environ, file_actions=actions)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code == 0, (words, code)


def run_stage(corpus, work, stage, parts, more=()):
    clock = Clock()
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        jobs = [
            pool.submit(dedup, corpus, "--work", work, "--stage", stage, "--jobs", 1,
                        "--part", f"{i}/{parts}", *more)
            for i in range(1, parts + 1)
        ]  # fmt: skip
        for job in jobs:
            job.result()
    return clock.read()


def run_stages(corpus, work):
    """Wall and CPU of each stage."""
    times = {"sign": run_stage(corpus, work, "sign", 4 * JOBS)}
    times["join"] = run_stage(corpus, work, "join", JOBS)
    clock = Clock()
    dedup(corpus, "--work", work, "--stage", "decide", "--jobs", JOBS)
    times["decide"] = clock.read()
    times["emit"] = run_stage(corpus, work, "emit", JOBS, ("--emit", "decisions"))
    times["stages"] = tuple(map(sum, zip(*times.values())))
    (pathlib.Path(work) / "decide-0001-of-0001").unlink()
    times["compare"] = run_stage(corpus, work, "compare", 2 * JOBS)
    clock = Clock()
    dedup(corpus, "--work", work, "--stage", "decide", "--jobs", JOBS)
    times["decide then"] = clock.read()
    return times


def timed(corpus, *words, to):
    clock = Clock()
    dedup(corpus, "--jobs", JOBS, *words, to=to)
    return clock.read()


def same_bytes(wanted, paths):
    with open(wanted, "rb") as file:
        for path in paths:
            bytes_there = path.read_bytes()
            if file.read(len(bytes_there)) != bytes_there:
                return False
        return not file.read(1)


def turn(corpus, folder):
    once, everything = folder / "once", folder / "all"
    times = {"dedup": timed(corpus, to=once)}
    with tempfile.TemporaryDirectory(dir=folder) as work:
        times |= run_stages(corpus, work)
        emitted = sorted(pathlib.Path(work).glob("emit-*.jsonl"))
        assert same_bytes(once, emitted), "the stages decide otherwise"
        size = sum(path.stat().st_size for path in pathlib.Path(work).iterdir())
    with tempfile.TemporaryDirectory(dir=folder) as work:
        times["--stage all"] = timed(corpus, "--work", work, "--stage", "all", to=everything)
    assert same_bytes(once, [everything]), "--stage all decides otherwise"
    return times, size


def main():
    with tempfile.TemporaryDirectory(prefix="doppel-stages-") as held:
        folder = pathlib.Path(held)
        corpus = pathlib.Path(sys.argv[4]).resolve() if len(sys.argv) > 4 else folder / "c.jsonl"
        if len(sys.argv) <= 4:
            write_corpus(corpus)
        turns = [turn(corpus, folder) for _ in range(TURNS)]
        best = {name: tuple(min(times[name][i] for times, _ in turns) for i in (0, 1))
                for name in turns[0][0]}  # fmt: skip
        print(f"{corpus.stat().st_size / 1e9:.2f} GB, {JOBS} jobs; "
              f"{turns[0][1] / 1e9:.2f} GB in the folder of the stages")  # fmt: skip
        print(f"{'':12} {'wall':>9} {'cpu':>9}")
        for name, (wall, cpu) in best.items():
            print(f"{name:12} {wall:7.2f} s {cpu:7.2f} s")
        for name in ("stages", "--stage all"):
            ratios = [best[name][i] / best["dedup"][i] for i in (0, 1)]
            print(f"{name}: {ratios[0]:.2f} × one dedup (goal {GOAL}), cpu {ratios[1]:.2f} ×")


if __name__ == "__main__":
    main()
