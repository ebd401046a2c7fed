#!/usr/bin/env python3
"""Lines have at most 100 columns, but for tables and printed output in documents, and links."""

import pathlib
import subprocess
import sys

import tap

TOP = pathlib.Path(__file__).resolve().parents[2]
KINDS = {".c", ".h", ".cpp", ".py", ".js", ".css", ".html", ".md", ".build", ".sh"}
LONGEST = 100
# Scripts for a browser stand in these as they are sent to it.
WITH_SCRIPTS = {"browser.py", "report_page.py"}


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


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
