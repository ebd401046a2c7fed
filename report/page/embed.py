#!/usr/bin/env python3
"""The page's sources to a C header: `embed.py HEADER PAGE.html STYLE.css SCRIPT.js...`

The page has marks for what is put in its place: {{policy}}, {{style}}, {{data}}, {{script}},
{{looks}}. The data and the looks are written at run time, and so is which policy holds: that of a
file, or that of a page that is served, which may ask its own server. Five pieces come out of it.
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


def main(header, page, style, *scripts):
    style = pathlib.Path(style).read_text()
    script = (
        "'use strict';\n(() => {\n"
        + "".join(pathlib.Path(path).read_text() for path in scripts)
        + "})();\n"
    )
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {hash_of(style)}; script-src {hash_of(script)}"
    )
    text = pathlib.Path(page).read_text()
    for mark, value in {"style": style, "script": script}.items():
        assert text.count("{{" + mark + "}}") == 1, mark
        text = text.replace("{{" + mark + "}}", value)
    head, rest = text.split("{{policy}}")
    start, rest = rest.split("{{data}}")
    middle, tail = rest.split("{{looks}}")
    assert "</script" not in script and "</style" not in style
    pathlib.Path(header).write_text(
        "/* Made by embed.py. */\n"
        + array("page_head", head)
        + array("page_policy", policy)
        + array("page_policy_served", policy + "; connect-src 'self'")
        + array("page_style", start)
        + array("page_middle", middle)
        + array("page_tail", tail)
    )


main(*sys.argv[1:])
