"""Arrow's tables and columns, as structs of its C data interface that are built here by hand."""

import ctypes
import struct

import pytest

import doppel
from doppel import _dedup

P, I64 = ctypes.c_void_p, ctypes.c_int64


RELEASE = ctypes.CFUNCTYPE(None, P)
GET = ctypes.CFUNCTYPE(ctypes.c_int, P, P)
WHY = ctypes.CFUNCTYPE(P, P)
ENDS = [("children", P), ("dictionary", P), ("release", RELEASE), ("private_data", P)]


class Schema(ctypes.Structure):
    """ArrowSchema."""

    _fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", P)]
    _fields_ += [("flags", I64), ("n_children", I64), *ENDS]


class Array(ctypes.Structure):
    """ArrowArray."""

    _fields_ = [("length", I64), ("null_count", I64), ("offset", I64), ("n_buffers", I64)]
    _fields_ += [("n_children", I64), ("buffers", P), *ENDS]


class Stream(ctypes.Structure):
    """ArrowArrayStream."""

    _fields_ = [("get_schema", GET), ("get_next", GET), ("get_last_error", WHY)]
    _fields_ += [("release", RELEASE), ("private_data", P)]


make_capsule = ctypes.pythonapi.PyCapsule_New
make_capsule.restype, make_capsule.argtypes = ctypes.py_object, [P, ctypes.c_char_p, P]


