#!/usr/bin/env python3
"""No room includes what it may not: a later room, another room's inside, or a library kept elsewhere."""

import pathlib
import re
import sys

import tap

TOP = pathlib.Path(__file__).resolve().parents[2]

# A room and the rooms it may use, in the order of ARCHITECTURE.md.
USES = {
    "core": "",
    "media": "core",
    "text": "core",
    "image": "core",
    "audio": "core",
    "video": "core image",
    "index": "core",
    "match": "core text image audio video index",
    "store": "core index",
    "worker": "core",
    "library": "core text image audio video index match store",
    "corpus": "core text index match library",
    "tools": "core media text image audio video index match store worker library corpus",
}

# Of media, the command uses the probe and names of formats, which need no decoder.
TOOLS_USE_OF_MEDIA = {"intake_kind.c", "pcm.c"}

# The program doppel-worker is where media meets the fingerprint rooms.
WORKER_PROGRAM = {"main.c", "confine.c", "confine.h", "fingerprint.c", "fingerprint_audio.c", "fingerprint_chromaprint.c", "fingerprint_text.c", "fingerprint_video.c", "fingerprint_vpdq.c", "listen.c", "listen.h", "look.c", "fingerprint.h"}
WORKER_PROGRAM_USES = "core media text image audio video worker"

# A header of somebody else's library, and the rooms that may see it.
OUTSIDERS = {
    r"xxhash\.h": "core",
    r"sqlite3\.h": "store library",
    r"jansson\.h": "tools",
    r"(utf8proc|gumbo|md4c)\.h": "text",
    r"fftw3\.h": "audio",
    r"chromaprint\.h": "media",
    r"(simdjson|zlib)\.h": "corpus",
    r"zstd\.h": "corpus video",
    r"(jpeglib|jerror|png)\.h|libav\w+/.*|libsw\w+/.*|libheif/.*|webp/.*|libexif/.*": "media",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def allowed(path):
    room = path.parent.name
    if room == "worker" and path.name in WORKER_PROGRAM:
        return WORKER_PROGRAM_USES.split()
    if room == "tools" and path.name not in TOOLS_USE_OF_MEDIA:
        return [use for use in USES[room].split() if use != "media"] + [room]
    return USES[room].split() + [room]


def includes():
    for room in USES:
        for path in sorted((TOP / room).glob("*.[ch]")):
            for _, header in INCLUDE.findall(path.read_text()):
                yield path, header


def complaints(judge):
    return [
        f"{path.relative_to(TOP)} includes {header}: {why}"
        for path, header in includes()
        if (why := judge(path, header))
    ]


def test_every_room_stands_in_the_table():
    built = re.search(r"foreach room : \[([^\]]*)\]", (TOP / "meson.build").read_text())
    assert re.findall(r"'(\w+)'", built.group(1)) == [room for room in USES if room != "tools"]


def test_the_table_has_no_cycle():
    order = list(USES)
    for room, used in USES.items():
        assert all(order.index(other) < order.index(room) for other in used.split()), room


def test_no_public_header_of_a_later_room():
    def judge(path, header):
        face = re.fullmatch(r"doppel/([a-z]+)(_\w+)?\.h", header)
        if face and face.group(1) not in allowed(path):
            return f"may only use {' '.join(allowed(path))}"
        return None

    assert not complaints(judge), "\n".join(complaints(judge))


def test_no_inside_of_another_room():
    def judge(path, header):
        room = header.split("/")[0]
        own = path.parent.name
        if "/" in header and room in USES and room not in (own, "core"):
            return "internal headers are a room's own (core's small helpers are everybody's)"
        return None

    assert not complaints(judge), "\n".join(complaints(judge))


def test_no_library_outside_its_room():
    def judge(path, header):
        for pattern, rooms in OUTSIDERS.items():
            if re.fullmatch(pattern, header) and path.parent.name not in rooms.split():
                return f"only {rooms} may"
        return None

    assert not complaints(judge), "\n".join(complaints(judge))


def test_every_file_says_what_it_is_in_its_first_line():
    silent = [
        str(path.relative_to(TOP))
        for room in USES
        for path in sorted((TOP / room).glob("*.[ch]"))
        if not path.read_text().startswith("/*")
    ]
    assert not silent, silent


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
