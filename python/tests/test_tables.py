"""Bands of signatures and postings of keys: what is near, against the slow obvious way."""

import hashlib
import sys
import threading
import types
import wave

import numpy
import pytest

import doppel

RANDOM = numpy.random.default_rng(7)


def some_signatures(count, lanes):
    """Signatures of which every other one is like one before, in half of its lanes and more."""
    made = RANDOM.integers(0, 2**16, (count, lanes), dtype=numpy.uint16)
    for i in range(1, count, 2):
        alike = RANDOM.random(lanes) < RANDOM.uniform(0.5, 1)
        made[i, alike] = made[RANDOM.integers(0, i), alike]
    return made


@pytest.mark.parametrize("lanes, bands, rows", [(128, 25, 5), (64, 16, 4), (8, 8, 1)])
def test_bands_find_what_a_scan_finds(lanes, bands, rows):
    signatures, radius = some_signatures(400, lanes), lanes * 2 // 5
    index = doppel.Bands(lanes, bands=bands, rows=rows)
    assert (index.lanes, index.bands, index.rows) == (lanes, bands, rows)
    assert index.add(signatures) == len(index) == 400
    lims, ids, distances = index.search(signatures, radius)
    assert lims[-1] > 500
    for query, signature in enumerate(signatures):
        equal = signatures == signature
        shared = equal[:, : bands * rows].reshape(-1, bands, rows).all(axis=2).any(axis=1)
        unlike = (~equal).sum(axis=1)
        near = numpy.flatnonzero(shared & (unlike <= radius))
        order = numpy.lexsort((near, unlike[near]))
        hits = slice(lims[query], lims[query + 1])
        assert ids[hits].tolist() == near[order].tolist()
        assert distances[hits].tolist() == unlike[near][order].tolist()


def test_bands_are_chosen_kept_and_changed(tmp_path):
    texts = [f"of {i} words and some more that are always there {i * 7}" * 3 for i in range(40)]
    prints = [doppel.hash(text=text) for text in texts]
    codes = numpy.concatenate([one.codes.reshape(1, -1) for one in prints])
    index = doppel.Bands(128, 0.6)
    assert (index.bands, index.rows, index.radius) == (32, 4, 51)
    index.add(codes, numpy.arange(40) + 100)
    found, ids = index.knn(codes, 2)
    assert ids[:, 0].tolist() == list(range(100, 140)) and not found[:, 0].any()
    assert found[0, 1] == (prints[0] - prints[ids[0, 1] - 100] if ids[0, 1] >= 0 else -1)
    assert index.search(codes[0])[1][0] == 100
    index.save(tmp_path / "kept")
    again = doppel.Bands.load(tmp_path / "kept")
    assert (again.lanes, again.bands, again.rows, len(again)) == (128, 32, 4, 40)
    for one, other in zip(index.search(codes, 51), again.search(codes, 51)):
        assert numpy.array_equal(one, other)
    with pytest.raises(doppel.InputError):
        doppel.Index.load(tmp_path / "kept")
    index.remove(numpy.array([100]))
    assert 100 not in index.search(codes[:1], 128).ids


def test_layouts_of_signatures():
    signatures = some_signatures(20, 128)
    index = doppel.Bands()
    for layout in (
        signatures,
        signatures.view(numpy.uint64),
        signatures.view(numpy.uint8),
        numpy.asfortranarray(signatures),
        numpy.repeat(signatures, 2, axis=0)[::2],
    ):
        assert index.add(layout, numpy.arange(20)) == 20
    read_only = signatures.view()
    read_only.flags.writeable = False
    assert index.search(read_only, 0).ids[:5].tolist() == [0] * 5


