#!/usr/bin/env python3
"""video_edits.py [OPTION...] WORK VIDEO...: edited copies of films, and what is true of them.

Of every film one copy an edit, its amounts drawn at random from the seed, the film's name and the
edit's: not from a grid. WORK/queries.tsv says which stretch of which film each copy shows. A copy's
name holds a digest of the command that made it: what is there already is not made again.
"""
import argparse
import hashlib
import os
import random
import subprocess
import sys

from video_overlays import logo_pam, subtitles_ass
from video_probe import Film

EDITS = {}
LONGEST_SECONDS = 60
COLUMNS = [
    "file",
    "edit",
    "film",
    "static",
    "scenes",
    "a_start",
    "a_end",
    "b_start",
    "b_end",
    "speed",
    "mirrored",
    "also",
    "amounts",
]


class Copy:
    """One copy in the making: which stretch of a film, by which filters, and how it is coded."""

    def __init__(self, film, others, chance, scratch):
        self.film, self.others, self.chance, self.scratch = film, others, chance, scratch
        self.start, self.end = film.stretch(0, LONGEST_SECONDS)
        self.lead = 0.0  # seconds of something else before the stretch
        self.speed, self.mirrored = 1.0, False
        self.also, self.amounts, self.filters = [], [], []
        self.inputs, self.graph = [], None
        self.coder = ["-c:v", "libx264", "-preset", "veryfast", "-crf", str(chance.randint(22, 30))]
        self.ending = "mp4"
        self.height = min(480, film.height) // 2 * 2
        self.width = round(film.width * self.height / film.height / 2) * 2

    def note(self, name, value):
        self.amounts.append(
            f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value}"
        )
        return value

    def draw(self, name, low, high):
        return self.note(name, self.chance.uniform(low, high))

    def cut(self, seconds):
        """A stretch of so many seconds, where it may be."""
        if self.film.duration < seconds + 0.3:
            return False
        at = self.chance.uniform(0, self.film.duration - seconds - 0.1)
        self.start, self.end = self.film.stretch(at, seconds)
        return True

    def other(self):
        """Another film, to lie before, behind or around this one."""
        others = [film for film in self.others if film.name != self.film.name]
        film = self.chance.choice(others)
        if film.name not in self.also:
            self.also.append(film.name)
        return film

    def chain(self):
        """The stretch, at its speed, in the copy's size."""
        first = self.film.first
        parts = [
            f"trim={first + self.start - 1e-4:.6f}:{first + self.end - 1e-4:.6f}",
            f"setpts=(PTS-STARTPTS)/{self.speed:.6f}",
        ]
        if self.speed != 1:
            parts.append(f"fps={min(30, self.film.rate):.6f}")
        return parts + [f"scale={self.width}:{self.height}", "setsar=1", "format=yuv420p"]

    def command(self, path):
        inputs = [self.film.path] + self.inputs
        graph = self.graph or "[0:v]{chain}[out]"
        graph = graph.replace("{chain}", ",".join(self.chain() + self.filters))
        command = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-filter_threads", "1"]
        for given in inputs:
            command += ["-threads", "1"] + (given if isinstance(given, list) else ["-i", given])
        command += ["-filter_complex_threads", "1", "-filter_complex", graph, "-map", "[out]"]
        return command + ["-an", "-fps_mode", "vfr"] + self.coder + ["-threads", "1", path]

    def row(self, name, edit):
        length = (self.end - self.start) / self.speed
        return [
            name,
            edit,
            self.film.name,
            int(self.film.static),
            self.film.scenes,
            f"{self.lead:.4f}",
            f"{self.lead + length:.4f}",
            f"{self.start:.4f}",
            f"{self.end:.4f}",
            f"{self.speed:.6f}",
            int(self.mirrored),
            ",".join(self.also) or "-",
            " ".join(self.amounts) or "-",
        ]


def edit(function):
    """Each takes a Copy and changes it; False: not of this film."""
    EDITS[function.__name__.removeprefix("edit_")] = function
    return function


@edit
def edit_crf(copy):
    copy.coder[-1] = str(copy.note("crf", copy.chance.randint(25, 45)))


@edit
def edit_144p(copy):
    copy.width, copy.height = round(copy.width * 144 / copy.height / 2) * 2, 144


@edit
def edit_mpeg4(copy):
    copy.coder = ["-c:v", "mpeg4", "-q:v", str(copy.note("q", copy.chance.randint(4, 14)))]


