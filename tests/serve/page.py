#!/usr/bin/env python3
"""The page of `doppel serve` in headless Chromium: files are dropped, pasted and chosen, groups are
reviewed by keyboard, a key is typed once; hostile names.

`page.py BUILD [FOLDER]`: with a folder, screenshots are left in it, to be looked at. Without
Chromium all is skipped.
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "house"), str(TESTS / "cli")]
import tap  # noqa: E402
from browser import Browser, find  # noqa: E402
from service import Service  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
SHOTS = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
SKIPPED = 77
WORDS = "the quick brown fox jumps over the lazy dog and then sleeps in the warm sun until noon "
HOSTILE = "<img src=x onerror=alert(1)>\u202egpj.jpg"

STATUS = "document.getElementById('status').textContent"
REVIEWED = "document.getElementById('reviewed').textContent"
VERDICTS = "Array.from(document.querySelectorAll('#found .verdict'), node => node.textContent)"
WHERE = "document.getElementById('view-where').textContent"
PICTURES = "document.querySelectorAll('#found .look img[src^=data]').length"
ITEMS = "document.getElementById('items').children.length"
GROUPS = "document.querySelectorAll('#list .group').length"
FOCUS = "document.activeElement.dataset.index"
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


def shot(name):
    if SHOTS:
        page.shot(SHOTS / f"{name}.png")


def doppel(*words):
    home = dict(os.environ, HOME=str(FOLDER), XDG_CACHE_HOME=str(FOLDER / "cache"))
    done = subprocess.run([BUILD / "doppel", *words], capture_output=True, cwd=FOLDER, env=home)
    assert done.returncode in (0, 3), done.stderr  # 3: one copy is broken


def make_library():
    """Media with copies, and one whose name is meant to be markup."""
    (FOLDER / "words.txt").write_text(WORDS * 20)
    demo = [BUILD / "doppel-demo", "--all", FOLDER / "demo", FOLDER / "words.txt"]
    subprocess.run(demo, check=True, stdout=subprocess.DEVNULL)
    shutil.copy(FOLDER / "demo/pictures/originals/sea.jpg", FOLDER / "demo" / HOSTILE)
    (FOLDER / "demo/articles.jsonl").unlink()  # it holds the articles, and would come first
    doppel("add", "-L", "library", "demo")


def wait_for(holds, value):
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline, value()
        time.sleep(0.05)


def until_marks(number):
    """What the library says, once it has so many marks."""
    wait_for(lambda: len(marks()) == number, marks)
    return marks()


def marks():
    said = service.get("/v1/marks")[2]["marks"]
    return [(mark["mark"], mark.get("a"), mark.get("b")) for mark in said if "b_digest" in mark]


def open_view(name):
    page.go("about:blank")
    page.go(f"{service.address}/#{name}")


def drop(*names, onto="#drop"):
    """Files of the folder, as the browser has them from a desktop."""
    box = page.point(onto)
    data = {"items": [], "files": [str(FOLDER / name) for name in names], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        page.call("Input.dispatchDragEvent", type=kind, x=box[0], y=box[1], data=data)


def paste(script):
    page.run(f"""(() => {{
        const data = new DataTransfer();
        {script};
        document.body.dispatchEvent(
            new ClipboardEvent('paste', {{clipboardData: data, bubbles: true}}));
    }})()""")


def found(times, verdict):
    """Waits until so many were asked about; the last one's verdict is this."""
    page.until(f"{VERDICTS}.filter(words => words !== 'looking …').length === {times}")
    assert page.run(VERDICTS)[0] == verdict, page.run(VERDICTS)


def test_what_is_dropped_is_found_and_seen():
    open_view("find")
    shot("find-empty")
    drop("demo/pictures/copies/marble.png")
    found(1, "2 matches in the library")
    assert page.run(PICTURES) == 3
    names = "Array.from(document.querySelectorAll('#found .name bdi'), node => node.textContent)"
    assert page.run(names) == ["marble.png", "marble.png", "marble.jpg"], page.run(names)
    assert page.run(STATUS) == "marble.png: 2 matches in the library"
    shot("find-picture")
    drop("demo/pictures/copies/sea-cropped.jpg", "demo/pictures/originals/city.jpg")
    found(3, "1 match in the library")
    page.click("#found .look")
    assert page.run("document.getElementById('viewer').open")
    page.keys("2", "x", "Escape")
    assert not page.run("document.getElementById('viewer').open")
    drop("demo/pictures/originals/city.jpg", onto="#words")
    found(4, "1 match in the library")


