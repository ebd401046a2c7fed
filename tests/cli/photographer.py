#!/usr/bin/env python3
"""The journey of a photographer: a few thousand pictures are scanned and looked at in Chromium,
marked by keyboard, what was marked goes to the trash, and all comes back byte for byte.

`photographer.py BUILD PHOTOS [COUNT MARKED]`: PHOTOS is the program that draws them. Without
Chromium all is skipped.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402
from browser import Browser, find  # noqa: E402

BUILD, PHOTOS = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 3000
MARKED = int(sys.argv[4]) if len(sys.argv) > 4 else 60
SKIPPED = 77

BLOCK = '<script type="application/json" id="data">'
CHOSEN = "Number(document.querySelector('.group.current').getAttribute('aria-label').slice(6))"
FOCUS = "Number(document.activeElement.dataset.index)"
STATES = """Array.from(document.querySelectorAll('.group.current .member'), member =>
    document.querySelector('.group.current').classList.contains('left') ? 'left'
    : member.classList.contains('keep') ? 'keep'
    : member.classList.contains('remove') ? 'remove' : '').join()"""


def doppel(*words, code=0):
    home = dict(XDG_CACHE_HOME=str(FOLDER / "cache"), HOME=str(FOLDER))
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "DOPPEL_LIBRARY"):
        os.environ.pop(name, None)
    done = subprocess.run(
        [BUILD / "doppel", *words],
        capture_output=True,
        cwd=FOLDER,
        env=dict(os.environ, **home),
        text=True,
    )
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout


def rows(*words):
    return [json.loads(line) for line in doppel(*words, "--json").splitlines()]


def photos():
    """What is there: bytes, and when they were changed."""
    return {
        str(path.relative_to(FOLDER)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
        )
        for path in (FOLDER / "photos").rglob("*.jpg")
    }


def groups_of_page(path):
    text = path.read_text()
    begin = text.index(BLOCK) + len(BLOCK)
    data = json.loads(text[begin : text.index("</script>", begin)])
    return {
        group["group"]: [member["path"] for member in group["members"]] for group in data["groups"]
    }


def test_the_scan_finds_the_copies():
    found = {
        frozenset(member["path"] for member in row["members"]) for row in rows("scan", "photos")
    }
    assert found == PLANTED, (len(found), len(PLANTED), list(found ^ PLANTED)[:3])
    assert len(BEFORE) >= COUNT


def mark_group(number, members, turn):
    """Marks the chosen group by keys; what is then to be removed, and to be left."""
    page.until(f"document.querySelectorAll('.group.current .member').length === {len(members)}")
    if turn == 0:
        page.keys("1")
        wanted, removed, left = ["keep", "remove", "remove"], members[1:], []
    elif turn == 1:
        page.keys("ArrowRight", "ArrowRight")
        page.until(f"{FOCUS} === 2")
        page.keys("r")
        wanted, removed, left = ["", "", "remove"], members[2:], []
    elif turn == 2:
        page.keys("1", "2")
        wanted, removed, left = ["keep", "keep", "remove"], members[2:], []
    else:
        page.keys("l")
        wanted, removed, left = ["left"] * 3, [], members
    page.until(f"{STATES} === {json.dumps(','.join(wanted))}")
    return removed, left


def test_marks_by_keyboard():
    doppel("report", "photos", "-o", "page.html")
    groups = groups_of_page(FOLDER / "page.html")
    assert {frozenset(members) for members in groups.values()} == PLANTED
    page.open(FOLDER / "page.html")
    page.until("document.querySelector('.member') !== null")
    page.keys("g")
    page.until("document.querySelector('.group.current') !== null")
    seen = set()
    for turn in range(min(MARKED, len(groups))):
        number = page.run(CHOSEN)
        assert number not in seen, number
        seen.add(number)
        removed, left = mark_group(number, groups[number], turn % 4)
        REMOVED.extend(removed)
        LEFT.extend(left)
        if len(seen) < len(groups):
            page.keys("j")
            page.until(f"{CHOSEN} !== {number}")
    total = page.run("document.getElementById('sum').textContent")
    assert total.startswith(f"{len(seen)} groups marked of {len(groups)}: {len(REMOVED)} files, ")
    assert not page.complaints, page.complaints


def test_the_marks_are_what_was_pressed():
    text = page.downloaded("marks.jsonl", lambda: page.keys("e"))
    (FOLDER / "marks.jsonl").write_text(text)
    marks = [json.loads(line) for line in text.splitlines()]
    told = {
        word: {line["a"] for line in marks if line["mark"] == word} for word in ("remove", "leave")
    }
    removed = told["remove"].union(
        *({one["path"] for one in line["over"]} for line in marks if line["mark"] == "keep")
    )
    assert removed == set(REMOVED) and told["leave"] == set(LEFT), removed ^ set(REMOVED)


def test_what_was_marked_goes_and_comes_back():
    act = ["scan", "photos", "--marks", "marks.jsonl", "--action", "trash", "--reason", "marked"]
    planned = {row["path"] for row in rows(*act) if not row.get("reason")}
    assert planned == set(REMOVED) and photos() == BEFORE
    doppel(*act, "--yes")
    after = photos()
    assert BEFORE.keys() - after.keys() == set(REMOVED)
    assert all(BEFORE[path] == after[path] for path in after)
    remaining = {tuple(sorted(members & after.keys())) for members in PLANTED}
    again = {tuple(sorted(m["path"] for m in row["members"])) for row in rows("scan", "photos")}
    assert again == {members for members in remaining if len(members) > 1}
    doppel("undo")
    assert photos() == BEFORE


def main():
    global FOLDER, PLANTED, BEFORE, REMOVED, LEFT, page
    if not find():
        print("1..0 # SKIP there is no chromium")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="doppel-photographer.") as folder, Browser() as page:
        FOLDER = pathlib.Path(folder)
        (FOLDER / "photos").mkdir()
        planted = tap.run(PHOTOS, FOLDER / "photos", COUNT).splitlines()
        PLANTED = {frozenset("photos/" + path for path in line.split("\t")) for line in planted}
        BEFORE, REMOVED, LEFT = photos(), [], []
        return tap.main(sys.modules[__name__])


if __name__ == "__main__":
    sys.exit(main())
