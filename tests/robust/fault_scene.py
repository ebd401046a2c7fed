"""A scene in which doppel is run, again and again from the same beginning, and what must hold of
what it changes; for faults.py and power_cuts.py."""

import collections
import contextlib
import dataclasses
import hashlib
import json
import math
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

TIMEOUT_S = 60
SLOT = struct.Struct("24sQ")  # of fault.c


def write_picture(path, seed, light=0):
    """Waves in a PNG of grey pixels; the same ones in another light are a near-duplicate."""
    width, height, chance = 160, 120, random.Random(seed)
    waves = [[chance.uniform(-0.2, 0.2) for _ in range(2)] + [chance.uniform(0, 6)]
             for _ in range(5)]
    rows = b"".join(
        b"\0" + bytes(int(128 + light + 22 * sum(math.sin(a * x + b * y + c) for a, b, c in waves))
                      for x in range(width))
        for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks))


class OtherTrash:
    """That of the file system, where files go when there is none at home; of it what is ours."""

    def __init__(self, path):
        self.scene = path.name
        while not os.path.ismount(path):
            path = path.parent
        self.folder = path / f".Trash-{os.getuid()}"

    def notes(self):
        return [note for note in (self.folder / "info").glob("*.trashinfo")
                if self.scene in note.read_text()]

    def files(self):
        files = [self.folder / "files" / note.stem for note in self.notes()]
        return [file for file in files if file.exists()]

    def digests(self):
        return {path.name: digest_of(path) for path in self.files()}

    def clear(self):
        for path in self.files() + self.notes():
            path.unlink()
        for folder in (self.folder / "files", self.folder / "info", self.folder):
            with contextlib.suppress(OSError):  # it is not there, or not empty
                folder.rmdir()


