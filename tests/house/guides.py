#!/usr/bin/env python3
"""The commands of README.md and docs/guide/ do what is printed below them.

Blocks of ```console are run, line by line, in a folder that is prepared here: `$ ` begins a
command, what follows is its output, `...` stands for some lines. A command ends with 0, or as
`# ends with N` behind it says. `guides.py BUILD --write` writes the real output into the pages.
"""

import atexit
import functools
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import tap

TOP = pathlib.Path(__file__).resolve().parents[2]
PAGES = [TOP / "README.md", *sorted((TOP / "docs" / "guide").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)

build = pathlib.Path(sys.argv[1]).resolve()


def prepare(folder):
    tap.run(build / "doppel-demo", "--all", folder, TOP / "LICENSE")
    shutil.copy(TOP / "docs" / "examples" / "news.jsonl", folder)
    (folder / "shards").mkdir()
    news = (folder / "news.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "shards" / "0.jsonl.gz").write_bytes(gzip.compress(b"".join(news[:4])))
    (folder / "shards" / "1.jsonl.gz").write_bytes(gzip.compress(b"".join(news[4:])))
    chance = random.Random(1)
    codes = [chance.getrandbits(64) for _ in range(20000)]
    (folder / "codes.hex").write_text("".join(f"{code:016x}\n" for code in codes))
    near = [codes[number] ^ (1 << 7) ^ (number << 20 & 3 << 20) for number in range(3)]
    (folder / "queries.hex").write_text("".join(f"{code:016x}\n" for code in near))
    middles = [[chance.gauss(0, 1) for _ in range(8)] for _ in range(400)]
    names = ["harbour.jpg", "harbour-evening.jpg", "market.jpg"]
    with open(folder / "clip.jsonl", "w") as lines:
        for number, vector in enumerate([middles[0], *middles]):
            near = [value + 0.05 * (number == 1) for value in vector]
            name = names[number] if number < 3 else f"{number:04d}.jpg"
            lines.write(json.dumps({"id": name, "vector": near}) + "\n")
    (folder / "labels.csv").write_text(
        "pictures/originals/marble.jpg,pictures/copies/marble.png,1\n"
        "pictures/originals/sea.jpg,pictures/copies/sea-cropped.jpg,1\n"
        "pictures/originals/sea.jpg,pictures/originals/tree.jpg,0\n"
        "pictures/originals/clock.jpg,pictures/originals/tiles.jpg,0\n"
    )
    (folder / "pages.jsonl").write_text(
        '{"id":"a","text":"Share this page\\n\\nRain is expected.\\n\\nAll rights reserved"}\n'
        '{"id":"b","text":"Share this page\\n\\nThe bridge was opened in 1931."}\n'
        '{"id":"c","text":"Tickets are sold out.\\n\\nShare this page\\n\\nAll rights reserved"}\n'
    )


@functools.cache
def prepared():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="doppel-guides-"))
    atexit.register(shutil.rmtree, folder)
    prepare(folder)
    return folder


def surroundings(folder):
    home = folder / "home"
    home.mkdir()
    paths = {
        "HOME": home,
        "XDG_DATA_HOME": home / "data",
        "XDG_CACHE_HOME": home / "cache",
        "XDG_STATE_HOME": home / "state",
    }
    return (
        os.environ
        | {name: str(path) for name, path in paths.items()}
        | {
            "PATH": f"{build}:{os.environ['PATH']}",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "COLUMNS": "200",
            "DOPPEL_SQLITE": str(build / "library" / "doppel_sqlite"),
        }
    )


def steady(text, folder):
    """Without what differs from run to run: times, and where the folder is."""
    text = text.replace(str(folder), "/home/you")
    text = re.sub(
        r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?",
        lambda found: "2026-11-22 18:15:32"[: len(found.group())],
        text,
    )
    speed = r"\d+\.\d s, \d+ records/s, \d+\.\d MB/s"
    text = re.sub(speed, "0.0 s, 2680 records/s, 0.8 MB/s", text)
    text = re.sub(r"[0-9a-f]{16}(?=\.segment)", "af5633ca3e47cd1c", text)
    return re.sub(r"\d:\d\d\.\d(?= *$)", "0:00.1", text, flags=re.MULTILINE)


def steps(block):
    """(command, the code it ends with, output) of a block."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        count = 1
        while lines[count - 1].endswith("\\"):
            count += 1
        command = "\n".join(lines[:count])
        code = re.search(r"# ends with (\d+)$", command)
        yield command, int(code.group(1)) if code else 0, "\n".join(lines[count:])


def run(command, folder, environment):
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    lines = steady(done.stdout, folder).split("\n")
    return done.returncode, "\n".join(line.rstrip() for line in lines)


def fits(expected, output):
    pattern = r"\n".join(
        r"(?:.*\n)*?.*" if line.strip() == "..." else re.escape(line.rstrip())
        for line in expected.rstrip().split("\n")
    )
    return re.fullmatch(pattern + r"\s*", output) is not None


def try_page(page, write):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="doppel-guide-")).resolve()
    text = page.read_text()
    try:
        shutil.copytree(prepared(), folder, dirs_exist_ok=True)
        environment = surroundings(folder)

        def tried(match):
            out = ""
            for command, code, expected in steps(match.group(1)):
                ended, output = run(command, folder, environment)
                what = f"{page.name}: {command}"
                assert ended == code, f"{what}\nended with {ended}:\n{output}"
                assert write or fits(
                    expected, output
                ), f"{what}\nprints:\n{output}\nnot:\n{expected}"
                keeps = "..." in expected.split("\n") and fits(expected, output)
                out += f"$ {command}\n" + (expected if keeps else output)
                out = out.rstrip("\n") + "\n"
            return f"```console\n{out}```"

        text = BLOCK.sub(tried, text)
    finally:
        shutil.rmtree(folder)
    if write:
        page.write_text(text)


def case_of(page):
    def test():
        try_page(page, "--write" in sys.argv)

    return test


for page in PAGES:
    globals()["test_" + page.stem.replace("-", "_").lower()] = case_of(page)


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
