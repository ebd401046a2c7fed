#!/usr/bin/env python3
"""scanned_pages BUILD FOLDER [STRANGERS [DOCUMENTS]]: documents that are scanned twice, as two
people do, and compared by their pages alone: letters, forms and invoices of one template with the
words of manual pages, and manual pages by groff, kept in FOLDER. Whether both scans are found as
one, whether a scan between others is found there with its pages, whether others of one template
stay apart, and what a page costs. It needs numpy and PIL."""

import hashlib
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

import numpy
from PIL import Image, ImageDraw, ImageFont

import documents

STRANGERS, DOCUMENTS, MOST_PAGES = 152, 60, 6  # of each template; manual pages, and so long
DPI, WIDTH, HEIGHT = 200, 1654, 2339
FONTS = "/usr/share/fonts/truetype/dejavu/DejaVuSerif"
# A flatbed scanner, and a copier that sends mail: resolution, degrees, noise of 256 levels, quality
# of the JPEG, how light paper and ink are.
WAYS = {"a": (200, 1, 20, 75, 250, 20), "b": (150, -.7, 14, 40, 235, 50)}
NOISE = numpy.random.default_rng(1).normal(0, 1, (HEIGHT + 600, WIDTH + 900)).astype("float32")


def main():
    build, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    strangers = int(sys.argv[3]) if len(sys.argv) > 3 else STRANGERS
    count = int(sys.argv[4]) if len(sys.argv) > 4 else DOCUMENTS
    doppel = os.path.join(build, "doppel")
    os.makedirs(folder, exist_ok=True)
    templated = [scans(folder, f"{draw.__name__}{i}", lambda d=draw, n=i: [d(n)])
                 for draw in (letter, form, invoice) for i in range(strangers)]
    manuals = [scans(folder, "manual-" + documents.name_of(path), lambda p=path: drawn(folder, p))
               for path in few_pages(folder, count)]
    cost(doppel, [first for first, _ in manuals])
    found(doppel, "letters, forms and invoices", templated)
    found(doppel, "manual pages", manuals)
    contained(doppel, folder, manuals)


# ---- documents ----

def words_of(number):
    text = documents.source_text(SOURCES[number % len(SOURCES)]).decode("utf-8", "replace")
    lines = [line for line in text.split("\n") if not line.startswith((".", "'"))]
    return re.sub(r"\\f.|\\[a-z-]|\\&|\\", "", "\n".join(lines)).split()


def font(points, bold=False):
    return ImageFont.truetype(FONTS + ("-Bold.ttf" if bold else ".ttf"), int(points * DPI / 72))


def paragraph(page, words, place, width, points):
    """@return where the next line would be"""
    x, y = place
    face, line = font(points), ""
    for word in words:
        longer = (line + " " + word).strip()
        if face.getlength(longer) > width:
            page.text((x, y), line, font=face, fill=0)
            y += int(points * 4.2)
            longer = word
        line = longer
    page.text((x, y), line, font=face, fill=0)
    return y + int(points * 4.2)


def sheet(title, below):
    image = Image.new("L", (WIDTH, HEIGHT), 255)
    page = ImageDraw.Draw(image)
    page.ellipse((150, 120, 330, 300), fill=90)
    page.ellipse((200, 170, 280, 250), fill=255)
    page.text((370, 140), title, font=font(18, True), fill=0)
    page.text((370, 220), below, font=font(9), fill=0)
    return image, page


def day(chance):
    return f"{chance.randint(1, 28)}.{chance.randint(1, 12)}.20{chance.randint(10, 25)}"


def letter(number):
    chance, words = random.Random(number), words_of(number)
    image, page = sheet("Debian Documentation Office",
                        "Department of Circulars · 12 Universal Square · info@office.example")
    page.line((150, 330, WIDTH - 150, 330), fill=0, width=4)
    page.text((180, 400), "To: " + " ".join(words[:3]), font=font(10), fill=0)
    page.text((1150, 400), day(chance), font=font(10), fill=0)
    page.text((180, 470), f"Reference {chance.randint(1000, 99999)}", font=font(10), fill=0)
    page.text((180, 560), "Dear Sir or Madam,", font=font(10), fill=0)
    y, used = 640, 3
    for _ in range(chance.randint(3, 6)):
        size = chance.randint(50, 120)
        y = paragraph(page, words[used:used + size], (180, y), WIDTH - 360, 10) + 30
        used += size
        if y > 1700:
            break
    page.text((180, 1990), "Yours faithfully,", font=font(10), fill=0)
    page.text((180, 2080), "The Head of Circulars", font=font(10), fill=0)
    page.line((150, 2180, WIDTH - 150, 2180), fill=0, width=2)
    page.text((200, 2195), "Bank of Nowhere · Account 00112233 · Page 1", font=font(8), fill=0)
    return image