def test_what_is_found_is_enlarged_by_keyboard():
    open_view("find")
    drop("demo/pictures/copies/marble.png")
    found(1, "2 matches in the library")
    page.run("document.querySelector('#found .member:nth-child(2)').focus()")
    page.keys(" ")
    page.until("document.getElementById('viewer').open")
    assert page.run(WHERE) == "2 of 3", page.run(WHERE)
    page.keys("Escape")
    open_view("library")
    page.until("document.querySelectorAll('#items .look img').length >= 3")
    page.run("document.querySelector('#items .member:has(.look img)').focus()")
    page.keys(" ")
    page.until("document.getElementById('viewer').open")


def test_every_kind_is_seen_beside_what_was_found():
    open_view("find")
    drop("demo/diver.avi")
    found(1, "2 matches in the library")
    frames = page.run("document.querySelectorAll('#found .strip img').length")
    assert frames >= 8, frames
    drop("demo/music/tune-1-part.wav")
    found(2, "2 matches in the library")
    assert page.run("document.querySelectorAll('#found .audio .wave').length") >= 3
    drop("demo/texts/apache-cut.txt")
    found(3, "3 matches in the library")
    assert page.run("document.querySelectorAll('#found .text ins').length") >= 2
    shot("find-kinds")


def test_files_are_chosen_and_pasted():
    open_view("find")
    document = page.call("DOM.getDocument")["root"]["nodeId"]
    node = page.call("DOM.querySelector", nodeId=document, selector="#files")["nodeId"]
    chosen = [str(FOLDER / "demo/pictures/originals/tree.jpg")]
    page.call("DOM.setFileInputFiles", nodeId=node, files=chosen)
    found(1, "2 matches in the library")
    paste("data.items.add(new File([new Uint8Array([255, 216, 255, 224, 1, 2])], 'broken.jpg'))")
    page.until("document.querySelector('#found [role=alert]') !== null")
    page.until(f"{STATUS}.startsWith('broken.jpg: ') && !{STATUS}.includes('Looking')")
    page.complaints.clear()  # what the service refuses is an error to the browser
    paste(f"data.setData('text/plain', {json.dumps(WORDS * 20)})")
    page.until(f"{VERDICTS}[0] === '3 matches in the library'")
    page.run("document.getElementById('words').value = 'nobody has ever written this here before'")
    page.click("#ask button:not([type])")
    page.until(f"{VERDICTS}[0] === 'nothing in the library is like it'")


def test_groups_are_reviewed_by_keyboard():
    open_view("review")
    groups = page.until(GROUPS)
    page.until("document.querySelectorAll('#list .look img').length >= 3")
    shot("review")
    assert page.run(REVIEWED) == f"0 of {groups} groups reviewed"
    page.keys("j", "k", "ArrowRight", "ArrowRight")
    first = page.run("document.querySelector('.current .member:nth-child(3) bdi').textContent")
    assert first == "sea-cropped.jpg", first
    page.keys("s")
    page.until("document.querySelector('.current').number !== 0")
    (mark,) = until_marks(1)
    assert mark[0] == "same" and "sea-cropped.jpg" in "".join(mark), mark
    assert page.run(REVIEWED) == f"1 of {groups} groups reviewed"
    page.keys("d")
    assert {mark[0] for mark in until_marks(2)} == {"same", "distinct"}
    page.keys("z", "z")
    assert until_marks(0) == []
    assert page.run(REVIEWED) == f"0 of {groups} groups reviewed"
    assert page.run("document.querySelector('.current').number === 0")


def test_more_groups_are_asked_for_once():
    open_view("find")
    page.run("""{
        const real = window.fetch;
        window.fetch = (path, ...rest) => real(path.replace('limit=300', 'limit=3'), ...rest);
    }""")
    page.run("location.hash = 'review'")
    page.until(f"{GROUPS} === 3 && !document.getElementById('more-groups').hidden")
    assert page.run(REVIEWED) == "0 of the first 3 groups reviewed", page.run(REVIEWED)
    page.run("for (let i = 0; i < 2; i++) document.getElementById('more-groups').click()")
    page.until(f"{GROUPS} === 6")
    page.run("new Promise(done => setTimeout(done, 300))")
    assert page.run(GROUPS) == 6


def test_the_search_of_groups_is_left_by_escape():
    open_view("review")
    page.until(GROUPS)
    page.keys("/")
    assert page.run("document.activeElement.id") == "search"
    page.keys("Escape")
    assert page.run(FOCUS) == "0"
    open_view("find")
    page.run("document.querySelector('#views a').focus()")
    page.keys("Escape")
    assert page.complaints == [], page.complaints


def test_the_keyboard_stays_when_pictures_come():
    open_view("find")
    page.run("""{
        const real = window.fetch, come = new Promise(done => { window.come = done; });
        window.fetch = async (path, ...rest) => {
            if (path.includes('/preview')) await come;
            return real(path, ...rest);
        };
    }""")
    page.run("location.hash = 'review'")
    page.until(GROUPS)
    page.keys("j", "k", "ArrowRight")
    assert page.run(FOCUS) == "1"
    page.run("window.come()")
    page.until("document.querySelector('.current .look img') !== null")
    assert page.run(FOCUS) == "1"


