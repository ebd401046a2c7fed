#!/usr/bin/env python3
"""The sources of a page to a C header: `embed.py report|service HEADER FILE...`

The first HTML file is the page; others stand in it where it has their names, as {{filter}}.
Styles are one, and so are scripts, in the order in which they are named.

The page of a report is one file. It has marks for what else is put in its place: {{policy}},
{{style}}, {{data}}, {{script}}, {{looks}}. The data and the looks are written at run time, and so
is which policy holds: that of a file, or that of a page that is served, which may ask its own
server. The page of the service stays in three pieces, which it is asked for.
"""

import base64
import hashlib
import pathlib
import sys


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def array(name, text):
    data = text.encode()
    rows = [", ".join(str(byte) for byte in data[i : i + 20]) for i in range(0, len(data), 20)]
    return f"static const unsigned char {name}[] = {{\n    " + ",\n    ".join(rows) + "};\n"


def sources(files):
    """Page, style and script."""
    paths = [pathlib.Path(file) for file in files]
    texts = {".html": [], ".css": [], ".js": []}
    for path in paths:
        texts[path.suffix].append((path.stem, path.read_text()))
    (_, page), *parts = texts[".html"]
    for name, part in parts:
        page = put(page, name, part)
    style, script = ("".join(text for _, text in texts[kind]) for kind in (".css", ".js"))
    return page, style, "'use strict';\n(() => {\n" + script + "})();\n"


def put(page, mark, text):
    assert page.count("{{" + mark + "}}") == 1, mark
    return page.replace("{{" + mark + "}}", text)


def report(page, style, script):
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {hash_of(style)}; script-src {hash_of(script)}"
    )
    text = put(put(page, "style", style), "script", script)
    head, rest = text.split("{{policy}}")
    start, rest = rest.split("{{data}}")
    middle, tail = rest.split("{{looks}}")
    assert "</script" not in script and "</style" not in style
    return {
        "page_head": head,
        "page_policy": policy,
        "page_policy_served": policy + "; connect-src 'self'",
        "page_style": start,
        "page_middle": middle,
        "page_tail": tail,
    }


def service(page, style, script):
    assert "{{" not in page
    return {"page_html": page, "page_css": style, "page_js": script}


def main(which, header, *files):
    pieces = {"report": report, "service": service}[which](*sources(files))
    arrays = "".join(array(name, text) for name, text in pieces.items())
    pathlib.Path(header).write_text("/* Made by embed.py. */\n" + arrays)


main(*sys.argv[1:])
