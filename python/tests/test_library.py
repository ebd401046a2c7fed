"""Libraries: added to, searched, asked; from many threads, after their end, and damaged."""

import asyncio
import os
import shutil
import sqlite3
import threading

import pytest

import doppel


@pytest.fixture(scope="module")
def kept(media, tmp_path_factory):
    """A library of all that the demo draws."""
    path = tmp_path_factory.mktemp("kept") / "library"
    with doppel.Library(path) as library:
        added = library.add([media / "pictures", media / "music", media / "texts"])
        assert [row.path.rsplit("/")[-1] for row in added if row.error] == ["broken.jpg"]
        assert len(added) > 20 and {row.added for row in added} == {"new", "failed"}
    return path


@pytest.fixture
def library(kept, tmp_path):
    """A copy of it."""
    shutil.copytree(kept, tmp_path / "library")
    with doppel.Library(tmp_path / "library") as library:
        yield library


def test_find(library, media):
    found = library.find(media / "pictures" / "copies" / "sea-cropped.jpg")
    assert [os.path.basename(row.path) for row in found] == ["sea-cropped.jpg", "sea.jpg"]
    assert found[1].match and found[1].match.relation == "contained"
    [heard] = library.find(media / "heard.wav")
    assert heard.match.segments[0].b_start == pytest.approx(8, abs=0.1)
    text = (media / "texts" / "apache.txt").read_text()
    assert library.find(text=text)[0].path.endswith("apache.txt")
    assert library.find(doppel.hash(text=text))
    assert library.find(text="nothing is like these words, of which there are enough to tell") == []


def test_added_again_updated_and_failed(library, media, tmp_path):
    again = library.add(media / "pictures" / "originals")
    assert {row.added for row in again} == {"unchanged"}
    folder = tmp_path / "files"
    folder.mkdir()
    shutil.copy(media / "pictures" / "originals" / "sea.jpg", folder / "a.jpg")
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 and no more")
    rows = library.add(folder, labels=["blue"], lists=["mine"], source="here")
    assert [row.added for row in rows] == ["new", "failed"]
    assert isinstance(rows[1].error, doppel.InputError) and rows[1].path.endswith("broken.jpg")
    item = library.item(rows[0].id)
    assert item.fields["labels"] == ["blue"] and item.path == str(folder / "a.jpg")
    assert [row.id for row in library.items(labels=["blue"])] == [rows[0].id]
    assert [row.id for row in library.items(lists=["mine"])] == [rows[0].id]
    library.remove(str(folder / "a.jpg"))
    with pytest.raises(doppel.NotFoundError):
        library.item(rows[0].id)


def test_items_and_sql(library):
    everything = list(library.items())
    assert [item.id for item in everything] == sorted(item.id for item in everything)
    pictures = list(library.items(where="kind = 'image' AND width = 800"))
    assert pictures and all(item.fields["width"] == 800 for item in pictures)
    for bad in ("nonsense (", "1; DROP TABLE item", "load_extension('x')"):
        with pytest.raises(doppel.ArgumentError):
            list(library.items(where=bad))
    connection = library.sql
    [[count]] = connection.execute("SELECT count(*) FROM items WHERE kind = 'image'")
    assert count == sum(item.kind == "image" for item in everything)
    with pytest.raises(Exception, match="readonly|read-only|attempt to write"):
        connection.execute("DELETE FROM item")
    if hasattr(connection, "enable_load_extension"):
        assert connection.execute("SELECT hamming(x'ff00', x'0f00')").fetchone() == (4,)
        condition = "quality >= 40 AND hamming(simhash, ?1) <= 8"
        [(code,), *_] = connection.execute("SELECT simhash FROM items WHERE quality >= 40")
        near = connection.execute(f"SELECT id FROM items WHERE {condition}", [code])
        found = connection.execute("SELECT id FROM doppel_find(?1, 8)", [code])
        assert {id for id, in found} == {id for id, in near} != set()
        with pytest.raises(sqlite3.Error, match="doppel_find: a code is"):
            connection.execute("SELECT * FROM doppel_find('no code', 8)").fetchall()
    connection.close()


def test_groups_and_marks(library):
    groups = library.groups(kinds=["image"])
    assert len(groups) >= 5 and {group.kind for group in groups} == {"image"}
    group = next(g for g in groups if [m.reason for m in g.members] == ["kept", "near"])
    library.mark(group.members[0].id, group.members[1].id, "distinct", note="seen")
    assert group.keep not in [other.keep for other in library.groups(kinds=["image"])]
    library.mark(group.members[0].path, group.members[1].path, None)
    assert group.keep in [other.keep for other in library.groups(kinds=["image"])]
    with pytest.raises(doppel.ArgumentError):
        library.mark(1, 2, "perhaps")
    with pytest.raises(doppel.NotFoundError):
        library.mark(1, 999999, "same")
    with pytest.raises(doppel.ArgumentError):
        library.groups(colour="red")


