"""Documents made by hand: the parts that matter, zipped."""

import zipfile
from xml.sax.saxutils import escape

WORDS = """The quick brown fox jumps over the lazy dog while seven wizards brew a potion of
honey & herbs in the old castle near the river, and nobody in the village knows what for."""


def zipped(path, parts, first=None, compression=zipfile.ZIP_DEFLATED):
    """`parts` by name; `first` is a mimetype, which lies there as it is."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        if first:
            archive.writestr("mimetype", first, zipfile.ZIP_STORED)
        for name, text in parts.items():
            archive.writestr(name, text)
    return path


# ---- DOCX ----

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'


def run(text):
    return f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def paragraph(*runs):
    return f"<w:p>{''.join(runs)}</w:p>"


def docx(path, *paragraphs, name="word/document.xml", **more):
    body = f"<w:document {W}><w:body>{''.join(paragraphs)}</w:body></w:document>"
    parts = {"[Content_Types].xml": TYPES, name: body}
    parts.update({f"word/{part}.xml": text for part, text in more.items()})
    return zipped(path, parts)
