#!/usr/bin/env python3
"""Documents made by hand are read as what they say. `formats.py BUILD`"""

import email.message
import json
import mailbox
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
from program import program  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
FOLDER = pathlib.Path(tempfile.mkdtemp())
doppel = program(BUILD, FOLDER)


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


# ---- other office documents ----


def test_pptx_is_read_slide_by_slide():
    made.pptx(
        FOLDER / "a.pptx",
        {
            1: [made.shape("shown last")],
            2: [made.shape("first", "and more"), made.shape("7", kind="sldNum")],
            3: [made.shape("never shown")],
        },
        [2, 1],
    )
    assert read("a.pptx") == (
        "PPTX",
        ["first\nand more\n", "shown last\n"],
        "first\nand more\nshown last\n",
    )


def test_xlsx_is_read_sheet_by_sheet():
    rows = [
        ['<c t="s"><v>1</v></c>', "<c><f>A1+1</f><v>12.5</v></c>"],
        ['<c t="inlineStr"><is><t>in line</t></is></c>', '<c t="s"><v>99</v></c>'],
    ]
    shared = ["<t>unused</t>", "<r><t>two </t></r><r><t>runs</t></r><rPh><t>x</t></rPh>"]
    made.xlsx(FOLDER / "a.xlsx", [rows, [["<c><v>7</v></c>"]]], shared)
    assert read("a.xlsx")[:2] == ("XLSX", ["two runs 12.5 \nin line \n", "7 \n"])


def test_opendocument_has_its_words_and_notes():
    note = "<text:note><text:note-citation>1</text:note-citation><text:note-body>"
    note += "<text:p>a <text:span>note</text:span></text:p></text:note-body></text:note>"
    made.odf(
        FOLDER / "a.odt",
        "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
        f"<text:h>Title</text:h><text:p>with{note}in<text:s/>two<text:line-break/>lines</text:p>"
        "<text:soft-page-break/><text:p>next</text:p>",
    )
    assert read("a.odt")[:2] == ("ODT", ["Title\nwithin two\nlines\n", "next\na note\n"])
    slides = "<draw:page><text:p>one</text:p><presentation:notes><text:p>said</text:p>"
    slides += "</presentation:notes></draw:page><draw:page><text:p>two</text:p></draw:page>"
    made.odf(FOLDER / "a.odp", slides, "presentation")
    assert read("a.odp")[:2] == ("ODP", ["one\n", "two\n"])
    table = "<table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell>"
    made.odf(FOLDER / "a.ods", f"{table}</table:table-row></table:table>", "spreadsheet")
    assert read("a.ods")[:2] == ("ODS", ["x\n"])
    made.odf(FOLDER / "b.odt", "<text:p>x</text:p>", manifest="<encryption-data/>")
    assert "the ODT is encrypted" in read("b.odt")[2]


def test_epub_is_read_in_the_order_of_its_spine():
    chapters = {
        "two.xhtml": ("", "<p>second</p>"),
        "one 1.xhtml": ("", "<h1>First</h1><p>caf&eacute;</p>"),
        "nav.xhtml": ("nav", "<p>contents</p>"),
    }
    made.epub(FOLDER / "a.epub", chapters, [2, 1, 0])
    format, pages, _ = read("a.epub")
    assert format == "EPUB"
    assert [page.split() for page in pages] == [["First", "café"], ["second"]]
    encrypted = {"META-INF/encryption.xml": '<CipherReference URI="OPS/two.xhtml"/>'}
    made.epub(FOLDER / "b.epub", chapters, [0, 1], **encrypted)
    assert "the EPUB is encrypted" in read("b.epub")[2]


def test_rtf_is_read_between_control_words():
    (FOLDER / "a.rtf").write_bytes(
        rb"{\rtf1\ansi\ansicpg1251{\fonttbl{\f0 Times;}}{\*\generator x;}{\header on all}"
        rb"\pard One\par t\u228\'e4w\u-10179?\u-8704?o{\footnote {\b a n}ote}\'cf\'f0\page"
        b"\r\n"
        rb"e\{n\}d\~x{\pict 0102}{\bin3 }}}.}}ignored"
    )
    format, pages, _ = read("a.rtf")
    assert format == "RTF"
    assert pages == ["One\ntäw\U0001f600oПр\n", "e{n}d x.\na note\n"]


# ---- mail ----


def message(*lines):
    return "\r\n".join(lines).encode() + b"\r\n"


HEAD = ["From: Alice <a@example.org>", "To: b@example.org", "Date: Mon, 1 Jan 2024 00:00:00 +0000"]


def test_mail_is_its_subject_and_what_is_new_in_it():
    (FOLDER / "a.eml").write_bytes(
        message(
            *HEAD,
            "Subject: =?utf-8?q?caf=C3=A9?= =?koi8-r?b?8NLJ18XU?=",
            " today",
            'Content-Type: text/plain; charset="iso-8859-1"',
            "Content-Transfer-Encoding: quoted-printable",
            "",
            "On Monday Bob wrote:",
            "> old words",
            "new w=F6rds, a long=",
            " line",
            "-- ",
            "Alice",
        )
    )
    assert read("a.eml") == (
        "mail",
        ["caféПривет today\nnew wörds, a long line\n"],
        "caféПривет today\nnew wörds, a long line\n",
    )


def test_mail_reads_one_alternative_and_nothing_attached():
    parts = [
        ("text/plain", "", "plain words"),
        ("text/html", "", "<p>other words</p>"),
    ]
    inner = [f"--in\r\nContent-Type: {kind}\r\n{more}\r\n{body}" for kind, more, body in parts]
    (FOLDER / "b.eml").write_bytes(
        message(
            *HEAD,
            "Content-Type: multipart/mixed;",
            " boundary=out",
            "",
            "preamble",
            "--out",
            "Content-Type: multipart/alternative; boundary=in",
            "",
            *inner,
            "--in--",
            "--out",
            "Content-Type: text/html",
            "Content-Transfer-Encoding: base64",
            "",
            "PHA+YW5kIDxiPm1vcmU8L2I+PC9wPg==",
            "--out",
            "Content-Type: text/plain",
            "Content-Disposition: attachment; filename=a.txt",
            "",
            "not read",
            "--out--",
            "epilogue",
        )
    )
    assert read("b.eml")[2].split() == ["plain", "words", "and", "more"]


def test_mbox_has_a_page_for_each_message():
    box = mailbox.mbox(FOLDER / "c.mbox")
    for number in range(3):
        mail = email.message.EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = "a@example.org", "b@example.org", f"no {number}"
        mail["Date"] = "Mon, 1 Jan 2024 00:00:00 +0000"
        mail.set_content(f"words of {number}\n\nFrom here on\n")
        box.add(mail)
    box.flush()
    format, pages, _ = read("c.mbox")
    assert format == "mail"
    assert [page.split() for page in pages] == [
        f"no {number} words of {number} From here on".split() for number in range(3)
    ]


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
