#!/usr/bin/env python3
"""Parquet and Arrow whose numbers lie: what is refused, and how much memory that takes.

`hostile_columns.py BUILD`
"""

import gzip
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()


def peak_of(data):
    """What dedup prints of a file, and MB of memory at the most."""
    pathlib.Path("file").write_bytes(data)
    with open("told", "w") as told:
        child = subprocess.Popen([BUILD / "doppel", "dedup", "file", "--jobs", "1"], stdout=told)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode in (0, 3), child.returncode
    return pathlib.Path("told").read_text(), usage.ru_maxrss / 1024


# ---- Parquet ----


def varint(number):
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def thrift(**fields):
    """A struct of Thrift's compact protocol: f1=number, bytes, struct or list of structs."""
    out, last = b"", 0
    for name, value in fields.items():
        number = int(name[1:])
        kind = {int: 5, str: 8, bytes: 12, list: 9}[type(value)]
        out += bytes([number - last << 4 | kind])
        last = number
        if kind == 5:
            out += varint(value * 2)
        elif kind == 8:
            out += varint(len(value)) + value.encode()
        elif kind == 9:
            out += bytes([0xF0 | 12]) + varint(len(value)) + b"".join(value)
        else:
            out += value
    return out + b"\0"


def parquet_file(body, schema, groups):
    footer = thrift(f1=1, f2=schema, f3=1, f4=groups)
    return body + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def parquet_of(columns):
    """A row with one long text a column, packed by gzip: {name: (bytes, stated size)}."""
    body, chunks, schema = b"PAR1", [], [thrift(f4="schema", f5=len(columns))]
    for name, (size, stated) in columns.items():
        page = gzip.compress(size.to_bytes(4, "little") + b" " * size, 1)
        data = thrift(f1=1, f2=0, f3=3, f4=3)
        head = thrift(f1=0, f2=stated, f3=len(page), f5=data)
        schema.append(thrift(f1=6, f3=0, f4=name))
        facts = thrift(f1=6, f4=2, f5=1, f6=stated, f7=len(head + page), f9=len(body))
        chunks.append(thrift(f2=len(body), f3=facts))
        body += head + page
    group = thrift(f1=chunks, f2=len(body), f3=1)
    return parquet_file(body, schema, [group])


def test_memory_of_parquet_is_bounded():
    mb = 10**6
    told, _ = peak_of(parquet_of({"id": (3, 7), "text": (5 * mb, 5 * mb + 4)}))
    assert '"decision":"too_short"' in told, told
    told, peak = peak_of(parquet_of({"id": (3, 7), "text": (3, 2000 * mb)}))
    assert "want more than 512 MB" in told and peak < 100, (told, peak)
    large = (180 * mb, 180 * mb + 4)
    told, peak = peak_of(parquet_of({name: large for name in ("id", "source", "text")}))
    assert "want more than 512 MB" in told and peak < 600, (told, peak)


def test_columns_of_parquet_are_bounded():
    """A byte each in the footer, they would take a hundred times as much of memory."""
    told, _ = peak_of(parquet_file(b"PAR1", [b"\0"] * 70_000, []))
    assert "Parquet of more than 65536 columns" in told, told


def test_values_of_a_page_are_bounded():
    """A run of nulls takes some bytes, however long it is."""
    rows = 2**40
    page = varint(rows << 1) + b"\0"
    page = len(page).to_bytes(4, "little") + page
    data = thrift(f1=rows, f2=0, f3=3, f4=3)
    head = thrift(f1=0, f2=len(page), f3=len(page), f5=data)
    schema = [thrift(f4="schema", f5=1), thrift(f1=6, f3=1, f4="text")]
    facts = thrift(f1=6, f4=0, f5=rows, f6=len(page), f7=len(head + page), f9=4)
    group = thrift(f1=[thrift(f2=4, f3=facts)], f2=len(page), f3=rows)
    told, _ = peak_of(parquet_file(b"PAR1" + head + page, schema, [group]))
    assert "a page of column 'text' is damaged" in told, told


