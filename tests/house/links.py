#!/usr/bin/env python3
"""Every link between the documents leads somewhere, and every document is reached from the
index."""

import pathlib
import re
import sys

import tap

TOP = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = [*sorted(TOP.glob("*.md")), *sorted((TOP / "docs").rglob("*.md"))]

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)


def prose(document):
    return CODE.sub("", document.read_text())


def anchors(document):
    """The names that a forge gives to headings."""
    plain = (
        re.sub(r"[`*]", "", heading).strip().lower() for heading in HEADING.findall(prose(document))
    )
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading)) for heading in plain}


def links():
    for document in DOCUMENTS:
        for target in LINK.findall(prose(document)):
            if not re.match(r"[a-z]+:", target):
                yield document, target


def test_links_lead_to_files():
    missing = [
        f"{document.relative_to(TOP)}: {target}"
        for document, target in links()
        if target.split("#")[0] and not (document.parent / target.split("#")[0]).exists()
    ]
    assert not missing, "\n".join(missing)


def test_links_lead_to_headings():
    missing = []
    for document, target in links():
        path, _, anchor = target.partition("#")
        there = (document.parent / path) if path else document
        if anchor and there.suffix == ".md" and there.exists() and anchor not in anchors(there):
            missing.append(f"{document.relative_to(TOP)}: {target}")
    assert not missing, "\n".join(missing)


def test_every_document_stands_in_the_index():
    index = (TOP / "docs" / "README.md").read_text()
    linked = {(TOP / "docs" / target.split("#")[0]).resolve() for target in LINK.findall(index)}
    absent = [
        str(path.relative_to(TOP))
        for path in DOCUMENTS
        if path != TOP / "docs" / "README.md" and path not in linked
    ]
    assert not absent, absent


def test_files_named_in_the_architecture_exist():
    text = prose(TOP / "ARCHITECTURE.md")
    named = re.findall(r"`([\w./]+\.(?:c|h|py|sh|txt)|[a-z]+/[\w./]*)`", text)
    named = [name for name in named if "NAME" not in name]
    parts = [path for path in TOP.iterdir() if not path.name.startswith((".", "build"))]
    files = [f"/{path.relative_to(TOP)}" for part in parts for path in [part, *part.rglob("*")]]
    missing = [name for name in named if not any(f.endswith("/" + name.rstrip("/")) for f in files)]
    assert named and not missing, missing


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
