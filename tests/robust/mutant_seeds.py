"""What mutants.py changes: small files of each format, by their endings."""

import bz2
import collections
import csv
import email.message
import gzip
import io
import lzma
import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "documents"))
import made  # noqa: E402

MOST_SEED_BYTES = 256 << 10
TEXTS = [f"Number {n} says that {made.WORDS} {' '.join(f'w{n * n * i}' for i in range(20))}"
         for n in range(4)]  # fmt: skip
PLAIN = [text.replace("&", "+") for text in TEXTS]  # of markup
MEMBERS = [(f"folder/{n}.txt", text.encode()) for n, text in enumerate(TEXTS)]


def zip_of(members):
    """A mimetype lies there as it is: by it formats are known."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members:
            archive.writestr(name, content, 0 if name == "mimetype" else zipfile.ZIP_DEFLATED)
    return target.getvalue()


def tar_of(members):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return target.getvalue()


def message(number):
    mail = email.message.EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "Ä <a@example.org>", "b@example.org", "ü " * 9
    mail["Date"], mail["Message-ID"] = "Tue, 5 Mar 2024 01:02:03 +0100", f"<{number}@example.org>"
    mail.set_content(TEXTS[number] + "\nné\n> quoted\n-- \nme\n", cte="quoted-printable")
    mail.add_alternative(f"<p>{TEXTS[number]}</p>", subtype="html", cte="base64")
    mail.add_attachment(b"some bytes", maintype="image", subtype="png", filename="a.png")
    return mail.as_bytes()


def table(separator):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator)
    writer.writerow(["id", "text", "date"])
    for number, words in enumerate(TEXTS * 3):
        writer.writerow([number, f'{words} "{number}",\n\tand more', f"2024-05-{number + 1:02}"])
    return text.getvalue().encode()


TYPES = {"response": "application/http; msgtype=response", "conversion": "text/plain"}


def web_archive(kind):
    written = b""
    for number, words in enumerate(TEXTS):
        content = words.encode()
        if kind == "response":
            page = b"<html><title>t</title><p>" + content + b"</html>"
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
            content = head + b"Content-Length: %d\r\n\r\n" % len(page) + page
        written += (
            f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://h.example/{number}\r\n"
            f"WARC-Date: 2024-05-01T00:00:0{number}Z\r\nWARC-Record-ID: <urn:uuid:{number}>\r\n"
            f"Content-Type: {TYPES[kind]}\r\nContent-Length: {len(content)}\r\n\r\n"
        ).encode() + content + b"\r\n\r\n"  # fmt: skip
    return written


def write_documents(folder):
    bold = made.run(TEXTS[0])
    deleted = f"<w:del>{made.run('gone')}</w:del>"
    lines = [made.paragraph(bold, deleted, made.run(text)) for text in TEXTS]
    note = f'<w:footnotes {made.W}><w:footnote w:id="2">{made.paragraph(bold)}</w:footnote>'
    made.docx(folder / "a.docx", *lines, footnotes=note + "</w:footnotes>")
    made.pptx(folder / "a.pptx", {n: [made.shape(text)] for n, text in enumerate(TEXTS)}, [2, 0, 1])
    cells = ['<c t="s"><v>1</v></c>', "<c><v>2.5</v></c>", f"<c><is><t>{PLAIN[1]}</t></is></c>"]
    made.xlsx(folder / "a.xlsx", [[cells] * 3] * 2, [f"<t>{text}</t>" for text in PLAIN])
    body = "".join(f"<text:p>{text}<text:s/>x</text:p>" for text in PLAIN)
    note = f"<text:note><text:note-body>{body}</text:note-body></text:note>"
    made.odf(folder / "a.odt", body + note)
    made.odf(folder / "b.odt", f"<text:h>a</text:h>{body}<text:soft-page-break/>{body}")
    made.odf(folder / "a.odp", f"<draw:page>{body}</draw:page>" * 2, kind="presentation")
    row = f"<table:table-row><table:table-cell>{body}</table:table-cell></table:table-row>"
    made.odf(folder / "a.ods", f"<table:table>{row}</table:table>" * 2, kind="spreadsheet")
    chapters = {f"c {n}.xhtml": ("", f"<h1>{n}</h1><p>{text}") for n, text in enumerate(TEXTS)}
    made.epub(folder / "a.epub", chapters, [1, 0, 2, 3])
    rich = r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 X;}}{\*\x y}\uc1 \u228?\'e4{\footnote n}\par "
    rich += r"\b ".join(TEXTS) + r"{\pict\pngblip 89504e47}\page\u-10179??\bin2 }}{\header h}}"
    (folder / "a.rtf").write_text(rich)
    (folder / "a.eml").write_bytes(message(0))
    box = b"".join(b"From a@b Tue Mar  5 01:02:03 2024\n" + message(n) + b"\n" for n in range(3))
    (folder / "a.mbox").write_bytes(box)
    shutil.copy(folder / "a.mbox", folder / "a.mbox-messages")


def write_archives(folder):
    (folder / "a.zip").write_bytes(zip_of(MEMBERS + [("inner.zip", zip_of(MEMBERS[:1]))]))
    tar = tar_of(MEMBERS + [("inner.tar.gz", gzip.compress(tar_of(MEMBERS[:2])))])
    (folder / "a.tar").write_bytes(tar)
    for name, (pack, _) in PACKED.items():
        packed = pack(tar)
        if packed:
            (folder / f"a.{name}").write_bytes(packed)
    (folder / "four.rar").write_bytes(made.rar4(MEMBERS))
    (folder / "five.rar").write_bytes(made.rar5(MEMBERS))


def write_records(folder):
    for path in (HERE.parent / "corpus/parquet").glob("*.parquet"):
        shutil.copy(path, folder)
    (folder / "a.csv").write_bytes(table(","))
    (folder / "a.tsv").write_bytes(table("\t"))
    (folder / "a.warc").write_bytes(web_archive("response"))
    (folder / "a.wet").write_bytes(web_archive("conversion"))


def zstd(*words):
    def run(content):
        if not shutil.which("zstd"):
            return b""
        return subprocess.run(["zstd", "-q", *words], input=content, capture_output=True).stdout

    return run


PACKED = {
    "tgz": (gzip.compress, gzip.decompress),
    "tbz": (bz2.compress, bz2.decompress),
    "txz": (lzma.compress, lzma.decompress),
    "tzst": (zstd(), zstd("-d")),
}


def collect_seeds(build, more):
    """Their bytes, by format; what this machine or build cannot make is left out. `more`: a folder
    with others, or None."""
    folder = pathlib.Path("seeds")
    folder.mkdir()
    write_documents(folder)
    write_archives(folder)
    write_records(folder)
    made_by_c = build / "tests/robust/mutant-seeds"
    if made_by_c.exists():
        subprocess.run([made_by_c, folder], check=True)
    seeds = collections.defaultdict(list)
    for path in sorted(folder.iterdir()) + (sorted(more.rglob("*")) if more else []):
        if path.is_file() and 0 < path.stat().st_size <= MOST_SEED_BYTES:
            seeds[path.suffix[1:]].append(path.read_bytes())
    return seeds
