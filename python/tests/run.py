#!/usr/bin/env python3
"""Run pytest over the package as BUILD has it, and print each test case as TAP. Usage:
run.py BUILD [SANITIZER [PYTEST_ARGUMENT...]]; SANITIZER is a library to be loaded first, or ""."""

import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = TOP / "python" / "doppel"


def stage(build):
    """A folder with the package: links to its files, and to what was built."""
    folder = build / "python" / "stage"
    links = {path.relative_to(PACKAGE): path for path in PACKAGE.rglob("*") if path.is_file()}
    links[pathlib.Path("_doppel.abi3.so")] = build / "python" / "src" / "_doppel.abi3.so"
    links[pathlib.Path("doppel-worker")] = build / "doppel-worker"
    links[pathlib.Path("doppel-sqlite")] = build / "library" / "doppel_sqlite.so"
    for name, target in links.items():
        link = folder / "doppel" / name
        if "__pycache__" in name.parts:
            continue
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink() or link.readlink() != target:
            link.unlink(missing_ok=True)
            link.symlink_to(target)
    return folder


def environment(build, sanitizer):
    """Of the tests: without a home of the user's."""
    changes = {
        "PYTHONPATH": str(stage(build)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "DOPPEL_BUILD": str(build),
        "XDG_CACHE_HOME": str(build / "python" / "cache"),
    }
    if sanitizer:
        changes["LD_PRELOAD"] = sanitizer
        changes["PYTHONMALLOC"] = "malloc"
        options = os.environ.get("ASAN_OPTIONS", "")
        # Python itself leaves at its end what it never frees: a test counts what the package does.
        changes["ASAN_OPTIONS"] = f"{options}:detect_leaks=0:verify_asan_link_order=0"
    return {**os.environ, **changes}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    sanitizer = sys.argv[2] if len(sys.argv) > 2 else ""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"]
    command += sys.argv[3:] or [str(TOP / "python" / "tests")]
    return subprocess.run(command, env=environment(build, sanitizer), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