def test_the_copy_to_keep_is_chosen():
    open_view("review")
    page.until("document.querySelectorAll('#list .member').length >= 3")
    page.keys("j", "k", "3")
    page.until("Boolean(document.querySelector('.member.keep'))")
    kept = lambda: [  # noqa: E731
        pathlib.Path(group["keep"]).name
        for group in service.get("/v1/groups")[2]["groups"]
        if group.get("keep_reason") == "chosen"
    ]
    wait_for(lambda: kept() == ["sea-cropped.jpg"], kept)
    page.keys("1")
    wait_for(lambda: kept() == ["sea.jpg"], kept)
    keeps = "Array.from(document.querySelectorAll('.member.keep bdi'), node => node.textContent)"
    assert page.run(keeps)[0] == "sea.jpg", page.run(keeps)
    assert page.run("document.querySelectorAll('.member.keep').length") == 1
    page.keys("z")
    wait_for(lambda: kept() == ["sea-cropped.jpg"], kept)
    open_view("review")
    groups = page.until(GROUPS)
    page.until(f"{REVIEWED}.startsWith('1 of')")
    page.set("marked", "")
    page.until(f"{GROUPS} === {groups + 1}")
    page.set("search", "sea-cropped")
    page.until(f"{GROUPS} === 1 && Boolean(document.querySelector('.member.keep'))")
    page.run("document.querySelector('.member.keep').focus()")
    page.keys("u")
    wait_for(lambda: kept() == [], kept)


def test_the_library_is_searched():
    listed = {"code": "f" * 16, "scheme": "phash64", "id": "<b>listed</b>", "lists": ["<i>bad</i>"]}
    service.post("/v1/ingest", listed)
    open_view("library")
    everything = page.until(ITEMS)
    page.until("document.querySelectorAll('#items .look img').length >= 3")
    shot("library")
    page.set("items-search", "TUNE-1")
    page.until(f"{ITEMS} === 2")
    page.set("items-search", "part tune-1")
    page.until(f"{ITEMS} === 1")
    page.set("items-search", "'")
    page.until(f"{ITEMS} === 0 && !document.getElementById('no-items').hidden")
    page.set("items-search", "")
    page.set("items-kind", "video")
    page.until(f"{ITEMS} === 2")
    page.run("location.hash = 'lists'")
    page.click("#lists-table a")
    page.set("items-kind", "")
    page.until(f"{ITEMS} === 1")
    assert page.run("document.querySelector('#items .name').textContent") == "<b>listed</b>"
    assert page.run("document.querySelector('#items .tag').textContent") == "<i>bad</i>"
    assert everything >= 30
    service.send("/v1/ingest", ("an-upload.txt", (WORDS[::-1] * 3).encode()))
    page.set("items-list", "")
    page.set("items-search", "AN-UPLOAD")
    page.until("document.querySelector('#items .name')?.textContent === 'an-upload.txt'")


def test_an_empty_library_says_so():
    with Service(BUILD, FOLDER, "-L", "nothing") as empty:
        page.go(f"{empty.address}/#library")
        words = page.until("document.getElementById('no-items').textContent")
        assert words == "The library is empty.", words


def test_the_day_is_told_in_numbers():
    open_view("today")
    tiles = "Array.from(document.querySelectorAll('#numbers dt'), node => node.textContent)"
    page.until(f"{tiles}.includes('added')")
    added = page.run("document.querySelector('#numbers dd').textContent")
    assert int(added) == service.get("/v1/stats")[2]["last_day"]["added"] >= 30, added
    shot("today")


def test_records_come_together_again():
    said = "counted rain falls on a tin roof while seven grey cats sleep under the stairs "
    texts = [{"id": "rain1", "text": said * 3}, {"id": "rain2", "text": said * 3 + "then"}]
    service.post("/v1/ingest", texts)
    together = lambda: any(  # noqa: E731
        [member.get("record") for member in group["members"]] == ["rain1", "rain2"]
        for group in service.get("/v1/groups")[2]["groups"]
    )
    assert together()
    open_view("review")
    page.until(GROUPS)
    page.set("search", "rain")
    page.until(f"{GROUPS} === 1")
    page.keys("j", "d")
    wait_for(lambda: not together(), marks)
    page.keys("z")
    wait_for(together, marks)
    assert until_marks(0) == []


