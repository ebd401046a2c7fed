"""The blocks of the guide and of the README do what they say, one after the other; the recipes give
what the packages give that they are in place of."""

import os
import re
import sys
import types

import numpy
import pytest
from conftest import TOP
from test_hash import phash_of_imagehash
from test_tables import datasketch_minhash

import doppel

BLOCK = re.compile(r"^```(py|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks_of(page, heading=""):
    text = (TOP / page).read_text()
    return BLOCK.findall(text[text.index(heading) :])


def enter(media, tmp_path, monkeypatch):
    for path in media.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    assert os.path.exists("pictures")


def test_the_readme(media, tmp_path, monkeypatch):
    enter(media, tmp_path, monkeypatch)
    blocks = [block for language, block in blocks_of("README.md") if language == "python"]
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


# ---- stand-ins: what the packages are documented to give, by the plainest means ----


class ImageHash:
    """imagehash's, of phash."""

    def __init__(self, picture):
        self.text = phash_of_imagehash(picture)

    def __str__(self):
        return self.text

    def __sub__(self, other):
        return bin(int(self.text, 16) ^ int(other.text, 16)).count("1")


class MinHash:
    """datasketch's."""

    def __init__(self, num_perm):
        self.permutations, self.tokens = num_perm, []

    def update(self, token):
        self.tokens.append(token)

    def values(self):
        return datasketch_minhash(self.tokens, self.permutations, 1)


class MinHashLSH:
    """datasketch's, without its misses."""

    def __init__(self, threshold, num_perm):
        self.threshold, self.kept = threshold, {}

    def insert(self, key, made):
        self.kept[key] = made.values()

    def query(self, made):
        values = made.values()
        return [k for k, other in self.kept.items() if (other == values).mean() >= self.threshold]


class IndexBinaryFlat:
    """faiss's."""

    def __init__(self, bits):
        self.codes = None

    def add(self, codes):
        self.codes = codes

    def range_search(self, queries, radius):
        lims, near = [0], []
        for query in queries:
            unlike = numpy.unpackbits(self.codes ^ query, axis=1).sum(axis=1)
            near += [(unlike[i], i) for i in numpy.flatnonzero(unlike < radius)]
            lims.append(len(near))
        distances, ids = numpy.array(near).T
        return numpy.array(lims), distances, ids


class PHash:
    """imagededup's."""

    def find_duplicates(self, image_dir):
        from PIL import Image

        made = {}
        for name in sorted(os.listdir(image_dir)):
            try:
                made[name] = ImageHash(Image.open(os.path.join(image_dir, name)))
            except OSError:
                pass
        return {
            name: [other for other in made if other != name and made[name] - made[other] <= 10]
            for name in made
        }


class SemHash:
    """semhash's, of texts that are equal but for case."""

    def __init__(self, records):
        first = {}
        for record in records:
            first.setdefault(record.lower(), record)
        self.selected = list(first.values())

    from_records = classmethod(lambda cls, records: cls(records))

    def self_deduplicate(self):
        return self


def stand_ins():
    def module(**names):
        made = types.ModuleType("stand_in")
        vars(made).update(names)
        return made

    return {
        "imagehash": module(phash=ImageHash),
        "datasketch": module(MinHash=MinHash, MinHashLSH=MinHashLSH),
        "faiss": module(IndexBinaryFlat=IndexBinaryFlat),
        "imagededup": module(),
        "imagededup.methods": module(PHash=PHash),
        "semhash": module(SemHash=SemHash),
        "acoustid": module(match=lambda key, path: [(1.0, "id", "tune-2.wav", "nobody")]),
    }


def some_sets():
    """Of which the last is like the first five."""
    common = [f"word{i}" for i in range(100)]
    made = [common + [f"own{number}"] for number in range(5)]
    made += [[f"{number}-{i}" for i in range(100)] for number in range(20)]
    return made + [common]


def test_the_guide(media, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    enter(media, tmp_path, monkeypatch)
    for name, module in stand_ins().items():
        monkeypatch.setitem(sys.modules, name, module)
    texts = ["A text that comes twice, and is long enough to be told.", "Another, which does not."]
    names = {"sets": some_sets(), "texts": [*texts, texts[0].upper()], "key": ""}
    there, compared = None, 0
    for language, block in blocks_of("docs/guide/python.md"):
        exec(compile(block, "docs/guide/python.md", "exec"), names)
        if language == "py":
            there = names.pop("result")
        elif there is not None:
            here = names.pop("result")
            if isinstance(there, set):
                assert there <= here  # and what is a copy of parts of it
            else:
                assert here == there
            there, compared = None, compared + 1
    assert compared == 6 and len(doppel.scan("pictures")) > 0