def test_ingest(tmp_path, media):
    text = (media / "texts" / "apache.txt").read_text()
    with doppel.Library(tmp_path / "new") as library:
        assert library.check(text=text) and not list(library.items())
        first = library.ingest(text=text, id="a", source="s", date="2026-01-01")
        assert first and first.decision == "new" and first.item == 1
        again = library.ingest({"text": text + " Some words.", "id": "b"})
        assert (again.decision, again.of, again.reason) == ("duplicate", 1, "near")
        assert again.match.similarity > 0.9
        assert library.check(text=text).decision == "duplicate"
        picture = media / "pictures" / "originals" / "sea.jpg"
        assert library.ingest(picture)
        assert not library.ingest(media / "pictures" / "copies" / "sea-cropped.jpg")
        assert library.ingest(doppel.hash(media / "heard.wav"), id="heard")
        broken = tmp_path / "broken.jpg"
        broken.write_bytes(b"\xff\xd8\xff\xe0")
        assert library.ingest(broken).decision == "unreadable"
        assert library.ingest(tmp_path / "nothing").decision == "unreadable"
        many = ({"text": f"{text} {i}"} for i in range(50))
        decisions = list(library.ingest_all(many, at_once=7))
        assert [decision.decision for decision in decisions] == ["duplicate"] * 50
        for bad in ({}, {"text": None}, 5, {"id": "x"}):
            with pytest.raises(doppel.ArgumentError):
                library.ingest(bad)
        with pytest.raises(doppel.Error):
            library.ingest(text=5)
        assert library.check(text=text).decision == "duplicate", "it goes on after a failure"


def test_what_is_closed_gone_or_no_library(library, tmp_path, media):
    items = library.items()
    next(items)
    library.close()
    library.close()
    assert next(items), "what was begun goes on"
    for call in (
        lambda: library.find(text="x"),
        lambda: library.add(media),
        lambda: library.ingest(text="x"),
        lambda: library.groups(),
        lambda: next(library.items()),
        lambda: library.item(1),
        lambda: library.sql,
    ):
        with pytest.raises(doppel.ArgumentError, match="closed"):
            call()
    with pytest.raises(doppel.NotFoundError):
        doppel.Library(tmp_path / "none", create=False)
    with pytest.raises(doppel.Error):
        doppel.Library(media / "heard.wav")
    with pytest.raises(doppel.ArgumentError):
        doppel.Library("a\0b")
    with pytest.raises(doppel.Error):
        doppel.Library(b"")


def test_read_only(library, media):
    with doppel.Library(library.path, read_only=True) as reader:
        assert reader.find(media / "heard.wav")
        assert reader.check(media / "heard.wav").decision in ("new", "part", "duplicate")
        for call in (lambda: reader.add(media / "heard.wav"), lambda: reader.remove(1)):
            with pytest.raises(doppel.Error):
                call()


def test_a_damaged_catalogue(library, media):
    library.close()
    path = os.path.join(library.path, "catalogue.db")
    with open(path, "r+b") as file:
        file.seek(0)
        file.write(b"no database at all" * 10)
    with pytest.raises(doppel.Error):
        doppel.Library(library.path)


def test_threads_search_while_others_write(library, media):
    query = doppel.hash(media / "heard.wav")
    failures = []

    def search():
        try:
            for _ in range(10):
                assert library.find(query)
        except Exception as error:
            failures.append(error)

    def write(number):
        try:
            for i in range(10):
                library.ingest(text=f"text {number} {i} " * 20, id=f"{number}-{i}")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(3)]
    threads += [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_awaited(library, media):
    async def main():
        return await asyncio.gather(
            library.aio.find(media / "heard.wav"),
            library.aio.check(media / "heard.wav"),
            library.aio.groups(kinds=["image"]),
        )

    found, decision, groups = asyncio.run(main())
    assert found and groups and decision.decision == "part" and not decision


def test_a_fork_opens_its_own(library, run_python, media):
    assert "done" in run_python(
        f"""
import os, doppel
library = doppel.Library({library.path!r})
assert len(list(library.items())) > 20
child = os.fork()
if child == 0:
    try:
        library.item(1)
    except doppel.ArgumentError:
        with doppel.Library({library.path!r}) as own:
            os._exit(7 if own.item(1) else 1)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert library.item(1)
print("done")
"""
    )
