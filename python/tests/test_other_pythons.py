"""The same extension runs by every Python 3.9 and later that is here, without numpy."""

import os
import shutil
import subprocess

import pytest
from conftest import PACKAGE_FOLDER, PRELOADED, TOP

SCRIPT = """
import doppel, os, sys
sea, cropped = "pictures/originals/sea.jpg", "pictures/copies/sea-cropped.jpg"
assert doppel.compare(sea, cropped) and doppel.hash(sea) - doppel.hash(cropped) < 10
assert doppel.compare("trailer.avi", "diver.avi").segments
assert len(doppel.scan("pictures")) > 3
assert doppel.dedup(["A text that comes twice, as it is.", "Another one.", "A text that comes "
                     "twice, as it is."]).unique == [0, 1]
with doppel.Library(os.path.join(sys.argv[1], "library")) as library:
    library.add("music")
    assert library.find("heard.wav")[0].match.segments
index = doppel.Index(bits=64, radius=8)
index.add(b"\\1\\0\\0\\0\\0\\0\\0\\0\\7\\0\\0\\0\\0\\0\\0\\0")
assert index.search(b"\\1\\0\\0\\0\\0\\0\\0\\0", radius=1).ids.tolist() == [0]
try:
    doppel.hash("nothing.jpg")
except doppel.NotFoundError as error:
    assert error.path
print(*sys.version_info[:2])
"""


def works(python):
    done = subprocess.run([python, "-c", ""], capture_output=True, check=False)
    return done.returncode == 0


PYTHONS = {minor: shutil.which(f"python3.{minor}") for minor in range(9, 20)}
PYTHONS = {minor: path for minor, path in PYTHONS.items() if path and works(path)}


@pytest.mark.skipif(bool(PRELOADED), reason="they have no sanitizer")
@pytest.mark.parametrize("minor", sorted(PYTHONS))
def test_the_package_runs_by(minor, media, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [PYTHONS[minor], script, tmp_path],
        cwd=media,
        env={**os.environ, "XDG_DATA_HOME": str(tmp_path), "PYTHONPATH": PACKAGE_FOLDER},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["3", str(minor)]


def test_wheels_are_for_the_stable_abi_of_python_3_9():
    backend = pytest.importorskip("mesonpy") and __import__("runpy").run_path(
        str(TOP / "python" / "backend.py")
    )
    tag = backend["mesonpy"]._tags.Tag(None, "abi3", None)
    assert str(tag).startswith("cp39-abi3-")
