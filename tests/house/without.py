#!/usr/bin/env python3
"""Sources compile without each library that may be left out, and without all, and nothing warns.

`without.py BUILD`: what the build has of them is taken from its commands. No other build is made.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tap  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
TOP = pathlib.Path(__file__).resolve().parents[2]
ROOMS_OF_OTHERS = ("tests", "python")


def commands():
    """Of each source that says HAVE_... its command, and the libraries that it has there."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        source = (BUILD / entry["file"]).resolve()
        of_ours = source.is_relative_to(TOP) and source.suffix in (".c", ".cpp")
        if not of_ours or source.relative_to(TOP).parts[0] in ROOMS_OF_OTHERS:
            continue
        asked = set(re.findall(r"\bHAVE_[A-Z]+", source.read_text()))
        if asked:
            words = shlex.split(entry["command"])
            there = [word for word in words if word.startswith("-DHAVE_") and word[2:] in asked]
            yield source.relative_to(TOP), words, there


def warned(words, left_out):
    """What the compiler says of a source without these."""
    words = [word for word in words if word not in left_out]
    at = words.index("-o")
    done = subprocess.run(
        words[:at] + words[at + 2 :] + ["-fsyntax-only", "-Werror"],
        cwd=BUILD,
        capture_output=True,
        text=True,
    )
    return done.returncode and done.stderr


def test_each_library_may_be_left_out():
    wrong, seen = [], set()
    for source, words, there in commands():
        for left_out in [[word] for word in there] + [there]:
            known = (source, *left_out) in seen
            seen.add((source, *left_out))
            if known or not left_out:  # the build itself is without
                continue
            if said := warned(words, left_out):
                wrong.append(f"{source} without {' '.join(left_out)}:\n{said}")
    assert seen, "no source asks for a library"
    assert not wrong, "\n".join(wrong)


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
