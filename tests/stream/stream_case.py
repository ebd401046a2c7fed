"""What tests of streams share: a folder, records, the command."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

HELD = tempfile.TemporaryDirectory(prefix="doppel-stream-")
FOLDER = pathlib.Path(HELD.name)
BUILD = pathlib.Path(sys.argv[1]).resolve()
ENVIRONMENT = dict(os.environ, HOME=HELD.name, XDG_CACHE_HOME=HELD.name)
WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "rstvxz"]


def text_of(seed, words=60):
    """A text that shares next to nothing with those of other seeds."""
    return " ".join(random.Random(str(seed)).choices(WORDS, k=words))


def records(first, count, prefix="r"):
    return [{"id": f"{prefix}{i}", "text": text_of(f"{prefix}{i}")}
            for i in range(first, first + count)]  # fmt: skip


def command(*words):
    return [str(BUILD / "doppel"), *map(str, words)]


def doppel(*words, code=0, **options):
    """What a run prints, which is to end with a code."""
    done = subprocess.run(
        command(*words), cwd=FOLDER, env=ENVIRONMENT, text=True, capture_output=True,
        timeout=120, **options,
    )  # fmt: skip
    assert done.returncode == code, (words, done.returncode, done.stdout[-2000:], done.stderr)
    return done


def ingest(library, rows):
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    return doppel("ingest", "-q", "-L", library, "-", input=lines).stdout


def logged(library, *options):
    lines = doppel("log", "-L", library, "--json", *options).stdout.splitlines()
    return [json.loads(line) for line in lines]


def start(*words, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(
        command(*words), cwd=FOLDER, env=ENVIRONMENT | options.pop("env", {}), **options
    )


def end(process, number=signal.SIGTERM, code=0):
    """What a process that is told to end has printed and said."""
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, (process.returncode, err)
    return out, err.decode() if err is not None else ""


def wait_until(condition, what, seconds=60):
    limit = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < limit, f"in vain: {what}"
        time.sleep(0.02)
    return value


def cpu_seconds(process):
    words = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
