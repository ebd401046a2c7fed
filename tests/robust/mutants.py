#!/usr/bin/env python3
"""Mutants of documents, mail, archives, raw files, images that move, and tables of records: each
is read, or refused with a sentence, and doppel ends well.

    mutants.py BUILD [--count N] [--seed N] [--seeds DIR] [--keep DIR] [FORMAT...]

Of what is zipped or compressed most mutants are changed inside. DIR may hold more files to change,
known by their endings. What ended a worker, or took too long, is kept in --keep.
"""

import argparse
import collections
import io
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "documents")]
import made  # noqa: E402
from mutant_seeds import MEMBERS, PACKED, collect_seeds, zip_of  # noqa: E402

ZIPPED = ("docx", "odt", "odp", "ods", "pptx", "xlsx", "epub", "zip")
READ_AS = {  # the words of a run over a folder; of records, a run each
    **dict.fromkeys(("pdf", *ZIPPED[:-1], "rtf", "eml", "mbox", "dng", "gif", "apng", "webp"), ()),
    "tif": ("--kind", "text"),
    **dict.fromkeys(("zip", "tar", *PACKED, "7z", "rar", "mbox-messages"), ("--archives",)),
    "pdf-ocr": ("--ocr",),
    "tif-ocr": ("--ocr", "--kind", "text"),
    **dict.fromkeys(("parquet", "csv", "tsv", "warc", "wet"), None),
}

# ---- how it is changed ----

ODD_NUMBERS = (b"0", b"-1", b"65536", b"2147483648", b"4294967295", b"99999999999999999999", b"1e9")


def change_bytes(chance, data):
    at = chance.randrange(min(len(data), chance.choice((200, len(data), len(data)))))
    length = 1 + chance.randrange(min(40, len(data) - at))
    kind = chance.randrange(8)
    if kind == 0:
        data[at] ^= 1 << chance.randrange(8)
    elif kind == 1:
        data[at] = chance.randrange(256)
    elif kind == 2:
        data[at : at + length] = chance.choice((b"\0", b"\xff")) * length
    elif kind == 3:
        del data[at : at + length]
    elif kind == 4:
        data[at:at] = data[at : at + length] * chance.choice((1, 1, 1, 500))
    elif kind == 5:
        other = chance.randrange(len(data))
        data[at : at + length] = data[other : other + length]
    elif kind == 6:
        if numbers := list(re.finditer(rb"\d+", data)):
            number = chance.choice(numbers)
            data[number.start() : number.end()] = chance.choice(ODD_NUMBERS)
    elif chance.randrange(4) == 0:
        del data[chance.randrange(1, len(data) + 1) :]


def change_elements(chance, data):
    """Of markup: an element is left out, put elsewhere, or nested in many; or a tag alone is."""
    elements = list(re.finditer(rb"<([\w:]+)[^<>]*>[^<>]*</\1>", data))
    elements = elements or list(re.finditer(rb"<([\w:]+)[^<>]*/?>", data))
    if not elements:
        return
    one, other = chance.choice(elements), chance.choice(elements)
    kind = chance.randrange(5)
    if kind == 0:
        del data[one.start() : one.end()]
    elif kind == 1:
        data[other.start() : other.start()] = one[0]
    elif kind == 2:
        data[other.start() : other.end()] = one[0] * chance.choice((1, 300))
    elif kind == 3:
        depth, name = chance.choice((2, 200, 20000)), one[1]
        nested = b"<%s>" % name * depth + one[0] + b"</%s>" % name * depth
        data[one.start() : one.end()] = nested
    else:
        data[other.start() : other.start()] = b"<%s>" % one[1] * chance.choice((1, 9))


def changed(chance, data):
    bent = bytearray(data)
    markup = bent.lstrip()[:1] == b"<"
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        if bent:
            (change_elements if markup and chance.randrange(4) else change_bytes)(chance, bent)
    return bytes(bent)


