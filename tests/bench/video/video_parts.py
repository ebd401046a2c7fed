"""Videos by their keypoints: python3 video_parts.py BUILD VIDEO... Every other video is added by
scheme local. Stills of these are looked for (cropped, and pasted on frames of the others), and
clips that show them in a corner of the others; and stills and clips of the others. It prints
recall, matches elsewhere and of how many of these SIFT says that they show the same, whether the
time told is right, bytes an hour and milliseconds. It decodes by OpenCV (python3-opencv)."""

import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

import cv2
from same_place import is_same_place

STILLS = 4  # of each video
CLIP_SECONDS = 8
LATE = 2.5  # seconds that a time may be off


class Video:
    """The frames of a video at some times; of a short one few."""

    def __init__(self, path):
        self.path = os.path.realpath(path)
        video = cv2.VideoCapture(path)
        self.rate = video.get(cv2.CAP_PROP_FPS) or 25
        self.frames = []
        while len(self.frames) < 2000:
            there, frame = video.read()
            if not there:
                break
            self.frames.append(frame)
        self.seconds = len(self.frames) / self.rate


class Still:
    """A picture as a video of one frame."""

    def __init__(self, path):
        self.rate, self.frames = 1, [cv2.imread(path)]


def crop(frame, left, top, right, bottom):
    height, width = frame.shape[:2]
    return frame[int(height * top) : int(height * bottom), int(width * left) : int(width * right)]


def paste(frame, ground, share, chance):
    """A frame, `share` as wide as another one, somewhere on it."""
    ground = cv2.resize(ground, (960, 540))
    width = int(960 * share)
    height = min(int(frame.shape[0] * width / frame.shape[1]), 540)
    small = cv2.resize(frame, (width, height), interpolation=cv2.INTER_AREA)
    x, y = chance.randrange(961 - width), chance.randrange(541 - height)
    ground[y : y + height, x : x + width] = small
    return ground


def edits_of(frame, ground, chance):
    x, y = chance.choice([0, 0.07]), chance.choice([0, 0.07])
    half = chance.choice([0, 0.5]), chance.choice([0, 0.5])
    return {
        "as it is": frame,
        "7 % cut off each way": crop(frame, x, y, x + 0.93, y + 0.93),
        "a quarter, at a corner": crop(frame, half[0], half[1], half[0] + 0.5, half[1] + 0.5),
        "pasted, half as wide": paste(frame, ground, 0.5, chance),
        "pasted, a third as wide": paste(frame, ground, 0.33, chance),
    }


def write_stills(folder, videos, others, chance):
    """By edit: paths, and the video and the time of each."""
    stills = {}
    for number, video in enumerate(videos):
        for still in range(STILLS):
            at = chance.randrange(len(video.frames))
            ground = chance.choice(chance.choice(others).frames)
            for edit, picture in edits_of(video.frames[at], ground, chance).items():
                path = str(folder / f"{number}-{still}-{edit.replace(' ', '_')}.jpg")
                cv2.imwrite(path, picture, [cv2.IMWRITE_JPEG_QUALITY, 85])
                stills.setdefault(edit, {})[path] = video.path, at / video.rate
    return stills


def write_clip(path, video, ground, share, chance):
    """Some seconds of a video in a corner of another one. Where they begin"""
    seconds = min(CLIP_SECONDS, video.seconds)
    begin = chance.uniform(0, video.seconds - seconds)
    begin_ground = chance.uniform(0, max(ground.seconds - seconds, 0))
    place = chance.random()
    out = cv2.VideoWriter(path, cv2.VideoWriter_fourcc(*"mp4v"), 25, (960, 540))
    for frame in range(int(seconds * 25)):
        at = int((begin + frame / 25) * video.rate)
        behind = int((begin_ground + frame / 25) * ground.rate) % len(ground.frames)
        if at < len(video.frames):
            out.write(
                paste(video.frames[at], ground.frames[behind], share, random.Random(place))
            )  # fmt: skip
    out.release()
    return begin


def write_clips(folder, videos, others, chance):
    clips = {}
    for share, name in ((0.5, "half"), (0.33, "a third")):
        for number, video in enumerate(videos):
            path = str(folder / f"{number}-{share}.mp4")
            begin = write_clip(path, video, chance.choice(others), share, chance)
            clips.setdefault(f"clips, {name} as wide", {})[path] = video.path, begin
    return clips


