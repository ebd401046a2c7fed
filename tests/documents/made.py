"""Documents made by hand: the parts that matter, zipped."""

import struct
import zipfile
import zlib
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


# ---- PPTX and XLSX ----

A = 'xmlns:a="a" xmlns:p="p" xmlns:r="r"'


def relations(targets):
    lines = (f'<Relationship Id="r{i}" Target="{name}"/>' for i, name in enumerate(targets))
    return f"<Relationships>{''.join(lines)}</Relationships>"


def shape(*lines, kind="body"):
    text = "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in lines)
    return f'<p:sp><p:nvSpPr><p:ph type="{kind}"/></p:nvSpPr><p:txBody>{text}</p:txBody></p:sp>'


def pptx(path, slides, order):
    """`order`: numbers of slides, as they are shown."""
    parts = {"[Content_Types].xml": TYPES}
    for number, shapes in slides.items():
        parts[f"ppt/slides/slide{number}.xml"] = f"<p:sld {A}>{''.join(shapes)}</p:sld>"
    ids = "".join(f'<p:sldId id="{256 + i}" r:id="r{i}"/>' for i in range(len(order)))
    parts["ppt/presentation.xml"] = f"<p:presentation {A}>{ids}</p:presentation>"
    parts["ppt/_rels/presentation.xml.rels"] = relations(f"slides/slide{n}.xml" for n in order)
    return zipped(path, parts)


def xlsx(path, sheets, shared=()):
    """`sheets`: rows of cells, as XML."""
    parts = {"[Content_Types].xml": TYPES}
    for number, rows in enumerate(sheets, 1):
        body = "".join(f"<row>{''.join(cells)}</row>" for cells in rows)
        parts[f"xl/worksheets/sheet{number}.xml"] = f"<worksheet>{body}</worksheet>"
    ids = "".join(f'<sheet name="s" r:id="r{i}"/>' for i in range(len(sheets)))
    parts["xl/workbook.xml"] = f'<workbook xmlns:r="r">{ids}</workbook>'
    targets = [f"/xl/worksheets/sheet{i + 1}.xml" for i in range(len(sheets))]
    parts["xl/_rels/workbook.xml.rels"] = relations(targets)
    texts = "".join(f"<si>{text}</si>" for text in shared)
    parts["xl/sharedStrings.xml"] = f"<sst>{texts}</sst>"
    return zipped(path, parts)


# ---- OpenDocument ----

ODF = 'xmlns:office="o" xmlns:text="t" xmlns:draw="d" xmlns:table="b" xmlns:presentation="s"'


def odf(path, body, kind="text", manifest="<m/>"):
    parts = {
        "content.xml": f"<office:document-content {ODF}>{body}</office:document-content>",
        "META-INF/manifest.xml": manifest,
    }
    return zipped(path, parts, first=f"application/vnd.oasis.opendocument.{kind}")


# ---- EPUB ----


def epub(path, chapters, spine, **more):
    """`chapters`: bodies by reference; `spine`: ids, which are numbers of chapters."""
    items = "".join(
        f'<item id="i{i}" href="{name.replace(" ", "%20")}" properties="{props}"/>'
        for i, (name, (props, _)) in enumerate(chapters.items())
    )
    refs = "".join(f'<itemref idref="i{i}"/>' for i in spine)
    parts = {
        "META-INF/container.xml": '<container><rootfile full-path="OPS/book.opf"/></container>',
        "OPS/book.opf": f"<package><manifest>{items}</manifest><spine>{refs}</spine></package>",
    }
    for name, (_, body) in chapters.items():
        parts[f"OPS/{name}"] = f"<html><head><title>t</title></head><body>{body}</body></html>"
    parts.update(more)
    return zipped(path, parts, first="application/epub+zip")


# ---- RAR: members as they are, not compressed ----

RAR4_ENCRYPTED, RAR4_SOLID = 0x04, 0x10  # flags of a member
RAR4_HEADS_ENCRYPTED = 0x80  # a flag of the archive


def rar4(members, flags=0, archive_flags=0, claimed=None, bend=bytes):
    """The bytes of a RAR of version 4. `claimed`: the size that members say they have. `bend`
    changes a head before it is summed."""

    def block(kind, flags, rest, data=b""):
        head = struct.pack("<BHH", kind, flags, 7 + len(rest)) + rest
        head = bend(head)
        return struct.pack("<H", zlib.crc32(head) & 0xFFFF) + head + data

    made = b"Rar!\x1a\x07\x00" + block(0x73, archive_flags, bytes(6))
    for name, text in members:
        size = len(text) if claimed is None else claimed
        rest = struct.pack("<IIBIIBB", len(text), size, 3, zlib.crc32(text), 0x58213A4D, 20, 0x30)
        rest += struct.pack("<HI", len(name), 0o100644) + name.encode()
        made += block(0x74, 0x8000 | flags, rest, text)
    return made + block(0x7B, 0x4000, b"")


def number7(value):
    """Seven bits a byte, the lowest first."""
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(made) + bytes([value])


def numbers7(*values):
    return b"".join(map(number7, values))


def rar5(members, encrypted=False, solid=False, bend=bytes):
    """The bytes of a RAR of version 5."""

    def block(head, data=b""):
        head = bend(head)
        head = number7(len(head)) + head
        return struct.pack("<I", zlib.crc32(head)) + head + data

    # Of an encrypted member: AES-256, 2^15 rounds, a salt and a start.
    extra = numbers7(1, 0, 0, 15) + bytes(32) if encrypted else b""
    extra = number7(len(extra)) + extra if extra else b""
    made = b"Rar!\x1a\x07\x01\x00" + block(numbers7(1, 0, 4 if solid else 0))
    for number, (name, text) in enumerate(members):
        head = numbers7(2, 3, len(extra), len(text)) if extra else numbers7(2, 2, len(text))
        head += numbers7(4, len(text), 0o100644) + struct.pack("<I", zlib.crc32(text))
        head += numbers7(0x40 if solid and number else 0, 1, len(name)) + name.encode() + extra
        made += block(head, text)
    return made + block(numbers7(5, 0, 0))
