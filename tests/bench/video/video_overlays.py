"""Logos and subtitles, drawn at random: what people put over films."""
import hashlib
import os

WORDS = (
    "and the of to we never saw it again where are you going tonight listen stop please "
    "morning river children because nobody remembers what happened there after all these "
    "years I told him not to come back here yes maybe run mountain letters everything"
).split()


def logo_pam(folder, chance, width, opacity):
    """A picture with alpha: a plate or none, a ring or a bar, and blocks for letters.
    @return its path, and its height"""
    height = max(6, round(width * chance.uniform(0.3, 1)))
    plate, mark, letters = ([chance.randrange(256) for _ in range(3)] for _ in range(3))
    has_plate, ring = chance.random() < 0.5, chance.random() < 0.6
    columns = chance.randint(3, 7)
    blocks = [[chance.random() < 0.6 for _ in range(columns * 3)] for _ in range(5)]
    pixels = bytearray()
    for y in range(height):
        for x in range(width):
            u, v = (x + 0.5) / width, (y + 0.5) / height
            colour = plate if has_plate else None
            if ring and 0.16 < (u - 0.5) ** 2 + (v - 0.4) ** 2 * (height / width) ** 2 < 0.2:
                colour = mark
            if not ring and v < 0.15:
                colour = mark
            if 0.55 < v < 0.9 and 0.08 < u < 0.92:
                column, row = int((u - 0.08) / 0.84 * columns * 3), int((v - 0.55) / 0.35 * 5)
                if column % 3 < 2 and blocks[row][column]:
                    colour = letters
            pixels += bytes(colour + [round(255 * opacity)]) if colour else bytes(4)
    head = f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
    return keep(folder, "pam", head.encode() + bytes(pixels)), height


def subtitles_ass(folder, chance, width, height, seconds):
    """Text of two lines at the bottom that changes every few seconds. @return its path"""
    size = round(height * chance.uniform(0.055, 0.08))
    colour = chance.choice(["&H00FFFFFF", "&H0000FFFF", "&H00E0E0E0"])
    boxed = 3 if chance.random() < 0.25 else 1
    lines = [
        "[Script Info]",
        "ScriptType: v4.00+",
        f"PlayResX: {width}",
        f"PlayResY: {height}",
        "[V4+ Styles]",
        "Format: Name, Fontname, Fontsize, PrimaryColour, OutlineColour, BackColour, Bold, "
        "BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV",
        f"Style: S,DejaVu Sans,{size},{colour},&H00000000,&H00000000,"
        f"{-chance.randint(0, 1)},{boxed},2,0,2,10,10,{round(height * .04)}",
        "[Events]",
        "Format: Layer, Start, End, Style, Text",
    ]
    letters = int(width * 0.85 / (size * 0.55))
    at = 0.0
    while at < seconds:
        until = at + chance.uniform(1.5, 4)
        text = "\\N".join(line_of(chance, letters) for _ in range(2))
        lines.append(f"Dialogue: 0,{clock(at)},{clock(until)},S,{text}")
        at = until + chance.choice([0, 0, chance.uniform(0.1, 1)])
    return keep(folder, "ass", ("\n".join(lines) + "\n").encode())


def line_of(chance, letters):
    wanted, line = letters * chance.uniform(0.5, 1), ""
    while len(line) < wanted - 6:
        line = (line + " " + chance.choice(WORDS)).strip()
    return line


def clock(seconds):
    return f"{int(seconds // 3600)}:{int(seconds // 60 % 60):02}:{seconds % 60:05.2f}"


def keep(folder, ending, content):
    """Put it into a file that is named by what it holds."""
    path = os.path.join(folder, f"{hashlib.sha256(content).hexdigest()[:12]}.{ending}")
    if not os.path.exists(path):
        with open(path, "wb") as out:
            out.write(content)
    return path
