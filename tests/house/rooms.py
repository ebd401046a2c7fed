#!/usr/bin/env python3
"""No room includes what it may not: a later room, another room's inside, or a library kept
elsewhere."""

import pathlib
import re
import sys

import tap

TOP = pathlib.Path(__file__).resolve().parents[2]

# A module and the modules it may use, in the order of ARCHITECTURE.md.
USES = {
    "core": "",
    "media": "core",
    "text": "core",
    "image": "core",
    "documents": "core media text image",
    "audio": "core",
    "video": "core image",
    "vector": "core",
    "index": "core vector",
    "local": "core index",
    "match": "core text image audio video index",
    "store": "core index",
    "worker": "core",
    "library": "core text image audio video index local match store",
    "corpus": "core media text index vector match library",
    "client": "core",
    "embed": "core vector index store client",
    "compare": "core text image audio video index local match library",
    "intake": "core media text image audio video worker library compare",
    "search": "core text image audio video local match vector index store library corpus embed "
    "compare",
    "group": "core text image audio video local match library corpus compare intake",
    "decide": "core text index match library corpus embed worker search compare intake client",
    "act": "core library compare intake group",
    "exchange": "core text image audio video match library corpus compare group",
    "report": "core text image audio video match worker library corpus group compare",
    "redis": "core",
    "stream": "core library decide redis",
    "shards": "core image index match library corpus compare search decide exchange redis",
    "serve": "core text image audio video match worker library corpus embed compare intake search "
    "group client decide exchange report shards",
    "cluster": "core image index match",
    "postgres": "",
    "python": "core text image audio media index store match library corpus compare intake search "
    "group decide",
    "tools": "core media text image audio video index local vector match store worker library "
    "corpus embed compare intake search group client decide act exchange report serve "
    "stream shards",
}

# What stands on all of them: programs, and the Python package.
OUTSIDE = ("serve", "cluster", "postgres", "python", "tools")

# The modules of the engine: their headers are everybody's who may use the module.
ENGINE = "client embed compare intake search group decide act exchange report".split()
ENGINE += ["redis", "stream", "shards", "serve"]

# A module and those whose inside it may see: records are decided about as corpus reads them.
# Who reads documents is the program doppel-worker.
INSIDES = {"decide": ["corpus"], "shards": ["corpus"], "worker": ["documents"]}

PARTS_OF_CORE = (
    "doppel/json_writer.h",
    "doppel/renamed.h",
    "doppel/run.h",
    "doppel/version.h",
)

# Parts of a module that do not begin with its name.
PARTS_OF_OTHERS = {"doppel/embedder.h": "embed"}

# Of media, the engine uses the probe and names of formats, which need no decoder.
USE_OF_MEDIA = {
    "corpus/read/file_start.c",
    "corpus/read/record_text.c",
    "intake/archives.c",
    "intake/kind.c",
    "intake/pcm.c",
}

# The program doppel-worker is where media meets the fingerprint rooms.
WORKER_PROGRAM = {
    "main.c",
    "confine.c",
    "confine.h",
    "fingerprint.c",
    "fingerprint_audio.c",
    "fingerprint_chromaprint.c",
    "fingerprint_parts.c",
    "fingerprint_text.c",
    "fingerprint_video.c",
    "fingerprint_vpdq.c",
    "listen.c",
    "listen.h",
    "preview.c",
    "iconv_refused.c",
    "sandbox.c",
    "sandbox.h",
    "syscall_filter.c",
    "unpack_archives.c",
    "unpack_archives.h",
    "worker_text.c",
    "worker_text.h",
    "fingerprint.h",
}
WORKER_PROGRAM_USES = "core media text documents image local audio video worker"