LABELS = ("Name of the applicant|Street and number|Town|Date of birth|Package|Version|Maintainer|"
          "Architecture|Section|Priority|Depends on|Recommends|Size in bytes|Licence|Homepage|"
          "Signature").split("|")
DECLARATION = (
    "I declare that all that is written above is true and that the package named has been built "
    "from its sources on a machine that holds no other software than that of the archive. I know "
    "that a false declaration leads to the removal of the package from the archive, and that what "
    "I have entered is kept by the office for ten years.").split()


def form(number):
    chance, words = random.Random(number), words_of(number)
    image, page = sheet("Application for a Package Permit",
                        "Fill in with capital letters. Do not write in the grey fields.")
    y, used = 360, 0
    for label in LABELS:
        page.rectangle((150, y, WIDTH - 150, y + 90), outline=0, width=3)
        page.line((600, y, 600, y + 90), fill=0, width=3)
        page.text((170, y + 28), label, font=font(10), fill=0)
        size = chance.randint(1, 4)
        page.text((630, y + 28), " ".join(words[used:used + size])[:48], font=font(10), fill=0)
        used += size
        y += 90
    page.text((150, y + 20), "Declaration", font=font(11, True), fill=0)
    y = paragraph(page, DECLARATION, (150, y + 80), WIDTH - 300, 9)
    page.text((150, y + 20), f"Place and date:  {words[used]}, {day(chance)}", font=font(10),
              fill=0)
    return image


def invoice(number):
    chance, words = random.Random(number), words_of(number)
    image, page = sheet("Universal Hardware Store", "Everything a package needs · Invoice")
    page.text((150, 380), " ".join(words[:4])[:40], font=font(10), fill=0)
    page.text((1000, 380), f"Invoice {chance.randint(10000, 99999)} of {day(chance)}",
              font=font(10), fill=0)
    for x, title in ((150, "Article"), (900, "Pieces"), (1100, "Price"), (1320, "Amount")):
        page.text((x, 520), title, font=font(10, True), fill=0)
    y, used, total = 590, 4, 0
    for _ in range(chance.randint(5, 14)):
        pieces, price = chance.randint(1, 20), chance.randint(100, 9999)
        cells = [" ".join(words[used:used + 3])[:36], str(pieces), f"{price / 100:.2f}",
                 f"{pieces * price / 100:.2f}"]
        for x, cell in zip((150, 900, 1100, 1320), cells):
            page.text((x, y), cell, font=font(10), fill=0)
        used, total, y = used + 3, total + pieces * price, y + 55
    page.line((150, 1450, WIDTH - 150, 1450), fill=0, width=3)
    page.text((900, 1480), "Total", font=font(11, True), fill=0)
    page.text((1320, 1480), f"{total / 100:.2f}", font=font(11, True), fill=0)
    paragraph(page, ("Please pay within 30 days. Goods stay the property of the store until they "
                     "are paid in full. Complaints are heard within 14 days of delivery, in "
                     "writing, with the number of this invoice.").split(),
              (150, 1620), WIDTH - 300, 9)
    return image


def few_pages(folder, count):
    """Manual pages that no other resembles."""
    sources = documents.unrelated(documents.manual_pages(4 * count))
    top = os.path.join(folder, "groff")
    return [path for path in sources
            if documents.page_count(documents.typeset(path, top)) <= MOST_PAGES][:count]


def drawn(folder, source):
    pdf, top = documents.typeset(source, os.path.join(folder, "groff")), os.path.join(folder, "p")
    subprocess.run(["pdftoppm", "-r", str(DPI), "-gray", pdf, top], check=True)
    names = sorted(name for name in os.listdir(folder) if re.fullmatch(r"p-\d+\.pgm", name))
    pages = []
    for name in names:
        with Image.open(os.path.join(folder, name)) as page:
            pages.append(page.copy())
        os.remove(os.path.join(folder, name))
    return pages


# ---- scans ----

