"""Pictures that are unlike each other, and near copies of them, as PNG files."""

import pathlib
import random
import struct
import zlib

GRID, SIDE = 9, 64


def piece(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_of(rows):
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows), 1)
    return b"\x89PNG\r\n\x1a\n" + piece(b"IHDR", head) + piece(b"IDAT", body) + piece(b"IEND", b"")


def draw(seed, brighter=0):
    """Patches of grey that run into each other."""
    chance = random.Random(seed)
    patches = [[chance.choice((20, 50, 190, 220)) for _ in range(GRID)] for _ in range(GRID)]
    step = SIDE // (GRID - 1)
    rows = []
    for y in range(SIDE):
        top, down = divmod(y, step)
        upper, lower = patches[top], patches[top + 1]
        edge = [(a * (step - down) + b * down) // step for a, b in zip(upper, lower)]
        rows.append([
            (edge[x // step] * (step - x % step) + edge[x // step + 1] * (x % step)) // step
            + brighter
            for x in range(SIDE)
        ])  # fmt: skip
    return png_of(rows)


def draw_all(folder, count, brighter=0, first=0):
    """@return their paths."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(first, first + count):
        paths.append(folder / f"{number}.png")
        paths[-1].write_bytes(draw(number, brighter))
    return paths
