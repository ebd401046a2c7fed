"""Fingerprints of all kinds of sources, against oracles and against the command."""

import io
import json
import pathlib
import pickle
import subprocess

import numpy
import pytest
import scipy.fftpack
from conftest import BUILD
from PIL import Image

import doppel
import doppel.imagehash


def printed(path, *options):
    """What the command says of a file."""
    done = subprocess.run(
        [BUILD / "doppel", "hash", "--json", *options, path], capture_output=True, check=True
    )
    return json.loads(done.stdout)


def phash_of_imagehash(picture):
    """imagehash.phash() with its defaults, from its published code."""
    pixels = numpy.asarray(picture.convert("L").resize((32, 32), Image.LANCZOS))
    dct = scipy.fftpack.dct(scipy.fftpack.dct(pixels, axis=0), axis=1)
    low = dct[:8, :8]
    bits = low > numpy.median(low)
    return f"{int(''.join(str(int(bit)) for bit in bits.flatten()), 2):016x}"


@pytest.mark.parametrize(
    "name, scheme",
    [
        ("pictures/originals/sea.jpg", None),
        ("pictures/originals/sea.jpg", "phash256"),
        ("pictures/originals/sea.jpg", "pdq"),
        ("pictures/copies/marble.png", "imagehash"),
        ("texts/apache.txt", None),
        ("texts/apache.txt", "minhash256"),
        ("texts/apache.txt", "simhash64"),
        ("texts/apache.txt", "datasketch"),
        ("heard.wav", None),
        ("trailer.avi", None),
    ],
)
def test_paths_give_what_the_command_prints(media, name, scheme):
    fingerprint = doppel.hash(media / name, scheme=scheme)
    wanted = printed(media / name, *(["--scheme", scheme] if scheme else []))
    wanted.pop("path")
    assert dict(fingerprint.facts) == wanted
    assert fingerprint.scheme == wanted["scheme"]


@pytest.mark.parametrize("name", ["originals/sea.jpg", "originals/tiles.jpg", "copies/marble.png"])
def test_imagehash_is_bit_equal(media, name):
    picture = Image.open(media / "pictures" / name)
    assert str(doppel.imagehash.phash(picture)) == phash_of_imagehash(picture)
    grey = picture.convert("L")
    assert str(doppel.imagehash.phash(grey)) == phash_of_imagehash(grey)


def test_sources_of_the_same_bytes_are_equal(media, tmp_path):
    path = media / "pictures" / "originals" / "sea.jpg"
    wanted = doppel.hash(path)
    data = path.read_bytes()
    assert doppel.hash(str(path)) == wanted
    assert doppel.hash(data) == doppel.hash(bytearray(data)) == doppel.hash(memoryview(data))
    assert doppel.hash(data) == wanted
    assert doppel.hash(io.BytesIO(data)) == wanted
    with path.open("rb") as file:
        assert doppel.hash(file) == wanted
    behind = tmp_path / "behind"
    behind.write_bytes(b"before" + data)
    with behind.open("rb") as file:
        file.read(6)
        assert doppel.hash(file) == wanted
    assert len({wanted, doppel.hash(data)}) == 1


def test_arrays_are_read_as_pictures(media):
    picture = Image.open(media / "pictures" / "originals" / "sea.jpg")
    pixels = numpy.asarray(picture)
    wanted = doppel.hash(picture)
    assert doppel.hash(pixels) == wanted
    assert doppel.hash(picture.convert("RGBA")) == wanted
    assert doppel.hash(numpy.asfortranarray(pixels)) == wanted
    pixels.flags.writeable = False
    assert doppel.hash(pixels) == wanted
    assert wanted - doppel.hash(media / "pictures" / "originals" / "sea.jpg") <= 2
    assert doppel.hash(pixels[:, ::-1]) - wanted > 8
    assert doppel.compare(pixels[:, ::-1], wanted)


def test_texts_are_read_here_as_from_files(media):
    path = media / "texts" / "apache.txt"
    text = path.read_text()
    assert doppel.hash(text=text) == doppel.hash(path)
    assert doppel.hash(text=text.encode()) == doppel.hash(path)
    other = doppel.hash(text=text, unit="characters", shingle=8)
    assert other != doppel.hash(text=text)
    with pytest.raises(doppel.ArgumentError):
        other - doppel.hash(text=text)
    assert doppel.hash(text="lone \ud800 surrogate, a sentence of some more words than ten of them")


