#!/usr/bin/env python3
"""by_command.py BUILD: changed copies of texts, as 'doppel find' and 'doppel compare' have them.

Texts of 1 000 words of the message catalogues of this machine, 5 % of the characters changed in
runs of eight; manual pages of which 8 % of the letters are misread; and HTML behind a line of text,
its DOCTYPE with two blanks. What is missing here is said."""

import gettext
import glob
import html
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from looks_like_ocr import read, without_roff

TEXTS, WORDS, RUN, CHANGED = 40, 1000, 8, 0.05
MISREAD = 0.08
LANGUAGES = {"ar": "Arabic", "ru": "Russian", "ko": "Korean"}


def run(doppel, *arguments):
    done = subprocess.run([doppel, *arguments], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def of_catalogues(language):
    """Words of messages, each once, as texts."""
    messages = set()
    for path in sorted(glob.glob(f"/usr/share/locale/{language}/LC_MESSAGES/*.mo")):
        try:
            with open(path, "rb") as file:
                values = gettext.GNUTranslations(file)._catalog.items()
        except (OSError, UnicodeDecodeError, ValueError):
            continue
        messages |= {said for asked, said in values if asked and said != asked}
    words = " ".join(sorted(messages, key=lambda said: said[::-1])).split()
    return [" ".join(words[at : at + WORDS]) for at in range(0, len(words) - WORDS, WORDS)][:TEXTS]


def in_runs(text, chance):
    """Of the characters so many are others of the same text, in runs."""
    out = list(text)
    for at in range(0, len(out) - RUN):
        if chance.random() < CHANGED / RUN:
            out[at : at + RUN] = chance.choices(text, k=RUN)
    return "".join(out)


def misread(text, chance):
    letters = "abcdefghijklmnopqrstuvwxyz"
    return "".join(
        chance.choice(letters) if at.isalpha() and chance.random() < MISREAD else at for at in text
    )


def manual_pages():
    out = []
    for path in sorted(glob.glob("/usr/share/man/man[1-8]/*.gz"), key=lambda path: path[::-1]):
        words = [] if os.path.islink(path) else without_roff(read(path)).split()
        if len(words) >= WORDS:
            out.append(" ".join(words[:WORDS]))
        if len(out) == TEXTS:
            break
    return out


def write(folder, texts):
    os.mkdir(folder)
    paths = [os.path.join(folder, f"{number:03}.txt") for number in range(len(texts))]
    for path, text in zip(paths, texts):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return paths


def found(doppel, folder, originals, copies, *options):
    """How many copies find their original, how many something else, how many have a hint."""
    library = os.path.join(folder, "library" + "".join(options))
    run(doppel, "add", "-L", library, *options, *originals)
    right = wrong = hinted = 0
    for original, copy in zip(originals, copies):
        rows, said = run(doppel, "find", "-L", library, "--json", *options, copy)
        paths = {row["path"] for row in rows if "path" in row}
        right += original in paths
        wrong += bool(paths - {original})
        hinted += "--preset ocr" in said
    return right, wrong, hinted


def compared(doppel, originals, copies, *options):
    """How many are the same, more than in some passages."""
    same = 0
    for original, copy in zip(originals, copies):
        row = run(doppel, "compare", "--json", *options, original, copy)[0][0]
        same += row["match"] and row["relation"] == "same"
    return same


def report(doppel, folder, name, texts, change, *options):
    chance = random.Random(name)
    originals = write(folder, texts)
    copies = write(folder + "-copies", [change(text, chance) for text in texts])
    right, wrong, hinted = found(doppel, folder, originals, copies, *options)
    same = compared(doppel, originals, copies, *options)
    print(
        f"{name:28} {len(texts):3} texts: found {right}, compare {same}, "
        f"found other ones {wrong}, with a hint {hinted}"
    )


def report_html(doppel, folder, text):
    os.mkdir(folder)
    page = os.path.join(folder, "page"), os.path.join(folder, "page.txt")
    with open(page[0], "w", encoding="utf-8") as file:
        lines = re.findall(r"\S(?:.{0,400}\S)?(?= |$)", text)
        body = "".join(f"<p>{html.escape(line)}</p>\n" for line in lines)
        file.write(f"A line of text\n<!DOCTYPE  html>\n<html><body>{body}</body></html>\n")
    with open(page[1], "w", encoding="utf-8") as file:
        file.write(text)
    match = run(doppel, "compare", "--json", *page)[0][0]
    read_as = match["a_reading"], match["b_reading"]
    print(f"HTML behind a line of text: similarity {match['similarity']}, read as {read_as}")


def main():
    doppel = os.path.abspath(os.path.join(sys.argv[1], "doppel"))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        for language, name in LANGUAGES.items():
            texts = of_catalogues(language)
            if not texts:
                print(f"{name}: no catalogues here")
                continue
            report(doppel, os.path.join(folder, language), name + ", 5 % in runs", texts, in_runs)
        pages = manual_pages()
        for options in ((), ("--preset", "ocr")):
            name = "misread 8 %, " + (" ".join(options) or "default")
            report(doppel, os.path.join(folder, name), name, pages, misread, *options)
        report_html(doppel, os.path.join(folder, "html"), pages[0])


if __name__ == "__main__":
    main()
