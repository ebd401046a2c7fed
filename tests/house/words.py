#!/usr/bin/env python3
"""The words that the field does not use stay out of documents, messages, comments and names.

Keys of JSON, SQL, and names on the disk are a contract and stay: `sound`, `has_sound`, the folder
`sounds`."""

import pathlib
import re
import subprocess
import sys

import tap

TOP = pathlib.Path(__file__).resolve().parents[2]
PROSE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])* (?:\\.|[^"\\\n])*"', re.DOTALL)
NAME = re.compile(r"\b[A-Za-z_]\w*\b")

# In prose: what to write instead.
RETIRED = {
    r"doubles\b(?!/)": "duplicates",
    r"(?:a|the|its|no|one's|another|each) double\b(?! (?:is|to|in|of) (?:C|bits))": "duplicate",
    r"films?\b(?![/.])": "video",
    r"sounds\b(?!/|\.)(?! (?:like|the same))": "recordings",
    r"told apart(?!, by| by)": "distinguished",
    r"furniture": "interface elements",
    r"near miss(es)?\b": "below threshold",
    r"(?<!files from )strangers?\b": "unrelated items",
    r"anew\b": "rebuilt, recomputed, again",
    r"set aside\b": "quarantined",
    r"under way\b": "in flight, in progress",
    r"usual rule\b": "default threshold",
    r"twins?\b(?! (of a kernel|for other))": "exact duplicate",
    r"person's word\b": "manual label",
}
# In prose but not in strings: columns of the catalogue have the name.
RETIRED_IN_COMMENTS = {r"(?<!@param )(?<!`)leaders?\b(?![/._`])": "representative"}
# Parts of names.
RETIRED_NAMES = re.compile(
    r"(?:^|_)(films?|sounds?|crew|said|inks|furniture|doubtful)(?:_|$)", re.I
)
# Contracts, libraries' own names, and adjectives.
NAMES_THAT_STAY = {"has_sound", "sounds_bytes", "is_sound", "sound", "said", "is_said", "no_sound"}
LIBRARY_OF_OLD_NAMES = {"include/doppel/renamed.h"}


def files(*suffixes):
    listed = subprocess.check_output(["git", "-C", TOP, "ls-files", "-z"], text=True)
    for name in listed.split("\0"):
        path = TOP / name
        if name.startswith(("tests/", "docs/examples/")) or name in LIBRARY_OF_OLD_NAMES:
            continue
        if path.suffix in suffixes and path.is_file() and not path.is_symlink():
            yield path


def prose_of(path):
    text = path.read_text()
    if path.suffix != ".md":
        return "\n".join(PROSE.findall(text))
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`]*`|^    .*$", "", text, flags=re.MULTILINE)


def comments_of(path):
    prose = prose_of(path)
    return prose if path.suffix == ".md" else re.sub(r'^".*', "", prose, flags=re.MULTILINE)


def test_prose():
    found = [
        f"{path.relative_to(TOP)}: '{match.group()}': write '{better}'"
        for path in files(".md", ".c", ".h", ".cpp")
        for patterns, prose in ((RETIRED, prose_of(path)), (RETIRED_IN_COMMENTS, comments_of(path)))
        for pattern, better in patterns.items()
        for match in re.finditer(rf"\b{pattern}", prose, re.IGNORECASE)
    ]
    assert not found, "\n".join(found)


def test_names():
    found = sorted(
        {
            f"{path.relative_to(TOP)}: {name}"
            for path in files(".c", ".h")
            for name in NAME.findall(
                re.sub(r'/\*.*?\*/|"[^"\n]*"|<.*?>', "", path.read_text(), flags=re.DOTALL)
            )
            if RETIRED_NAMES.search(name) and name not in NAMES_THAT_STAY
        }
    )
    assert not found, "\n".join(found)


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
