#!/usr/bin/env python3
"""`doppel watch`: files that are written slowly, renamed in, and many at once; folders that come,
move and go; a queue that overflows; a second run.

`watch.py BUILD`
"""

import contextlib
import json
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="doppel-watch-")).resolve()
WORDS = [f"word{number}" for number in range(300)]
ENVIRONMENT = dict(
    os.environ, XDG_CACHE_HOME=str(FOLDER / "cache"), HOME=str(FOLDER), XDG_DATA_HOME=str(FOLDER)
)
PATIENCE = 120  # seconds, under sanitizers on a machine that is busy


def text(seed):
    """Thirty words, of which no two texts share many."""
    return " ".join(f"{seed}{WORDS[number]}" for number in range(30)) + "\n"


class Watch:
    """A run of it, whose decisions are read line by line."""

    def __init__(self, *words):
        self.errors = open(FOLDER / "errors", "w+")
        self.process = subprocess.Popen(
            [BUILD / "doppel", "watch", "-L", "library", "--settle", "300ms", *words],
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=ENVIRONMENT,
        )
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def next(self):
        return self.lines.get(timeout=PATIENCE)

    def told(self, name, decision="new"):
        """The next decision is this, of this file."""
        said = self.next()
        assert (said["path"], said["decision"]) == (name, decision), said
        return said

    def quiet(self, seconds=1.5):
        with contextlib.suppress(queue.Empty):
            raise AssertionError(self.lines.get(timeout=seconds))

    def until_ready(self):
        """It has looked at what is there, and watches: a file that comes is decided about."""
        pathlib.Path("in/ready.txt").write_text(text("ready"))
        while self.next()["path"] != "in/ready.txt":
            pass

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        code = self.process.wait(timeout=PATIENCE)
        self.errors.seek(0)
        return code, self.errors.read()


@contextlib.contextmanager
def watching(*words):
    """In a fresh folder with `in`."""
    here = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
    os.chdir(here)
    os.mkdir("in")
    watch = Watch(*(words or ("in",)))
    watch.until_ready()
    try:
        yield watch
    finally:
        if watch.process.poll() is None:
            watch.process.kill()
            watch.process.wait()


def test_files_come_and_are_decided_about():
    with watching() as watch:
        pathlib.Path("in/a.txt").write_text(text("a"))
        watch.told("in/a.txt")
        shutil.copy("in/a.txt", "in/b.txt")
        said = watch.told("in/b.txt", "duplicate")
        assert said["reason"] == "identical" and said["of_path"].endswith("in/a.txt"), said
        pathlib.Path("in/a.txt").write_text(text("other"))
        assert watch.told("in/a.txt", "revision")["reason"] == "same-path"
        pathlib.Path("elsewhere").write_text(text("moved"))
        os.rename("elsewhere", "in/c.txt")
        watch.told("in/c.txt")
        os.rename("in/c.txt", "in/d.txt")
        assert watch.told("in/d.txt", "duplicate")["reason"] == "moved"
        os.remove("in/d.txt")
        pathlib.Path("in/.hidden.txt").write_text(text("hidden"))
        pathlib.Path("in/noise.bin").write_bytes(bytes(range(256)) * 8)
        watch.quiet()
        code, errors = watch.end()
        assert code == 130 and "1 file that is no" in errors, (code, errors)
    listed = subprocess.run(
        [BUILD / "doppel", "list", "-L", "library", "--json"], capture_output=True, text=True
    )
    names = {pathlib.Path(json.loads(line)["path"]).name for line in listed.stdout.splitlines()}
    assert names == {"ready.txt", "a.txt", "b.txt", "d.txt"}, names


def test_a_file_is_whole_before_it_is_read():
    with watching() as watch:
        with open("in/slow.txt", "w") as file:
            for number in range(8):
                file.write(text(f"slow{number}"))
                file.flush()
                watch.quiet(0.5)
        said = watch.told("in/slow.txt")
        shown = subprocess.run(
            [BUILD / "doppel", "show", "-L", "library", "--json", str(said["item"])],
            capture_output=True,
            text=True,
        )
        assert json.loads(shown.stdout)["words"] == 8 * 30, shown.stdout
        watch.quiet()
        assert watch.end(signal.SIGTERM)[0] == 128 + signal.SIGTERM


