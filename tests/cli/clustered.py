#!/usr/bin/env python3
"""The verbs with a library in a cluster, `-L redis://…`, on three real nodes.

`clustered.py BUILD PHOTOS`: PHOTOS is the program that draws pictures, and of some a small copy.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TOP / "house"), str(TOP / "cluster")]

import tap
from redis import Server, start_cluster

BUILD, PHOTOS = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
HELD = tempfile.TemporaryDirectory(prefix="doppel-clustered-")
FOLDER = pathlib.Path(HELD.name)
COUNT = 200
CODES = ("--check", "none")  # a cluster has no pixels
NODES = []
SECRET = "open sesame"


def address(name="doppel"):
    return f"redis://127.0.0.1:{NODES[0].port},127.0.0.1:{NODES[1].port}/{name}"


def start(*words, **more):
    environment = dict(os.environ, HOME=str(FOLDER), XDG_CACHE_HOME=str(FOLDER / "cache"))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "DOPPEL_LIBRARY", "DOPPEL_LIBRARY_KEY"):
        environment.pop(name, None)
    environment.update(more)
    return subprocess.Popen(
        [BUILD / "doppel", *map(str, words)],
        cwd=FOLDER, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def doppel(*words, code=0, given=None, **more):
    process = start(*words, **more)
    out, error = process.communicate(given, timeout=100)
    assert process.returncode == code, (words, process.returncode, out[-500:], error)
    assert SECRET not in out + error
    return error if code == 2 else out


def rows(*words, **more):
    return [json.loads(line) for line in doppel(*words, "--json", **more).splitlines()]


def names(folder):
    return sorted(path.relative_to(FOLDER) for path in (FOLDER / folder).rglob("*.jpg"))


def without_ids(found):
    """Nor rates: a cluster counts as a library of another size."""
    left_out = ("id", "of", "of_item", "item", "score", "false_positive_rate")
    return [{key: row[key] for key in row if key not in left_out} for row in found]


def test_what_is_added_is_found_as_in_a_folder():
    (FOLDER / "photos").mkdir()
    subprocess.run([PHOTOS, FOLDER / "photos", str(COUNT)], check=True, stdout=subprocess.DEVNULL)
    NODES.extend(start_cluster(BUILD, FOLDER, 3))
    added = rows("add", "-L", address(), "photos/shoots", "photos/web")
    assert {row["added"] for row in added} == {"new"}
    assert [row["path"] for row in added] == [
        str(FOLDER / name) for folder in ("shoots", "web") for name in names(f"photos/{folder}")
    ]
    again = rows("add", "-L", address(), "photos/shoots", "photos/backup")
    assert {row["added"] for row in again} == {"unchanged"}  # of the same bytes
    rows("add", "-L", "folder", "photos/shoots", "photos/web")
    for options in ((), ("--max-distance", "12"), ("--min-similarity", "0.95"),
                    ("--views", "full"), ("--no-orientations",)):  # fmt: skip
        here = rows("find", "-L", "folder", "photos/backup", "photos/web", *options, *CODES)
        there = rows("find", "-L", address(), "photos/backup", "photos/web", *options)
        assert without_ids(here) == without_ids(there), options
        assert len(there) > len(names("photos/web"))


def test_codes_are_found_as_in_a_folder():
    for row in rows("hash", "photos/web")[:5]:
        code = row["code"][:16]
        here, there = (rows("find", "-L", name, "--code", code) for name in ("folder", address()))
        assert without_ids(here) == without_ids(there) and "path" in there[0]
    assert rows("find", "-L", address(), "--code", "0123456789abcdef", code=1)[0]["match"] is False


def test_other_schemes_have_tables_of_their_own():
    for scheme in ("pdq", "imagehash", "phash256"):
        options = ("--scheme", scheme)
        rows("add", "-L", address(scheme), "photos/shoots", *options)
        rows("add", "-L", scheme, "photos/shoots", *options)
        here = rows("find", "-L", scheme, "photos/web", *options)
        there = rows("find", "-L", address(scheme), "photos/web", *options)
        assert without_ids(here) == without_ids(there) and any("id" in row for row in there)


def test_what_is_said_of_items():
    picture = names("photos/web")[0]
    [row] = rows(
        "add", "-L", address("said"), picture, "--list", "press", "--label", "a", "--source",
        "wire", "--external-id", "x1", "--meta", '{"place":"Pune"}',
    )  # fmt: skip
    doppel("add", "-L", address("said"), names("photos/web")[1])
    [shown] = rows("show", "-L", address("said"), row["id"])
    assert shown["lists"] == ["press"] and shown["labels"] == ["a"] and shown["source"] == "wire"
    assert shown["external_id"] == "x1" and shown["meta"] == {"place": "Pune"}
    assert abs(shown["added"] - time.time()) < 600
    for name in ("x1", "id:x1", f"item:{row['id']}"):
        assert rows("show", "-L", address("said"), name) == [shown]
    doppel("show", "-L", address("said"), "id:x2", code=3)
    assert len(rows("list", "-L", address("said"))) == 2
    for option in (("--list", "press"), ("--label", "a")):
        assert [item["id"] for item in rows("list", "-L", address("said"), *option)] == [row["id"]]
    [found] = rows("find", "-L", address("said"), picture, "--list", "press")
    assert found["lists"] == ["press"] and found["labels"] == ["a"]
    [nothing] = rows("find", "-L", address("said"), picture, "--list", "other", code=1)
    assert nothing["match"] is False
    [known] = rows("check", "-L", address("said"), picture)
    assert known["decision"] == "duplicate" and known["lists"] == ["press"]


def test_items_are_listed_and_removed():
    library = address("list")
    ids = [row["id"] for row in rows("add", "-L", library, "photos/web")]
    assert sorted(row["id"] for row in rows("list", "-L", library)) == sorted(ids)
    assert rows("stats", "-L", library) == [{"items": len(ids), "nodes": 3, "replicas": 0}]
    assert f"items        {len(ids):>5}"[:5] in doppel("stats", "-L", library)
    doppel("remove", "-L", library, ids[0], "--dry-run")
    doppel("remove", "-L", library, f"item:{ids[0]}", ids[1])
    doppel("remove", "-L", library, ids[0], code=3)
    doppel("show", "-L", library, ids[0], code=3)
    doppel("show", "-L", library, "photos/web/none.jpg", code=3)
    assert sorted(row["id"] for row in rows("list", "-L", library)) == sorted(ids[2:])
    assert rows("find", "-L", library, names("photos/web")[0], code=1)[0]["match"] is False


def test_each_is_decided_as_in_a_folder():
    words = ("photos/shoots", "photos/web")
    here = rows("ingest", "-L", "decided", *words, *CODES)
    there = rows("ingest", "-L", address("decided"), *words)
    for row in here + there:
        for key in ("item", "replaces"):  # a cluster keeps no duplicates
            row.pop(key, None)
    for one, other in zip(without_ids(here), without_ids(there)):
        assert one == other, (one, other)
    decisions = [row["decision"] for row in there]
    assert decisions.count("duplicate") == len(names("photos/web"))
    checked = rows("check", "-L", address("decided"), "photos/web")
    assert {row["decision"] for row in checked} == {"duplicate"}
    assert len(rows("list", "-L", address("decided"))) == decisions.count("new")
    doppel("check", "-L", address("nothing"), names("photos/web")[0], code=1)


def test_of_near_copies_sent_by_two_at_once_one_is_new():
    pairs = [
        (f"photos/backup/{name.stem.removesuffix('-small')}.jpg", str(name))
        for name in names("photos/web")
    ]
    writers = [start("ingest", "-L", address("race"), "--json", "--files-from", "-")
               for _ in range(2)]  # fmt: skip
    for number, writer in enumerate(writers):
        writer.stdin.write("".join(f"{pair[number]}\n" for pair in pairs))
        writer.stdin.close()
    answers = [[json.loads(line) for line in writer.stdout] for writer in writers]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    for one, other in zip(*answers):
        assert {one["decision"], other["decision"]} == {"new", "duplicate"}, (one, other)
    assert len(rows("list", "-L", address("race"))) == len(pairs)
    for writer in writers:
        writer.stdout.close()
        writer.stderr.close()


def test_a_pipe_of_paths_is_answered_path_by_path():
    writer = start("ingest", "-L", address("pipe"), "-")
    for number, name in enumerate(names("photos/web")[:4]):
        writer.stdin.write(f"{name}\n\n")
        writer.stdin.flush()
        answer = json.loads(writer.stdout.readline())
        assert answer["path"] == str(name) and answer["decision"] == "new", answer
        assert answer["line"] == 2 * number + 1, answer
    writer.stdin.write('{"text":"a b c"}\n')
    writer.stdin.flush()
    assert "takes paths" in json.loads(writer.stdout.readline())["reason"]
    writer.send_signal(signal.SIGINT)
    writer.communicate(timeout=20)
    assert writer.returncode == 130
    assert len(rows("list", "-L", address("pipe"))) == 4


def test_what_was_printed_before_an_interruption_is_kept():
    printed = 0
    for number in range(3):
        library = address(f"cut{number}")
        writer = start("ingest", "-L", library, "--no-cache", "--jobs", "1", "photos/shoots")
        first = writer.stdout.readline()
        time.sleep(0.03 * number)
        writer.send_signal(signal.SIGINT)
        out, error = writer.communicate(timeout=20)
        assert writer.returncode in (0, 130), error
        ids = [json.loads(line)["item"] for line in (first + out).splitlines()]
        assert set(ids) <= {row["id"] for row in rows("list", "-L", library)}
        again = rows("ingest", "-L", library, "photos/shoots")
        assert {row["decision"] for row in again[: len(ids)]} == {"duplicate"}
        assert len(rows("list", "-L", library)) == len(again) == len(names("photos/shoots"))
        printed += len(ids)
    assert 0 < printed


def test_what_it_does_not_hold_is_a_failed_input():
    (FOLDER / "text.txt").write_text("it is a text of some words\n" * 20)
    picture = names("photos/web")[0]
    for verb in ("add", "find", "check", "ingest"):
        out = doppel(verb, "-L", address(), "text.txt", picture, "--json", code=3)
        assert picture.name in out, verb
    error = doppel("ingest", "-L", address(), "--jsonl", "text.txt", code=2)
    assert "'--jsonl' is for a library in a folder" in error


REFUSED = """groups|log|tag 1 --label x|lists|lists set x|lists remove x|export -o x|
import text.txt|verify|verify --repair|compact|backup copy|source list|source policy|
report -o r.html|mark --list|monitor text.txt|merge folder|log --sink postgresql://x/y""".split("|")


