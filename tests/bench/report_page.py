#!/usr/bin/env python3
"""The page of `report` with many groups: how long it takes to make, how large it is, and how it
moves in headless Chromium.

`report_page.py BUILD PAIRS_PROGRAM [GROUPS]`. Frames are those of requestAnimationFrame while the
page scrolls by
half a window a frame: 16.7 ms is every frame of 60 a second.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from browser import Browser, find  # noqa: E402

SCROLL = """new Promise(done => {
  const frames = []; let last = null;
  const step = now => {
    if (last !== null) frames.push(now - last);
    last = now;
    window.scrollBy(0, innerHeight / 2);
    if (frames.length < 300) requestAnimationFrame(step);
    else { frames.sort((a, b) => a - b); done([frames[150], frames[285], frames[299]]); }
  };
  requestAnimationFrame(step);
})"""

# A change of the bar, to the frame after the one that shows it.
CHANGE = """new Promise(done => {
  const begin = performance.now(), field = document.getElementById('%s');
  field.value = '%s';
  field.dispatchEvent(new Event('input', {bubbles: true}));
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begin)));
})"""

KEY = """new Promise(done => {
  const begin = performance.now();
  document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '%s', bubbles: true}));
  document.body.offsetHeight;
  done(performance.now() - begin);
})"""


def timed(*words, **options):
    begin = time.monotonic()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, **options)
    return time.monotonic() - begin


def look(path):
    with Browser() as page:
        page.open(path)
        page.until("performance.getEntriesByName('first-contentful-paint').length > 0")
        at = page.run(
            "Object.fromEntries(performance.getEntriesByType('paint').map(entry => [entry.name, entry.startTime]))"
        )
        loaded = page.run("performance.timing.loadEventEnd - performance.timing.navigationStart")
        print(
            f"first contentful paint {at['first-contentful-paint']:8.0f} ms\nloaded                 {loaded:8.0f} ms"
        )
        middle, most, worst = page.run(SCROLL)
        print(
            f"frames while scrolling {middle:8.1f} ms median, {most:.1f} ms 95 of 100, {worst:.1f} ms longest of 300"
        )
        for field, value, words in [
            ("search", "77", "search"),
            ("search", "", "all again"),
            ("order", "path", "other order"),
            ("least", "0.97", "similarity"),
        ]:
            print(f"{words:22} {page.run(CHANGE % (field, value)):8.0f} ms")
        page.run(CHANGE % ("least", ""))
        for name, words in (("j", "next group"), ("1", "keep the first"), ("n", "next unmarked")):
            keys = sorted(page.run(KEY % name) for _ in range(51))
            print(
                f"key {name}, {words:15} {keys[25]:8.1f} ms median, {keys[50]:.1f} ms longest of 51"
            )
        heap = page.run("performance.memory.usedJSHeapSize")
        print(f"heap of the script     {heap / 1e6:8.1f} MB")


def main(build, pairs, groups="5000"):
    with tempfile.TemporaryDirectory(prefix="doppel-bench-") as folder:
        environment = dict(os.environ, XDG_CACHE_HOME=folder + "/cache", HOME=folder)
        os.mkdir(folder + "/pictures")
        subprocess.run([pairs, groups, folder + "/pictures"], check=True)
        run = lambda *words: timed(
            build + "/doppel", *words, cwd=folder, env=environment
        )  # noqa: E731
        scan = run("scan", "pictures", "--json")
        again = run("scan", "pictures", "--json")
        report = run("report", "pictures", "-o", "out.html")
        bare = run("report", "pictures", "-o", "bare.html", "--no-thumbnails")
        print(f"{groups} groups of 2 pictures of 256 x 192: scan {scan:.1f} s, again {again:.2f} s")
        for name, seconds in (("out", report), ("bare", bare)):
            size = os.path.getsize(f"{folder}/{name}.html")
            print(
                f"\nreport{' --no-thumbnails' if name == 'bare' else ''}: {seconds:.2f} s, {size / 1e6:.1f} MB"
            )
            if find():
                look(f"{folder}/{name}.html")


main(os.path.abspath(sys.argv[1]), *sys.argv[2:])
