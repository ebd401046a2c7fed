#!/usr/bin/env python3
"""Make text/rare_trigrams.h: three letters in a row that words of no language have often.

rare_trigrams.py [differs]: counted in the manual pages of each language, of English also in what
documents packages ship, in the half of the files that looks_like_ocr.py does not report. It depends
on the packages that are there; 'differs' says how far the table is from the one that is kept."""

import os
import re
import sys
from collections import Counter

import looks_like_ocr as texts

RARE = 1e-5  # of the trigrams of a language
TABLE = os.path.join(os.path.dirname(__file__), "../../../text/rare_trigrams.h")
HEAD = """\
/* Three letters in a row that words of 18 languages hardly have: fewer than one in 100 000 of each.
 * Counted in manual pages and documents of Debian; docs/methods.md says how. */
#ifndef DOPPEL_TEXT_RARE_TRIGRAMS_H
#define DOPPEL_TEXT_RARE_TRIGRAMS_H

#include <stdint.h>

/* Bit c of [a][b]: abc is rare. 0 is before and after a word, 1 to 26 are a to z. */
static const uint32_t rare_trigrams[27][27] = {
"""


def words_of(text):
    for word in text.split():
        word = word.lstrip("(\"'[").rstrip(".,;:!?\"')]")
        if re.fullmatch("[A-Za-z][a-z]{2,23}", word):
            yield word.lower()


def numbers_of(word):
    letters = [0, *(ord(letter) - 96 for letter in word), 0]
    return zip(letters, letters[1:], letters[2:])


def languages(half):
    """The texts of each language."""
    page = lambda path: os.path.basename(path)[:5]
    package = lambda path: "/".join(path.split("/")[:5])
    pages = (path for i in "12345678" for path in texts.walk(f"/usr/share/man/man{i}", "gz$"))
    documents = texts.walk(
        "/usr/share/doc", r"^copyright$|hangelog|^(README|NEWS|FAQ|TODO)|\.(txt|rst)"
    )
    yield texts.texts_of(pages, page, half, texts.without_roff, 3000) + texts.texts_of(
        documents, package, half, most=2000
    )
    for language in texts.LANGUAGES:
        of_language = texts.walk("/usr/share/man/" + language, "gz$")
        yield texts.texts_of(of_language, page, half, texts.without_roff, 3000)


def rare_table():
    known = set()
    for some in languages(0):
        count = Counter()
        for text in some:
            for word in words_of(text):
                count.update(numbers_of(word))
        total = sum(count.values())
        known |= {trigram for trigram, times in count.items() if times >= RARE * total}
    return [
        [sum(1 << c for c in range(27) if (a, b, c) not in known) for b in range(27)]
        for a in range(27)
    ]


def kept_table():
    with open(TABLE, encoding="ascii") as file:
        rows = re.findall(r"\{([0-9a-fx, \n]+)\}", file.read())
    return [[int(number, 16) for number in row.split(",")] for row in rows]


def print_table(table):
    print(HEAD, end="")
    for row in table:
        lines = [", ".join(f"0x{bits:07x}" for bits in row[at : at + 7]) for at in range(0, 27, 7)]
        print("    {" + ",\n     ".join(lines) + "},")
    print("};\n\n#endif")


def main():
    table = rare_table()
    if sys.argv[1:] != ["differs"]:
        print_table(table)
        return
    pairs = list(zip(sum(table, []), sum(kept_table(), [])))
    only = [sum(bin(a & ~b).count("1") for a, b in of) for of in (pairs, [p[::-1] for p in pairs])]
    kept = sum(bin(bits).count("1") for _, bits in pairs)
    print(f"{27**3} trigrams, {kept} rare in the table; {only[0]} more here, {only[1]} fewer")


if __name__ == "__main__":
    main()