def test_samples_are_read_as_recordings(media):
    import wave

    with wave.open(str(media / "heard.wav")) as file:
        rate, channels = file.getframerate(), file.getnchannels()
        samples = numpy.frombuffer(file.readframes(file.getnframes()), "<i2")
    samples = samples.reshape(-1, channels)
    wanted = doppel.hash(media / "heard.wav")
    assert doppel.hash((samples, rate)) == wanted
    floats = samples / 32768
    assert doppel.compare((floats, rate), wanted)
    assert doppel.compare((floats.mean(axis=1), rate), wanted)


def test_fingerprints_are_kept(media):
    for name in ("pictures/originals/sea.jpg", "texts/apache.txt", "heard.wav", "trailer.avi"):
        fingerprint = doppel.hash(media / name)
        again = pickle.loads(pickle.dumps(fingerprint))
        assert again == fingerprint and again.facts == fingerprint.facts
        assert doppel.compare(again, fingerprint).similarity == 1
        data = fingerprint.to_bytes()
        for damaged in (b"", data[:-1], data[:40], data + b"x", b"x" + data[1:]):
            with pytest.raises(doppel.InputError):
                doppel.Fingerprint.from_bytes(damaged)


def test_random_damage_never_crashes():
    text = "one two three four five six seven eight nine ten"
    data = bytearray(doppel.hash(text=text).to_bytes())
    random = numpy.random.default_rng(24)
    for _ in range(2000):
        damaged = bytearray(data)
        damaged[random.integers(len(data))] = random.integers(256)
        try:
            again = doppel.Fingerprint.from_bytes(damaged)
            assert again.facts is not None and len(again.codes) >= 0
            doppel.compare(again, again)
        except doppel.Error:
            pass


def test_hex_and_codes(media):
    fingerprint = doppel.hash(media / "pictures" / "originals" / "sea.jpg")
    text = str(fingerprint)
    again = doppel.Fingerprint.from_hex(text, "phash64")
    assert again - fingerprint == 0 and str(again) == text
    codes = numpy.asarray(fingerprint)
    assert codes.dtype == numpy.uint64 and codes.shape == (len(fingerprint.positions), 4)
    assert f"{codes[0, 0]:016x}" == text
    assert fingerprint.positions[0] == 0
    assert text in repr(fingerprint)


def test_distance_is_that_of_bits_and_lanes(media):
    a = doppel.hash(media / "pictures" / "originals" / "sea.jpg")
    b = doppel.hash(media / "pictures" / "originals" / "planet.jpg")
    assert a - b == (int(str(a), 16) ^ int(str(b), 16)).bit_count() == b - a
    texts = [doppel.hash(media / "texts" / name) for name in ("apache.txt", "apache-cut.txt")]
    assert texts[0] - texts[1] == doppel.compare(*texts).distance
    with pytest.raises(doppel.ArgumentError):
        doppel.hash(media / "heard.wav") - doppel.hash(media / "heard.wav")


def test_compare(media):
    match = doppel.compare(media / "texts" / "apache.txt", media / "texts" / "apache-cut.txt")
    assert match and match.relation == "same" and match.similarity > 0.8
    match = doppel.compare(media / "trailer.avi", media / "diver.avi")
    assert match and match.segments and match.segments[0].b_start == pytest.approx(2, abs=0.7)
    match = doppel.compare(media / "heard.wav", media / "texts" / "apache.txt")
    assert not match
    pictures = media / "pictures" / "originals"
    assert not doppel.compare(pictures / "sea.jpg", pictures / "planet.jpg")
    assert doppel.compare(pictures / "sea.jpg", pictures / "planet.jpg", min_similarity=0)