def scans(folder, name, draw):
    paths = [os.path.join(folder, f"{name}.{way}.pdf") for way in WAYS]
    if not all(os.path.exists(path) for path in paths):
        pages = draw()
        for path, way in zip(paths, WAYS.values()):
            scan(pages, path, way)
    return paths


def scan(pages, out, way):
    dpi, skew, noise, quality, paper, ink = way
    chance, made = random.Random(hashlib.sha256(os.path.basename(out).encode()).hexdigest()), []
    for page in pages:
        shift = chance.uniform(-12, 12), chance.uniform(-12, 12)
        page = page.rotate(skew + chance.uniform(-.15, .15), resample=Image.BICUBIC, fillcolor=255,
                           translate=shift)
        page = page.resize((page.width * dpi // DPI, page.height * dpi // DPI), Image.BILINEAR)
        grey = ink + numpy.asarray(page).astype("float32") * ((paper - ink) / 255)
        y, x = chance.randrange(500), chance.randrange(600)
        grey = grey + noise * NOISE[y:y + grey.shape[0], x:x + grey.shape[1]]
        made.append(Image.fromarray(numpy.clip(grey, 0, 255).astype("uint8")))
    made[0].save(out, save_all=True, append_images=made[1:], resolution=dpi, quality=quality)


# ---- what is measured ----

def cost(doppel, paths):
    pages = sum(documents.page_count(path) for path in paths)
    seconds = documents.cpu_of([doppel, "hash", "--no-cache", "-j1", "--json", *paths])
    start = documents.cpu_of([doppel, "hash", "--no-cache", "-j1", "--json", paths[0]])
    with tempfile.TemporaryDirectory() as library:
        subprocess.run([doppel, "add", "--no-cache", "-L", library, *paths], check=True,
                       stdout=subprocess.DEVNULL)
        catalogue = sqlite3.connect(os.path.join(library, "catalogue.db"))
        size, = catalogue.execute("SELECT sum(length(data)) FROM attachment").fetchone()
        catalogue.close()
    first = documents.page_count(paths[0])
    print(f"a scanned page: {1000 * (seconds - start) / (pages - first):.0f} ms of CPU, "
          f"{size / pages:.0f} bytes")


def found(doppel, what, pairs):
    paths = [path for pair in pairs for path in pair]
    groups, errors = documents.groups_of(doppel, paths, "--timeout", "600s")
    group_of = {path: i for i, group in enumerate(groups)
                for path in documents.members_of(group)}
    missed = [a for a, b in pairs if group_of.get(a, -1) != group_of.get(b, -2)]
    document_of = {path: i for i, pair in enumerate(pairs) for path in pair}
    false = [(a, b) for group in groups for a in documents.members_of(group)
             for b in documents.members_of(group) if document_of[a] < document_of[b]]
    others = len(paths) * (len(paths) - 1) // 2 - len(pairs)
    documents.share(f"two scans found as one, {what}", len(pairs) - len(missed), len(pairs),
                    missed)
    print(f"other {what}: {len(false)} false matches among {others} pairs")
    for a, b in false[:5]:
        print("   ", a, b)
    print(errors, end="")


def contained(doppel, folder, pairs):
    """Each between two others before and after it, of the other scan."""
    held, right, missed = 0, 0, []
    for i, (first, second) in enumerate(pairs):
        parts = [pairs[(i + step) % len(pairs)][0] for step in (-2, -1)]
        whole = os.path.join(folder, os.path.basename(first)[:-6] + ".whole.pdf")
        if not os.path.exists(whole):
            after = [pairs[(i + step) % len(pairs)][0] for step in (1, 2)]
            subprocess.run(["pdfunite", *parts, first, *after, whole], check=True)
        before = sum(documents.page_count(path) for path in parts)
        count = documents.page_count(second)
        run = subprocess.run([doppel, "compare", "--json", "--no-cache", second, whole], text=True,
                             capture_output=True, check=False)
        match = json.loads(run.stdout) if run.stdout else {}
        pages = [(part["a_pages"], part["b_pages"]) for part in match.get("segments", [])]
        held += match.get("relation") == "contained"
        good = pages == [([1, count], [before + 1, before + count])]
        right += good
        missed += [] if good else [f"{second}: {match.get('relation')} {pages}, {before}+{count}"]
    documents.share("a scan between others: contained", held, len(pairs), [])
    documents.share("a scan between others: its pages named", right, len(pairs), missed)


SOURCES = documents.manual_pages(2000)

if __name__ == "__main__":
    main()