@edit
def edit_vp9(copy):
    crf = copy.note("crf", copy.chance.randint(30, 48))
    copy.coder = [
        "-c:v",
        "libvpx-vp9",
        "-crf",
        str(crf),
        "-b:v",
        "0",
        "-deadline",
        "realtime",
        "-cpu-used",
        "8",
    ]
    copy.ending = "webm"


@edit
def edit_rate(copy):
    copy.filters.append(f"fps={copy.draw('fps', 10, 24):.4f}")


@edit
def edit_light(copy):
    brightness, contrast = copy.draw("brightness", -0.15, 0.15), copy.draw("contrast", 0.7, 1.35)
    copy.filters.append(f"eq=brightness={brightness:.4f}:contrast={contrast:.4f}")


@edit
def edit_grey(copy):
    copy.filters.append("hue=s=0")


@edit
def edit_mirror(copy):
    copy.mirrored = True
    copy.filters.append("hflip")


@edit
def edit_speed(copy):
    copy.speed = copy.draw("speed", 0.75, 1.35)


def bars(copy, axis):
    share = copy.draw("bars", 0.08, 0.3)
    full = round((copy.width if axis == "x" else copy.height) / (1 - share) / 2) * 2
    colour = "black" if copy.chance.random() < 0.8 else f"0x{copy.chance.randrange(1 << 24):06x}"
    copy.note("colour", colour)
    size = f"w={full}:h=ih" if axis == "x" else f"w=iw:h={full}"
    copy.filters.append(f"pad={size}:x=(ow-iw)/2:y=(oh-ih)/2:color={colour}")


@edit
def edit_pillarbox(copy):
    bars(copy, "x")


@edit
def edit_letterbox(copy):
    bars(copy, "y")


@edit
def edit_trim5(copy):
    return copy.cut(5)


@edit
def edit_trim8(copy):
    return copy.cut(8)


@edit
def edit_shorter(copy):
    """A little less at both ends, of all of it: not another speed."""
    lead, tail = copy.draw("lead", 0, 0.7), copy.draw("tail", 0, 0.7)
    length = min(LONGEST_SECONDS, copy.film.duration) - lead - tail
    copy.start, copy.end = copy.film.stretch(lead, length)


@edit
def edit_clip3(copy):
    return copy.cut(3)


@edit
def edit_embed8(copy):
    if not copy.cut(8):
        return False
    rate, pieces = min(30, copy.film.rate), []
    for number in (1, 2):
        film = copy.other()
        length = min(copy.chance.uniform(6, 14), film.duration - 0.1)
        at = copy.chance.uniform(0, film.duration - length)
        frames = round(length * rate)
        copy.inputs.append(["-ss", f"{at:.4f}", "-t", f"{length + 1:.4f}", "-i", film.path])
        pieces.append(
            f"[{number}:v]fps={rate:.6f},tpad=stop=-1:stop_mode=clone,"
            f"scale={copy.width}:{copy.height},setsar=1,format=yuv420p,"
            f"trim=end_frame={frames},setpts=PTS-STARTPTS[p{number}]"
        )
        if number == 1:
            copy.lead = copy.note("lead", frames / rate)
    copy.graph = (
        ";".join(pieces) + f";[0:v]{{chain}},fps={rate:.6f}[p0];"
        "[p1][p0][p2]concat=n=3:v=1:a=0[out]"
    )


@edit
def edit_pip(copy):
    share, border = copy.draw("share", 0.35, 0.6), copy.note(
        "border", copy.chance.choice([0, 0, 2, 4])
    )
    width, height = (round(side * share / 2) * 2 for side in (copy.width, copy.height))
    x = round(copy.chance.uniform(0.02, 0.98) * (copy.width - width - 2 * border))
    y = round(copy.chance.uniform(0.02, 0.98) * (copy.height - height - 2 * border))
    film = copy.other()
    copy.inputs.append(["-stream_loop", "-1", "-i", film.path])
    frame = f",pad=iw+{2 * border}:ih+{2 * border}:{border}:{border}:white" if border else ""
    copy.graph = (
        f"[1:v]scale={copy.width}:{copy.height}:force_original_aspect_ratio=increase,"
        f"crop={copy.width}:{copy.height},setsar=1,format=yuv420p[back];"
        f"[0:v]{{chain}},scale={width}:{height}{frame}[front];"
        f"[back][front]overlay={x}:{y}:shortest=1[out]"
    )


