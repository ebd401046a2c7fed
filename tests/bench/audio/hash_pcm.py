"""CPU of `doppel hash` of raw PCM as WAV, beside `fpcalc -length 0`: python3 hash_pcm.py BUILD
[MINUTES]. Made noise and tones at 44.1 kHz, two channels; medians of runs in turn."""

import array
import math
import os
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import wave

RATE, ROUNDS, MADE_SECONDS = 44100, 5, 20


def write_wav(path, minutes):
    chance, samples = random.Random(1), array.array("h")
    for i in range(RATE * MADE_SECONDS):
        tone = 110 * 1.06 ** (i * 4 // RATE * 7 % 60)
        value = 6000 * math.sin(2 * math.pi * tone * i / RATE) + chance.uniform(-1000, 1000)
        samples.extend((int(value), int(value / 2)))
    with wave.open(str(path), "wb") as out:
        out.setparams((2, 2, RATE, 0, "NONE", ""))
        for _ in range(minutes * 60 // MADE_SECONDS):
            out.writeframes(samples.tobytes())


def cpu_of(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    minutes = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    with tempfile.TemporaryDirectory() as folder:
        wav, cache = pathlib.Path(folder) / "a.wav", pathlib.Path(folder) / "cache"
        environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
        write_wav(wav, minutes)
        commands = {
            "doppel hash -j 1": [pathlib.Path(sys.argv[1]) / "doppel", "hash", "-j", "1", wav],
            "fpcalc -length 0": ["fpcalc", "-length", "0", wav],
        }
        taken = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                shutil.rmtree(cache, ignore_errors=True)
                taken[name].append(cpu_of(command, environment))
        for name, seconds in taken.items():
            print(f"{name}: {minutes * 60 / statistics.median(seconds):.0f} x real time")


if __name__ == "__main__":
    main()
