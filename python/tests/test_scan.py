"""Scans and groups, corpora, and what notebooks show of them."""

import json
import math
import os
import signal
import subprocess
import threading
import zipfile

import pandas
import pytest
from conftest import BUILD, TOP
from PIL import Image

import doppel


@pytest.fixture(scope="module")
def groups(media):
    return doppel.scan(media / "pictures")


def test_a_scan_finds_what_the_command_finds(media, groups):
    done = subprocess.run(
        [BUILD / "doppel", "scan", "--json", media / "pictures"], capture_output=True, check=False
    )
    wanted = [json.loads(line) for line in done.stdout.splitlines()]
    assert [group.fields for group in groups] == wanted and len(groups) >= 5
    assert groups.savable == sum(group["savable"] for group in wanted)
    assert groups.counts["image"] == sum(
        path.is_file() for path in (media / "pictures").rglob("*")
    ) - len(groups.failures)


def test_options_of_a_scan(media, groups):
    originals, copies = media / "pictures" / "originals", media / "pictures" / "copies"
    assert doppel.scan([originals, copies], cross_folder=True)
    referred = doppel.scan(originals, reference=copies)
    assert all("/copies/" in group.keep for group in referred)
    assert not doppel.scan(media / "pictures", kinds=["text"])
    assert len(doppel.scan(media / "pictures", exclude=["copies"])) < len(groups)
    kept = doppel.scan(media / "pictures", keep="size", keep_from=[copies])
    assert all("/copies/" in group.keep for group in kept)
    digested = doppel.scan(media / "pictures", digests=True)
    assert all(member.fields["digest"] for group in digested for member in group.members)
    assert "digest" not in groups[0].members[0].fields
    for bad in (
        {"kinds": ["smell"]},
        {"schemes": ["nothing"]},
        {"keep": "beauty"},
        {"min_similarity": 2},
        {"max_distance": -1},
        {"min_size": -5},
    ):
        with pytest.raises(doppel.ArgumentError):
            doppel.scan(media / "pictures", **bad)


def test_archives_are_folders(media, tmp_path):
    sea = media / "pictures" / "originals" / "sea.jpg"
    (tmp_path / "sea.jpg").write_bytes(sea.read_bytes())
    with zipfile.ZipFile(tmp_path / "old.zip", "w") as packed:
        packed.write(sea, "b/sea.jpg")
    assert not doppel.scan(tmp_path)
    (group,) = doppel.scan(tmp_path, archives=True)
    assert group.keep == str(tmp_path / "sea.jpg")
    assert [member.path for member in group.members][1:] == [str(tmp_path / "old.zip!/b/sea.jpg")]
    with doppel.Library(tmp_path / "library") as library:
        added = library.add(tmp_path / "old.zip", archives=True)
        assert [each.path for each in added] == [str(tmp_path / "old.zip!/b/sea.jpg")]


def test_failures_and_progress(media, tmp_path):
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 and no more")
    (tmp_path / "fine.txt").write_text("some words " * 30)
    shown = []
    groups = doppel.scan([tmp_path, tmp_path / "nothing"], progress=shown.append)
    assert len(groups) == 0 and shown and shown[0].unit == "files"
    assert sorted(os.path.basename(error.path) for error in groups.failures) == [
        "broken.jpg",
        "nothing",
    ]
    assert all(isinstance(error, doppel.Error) for error in groups.failures)


def test_what_a_callback_raises_ends_the_call(media):
    def fail(progress):
        raise KeyError("of the callback")

    with pytest.raises(KeyError, match="of the callback"):
        doppel.scan(media / "pictures", progress=fail)
    with pytest.raises(KeyError):
        doppel.dedup(["some words"] * 100, progress=fail)


def test_ctrl_c_ends_a_scan(media):
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(200):
            doppel.scan([media / "pictures", media / "music"])


def test_frames_and_pages(groups, media):
    frame = groups.to_pandas()
    assert len(frame) == sum(len(group.members) for group in groups)
    assert set(frame.reason) >= {"kept", "near"}
    page = groups._repr_html_()
    assert page.count("data:image/jpeg;base64,") == len(frame)
    assert "sea-cropped.jpg" in groups[0]._repr_html_() + page
    match = doppel.compare(media / "trailer.avi", media / "diver.avi")
    assert "0:02.0–0:07.9" in match._repr_html_()  # as `doppel find` has it


def test_pages_of_texts_show_words_that_differ(tmp_path):
    words = (TOP / "LICENSE").read_text().split()
    (tmp_path / "a.txt").write_text(" ".join(words))
    words[500:502] = ["<o>"]
    (tmp_path / "b.txt").write_text(" ".join(words))
    [group] = doppel.scan(tmp_path)
    page = group._repr_html_()
    assert page.count("<del") == page.count("<ins") == 1 and ">&lt;o&gt;</ins>" in page
    with doppel.Library(tmp_path / "library") as library:
        library.add(tmp_path / "a.txt")
        assert "&lt;o&gt;</ins>" in library.check(tmp_path / "b.txt")._repr_html_()