@edit
def edit_rotate(copy):
    degrees = copy.draw("degrees", 1, 6) * copy.chance.choice([-1, 1])
    black = copy.note("corners", copy.chance.choice(["black", "cut"])) == "black"
    copy.filters.append(f"rotate={degrees}*PI/180:ow=iw:oh=ih:c=black")
    if not black:
        share = inscribed(copy.width, copy.height, degrees)
        copy.filters.append(f"crop=2*floor(iw*{share:.5f}/2):2*floor(ih*{share:.5f}/2)")


def inscribed(width, height, degrees):
    """Share of a turned frame's sides that its largest upright rectangle of the same shape has."""
    from math import cos, radians, sin

    turn, shape = abs(radians(degrees)), max(width / height, height / width)
    return 1 / (cos(turn) + shape * sin(turn))


def crop(copy):
    left, right, top, bottom = margins = split(copy, "wide") + split(copy, "high")
    copy.note("crop", "/".join(f"{margin:.3f}" for margin in margins))
    copy.filters.append(
        f"crop=2*floor(iw*{1 - left - right:.5f}/2):2*floor(ih*"
        f"{1 - top - bottom:.5f}/2):iw*{left:.5f}:ih*{top:.5f}"
    )


def split(copy, name):
    """What is cut off of one axis, on both sides unequally."""
    share, first = copy.draw(name, 0.03, 0.22), copy.chance.random()
    return [share * first, share * (1 - first)]


@edit
def edit_crop(copy):
    crop(copy)


def logo(copy):
    """Lays a drawn logo into a corner."""
    width = max(8, round(copy.width * copy.draw("logo", 0.08, 0.22)))
    opacity = copy.note("opacity", copy.chance.choice([1.0, 0.5]))
    path, height = logo_pam(copy.scratch, copy.chance, width, opacity)
    margin = copy.chance.uniform(0.01, 0.05) * copy.width
    x = margin if copy.chance.random() < 0.5 else copy.width - width - margin
    y = margin if copy.chance.random() < 0.5 else copy.height - height - margin
    copy.inputs.append(path)
    copy.graph = f"[0:v]{{chain}}[film];[film][1:v]overlay={x:.0f}:{y:.0f}"
    return copy


@edit
def edit_logo(copy):
    logo(copy).graph += "[out]"


@edit
def edit_subtitles(copy):
    path = subtitles_ass(
        copy.scratch, copy.chance, copy.width, copy.height, (copy.end - copy.start) / copy.speed
    )
    copy.filters.append(f"ass={path}")


@edit
def edit_crop_mirror_speed(copy):
    crop(copy)
    edit_mirror(copy)
    edit_speed(copy)


@edit
def edit_logo_letterbox(copy):
    bars(copy, "y")
    pad = copy.filters.pop()
    logo(copy).graph += f",{pad}[out]"


@edit
def edit_trim5_crop(copy):
    if not copy.cut(5):
        return False
    crop(copy)


@edit
def edit_vertical(copy):
    """The middle at 9:16, at full height."""
    copy.filters.append("crop=2*floor(ih*9/32):ih")


@edit
def edit_square_blur(copy):
    """On a square, between bars that are a blurred, larger copy."""
    side, sigma = copy.height, copy.draw("sigma", 0.02, 0.07)
    light = copy.draw("light", -0.2, 0)
    inner = round(side * side / copy.width / 2) * 2
    copy.graph = (
        "[0:v]{chain},split[a][b];"
        f"[a]crop={side}:{side},gblur=sigma={sigma * side:.1f}:steps=2,"
        f"eq=brightness={light:.3f}[back];[b]scale={side}:{inner}[front];"
        "[back][front]overlay=0:(H-h)/2[out]"
    )


@edit
def edit_perspective(copy):
    most = copy.draw("most", 0.03, 0.1)
    shares = [copy.chance.uniform(0, most) for _ in range(8)]
    corners = [
        f"{'W-W' if corner % 2 else 'W'}*{shares[2 * corner]:.4f}:"
        f"{'H-H' if corner > 1 else 'H'}*{shares[2 * corner + 1]:.4f}"
        for corner in range(4)
    ]
    copy.filters.append("perspective=" + ":".join(corners))


