#!/usr/bin/env python3
"""Documents made by hand are read as what they say. `formats.py BUILD`"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "house")]
import made  # noqa: E402
import tap  # noqa: E402
from made import paragraph, run  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
FOLDER = pathlib.Path(tempfile.mkdtemp())


def read(path):
    """The format, the pages as texts, and the text; or (None, the sentence)."""
    done = subprocess.run(
        [BUILD / "tests/documents/document-text", path], capture_output=True, cwd=FOLDER
    )
    head, _, text = done.stdout.partition(b"\n")
    if done.returncode:
        return None, [], head.decode()
    format, _, *starts = head.decode().split()
    ends = [int(start) for start in starts[1:]] + [len(text)]
    pages = [text[int(start) : end].decode() for start, end in zip(starts, ends)]
    return format, pages, text.decode()


def doppel(*words, code=0):
    home = {
        f"XDG_{name}_HOME": str(FOLDER / "home") for name in ("CACHE", "DATA", "STATE", "CONFIG")
    }
    done = subprocess.run(
        [BUILD / "doppel", *words],
        capture_output=True,
        cwd=FOLDER,
        env=dict(os.environ, **home),
        text=True,
    )
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout, done.stderr


def rows(*words, code=0):
    return [json.loads(line) for line in doppel(*words, "--json", code=code)[0].splitlines()]


# ---- DOCX ----


def test_docx_has_its_words_and_lines():
    made.docx(
        FOLDER / "a.docx",
        paragraph(run("A ti"), run("tle")),
        paragraph(run("one"), "<w:r><w:tab/></w:r>", run("two"), "<w:r><w:br/></w:r>", run("3&4")),
    )
    assert read("a.docx") == ("DOCX", ["A title\none two\n3&4\n"], "A title\none two\n3&4\n")


def test_docx_leaves_out_what_is_deleted():
    made.docx(
        FOLDER / "b.docx",
        paragraph(
            run("kept"),
            "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>",
            f"<w:moveFrom>{run('moved')}</w:moveFrom>",
            f"<w:ins>{run(' new')}</w:ins>",
            "<w:r><w:instrText>PAGE</w:instrText></w:r>",
        ),
    )
    assert read("b.docx")[2] == "kept new\n"


def test_docx_has_notes_behind_and_pages():
    made.docx(
        FOLDER / "c.docx",
        paragraph(run("first")),
        paragraph('<w:r><w:br w:type="page"/><w:lastRenderedPageBreak/></w:r>', run("second")),
        footnotes=f"<w:footnotes {made.W}>{paragraph(run('a note'))}</w:footnotes>",
    )
    assert read("c.docx")[1] == ["first\n", "second\na note\n"]


def test_docx_is_known_by_its_parts_wherever_they_lie():
    made.docx(FOLDER / "d.docx", paragraph(run("found")), name="word/document2.xml")
    assert read("d.docx")[2] == "found\n"
    pad = {f"customXml/item{i}.xml": os.urandom(3000).hex() for i in range(30)}
    body = f"<w:document {made.W}><w:body>{paragraph(run('late'))}</w:body></w:document>"
    made.zipped(
        FOLDER / "e.docx", {**pad, "word/document.xml": body, "[Content_Types].xml": made.TYPES}
    )
    assert read("e.docx")[2] == "late\n"


def test_docx_is_a_text_like_others():
    lines = made.WORDS.split("\n")
    made.docx(FOLDER / "text.docx", *(paragraph(run(line)) for line in lines))
    (FOLDER / "text.txt").write_text(made.WORDS)
    assert rows("hash", "text.docx")[0]["reading"] == "docx"
    group = rows("scan", "text.docx", "text.txt")[0]
    assert {member["reason"] for member in group["members"]} == {"kept", "same-content"}
    assert rows("compare", "text.docx", "text.txt")[0]["a_reading"] == "docx"


# ---- what is no document ----


def test_damaged_ones_are_named():
    good = made.docx(FOLDER / "good.docx", paragraph(run(made.WORDS))).read_bytes()
    broken = {
        "cut.docx": good[: len(good) * 2 // 3],
        "crc.docx": good[: good.index(b"word/document.xml") + 40]
        + b"\0\0\0\0"
        + good[good.index(b"word/document.xml") + 44 :],
    }
    for name, bytes in broken.items():
        (FOLDER / name).write_bytes(bytes)
        _, error = doppel("hash", name, code=3)
        assert name in error and "damaged" in error, error
    made.zipped(FOLDER / "xml.docx", {"[Content_Types].xml": "", "word/document.xml": "<a><b></a>"})
    assert "XML breaks off in line 1" in doppel("hash", "xml.docx", code=3)[1]
    made.docx(FOLDER / "empty.docx")
    assert "holds no text" in doppel("hash", "empty.docx", code=3)[1]


def test_entities_are_left_alone():
    bomb = '<!DOCTYPE w [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;">'
    bomb += '<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    text = f"{bomb}<w:document {made.W}><w:p><w:r><w:t>x&c;&f;y</w:t></w:r></w:p></w:document>"
    made.zipped(
        FOLDER / "bomb.docx", {"[Content_Types].xml": made.TYPES, "word/document.xml": text}
    )
    assert "XML breaks off" in read("bomb.docx")[2]
    deep = "<w:p>" * 5000 + "</w:p>" * 5000
    made.docx(FOLDER / "deep.docx", deep)
    assert "nested too deeply" in read("deep.docx")[2]


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
