#!/usr/bin/env python3
"""ask_texts BUILD FOLDER: what one record, or text, costs a process that asks a library of many
records, from its start to its end: warm, and with the page cache emptied (as root); and how many
pages it touches, its own and those of the library, whatever else the machine does. The library is
that of `text_ingest 1 RECORDS FOLDER`."""

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time

ROUNDS = 15


def main():
    build, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    doppel, library = os.path.join(build, "doppel"), os.path.join(folder, "library")
    record = os.path.join(folder, "one.jsonl")
    text = os.path.join(folder, "one.txt")
    with open(os.path.join(folder, "held.jsonl")) as file:
        for number, line in enumerate(file):
            if number == 4711:
                break
    words = json.loads(line)["text"].split()
    words[len(words) // 2] = "changed"
    for path, content in (record, json.dumps({"id": "new", "text": " ".join(words)}) + "\n"), \
            (text, " ".join(words)):
        with open(path, "w") as file:
            file.write(content)
    print(f"{'':28}wall ms  cpu ms  cold ms  pages")
    report("check of a record", [doppel, "check", "--library", library, "--jsonl", record])
    report("find of a text", [doppel, "find", "--library", library, text])
    numbers = random.Random(time.time())
    report("ingest of a new record",
           lambda: ([doppel, "ingest", "--library", library, "--jsonl", "-"],
                    json.dumps({"id": f"{numbers.getrandbits(64):x}",
                                "text": " ".join(f"w{numbers.getrandbits(30)}"
                                                 for _ in range(100))}) + "\n"))


def report(name, command):
    """@param command or a function that gives one, and what it reads"""
    once(command)
    runs = [once(command) for _ in range(ROUNDS)]
    wall, cpu, pages = (statistics.median(run[i] for run in runs) for i in range(3))
    cold = [once(command)[0] for _ in range(3) if empty_page_cache()]
    print(f"{name:28}{wall:7.1f} {cpu:7.1f} " +
          (f"{statistics.median(cold):7.1f}" if cold else " " * 7) + f" {pages:7.0f}")


def once(command):
    arguments, given = command() if callable(command) else (command, None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    run = subprocess.run(arguments, input=given, text=True, capture_output=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert run.returncode in (0, 1) and run.stdout, run.stderr
    return (1e3 * wall,
            1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime),
            after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt)


def empty_page_cache():
    try:
        os.sync()
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("3")
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
