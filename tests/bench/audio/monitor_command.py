#!/usr/bin/env python3
"""monitor_command.py BUILD FILE...: half an hour as 'doppel monitor' tells it.

Every other FILE is in a library. The stream has 42 pieces of these, each followed by a piece of the
others: 34 of 22 s, 6 of 6 s, and twice two at once. It is heard by default, with a longer least
event, and with --overlaps. Pieces are decoded by ffmpeg."""

import array
import json
import os
import random
import subprocess
import sys
import tempfile

RATE = 22050
LONG, SHORT, BETWEEN = 22, 6, 21  # seconds
LONGS, SHORTS, PAIRS = 34, 6, 2


def samples_of(path):
    command = ["ffmpeg", "-v", "fatal", "-nostdin", "-i", path, "-f", "s16le", "-ac", "1"]
    done = subprocess.run(command + ["-ar", str(RATE), "-"], stdout=subprocess.PIPE, check=True)
    out = array.array("h")
    out.frombytes(done.stdout[: len(done.stdout) // 2 * 2])
    return out


class Stream:
    def __init__(self, known, unknown):
        self.known, self.unknown = known, unknown
        self.chance, self.samples, self.plays = random.Random(1), array.array("h"), []

    def piece(self, tracks, seconds):
        size = seconds * RATE
        path = self.chance.choice([path for path, has in tracks.items() if len(has) > size])
        at = self.chance.randrange(len(tracks[path]) - size)
        return path, tracks[path][at : at + size]

    def play(self, seconds, count=1):
        """So many pieces at once, then something unknown."""
        begin, pieces = len(self.samples) / RATE, {}
        while len(pieces) < count:
            pieces.update([self.piece(self.known, seconds)])
        self.plays += [(path, begin, begin + seconds) for path in pieces]
        mixed = (sum(together) // count for together in zip(*pieces.values()))
        self.samples.extend(mixed)
        self.samples.extend(self.piece(self.unknown, BETWEEN)[1])


def shared(event, play):
    """Seconds of a play in which an event of its track lasts."""
    path, begin, end = play
    if event["path"] != path:
        return 0
    return min(event["stream_end"], end) - max(event["stream_start"], begin)


def report(name, plays, events):
    told = [sum(shared(event, play) > 1 for event in events) for play in plays]
    lengths = sorted(event["stream_end"] - event["stream_start"] for event in events)
    spans = sorted((event["stream_start"], event["stream_end"]) for event in events)
    overlapping = sum(later[0] < earlier[1] - 0.01 for earlier, later in zip(spans, spans[1:]))
    right = sum(any(shared(event, play) > 0 for play in plays) for event in events)
    print(
        f"{name:16} {sum(count > 0 for count in told)} of {len(plays)} plays, told twice "
        f"{sum(count > 1 for count in told)}, nothing of theirs {len(events) - right}, "
        f"overlapping {overlapping}, shortest {lengths[0]:.1f} s",
        flush=True,
    )


def main():
    doppel = os.path.abspath(os.path.join(sys.argv[1], "doppel"))
    tracks = {os.path.realpath(path): samples_of(path) for path in sys.argv[2:]}
    known, unknown = dict(list(tracks.items())[::2]), dict(list(tracks.items())[1::2])
    stream = Stream(known, unknown)
    for length in [LONG] * LONGS + [SHORT] * SHORTS:
        stream.play(length)
    for _ in range(PAIRS):
        stream.play(LONG, 2)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        library = os.path.join(folder, "library")
        subprocess.run([doppel, "add", "-q", "-L", library, *known], check=True)
        print(f"{len(stream.samples) / RATE / 60:.1f} minutes, {len(known)} of {len(tracks)} known")
        for options in ([], ["--min-event", "10s"], ["--overlaps"]):
            command = [doppel, "monitor", "--json", "-L", library, "--pcm", f"s16le:{RATE}:1"]
            done = subprocess.run(
                command + options + ["-"],
                input=stream.samples.tobytes(),
                stdout=subprocess.PIPE,
                check=True,
            )
            rows = map(json.loads, done.stdout.splitlines())
            ends = [row for row in rows if row["event"] == "end"]
            report(" ".join(options) or "default", stream.plays, ends)


if __name__ == "__main__":
    main()
