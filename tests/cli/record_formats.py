#!/usr/bin/env python3
"""Records in CSV, TSV, WARC, WET, Parquet and Arrow get the decisions that they get as JSON Lines.

`record_formats.py BUILD`
"""

import csv
import gzip
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
CHANCE = random.Random(7)
KEYS = ("id", "decision", "of", "reason", "similarity")


def doppel(*words, codes=(0,)):
    done = subprocess.run(
        [BUILD / "doppel", *words],
        capture_output=True,
        env=dict(os.environ, HOME=os.getcwd(), XDG_CACHE_HOME=os.getcwd()),
        check=False,
    )
    assert done.returncode in codes, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


def decided(*words, codes=(0,)):
    lines = map(json.loads, doppel(*words, codes=codes).splitlines())
    return [{key: line.get(key) for key in KEYS} for line in lines]


def some_records():
    """Texts with what formats quote, a third of them near another one."""
    made = []
    for number in range(60):
        words = [f"w{CHANCE.randrange(10**6)}" for _ in range(60)]
        if number % 3 == 2:
            words = made[-1]["text"].split(" ")
            words[7] = "changed"
        words[5] = CHANCE.choice(['"quoted",', "two\nlines", "tab\there", "नमस्ते", "back\\slash"])
        page = f"http://user@host{number % 4}.example:8080/page?n={number}#part"
        made.append(
            {
                "id": page,
                "text": " ".join(words),
                "source": f"host{number % 4}.example",
                "date": f"2024-05-{number % 28 + 1:02}T01:02:03Z",
            }
        )
    return made


RECORDS = some_records()


