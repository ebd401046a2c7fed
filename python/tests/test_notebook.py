"""The notebook of docs/examples, run without a browser, shows its pictures."""

import base64
import os
import re

import pytest
from conftest import PACKAGE_FOLDER, PRELOADED, TOP

nbformat = pytest.importorskip("nbformat")
nbconvert = pytest.importorskip("nbconvert")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")
pytest.importorskip("matplotlib")


@pytest.mark.skipif(bool(PRELOADED), reason="a kernel is a Python without the sanitizer")
def test_the_notebook(media, tmp_path, monkeypatch):
    for path in media.iterdir():
        (tmp_path / path.name).symlink_to(path)
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
        os.mkdir(tmp_path / name)
    monkeypatch.setenv("PYTHONPATH", PACKAGE_FOLDER)  # the kernel may be another Python
    notebook = nbformat.read(TOP / "docs/examples/duplicates.ipynb", as_version=4)
    run = nbconvert.preprocessors.ExecutePreprocessor(timeout=60, kernel_name="python3")
    run.preprocess(notebook, {"metadata": {"path": str(tmp_path)}})
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = [output["data"].get("text/html") for output in outputs if "data" in output]
    shown = [page for page in shown if page]
    assert len(shown) == 5
    assert any("image/png" in output.get("data", ()) for output in outputs)  # of plot()
    images = re.findall(r'src="data:image/jpeg;base64,([^"]+)"', shown[0])
    assert len(images) > 3
    assert all(base64.b64decode(image).startswith(b"\xff\xd8\xff") for image in images)
    assert "position:absolute" in shown[2]  # bars of where in time
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    assert page.count("data:image/jpeg;base64,") >= len(images)
