#!/usr/bin/env python3
"""What the upper 128 bytes of old character sets mean, as a table in C: `charsets.py OUTPUT`."""

import sys

NAMES = [f"cp{page}" for page in (437, 737, 775, 850, 852, 855, 857, 862, 866, 874)]
NAMES += [f"cp{page}" for page in range(1250, 1259)]
NAMES += [f"iso8859-{part}" for part in (*range(1, 12), *range(13, 17))]
NAMES += ["koi8-r", "koi8-u", "mac-roman"]


def points(name):
    """0 is what the set does not have."""
    upper = (bytes([byte]).decode(name, "ignore") for byte in range(0x80, 0x100))
    return [ord(character) if character else 0 for character in upper]


with open(sys.argv[1], "w") as out:
    for name in NAMES:
        key = "".join(filter(str.isalnum, name))
        print(f'{{"{key}", {{{", ".join(map(str, points(name)))}}}}},', file=out)
