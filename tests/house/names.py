#!/usr/bin/env python3
"""A name of a function or of a struct means one thing in the product: who searches for it finds
one place. The twins of a kernel for other processors share their names, and what stands in place of
a room that is not built."""

import collections
import pathlib
import re
import sys

import tap

TOP = pathlib.Path(__file__).resolve().parents[2]
NO_PRODUCT = {"tests", "docs", "include", "debian", "demo"}

# A definition begins at the left edge, and its body does, too.
FUNCTION = re.compile(r"^[a-zA-Z_][^;={}#/]*?[ *](?!__)(\w+)\([^;{}]*\)\n\{", re.MULTILINE)
STRUCT = re.compile(r"^(?:typedef )?struct (\w+) \{", re.MULTILINE)
TWIN = re.compile(r"(_|/)(avx2|avx512|portable)\.c$")


def product():
    for path in sorted(TOP.glob("*/**/*.[ch]")):
        top, *below = path.relative_to(TOP).parts
        if path.name == "absent.c" or any(part.startswith(".") for part in below):
            continue
        if top not in NO_PRODUCT and not top.startswith(("build", ".")):
            yield path.relative_to(TOP)


def file_of(path):
    """The file, or the one that it is a twin of."""
    return TWIN.sub(r"\1kernels.c", str(path)).replace("kernels_kernels", "kernels")


def places(pattern):
    found = collections.defaultdict(set)
    for path in product():
        for name in pattern.findall((TOP / path).read_text()):
            found[name].add(file_of(path))
    assert len(found) > 500, "the pattern finds nothing"
    return {name: files for name, files in found.items() if len(files) > 1}


def test_a_function_name_means_one_thing():
    twice = places(FUNCTION)
    twice.pop("main")
    assert not twice, twice


def test_a_struct_tag_means_one_thing():
    twice = places(STRUCT)
    assert not twice, twice


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
