#!/usr/bin/env python3
"""What `meson install` leaves behind: everything is there, and can be used alone. Usage:
install.py BUILD"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import tap
from tap import run

TOP = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = TOP / "docs" / "examples"
ROOMS = "core media text image audio video index vector match store worker library corpus".split()
ROOMS += ["local", "embed", "compare", "intake", "search", "group", "client", "decide", "act"]
ROOMS += ["exchange", "report", "stream", "shards"]
INTERNAL = ["redis"]  # libraries that others need, without a header
PARTS = [
    f"match_{part}" for part in "audio found images texts videos".split()
]  # which match.h includes
PARTS += ["client_webhook", "embed_endpoint", "embed_index", "embed_vectors", "embedder"]
PARTS += ["corpus_stages", "json_writer", "search_semantic", "search_whiten"]
PARTS += ["image_pages", "index_items", "renamed", "run", "text_chunks", "vector_table"]
PARTS += [
    f"library_{part}"
    for part in "cache decisions items jobs lists lookups requests upkeep".split()
]
EXAMPLE_PROGRAMS = (
    "hash_plane simhash_text embed_texts find_peaks search_codes search_library "
    "compare_files decide_stream watch_folder scan_folder find_in_library "
    "write_report act_and_undo"
).split()
HEAVY = r"lib(av|sw)\w+|sqlite3|fftw\w*"

build = pathlib.Path(sys.argv[1]).resolve()
work = pathlib.Path(tempfile.mkdtemp(prefix="doppel-install-"))


def install():
    """Install under `work`, and move the pkg-config files' prefix there: DESTDIR is now the
    place."""
    run("meson", "install", "-C", build, "--no-rebuild", env=os.environ | {"DESTDIR": str(work)})
    config = next(work.rglob("pkgconfig"))
    prefix = re.search(r"^prefix=(.*)$", (config / "doppel.pc").read_text(), re.MULTILINE).group(1)
    for path in config.glob("*.pc"):
        path.write_text(re.sub(r"^prefix=", f"prefix={work}", path.read_text(), flags=re.MULTILINE))
    os.environ["PKG_CONFIG_PATH"] = str(config)
    return work / prefix.lstrip("/"), config.parent


prefix, libdir = install()


def flags(package, *options):
    return run("pkg-config", "--cflags", "--libs", *options, package).split()


def assert_searched(printed):
    """The code that the example plants a query beside is within the radius, and the first of
    the nearest."""
    lines = printed.splitlines()
    assert lines[:4] == [
        "within 6 bits:",
        "code 4711 at distance 3",
        "the 3 nearest:",
        "code 4711 at distance 3",
    ], printed
    assert len(lines) == 6, printed


def compile_example(name, *link):
    program = work / name
    run("cc", "-std=c99", "-Wall", "-Werror", EXAMPLES / f"{name}.c", "-o", program, *link)
    return program


def needed(program):
    """The shared objects a program is linked with."""
    return set(re.findall(r"\(NEEDED\).*\[(.*?)\]", run("readelf", "-d", program)))


def test_programs_are_there():
    for name in ("doppel", "doppel-worker"):
        assert os.access(prefix / "bin" / name, os.X_OK), name
    assert "0." in run(prefix / "bin" / "doppel", "--version")


def test_libraries_are_there():
    names = [f"libdoppel-{room}.a" for room in ROOMS + INTERNAL] + ["libdoppel.a", "libdoppel.so"]
    missing = [name for name in names if not (libdir / name).exists()]
    assert not missing, missing


def test_pkg_config_files_are_there():
    for package in ["doppel"] + [f"doppel-{room}" for room in ROOMS + INTERNAL]:
        run("pkg-config", "--exists", "--print-errors", package)


def test_headers_are_there():
    installed = {path.name for path in (prefix / "include" / "doppel").iterdir()}
    ours = {path.name for path in (TOP / "include" / "doppel").glob("*.h")}
    assert installed == ours | {"version.h"}
    assert installed == {f"{name}.h" for name in ROOMS + PARTS + ["doppel", "version"]}


def test_man_page_and_completions_are_there():
    share = prefix / "share"
    for name in (
        "man/man1/doppel.1",
        "bash-completion/completions/doppel",
        "zsh/site-functions/_doppel",
        "fish/vendor_completions.d/doppel.fish",
    ):
        assert (share / name).stat().st_size > 0, name
    page = (share / "man/man1/doppel.1").read_text()
    sections = [line[4:] for line in page.splitlines() if line.startswith(".SH ")]
    for section in ("EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"):
        assert section in sections, section
    assert "a library, an index; a list named to choose by\t2" in page


def compile_headers(*command):
    for header in (prefix / "include" / "doppel").iterdir():
        run(
            *command,
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsyntax-only",
            f"-I{prefix}/include",
            "-",
            input=f"#include <doppel/{header.name}>\nextern int some_declaration;\n",
        )


def test_headers_compile_alone_as_c99():
    compile_headers("cc", "-xc", "-std=c99", "-pedantic")


def test_headers_compile_alone_as_cpp17():
    compile_headers("c++", "-xc++", "-std=c++17", "-pedantic")


OLD_NAME = re.compile(r"^#define (doppel_\w+|DOPPEL_WORD_\w+) (\w+)$", re.MULTILINE)
OLD_USES = """#define DOPPEL_OLD_FIELDS
#include <doppel/doppel.h>
int main(void)
{
    struct doppel_about about = {0};
    struct doppel_sound_options options = doppel_sound_options_default();
    struct doppel_library_stats stats = {.sounds_bytes = 0};
    struct doppel_monitor_options monitor = {.sound = options};
    enum doppel_word word = DOPPEL_WORD_NONE;
    doppel_library_stop_by(0, 0);
    doppel_sounds_free(0);
    doppel_library_tell(0, 0, &about, 0);
    doppel_about_free(&about);
    return word + (int)stats.sounds_bytes + (int)sizeof monitor.sound;
}
"""


def test_old_names_compile_for_a_release():
    old = work / "old.c"
    old.write_text(OLD_USES)
    run("cc", "-std=c99", "-Wall", "-Werror", "-fsyntax-only", f"-I{prefix}/include", old)


def test_old_names_stand_for_names_that_exist():
    include = prefix / "include" / "doppel"
    now = {
        name
        for path in include.glob("*.h")
        if path.name != "renamed.h"
        for name in re.findall(r"\w+", path.read_text())
    }
    renamed = OLD_NAME.findall((include / "renamed.h").read_text())
    assert len(renamed) > 30
    assert not [pair for pair in renamed if pair[1] not in now or pair[0] in now], renamed


def test_image_example_links_image_alone():
    program = compile_example("hash_plane", *flags("doppel-image"))
    assert "phash64" in run(program)
    heavy = [name for name in needed(program) if re.match(HEAVY + "|libdoppel", name)]
    assert not heavy, heavy


def test_text_example_links_text_alone():
    program = compile_example("simhash_text", *flags("doppel-text"))
    assert "simhash64" in run(program)
    heavy = [name for name in needed(program) if re.match(HEAVY + "|libdoppel", name)]
    assert not heavy, heavy


def test_embedding_example_links_embed_alone():
    program = compile_example("embed_texts", *flags("doppel-embed"))
    (work / "models").mkdir()
    lines = run(program, work / "models").splitlines()
    assert len(lines) == 3 and lines[0].endswith(" 1.00") and "-" in lines[2], lines
    heavy = [name for name in needed(program) if re.match(HEAVY + "|libdoppel", name)]
    assert not heavy, heavy


def test_audio_example_links_audio_and_fftw_alone():
    program = compile_example("find_peaks", *flags("doppel-audio"))
    assert re.match(r"\d{3} peaks, \d{3,4} keys in 6 seconds", run(program))
    heavy = {name for name in needed(program) if re.match(HEAVY + "|libdoppel", name)}
    assert all(name.startswith("libfftw3f.") for name in heavy), heavy


def test_index_example_links_index_alone():
    program = compile_example("search_codes", *flags("doppel-index"))
    assert_searched(run(program))
    heavy = [name for name in needed(program) if re.match(HEAVY + "|libdoppel", name)]
    assert not heavy, heavy


def test_search_example_links_no_decoder():
    program = compile_example("search_library", *flags("doppel-search"))
    lines = run(program, work / "library").splitlines()
    assert '"item":2,"kind":"image","scheme":"phash64"' in lines[0], lines
    assert lines[-1] == "1 found", lines
    heavy = [name for name in needed(program) if re.match(r"lib(av|sw)\w+|libdoppel", name)]
    assert not heavy, heavy


def test_each_module_of_the_engine_links_alone():
    calls = {
        "embed": "doppel_model_open",
        "compare": "doppel_compare",
        "intake": "doppel_intake_open",
        "search": "doppel_search_new",
        "group": "doppel_scan",
        "client": "doppel_client_new",
        "decide": "doppel_decider_new",
        "act": "doppel_plan_run",
        "exchange": "doppel_import",
        "report": "doppel_report_write",
    }
    for room, call in calls.items():
        source = f"#include <doppel/{room}.h>\nint main(void) {{ return {call} == 0; }}\n"
        command = ["cc", "-std=c99", "-xc", "-", "-o", work / room, "-Wno-address"]
        run(*command, *flags(f"doppel-{room}"), input=source)


def test_examples_link_all_static():
    # Debian has no static md4c, which doppel-text needs.
    for name, package in (("hash_plane", "doppel-image"), ("search_codes", "doppel-index")):
        program = compile_example(name, "-static", *flags(package, "--static"))
        run(program)
        assert not needed(program)


def test_examples_link_the_shared_library():
    os.environ["LD_LIBRARY_PATH"] = str(libdir)
    for name in EXAMPLE_PROGRAMS:
        program = compile_example(name, *flags("doppel"))
        assert any(object.startswith("libdoppel.so") for object in needed(program)), name
    assert_searched(run(work / "search_codes"))


TEXT = " ".join(f"word{i} is {i * i}" for i in range(40))


def test_decisions_of_a_stream():
    os.environ["DOPPEL_WORKER"] = str(prefix / "bin" / "doppel-worker")
    file = work / "file.txt"
    file.write_text(TEXT)
    lines = run(
        work / "decide_stream", work / "stream", input=f"{TEXT} more\n{file}\nshort\n{TEXT} more\n"
    ).splitlines()
    decisions = [json.loads(line) for line in lines]
    assert [decision["decision"] for decision in decisions] == [
        "new",
        "duplicate",
        "too_short",
        "duplicate",
    ], lines
    assert decisions[1]["of_item"] == 1 and decisions[1]["reason"] == "near", lines


def test_groups_of_a_folder():
    folder = work / "scanned"
    folder.mkdir()
    for name, text in (("a.txt", TEXT), ("b.txt", TEXT), ("c.txt", "all words of its own " * 3)):
        (folder / name).write_text(text)
    lines = run(work / "scan_folder", folder).splitlines()
    assert lines == [
        f"keep {folder}/a.txt",
        f"  {folder}/b.txt: identical",
        f"{len(TEXT)} bytes could be saved",
    ], lines


def two_identical(folder):
    folder.mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(TEXT)


def test_report_of_a_folder():
    folder, page = work / "reported", work / "duplicates.html"
    two_identical(folder)
    assert run(work / "write_report", folder, page) == f"1 groups in {page}\n"
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>") and "b.txt" in text


def test_acts_and_undoes():
    folder, journal = work / "acted", work / "journal"
    two_identical(folder)
    names = [folder / "a.txt", folder / "b.txt"]
    act = work / "act_and_undo"
    lines = run(act, journal, folder).splitlines()
    assert lines[-1] == f"1 files, {len(TEXT)} bytes", lines
    assert lines[0] == f"{names[1]}: hardlink of {names[0]}", lines
    assert names[0].samefile(names[1])
    assert run(act, journal).splitlines()[-1].startswith("1 files"), journal.read_text()
    assert not names[0].samefile(names[1])
    assert names[1].read_text() == TEXT


def test_found_in_a_library():
    folder, library = work / "held", work / "holding"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    (folder / "b.txt").write_text("all words of its own " * 3)
    run(prefix / "bin" / "doppel", "add", "--library", library, folder / "a.txt")
    find = work / "find_in_library"
    assert run(find, library, folder / "a.txt") == "item 1, similarity 1.00\n"
    assert run(find, library, folder / "b.txt") == "nothing like it\n"


def test_decisions_of_a_folder():
    folder = work / "folder"
    folder.mkdir()
    watch = subprocess.Popen(
        [work / "watch_folder", work / "watched", folder], stdout=subprocess.PIPE, text=True
    )
    try:
        for _ in range(100):  # until it watches
            if (work / "watched" / "catalogue.db").exists():
                break
            time.sleep(0.1)
        for name, wanted in (("a.txt", "new"), ("b.txt", "duplicate (identical) of")):
            (folder / name).write_text(TEXT)
            line = watch.stdout.readline()
            assert line.startswith(f"{folder}/{name}: {wanted}"), line
    finally:
        watch.kill()
        watch.wait()


def test_flags_of_others_do_not_leak():
    for package in ["doppel"] + [f"doppel-{room}" for room in ROOMS]:
        assert run("pkg-config", "--cflags", package).split() == [f"-I{prefix}/include"], package
        names = flags(package)
        assert len(names) == len(set(names)), f"{package}: {names}"
    assert flags("doppel") == [f"-I{prefix}/include", f"-L{libdir}", "-ldoppel"]


def test_a_program_can_ask_for_the_version():
    numbers = run("pkg-config", "--modversion", "doppel").strip()
    source = f"""#include <doppel/doppel.h>
    #if DOPPEL_VERSION_NUMBER < DOPPEL_VERSION_OF(0, 2, 0)
    #error "too old"
    #endif
    #include <string.h>
    int main(void)
    {{
        return strcmp(DOPPEL_VERSION, "{numbers}") || strcmp(doppel_version(), DOPPEL_VERSION);
    }}
    """
    program = work / "version"
    run("cc", "-x", "c", "-", "-o", program, *flags("doppel"), input=source)
    run(program, env=os.environ | {"LD_LIBRARY_PATH": str(libdir)})


def test_guides_and_examples_are_there():
    documents = prefix / "share" / "doc" / "doppel"
    assert (documents / "guide" / "photos.md").is_file()
    assert (documents / "examples" / "scan_folder.c").is_file()


def test_examples_link_the_whole_library_static():
    link = run("pkg-config", "--static", "--libs", "doppel").replace("-ldoppel", "-l:libdoppel.a")
    link = link.split()
    program = compile_example(
        "compare_files", *run("pkg-config", "--cflags", "doppel").split(), *link
    )
    assert not any(name.startswith("libdoppel") for name in needed(program))


def test_doppel_itself_links_no_decoder():
    names = needed(prefix / "bin" / "doppel")
    heavy = [
        name
        for name in names
        if re.match(r"lib(av|sw)\w+|libheif|libraw|libwebp|libjpeg|libpng|libtiff|libexif", name)
    ]
    assert not heavy, heavy


def test_the_unit_runs_what_was_installed():
    if not (prefix / "bin" / "doppel").exists() or not list(work.rglob("doppel.service")):
        return  # built without libmicrohttpd
    unit = next(work.rglob("doppel.service")).read_text()
    program = re.search(r"^ExecStart=(\S+) serve ", unit, re.MULTILINE).group(1)
    assert work / program.lstrip("/") == prefix / "bin" / "doppel", program
    assert "@bindir" not in unit and next(work.rglob("doppel.socket"))


def test_exported_symbols_are_ours():
    lines = run("nm", "-D", "--defined-only", libdir / "libdoppel.so").splitlines()
    names = {line.split()[-1] for line in lines}
    assert len(names) > 40
    foreign = [name for name in names if not name.startswith("doppel_")]
    assert not foreign, foreign


def test_globals_of_the_static_library_are_ours():
    lines = run("nm", "-g", "--defined-only", libdir / "libdoppel.a").splitlines()
    names = {line.split()[-1] for line in lines if re.match(r"[0-9a-f]+ \w ", line)}
    assert len(names) > 40
    foreign = [name for name in names if not name.startswith("doppel_")]
    assert not foreign, foreign


def test_every_declared_function_is_exported():
    exported = run("nm", "-D", "--defined-only", libdir / "libdoppel.so")
    for header in (prefix / "include" / "doppel").iterdir():
        for declaration in re.findall(r"DOPPEL_API\s[^;]*?\b(doppel_\w+)\(", header.read_text()):
            assert re.search(
                rf"\b{declaration}$", exported, re.MULTILINE
            ), f"{header.name}: {declaration}"


if __name__ == "__main__":
    try:
        sys.exit(tap.main(sys.modules[__name__]))
    finally:
        shutil.rmtree(work)
