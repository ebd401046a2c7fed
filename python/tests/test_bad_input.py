"""Bad input: exceptions of doppel, with the file and the reason; never a crash."""

import gc
import os
import random
import shutil
import signal
import sys
import threading
import time

import numpy
import pytest
from conftest import PRELOADED

import doppel

SEA = "pictures/originals/sea.jpg"
RATE = 8000


def test_what_arrays_are_taken():
    """Read-only ones, slices and those of another alignment are as good as others."""
    codes = numpy.arange(1, 41, dtype=numpy.uint64)
    index = doppel.Index()
    index.add(codes)
    wanted = index.search(codes[::2], 0).ids.tolist()
    frozen = codes[::2].copy()
    frozen.flags.writeable = False
    shifted = numpy.zeros(8 * 20 + 3, numpy.uint8)[3:]
    shifted[:] = codes[::2].copy().view(numpy.uint8)
    fortran = numpy.asfortranarray(codes.reshape(-1, 2))[:, :1]
    for same in (codes[::2], frozen, shifted, shifted.view("<u8"), fortran):
        assert index.search(same, 0).ids.tolist() == wanted
    wide = doppel.Index(256, 8)
    assert wide.add(numpy.asfortranarray(codes.reshape(-1, 4))) == 10
    assert wide.search(codes.reshape(-1, 4), 0).ids.tolist() == list(range(10))
    for swapped in (codes.astype(">u8"), codes.astype(">u8")[::2]):
        with pytest.raises(doppel.ArgumentError, match="byte order"):
            index.search(swapped)
    assert (codes == numpy.arange(1, 41)).all(), "what is given is not written to"


def test_codes_of_32_bits():
    index = doppel.Index(32, 3)
    assert index.add(numpy.arange(4, dtype=numpy.uint32)) == 4
    for bad in (numpy.zeros((2, 3), numpy.uint32), numpy.array([2**32], numpy.uint64), b"12345"):
        with pytest.raises(doppel.Error):
            index.add(bad)
    assert len(index) == 4


@pytest.mark.parametrize(
    "samples",
    [
        numpy.full(RATE, numpy.nan, numpy.float32),
        numpy.full(RATE, numpy.inf),
        numpy.zeros(RATE, numpy.complex64),
        numpy.zeros((RATE, 2, 2), numpy.float32),
        numpy.zeros((RATE, 0), numpy.float32),
        numpy.zeros(0, numpy.int16),
        numpy.zeros(RATE, ">i2"),
        numpy.zeros(RATE, numpy.int64),
        numpy.zeros(RATE, object),
        ["a", "b"],
        None,
    ],
)
def test_samples_that_are_none(samples):
    with pytest.raises(doppel.Error):
        doppel.hash((samples, RATE))


def test_one_nan_among_many():
    samples = numpy.random.default_rng(1).standard_normal(RATE * 3).astype(numpy.float32)
    assert doppel.hash((samples, RATE)).kind == "audio"
    samples[12345] = numpy.nan
    with pytest.raises(doppel.ArgumentError, match="NaN"):
        doppel.hash((samples, RATE))
    for rate in (0, -1, 10**9, True):
        with pytest.raises(doppel.Error):
            doppel.hash((samples, rate))


def test_closed_and_deleted(media, tmp_path):
    library = doppel.Library(tmp_path / "library")
    library.add(media / SEA)
    search = library.find(media / SEA)
    assert search[0].path.endswith("sea.jpg")
    library.close()
    library.close()
    for call in (
        lambda: library.add(media / SEA),
        lambda: library.find(media / SEA),
        lambda: library.check(text="some words"),
        lambda: library.ingest(text="some words"),
        lambda: list(library.items()),
        lambda: library.item(1),
        lambda: library.groups(),
        lambda: library.mark(1, 1, "same"),
        lambda: library.remove(1),
        lambda: library.sql,
    ):
        with pytest.raises(doppel.ArgumentError, match="closed"):
            call()
    picture = tmp_path / "gone.jpg"
    shutil.copy(media / SEA, picture)
    with doppel.Library(tmp_path / "library") as library:
        library.add(picture)
        picture.unlink()
        with pytest.raises(doppel.NotFoundError) as caught:
            library.find(picture)
        assert caught.value.path == str(picture) and "No such file" in caught.value.message
        assert any(found.path == str(picture) for found in library.find(media / SEA))
        shutil.rmtree(tmp_path / "library")
        for call in (lambda: library.find(media / SEA), lambda: library.add(media / SEA)):
            try:
                call()
            except doppel.Error:
                pass
    with pytest.raises(doppel.NotFoundError):
        doppel.Library(tmp_path / "library", create=False)


