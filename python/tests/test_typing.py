"""The package is typed, documented and small."""

import ast
import pathlib
import subprocess
import sys

import pytest
from conftest import TOP

PACKAGE = TOP / "python" / "doppel"


def test_types_are_strict():
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null", PACKAGE],
        capture_output=True,
        text=True,
        check=False,
        cwd=TOP / "python",
    )
    assert done.returncode == 0, done.stdout


def public_parts(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            yield node


def test_stubs_name_what_the_extension_has():
    from doppel import _doppel

    tree = ast.parse((PACKAGE / "_doppel.pyi").read_text())
    stubs = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert stubs == {name for name in dir(_doppel) if not name.startswith("_")}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.name)
def test_what_is_public_is_documented(path):
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree)
    for node in public_parts(tree):
        if isinstance(node, ast.ClassDef):
            assert ast.get_docstring(node), node.name
        else:
            assert (node.end_lineno or 0) - node.lineno <= 80, node.name
    assert len(path.read_text().splitlines()) <= 400


def test_every_name_of_all_is_there():
    import doppel

    for name in doppel.__all__:
        named = getattr(doppel, name)
        assert named.__doc__, name
        for part, value in vars(named).items() if isinstance(named, type) else ():
            plain = getattr(value, "__func__", getattr(value, "fget", value))
            assert part.startswith("_") or not callable(plain) or plain.__doc__, (name, part)
        if callable(named) and not isinstance(named, type) and named.__code__.co_argcount:
            assert "Raises" in named.__doc__ and "Returns" in named.__doc__, name
    assert (pathlib.Path(doppel.__file__).parent / "py.typed").exists()