def write_lines():
    pathlib.Path("records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in RECORDS))


def write_tables():
    for name, separator in (("records.csv", ","), ("records.tsv", "\t")):
        text = io.StringIO()
        writer = csv.writer(text, delimiter=separator)
        writer.writerow(["number", "body", "url", "source", "date"])
        for number, record in enumerate(RECORDS):
            writer.writerow(
                [number, record["text"], record["id"], record["source"], record["date"]]
            )
        pathlib.Path(name).write_text(text.getvalue(), newline="")
        with gzip.open(name + ".gz", "wb") as file:
            file.write(text.getvalue().encode())


def archived(kind, record, content, type="text/plain"):
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {record['id']}\r\n"
    head += f"WARC-Date: {record['date']}\r\nWARC-Record-ID: <urn:uuid:{record['date']}>\r\n"
    head += f"Content-Type: {type}\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content + b"\r\n\r\n"


def fetched(record, type, body, more=""):
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {type}\r\n{more}\r\n".encode()
    return archived("response", record, head + body, "application/http; msgtype=response")


def as_html(text):
    words = text.replace("&", "&amp;").replace("<", "&lt;")
    return f"<html><script>not this</script><body><p>{words}</p></body></html>".encode()


def chunked(body):
    pieces = [body[at : at + 50] for at in range(0, len(body), 50)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def write_archives():
    info = archived("warcinfo", RECORDS[0], b"software: a test\r\n", "application/warc-fields")
    texts = [archived("conversion", record, record["text"].encode()) for record in RECORDS]
    pathlib.Path("records.wet").write_bytes(info + b"".join(texts))
    pathlib.Path("records.warc.wet.gz").write_bytes(b"".join(map(gzip.compress, [info, *texts])))
    pages = [info]
    for number, record in enumerate(RECORDS):
        pages.append(archived("request", record, b"GET / HTTP/1.1\r\n\r\n", "application/http"))
        if number % 3 == 0:
            page = chunked(as_html(record["text"]))
            pages.append(fetched(record, "text/html", page, "Transfer-Encoding: chunked\r\n"))
        elif number % 3 == 1:
            pages.append(fetched(record, "text/html; charset=utf-8", as_html(record["text"])))
        else:
            pages.append(fetched(record, "text/plain", record["text"].encode()))
        pages.append(fetched(record, "image/png", b"\x89PNG\r\n\x1a\n"))
    pathlib.Path("records.warc").write_bytes(b"".join(pages))


NAMED = ("--text-field", "body", "--id-field", "url")
FORMATS = {
    "records.csv": NAMED,
    "records.tsv.gz": NAMED,
    "records.wet": (),
    "records.warc.wet.gz": (),
    "records.warc": (),
}


def test_dedup_decides_alike():
    wanted = decided("dedup", "records.jsonl")
    assert sum(line["decision"] != "new" for line in wanted) == 20, wanted
    for name, options in FORMATS.items():
        assert [one | {"similarity": 0} for one in decided("dedup", name, *options)] == [
            one | {"similarity": 0} for one in wanted
        ], name


def test_ingest_decides_alike():
    wanted = decided("ingest", "-L", "lines", "--jsonl", "records.jsonl")
    assert sum(line["decision"] != "new" for line in wanted) == 20, wanted
    for name, options in FORMATS.items():
        there = decided("ingest", "-L", f"of-{name}", "--jsonl", name, *options)
        for one, other in zip(there, wanted, strict=True):
            assert {**one, "similarity": 0} == {**other, "similarity": 0}, (name, one, other)
        again = decided("check", "-L", f"of-{name}", "--jsonl", name, *options)
        assert all(line["decision"] != "new" for line in again), name


# Of other writers: of Parquet Arrow's of Rust, and hyparquet's of JavaScript; of Arrow Apache's of
# JavaScript (several batches, nested columns, a dictionary, long offsets), and polars' of Rust
# (views, packed).
FILES = pathlib.Path(__file__).resolve().parents[1] / "corpus"
PARQUET, ARROW = FILES / "parquet", FILES / "arrow"
PARQUET_READ = ["arrow-v1-gzip", "arrow-v1-snappy", "arrow-v2-zstd", "javascript"]
COLUMNS = [PARQUET / f"{name}.parquet" for name in PARQUET_READ] + sorted(ARROW.iterdir())


def test_columns_have_the_rows_that_their_writer_was_given():
    source = (PARQUET / "records.jsonl").read_text().splitlines()
    wanted = decided("dedup", PARQUET / "records.jsonl")
    kept = {one["id"] for one in wanted if one["decision"] == "new"}
    assert len(wanted) == 60 and len(kept) == 40 and len(COLUMNS) == 9
    rows = [row for row in map(json.loads, source) if row["id"] in kept]
    rows = [{key: row[key] for key in row if row[key] is not None} for row in rows]
    for path in COLUMNS:
        there = decided("dedup", path)
        assert [one | {"similarity": 0} for one in there] == [
            one | {"similarity": 0} for one in wanted
        ], path
        unique = doppel("dedup", path, "--emit", "unique").splitlines()
        assert [json.loads(line) for line in unique] == rows, path
        by_ingest = decided("ingest", "-L", path.name, "--jsonl", path)
        assert [one["decision"] for one in by_ingest] == [one["decision"] for one in wanted], path


def test_stages_and_paragraphs_read_archives():
    for path in (COLUMNS[0], ARROW / "polars-lz4.arrow", "records.warc.wet.gz"):
        wanted = doppel("dedup", path, "--emit", "unique")
        work = f"work-{pathlib.Path(path).name}"
        staged = doppel("dedup", path, "--work", work, "--stage", "all", "--emit", "unique")
        assert staged == wanted and staged, path
        lines = doppel("dedup", path, "--unit", "paragraph", "--emit", "unique").splitlines()
        assert len(list(map(json.loads, lines))) == 60, path


def test_arrow_comes_through_pipes_and_packed():
    wanted = decided("dedup", ARROW / "polars-zstd.arrow")
    for path in sorted(ARROW.iterdir()):
        with gzip.open("packed.arrow.gz", "wb") as file:
            file.write(path.read_bytes())
        assert decided("dedup", "packed.arrow.gz") == wanted, path
        with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
            piped = subprocess.run(
                [BUILD / "doppel", "dedup", "-"], stdin=cat.stdout, capture_output=True, check=True
            )
        assert len(piped.stdout.splitlines()) == 60, path


def test_parquet_that_is_not_read_is_told():
    told = doppel("dedup", PARQUET / "arrow-delta.parquet", codes=[3])
    assert b"column 'text' is written in an encoding (7)" in told, told
    with gzip.open("packed.parquet.gz", "wb") as file:
        file.write((PARQUET / "javascript.parquet").read_bytes())
    assert b"neither from a pipe" in doppel("dedup", "packed.parquet.gz", codes=[3])


def test_damaged_columns_are_told():
    read = 0
    for number in range(180):
        path = COLUMNS[number % len(COLUMNS)]
        damaged = bytearray(path.read_bytes())
        if number % 3 == 0:
            del damaged[CHANCE.randrange(5, len(damaged)) :]
        for _ in range(CHANCE.randrange(1, 6)):
            damaged[CHANCE.randrange(4, len(damaged))] = CHANCE.randrange(256)
        pathlib.Path("damaged").write_bytes(damaged)
        read += bool(doppel("dedup", "damaged", codes=[0, 2, 3]))
    assert read > 150


def test_columns_by_option():
    pathlib.Path("table").write_bytes(pathlib.Path("records.csv").read_bytes())
    wanted = decided("ingest", "-L", "x", "--jsonl", "records.csv", *NAMED)
    options = ("--jsonl", "table", "--input-format", "csv", *NAMED)
    assert decided("ingest", "-L", "y", *options) == wanted
    unique = doppel("ingest", "-L", "z", "--jsonl", "records.csv", *NAMED, "--emit", "unique")
    kept = {one["id"] for one in wanted if one["decision"] == "new"}
    assert [(row["url"], row["body"]) for row in map(json.loads, unique.splitlines())] == [
        (record["id"], record["text"]) for record in RECORDS if record["id"] in kept
    ]
    doppel("ingest", "-L", "y", "--input-format", "csv", "-", codes=[2])


def test_folders_stand_for_all_formats():
    folder = pathlib.Path("all")
    folder.mkdir()
    names = ["records.jsonl", "records.wet", "records.warc.wet.gz"]
    for name in names:
        (folder / name).symlink_to(pathlib.Path(name).resolve())
    with (folder / "table.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(RECORDS[0]))
        writer.writeheader()
        writer.writerows(RECORDS)
    (folder / "x.parquet").symlink_to(PARQUET / "javascript.parquet")
    (folder / "state.json").write_text('{\n  "_data_files": []\n}\n')  # of a Hugging Face data set
    (folder / "notes.txt").write_text("no records\n")
    wanted = [*decided("dedup", "records.jsonl"), *decided("dedup", folder / "x.parquet")]
    new = {one["id"] for one in wanted if one["decision"] == "new"}
    for words in (["dedup", folder], ["ingest", "-L", "folder", "--jsonl", folder]):
        lines = decided(*words)
        assert len(lines) == 60 * 5
        assert {one["id"] for one in lines if one["decision"] == "new"} == new
    doppel("dedup", folder, "--output-dir", "clean")
    assert sorted(path.name for path in pathlib.Path("clean").iterdir()) == [
        "records.jsonl",
        "records.warc.wet.jsonl.gz",
        "records.wet.jsonl",
        "table.csv",
        "x.parquet.jsonl",
    ]
    rows = map(json.loads, pathlib.Path("clean/x.parquet.jsonl").read_text().splitlines())
    assert {row["id"] for row in rows} <= new


def test_other_files_are_told_once():
    pathlib.Path("other").mkdir()
    pathlib.Path("other/page.pdf").write_bytes(b"%PDF-1.4\n" + b"line\n" * 100)
    told = decided("dedup", "other/page.pdf", codes=[3])
    assert len(told) == 1 and "'doppel scan'" in told[0]["reason"], told
    told = decided("dedup", "other", codes=[3])
    assert len(told) == 1 and "'doppel scan'" in told[0]["reason"], told


def test_damaged_archives_are_told():
    whole = pathlib.Path("records.wet").read_bytes()
    pathlib.Path("cut.wet").write_bytes(whole[:-200])
    told = decided("dedup", "cut.wet", codes=[3])
    assert [one["id"] for one in told[:-1]] == [record["id"] for record in RECORDS[:-1]]
    assert told[-1]["decision"] == "unreadable", told[-1]
    packed = fetched(RECORDS[0], "text/html", b"\x1f\x8b", "Content-Encoding: gzip\r\n")
    pathlib.Path("packed.warc").write_bytes(packed + fetched(RECORDS[1], "text/plain", b"a b c"))
    assert [one["decision"] for one in decided("dedup", "packed.warc", codes=[3])] == [
        "unreadable",
        "too_short",
    ]
    for number in range(60):
        damaged = bytearray(whole)
        for _ in range(CHANCE.randrange(1, 20)):
            damaged[CHANCE.randrange(5, len(damaged))] = CHANCE.randrange(256)
        pathlib.Path("damaged.wet").write_bytes(damaged)
        doppel("dedup", "damaged.wet", codes=[0, 2, 3])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="doppel-formats-") as folder:
        os.chdir(folder)
        write_lines()
        write_tables()
        write_archives()
        FAILED = tap.main(sys.modules[__name__])
        os.chdir("/")
    sys.exit(FAILED)
