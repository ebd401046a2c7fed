"""Indexes of codes, against a linear scan."""

import subprocess
import threading

import numpy
import pytest
from conftest import BUILD

import doppel

RANDOM = numpy.random.default_rng(24)


def some_codes(count, bits):
    """Codes of which many are near others."""
    words = max(bits // 64, 1)
    codes = RANDOM.integers(0, 2**64, (count, words), dtype=numpy.uint64)
    near = RANDOM.integers(0, count, count // 2)
    codes[: count // 2] = codes[near] ^ (
        numpy.uint64(1) << RANDOM.integers(0, 32, (count // 2, words), dtype=numpy.uint64)
    )
    return codes[:, 0].astype(numpy.uint32) if bits == 32 else codes


def distances(queries, codes):
    """All distances, by counting bits."""
    wide = [a.reshape(len(a), -1).view(numpy.uint8) for a in (queries, codes)]
    return numpy.unpackbits(wide[0][:, None] ^ wide[1][None], axis=2).sum(axis=2)


@pytest.mark.parametrize("bits, radius", [(32, 3), (64, 8), (128, 10), (256, 20)])
@pytest.mark.parametrize("threads", [1, 2])
def test_search_finds_what_a_scan_finds(bits, radius, threads):
    codes, queries = some_codes(3000, bits), some_codes(100, bits)
    queries[:50] = codes[:50]
    index = doppel.Index(bits, radius)
    assert index.add(codes) == 3000 and len(index) == 3000
    lims, ids, found = index.search(queries, threads=threads)
    assert lims.dtype == ids.dtype == numpy.int64 and found.dtype == numpy.int32
    wanted = distances(queries, codes)
    for query in range(100):
        hits = slice(lims[query], lims[query + 1])
        near = numpy.flatnonzero(wanted[query] <= radius)
        order = numpy.lexsort((near, wanted[query][near]))
        assert ids[hits].tolist() == near[order].tolist()
        assert found[hits].tolist() == wanted[query][near][order].tolist()


def test_knn_finds_the_nearest():
    codes, queries = some_codes(500, 64), some_codes(20, 64)
    index = doppel.Index()
    index.add(codes)
    found, ids = index.knn(queries, 7)
    wanted = distances(queries, codes)
    assert numpy.array_equal(found, numpy.sort(wanted, axis=1)[:, :7])
    assert ids.shape == (20, 7)
    found, ids = index.knn(queries, 7, radius=0)
    assert set(found.flatten()) <= {-1, 0} and ((ids == -1) == (found == -1)).all()


def test_layouts_of_codes():
    codes = some_codes(50, 64)[:, 0]
    index = doppel.Index()
    for layout in (
        codes,
        codes.reshape(-1, 1),
        codes.view(numpy.uint8).reshape(-1, 8),
        codes.tobytes(),
        bytearray(codes.tobytes()),
        memoryview(codes.tobytes()),
        numpy.repeat(codes, 2)[::2],
    ):
        assert index.add(layout, numpy.arange(50)) == 50
    lims, ids, _ = index.search(codes, 0)
    assert lims[1] == 7 and (ids[:7] == 0).all()


def test_ids_are_the_callers():
    index = doppel.Index()
    codes = numpy.arange(4, dtype=numpy.uint64)
    index.add(codes, numpy.array([7, 7, -1, 9], numpy.int64))
    index.add(codes)
    assert index.search(codes[2:3], 0)[1].tolist() == [6, -1]
    index.remove(numpy.array([-1, 6, 1000]))
    assert index.search(codes[2:3], 0)[1].tolist() == []


def test_empty_ones():
    index = doppel.Index()
    lims, ids, found = index.search(numpy.zeros(3, numpy.uint64))
    assert lims.tolist() == [0, 0, 0, 0] and len(ids) == len(found) == 0
    assert index.add(numpy.zeros(0, numpy.uint64)) == 0
    assert index.search(numpy.zeros(0, numpy.uint64)).lims.tolist() == [0]
    assert index.knn(numpy.zeros((0, 1), numpy.uint64), 2)[0].shape == (0, 2)


def test_kept_ones_are_those_of_the_command(tmp_path):
    codes = some_codes(1000, 64)
    index = doppel.Index(64, 6)
    index.add(codes, numpy.arange(1000) + 5)
    index.save(tmp_path / "kept")
    again = doppel.Index.load(tmp_path / "kept")
    assert (len(again), again.bits, again.radius) == (1000, 64, 6)
    for one, other in zip(index.search(codes), again.search(codes)):
        assert numpy.array_equal(one, other)
    with pytest.raises(doppel.ArgumentError):
        again.add(codes)
    with pytest.raises(doppel.ArgumentError):
        index.save(tmp_path / "kept")
    with pytest.raises(doppel.NotFoundError):
        doppel.Index.load(tmp_path / "none")
    queries = tmp_path / "queries"
    queries.write_text(f"{codes[3, 0]:016x}\n")
    done = subprocess.run(
        [BUILD / "doppel", "index", "search", tmp_path / "kept", queries]
        + ["--radius", "0", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert '"id":8' in done.stdout, done.stderr


@pytest.mark.parametrize(
    "codes",
    [
        numpy.zeros(4),
        numpy.zeros(4, numpy.int64),
        numpy.zeros(4, ">u8"),
        numpy.zeros((4, 2), numpy.uint64),
        numpy.zeros((4, 7), numpy.uint8),
        numpy.zeros((2, 2, 2), numpy.uint64),
        numpy.array(5, numpy.uint64),
        b"seven b",
        "text",
        [object()],
        None,
        5,
        numpy.zeros(4, "c16"),
        numpy.zeros(4, [("a", "u8")]),
    ],
)
def test_bad_codes(codes):
    index = doppel.Index()
    for call in (index.add, index.search):
        with pytest.raises(doppel.Error):
            call(codes)
    assert len(index) == 0


def test_bad_arguments():
    for bits, radius in ((63, 8), (0, 0), (64, 65), (64, -1), (512, 8)):
        with pytest.raises(doppel.ArgumentError):
            doppel.Index(bits, radius)
    index = doppel.Index()
    codes = numpy.zeros(4, numpy.uint64)
    for ids in (numpy.arange(3), numpy.zeros(4), numpy.zeros((2, 2), int), "abcd", [1, 2]):
        with pytest.raises(doppel.Error):
            index.add(codes, ids)
    for radius in (-1, 65):
        with pytest.raises(doppel.ArgumentError):
            index.search(codes, radius)
    with pytest.raises(doppel.ArgumentError):
        index.knn(codes, 0)
    with pytest.raises(doppel.ArgumentError):
        index.search(codes, limit=-1)


def test_a_lying_array_interface_is_refused():
    class Lies:
        def __init__(self, **changes):
            self.__array_interface__ = {
                "typestr": "<u8", "shape": (4,), "data": (0, True), "version": 3, **changes
            }

    index = doppel.Index()
    for changes in (
        {},
        {"typestr": "<u9"},
        {"typestr": 5},
        {"typestr": "<u"},
        {"shape": None},
        {"shape": (-1,)},
        {"shape": ("x",)},
        {"shape": (2**62, 2**62)},
        {"data": None},
        {"data": ("x", True)},
        {"data": (3, True)},
    ):
        with pytest.raises((doppel.Error, TypeError, OverflowError)):
            index.search(Lies(**changes))


def test_threads_search_while_others_add():
    index = doppel.Index()
    codes = some_codes(20000, 64)
    failures = []

    def add(part):
        try:
            for first in range(0, 10000, 500):
                index.add(codes[part * 10000 + first :][:500])
        except Exception as error:  # a thread has nobody to raise it to
            failures.append(error)

    def search():
        try:
            for _ in range(20):
                lims, _, found = index.search(codes[:200])
                assert lims[-1] == len(found)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=add, args=(part,)) for part in (0, 1)]
    threads += [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and len(index) == 20000
    assert (numpy.diff(index.search(codes, 0).lims) >= 1).all()