# A header of somebody else's library, and the rooms that may see it.
OUTSIDERS = {
    r"seccomp\.h": "worker",
    r"xxhash\.h": "core",
    r"nettle/base64\.h": "core client",
    r"sqlite3\.h": "store library embed",
    r"jansson\.h": "embed compare group client decide act exchange shards serve tools",
    r"csv\.h": "exchange",
    r"curl/curl\.h": "client",
    r"libpq-fe\.h": "stream",
    r"gnutls/.*": "redis",
    r"hiredis/.*": "redis stream shards",
    r"microhttpd\.h": "serve tools",
    r"utf8proc\.h": "text embed",
    r"(gumbo|md4c)\.h": "text",
    r"(poppler|cairo)\.h|tesseract/.*": "documents",
    r"archive(_entry)?\.h|libxml/.*": "documents",
    r"fftw3\.h": "audio",
    r"chromaprint\.h": "media",
    r"zlib\.h": "corpus embed",
    r"simdjson\.h": "corpus embed",
    r"zstd\.h": "corpus video",
    r"lz4frame\.h": "corpus",
    r"snappy-c\.h": "corpus",
    r"(jpeglib|jerror|png)\.h|libav\w+/.*|libsw\w+/.*|libheif/.*|webp/.*|libexif/.*": "media",
    r"libraw/.*|tiffio\.h": "media",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def module_of(path):
    return path.relative_to(TOP).parts[0]


def allowed(path):
    module = module_of(path)
    if module == "worker" and path.name in WORKER_PROGRAM:
        return WORKER_PROGRAM_USES.split()
    uses = USES[module].split() + [module]
    if module in ("tools", "intake", "corpus") and str(path.relative_to(TOP)) not in USE_OF_MEDIA:
        uses.remove("media")
    return uses


def sources():
    """Not what a wheel is built in, in a hidden folder."""
    for module in USES:
        for path in sorted((TOP / module).rglob("*.[ch]")):
            if not any(part.startswith(".") for part in path.relative_to(TOP).parts):
                yield path


def includes():
    for path in sources():
        for _, header in INCLUDE.findall(path.read_text()):
            yield path, header


def complaints(judge):
    return [
        f"{path.relative_to(TOP)} includes {header}: {why}"
        for path, header in includes()
        if (why := judge(path, header))
    ]


def test_every_module_stands_in_the_table():
    built = re.findall(r"foreach room : \[([^\]]*)\]", (TOP / "meson.build").read_text())
    names = [name for found in built for name in re.findall(r"'(\w+)'", found)]
    assert names == [module for module in USES if module not in OUTSIDE]


def test_a_folder_can_be_looked_through():
    folders = {}
    for path in sources():
        folders.setdefault(path.parent, []).extend([path] if path.suffix == ".c" else [])
    long = {
        str(folder.relative_to(TOP)): len(paths)
        for folder, paths in folders.items()
        if len(paths) > 50
    }
    assert not long, long


def test_the_table_has_no_cycle():
    order = list(USES)
    for room, used in USES.items():
        assert all(order.index(other) < order.index(room) for other in used.split()), room


def test_no_public_header_of_a_later_module():
    def judge(path, header):
        face = re.fullmatch(r"doppel/([a-z]+)(_\w+)?\.h", header)
        module = PARTS_OF_OTHERS.get(header, face and face.group(1))
        if face and header not in PARTS_OF_CORE and module not in allowed(path):
            return f"may only use {' '.join(allowed(path))}"
        return None

    assert not complaints(judge), "\n".join(complaints(judge))


def test_no_inside_of_another_module():
    def judge(path, header):
        room = header.split("/")[0]
        own = module_of(path)
        theirs = room in USES and room not in (own, "core")
        open_ones = ENGINE + INSIDES.get(own, [])
        if "/" in header and theirs and not (room in open_ones and room in allowed(path)):
            return "internal headers are a room's own (core's small helpers are everybody's)"
        return None

    assert not complaints(judge), "\n".join(complaints(judge))


def test_no_library_outside_its_module():
    def judge(path, header):
        for pattern, rooms in OUTSIDERS.items():
            if re.fullmatch(pattern, header) and module_of(path) not in rooms.split():
                return f"only {rooms} may"
        return None

    assert not complaints(judge), "\n".join(complaints(judge))


def test_every_file_says_what_it_is_in_its_first_line():
    silent = [
        str(path.relative_to(TOP)) for path in sources() if not path.read_text().startswith("/*")
    ]
    assert not silent, silent


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