@pytest.mark.parametrize(
    "call",
    [
        lambda: doppel.Bands(5),
        lambda: doppel.Bands(0),
        lambda: doppel.Bands(2**40),
        lambda: doppel.Bands(128, 2),
        lambda: doppel.Bands(128, float("nan")),
        lambda: doppel.Bands(128, bands=3),
        lambda: doppel.Bands(128, bands=100, rows=100),
        lambda: doppel.Bands().add(numpy.zeros((2, 127), numpy.uint16)),
        lambda: doppel.Bands().add(numpy.zeros((2, 128), numpy.int16)),
        lambda: doppel.Bands().add(numpy.zeros((2, 128), ">u2")),
        lambda: doppel.Bands().add(numpy.zeros((2, 128), numpy.uint16), numpy.arange(3)),
        lambda: doppel.Bands().search(numpy.zeros((2, 128), numpy.uint16), 129),
        lambda: doppel.Bands().add(b"few"),
        lambda: doppel.Bands().add(None),
        lambda: doppel.Postings(0),
        lambda: doppel.Postings(33),
        lambda: doppel.Postings(4).add(1, [[16, 0]]),
        lambda: doppel.Postings().add(1, [[1, 5]], 5),
        lambda: doppel.Postings().add(1, [[1, 2**32]]),
        lambda: doppel.Postings().add(1, [[1, 2**32 - 1]]),
        lambda: doppel.Postings().add(1, [[-1, 0]]),
        lambda: doppel.Postings().add(1, [1, 2]),
        lambda: doppel.Postings().add(1, [[1, 2], [3]]),
        lambda: doppel.Postings().add(1, [["a", 0]]),
        lambda: doppel.Postings().add(1, numpy.zeros((2, 2), numpy.float32)),
        lambda: doppel.Postings().add(1, numpy.zeros((2, 2), ">u4")),
        lambda: doppel.Postings().add(2**63, [[1, 0]]),
        lambda: doppel.Postings().add("one", [[1, 0]]),
        lambda: doppel.Postings(4).lookup([16]),
        lambda: doppel.Postings().lookup([[1]]),
        lambda: doppel.Postings().lookup(None),
        lambda: doppel.minhash("a text"),
        lambda: doppel.minhash([1]),
        lambda: doppel.minhash([], permutations=0),
        lambda: doppel.minhash([], permutations=2**31),
        lambda: doppel.minhash([], seed=-1),
    ],
)
def test_bad_arguments(call):
    with pytest.raises(doppel.Error):
        call()


def test_postings_find_what_a_scan_finds():
    index, rows = doppel.Postings(10), []
    for item in range(-50, 50):
        postings = RANDOM.integers(0, 1000, (RANDOM.integers(0, 30), 2), dtype=numpy.uint32)
        postings = numpy.unique(postings, axis=0)
        index.add(item, postings)
        rows += [(int(key), item, int(position)) for key, position in postings]
    assert len(index) == len(rows)
    index.remove(numpy.array([3, 4, 1000]))
    rows = [row for row in rows if row[1] not in (3, 4)]
    keys = numpy.concatenate([RANDOM.permutation(1000), [5, 5]]).astype(numpy.uint32)
    lims, ids, positions = index.lookup(keys)
    for i, key in enumerate(keys):
        hits = slice(lims[i], lims[i + 1])
        found = sorted(zip(ids[hits].tolist(), positions[hits].tolist()))
        assert found == sorted((item, position) for one, item, position in rows if one == key)
    assert index.lookup([]).lims.tolist() == [0]


def test_postings_of_many_segments_and_threads():
    index = doppel.Postings(16)
    postings = numpy.stack([numpy.arange(40_000), numpy.arange(40_000)], axis=1)
    failed = []

    def ask():
        try:
            for _ in range(50):
                lims, ids, positions = index.lookup([7, 39_999])
                assert set(positions.tolist()) <= {7, 39_999} and lims[2] == len(ids)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for item in range(5):
        index.add(item, postings.astype(numpy.uint32), 50_000)
    for thread in threads:
        thread.join()
    assert not failed
    lims, ids, positions = index.lookup([7])
    assert sorted(ids.tolist()) == [0, 1, 2, 3, 4] and positions.tolist() == [7] * 5


def test_postings_are_kept(tmp_path):
    index, kept = doppel.Postings(20), RANDOM.integers(0, 2**20, (7, 400, 2), dtype=numpy.uint32)
    for item in range(7):
        kept[item, :, 1] = RANDOM.permutation(1000)[:400]
        index.add(item - 3, kept[item], 1000)
    index.add(100, numpy.zeros((0, 2), numpy.uint32), 5)
    index.add(4, kept[0])
    index.remove(numpy.array([1, 4]))
    index.save(tmp_path / "kept")
    again = doppel.Postings.load(tmp_path / "kept")
    keys = numpy.unique(kept[:, :, 0])

    def all_of(one):
        lims, ids, positions = one.lookup(keys)
        of = numpy.repeat(keys, numpy.diff(lims))
        return sorted(zip(of.tolist(), ids.tolist(), positions.tolist()))

    wanted = [
        (key, item - 3, position)
        for item in range(7)
        for key, position in kept[item].tolist()
        if item - 3 != 1
    ]
    assert all_of(index) == all_of(again) == sorted(wanted)
    assert len(again) == len(wanted) and again.nbytes
    for change in (lambda: again.add(5, kept[0]), lambda: again.remove(numpy.array([5]))):
        with pytest.raises(doppel.ArgumentError, match="only searched"):
            change()
    with pytest.raises(doppel.ArgumentError):
        index.save(tmp_path / "kept")
    with pytest.raises(doppel.InputError):
        doppel.Index.load(tmp_path / "kept")
    with pytest.raises(doppel.ArgumentError):
        again.lookup(numpy.array([2**20], numpy.uint32))
    again.save(tmp_path / "again")
    assert all_of(doppel.Postings.load(tmp_path / "again")) == sorted(wanted)
    doppel.Postings().save(tmp_path / "empty")
    assert len(doppel.Postings.load(tmp_path / "empty")) == 0


