#!/usr/bin/env python3
"""How large the image of the Containerfile becomes, by the files that it takes. Usage:
container.py BUILD

The programs and what they load, where FFmpeg's libraries load what the Containerfile configures
them with, and nothing else, and libxml2 no ICU. Their own sizes are those of Debian, which are
larger."""

import pathlib
import re
import sys

import tap
from tap import run

TOP = pathlib.Path(__file__).resolve().parents[2]
LIMIT_BYTES = 120e6

build = pathlib.Path(sys.argv[1]).resolve()

FFMPEG = re.compile(r"lib(avcodec|avformat|avutil|swresample|swscale)\.so")
SYSTEM = re.compile(r"(ld-linux|lib(c|m|pthread|gcc_s)\.)")


def libraries():
    """The file of each name, as the loader finds it."""
    lines = run("/sbin/ldconfig", "-p").splitlines()
    found = (re.match(r"\s+(\S+) \(.*x86-64.*\) => (\S+)", line) for line in lines)
    return {match[1]: match[2] for match in reversed(list(found)) if match}


def configured():
    """What FFmpeg is to load: libdav1d, libjxl, libz."""
    options = re.findall(r"--enable-(lib\w+|zlib)\b", (TOP / "Containerfile").read_text())
    return re.compile("|".join(option.replace("zlib", "libz") + r"\b" for option in options))


def left_out(path, name):
    """What a library that the Containerfile compiles does not load there."""
    compiled = "--without-icu" in (TOP / "Containerfile").read_text()
    return compiled and path.name.startswith("libxml2.so") and name.startswith("libicu")


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*?)\]", run("readelf", "-d", path))


def loaded(path, by_name, files):
    path = pathlib.Path(path).resolve()
    if path in files:
        return
    files[path] = path.stat().st_size
    for name in needed(path):
        kept = not FFMPEG.match(path.name) or FFMPEG.match(name) or SYSTEM.match(name)
        kept = kept and not left_out(path, name)
        if name in by_name and (kept or configured().match(name)):
            loaded(by_name[name], by_name, files)


def test_the_image_is_small():
    if not pathlib.Path("/sbin/ldconfig").exists():
        return
    files = {}
    for program in ("doppel", "doppel-worker"):
        loaded(build / program, libraries(), files)
    total = sum(files.values())
    for path in sorted(files, key=files.get, reverse=True)[:5]:
        print(f"# {files[path] / 1e6:5.1f} MB {path.name}")
    print(f"# {total / 1e6:5.1f} MB, {len(files)} files")
    assert len(files) > 20 and total < LIMIT_BYTES, total


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