def is_timed(row, at, clip):
    """Whether a segment tells the time right: of a clip, what it begins with."""
    offsets = [
        (s["b_start"] - LATE <= at <= s["b_end"] + LATE)
        if not clip
        else abs(s["b_start"] - s["a_start"] - at) <= LATE
        for s in row.get("segments", [])
    ]
    return any(offsets)


class Bench:
    def __init__(self, doppel, library, kept):
        self.doppel, self.library = doppel, library
        self.kept = {video.path: video for video in kept}

    def find(self, paths):
        begun = time.monotonic()
        told = subprocess.run(
            [self.doppel, "find", "-q", "--json", "--parts", "-L", self.library, *paths],
            capture_output=True, text=True,
        ).stdout  # fmt: skip
        self.seconds = time.monotonic() - begun
        return [row for row in map(json.loads, told.splitlines()) if "path" in row]

    def report(self, name, queries, clip):
        rows = self.find(queries)
        right = {r["query"]: r for r in rows if r["path"] == queries[r["query"]][0]}
        wrong = [r for r in rows if r["path"] != queries[r["query"]][0]]
        timed = sum(is_timed(right[q], queries[q][1], clip) for q in right)
        print(
            f"{name:26} {len(right):3} of {len(queries)}, at the right time {timed}, "
            f"elsewhere {self.count_same(wrong)}, {1000 * self.seconds / len(queries):.0f} ms each",
            flush=True,
        )

    def report_strangers(self, name, queries):
        told = self.count_same(self.find(queries))
        print(f"{name:26} {len(queries)} of the others: matches {told}", flush=True)

    def count_same(self, rows):
        """Of how many of some matches SIFT says the same, and of how many of the same rectangles
        in another video of the library."""
        same = chance = 0
        paths = sorted(self.kept)
        for row in rows:
            query = (Still if row["query"].endswith(".jpg") else Video)(row["query"])
            other = paths[(paths.index(row["path"]) + len(paths) // 2) % len(paths)]
            same += is_same_place(row, query, self.kept[row["path"]])
            chance += is_same_place(row, query, self.kept[other])
        return f"{len(rows)} (by SIFT {same}, of as many wrong ones {chance})"


def add(doppel, library, videos):
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [doppel, "add", "-q", "-j", "1", "--scheme", "local", "-L", library]
        + [video.path for video in videos],
        check=True,
    )
    hours = sum(v.seconds for v in videos) / 3600
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime
    told = subprocess.run(
        [doppel, "stats", "--json", "-L", library], capture_output=True, text=True, check=True
    ).stdout
    stats = json.loads(told.splitlines()[0])
    catalogue, index = (stats[part] / hours / 1e6 for part in ("catalogue_bytes", "parts_bytes"))
    print(
        f"{len(videos)} videos, {60 * hours:.1f} minutes: MB an hour: catalogue {catalogue:.1f}, "
        f"index {index:.1f}; {3600 * hours / spent:.0f} x real time of one processor",
        flush=True,
    )


def main():
    doppel = str(pathlib.Path(sys.argv[1]) / "doppel")
    videos = [video for video in map(Video, sys.argv[2:]) if video.seconds >= 2]
    kept, others, chance = videos[::2], videos[1::2], random.Random(5)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        for part in ("stills", "clips", "other stills", "other clips"):
            (folder / part).mkdir()
        bench = Bench(doppel, str(folder / "library"), kept)
        add(doppel, bench.library, kept)
        for edit, stills in write_stills(folder / "stills", kept, others, chance).items():
            bench.report(edit, stills, False)
        for edit, clips in write_clips(folder / "clips", kept, others, chance).items():
            bench.report(edit, clips, True)
        strangers = write_stills(folder / "other stills", others, others, chance)
        bench.report_strangers("stills", {p: v for s in strangers.values() for p, v in s.items()})
        strangers = write_clips(folder / "other clips", others, others, chance)
        bench.report_strangers("clips", {p: v for s in strangers.values() for p, v in s.items()})


if __name__ == "__main__":
    main()
