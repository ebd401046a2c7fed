#!/usr/bin/env python3
"""How well texts that look like OCR are told from others, of what Debian packages ship.

looks_like_ocr.py LIBDOPPEL [tune]: of the half of the files that is reported, or the other, from
which text/rare_trigrams.h was counted, the share that looks like OCR: as it is, and as plain text
of which a share of the letters is misread, at random, or as one letter is taken for another."""

import ctypes
import gzip
import hashlib
import os
import random
import re
import sys

MAX_BYTES, LEAST_CHARACTERS = 60000, 1500
LANGUAGES = "cs da de es fr hr hu id it nl pl pt pt_BR ro sl sv tr vi".split()
CONFUSED = {
    "l": ["1", "I", "i", "t"], "i": ["l", "1", "j"], "o": ["0", "c", "e"], "e": ["c", "o"],
    "c": ["e", "o"], "h": ["b", "li"], "m": ["rn", "in"], "n": ["u", "ri"], "u": ["n", "ii"],
    "a": ["o", "u"], "s": ["5", "S", "a"], "b": ["6", "h"], "g": ["9", "q"], "t": ["f", "l", "+"],
    "f": ["t", "r"], "r": ["t", "i"], "d": ["cl", "ol"], "w": ["vv", "iv"], "v": ["y"],
    "y": ["v"], "k": ["lc"], "p": ["n"], "x": ["z"], "z": ["2"], "q": ["g"], "j": ["i"],
}


def read(path):
    try:
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
            return file.read(MAX_BYTES).decode("utf-8", "replace")
    except (OSError, EOFError):
        return ""


def without_roff(text):
    lines = (line for line in text.split("\n") if line[:2] not in ('.\\"', "'\\"))
    lines = (" ".join(line.split()[1:]) if line[:1] in (".", "'") else line for line in lines)
    return re.sub(r"\\f(\(..|\[.*?\]|.)|\\[&/|^)]", "", "\n".join(lines)).replace("\\-", "-")


def walk(root, pattern):
    for folder, _, names in os.walk(root):
        for name in names:
            if re.search(pattern, name) and not os.path.islink(os.path.join(folder, name)):
                yield os.path.join(folder, name)


def texts_of(paths, key, half, change=lambda text: text, most=300):
    """At most four of each key; the halves have none in common."""
    paths, taken, out = sorted(paths), {}, []
    random.shuffle(paths)
    for path in paths:
        name = key(path)
        if hashlib.md5(name.encode()).digest()[0] & 1 != half or taken.get(name, 0) >= 4:
            continue
        text = change(read(path))
        if len(text) >= LEAST_CHARACTERS:
            out.append(text)
            taken[name] = taken.get(name, 0) + 1
        if len(out) == most:
            break
    return out


def load(half):
    package = lambda path: "/".join(path.split("/")[:5])
    page = lambda path: os.path.basename(path)[:5]
    doc = "/usr/share/doc"
    texts = {
        "licences": texts_of(walk(doc, "^copyright$"), package, half),
        "changelogs": texts_of(walk(doc, "hangelog"), package, half),
        "documents": texts_of(walk(doc, r"^(README|NEWS|FAQ|TODO)|\.(txt|rst)"), package, half),
        "Markdown": texts_of(walk("/usr", r"\.md$"), os.path.dirname, half),
        "manual pages": texts_of(
            (path for i in "12345678" for path in walk(f"/usr/share/man/man{i}", "gz$")), page,
            half, without_roff),
        "of other languages": [
            text for language in LANGUAGES
            for text in texts_of(walk("/usr/share/man/" + language, "gz$"), page, half,
                                 without_roff, 60)],
    }
    for ending, root in {"h": "/usr/include", "py": "/usr/lib/python3", "js": "/usr/share",
                         "pm": "/usr/share/perl", "json": "/usr/share", "csv": "/usr",
                         "xml": "/usr/share"}.items():
        texts["*." + ending] = texts_of(walk(root, rf"\.{ending}$"), os.path.dirname, half)
    return texts


def misread(text, share):
    def one(c):
        if not (c.isascii() and c.isalnum()) or random.random() >= share:
            return c
        how, wrong = random.randrange(10), random.choice("abcdefghijklmnopqrstuvwxyz")
        return wrong if how > 1 else c + wrong if how else ""
    return "".join(map(one, text))


def confuse(text, share):
    def one(c):
        if not c.isalnum() or random.random() >= share:
            return c
        how = random.random()
        if how < 0.22:
            return "" if how < 0.1 else c + random.choice(" ~^'.,|*")
        return random.choice(CONFUSED.get(c, "aeiou~"))
    return "".join(map(one, text))


def main():
    library = ctypes.CDLL(sys.argv[1])
    looks = library.doppel_text_looks_like_ocr
    looks.restype, looks.argtypes = ctypes.c_bool, [ctypes.c_char_p, ctypes.c_size_t]
    random.seed(1)
    texts = load(int(sys.argv[2:] != ["tune"]))

    def show(name, some):
        found = sum(looks(data, len(data)) for data in (text.encode() for text in some))
        print(f"{name:40} {found:5} of {len(some):5}  {found / max(1, len(some)):.4f}")

    for name, some in texts.items():
        show(name, some)
    show("all of them", [text for some in texts.values() for text in some])
    for what in "licences", "documents", "manual pages", "of other languages":
        for change in misread, confuse:
            for share in 0.04, 0.08, 0.12:
                show(f"{what}, {change.__name__} {share:.0%}",
                     [change(text[:6000], share) for text in texts[what]])


if __name__ == "__main__":
    main()