class Scene:
    """A folder in which each run begins as the one before did; all paths are relative to it."""

    def __init__(self, options):
        self.doppel, self.shim = (os.path.abspath(path) for path in (options.doppel, options.shim))
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="doppel-faults-"))
        self.start, self.run = self.top / "start", self.top / "run"
        self.counts = self.top / "counts"
        self.other_trash = OtherTrash(self.top)
        self.environment = os.environ | {
            "HOME": str(self.run),
            "XDG_CACHE_HOME": str(self.run / "cache"),
            "XDG_DATA_HOME": str(self.run / "data"),
            "XDG_STATE_HOME": str(self.run / "state"),
            "DOPPEL_LIBRARY": str(self.run / "library"),
        }
        self.make(options.media)

    def make(self, demo):
        """@param demo the program that makes audio and video, too; or None"""
        self.run.mkdir()
        chance = random.Random(5)
        words = [[chance.choice("abcdefgh") * chance.randint(1, 5) + str(chance.randint(0, 99))
                  for _ in range(300)] for _ in range(12)]
        texts = [" ".join(text) for text in words]
        tree = self.run / "tree"
        for folder in (tree / "deep", self.run / "known"):
            folder.mkdir(parents=True)
        (self.run / "known/one.txt").write_text(texts[0])
        (tree / "one.txt").write_text(texts[0])
        (tree / "deep/one again.txt").write_text(texts[0])
        (tree / "near.txt").write_text(texts[0].replace("1", "2", 3))
        for i in range(1, 6):
            (tree / f"{i}.txt").write_text(texts[i])
        write_picture(self.run / "known/sea.png", 1)
        write_picture(tree / "brighter.png", 1, 15)
        write_picture(tree / "clock.png", 2)
        shutil.copy(tree / "clock.png", tree / "deep/clock.png")
        if demo:
            self.make_media(demo, texts)
        self.make_lists(texts, chance)
        self.make_libraries()
        shutil.copytree(self.run, self.start)

    def make_media(self, demo, texts):
        (self.top / "text").write_text("\n\n".join(texts) * 20)
        made = self.top / "made"
        subprocess.run([demo, "--all", made, self.top / "text"], check=True,
                       stdout=subprocess.DEVNULL)
        shutil.copy(made / "heard.wav", self.run / "tree")
        shutil.copy(made / "trailer.avi", self.run / "tree")
        shutil.copy(made / "music/tune-1-part.wav", self.run / "known")

    def make_lists(self, texts, chance):
        records = [{"id": f"r{i}", "text": text} for i, text in enumerate(texts)]
        records.append({"id": "again", "text": texts[3]})
        (self.run / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
        codes = [f"{chance.getrandbits(64):016x}" for _ in range(2000)]
        (self.run / "codes").write_text("\n".join(codes) + "\n")
        (self.run / "more").write_text("\n".join(codes[:500]) + "\n")
        hashes = [f"{chance.getrandbits(256):064x},100,hash{i}" for i in range(300)]
        (self.run / "hashes.csv").write_text("\n".join(hashes) + "\n")

    def make_libraries(self):
        for arguments in (
            ["add", "known"],
            ["ingest", "--jsonl", "records.jsonl", "-L", "other"],
            ["add", "known", "tree", "-L", "other"],
            ["add", "known", "tree", "-L", "full"],
            ["remove", "tree/1.txt", "tree/clock.png", "-L", "full"],
            ["add", "tree", "-L", "full"],
            ["export", "-L", "other", "-o", "other.jsonl"],
            ["index", "build", "codes", "-o", "index"],
        ):
            ran = self.doppel_runs(arguments)
            assert ran.returncode == 0, (arguments, ran.stderr)

    def begin(self, verb, prepared=True):
        shutil.rmtree(self.run)
        self.counts.unlink(missing_ok=True)
        self.other_trash.clear()
        shutil.copytree(self.start, self.run, symlinks=True)
        if verb.cold:
            shutil.rmtree(self.run / "cache")
        for arguments in verb.before if prepared else ():
            self.doppel_runs(arguments)

    def end(self):
        self.other_trash.clear()
        shutil.rmtree(self.top)

    def in_worker(self, setting):
        """Workers have an empty environment, and so no shim: a script gives them one."""
        script = self.top / "worker"
        words = " ".join(f"{name}='{value}'" for name, value in setting.items())
        worker = os.path.join(os.path.dirname(self.doppel), "doppel-worker")
        script.write_text(f"#!/bin/sh\n{words} exec '{worker}' \"$@\"\n")
        script.chmod(0o700)
        return {"DOPPEL_WORKER": str(script)}

    def doppel_runs(self, arguments, fault=None, program="doppel", preloads=(), **more):
        """@param fault None: without the shim; "": it only counts"""
        environment = self.environment | more
        setting = {
            "LD_PRELOAD": ":".join([self.shim, *preloads]),
            "FAULT_PROGRAM": program,
            "FAULT_COUNTS": str(self.counts),
            "FAULT": fault,
        }
        if fault is not None:
            environment |= setting if program == "doppel" else self.in_worker(setting)
        return subprocess.run([self.doppel, *arguments], cwd=self.run, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S)

    def count(self):
        """How often the last run with the shim called each."""
        slots = SLOT.iter_unpack(self.counts.read_bytes())
        return {name.rstrip(b"\0").decode(): count for name, count in slots}


# ---- what a verb changes: its state, and what must hold of it at any time ----


def sentence_of(ran):
    return ran.stderr.decode(errors="replace").strip()


def items(scene, library):
    """Items by path and digest; of a library that verify calls whole."""
    folder = scene.run / library
    if not folder.exists() or not any(folder.iterdir()):
        return set()
    verified = scene.doppel_runs(["verify", "-L", library])
    if verified.returncode == 2 and sentence_of(verified).endswith("makes one"):
        return set()  # its making was interrupted, which is said
    assert verified.returncode == 0, f"verify: {verified.stdout.decode()} {sentence_of(verified)}"
    listed = scene.doppel_runs(["list", "--json", "-L", library])
    assert listed.returncode == 0, f"list: {sentence_of(listed)}"
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    found = [(row.get("path"), row.get("record"), row.get("digest"), row["scheme"])
             for row in rows]
    assert len(set(found)) == len(found), f"an item is there twice: {found}"
    return set(found)


def library_state(scene):
    return items(scene, "library")


def full_state(scene):
    return items(scene, "full")


def backup_state(scene):
    assert items(scene, "full"), "the library is gone"
    return items(scene, "copy")


def index_state(scene):
    if not (scene.run / "index").exists():
        return set()
    verified = scene.doppel_runs(["index", "verify", "index"])
    assert verified.returncode == 0, f"index verify: {sentence_of(verified)}"
    info = json.loads(scene.doppel_runs(["index", "info", "--json", "index"]).stdout)
    return set(range(info["codes"]))


def new_index_state(scene):
    return {0} if (scene.run / "new").exists() and scene.doppel_runs(
        ["index", "verify", "new"]).returncode == 0 else set()


def output_state(scene):
    out = scene.run / "out"
    return {out.read_bytes()} if out.exists() else set()


def nothing_state(scene):
    return set()


def between(now, one, other):
    return one <= now <= other or other <= now <= one


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digests(folder):
    return {str(path.relative_to(folder)): digest_of(path)
            for path in sorted(folder.rglob("*")) if path.is_file()}


def tree_state(scene):
    """Names whose content is a file of its own; no content is gone."""
    began, now = digests(scene.start / "tree"), digests(scene.run / "tree")
    elsewhere = [digests(scene.run / folder) for folder in ("data/Trash/files", "moved")]
    elsewhere.append(scene.other_trash.digests())
    everywhere = set(now.values()).union(*(found.values() for found in elsewhere))
    lost = [path for path, digest in began.items() if digest not in everywhere]
    assert not lost, f"lost: {lost}"
    changed = [path for path, digest in now.items() if path in began and began[path] != digest]
    assert not changed, f"changed: {changed}"
    copies = collections.Counter(list(now.values()) + [d for e in elsewhere for d in e.values()])
    fewer = [p for p, d in began.items() if copies[d] < list(began.values()).count(d)]
    assert not fewer, f"a copy is gone: {fewer}"
    single = [path for path in now if (scene.run / "tree" / path).stat().st_nlink == 1]
    return {path for path in single if path in began}


def undo_all(scene):
    """The tree is again as it was, whatever was done to it."""
    for run in ("3", "2", "1"):
        scene.doppel_runs(["undo", run])
    now = digests(scene.run / "tree")
    assert now == digests(scene.start / "tree"), f"not undone: {sorted(now)}"
    for path in (scene.run / "tree").rglob("*"):
        assert path.is_dir() or path.stat().st_nlink == 1, f"not undone: {path}"


@dataclasses.dataclass
class Verb:
    name: str
    arguments: list
    state: object = nothing_state
    before: list = dataclasses.field(default_factory=list)
    cold: bool = False  # without a cache
    after: object = None  # a last look at the scene
    again: bool = True  # what the verb has not done, it does when it is run again
    measures: bool = False  # it prints sizes of folders, of which one may not be seen
    program: str = "doppel"  # in which the calls fail


HARDLINK = ["scan", "tree", "--action", "hardlink", "--yes"]
TRASH = ["scan", "tree", "--action", "trash", "--yes"]
VERBS = [
    Verb("hash", ["hash", "tree"], cold=True),
    Verb("compare", ["compare", "known/sea.png", "tree/brighter.png"]),
    Verb("list", ["list", "-L", "full"]),
    Verb("show", ["show", "1", "-L", "full"]),
    Verb("log", ["log", "-L", "full"]),
    Verb("stats", ["stats", "-L", "full"], measures=True),
    Verb("groups", ["groups", "-L", "full"]),
    Verb("check", ["check", "tree/near.txt", "tree/brighter.png", "-L", "full"]),
    Verb("find", ["find", "tree/near.txt", "known/sea.png", "-L", "full"], full_state),
    Verb("find cold", ["find", "tree/near.txt", "known/sea.png", "-L", "full"], cold=True),
    Verb("scan", ["scan", "tree", "known"], cold=True),
    Verb("scan, worker", ["scan", "tree", "known", "-j1"], cold=True, program="doppel-worker"),
    Verb("add, worker", ["add", "tree", "--json", "-j1"], library_state, cold=True,
         program="doppel-worker"),
    Verb("scan hardlink", HARDLINK, tree_state, after=undo_all),
    Verb("scan trash", TRASH, tree_state, after=undo_all),
    Verb("scan move-to", ["scan", "tree", "--action", "move-to", "--to", "moved", "--yes"],
         tree_state, after=undo_all),
    Verb("undo hardlink", ["undo"], tree_state, before=[HARDLINK], after=undo_all, again=False),
    Verb("undo trash", ["undo"], tree_state, before=[TRASH], after=undo_all, again=False),
    Verb("add", ["add", "tree", "--json"], library_state),
    Verb("add new", ["add", "tree", "-L", "new"], lambda scene: items(scene, "new"), cold=True),
    Verb("add durable", ["add", "tree", "--durable"], library_state),
    Verb("refresh", ["add", "--refresh", "tree", "-L", "full"], full_state),
    Verb("ingest", ["ingest", "tree", "--json"], library_state),
    Verb("ingest records", ["ingest", "--jsonl", "records.jsonl", "--json"], library_state),
    Verb("ingest durable", ["ingest", "--durable", "tree"], library_state),
    Verb("remove", ["remove", "tree/2.txt", "tree/near.txt", "tree/deep/clock.png", "-L", "full"],
         full_state, again=False),
    Verb("mark", ["mark", "tree/2.txt", "tree/near.txt", "--same", "-L", "full"], full_state),
    Verb("tag", ["tag", "tree/2.txt", "--label", "x", "-L", "full"], full_state),
    Verb("merge", ["merge", "other"], library_state),
    Verb("import", ["import", "other.jsonl"], library_state),
    Verb("import list", ["import", "hashes.csv", "--format", "pdq", "--list", "hashes"],
         library_state),
    Verb("compact", ["compact", "-L", "full"], full_state, measures=True),
    Verb("verify repair", ["verify", "--repair", "-L", "full"], full_state),
    Verb("backup", ["backup", "copy", "-L", "full"], backup_state, again=False),
    Verb("export", ["export", "-L", "other", "-o", "out"], output_state),
    Verb("index build", ["index", "build", "codes", "-o", "new"], new_index_state, again=False),
    Verb("index add", ["index", "add", "index", "more"], index_state, again=False),
    Verb("index remove", ["index", "remove", "index", "7", "8"], index_state, again=False),
    Verb("index compact", ["index", "compact", "index"], index_state),
    Verb("index search", ["index", "search", "index", "--radius", "8", "more", "--count"]),
]


def named_verbs(verbs, names):
    """Those that are named; all when none is."""
    unknown = set(names) - {verb.name for verb in verbs}
    if unknown:
        sys.exit(f"no such verb: {', '.join(sorted(unknown))}")
    return [verb for verb in verbs if not names or verb.name in names]
