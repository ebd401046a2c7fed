#!/usr/bin/env python3
"""The examples of `VERB --help` and of the man page do what they say: each is run, as it is
printed, where there are files of these names. Usage: examples.py BUILD MANPAGE"""

import gzip
import hashlib
import os
import pathlib
import random
import re
import signal
import shutil
import struct
import subprocess
import sys
import tempfile

import tap
from tap import run

TOP = pathlib.Path(__file__).resolve().parents[2]
build = pathlib.Path(sys.argv[1]).resolve()
page = pathlib.Path(sys.argv[2]).resolve()

# What ends otherwise than with 0, and why.
ENDS = {
    "doppel lists release 42": 3,  # it is not in review
}
WATCH_ENDS = 128 + signal.SIGTERM  # it is told to
MAY_NOT_MATCH = ("doppel find ", "doppel check ", "doppel compare ")


def pictures(folder):
    """Where the examples look for some."""
    demo, home = folder / "demo", folder / "home"
    run(build / "doppel-demo", "--all", demo, TOP / "LICENSE")
    (demo / "pictures" / "copies" / "broken.jpg").unlink()
    shutil.copytree(demo / "pictures", home / "Pictures")
    (home / "Pictures" / "old").mkdir()
    originals = sorted((demo / "pictures" / "originals").iterdir())
    for number, name in enumerate(("home/Pictures/old/1.jpg", "a.jpg", "b.jpg", "new.jpg")):
        shutil.copy(originals[number], folder / name)
    for name in ("inbox", "home/inbox", "home/archive", "mnt/archive"):
        (folder / name).mkdir(parents=True)
        shutil.copy(originals[4], folder / name / "5.jpg")
    for name in ("repost.jpg", "photo.jpg"):
        shutil.copy(demo / "pictures" / "copies" / "marble.png", folder / name)
    shutil.copy(demo / "pictures" / "originals" / "marble.jpg", folder / "original.png")
    (folder / "labels.csv").write_text("a.jpg,b.jpg,0\noriginal.png,repost.jpg,1\n")
    (folder / "paths.txt").write_text("a.jpg\nb.jpg\n")
    (folder / "marks.jsonl").write_text("")


def recordings(folder):
    shutil.copytree(folder / "demo" / "music", folder / "home" / "music")
    for name in ("broadcast.mp3", "radio.fifo"):
        shutil.copy(folder / "demo" / "broadcast.wav", folder / name)
    (folder / "studio.raw").write_bytes(bytes(44100 * 4 * 2))


def corpora(folder):
    news = (TOP / "docs" / "examples" / "news.jsonl").read_bytes()
    (folder / "shards").mkdir()
    (folder / "shards" / "0.jsonl.gz").write_bytes(gzip.compress(news))
    (folder / "crawl.jsonl").write_bytes(news)
    chance = random.Random(2)
    words = "the cat the cat rain wind sun snow storm cloud".split()
    texts = [" ".join(chance.choice(words) for _ in range(40)) for _ in range(30)]
    (folder / "news.jsonl").write_text("".join(f'{{"text":"{text}"}}\n' for text in texts))
    (folder / "crawl.jsonl.zst").write_bytes(zstd_frame(news))


def zstd_frame(data):
    """RFC 8878: one raw block."""
    assert len(data) < 1 << 17
    head = b"\x28\xb5\x2f\xfd" + bytes([0xA0]) + struct.pack("<I", len(data))
    return head + (len(data) << 3 | 1).to_bytes(3, "little") + data


def codes(folder):
    chance = random.Random(1)
    some = [chance.getrandbits(64) for _ in range(60)]
    for name, part in (("codes", some[:50]), ("more", some[50:]), ("queries", some[:2])):
        (folder / f"{name}.hex").write_text("".join(f"{code:016x}\n" for code in part))
    (folder / "more.bin").write_bytes(b"".join(struct.pack("<Q", code) for code in some[50:]))
    lines = [f"{chance.getrandbits(256):064x},pdq,x\n" for _ in range(40)]
    (folder / "hashes.csv").write_text("hash,hash_type,tags\n" + "".join(lines))


def models(folder):
    """A list of words, and a model of model2vec with three tokens."""
    words = "the 0.1 0.2\ncat -0.3 0.4\n"
    (folder / "glove.6B.100d.txt.gz").write_bytes(gzip.compress(words.encode()))
    model = folder / "potion-base-8M"
    model.mkdir()
    (model / "tokenizer.json").write_text(
        '{"model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"the":1,"##s":2}},'
        '"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"}}'
    )
    header = b'{"embeddings":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]}}'
    rows = struct.pack("<6f", *range(6))
    (model / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + rows)