def test_jobs_are_followed():
    open_view("jobs")
    page.until("document.querySelector('#jobs-table .nothing') !== null")
    document = page.call("DOM.getDocument")["root"]["nodeId"]
    node = page.call("DOM.querySelector", nodeId=document, selector="#added")["nodeId"]
    chosen = [str(FOLDER / f"demo/pictures/originals/{name}.jpg") for name in ("tree", "city")]
    page.call("DOM.setFileInputFiles", nodeId=node, files=chosen)
    page.until("document.querySelector('#jobs-table tbody')?.textContent.includes('done')")
    assert page.run("document.querySelector('#jobs-table progress').value") == 2
    assert "2 of 2 inputs" in page.run("document.querySelector('#jobs-table').textContent")
    assert page.run("document.querySelector('#jobs-table button')") is None
    shot("jobs")


def test_names_are_no_markup():
    open_view("find")
    name = "<img src=x onerror=alert(1)><script>alert(2)</script>.jpg"
    paste(f"data.items.add(new File(['<b>bold</b> words '.repeat(99)], {json.dumps(name)}))")
    page.until(f"{VERDICTS}[0]?.includes('library')")
    assert page.run("document.querySelector('#found h3 bdi').textContent") == name
    page.run("location.hash = 'review'")
    page.until("document.querySelectorAll('#list .member').length >= 3")
    for selector in ("img[src=x]", "main script", "main b"):
        assert page.run(f"document.querySelector({json.dumps(selector)})") is None, selector
    assert "\\u202e" in page.run("document.querySelector('#list .odd').textContent")
    headers = service.get("/")[1]
    assert "script-src 'self'" in headers["Content-Security-Policy"], headers
    source = (TESTS.parent / "serve/page/page.html").read_text()
    assert " style=" not in source and "<script>" not in source and " onclick" not in source


def test_dark_light_and_a_phone():
    open_view("review")
    page.until("document.querySelectorAll('#list .look img').length >= 3")
    page.prefer("dark")
    page.until(f"{BACKGROUND} === 'rgb(13, 17, 23)'")
    shot("review-dark")
    page.keys("t")  # light, whatever the system prefers
    page.until(f"{BACKGROUND} === 'rgb(255, 255, 255)'")
    page.keys("t", "t")
    page.prefer("light")
    page.resize(360, 740)
    page.until("document.documentElement.scrollWidth <= 360")
    shot("review-phone")
    service.post("/v1/ingest", {"code": "0" * 16, "scheme": "phash64", "lists": ["long " * 20]})
    open_view("library")
    page.until(f"{ITEMS} && document.getElementById('items-list').children.length > 2")
    assert page.run("document.documentElement.scrollWidth") <= 360
    page.run("location.hash = 'find'")
    page.until("!document.getElementById('view-find').hidden")
    assert page.run("document.documentElement.scrollWidth") <= 360
    shot("find-phone")
    page.resize(1400, 1000)


def test_a_screen_reader_is_told():
    open_view("find")
    unnamed = """Array.from(document.querySelectorAll('button, input, select, textarea, a')).filter(
        node => !node.labels?.length && !node.getAttribute('aria-label') && !node.textContent.trim()
    ).map(node => node.outerHTML)"""
    assert page.run(unnamed) == []
    assert page.run("document.querySelector('#views [aria-current=page]').textContent") == "Find"
    assert page.run("document.getElementById('status').getAttribute('aria-live')") == "polite"
    # A feed must say of each article which it is of how many.
    assert page.run("document.querySelector('[role=feed] article:not([aria-posinset])')") is None
    assert page.run("document.getElementById('found').getAttribute('role')") == "region"
    page.keys("?")
    assert page.run("document.getElementById('keys').open")
    page.keys("Escape")


def test_nothing_complained():
    assert page.complaints == [], page.complaints


def test_a_key_is_typed_once():
    digest = hashlib.sha256(b"secret").hexdigest()
    (FOLDER / "keys").write_text(f"{digest} reviewer write\n")
    with Service(BUILD, FOLDER, "--keys", "keys") as keyed:
        page.go(f"{keyed.address}/#review")
        for typed in ("wrong", "secret"):
            page.until("document.getElementById('key').open")
            page.run(f"document.getElementById('key-value').value = '{typed}'")
            page.click("#key-form button")
        groups = page.until(GROUPS)
        page.go(f"{keyed.address}/?again#review")
        page.until(f"{GROUPS} === {groups}")
        assert not page.run("document.getElementById('key').open")
        assert page.run("localStorage.getItem('doppel key')") is None


if __name__ == "__main__":
    if not find():
        print("1..0 # SKIP no Chromium")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(prefix="doppel-page.") as folder:
        FOLDER = pathlib.Path(folder)
        make_library()
        with Service(BUILD, FOLDER) as service, Browser() as page:
            result = tap.main(sys.modules[__name__])
    sys.exit(result)