def test_drawings_of_segments(media):
    pytest.importorskip("matplotlib")
    match = doppel.compare(media / "trailer.avi", media / "diver.avi")
    query, item = match.lengths
    assert 5.8 < query < 6.2 and 11.9 < item < 12.1
    axes = match.plot()
    bars = [bar.get_bbox().intervalx.tolist() for bar in axes.containers[3]]
    [segment] = match.segments
    assert bars == [[segment.b_start, segment.b_end]] and axes.get_xlim() == (0, item)
    with pytest.raises(doppel.ArgumentError):
        doppel.compare(media / "texts/apache.txt", media / "texts/apache-cut.txt").plot()


def test_drawings_of_places(media, tmp_path):
    pytest.importorskip("matplotlib")
    sea = Image.open(media / "pictures/originals/sea.jpg").resize((400, 300))
    page = Image.open(media / "pictures/originals/city.jpg").copy()
    turned = sea.rotate(-15, expand=True)
    page.paste(turned, (250, 150))
    page.save(tmp_path / "page.png")
    match = doppel.compare(
        tmp_path / "page.png", media / "pictures/originals/sea.jpg", scheme="local"
    )
    axes = match.plot(tmp_path / "page.png", sea)
    outline = axes.lines[0].get_xydata() * page.height  # its corners, in pixels
    across, down = math.cos(math.radians(15)), math.sin(math.radians(15))
    middle = 250 + turned.width / 2, 150 + turned.height / 2
    for x, y in outline - middle:  # turned back; nothing met in the last 13 of 400 columns
        back = abs(x * across + y * down), abs(y * across - x * down)
        assert 0.92 * sea.width < 2 * back[0] < 1.01 * sea.width
        assert 0.98 * sea.height < 2 * back[1] < 1.01 * sea.height
    assert len(axes.images) == 2
    [group] = doppel.scan([tmp_path, media / "pictures/originals/sea.jpg"], parts=True)
    assert "rotate(1" in group._repr_html_()


def test_pages_escape_what_files_are_called(media, tmp_path):
    data = (media / "pictures" / "originals" / "sea.jpg").read_bytes()
    for name in ("<script>a", "<script>b"):
        (tmp_path / name).write_bytes(data)
    [group] = doppel.scan(tmp_path)
    assert "<script>" not in group._repr_html_()


def test_names_that_are_no_text(media, tmp_path):
    data = (media / "pictures" / "originals" / "sea.jpg").read_bytes()
    name = os.path.join(os.fsencode(tmp_path), b"\xff\xfe.jpg")
    with open(name, "wb") as file:
        file.write(data)
    (tmp_path / "b.jpg").write_bytes(data)
    [group] = doppel.scan(tmp_path)
    assert os.fsdecode(name) in [member.path for member in group.members]
    assert doppel.hash(name and os.fsdecode(name))


# ---- corpora ----

NEWS = [json.loads(line) for line in (TOP / "docs/examples/news.jsonl").read_text().splitlines()]


def test_dedup_of_strings_and_mappings():
    texts = [record["text"] for record in NEWS]
    decided = doppel.dedup(texts)
    words = ["new", "duplicate", "duplicate", "new"]
    assert [decision.decision for decision in decided[:4]] == words
    assert decided.groups()[0] == [1, 2]
    assert list(decided.keep(texts)) == [texts[number] for number in decided.unique]
    assert 1 not in decided.unique and 0 in decided.unique
    mapped = doppel.dedup(NEWS)
    assert mapped[1].of == "n1" and mapped[1].match.similarity > 0.8
    assert [d.decision for d in mapped[:5]] == [d.decision for d in decided[:5]]


def test_dedup_of_frames_and_data_sets():
    frame = pandas.DataFrame(NEWS)
    wanted = doppel.dedup([record["text"] for record in NEWS]).unique
    assert doppel.dedup(frame.text).unique == wanted
    assert doppel.dedup(frame).unique == wanted
    assert doppel.dedup(iter([record["text"] for record in NEWS])).unique == wanted

    class Column(list):
        def to_pylist(self):
            return list(self)

    class Table:
        column_names = ["id", "text"]

        def __getitem__(self, name):
            return Column(record[name] for record in NEWS)

    assert doppel.dedup(Table()).unique == wanted
    with pytest.raises(doppel.ArgumentError):
        doppel.dedup(frame, text="body")


def test_dedup_of_files(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text("\n".join(map(json.dumps, NEWS)) + "\nno json\n")
    decided = doppel.dedup(files=path)
    assert decided[1].of == "n1" and decided[-1].decision == "unreadable"
    [missing] = doppel.dedup(files=tmp_path / "nothing")
    assert missing.decision == "unreadable" and missing.path.endswith("nothing")


def test_dedup_of_what_is_no_text():
    assert len(doppel.dedup([])) == 0
    odd = ["", "\n", "\ud800 lone", "NUL \0 within", "x" * 100_000, "\u2028"]
    assert len(doppel.dedup(odd)) == len(odd)
    for bad in ([5], [None], [{"id": 1}], [{"text": 5}], [["list"]], [b"bytes"]):
        with pytest.raises(doppel.TypeMismatchError):
            doppel.dedup(bad)
    for options in (
        {"shingle": 0},
        {"unit": "x"},
        {"cluster": "x"},
        {"preset": "x"},
        {"min_similarity": -1},
        {"min_similarity": float("nan")},
        {"threads": -1},
    ):
        with pytest.raises(doppel.ArgumentError):
            doppel.dedup(["words"], **options)