class Maker:
    """Structs and what they point to, which live as long as this; `released` counts."""

    def __init__(self):
        self.held, self.released = [], 0

        def release_schema(at):
            self.released += 1
            Schema.from_address(at).release = RELEASE()

        def release_array(at):
            self.released += 1
            Array.from_address(at).release = RELEASE()

        def release_stream(at):
            self.released += 1
            Stream.from_address(at).release = RELEASE()

        self.free_schema, self.free_array = RELEASE(release_schema), RELEASE(release_array)
        self.free_stream = RELEASE(release_stream)

    def pointers(self, things):
        made = (P * max(len(things), 1))(*[t and ctypes.addressof(t) for t in things])
        self.held += [made, *things]
        return ctypes.addressof(made)

    def schema(self, format, name=b"", children=()):
        made = Schema(format, name, None, 0, len(children), self.pointers(children), None)
        made.release = self.free_schema
        self.held.append(made)
        return made

    def array(self, length, buffers, children=(), offset=0, nulls=-1):
        buffers = [b if b is None else ctypes.create_string_buffer(b, len(b) or 1) for b in buffers]
        made = Array(length, nulls, offset, len(buffers), len(children))
        made.buffers, made.children = self.pointers(buffers), self.pointers(children)
        made.release = self.free_array
        self.held.append(made)
        return made

    def strings(self, format, rows, offset=0):
        """A column; None is null, and stands on rubbish."""
        valid = bytearray(len(rows) // 8 + 1)
        for i, row in enumerate(rows):
            valid[i // 8] |= (row is not None) << i % 8
        texts = [b"rubbish" if row is None else row.encode() for row in rows]
        if format == b"vu":
            data = b"".join(texts)
            views, at = b"", 0
            for text in texts:
                short = text.ljust(12, b"\0") if len(text) <= 12 else None
                views += struct.pack("<i", len(text)) + (
                    short or text[:4] + struct.pack("<ii", 0, at)
                )
                at += len(text)
            buffers = [bytes(valid), views, data, struct.pack("<q", len(data))]
        else:
            ends = [sum(map(len, texts[:i])) for i in range(len(texts) + 1)]
            code = "<i" if format == b"u" else "<q"
            buffers = [bytes(valid), b"".join(struct.pack(code, end) for end in ends)]
            buffers.append(b"".join(texts))
        return self.array(len(rows) - offset, buffers, offset=offset)

    def capsules(self, schema, array):
        """An object with __arrow_c_array__."""
        given = (
            make_capsule(ctypes.addressof(schema), b"arrow_schema", None),
            make_capsule(ctypes.addressof(array), b"arrow_array", None),
        )
        return type("Column", (), {"__arrow_c_array__": lambda self, requested=None: given})()

    def stream(self, schema, arrays, fails=None):
        """An object with __arrow_c_stream__; it fails at its end where `fails` says why."""
        waiting = list(arrays)

        def get_schema(_, out):
            ctypes.memmove(out, ctypes.addressof(schema), ctypes.sizeof(Schema))
            return 0

        def get_next(_, out):
            if not waiting and fails:
                return 5
            one = waiting.pop(0) if waiting else Array()
            ctypes.memmove(out, ctypes.addressof(one), ctypes.sizeof(Array))
            return 0

        why = ctypes.create_string_buffer(fails or b"")
        made = Stream(GET(get_schema), GET(get_next), WHY(lambda _: ctypes.addressof(why)))
        made.release = self.free_stream
        self.held += [made, why]
        capsule = make_capsule(ctypes.addressof(made), b"arrow_array_stream", None)
        return type("Table", (), {"__arrow_c_stream__": lambda self, requested=None: capsule})()


def lines_of(records):
    """What dedup() is given, line by line."""
    lines = []
    if hasattr(records, "__iter__"):
        return list(_dedup._lines(records, "text", "id"))
    _dedup._write_arrow(records, "text", "id", lines.append)
    return "".join(lines).splitlines(keepends=True)


TEXTS = ["the same words that come again and again in here", "short", "Wörter ✓", ""]
TEXTS += ["the same words that come again and again in here", "another text, of more than 12 bytes"]


@pytest.mark.parametrize("format", [b"u", b"U", b"vu"])
@pytest.mark.parametrize("offset", [0, 2])
def test_columns_are_read_as_lists_are(format, offset):
    maker = Maker()
    column = maker.capsules(maker.schema(format), maker.strings(format, TEXTS, offset))
    assert lines_of(column) == lines_of(TEXTS[offset:])
    assert doppel.dedup(column).unique == doppel.dedup(TEXTS[offset:]).unique


@pytest.mark.parametrize("format", [b"u", b"U", b"vu"])
def test_tables_are_read_batch_by_batch(format):
    maker = Maker()
    numbers = maker.array(6, [None, struct.pack("<6q", *range(1, 7))], nulls=0)
    rows = [{"id": str(number + 1), "text": text} for number, text in enumerate(TEXTS)]
    schema = maker.schema(
        b"+s", children=[maker.schema(b"l", b"id"), maker.schema(format, b"text")]
    )
    whole = maker.array(6, [None], [numbers, maker.strings(format, TEXTS)])
    tail = maker.array(2, [None], [numbers, maker.strings(format, TEXTS)], offset=4)
    assert lines_of(maker.stream(schema, [whole, tail])) == lines_of(rows + rows[4:])
    assert maker.released == 4  # the schema, two batches, the stream
    schema.release = whole.release = maker.free_schema  # as they were
    decided = doppel.dedup(maker.stream(schema, [whole]))
    assert [one.decision for one in decided] == [one.decision for one in doppel.dedup(rows)]


def test_what_is_no_text_is_refused():
    def column(format=b"u", rows=("a", "b"), change=None):
        maker = Maker()
        array = maker.strings(b"u", rows)
        change and change(array)
        return maker, maker.capsules(maker.schema(format), array)

    def table(name=b"text", format=b"u", children=1):
        maker = Maker()
        schema = maker.schema(b"+s", children=[maker.schema(format, name)])
        array = maker.array(2, [None], [maker.strings(b"u", ["a", "b"])] * children)
        return maker, maker.stream(schema, [array])

    def few_buffers(array):
        array.n_buffers = 1

    def no_offsets(array):
        P.from_address(array.buffers + 8).value = None

    def falling_offsets(array):
        ctypes.memmove(P.from_address(array.buffers + 8).value, struct.pack("<3i", 2, 1, 0), 12)

    def negative_offset(array):
        array.offset = -1

    def negative_length(array):
        array.length = -5

    cases = [
        column(rows=("a", None)),
        column(b"i"),
        column(b""),
        column(b"+l"),
        *(column(change=change) for change in (few_buffers, no_offsets, falling_offsets)),
        *(column(change=change) for change in (negative_offset, negative_length)),
        table(b"words"),
        table(format=b"d"),
        table(children=0),
    ]
    for maker, records in cases:
        with pytest.raises(doppel.Error):
            doppel.dedup(records)


def encoded(maker, kind, places, values, format=b"u"):
    """(schema, array) of a column by a dictionary; a place of None is null."""
    valid = bytearray(len(places) // 8 + 1)
    for i, place in enumerate(places):
        valid[i // 8] |= (place is not None) << i % 8
    numbers = struct.pack(f"={len(places)}{kind}", *(place or 0 for place in places))
    code = {"b": "c", "B": "C", "h": "s", "H": "S", "i": "i", "I": "I", "q": "l", "Q": "L"}[kind]
    schema, array = maker.schema(code.encode()), maker.array(len(places), [bytes(valid), numbers])
    schema.dictionary = ctypes.addressof(maker.schema(format))
    array.dictionary = ctypes.addressof(maker.strings(format, values))
    return schema, array


@pytest.mark.parametrize("kind", "bBhHiIqQ")
@pytest.mark.parametrize("format", [b"u", b"vu"])
def test_columns_by_a_dictionary(kind, format):
    maker = Maker()
    values, places = ["never named", *TEXTS[:3]], [1, 3, 1, 2, 2]
    schema, array = encoded(maker, kind, places, values, format)
    assert lines_of(maker.capsules(schema, array)) == lines_of([values[at] for at in places])
    array.offset, array.length = 2, 3
    assert lines_of(maker.capsules(schema, array)) == lines_of([values[at] for at in places[2:]])
    array.offset, array.length = 0, 5
    rows = [{"text": values[at], "id": str(number)} for number, at in enumerate(places)]
    names, ids = encoded(maker, kind, range(5), list("01234"))
    names.name, schema.name = b"id", b"text"
    table = maker.schema(b"+s", children=[names, schema])
    assert lines_of(maker.stream(table, [maker.array(5, [None], [ids, array])])) == lines_of(rows)


def test_dictionaries_that_are_wrong():
    for kind, places, values, format in (
        ("b", [0, -1], ["a"], b"u"),
        ("b", [0, 1], ["a"], b"u"),
        ("Q", [2**64 - 1], ["a"], b"u"),
        ("i", [2**31 - 1], ["a"], b"u"),
        ("i", [0], [], b"u"),
        ("i", [0, None], ["a"], b"u"),
        ("i", [0], [None], b"u"),
        ("i", [0], ["a"], b"i"),
    ):
        maker = Maker()
        with pytest.raises(doppel.Error):
            doppel.dedup(maker.capsules(*encoded(maker, kind, places, values, format)))
    maker = Maker()
    schema, array = encoded(maker, "i", [0], ["a"])
    array.dictionary = None
    with pytest.raises(doppel.Error):
        doppel.dedup(maker.capsules(schema, array))
    inner, values = encoded(maker, "i", [0], ["a"])
    schema, array = encoded(maker, "i", [0], ["a"])
    schema.dictionary, array.dictionary = ctypes.addressof(inner), ctypes.addressof(values)
    with pytest.raises(doppel.TypeMismatchError):
        doppel.dedup(maker.capsules(schema, array))


def test_streams_that_fail_or_were_read():
    maker = Maker()
    schema, array = maker.schema(b"u"), maker.strings(b"u", TEXTS)
    with pytest.raises(doppel.Error, match="the disk is gone"):
        doppel.dedup(maker.stream(schema, [array], b"the disk is gone"))
    assert maker.released == 3
    records = maker.stream(schema, [])
    assert len(doppel.dedup(records)) == 0
    with pytest.raises(doppel.ArgumentError, match="read already"):
        doppel.dedup(records)
    for wrong in (None, (1, 2), "capsule", object()):
        for name in ("__arrow_c_stream__", "__arrow_c_array__"):
            record = type("Wrong", (), {name: lambda self, given=wrong: given})()
            with pytest.raises(doppel.Error):
                doppel.dedup(record)
