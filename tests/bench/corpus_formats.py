#!/usr/bin/env python3
"""corpus_formats BUILD [MB [FOLDER]]: how fast `doppel dedup` decides for the same records in each
format, by CPU time, beside JSON Lines; formats take turns, and the median of ROUNDS ratios counts.
Texts are prose that Debian packages ship, of one half of the packages, each once; they share their
words with few others, so that little is compared: near texts of plain JSON Lines are read once
more, and of other formats not. What is made is kept in FOLDER where one is named. What others wrote
of records.jsonl there, as records.parquet or records.arrow, takes part."""

import csv
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import zlib

MB, ROUNDS = 100, 7
SMALLEST, LARGEST = 500, 8_000  # characters of a text: longer documents are cut in pieces


def main():
    build = os.path.abspath(sys.argv[1])
    size = int(float(sys.argv[2]) * 1e6) if len(sys.argv) > 2 else MB * 10**6
    if len(sys.argv) > 3:
        measure(build, size, sys.argv[3])
        return
    with tempfile.TemporaryDirectory(prefix="corpus-formats-") as folder:
        measure(build, size, folder)


def measure(build, size, folder):
    records = list(records_of(size))
    text_bytes = sum(len(record["text"].encode()) for record in records)
    print(f"{len(records)} records, {text_bytes / 1e6:.0f} MB of text, "
          f"{text_bytes / len(records):.0f} bytes a text", flush=True)
    brought = [name for name in BROUGHT if os.path.exists(os.path.join(folder, name))]
    for plain, other in (("records.jsonl", PLAIN + brought), ("records.jsonl.gz", PACKED)):
        compare(os.path.join(build, "doppel"), folder, records, [plain, *other])


def compare(doppel, folder, records, names):
    """A line a format: records a second, and the ratio to the first."""
    paths = [os.path.join(folder, name) for name in names]
    for name, path in zip(names, paths):
        if not os.path.exists(path):
            WRITERS[name](records, path)
    counts = {path: decided(doppel, path) for path in paths}
    assert max(counts.values()) - min(counts.values()) <= len(records) / 100, counts
    took = {path: [] for path in paths}
    for _ in range(ROUNDS):
        for path in paths:
            took[path].append(cpu_seconds(doppel, path))
    for name, path in zip(names, paths):
        ratio = statistics.median(a / b for a, b in zip(took[paths[0]], took[path]))
        print(f"{name:18} {os.path.getsize(path) / 1e6:6.0f} MB "
              f"{len(records) / statistics.median(took[path]):8.0f} records/s  {ratio:.2f}",
              flush=True)


def cpu_seconds(doppel, path):
    process = subprocess.Popen([doppel, "dedup", "-q", "--jobs", "1", path],
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, path
    return usage.ru_utime + usage.ru_stime


def decided(doppel, path):
    """How many are new."""
    done = subprocess.run([doppel, "dedup", "-q", path], capture_output=True, check=True)
    return sum(json.loads(line)["decision"] == "new" for line in done.stdout.splitlines())


# ---- records ----

def documents():
    """Texts of every other package, by their names."""
    for number, package in enumerate(sorted(os.listdir("/usr/share/doc"))):
        folder = os.path.join("/usr/share/doc", package)
        if number % 2 or not os.path.isdir(folder):
            continue
        for path in sorted(os.path.join(top, name) for top, _, names in os.walk(folder)
                           for name in names):
            if not os.path.isfile(path) or os.path.islink(path):
                continue
            with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
                yield file.read()


def prose(document):
    """Its text, where it has one without markup and control characters."""
    try:
        text = document.decode().replace("\r", "")
    except UnicodeDecodeError:
        return ""
    letters = sum(character.isalpha() or character == " " for character in text[:4096])
    marks = text.count("<", 0, 4096) + text.count("{", 0, 4096)
    plain = not any(character < " " and character not in "\n\t" for character in text)
    return text if plain and marks < 8 and letters > 0.7 * len(text[:4096]) else ""


def records_of(size):
    """Records of so many bytes of text in all."""
    seen = set()
    for document in documents():
        text = prose(document)
        for at in range(0, len(text), LARGEST):
            piece = text[at:at + LARGEST]
            words = zlib.crc32(piece[len(piece) // 2:len(piece) // 2 + 200].encode())
            if len(piece) < SMALLEST or words in seen:
                continue
            seen.add(words)
            number = zlib.crc32(piece.encode())
            yield {"id": f"http://host{number % 997}.example/{len(seen)}/{number:08x}",
                   "record": f"{number:08x}-{len(seen):012x}",
                   "source": f"host{number % 997}.example",
                   "date": "2024-05-01T01:02:03Z",
                   "text": piece}
            size -= len(piece.encode())
            if size <= 0:
                return


# ---- formats ----

def write_lines(records, path):
    with open(path, "w") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def write_packed_lines(records, path):
    with open(path, "wb") as file:
        for record in records:
            line = json.dumps(record, ensure_ascii=False) + "\n"
            file.write(gzip.compress(line.encode(), 6))


def write_table(records, path):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows(records)


def archived(record):
    content = record["text"].encode()
    head = ("WARC/1.0\r\nWARC-Type: conversion\r\n"
            f"WARC-Target-URI: {record['id']}\r\nWARC-Date: {record['date']}\r\n"
            f"WARC-Record-ID: <urn:uuid:{record['record']}>\r\n"
            "WARC-Refers-To: <urn:uuid:6b4b4b4b-0000-4000-8000-000000000000>\r\n"
            f"WARC-Block-Digest: sha1:{'A' * 32}\r\nContent-Type: text/plain\r\n"
            f"Content-Length: {len(content)}\r\n\r\n")
    return head.encode() + content + b"\r\n\r\n"


def write_wet(records, path):
    with open(path, "wb") as file:
        for record in records:
            file.write(archived(record))


def write_packed_wet(records, path):
    """A member a record, as Common Crawl packs them."""
    with open(path, "wb") as file:
        for record in records:
            file.write(gzip.compress(archived(record), 6))


PLAIN = ["records.wet", "records.csv"]
PACKED = ["records.wet.gz"]
BROUGHT = ["records.parquet", "records.arrow"]
WRITERS = {
    "records.jsonl": write_lines,
    "records.jsonl.gz": write_packed_lines,
    "records.wet": write_wet,
    "records.wet.gz": write_packed_wet,
    "records.csv": write_table,
}

if __name__ == "__main__":
    main()