def test_an_index_whose_files_are_damaged(tmp_path):
    index = doppel.Index()
    index.add(numpy.random.default_rng(1).integers(0, 2**64, 100_000, dtype=numpy.uint64))
    index.save(tmp_path / "kept")
    segment = max((tmp_path / "kept").iterdir(), key=lambda path: path.stat().st_size)
    loaded = doppel.Index.load(tmp_path / "kept")
    os.truncate(segment, 4096)
    with pytest.raises(doppel.Error) as caught:
        loaded.search(numpy.zeros(1000, numpy.uint64), 12)
    assert caught.value.status == "corrupt"
    with pytest.raises(doppel.Error):
        doppel.Index.load(tmp_path / "kept").search(numpy.zeros(1000, numpy.uint64), 12)
    (tmp_path / "kept" / "index.db").write_bytes(b"no database" * 100)
    with pytest.raises(doppel.Error) as caught:
        doppel.Index.load(tmp_path / "kept")
    assert caught.value.path == str(tmp_path / "kept")


@pytest.mark.skipif(
    bool(PRELOADED), reason="a child of threads may find the lock of ASan's allocator held for ever"
)
def test_a_fork_in_the_middle(media, run_python):
    """A child has what its parent had, and neither disturbs the other."""
    assert "done" in run_python(
        f"""
import os, threading, numpy, doppel
path = {str(media / SEA)!r}
codes = numpy.arange(50_000, dtype=numpy.uint64)
index = doppel.Index()
index.add(codes)
busy = [threading.Thread(target=lambda: [doppel.hash(path) for _ in range(30)])]
busy += [threading.Thread(target=lambda: [index.search(codes, 2) for _ in range(3)])]
for thread in busy:
    thread.start()
children = []
for _ in range(6):
    child = os.fork()
    if child == 0:
        assert doppel.hash(path).kind == "image"
        assert index.search(codes[:50], 0).lims[-1] >= 50
        os._exit(0)
    children.append(child)
assert all(os.waitpid(child, 0)[1] == 0 for child in children)
for thread in busy:
    thread.join()
print("done")
"""
    )


