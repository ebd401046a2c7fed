#!/usr/bin/env python3
"""Archives as folders: what is in them is read, told and never acted on, and hostile ones end in a
sentence. `archives.py BUILD`"""

import email.message
import io
import json
import mailbox
import os
import pathlib
import shutil
import struct
import sys
import tarfile
import tempfile
import zipfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "house")]
import made  # noqa: E402
import tap  # noqa: E402
from program import program  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
FOLDER = pathlib.Path(tempfile.mkdtemp())
doppel = program(BUILD, FOLDER)


def paths(*words, code=0):
    """What `hash --archives` reads, in order, and what it says of the rest."""
    out, error = doppel("hash", "--archives", "--json", *words, code=code)
    return [json.loads(line)["path"] for line in out.splitlines()], error


def text(number):
    return f"number {number} " + made.WORDS + f" {number}" * 3


def zip_of(members, path=None, **options):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", options.get("compression", zipfile.ZIP_DEFLATED)) as archive:
        for name, content in members:
            archive.writestr(name, content)
    if path:
        (FOLDER / path).write_bytes(target.getvalue())
    return target.getvalue()


def test_members_come_in_the_order_of_the_archive():
    zip_of([("b/one.txt", text(1)), ("a.docx", b""), ("c.txt", text(2))], "a.zip")
    assert paths("a.zip")[0] == ["a.zip!/b/one.txt", "a.zip!/c.txt"]
    for mode, name in (("w", "t.tar"), ("w:gz", "t.tgz"), ("w:xz", "t.txz"), ("w:bz2", "t.tbz")):
        with tarfile.open(FOLDER / name, mode) as archive:
            for number, inside in enumerate(("z.txt", "d/y.txt")):
                info = tarfile.TarInfo(inside)
                info.size = len(text(number))
                archive.addfile(info, io.BytesIO(text(number).encode()))
        assert paths(name)[0] == [f"{name}!/z.txt", f"{name}!/d/y.txt"], name


def test_rar_of_both_versions():
    members = [(f"d/{number}.txt", text(number).encode()) for number in range(3)]
    for name, content in (("4.rar", made.rar4(members)), ("5.rar", made.rar5(members))):
        (FOLDER / name).write_bytes(content)
        assert paths(name)[0] == [f"{name}!/d/{number}.txt" for number in range(3)]
    (FOLDER / "d").mkdir()
    for name, content in members:
        (FOLDER / name).write_bytes(content)
    inside, outside = (
        [json.loads(line)["code"] for line in doppel("hash", "--json", *words)[0].splitlines()]
        for words in (("--archives", "5.rar"), ("d/0.txt", "d/1.txt", "d/2.txt"))
    )
    assert inside == outside
    refused = {
        "is encrypted": made.rar4(members, flags=made.RAR4_ENCRYPTED),
        "r.rar: is encrypted": made.rar4(members, archive_flags=made.RAR4_HEADS_ENCRYPTED),
        "is cut: 4": made.rar4([("a.txt", b"some")], claimed=1 << 31),
    }
    for sentence, content in refused.items():
        (FOLDER / "r.rar").write_bytes(content)
        read, error = paths("r.rar", code=3)
        assert not read and sentence in error, (read, error)


def test_the_same_for_any_number_of_workers():
    zip_of([(f"{number}.txt", text(number % 7)) for number in range(60)], "many.zip")
    outs = [doppel("scan", "--archives", "--no-cache", "-j", jobs, "many.zip")[0] for jobs in "13"]
    assert outs[0] == outs[1] and "could be saved" in outs[0]


def test_names_stay_below_the_archive():
    names = ["../../up.txt", "/etc/abs.txt", "./a//b/../c.txt", "new\nline.txt", "é.txt"]
    zip_of([(name, text(number)) for number, name in enumerate(names)], "names.zip")
    assert paths("names.zip")[0] == [
        "names.zip!/__/__/up.txt",
        "names.zip!/etc/abs.txt",
        "names.zip!/a/b/__/c.txt",
        "names.zip!/new\nline.txt",
        "names.zip!/é.txt",
    ]


def test_archives_in_archives_to_a_depth():
    inner = [("t.txt", text(1))]
    for _ in range(4):
        inner = [("n.zip", zip_of(inner)), ("t.txt", text(1))]
    zip_of(inner, "nested.zip")
    read, error = paths("nested.zip", code=3)
    assert read == [
        "nested.zip!/n.zip!/n.zip!/t.txt",
        "nested.zip!/n.zip!/t.txt",
        "nested.zip!/t.txt",
    ]
    assert "nested.zip!/n.zip!/n.zip!/n.zip: archives in 3 others are not opened" in error


def test_messages_of_a_mailbox():
    box = mailbox.mbox(FOLDER / "mbox")
    for number in range(3):
        mail = email.message.EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = "a@example.org", "b@example.org", "s"
        mail.set_content(text(number))
        box.add(mail)
    box.flush()
    assert paths("mbox")[0] == ["mbox#1", "mbox#2", "mbox#3"]
    assert json.loads(doppel("hash", "--json", "mbox")[0])["path"] == "mbox"


def test_filters_hold_inside():
    members = [("a.txt", text(1)), ("b.md", text(2)), (".c.txt", text(3)), ("d/x.txt", text(4))]
    zip_of(members, "f.zip")
    assert paths("f.zip", "--exclude", "d")[0] == ["f.zip!/a.txt", "f.zip!/b.md", "f.zip!/d/x.txt"]
    assert paths("f.zip", "--exclude", "x.txt", "--ext", "txt")[0] == ["f.zip!/a.txt"]
    assert "f.zip!/.c.txt" in paths("f.zip", "--hidden")[0]


