#!/usr/bin/env python3
"""documents BUILD FOLDER [PAGES [STRANGERS]]: documents as people have them, made of the manual
pages of this machine by groff, LibreOffice and ghostscript, and kept in FOLDER: whether the same
text is found as one whatever typesetter it went through, whether a part names its pages, whether
unrelated pages of one template stay apart, and what the text of a PDF costs beside pdftotext.
What is missing here is not measured, and said."""

import gzip
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys

PAGES, STRANGERS, ROUNDS = 60, 450, 5
SCANS, SCAN_PAGES = 20, 3  # so many short ones are scanned
REPORTED = 20
SKEW, NOISE, DPI = 1, 20, 200  # degrees, levels of 256
LEAST_WORDS, MOST_WORDS = 400, 6000
UNRELATED = 0.3  # Jaccard similarity of the sources' words by five, below which two are no match


def main():
    build, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    pages = int(sys.argv[3]) if len(sys.argv) > 3 else PAGES
    strangers = int(sys.argv[4]) if len(sys.argv) > 4 else STRANGERS
    doppel = os.path.join(build, "doppel")
    sources = manual_pages(max(strangers, pages))
    pdfs = [typeset(source, os.path.join(folder, "groff")) for source in sources]
    speed(doppel, pdfs[:strangers])
    few = unrelated(sources)[:pages]
    same(doppel, folder, few, [typeset(source, os.path.join(folder, "groff")) for source in few])
    contained(doppel, folder, [typeset(source, os.path.join(folder, "groff")) for source in few])
    apart(doppel, sources[:strangers], pdfs[:strangers])
    scanned(doppel, folder, pdfs)
    reported(doppel, folder, few[:REPORTED])


# ---- what there is ----

def manual_pages(count):
    """Sources of manual pages that differ, spread over all there are."""
    found, seen = [], set()
    for section in ("man1", "man3", "man5", "man7", "man8"):
        top = os.path.join("/usr/share/man", section)
        for name in sorted(os.listdir(top)) if os.path.isdir(top) else []:
            path = os.path.join(top, name)
            if not name.endswith(".gz") or os.path.islink(path):
                continue
            with gzip.open(path) as file:
                text = file.read()
            words = sum(len(line.split()) for line in text.split(b"\n")
                        if not line.startswith((b".", b"'")))
            digest = hashlib.sha256(text).hexdigest()
            if LEAST_WORDS <= words <= MOST_WORDS and digest not in seen:
                seen.add(digest)
                found.append((digest, path))
    return [path for _, path in sorted(found)[:count]]


def unrelated(sources):
    """Those that no earlier one resembles: others of one name would be found as one, too."""
    kept = []
    for source in sources:
        own = shingles(source)
        if all(len(own & other) < UNRELATED * len(own | other) for _, other in kept):
            kept.append((source, own))
    return [source for source, _ in kept]


def name_of(source):
    return os.path.basename(source)[:-3]


def source_text(source):
    with gzip.open(source) as file:
        return file.read()


def typeset(source, folder, device="pdf"):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name_of(source) + "." + device)
    if not os.path.exists(path):
        with open(path + ".new", "wb") as out:
            subprocess.run(["groff", "-t", "-e", "-k", "-man", "-T" + device],
                           input=source_text(source), stdout=out, stderr=subprocess.DEVNULL,
                           cwd=folder, check=False)
        os.rename(path + ".new", path)
    return path