def test_many_threads_and_signals(media):
    """64 threads at all calls at once, while a timer interrupts the main one."""
    data, codes = (media / SEA).read_bytes(), numpy.arange(2000, dtype=numpy.uint64)
    index, bands = doppel.Index(), doppel.Bands(128)
    failed, ticks = [], []

    def hash_damaged(chance):
        with pytest.raises(doppel.Error):
            doppel.hash(data[: chance.randrange(1, 300)])

    def compare_texts(chance):
        a = doppel.hash(text="some words that are the same in all of them")
        assert doppel.compare(a, a)

    calls = [
        lambda chance: index.add(codes),
        lambda chance: index.search(codes[:100], 3),
        lambda chance: bands.add(numpy.zeros((3, 128), numpy.uint16)),
        compare_texts,
        hash_damaged,
    ]

    def work(number):
        chance = random.Random(number)
        try:
            for _ in range(12):
                chance.choice(calls)(chance)
        except BaseException as error:
            failed.append(error)

    before = signal.signal(signal.SIGALRM, lambda *_: ticks.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(64)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            index.search(codes, 1)
        for thread in threads:
            thread.join()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not failed and ticks


def test_the_end_with_searches_in_flight(run_python):
    run_python(
        """
import threading, time, numpy, doppel
codes = numpy.random.default_rng(1).integers(0, 2**64, 200_000, dtype=numpy.uint64)
index = doppel.Index()
index.add(codes)
for call in (lambda: index.search(codes, 8), lambda: index.add(codes[:1000])):
    threading.Thread(target=lambda call=call: [call() for _ in range(1000)], daemon=True).start()
threading.Thread(
    target=lambda: doppel.dedup(f"text {i} with words enough of its own {i}" for i in range(10**7)),
    daemon=True,
).start()
time.sleep(.5)
"""
    )


ODD = [None, 0, -1, 2**70, 1.5, float("nan"), True, "", "x", "\0", "\udcff", b"", b"\0", 1j, ...]
ODD += [object(), [], [None], {}, {"text": 5}, (), (1, 2, 3), set(), range(3), int, print]
ODD += [numpy.zeros(0), numpy.zeros((2, 2)), numpy.zeros(3, ">u4"), numpy.array(5)]
ODD += [numpy.zeros(4, "U2")]


@pytest.mark.parametrize(
    "call",
    [
        lambda odd: doppel.hash(odd),
        lambda odd: doppel.hash(text=odd, scheme=odd),
        lambda odd: doppel.hash(text="some words", shingle=odd, unit=odd),
        lambda odd: doppel.hash(text="some words", format=odd),
        lambda odd: doppel.hash(text="some words", run=odd),
        lambda odd: doppel.compare(odd, odd),
        lambda odd: doppel.find_passages(odd, odd),
        lambda odd: doppel.dedup(odd),
        lambda odd: doppel.dedup(["a text"], min_similarity=odd, threads=odd, cluster=odd),
        lambda odd: doppel.dedup(["a text"], text=odd, id=odd, preset=odd),
        lambda odd: doppel.scan("nowhere", kinds=odd, schemes=odd),
        lambda odd: doppel.scan("nowhere", keep=odd, parts=odd, max_distance=odd),
        lambda odd: doppel.minhash(odd),
        lambda odd: doppel.minhash(["a"], permutations=odd, seed=odd),
        lambda odd: doppel.Index(odd, odd),
        lambda odd: doppel.Index().add(odd, odd),
        lambda odd: doppel.Index().remove(odd),
        lambda odd: doppel.Index().search(odd, odd),
        lambda odd: doppel.Index().search(numpy.zeros(1, numpy.uint64), 1, limit=odd, threads=odd),
        lambda odd: doppel.Index().knn(numpy.zeros(1, numpy.uint64), odd),
        lambda odd: doppel.Index.load(odd),
        lambda odd: doppel.Bands(odd, odd),
        lambda odd: doppel.Bands(rows=odd, bands=odd),
        lambda odd: doppel.Bands().search(odd),
        lambda odd: doppel.Postings(odd),
        lambda odd: doppel.Postings().add(odd, odd, odd),
        lambda odd: doppel.Postings().lookup(odd),
        lambda odd: doppel.Run(jobs=odd, timeout=odd),
        lambda odd: doppel.Run(sandbox=odd, on_failed=odd),
        lambda odd: doppel.Fingerprint.from_hex(odd, odd),
        lambda odd: doppel.Fingerprint.from_bytes(odd),
        lambda odd: doppel.Library(odd, create=False),
    ],
)
def test_odd_arguments(call, tmp_path, monkeypatch):
    """Of every type: an exception of doppel, unless they can be used."""
    monkeypatch.chdir(tmp_path)
    for odd in ODD:
        try:
            call(odd)
        except doppel.Error as error:
            assert error.message and error.status


def test_errors_of_callbacks_are_the_callers(media):
    def fail(progress):
        raise KeyError("mine")

    def records():
        yield "a text of some words"
        raise ZeroDivisionError

    with pytest.raises(KeyError, match="mine"):
        doppel.scan(media / "pictures", progress=fail)
    with pytest.raises(ZeroDivisionError):
        doppel.dedup(records())


def test_references_do_not_leak(tmp_path):
    """Of what is given and what is raised, none is held after a call, good or bad."""
    codes, ids = numpy.arange(100, dtype=numpy.uint64), numpy.arange(100)
    a = doppel.Fingerprint.from_hex("00ff00ff00ff00ff", "phash64")
    index, postings = doppel.Index(), doppel.Postings()
    bad, rows = numpy.zeros(4), numpy.zeros((5, 2), numpy.uint32)
    tokens, text = [b"a token of bytes"], "a text that is long enough to be told by its words"
    held = (codes, ids, a._record, bad, rows, tokens[0], text, index._handle, doppel.Error)

    def work():
        index.add(codes, ids)
        index.search(codes)
        index.knn(codes, 3)
        index.remove(ids)
        postings.add(1, rows)
        postings.lookup(rows[:, 0])
        doppel.minhash(tokens)
        doppel.hash(text=text)
        assert a - a == 0 and doppel.compare(a, a).matches and a.codes.size and a.positions.size
        for wrong in (bad, codes.astype(">u8"), None, 5):
            for call in (index.add, index.search, index.remove, postings.lookup):
                with pytest.raises(doppel.Error):
                    call(wrong)
        for call in (lambda: index.search(codes, 65), lambda: index.add(codes, ids[:5])):
            with pytest.raises(doppel.Error):
                call()

    def counts():
        gc.collect()
        return [sys.getrefcount(one) for one in held]

    for _ in range(3):
        work()
    before = counts()
    for _ in range(50):
        work()
    after = counts()
    assert all(b <= a + 3 for a, b in zip(before, after)), list(zip(before, after))


def test_time_is_not_spent_on_the_gil(media):
    """Other threads go on while one searches."""
    codes = numpy.random.default_rng(1).integers(0, 2**64, 100_000, dtype=numpy.uint64)
    index = doppel.Index()
    index.add(codes)
    turns, ended = [], threading.Event()

    def count():
        while not ended.is_set():
            turns.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    index.search(codes[:16000], 12, threads=1)
    ended.set()
    thread.join()
    assert len(turns) > 5