def test_other_verbs_refuse_with_a_sentence():
    for words in REFUSED:
        for options, more in ((("-L", address()), {}), ((), {"DOPPEL_LIBRARY": address()})):
            error = doppel(*words.split(), *options, code=2, **more)
            assert "a library in a folder" in error and error.count("\n") == 1, (words, error)
    for words in (["scan", "photos", "-L", address()], ["merge", address(), "-L", "folder"],
                  ["dedup", "--against", address(), "text.txt"]):  # fmt: skip
        assert "a library in a folder" in doppel(*words, code=2)
    assert not (FOLDER / "redis:").exists()


def test_options_without_a_meaning_are_refused():
    for words in (
        "find --repeats x", "find --where 1 x", "find --playlist x", "find --semantic x",
        "find --near-misses 3 x", "find --check pixels x",
        "find --kind text x", "find --scheme simhash64 x", "find --thorough x", "add --refresh",
        "ingest --upstream http://x x", "ingest --keep-shingles x", "check --preset news x",
        "list --failures", "list --where 1", "remove --gone", "remove --list x", "remove",
    ):  # fmt: skip
        error = doppel(*words.split(), "-L", address(), code=2)
        assert error.startswith("doppel: ") and error.count("\n") == 1, (words, error)
    for option in ("--replicas", "--partial=refuse", "--library-key=x", "--library-ca=x"):
        assert "goes with" in doppel("find", "-L", "folder", option, "x", code=2)