def office(paths, kind, folder):
    """Convert pages of HTML by LibreOffice; as many as it makes."""
    os.makedirs(folder, exist_ok=True)
    ending = kind.split(":")[0]
    made = {path: os.path.join(folder, os.path.basename(path)[:-5] + "." + ending)
            for path in paths}
    todo = [path for path, out in made.items() if not os.path.exists(out)]
    if todo and shutil.which("soffice"):
        subprocess.run(["soffice", "--headless", "--infilter=HTML (StarWriter)", "--convert-to",
                        kind, "--outdir", folder, *todo], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
    return [made[path] for path in paths]


# ---- what is measured ----

def cpu_of(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def speed(doppel, pdfs):
    """The best of some rounds, in turn, each of all files: pdftotext starts once a file, as it
    does; so it is also given all pages in one file."""
    whole = os.path.join(os.path.dirname(pdfs[0]), "..", "whole.pdf")
    if not os.path.exists(whole):
        subprocess.run(["pdfunite", *pdfs, whole], check=True)
    peers = {"doppel hash": [doppel, "hash", "--no-cache", "-j1", "--json", whole],
             "pdftotext": ["pdftotext", whole, "/dev/null"],
             "mutool (MuPDF)": ["mutool", "draw", "-q", "-F", "txt", "-o", "/dev/null", whole]}
    peers = {name: command for name, command in peers.items() if shutil.which(command[0])}
    best = {name: min(cpu_of(command) for _ in range(ROUNDS)) for name, command in peers.items()}
    for name, seconds in best.items():
        print(f"text of a PDF of {len(pdfs)} manual pages, CPU: {name:16}{seconds:7.2f} s"
              f"{seconds / best['pdftotext']:7.2f} x")


def groups_of(doppel, paths, *options):
    run = subprocess.run([doppel, "scan", "--json", "--no-cache", *options, "--files-from", "-"],
                         input="\n".join(paths) + "\n", text=True, capture_output=True,
                         check=False)
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    return [row for row in rows if "members" in row], run.stderr


def members_of(group):
    return [member["path"] for member in group["members"]]


def same(doppel, folder, sources, pdfs):
    html = [typeset(source, os.path.join(folder, "html"), "html") for source in sources]
    forms = {"HTML (groff)": html,
             "PDF (LibreOffice)": office(html, "pdf", os.path.join(folder, "office")),
             "DOCX (LibreOffice)": office(html, "docx", os.path.join(folder, "office")),
             "ODT (LibreOffice)": office(html, "odt", os.path.join(folder, "office"))}
    for name, paths in forms.items():
        pairs = [(a, b) for a, b in zip(pdfs, paths) if os.path.exists(b)]
        groups, _ = groups_of(doppel, [path for pair in pairs for path in pair])
        group_of = {path: i for i, group in enumerate(groups) for path in members_of(group)}
        missed = [a for a, b in pairs if group_of.get(a, -1) != group_of.get(b, -2)]
        share(f"found as one: PDF (groff) and {name}", len(pairs) - len(missed), len(pairs),
              missed)


def contained(doppel, folder, pdfs):
    """Each between four others: is it found there, on its pages? Each part of it is where its
    longest passage lies: shorter ones may be what pages of one publisher share."""
    top = os.path.join(folder, "united")
    os.makedirs(top, exist_ok=True)
    held, right, missed = 0, 0, []
    for i, middle in enumerate(pdfs):
        parts = [pdfs[i - 2], pdfs[i - 1], middle, *(2 * pdfs)[i + 1:i + 3]]
        whole = os.path.join(top, f"{name_of(middle)}.pdf")
        if not os.path.exists(whole):
            subprocess.run(["pdfunite", *parts, whole], check=True)
        first = page_count(parts[0]) + page_count(parts[1]) + 1
        wanted = [first, first + page_count(middle) - 1]
        run = subprocess.run([doppel, "compare", "--json", middle, whole], text=True,
                             capture_output=True, check=False)
        match = json.loads(run.stdout) if run.stdout else {}
        pages = pages_of(match.get("segments", []))
        held += match.get("relation") == "contained"
        good = pages == wanted
        right += good
        missed += [] if good else [f"{middle}: {match.get('relation')} {pages} for {wanted}"]
    share("a PDF between others: contained", held, len(pdfs), [])
    share("a PDF between others: its pages named", right, len(pdfs), missed)


def pages_of(segments):
    taken = []
    for segment in sorted(segments, key=lambda segment: segment["a_start"] - segment["a_end"]):
        if all(segment["a_end"] <= other["a_start"] or other["a_end"] <= segment["a_start"]
               for other in taken):
            taken.append(segment)
    pages = [page for segment in taken for page in segment.get("b_pages", [])]
    return [min(pages), max(pages)] if pages else []


def page_count(path):
    run = subprocess.run(["pdfinfo", path], text=True, capture_output=True, check=True)
    return int(re.search(r"^Pages: *(\d+)", run.stdout, re.M).group(1))


def scan_of(path, out):
    """The pages as a scanner has them: askew, and with noise."""
    import numpy
    from PIL import Image
    random = numpy.random.default_rng(int(hashlib.sha256(path.encode()).hexdigest()[:8], 16))
    subprocess.run(["pdftoppm", "-r", str(DPI), "-gray", path, out + ".page"], check=True)
    pages = []
    for name in sorted(os.listdir(os.path.dirname(out))):
        if name.startswith(os.path.basename(out) + ".page"):
            drawn = os.path.join(os.path.dirname(out), name)
            page = Image.open(drawn).rotate(SKEW, resample=Image.BICUBIC, fillcolor=255)
            grey = numpy.asarray(page) + random.normal(0, NOISE, page.size[::-1])
            pages.append(Image.fromarray(numpy.clip(grey, 0, 255).astype("uint8")))
            os.remove(drawn)
    pages[0].save(out, save_all=True, append_images=pages[1:], resolution=DPI)


def scanned(doppel, folder, pdfs):
    top = os.path.join(folder, "scans")
    os.makedirs(top, exist_ok=True)
    short = [path for path in pdfs if page_count(path) <= SCAN_PAGES][:SCANS]
    scans = [os.path.join(top, os.path.basename(path)) for path in short]
    for path, out in zip(short, scans):
        if not os.path.exists(out):
            scan_of(path, out)
    groups, errors = groups_of(doppel, short + scans, "--ocr", "--timeout", "600s")
    group_of = {path: i for i, group in enumerate(groups) for path in members_of(group)}
    missed = [a for a, b in zip(short, scans) if group_of.get(a, -1) != group_of.get(b, -2)]
    share("found as one: scan and PDF (groff)", len(short) - len(missed), len(short), missed)
    print(errors, end="")


def reported(doppel, folder, sources):
    """What pages side by side cost: pairs of pages of which some words differ."""
    pairs = os.path.join(folder, "pairs")
    os.makedirs(pairs, exist_ok=True)
    for source in sources:
        text = source_text(source)
        for name, words in (("a", text), ("b", text.replace(b"the ", b"this ", 9))):
            path = os.path.join(pairs, f"{name_of(source)}-{name}.gz")
            with gzip.open(path, "wb") as file:
                file.write(words)
            typeset(path, pairs)
            os.remove(path)
    page = os.path.join(folder, "pairs.html")
    started = os.times()
    subprocess.run([doppel, "report", pairs, "-o", page, "-q"], check=True)
    ended = os.times()
    with open(page) as file:
        looks = re.findall(r'id="looks-\d+">(.*?)</script>', file.read())
    drawn = [len(shown["jpeg"]) for look in looks for member in json.loads(look)["members"]
             for shown in member.get("pages", [])]
    cpu = sum(ended[2:4]) - sum(started[2:4])
    print(f"a report of {len(looks)} pairs of PDFs: {os.path.getsize(page) / 1e6:.1f} MB, "
          f"{len(drawn)} pages of {sum(drawn) / max(len(drawn), 1) / 1e3:.0f} kB, CPU {cpu:.1f} s")


def shingles(source):
    words = re.findall(r"[a-z]+", source_text(source).decode("utf-8", "replace").lower())
    return {tuple(words[i:i + 5]) for i in range(len(words) - 4)}


def apart(doppel, sources, pdfs):
    groups, _ = groups_of(doppel, pdfs)
    source_of = dict(zip(pdfs, sources))
    false, matched = [], 0
    for group in groups:
        members = members_of(group)
        first = shingles(source_of[members[0]])
        for other in members[1:]:
            second = shingles(source_of[other])
            matched += 1
            if len(first & second) < UNRELATED * len(first | second):
                false.append(f"{members[0]} {other}")
    pairs = len(pdfs) * (len(pdfs) - 1) // 2
    print(f"unrelated PDFs of one template: {len(false)} false matches among {pairs} pairs "
          f"({matched} true ones)")
    for line in false[:5]:
        print("   ", line)


def share(what, good, count, missed):
    print(f"{what}: {good / count if count else 0:.3f} ({good} of {count})" if count
          else f"{what}: not measured: LibreOffice is missing")
    for line in missed[:5]:
        print("   ", line)


if __name__ == "__main__":
    main()
