"""The blocks of the guide and of the README do what they say, one after the other."""

import os
import re

from conftest import TOP

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_guide(media, tmp_path, monkeypatch):
    page = (TOP / "docs" / "guide" / "python.md").read_text()
    blocks = BLOCK.findall(page)
    assert len(blocks) > 3
    for path in media.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    assert os.path.exists("pictures")
    names = {}
    for block in blocks:
        exec(compile(block, "docs/guide/python.md", "exec"), names)


def test_the_readme(media, tmp_path, monkeypatch):
    for path in media.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((TOP / "README.md").read_text())
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
