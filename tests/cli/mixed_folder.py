#!/usr/bin/env python3
"""A folder as people have them, of all that doppel reads: one list of groups, each kind in its
own, and a sentence for each file that cannot be read. `mixed_folder.py BUILD`"""

import json
import pathlib
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "documents"), str(HERE.parent / "house")]
import made  # noqa: E402
import tap  # noqa: E402
from program import program  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="doppel-mixed-"))
LINES = [f"In line {n} stands what nobody else says, but {n * n} times." for n in range(30)]
TEXT = "\n".join(LINES)
doppel = program(BUILD, FOLDER)


def message(text):
    return (
        "From: a@example.org\nTo: b@example.org\nSubject: \n"
        f"Date: Mon, 1 Jan 2024 10:00:00 +0000\n\n{text}\n"
    )


def pdf(text, trailer=""):
    lines = "".join(f"({line}) Tj T* " for line in text.split("\n"))
    shown = f"BT /F1 11 Tf 14 TL 50 780 Td {lines}ET"
    return (
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        "2 0 obj<</Type/Pages/Kids[4 0 R]/Count 1>>endobj\n"
        "3 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
        "4 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 5 0 R"
        "/Resources<</Font<</F1 3 0 R>>>>>>endobj\n"
        f"5 0 obj<</Length {len(shown)}>>stream\n{shown}\nendstream endobj\n"
        f"trailer<</Root 1 0 R{trailer}>>\n"
    )


def fill():
    """The same text in each format, pictures and their copies, and what cannot be read."""
    texts = FOLDER / "all" / "texts"
    texts.mkdir(parents=True)
    tap.run(BUILD / "doppel-demo", FOLDER / "all" / "pictures")
    (texts / "letter.txt").write_text(TEXT)
    (texts / "letter.pdf").write_text(pdf(TEXT))
    made.docx(texts / "letter.docx", *(made.paragraph(made.run(line)) for line in LINES))
    html = "".join(f"<p>{line}</p>" for line in LINES)
    made.epub(texts / "letter.epub", {"c.html": ("", html)}, [0])
    (texts / "letter.eml").write_text(message(TEXT))
    (texts / "letter.rtf").write_text("{\\rtf1 " + "\\par ".join(LINES) + "}")
    (texts / "box.mbox").write_text(f"From a Mon Jan  1 10:00:00 2024\n{message(TEXT)}\n")
    other = "\n".join(f"Quite another text, line {n}." for n in range(40))
    (texts / "other.txt").write_text(other)
    with zipfile.ZipFile(FOLDER / "all" / "old.zip", "w") as archive:
        archive.writestr("deep/letter.html", html)
    secret = "/ID[(0123456789abcdef)(0123456789abcdef)]/Encrypt<</Filter/Standard/V 1/R 2/P -4"
    secret += "/O(0123456789abcdef0123456789abcdef)/U(0123456789abcdef0123456789abcdef)>>"
    (texts / "secret.pdf").write_text(pdf(TEXT, secret))
    (texts / "cut.docx").write_bytes((texts / "letter.docx").read_bytes()[:400])


def groups():
    out, errors = doppel("scan", "--archives", "--json", "all", code=3)
    return [json.loads(line) for line in out.splitlines()], errors


def test_one_list_of_groups():
    found, _ = groups()
    texts = [group for group in found if group["kind"] == "text"]
    assert len(texts) == 1, texts
    names = {pathlib.PurePath(member["path"]).name for member in texts[0]["members"]}
    wanted = {"letter.txt", "letter.pdf", "letter.docx", "letter.epub", "letter.eml", "letter.rtf"}
    assert names == wanted | {"letter.html", "box.mbox#1"}, names
    assert sum(group["kind"] == "image" for group in found) > 2
    assert [group["group"] for group in found] == list(range(1, len(found) + 1))


def test_what_cannot_be_read_is_named():
    _, errors = groups()
    assert "all/texts/secret.pdf: the PDF is encrypted" in errors, errors
    assert "all/texts/cut.docx: " in errors, errors


def test_the_same_for_any_number_of_workers():
    one = doppel("scan", "--archives", "--json", "--jobs", "1", "all", code=3)[0]
    assert one == doppel("scan", "--archives", "--json", "--jobs", "3", "all", code=3)[0]


def test_a_report_shows_all():
    doppel("report", "--archives", "all", "-o", "all.html", code=3)
    page = (FOLDER / "all.html").read_text()
    assert '"diff"' in page
    for name in ("letter.pdf", "old.zip!/deep/letter.html", "box.mbox#1"):
        assert name in page, name


if __name__ == "__main__":
    fill()
    sys.exit(tap.main(sys.modules[__name__]))