# ---- Arrow ----

UTF8, BOOL, STRUCT = 5, 6, 13


class Table(list):
    """Of FlatBuffers: fields by number, each (struct's letter, number), a Table, Vector, list of
    tables, or None."""


class Vector:
    """Of structs, as bytes."""

    def __init__(self, data, width=1):
        self.data, self.count = data, len(data) // width


def flatbuffer(table):
    """A table with all that it leads to; what is met again is behind those that lead to it."""
    out, places = bytearray(4), {}

    def put_table(what):
        given = [i for i, one in enumerate(what) if one is not None]
        fields = [4 + 8 * i if i in given else 0 for i in range(len(what))]
        names = struct.pack(f"<HH{len(what)}H", 4 + 2 * len(what), 4 + 8 * len(what), *fields)
        out.extend(names)
        place = len(out)
        out.extend(struct.pack("<i", len(names)) + bytes(8 * len(what)))
        return place, [(place + 4 + 8 * i, what[i]) for i in given]

    def put_vector(what):
        place, data = len(out), what.data if isinstance(what, Vector) else bytes(4 * len(what))
        out.extend(struct.pack("<I", what.count if isinstance(what, Vector) else len(what)) + data)
        items = [] if isinstance(what, Vector) else enumerate(what)
        return place, [(place + 4 + 4 * i, one) for i, one in items]

    def put(what):
        if id(what) not in places:
            place, slots = put_table(what) if isinstance(what, Table) else put_vector(what)
            places[id(what)] = place
            for slot, one in slots:
                if isinstance(one, tuple):
                    struct.pack_into("<" + one[0], out, slot, one[1])
                else:
                    struct.pack_into("<I", out, slot, put(one) - slot)
        return places[id(what)]

    struct.pack_into("<I", out, 0, put(table))
    return bytes(out)


def message(kind, header, body=b""):
    flat = flatbuffer(Table([("h", 4), ("b", kind), header, ("q", len(body))]))
    flat += bytes(-len(flat) % 8)
    return b"\xff\xff\xff\xff" + struct.pack("<I", len(flat)) + flat + body


def column(name, kind, dictionary=None, children=None):
    return Table([Vector(name), None, ("b", kind), Table(), dictionary, children or []])


def schema_message(columns):
    return message(1, Table([None, columns]))


def record_batch(rows, buffers):
    """The table of a batch of columns without nulls, and its body."""
    body, places = b"", b""
    for buffer in buffers:
        places += struct.pack("<qq", len(body), len(buffer))
        body += buffer
    nodes = struct.pack("<qq", rows, 0) * (len(buffers) // 2)
    return Table([("q", rows), Vector(nodes, 16), Vector(places, 16)]), body


def test_columns_that_share_a_dictionary_of_another_type():
    """The dictionary is read as truths, and then asked for texts."""
    columns = schema_message(
        [
            column(name, kind, Table([("q", 7), Table([("i", 32), ("b", 1)])]))
            for name, kind in ((b"id", BOOL), (b"text", UTF8))
        ]
    )
    words, body = record_batch(100, [b"", bytes(100)])
    dictionary = message(2, Table([("q", 7), words]), body)
    rows, body = record_batch(2, [b"", struct.pack("<ii", 0, 1)] * 2)
    told, _ = peak_of(columns + dictionary + message(3, rows, body))
    assert "the Arrow data is damaged" in told, told


def test_columns_of_arrow_are_bounded():
    """Of some kilobytes that are met again and again it would be millions."""
    inner = column(b"x", BOOL)
    outer = column(b"y", STRUCT, None, [inner] * 2000)
    told, _ = peak_of(schema_message([column(b"text", UTF8), *[outer] * 2000]))
    assert "the schema of the Arrow data is damaged" in told, told


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="doppel-hostile-") as folder:
        os.chdir(folder)
        FAILED = tap.main(sys.modules[__name__])
        os.chdir("/")
    sys.exit(FAILED)