@edit
def edit_shake(copy):
    """A hand-held picture: a part of it that wanders."""
    share = copy.draw("share", 0.04, 0.1)
    swings = [copy.chance.uniform(2, 7) for _ in range(2)]
    copy.filters.append(
        f"crop=2*floor(iw*{1 - share:.4f}/2):2*floor(ih*{1 - share:.4f}/2):"
        f"(iw-ow)/2*(1+sin(t*{swings[0]:.3f})):(ih-oh)/2*(1+sin(t*{swings[1]:.3f}))"
    )


@edit
def edit_minute(copy):
    """For the time of a query only: a minute of this film and others, half of them cropped."""
    rate, left, pieces = 25, 60.0, []
    film = copy.film
    while left > 0.5:
        number, length = len(pieces), min(left, film.duration - 0.1)
        if number:
            copy.inputs.append(film.path)
        pieces.append(
            f"[{number}:v]fps={rate},scale={copy.width}:{copy.height},setsar=1,"
            f"format=yuv420p,trim=end={length:.4f},setpts=PTS-STARTPTS[p{number}]"
        )
        left -= length
        film = copy.other()
    if copy.chance.random() < 0.5:
        crop(copy)
    copy.end = min(60.0, copy.film.duration - 0.1)
    labels = "".join(f"[p{number}]" for number in range(len(pieces)))
    copy.graph = (
        ";".join(pieces)
        + f";{labels}concat=n={len(pieces)}:v=1:a=0"
        + "".join("," + part for part in copy.filters)
        + "[out]"
    )


def make(copy, edit_name, work):
    """The copy's file, made unless it is there. @return its name, or None."""
    command = copy.command("")
    for at, word in enumerate(command):  # the digest must not depend on where the work folder is
        command[at] = word.replace(copy.scratch, "")
    digest = hashlib.sha256("\0".join(command).encode()).hexdigest()[:8]
    name = f"{copy.film.name}.{edit_name}.{digest}.{copy.ending}"
    path = os.path.join(work, name)
    if not os.path.exists(path):
        partial = f"{path}.part.{copy.ending}"
        done = subprocess.run(["nice"] + copy.command(partial), check=False)
        if done.returncode != 0:
            print(f"{name}: not made", file=sys.stderr)
            return None
        os.rename(partial, path)
    return name


def recode(film, seconds, work):
    """The film itself, at its own times, with a keyframe every so many seconds."""
    path = os.path.join(work, film.name + ".mp4")
    if os.path.exists(path):
        return
    gop = max(1, round(film.rate * seconds))
    command = [
        "nice",
        "ffmpeg",
        "-v",
        "error",
        "-nostdin",
        "-y",
        "-threads",
        "1",
        "-i",
        film.path,
        "-an",
        "-fps_mode",
        "vfr",
        "-c:v",
        "libx264",
        "-preset",
        "veryfast",
        "-crf",
        "23",
        "-x264-params",
        f"keyint={gop}:min-keyint={gop}:scenecut=0",
        "-threads",
        "1",
    ]
    subprocess.run(command + [path + ".part.mp4"], check=True)
    os.rename(path + ".part.mp4", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work")
    parser.add_argument("films", nargs="+")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", help="edits, separated by commas")
    parser.add_argument("--rounds", type=int, default=1, help="copies of every film and edit")
    parser.add_argument(
        "--keyframes",
        type=float,
        metavar="SECONDS",
        help="only code the films anew, with keyframes so far apart",
    )
    options = parser.parse_args()
    wanted = (
        options.only.split(",") if options.only else [name for name in EDITS if name != "minute"]
    )
    scratch = os.path.join(options.work, "overlays")
    os.makedirs(scratch, exist_ok=True)
    films = [Film(path, scratch) for path in options.films]
    if options.keyframes:
        for film in films:
            recode(film, options.keyframes, options.work)
        return
    table = os.path.join(options.work, "queries.tsv")
    with open(table + ".part", "w", encoding="utf-8") as out:
        print(*COLUMNS, sep="\t", file=out)
        for round_number in range(options.rounds):
            for name in wanted:
                for film in films:
                    chance = random.Random(f"{options.seed}/{round_number}/{film.name}/{name}")
                    copy = Copy(film, films, chance, scratch)
                    if EDITS[name](copy) is False:
                        continue
                    made = make(copy, name, options.work)
                    if made:
                        print(*copy.row(made, name), sep="\t", file=out, flush=True)
    os.replace(table + ".part", table)


if __name__ == "__main__":
    main()