def test_folders_come_move_and_go():
    with watching("--exclude", "in/skipped/", "--exclude", "skipped/", "in") as watch:
        os.makedirs("in/x/y")
        pathlib.Path("in/x/y/deep.txt").write_text(text("deep"))
        watch.told("in/x/y/deep.txt")
        os.rename("in/x", "in/z")
        assert watch.told("in/z/y/deep.txt", "duplicate")["reason"] == "moved"
        pathlib.Path("in/z/y/later.txt").write_text(text("later"))
        watch.told("in/z/y/later.txt")
        os.makedirs("outside/w")
        pathlib.Path("outside/w/brought.txt").write_text(text("brought"))
        os.rename("outside", "in/brought")
        watch.told("in/brought/w/brought.txt")
        shutil.rmtree("in/z")
        os.makedirs("in/z")
        pathlib.Path("in/z/again.txt").write_text(text("again"))
        watch.told("in/z/again.txt")
        os.mkdir("in/skipped")
        pathlib.Path("in/skipped/a.txt").write_text(text("skipped"))
        watch.quiet()
        os.rename("in", "away")
        time.sleep(1)
        pathlib.Path("away/z/unseen.txt").write_text(text("unseen"))
        watch.quiet()
        os.rename("away", "in")
        watch.told("in/z/unseen.txt")
        code, errors = watch.end()
        assert code == 130 and "in is gone" in errors, (code, errors)


def test_a_thousand_files_at_once():
    with watching() as watch:
        os.mkdir("made")
        for number in range(1000):
            pathlib.Path(f"made/{number}.txt").write_text(text(f"n{number}x"))
        os.rename("made", "in/made")
        for number in range(1000):
            pathlib.Path(f"in/{number}.txt").write_text(text(f"m{number}x"))
        said = [watch.next() for _ in range(2000)]
        assert {one["decision"] for one in said} == {"new"}
        assert len({one["path"] for one in said}) == 2000
        watch.quiet()


def test_nothing_is_lost_when_the_queue_overflows():
    with watching() as watch:
        os.mkdir("in/sub")
        most = int(pathlib.Path("/proc/sys/fs/inotify/max_queued_events").read_text())
        watch.process.send_signal(signal.SIGSTOP)
        names = ["in/p.txt", "in/q.txt"]
        for number in range(most + 100):  # equal ones in a row are one event
            with open(names[number % 2], "a"):
                pass
        os.mkdir("in/lost")
        pathlib.Path("in/lost/lost.txt").write_text(text("lost"))
        pathlib.Path("in/sub/lost.txt").write_text(text("also lost"))
        watch.process.send_signal(signal.SIGCONT)
        lost = {watch.next()["path"], watch.next()["path"]}
        assert lost == {"in/lost/lost.txt", "in/sub/lost.txt"}, lost
        pathlib.Path("in/lost/after.txt").write_text(text("after"))
        watch.told("in/lost/after.txt")
        assert "all folders are looked at again" in watch.end()[1]


def test_it_goes_on_where_it_was():
    with watching() as watch:
        for name in "abc":
            pathlib.Path(f"in/{name}.txt").write_text(text(name))
            watch.told(f"in/{name}.txt")
        watch.end()
        pathlib.Path("in/b.txt").write_text(text("changed"))
        pathlib.Path("in/d.txt").write_text(text("d"))
        os.rename("in/c.txt", "in/e.txt")
        again = Watch("in")
        told = {said["path"]: said for said in (again.next(), again.next(), again.next())}
        assert set(told) == {"in/b.txt", "in/d.txt", "in/e.txt"}, told
        assert told["in/e.txt"]["reason"] == "moved"
        again.quiet()
        again.end()


def test_its_own_output_and_library_may_lie_within():
    here = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
    os.chdir(here)
    with open("decisions.txt", "w") as out:
        process = subprocess.Popen(
            [BUILD / "doppel", "watch", "-L", "library", "--settle", "200ms", "."],
            stdout=out,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
        )
        pathlib.Path("a.txt").write_text(text("a"))
        end = time.monotonic() + PATIENCE
        while not pathlib.Path("decisions.txt").read_text() and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    said = [json.loads(line) for line in pathlib.Path("decisions.txt").read_text().splitlines()]
    assert [one["path"] for one in said] == ["./a.txt"], said
    assert b"passed over" not in errors, errors


def test_what_is_no_folder_is_refused():
    os.chdir(FOLDER)
    pathlib.Path("file").write_text("text")
    for path, why in (("file", "not a folder"), ("nothing", "No such file or directory")):
        done = subprocess.run(
            [BUILD / "doppel", "watch", "-L", "library", path],
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
        )
        assert done.returncode == 2 and f"{path}: {why}" in done.stderr, done


if __name__ == "__main__":
    try:
        FAILED = tap.main(sys.modules[__name__])
    finally:
        os.chdir("/")
        shutil.rmtree(FOLDER, ignore_errors=True)
    sys.exit(FAILED)
