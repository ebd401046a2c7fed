"""Frames of videos as pictures, looked for in a library of the videos: python3 stills.py BUILD
VIDEO... It prints how many are found as they are and cropped, by codes, by default and by
`--thorough`, and how many are found in another video. It decodes by OpenCV (python3-opencv)."""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import cv2

FRAMES = 2  # of each video
WAYS = {"by codes": ["--check", "none"], "default": [], "thorough": ["--thorough"]}


def frames_of(path):
    video, frames = cv2.VideoCapture(path), []
    while len(frames) < 2000:
        there, frame = video.read()
        if not there:
            return frames
        frames.append(frame)
    return frames


def crops_of(frame, chance):
    """The edits, by name: 7 % each way off at a corner or about the middle, 6 % off each side."""
    height, width = frame.shape[:2]
    x, y = int(width * 0.07), int(height * 0.07)
    left, top = chance.choice([(0, 0), (x, 0), (0, y), (x, y), (x // 2, y // 2)])
    inner = slice(int(height * 0.06), int(height * 0.94)), slice(int(width * 0.06),
                                                                 int(width * 0.94))  # fmt: skip
    return {
        "as it is": frame,
        "7 % cut off each way": frame[top : top + height - y, left : left + width - x],
        "6 % cut off each side": frame[inner],
    }


def write_stills(folder, videos):
    """The pictures of each edit, and the video that each is of."""
    chance, stills = random.Random(5), {}
    for video in videos:
        frames = frames_of(video)
        for number in range(FRAMES if frames else 0):
            fifth = len(frames) // 5
            frame = frames[chance.randrange(fifth, max(4 * fifth, fifth + 1))]
            for edit, picture in crops_of(frame, chance).items():
                path = folder / f"{edit[0]}-{len(stills.get(edit, {}))}-{number}.jpg"
                cv2.imwrite(str(path), picture, [cv2.IMWRITE_JPEG_QUALITY, 85])
                stills.setdefault(edit, {})[str(path)] = os.path.realpath(video)
    return stills


def main():
    doppel, videos = str(pathlib.Path(sys.argv[1]) / "doppel"), sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        library = str(folder / "library")
        stills = write_stills(folder, videos)
        subprocess.run([doppel, "add", "-q", "-L", library, *videos], check=True)
        for edit, pictures in stills.items():
            for way, words in WAYS.items():
                told = subprocess.run(
                    [doppel, "find", "-q", "--json", "-L", library, *words, *pictures],
                    capture_output=True, text=True,
                ).stdout  # fmt: skip
                rows = [row for row in map(json.loads, told.splitlines()) if "path" in row]
                right = {r["query"] for r in rows if r["path"] == pictures[r["query"]]}
                wrong = sum(r["path"] != pictures[r["query"]] for r in rows)
                print(f"{edit:22} {way:9} {len(right):3} of {len(pictures)}, elsewhere {wrong}")


if __name__ == "__main__":
    main()
