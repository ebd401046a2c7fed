"""What is to be known of a film before it is edited: its frames' times, and its scenes."""
import bisect
import hashlib
import json
import os
import subprocess

SIDE = 32  # of the small grey frames by which scenes are told
FRAMES_A_SECOND = 4
CUT_LEVELS = 20  # mean difference of two such frames in a row that is a cut
STILL_LEVELS = 2.5  # from the first frame, of all: nothing but one picture


class Film:
    def __init__(self, path, folder):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        facts = remembered(path, folder)
        self.width, self.height, self.rate = facts["width"], facts["height"], facts["rate"]
        self.static, self.scenes = facts["static"], facts["scenes"]
        self.first = facts["times"][0]
        self.times = [time - self.first for time in facts["times"]]
        self.duration = self.times[-1] + 1 / self.rate
        self.times.append(self.duration)

    def stretch(self, start, seconds):
        """Times of the frames nearest to where it should begin and end."""
        first = bisect.bisect_left(self.times, start)
        last = min(bisect.bisect_left(self.times, self.times[first] + seconds), len(self.times) - 1)
        return self.times[first], self.times[last]


def remembered(path, folder):
    """The facts of a film, from the folder if they are there."""
    stat = os.stat(path)
    key = hashlib.sha256(f"{os.path.abspath(path)} {stat.st_size} {stat.st_mtime_ns}".encode())
    kept = os.path.join(folder, key.hexdigest()[:16] + ".json")
    if not os.path.exists(kept):
        facts = look(path)
        with open(kept + ".part", "w", encoding="utf-8") as out:
            json.dump(facts, out)
        os.replace(kept + ".part", kept)
    with open(kept, encoding="utf-8") as file:
        return json.load(file)


def look(path):
    told = subprocess.run(
        [
            "ffprobe",
            "-v",
            "error",
            "-select_streams",
            "v:0",
            "-show_entries",
            "frame=pts_time:stream=width,height,avg_frame_rate",
            "-of",
            "json",
            path,
        ],
        check=True,
        capture_output=True,
    )
    told = json.loads(told.stdout)
    stream = told["streams"][0]
    times = sorted(float(frame["pts_time"]) for frame in told["frames"] if "pts_time" in frame)
    above, below = stream["avg_frame_rate"].split("/")
    static, scenes = scenes_of(path)
    return {
        "width": stream["width"],
        "height": stream["height"],
        "rate": float(above) / float(below) if float(below) and float(above) else 25.0,
        "times": times,
        "static": static,
        "scenes": scenes,
    }


def scenes_of(path):
    """Whether it is a still picture, and how many scenes there are."""
    raw = subprocess.run(
        [
            "ffmpeg",
            "-v",
            "error",
            "-nostdin",
            "-threads",
            "1",
            "-i",
            path,
            "-vf",
            f"fps={FRAMES_A_SECOND},scale={SIDE}:{SIDE}:flags=area,format=gray",
            "-f",
            "rawvideo",
            "-",
        ],
        check=True,
        capture_output=True,
    ).stdout
    size = SIDE * SIDE
    frames = [raw[at : at + size] for at in range(0, len(raw) - size + 1, size)]
    apart = [difference(frame, frames[0]) for frame in frames]
    cuts = sum(difference(a, b) > CUT_LEVELS for a, b in zip(frames, frames[1:]))
    return max(apart) < STILL_LEVELS, 1 + cuts


def difference(a, b):
    return sum(abs(x - y) for x, y in zip(a, b)) / len(a)