def datasketch_minhash(tokens, permutations, seed):
    """MinHash.hashvalues of datasketch, by its published formula."""
    prime, most = numpy.uint64((1 << 61) - 1), numpy.uint64((1 << 32) - 1)
    random = numpy.random.RandomState(seed)
    pairs = [
        (random.randint(1, prime, dtype=numpy.uint64), random.randint(0, prime, dtype=numpy.uint64))
        for _ in range(permutations)
    ]
    a, b = numpy.array(pairs, dtype=numpy.uint64).T
    values = numpy.full(permutations, most, dtype=numpy.uint64)
    for token in tokens:
        digest = int.from_bytes(hashlib.sha1(token).digest()[:4], "little")
        hashed = numpy.bitwise_and((a * numpy.uint64(digest) + b) % prime, most)
        values = numpy.minimum(values, hashed)
    return values


@pytest.mark.parametrize("permutations, seed", [(128, 1), (16, 42), (1, 0), (256, 2**32 - 1)])
def test_minhash_is_that_of_datasketch(permutations, seed):
    for tokens in ([], ["one"], ["ein", "Müll", ""], [b"\0\xff" * 100, b"two"], list("abcdefgh")):
        as_bytes = [t.encode() if isinstance(t, str) else t for t in tokens]
        made = doppel.minhash(iter(tokens), permutations=permutations, seed=seed)
        assert made.dtype == numpy.uint64
        assert made.tolist() == datasketch_minhash(as_bytes, permutations, seed).tolist()


def test_where_two_pictures_show_the_same(tmp_path, media):
    image = pytest.importorskip("PIL.Image")
    with image.open(media / "pictures/originals/sea.jpg") as one:
        page = image.new("RGB", (one.width * 2, one.height * 2), "white")
        page.paste(one, (one.width, 0))
    page.save(tmp_path / "page.jpg")
    match = doppel.compare(
        tmp_path / "page.jpg", media / "pictures/originals/sea.jpg", scheme="local"
    )
    assert match and isinstance(match.where, doppel.Where)
    query, item = match.where
    assert 0.4 < query.left < query.right < 1.1 and -0.1 < query.top < query.bottom < 0.6
    assert item.right - item.left > 0.5 and "border:2px solid red" in match._repr_html_()


def tune(path, seconds=None):
    """Samples of a WAVE file, floats, and their rate."""
    with wave.open(str(path)) as file:
        rate = file.getframerate()
        frames = file.readframes(file.getnframes())
        samples = numpy.frombuffer(frames, "<i2").reshape(-1, file.getnchannels()).mean(axis=1)
    return samples[: int((seconds or 1e9) * rate)] / 32768, rate


def test_a_sample_in_two_tunes_is_shared(media):
    sample, rate = tune(media / "music/tune-2.wav", 8)
    tunes = []
    for name, start in ("tune-0", 10), ("tune-1", 15):
        samples, _ = tune(media / f"music/{name}.wav")
        samples = numpy.tile(samples, 3)[: 45 * rate].copy()
        samples[start * rate :][: len(sample)] += 0.8 * sample
        tunes.append(doppel.hash((samples.astype(numpy.float32), rate)))
    match = doppel.compare(*tunes)
    assert match and match.relation == "shared" == doppel.compare(*reversed(tunes)).relation
    assert any(abs(one.a_start - 10) < 2 and abs(one.b_start - 15) < 2 for one in match.segments)


def test_groups_as_tables(media, monkeypatch):
    """pyarrow is in no package of Debian: what it is given is looked at."""
    groups = doppel.scan(media / "pictures")
    monkeypatch.setitem(
        sys.modules, "pyarrow", types.SimpleNamespace(Table=types.SimpleNamespace(from_pylist=list))
    )
    rows = groups.to_arrow()
    assert len(rows) == sum(len(group.members) for group in groups) > 5
    assert [row["path"] for row in rows if row["reason"] == "kept"] == [g.keep for g in groups]
    assert all(list(row) == list(rows[0]) for row in rows), "columns are the same"
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError):
        groups.to_arrow()


def test_a_bar_of_tqdm(media, monkeypatch):
    bars = []

    class Bar:
        def __init__(self, unit):
            self.unit, self.n, self.total = unit, 0, None
            bars.append(self)

        def update(self, more):
            self.n += more

    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    doppel.scan(media / "pictures", progress=True)
    [files] = [bar for bar in bars if bar.unit == " files"]
    assert files.n == files.total >= 20
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert doppel.scan(media / "pictures", progress=True), "without it nothing is shown"


def test_relations_are_taken_as_they_are_told():
    said = {"relation": "shared", "match": True, "kind": "audio"}
    assert doppel.Match.from_json(said).relation == "shared"
