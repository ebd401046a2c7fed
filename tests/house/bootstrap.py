#!/usr/bin/env python3
"""The package lists of ./bootstrap are true, and its sum of test cases is right."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tap
from tap import run

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))

import count  # noqa: E402

# Found by the linker, or by the build itself: not by pkg-config.
ELSEWHERE = {"threads"}


SYSTEMS = ("debian", "fedora", "arch", "alpine")


def table():
    """The lines of the table: group, why, a name for each system, and why there is none."""
    text = re.search(r"^packages='([^']*)'", (TOP / "bootstrap").read_text(), re.MULTILINE).group(1)
    lines, group, why = [], "", ""
    for line in text.splitlines():
        if line.startswith("  "):
            lines.append([group, why, *line.split(maxsplit=len(SYSTEMS))])
        else:
            group, why = line.split(": ")
    return lines


def packages(group):
    return {line[2] for line in table() if line[0] == group}


def is_package(name):
    return subprocess.run(["pkg-config", "--exists", name], check=False).returncode == 0


def dependencies(*folders):
    """The names in dependency('…') of meson.build files, also those that come from a list."""
    for folder in folders:
        for path in (TOP / folder).rglob("meson.build"):
            text = path.read_text()
            names = re.findall(r"dependency\(\s*'([^']+)'", text)
            if re.search(r"dependency\(\w", text):
                names += [word for word in re.findall(r"'(lib[\w-]+)'", text) if is_package(word)]
            yield from (name for name in names if name not in ELSEWHERE)


def headers(*folders):
    """Of the libraries without a pkg-config file: find_library('…', has_headers: '…')."""
    for folder in folders:
        for path in (TOP / folder).rglob("meson.build"):
            yield from re.findall(r"find_library\('\w+', has_headers: '([^']+)'", path.read_text())


def packages_of(names, headers=()):
    files = [run("pkg-config", "--path", name).strip() for name in names]
    files += [f"/usr/include/{header}" for header in headers]
    return {line.split(":")[0] for line in run("dpkg-query", "-S", *files).splitlines()}


def test_every_dependency_has_its_package():
    if not shutil.which("dpkg-query"):
        return
    rooms = (
        "core",
        "media",
        "image",
        "index",
        "match",
        "store",
        "worker",
        "library",
        "tools",
        "demo",
    )
    missing = packages_of(set(dependencies(*rooms)), set(headers(*rooms))) - packages("build")
    assert not missing, missing
    tests = set(
        dependencies(
            *(f"tests/{path.name}" for path in (TOP / "tests").iterdir() if path.name != "bench")
        )
    )
    missing = packages_of(tests | {"cmocka"}) - packages("build") - packages("test")
    assert not missing, missing


def test_no_package_is_idle():
    if not shutil.which("dpkg-query"):
        return
    used = packages_of(set(dependencies(".")) - {"opencv4", "cairo"}, set(headers(".")))
    libraries = {name for name in packages("build") if re.match(r"lib.*-dev", name)} - {"libc6-dev"}
    assert libraries <= used, libraries - used


def test_each_package_has_a_name_on_each_system_or_a_reason():
    for line in table():
        group, why, *names = line[:6]
        assert group in ("build", "python", "cluster", "test", "bench"), line
        assert why and len(names) == len(SYSTEMS), line
        assert all(re.fullmatch(r"-|[A-Za-z0-9.+_-]+", name) for name in names), line
        assert names[0] != "-" and ("-" in names) == (len(line) == 7), line
        assert len(line) < 7 or line[6], line


def fake(folder, name, script):
    path = folder / name
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)


def run_on(system, folder, *words):
    """bootstrap where only the tools of that system are; `calls` has what they are told."""
    needed = ("sh", "dirname", "cut", "sort", "uniq", "mkdir", "rm", "tail", "cat", "id")
    for name in needed:
        (folder / name).symlink_to(shutil.which(name))
    tools = {"debian": "apt-get", "fedora": "dnf", "arch": "pacman", "alpine": "apk"}
    log = f'echo "{tools.get(system)} $@" >>{folder}/calls\n'
    ask = {"arch": "-T", "alpine": "info"}.get(system, "none")
    if system in tools:
        fake(folder, tools[system], f'[ "$1" = {ask} ] && exit 1\n{log}')
    fake(folder, "rpm", "exit 1\n")
    fake(folder, "sudo", 'exec "$@"\n')
    return subprocess.run(
        [folder / "sh", TOP / "bootstrap", *words],
        env={"PATH": str(folder), "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_names_are_those_of_the_system():
    for column, system in enumerate(SYSTEMS, 2):
        with tempfile.TemporaryDirectory() as folder:
            done = run_on(system, pathlib.Path(folder), "packages", "build")
            assert done.returncode == 0, done.stderr
            wanted = {line[column] for line in table() if line[0] == "build"} - {"-"}
            assert set(done.stdout.split()) == wanted, done.stdout
            assert ("not packaged to read labels" in done.stderr) == (system in ("arch", "alpine"))


def test_what_is_missing_is_installed_by_the_tool_of_the_system():
    with tempfile.TemporaryDirectory() as copy:
        script = pathlib.Path(copy, "bootstrap")
        shutil.copy(TOP / "bootstrap", script)
        for column, system in enumerate(SYSTEMS[1:], 3):
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                done = run_on(system, folder, "packages")
                env = {"PATH": str(folder), "TMPDIR": str(folder)}
                done = subprocess.run(
                    [folder / "sh", script, "build"],
                    env=env,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert done.returncode == 2, done  # there is no meson
                assert "nobody has tried them" in done.stderr, done.stderr
                called = (folder / "calls").read_text().split()
                names = {line[column] for line in table() if line[0] == "build"} - {"-"}
                assert set(called) >= names, (system, called)
                assert len([name for name in called if name == "gcc"]) == 1, called
            shutil.rmtree(pathlib.Path(copy, "build"), ignore_errors=True)


def test_an_unknown_system_is_told_what_is_wanted():
    with tempfile.TemporaryDirectory() as folder:
        done = run_on("none", pathlib.Path(folder), "packages")
        assert done.returncode == 0 and "libjansson-dev" in done.stdout, done


def counted(stdout, result):
    return count.count({"stdout": stdout, "result": result})


def test_cases_are_counted_not_programs():
    assert counted("\t1..3\nok 1 - a\nok 2 - b\nok 3 - c\n", "OK") == (3, 0, 0)
    assert counted("1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c\n", "FAIL") == (2, 1, 0)
    assert counted("1..2\nok 1 - a\nok 2 - b # SKIP\n", "OK") == (1, 0, 1)


def test_a_crash_fails_what_it_kept_from_running():
    assert counted("1..5\nok 1 - a\n", "FAIL") == (1, 4, 0)
    assert counted("", "TIMEOUT") == (0, 1, 0)
    assert counted("1..1\nok 1 - a\n", "FAIL") == (1, 1, 0)


def test_a_program_without_cases_is_one():
    assert counted("all is well\n", "OK") == (1, 0, 0)


def test_nothing_run_is_a_failure():
    with tempfile.NamedTemporaryFile("w", suffix=".json") as log:
        log.write(json.dumps({"stdout": "", "result": "SKIP"}) + "\n")
        log.flush()
        assert count.main([log.name])


def test_paths_are_looked_at_before_a_build():
    script = str(TOP / "bootstrap")
    for words in (["scan", "no/such"], ["scan", "-v", "no/such"], ["add", "-L", "x", "no/such"]):
        done = subprocess.run(
            [script, "run", *words], stderr=subprocess.PIPE, text=True, check=False
        )
        assert done.returncode == 2, done
        assert done.stderr == "bootstrap: no/such: no such file or directory\n", done.stderr


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
