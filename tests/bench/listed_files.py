"""How many files a second `doppel check` answers of which a library has the SHA-256 from others,
next to `sha256sum` of the same files. Nothing is decoded: there is no worker.

    python3 tests/bench/listed_files.py build/doppel FOLDER_OF_PICTURES [COUNT [OTHER_DOPPEL]]
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import time

RUNS = 5


def copy_pictures(source, folder, count):
    """Different files: each has a few bytes more at its end, which no decoder reads."""
    originals = sorted(
        os.path.join(source, name) for name in os.listdir(source) if name.endswith((".jpg", ".png"))
    )
    paths = []
    for i in range(count):
        path = f"{folder}/{i:05}{os.path.splitext(originals[i % len(originals)])[1]}"
        with open(originals[i % len(originals)], "rb") as file, open(path, "wb") as copy:
            copy.write(file.read() + i.to_bytes(4, "big"))
        paths.append(path)
    return paths


def seconds_of(command, wanted):
    begun = time.monotonic()
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    seconds = time.monotonic() - begun
    assert out.count(b"\n") == wanted, out[:200]
    return seconds


def check(doppel, folder, pictures, count):
    cache = f"{folder}/cache.db"
    for name in os.listdir(folder):
        if name.startswith("cache.db"):
            os.remove(f"{folder}/{name}")
    return seconds_of(
        [doppel, "check", "--json", "-L", f"{folder}/library", "--cache", cache, pictures], count
    )


def main():
    programs = {"check": os.path.abspath(sys.argv[1])}
    count = int((sys.argv[3:] or [1000])[0])
    if len(sys.argv) > 4:
        programs["check, other"] = os.path.abspath(sys.argv[4])
    with tempfile.TemporaryDirectory() as folder:
        pictures = f"{folder}/pictures"
        os.mkdir(pictures)
        paths = copy_pictures(sys.argv[2], pictures, count)
        with open(f"{folder}/sums", "w") as sums:
            for path in paths:
                with open(path, "rb") as file:
                    sums.write(f"{hashlib.sha256(file.read()).hexdigest()}  {path}\n")
        subprocess.run(
            [programs["check"], "import", "-q", "-L", f"{folder}/library", f"{folder}/sums"],
            check=True,
        )
        size = sum(os.path.getsize(path) for path in paths)
        print(f"{count} pictures, {size / 1e6:.0f} MB, best of {RUNS}")
        best = {}
        for _ in range(RUNS):
            runs = {"sha256sum": seconds_of(["sha256sum", *paths], count)}
            for name, program in programs.items():
                runs[name] = check(program, folder, pictures, count)
            best = {name: min(seconds, best.get(name, seconds)) for name, seconds in runs.items()}
        for name, seconds in best.items():
            print(
                f"{name:14} {count / seconds:8.0f} files/s {size / seconds / 1e6:8.0f} MB/s"
                f"  {best['sha256sum'] / seconds:.2f} of sha256sum"
            )


main()