def test_the_environment_and_the_configuration_name_it():
    picture = names("photos/web")[0]
    doppel("find", picture, DOPPEL_LIBRARY=address())
    (FOLDER / "configured" / "doppel").mkdir(parents=True)
    (FOLDER / "configured" / "doppel" / "config").write_text(f"library = {address()}\n")
    doppel("find", picture, XDG_CONFIG_HOME=str(FOLDER / "configured"))
    doppel("find", "-L", "folder", picture, XDG_CONFIG_HOME=str(FOLDER / "configured"))


def test_passwords():
    (FOLDER / "right").write_text(SECRET + "\n")
    (FOLDER / "wrong").write_text("closed sesame\n")
    for node in NODES:
        node.client().run("CONFIG", "SET", "requirepass", SECRET)
    try:
        assert "asks for a password" in doppel("list", "-L", address(), code=2)
        error = doppel("list", "-L", address(), "--library-key", "wrong", code=2)
        assert "WRONGPASS" in error and "127.0.0.1:" in error and "closed" not in error
        assert rows("list", "-L", address(), "--library-key", "right")
        assert rows("list", "-L", address(), DOPPEL_LIBRARY_KEY=SECRET)
    finally:
        for node in NODES:
            client = node.client()
            client.run("AUTH", SECRET)
            client.run("CONFIG", "SET", "requirepass", "")
    error = doppel("list", "-L", f"redis://u:{SECRET.replace(' ', '')}@127.0.0.1:1", code=2)
    assert SECRET.replace(" ", "") not in error and "password" in error


