#!/usr/bin/env python3
"""Lines have at most 100 columns, but for tables and printed output in documents, and links;
and a function that takes several steps has one end (core/try.h), no ladder of conditions."""

import pathlib
import re
import subprocess
import sys

import tap

TOP = pathlib.Path(__file__).resolve().parents[2]
KINDS = {".c", ".h", ".cpp", ".py", ".js", ".css", ".html", ".md", ".build", ".sh"}
LONGEST = 100
# Scripts for a browser stand in these as they are sent to it.
WITH_SCRIPTS = {"browser.py", "report_page.py"}

# A function of the product, and a step in it that is taken if none before failed.
FUNCTION = re.compile(
    r"^[a-zA-Z_][^;={}#/]*?[ *](\w+)\([^;{}]*\)\n\{\n(.*?)^\}", re.MULTILINE | re.DOTALL
)
STEP = re.compile(r"if \(!status\b[^;{}]*\s\{?\s*status = ")
# What stands between their steps is to be done also when one failed.
MAY_HAVE_LADDERS = {
    "doppel_library_name",
    "doppel_library_salvage",
    "doppel_store_index_build",
    "doppel_store_index_remove",
    "importer_learn",
    "index_log_replay",
    "manifest_read",
    "output_file_close",
    "read_candidate",
    "read_once",
    "remove_gone",
    "take_group",
    "verify",
}


def sources():
    listed = subprocess.check_output(["git", "-C", TOP, "ls-files", "-z"], text=True)
    for name in listed.split("\0"):
        path = TOP / name
        known = path.suffix in KINDS or path.name in ("bootstrap", "meson_options.txt")
        if (
            name
            and known
            and path.name not in WITH_SCRIPTS
            and path.is_file()
            and not path.is_symlink()
        ):
            yield path


def text_lines(path):
    """Lines with their numbers; of Markdown without blocks of code and tables."""
    fenced = False
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if path.suffix == ".md":
            fenced ^= line.startswith("```")
            if fenced or line.startswith(("|", "    ", "```")):
                continue
        yield number, line


def test_lines_are_short():
    long = [
        f"{path.relative_to(TOP)}:{number}: {len(line)} columns"
        for path in sources()
        for number, line in text_lines(path)
        if len(line) > LONGEST and "://" not in line
    ]
    assert not long, "\n".join(long)


def test_no_ladders():
    checked = 0
    ladders = set()
    for path in sources():
        if path.suffix == ".c" and path.relative_to(TOP).parts[0] not in ("tests", "docs", "demo"):
            for name, body in FUNCTION.findall(path.read_text()):
                checked += 1
                if len(STEP.findall(body)) > 1:
                    ladders.add(name)
    assert checked > 5000, "the pattern finds nothing"
    assert ladders == MAY_HAVE_LADDERS, ladders ^ MAY_HAVE_LADDERS


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
