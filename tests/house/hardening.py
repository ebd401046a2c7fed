#!/usr/bin/env python3
"""The programs and the library are linked and compiled so that an overflow ends the process: what
the headers of their ELF files say of it, and what no header says, the commands that compiled. What
they load stands in docs/security.md."""

import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import tap

BUILD = sys.argv[1]
PROGRAMS = ["doppel", "doppel-worker"]
TOP = pathlib.Path(__file__).resolve().parents[2]
FILES = PROGRAMS + ["include/libdoppel.so"]


def read(option, name):
    return tap.run("readelf", "-W", option, f"{BUILD}/{name}")


def test_relocations_are_read_only_from_the_start():
    for name in FILES:
        assert "GNU_RELRO" in read("-l", name), name
        assert "BIND_NOW" in read("-d", name) or " NOW" in read("-d", name), name


def test_stacks_are_not_executable():
    for name in FILES:
        stack = [line for line in read("-l", name).splitlines() if "GNU_STACK" in line]
        assert stack and " RWE " not in stack[0], name


def test_programs_lie_anywhere():
    for name in PROGRAMS:
        assert "PIE" in read("-d", name), name


def test_overflows_are_noticed():
    for name in FILES:
        symbols = read("--dyn-syms", name)
        assert "__stack_chk_fail" in symbols, name
        assert "_chk@" in symbols.replace("__stack_chk_fail", ""), name


def test_jumps_have_landing_places():
    """endbr64 at the beginning of functions, on x86-64 alone. The note that tells the kernel is not
    there where the C library was built without it."""
    for name in FILES:
        if "X86-64" in read("-h", name):
            places = pathlib.Path(BUILD, name).read_bytes().count(b"\xf3\x0f\x1e\xfa")
            assert places > 100, (name, places)


def test_each_library_is_in_the_table_of_who_parses_what():
    names = {"jpeg": "libjpeg-turbo", "png16": "libpng", "z": "zlib", "fftw3f": "FFTW"}
    names |= {"sqlite3": "SQLite", "lz4": "LZ4", "raw_r": "libraw", "poppler-glib": "poppler"}
    names |= {"glib-2.0": "GLib", "gobject-2.0": "GLib"}
    system = re.compile(r"(c|m|gcc_s|stdc\+\+|pthread|atomic)$")
    listed = (TOP / "docs/security.md").read_text()
    for name in FILES:
        for library in re.findall(r"\(NEEDED\).*\[lib(.*?)\.so", read("-d", name)):
            assert system.match(library) or names.get(library, library) in listed, (name, library)


def test_what_files_do_not_tell_was_asked_for():
    commands = json.loads(pathlib.Path(BUILD, "compile_commands.json").read_text())
    for entry in commands:
        assert "-fstack-clash-protection" in entry["command"].split(), entry["file"]


def test_locals_begin_with_zeros_where_the_compiler_is_sound():
    commands = json.loads(pathlib.Path(BUILD, "compile_commands.json").read_text())
    zero = "-ftrivial-auto-var-init=zero"
    with_zeros = {zero in entry["command"].split() for entry in commands}
    assert len(with_zeros) == 1
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "zero_locals")
        words = commands[0]["command"].split()
        compiler = list(itertools.takewhile(lambda word: not word.startswith("-"), words))
        source = TOP / "tests/house/zero_locals.c"
        built = subprocess.run([*compiler, "-O2", zero, source, "-o", program], check=False)
        sound = built.returncode == 0 and subprocess.run([program], check=False).returncode == 0
    assert with_zeros == {sound}


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