def test_passages():
    words = [f"word{number}" for number in range(400)]
    a = " ".join(words)
    b = " ".join(["other"] * 30 + words[100:200] + ["more"] * 30)
    match = doppel.find_passages(a, b)
    [segment] = match.segments
    shared = " ".join(words[100:200])
    assert a[int(segment.a_start) : int(segment.a_end)] == shared
    assert b[int(segment.b_start) : int(segment.b_end)] == shared
    assert not doppel.find_passages(a, "words that stand nowhere in all of the other text " * 3)
    with pytest.raises(doppel.InputError):
        doppel.find_passages(a, "short")


@pytest.mark.parametrize(
    "source, options, error",
    [
        ("/nowhere", {}, doppel.NotFoundError),
        (pathlib.Path("/"), {}, doppel.ArgumentError),
        ("a\0b", {}, doppel.ArgumentError),
        (b"", {}, doppel.InputError),
        (b"\xff\xd8\xff\xe0 no more than this", {}, doppel.InputError),
        (b"\x00\x01\x02 no text", {}, doppel.InputError),
        (12, {}, doppel.TypeMismatchError),
        (None, {}, doppel.TypeMismatchError),
        (io.StringIO("text"), {}, doppel.TypeMismatchError),
        (numpy.zeros((4, 4)), {}, doppel.ArgumentError),
        (numpy.zeros((4, 4), ">u2"), {}, doppel.ArgumentError),
        (numpy.zeros((0, 4), "u1"), {}, doppel.ArgumentError),
        (numpy.zeros((4, 4, 5), "u1"), {}, doppel.ArgumentError),
        (numpy.zeros((4, 4, 4, 4), "u1"), {}, doppel.ArgumentError),
        (numpy.array("text"), {}, doppel.ArgumentError),
        (numpy.array([object()]), {}, doppel.ArgumentError),
        (numpy.zeros((4, 4), "u1"), {"scheme": "peaks32"}, doppel.ArgumentError),
        (numpy.zeros((4, 4), "u1"), {"scheme": "nothing"}, doppel.ArgumentError),
        ("/nowhere", {"scheme": "nothing"}, doppel.ArgumentError),
        ((numpy.array([numpy.nan] * 9000), 8000), {}, doppel.ArgumentError),
        ((numpy.array([numpy.inf] * 9000), 8000), {}, doppel.ArgumentError),
        ((numpy.zeros(0), 8000), {}, doppel.ArgumentError),
        ((numpy.zeros(9000), 0), {}, doppel.ArgumentError),
        ((numpy.zeros(9000), -8000), {}, doppel.ArgumentError),
        ((numpy.zeros(9000), 8000.5), {}, doppel.TypeMismatchError),
        ((numpy.zeros(9000),), {}, doppel.TypeMismatchError),
        ((numpy.zeros((2, 2, 2)), 8000), {}, doppel.ArgumentError),
        ((numpy.zeros(9000, "i8"), 8000), {}, doppel.ArgumentError),
    ],
)
def test_bad_sources(source, options, error):
    with pytest.raises(error) as caught:
        doppel.hash(source, **options)
    assert isinstance(caught.value, doppel.Error) and str(caught.value)


def test_bad_texts():
    for options in ({"format": "x"}, {"unit": "x"}, {"shingle": 0}, {"shingle": 17}):
        with pytest.raises(doppel.ArgumentError):
            doppel.hash(text="some words", **options)
    with pytest.raises(doppel.ArgumentError):
        doppel.hash("path", text="text")
    with pytest.raises(doppel.ArgumentError):
        doppel.hash(text="text", scheme="pdq")
    with pytest.raises(doppel.TypeMismatchError):
        doppel.hash(text=5)
    with pytest.raises(doppel.ArgumentError):
        doppel.Fingerprint.from_hex("xyz", "phash64")


def test_errors_say_what_and_where(media):
    broken = media / "pictures" / "broken.jpg"
    broken.write_bytes(b"\xff\xd8\xff\xe0")
    with pytest.raises(doppel.InputError) as caught:
        doppel.hash(broken)
    broken.unlink()
    error = caught.value
    assert error.path == str(broken) and error.status and str(broken) in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.status == error.status


def test_schemes():
    names = [scheme.name for scheme in doppel.schemes()]
    assert {"phash64", "minhash128", "peaks32", "frames64", "pdq"} <= set(names)