def changed_in_zip(chance, data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    for _ in range(chance.choice((1, 1, 2))):
        which = chance.randrange(len(members))
        members[which] = (members[which][0], changed(chance, members[which][1] or b" "))
    return zip_of(members)


def changed_in_tar(chance, data):
    """The sums of the heads are right again."""
    bent = bytearray(changed(chance, data))
    for at in range(0, len(bent) - 511, 512):
        if bent[at + 257 : at + 262] == b"ustar":
            bent[at + 148 : at + 156] = b" " * 8
            bent[at + 148 : at + 156] = b"%06o\0 " % sum(bent[at : at + 512])
    return bytes(bent)


def changed_in_7z(chance, data):
    """In the list of members, whose sums are right again."""
    start, size = struct.unpack_from("<QQ", data, 12)
    listed = changed(chance, data[32 + start : 32 + start + size])
    head = struct.pack("<QQI", start, len(listed), zlib.crc32(listed))
    head = data[:8] + struct.pack("<I", zlib.crc32(head)) + head
    return head + data[32 : 32 + start] + listed


def changed_in_rar(chance, _):
    """A head or two, whose sums are right."""

    def bend(head):
        return changed(chance, head) if head and chance.randrange(3) == 0 else head

    return chance.choice((made.rar4, made.rar5))(MEMBERS, bend=bend)


def mutant(chance, format, data):
    if chance.randrange(4) == 0 or format not in CHANGED_INSIDE:
        return changed(chance, data)
    return CHANGED_INSIDE[format](chance, data)


def changed_in_packed(pack, unpack):
    return lambda chance, data: pack(changed_in_tar(chance, unpack(data)))


CHANGED_INSIDE = {
    **dict.fromkeys(ZIPPED, changed_in_zip),
    **{name: changed_in_packed(*both) for name, both in PACKED.items()},
    "tar": changed_in_tar,
    "7z": changed_in_7z,
    "rar": changed_in_rar,
}


# ---- what becomes of it ----


def read_proc(pid, name):
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_text()
    except OSError:
        return ""


def most_memory_kib(pid):
    found = re.search(r"VmHWM:\s*(\d+)", read_proc(pid, "status"))
    return int(found[1]) if found else 0


class Ran:
    """A run of doppel: its end, what it wrote, its time and the most memory of it and a worker."""

    def __init__(self, program, *words):
        with open("out", "wb") as out, open("err", "wb") as err:
            process = subprocess.Popen([program, *words], stdout=out, stderr=err)
            began, self.kib, self.worker_kib, ended = time.monotonic(), 0, 0, 0
            while not ended:
                self.kib = most_memory_kib(process.pid) or self.kib
                workers = read_proc(process.pid, f"task/{process.pid}/children").split()
                self.worker_kib = max(self.worker_kib, 0, *map(most_memory_kib, workers))
                ended, status = os.waitpid(process.pid, os.WNOHANG)
                time.sleep(0 if ended else 0.003)
        process.returncode = self.code = os.waitstatus_to_exitcode(status)
        self.seconds = time.monotonic() - began
        self.out, self.err = (pathlib.Path(n).read_text(errors="replace") for n in ("out", "err"))


class Totals(collections.Counter):
    """Of a format: how its mutants were answered."""

    COUNTS = ("mutants", "read", "refused", "crashed", "hung", "reports")

    def look_at(self, ran, keep):
        for line in ran.err.splitlines():
            self["left_out"] += "built without" in line
            crashed, hung = ": the decoder " in line, ": took longer than " in line
            report = "Sanitizer" in line or "runtime error" in line
            self.update(crashed=crashed, hung=hung, reports=report)
            if crashed or hung or report:
                print(line, file=sys.stderr)
                path = line.split(": ")[1] if ": " in line else ""
                if keep and (crashed or hung) and os.path.isfile(path.split("!")[0]):
                    shutil.copy(path.split("!")[0], keep)
        self["seconds"] += ran.seconds
        for memory in ("kib", "worker_kib"):
            self[memory] = max(self[memory], getattr(ran, memory))
        assert ran.code in (0, 2, 3), (ran.code, ran.err[-3000:])

    def row(self, format):
        counts = " | ".join(str(self[name]) for name in self.COUNTS)
        memory = f"{self['kib'] >> 10} MB | {self['worker_kib'] >> 10} MB"
        return f"| {format} | {counts} | {self['seconds']:.0f} | {memory} |"


def read_folder(program, words, names, totals, keep):
    """By one run: each is named in a row, or in a sentence."""
    ran = Ran(program, "hash", "--json", "-v", "--no-cache", *words, "mutants")
    assert ran.code in (0, 3), ran.err[-3000:]
    totals.look_at(ran, keep)
    rows = {json.loads(line)["path"] for line in ran.out.splitlines()}
    read = {re.split(r"[!#]", path)[0] for path in rows}
    named = set(re.findall(r"^doppel: (mutants/[^:!#]+)", ran.err, re.M))
    for name in names:
        path = f"mutants/{name}"
        assert path in read or path in named, f"{path} was passed over in silence"
        totals.update(mutants=1, read=path in read, refused=path not in read)


def read_records(program, names, totals, keep):
    """By a run each: its lines are decided about, or it is named."""
    for name in names:
        path = f"mutants/{name}"
        ran = Ran(program, "dedup", "--emit", "decisions", path)
        totals.look_at(ran, keep)
        decisions = [json.loads(line)["decision"] for line in ran.out.splitlines()]
        read = any(decision != "unreadable" for decision in decisions)
        assert decisions or re.search(rf"^doppel: {path}|^doppel: 0 records", ran.err, re.M), name
        totals.update(mutants=1, read=read, refused=not read)


def answered(options, format, contents):
    """How files with these contents are answered."""
    totals = Totals()
    names = [f"{number:05}.{format}" for number in range(len(contents))]
    shutil.rmtree("mutants", ignore_errors=True)
    os.mkdir("mutants")
    for name, content in zip(names, contents):
        pathlib.Path("mutants", name).write_bytes(content)
    words = READ_AS[format]
    program = options.build / "doppel"
    if words is None:
        read_records(program, names, totals, options.keep)
    else:
        read_folder(program, ("--timeout", options.timeout, *words), names, totals, options.keep)
    return totals


def try_format(options, format, seeds):
    chance = random.Random(f"{options.seed} {format}")
    whole = answered(options, format, seeds)
    if not whole["read"] and whole["left_out"]:
        print(f"| {format} | this build leaves it out |", flush=True)
        return whole
    assert whole["read"], f"{format}: none is read as it was made"
    bent = [mutant(chance, format, seeds[n % len(seeds)]) for n in range(options.count)]
    totals = answered(options, format, bent)
    print(totals.row(format), flush=True)
    return totals


def main():
    parser = argparse.ArgumentParser(usage=__doc__.strip())
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("formats", nargs="*")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", default="60s")
    for folder in ("--seeds", "--keep"):
        parser.add_argument(folder, type=pathlib.Path)
    options = parser.parse_intermixed_args()
    for folder in ("build", "seeds", "keep"):
        if path := getattr(options, folder):
            setattr(options, folder, path.resolve())
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        os.environ.update({f"XDG_{n}_HOME": work for n in ("CACHE", "DATA", "STATE", "CONFIG")})
        seeds = collect_seeds(options.build, options.seeds)
        print("| format | " + " | ".join(Totals.COUNTS) + " | seconds | doppel | a worker |")
        print("|---" * (len(Totals.COUNTS) + 4) + "|")
        tried = [
            try_format(options, format, seeds[format])
            for format in options.formats or READ_AS
            if seeds[format]
        ]
        os.chdir("/")
    return any(totals[bad] for totals in tried for bad in ("crashed", "hung", "reports"))


if __name__ == "__main__":
    sys.exit(main())