def test_members_are_never_acted_on():
    folder = FOLDER / "acted"
    folder.mkdir()
    (folder / "z.txt").write_text(text(1))
    (folder / "copy.txt").write_text(text(1))
    (folder / "a.zip").write_bytes(zip_of([("a.txt", text(1)), ("b.txt", text(1))]))
    before = (folder / "a.zip").read_bytes()
    out, _ = doppel("scan", "--archives", "--json", "acted")
    group = json.loads(out.splitlines()[0])
    assert len(group["members"]) == 4 and "!" not in group["keep"]
    _, error = doppel("scan", "--archives", "--action", "trash", "--yes", "acted", code=3)
    assert "acted/a.zip!/b.txt: lies in an archive, where nothing is changed" in error, error
    assert (folder / "a.zip").read_bytes() == before
    left = sorted(path.name for path in folder.glob("*.txt"))
    assert len(left) == 1, left


def test_a_library_knows_members():
    zip_of([("a.txt", text(1)), ("b.txt", text(2))], "lib.zip")
    (FOLDER / "query.txt").write_text(text(2))
    library = ("--library", "library")
    doppel("add", "--archives", *library, "lib.zip")
    doppel("add", "--archives", *library, "lib.zip")
    assert len(doppel("list", "--json", *library)[0].splitlines()) == 2
    found = json.loads(doppel("find", "--json", *library, "query.txt")[0].splitlines()[0])
    assert found["path"].endswith("lib.zip!/b.txt")
    groups = [json.loads(line) for line in doppel("groups", "--json", *library)[0].splitlines()]
    assert not any(member.get("gone") for group in groups for member in group["members"])


# ---- hostile ones ----


def test_damaged_archives_are_named_and_the_rest_is_read():
    good = zip_of([(f"{n}.txt", os.urandom(3000).hex() + text(n)) for n in range(4)])
    (FOLDER / "cut.zip").write_bytes(good[: len(good) // 2])
    read, error = paths("cut.zip", code=3)
    assert read == [f"cut.zip!/{n}.txt" for n in range(len(read))] and 0 < len(read) < 4, read
    assert "cut.zip: is damaged" in error, error
    good = zip_of([(f"{n}.txt", text(n)) for n in range(4)], compression=0)
    at = good.index(b"number 1")
    (FOLDER / "crc.zip").write_bytes(good[:at] + b"XXXX" + good[at + 4 :])
    read, error = paths("crc.zip", code=3)
    assert "crc.zip!/3.txt" in read and "crc.zip!/1.txt" in error, (read, error)
    (FOLDER / "no.gz").write_bytes(zlib.compress(b"words", wbits=31))
    assert "no.gz: is damaged" in paths("no.gz", code=3)[1]
    (FOLDER / "in").mkdir()
    shutil.move(FOLDER / "no.gz", FOLDER / "in/no.gz")
    assert doppel("hash", "--archives", "in")[1].count("no.gz") == 0


def test_bombs_are_bounded():
    zeros = b"\0" * (64 << 20)
    zip_of([("zeros.txt", zeros)], "ratio.zip")
    assert "unpacks to more than" in paths("ratio.zip", code=3)[1]
    read, error = paths("ratio.zip", "--max-bytes", "1M", code=3)
    assert "--max-bytes" in error, error
    # All members are the same bytes of the file.
    one = zip_of([("0.txt", b"a" * (1 << 20))])
    directory = one.index(b"PK\1\2")
    entry, local = one[directory : one.index(b"PK\5\6")], one[:directory]
    count = 2000
    listed = b"".join(entry[:46] + b"%05d" % n for n in range(count))
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, len(listed), len(local), 0)
    (FOLDER / "overlap.zip").write_bytes(local + listed + end)
    assert len(paths("overlap.zip")[0]) == 1


def test_holes_are_counted():
    with tarfile.open(FOLDER / "hole.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("hole.txt")
        info.size, info.pax_headers = 1, {
            "GNU.sparse.major": "0",
            "GNU.sparse.minor": "1",
            "GNU.sparse.map": f"{1 << 29},1",
            "GNU.sparse.size": str((1 << 29) + 1),
        }
        archive.addfile(info, io.BytesIO(b"x"))
    assert "hole.tar: unpacks to more than" in paths("hole.tar", code=3)[1]


def test_times_may_be_absurd():
    for mtime, is_newer in (((1 << 63) - 1, True), (-(1 << 62), False), (1 << 40, True)):
        with tarfile.open(FOLDER / "time.tar", "w", format=tarfile.PAX_FORMAT) as archive:
            info = tarfile.TarInfo("a.txt")
            info.size, info.pax_headers = len(text(1)), {"mtime": str(mtime)}
            archive.addfile(info, io.BytesIO(text(1).encode()))
        read, _ = paths("time.tar", "--newer-than", "2020-01-01")
        assert read == ["time.tar!/a.txt"] * is_newer, mtime


def test_many_members_are_bounded():
    zip_of([(f"{n}.bin", b"") for n in range(100100)], "many100k.zip", compression=0)
    assert "more than 100000 members" in paths("many100k.zip", code=3)[1]


def test_without_the_option_archives_are_left_alone():
    zip_of([("a.txt", text(1))], "left.zip")
    assert "not a picture, text" in doppel("hash", "left.zip", code=3)[1]


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
