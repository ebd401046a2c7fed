"""What the tests share: a collection that is drawn once, and TAP."""

import os
import pathlib
import subprocess
import sys

import pytest

import doppel

BUILD = pathlib.Path(os.environ["DOPPEL_BUILD"])
TOP = pathlib.Path(__file__).resolve().parents[2]
# Where the package that is tested lies, for a Python that does not find it by itself.
PACKAGE_FOLDER = str(pathlib.Path(doppel.__file__).parents[1])
# A sanitizer, which Python needs beside a sanitized extension. Programs that are sanitized have it.
PRELOADED = os.environ.pop("LD_PRELOAD", "")


@pytest.fixture(scope="session")
def media(tmp_path_factory):
    """Pictures, texts, music and videos, some of them duplicates, as `doppel-demo` makes them."""
    folder = tmp_path_factory.mktemp("media")
    subprocess.run(
        [BUILD / "doppel-demo", "--all", ".", TOP / "LICENSE"],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return folder


@pytest.fixture
def run_python(tmp_path):
    """Run a script by another Python; its output."""

    def run(script, *, status=0, timeout=60):
        path = tmp_path / "script.py"
        path.write_text('import os\nos.environ.pop("LD_PRELOAD", None)\n' + script)
        done = subprocess.run(
            [sys.executable, path],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env={**os.environ, **({"LD_PRELOAD": PRELOADED} if PRELOADED else {})},
        )
        assert done.returncode == status, done.stderr
        return done.stdout

    return run


class Tap:
    """Test cases as lines of TAP, which count in the sum of the suite."""

    def __init__(self):
        self.number = 0

    def pytest_collection_finish(self, session):
        print(f"\n1..{len(session.items)}", flush=True)

    def pytest_runtest_logreport(self, report):
        skipped = report.skipped and report.when == "setup"
        if report.when != "call" and not skipped and not report.failed:
            return
        if report.when == "teardown" and report.failed:
            print(f"# {report.nodeid}: failed after its end")
            return
        self.number += 1
        word = "not ok" if report.failed else "ok"
        directive = " # SKIP" if report.skipped else ""
        name = report.nodeid.replace("python/tests/", "")
        print(f"\n{word} {self.number} - {name}{directive}", flush=True)
        if report.failed:
            lines = report.longreprtext.splitlines()
            print("".join(f"# {line}\n" for line in lines), end="")


def pytest_configure(config):
    config.option.verbose = -2
    config.pluginmanager.register(Tap())