def test_nodes_that_cannot_serve():
    picture = names("photos/web")[0]
    error = doppel("find", "-L", "redis://127.0.0.1:1", picture, code=2)
    assert "127.0.0.1:1" in error and "refused" in error
    plain = Server(BUILD, FOLDER / "plain", with_module=False)
    error = doppel("find", "-L", f"redis://127.0.0.1:{plain.port}", picture, code=2)
    assert "module" in error and f"127.0.0.1:{plain.port}" in error
    for verb in ("list", "stats"):
        assert "module" in doppel(verb, "-L", f"redis://127.0.0.1:{plain.port}", code=2)
    plain.stop()
    for node in NODES:
        node.client().run("CONFIG", "SET", "maxmemory", 1000000)
    try:
        for verb in ("add", "ingest"):
            error = doppel(verb, "-L", address("full"), picture, code=2)
            assert "no memory left" in error and f"127.0.0.1:{NODES[0].port}" in error
        doppel("find", "-L", address(), picture)
    finally:
        for node in NODES:
            node.client().run("CONFIG", "SET", "maxmemory", 0)


def test_shards_that_do_not_answer():
    whole = rows("find", "-L", address(), "photos/web")
    NODES[2].pause()
    try:
        reader = start("find", "-L", address(), "photos/web", "--json")
        out, error = reader.communicate(timeout=60)
        refused = doppel("find", "-L", address(), "photos/web", "--partial", "refuse", code=2)
    finally:
        NODES[2].resume()
    found = [json.loads(line) for line in out.splitlines()]
    assert reader.returncode == 3 and f"127.0.0.1:{NODES[2].port}" in error, error
    assert all(row.pop("partial") and 0 < len(row.pop("missing_shards")) < 1024 for row in found)
    kept = [row for row in found if row.get("match") is not False]
    assert 0 < len(kept) < len(whole) and all(row in whole for row in kept)
    assert {row["query"] for row in found} == {row["query"] for row in whole}
    assert "did not answer" in refused
    end = time.monotonic() + 30
    while True:  # the others take it for dead for a while
        again = start("find", "-L", address(), "photos/web", "--json")
        out, _ = again.communicate(timeout=60)
        if [json.loads(line) for line in out.splitlines()] == whole:
            break
        assert time.monotonic() < end and again.returncode == 3


if __name__ == "__main__":
    code = tap.main(sys.modules[__name__])
    for node in NODES:
        node.stop()
    sys.exit(code)