def vectors(folder):
    """Two that are near each other: an array of NumPy with names, and lines."""
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}"
    begin = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head
    for name in ("embeddings", "clip", "more", "queries"):
        (folder / f"{name}.npy").write_bytes(begin + struct.pack("<4f", 1, 2, 1, 2.1))
    (folder / "names.txt").write_text("a\nb\n")
    (folder / "new.txt").write_text("c\nd\n")
    (folder / "clip.jsonl").write_text('{"id":1,"vector":[1,2]}\n{"id":2,"vector":[1,2.1]}\n')


def keys(folder):
    digest = hashlib.sha256(b"a key").hexdigest()
    (folder / "keys.txt").write_text(f"{digest} uploads write 50\n")


def libraries(folder, doppel):
    """One of 43 items and more, and those of the examples that name others."""
    (folder / "mnt" / "backup").mkdir(parents=True)
    doppel("model", "add", "glove.6B.100d.txt.gz", "--name", "glove")
    doppel("ingest", "-L", folder / "home" / "doppel", "--semantic", "--model", "glove", "--jsonl",
           "news.jsonl")  # fmt: skip
    doppel("add", folder / "home" / "Pictures")
    doppel("import", "hashes.csv")
    for library in ([], ["-L", folder / "home" / "doppel"], ["-L", folder / "mnt/laptop/doppel"]):
        doppel("add", *library, "a.jpg", "--list", "press")
        doppel("lists", "set", "stock", *library)
        doppel("source", "set", "mirror.example", "1", *library)


def help_examples():
    """(command, …) of each verb, in the order of the help."""
    name = re.compile(r"^  ([a-z]+(?: [a-z]+)?)(?=  | [A-Z\[|]|$)", re.MULTILINE)
    listed = name.findall(text_of("--help"))
    assert len(listed) > 40, listed
    for verb in listed:
        block = re.search(r"\nExamples:\n((?:  .*\n)+)", text_of(*verb.split(), "--help"))
        assert block, verb
        yield [line.strip() for line in block.group(1).splitlines()]


def text_of(*words):
    return run(build / "doppel", *words)


def man_examples():
    """Those of the section EXAMPLES, a list a paragraph."""
    section = page.read_text().split(".SH EXAMPLES\n")[1].split("\n.SH")[0]
    for block in re.findall(r"\.nf\n(.*?)\n\.fi", section, re.DOTALL):
        yield [line.replace("\\-", "-") for line in block.splitlines()]


def is_right(command, code):
    if command.startswith("doppel watch "):
        return code == WATCH_ENDS
    if command in ENDS:
        return code == ENDS[command]
    return code == 0 or (code == 1 and command.startswith(MAY_NOT_MATCH))


def ended(command):
    """A service ends when it is told to, once: here after a while. Its port is a free one. So do
    what follows a log, and what watches folders."""
    if "log --follow" in command or command.startswith("doppel watch "):
        return f"timeout --foreground --preserve-status 2 {command}"
    if not command.startswith("doppel serve"):
        return command
    port = "" if "--listen" in command else " --listen 127.0.0.1:0"
    return f"timeout --foreground --preserve-status 5 {command.replace(':8040', ':0')}{port}"


def try_all(groups):
    with tempfile.TemporaryDirectory(prefix="doppel-examples-") as name:
        folder = pathlib.Path(name).resolve()
        for prepare in (pictures, recordings, corpora, codes, models, vectors, keys):
            prepare(folder)
        environment = {
            "PATH": f"{build}:{os.environ['PATH']}",
            "HOME": str(folder / "home"),
            "LC_ALL": "C.UTF-8",
        }

        def doppel(*words):
            run(build / "doppel", *words, cwd=folder, env=environment)

        libraries(folder, doppel)
        wrong = []
        for command in (command for group in groups for command in group):
            done = subprocess.run(
                ["bash", "-c", ended(command).replace("/mnt/", f"{folder}/mnt/")],
                cwd=folder,
                env=environment,
                capture_output=True,
                check=False,
            )
            if not is_right(command, done.returncode):
                wrong.append(f"{command}: {done.returncode}: {done.stderr.decode()}")
        assert not wrong, "\n".join(wrong)


def test_examples_of_the_help():
    try_all(help_examples())


def test_examples_of_the_man_page():
    examples = list(man_examples())
    assert len(examples) >= 4, examples
    try_all(examples)


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
