#!/usr/bin/env python3
"""A file of JSON to a C header: `embed.py HEADER NAME FILE.json`, without its white space."""

import json
import pathlib
import sys

header, name, source = sys.argv[1:]
text = json.dumps(json.loads(pathlib.Path(source).read_text()), separators=(",", ":"))
data = text.encode()
rows = [", ".join(str(byte) for byte in data[i : i + 20]) for i in range(0, len(data), 20)]
pathlib.Path(header).write_text(
    "/* Made by embed.py. */\n"
    f"static const unsigned char {name}[] = {{\n    " + ",\n    ".join(rows) + "};\n"
)
