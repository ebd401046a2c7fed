#!/usr/bin/env python3
"""The journey of a moderator: a list of PDQ codes as exchanges hand it on, questions by codes and
by pictures, a list that changes, exceptions, a flood, and what the log says of it.

`moderator.py BUILD [CODES QUESTIONS]`
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
CODES = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
QUESTIONS = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
CHANCE = random.Random(18)


def doppel(*words, code=0, **options):
    home = dict(XDG_CACHE_HOME=str(FOLDER / "cache"), HOME=str(FOLDER))
    done = subprocess.run(
        [BUILD / "doppel", *map(str, words)],
        capture_output=True,
        cwd=FOLDER,
        env=dict(os.environ, DOPPEL_LIBRARY=str(FOLDER / "library"), **home),
        text=True,
        **options,
    )
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def rows(*words, code=0):
    return [json.loads(line) for line in doppel(*words, "--json", code=code).stdout.splitlines()]


def sync(name, *more, code=0):
    return rows("import", "--sync", name, "--list", "blocked", *more, code=code)[0]


def near(code, bits):
    """Another code that differs in so many bits."""
    value = int(code, 16)
    for bit in CHANCE.sample(range(256), bits):
        value ^= 1 << bit
    return "%064x" % value


def write_list(name, entries):
    lines = [f'{code},pdq,"{tags}"\n' for code, tags in entries.items()]
    (FOLDER / name).write_text("hash,hash_type,tags\n" + "".join(lines))


def listed(name="blocked"):
    return next(row for row in rows("lists") if row["list"] == name)


def find_code(code, *more, expected=0):
    return rows("find", "--code", code, "--scheme", "pdq", *more, code=expected)


def make_entries():
    entries = {"%064x" % CHANCE.getrandbits(256): f"spam t{i % 3}" for i in range(CODES - 2)}
    for name in ("mountains", "tree"):
        path = f"pictures/originals/{name}.jpg"
        entries[rows("hash", "--scheme", "pdq", path)[0]["code"]] = f"picture,{name}"
    return entries


def test_a_list_comes_in():
    counts = sync("first.csv")
    assert counts["added"] == counts["after"] == CODES and counts["done"], counts
    assert listed()["items"] == CODES
    counts = sync("first.csv")
    assert counts["unchanged"] == CODES and not counts["added"] + counts["removed"], counts


def test_questions_by_code():
    """Of what is on the list, at distances that match or do not, and of what is not."""
    codes = list(ENTRIES)
    for i in range(QUESTIONS):
        code, bits = CHANCE.choice(codes), i % 40
        if i % 4 == 3:
            [answer] = find_code("%064x" % CHANCE.getrandbits(256), expected=1)
            assert not answer["match"], answer
            continue
        found = find_code(near(code, bits), expected=0 if bits <= 31 else 1)
        if bits <= 31:
            assert found[0]["distance"] == bits and found[0]["lists"] == ["blocked"], found
            assert sorted(ENTRIES[code].replace(",", " ").split()) == found[0]["labels"], found
        else:
            assert not found[0]["match"], found


def test_questions_by_picture():
    path = "pictures/copies/mountains-small.jpg"
    [known] = rows("check", path)
    assert known["decision"] == "duplicate" and known["lists"] == ["blocked"], known
    assert known["labels"] == ["mountains", "picture"], known
    [other] = rows("check", "pictures/originals/clock.jpg", code=1)
    assert other["decision"] == "new" and "lists" not in other, other
    assert listed()["matches"] == 0  # who only asks counts nothing


def test_limits_of_a_list():
    code = next(iter(ENTRIES))
    doppel("lists", "set", "blocked", "--max-distance", 10)
    find_code(near(code, 20), expected=1)
    assert find_code(near(code, 20), "--max-distance", 31)[0]["distance"] == 20
    doppel("lists", "set", "blocked", "--max-distance", 40)
    assert find_code(near(code, 38))[0]["distance"] == 38
    find_code(near(code, 42), expected=1)
    doppel("lists", "set", "blocked", "--min-similarity", 0.75)
    assert find_code(near(code, 32))[0]["similarity"] == 0.75
    find_code(near(code, 33), expected=1)
    doppel("tag", find_code(code)[0]["id"], "--list", "others")  # one without a limit of its own
    assert find_code(near(code, 31))[0]["distance"] == 31
    doppel("lists", "set", "blocked", "--default-limit")
    doppel("lists", "remove", "others")
    assert "min_similarity" not in listed()


def changed(entries):
    """A tenth gone, as many new, other tags of a hundredth."""
    codes = list(entries)[:-2]
    after = {code: entries[code] for code in codes[len(codes) // 10 :] + list(entries)[-2:]}
    for code in list(after)[:: 100][:-1]:
        after[code] = "changed"
    for _ in range(len(codes) // 10):
        after["%064x" % CHANCE.getrandbits(256)] = "fresh"
    return after


def test_the_list_changes():
    gone = list(ENTRIES)[: (CODES - 2) // 10]
    (FOLDER / "hand.txt").write_text(f"{gone[1]},100\n")
    doppel("import", "hand.txt")  # by hand, too
    doppel("tag", find_code(gone[2])[0]["id"], "--list", "ours", "--label", "by hand")
    after = changed(ENTRIES)
    retagged = sum(ENTRIES.get(code, "") != tags for code, tags in after.items() if code in ENTRIES)
    write_list("second.csv", after)
    expected = {
        "added": len(after.keys() - ENTRIES.keys()),
        "removed": len(gone),
        "removed_from_library": len(gone) - 2,
        "changed_tags": retagged,
        "unchanged": len(after.keys() & ENTRIES.keys()) - retagged,
    }
    GONE.append(find_code(gone[0])[0]["id"])
    dry = sync("second.csv", "--dry-run")
    assert {key: dry[key] for key in expected} == expected and not dry["done"], (dry, expected)
    assert find_code(gone[0])[0]["lists"] == ["blocked"]
    done = sync("second.csv")
    assert {key: done[key] for key in expected} == expected and done["done"], (done, expected)
    find_code(gone[0], expected=1)
    [hand] = find_code(gone[1])
    assert "lists" not in hand and "labels" not in hand, hand
    [ours] = find_code(gone[2])
    assert ours["lists"] == ["ours"] and ours["labels"] == ["by hand"], ours
    new = next(code for code in after if after[code] == "fresh")
    assert find_code(near(new, 9))[0]["labels"] == ["fresh"]
    ENTRIES.clear()
    ENTRIES.update(after)
    assert "no problems" in doppel("verify").stderr


def test_what_is_cut_short_is_refused():
    whole = (FOLDER / "second.csv").read_bytes()
    before = listed()["items"]
    for name, part in {
        "empty.csv": b"",
        "header.csv": b"hash,hash_type,tags\n",
        "half.csv": whole[: whole.index(b"\n", len(whole) // 3) + 1],
        "cut.csv": whole[:-60],
    }.items():
        (FOLDER / name).write_bytes(part)
        done = doppel("import", "--sync", name, "--list", "blocked", code=2)
        assert "nothing is changed" in done.stderr or "stays as it is" in done.stderr, done.stderr
        assert listed()["items"] == before
    (FOLDER / "other.csv").write_text("hash,hash_type\n" + "0" * 64 + ",pdq\n")
    assert sync("other.csv", "--force")["after"] == 1
    assert sync("second.csv", "--force")["after"] == before


def test_killed_syncs_leave_the_old_or_the_new():
    """SIGKILL at chance moments: never something between."""
    lines = (FOLDER / "second.csv").read_text().splitlines(True)
    (FOLDER / "some.csv").write_text("".join(lines[: CODES * 3 // 4 + 1]))
    sizes = {len(ENTRIES), CODES * 3 // 4}
    for i in range(6):
        name = "some.csv" if i % 2 == 0 else "second.csv"
        env = dict(os.environ, DOPPEL_LIBRARY=str(FOLDER / "library"), HOME=str(FOLDER))
        words = ["import", "--sync", name, "--list", "blocked", "--force", "-q"]
        child = subprocess.Popen([BUILD / "doppel", *words], cwd=FOLDER, env=env)
        time.sleep(CHANCE.random() * CODES / 60000)
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert listed()["items"] in sizes, (listed(), sizes)
    assert sync("second.csv", "--force")["after"] == len(ENTRIES)
    assert "no problems" in doppel("verify").stderr


def test_exceptions():
    """What is like an item of a benign list is nobody's duplicate."""
    path = "pictures/originals/tree.jpg"
    [tree] = rows("check", path)
    assert tree["decision"] == "duplicate", tree
    doppel("lists", "set", "stock", "--state", "benign")
    doppel("tag", tree["of"], "--list", "stock")
    [tree] = rows("check", path, code=1)
    assert tree["decision"] == "new" and tree["reason"] == "benign", tree
    assert "stock" in tree["lists"], tree
    doppel("tag", tree["of"], "--list", "stock", "--remove")


def test_a_flood():
    path, copy = "pictures/originals/mountains.jpg", "pictures/copies/mountains-small.jpg"
    doppel("lists", "set", "blocked", "--flood", 3)
    assert listed()["state"] == "active"
    [first] = rows("ingest", path)
    item = first["of"]
    answers = [first, *rows("ingest", copy), *(rows("check", "--count", copy)[0] for _ in "ab")]
    answers.append(rows("check", "--count", path)[0])
    # the last ones were there already: no new matches
    assert listed()["matches"] == 2 and not any("action" in answer for answer in answers), answers
    for i in range(4):  # uploads under other names
        (FOLDER / f"upload{i}.jpg").write_bytes((FOLDER / copy).read_bytes() + bytes([i]))
        [answer] = rows("check", "--count", f"upload{i}.jpg")
        assert answer["lists"] == ["blocked"], answer
        assert ("action" in answer) == (i >= 1), (i, answer)
    assert answer["action"] == "review" and answer["action_reason"] == "flood", answer
    state = listed()
    assert state["matches"] == state["matches_last_day"] == 6 and state["last_match"], state
    assert [one["item"] for one in state["review"]] == [item], state
    assert rows("check", "upload0.jpg")[0]["action"] == "review"
    assert f"lists release {item}" in doppel("lists").stderr
    story = doppel("log", item).stdout
    assert "flood, more than 3 matches in a day" in story, story
    doppel("lists", "release", item)
    assert "action" not in rows("check", "upload0.jpg")[0]
    state = listed()
    assert state["in_review"] == 0 and state["matches_last_day"] == 6, state
    doppel("lists", "release", item, code=3)
    for i in range(4):  # it counts from 0 again
        [answer] = rows("check", "--count", "upload0.jpg")
        assert ("action" in answer) == (i == 3), (i, answer)
    doppel("lists", "set", "blocked", "--flood", "off")
    doppel("lists", "release", "ALL")


def test_the_log_explains():
    [decided] = rows("ingest", "upload0.jpg")
    story = doppel("log", decided["item"]).stdout
    assert f"a duplicate of item {decided['of']}" in story and "bits differ" in story, story
    assert "gone from list 'blocked'" in doppel("log", *GONE).stdout


def test_digests_are_synced_too():
    names = [f"{CHANCE.getrandbits(128):032x}  file {i}\n" for i in range(50)]
    (FOLDER / "a.md5").write_text("".join(names))
    (FOLDER / "b.md5").write_text("".join(names[5:] + [f"{'a' * 32}  one more\n"]))
    words = ["--list", "files"]
    [counts] = rows("import", "--sync", "a.md5", *words)
    assert counts["added"] == 50, counts
    [counts] = rows("import", "--sync", "b.md5", *words)
    expected = dict(added=1, removed=5, removed_from_library=5, unchanged=45, after=46)
    assert {key: counts[key] for key in expected} == expected, counts


def test_an_export_and_a_merge_know_what_came_with_a_list():
    """A list in a library that was made of an export, or merged, is synced as in the first."""
    codes = ["%064x" % CHANCE.getrandbits(256) for _ in range(40)]
    for name, few in ("some.csv", codes[:30]), ("more.csv", codes[10:]):
        write_list(name, {code: f"a{i % 3},b" for i, code in enumerate(few)})
    words = ["--sync", "--list", "some", "--json"]
    first = ["-L", "first"]
    doppel("import", *first, "some.csv", *words)
    doppel("lists", "set", "some", *first, "--max-distance", 12, "--flood", 9)
    doppel("tag", *first, 3, "--label", "mine")
    doppel("export", *first, "-o", "first.jsonl")
    doppel("import", "first.jsonl", "-L", "second")
    doppel("merge", "first", "-L", "third")
    expected = None
    for library in ("first", "second", "third"):
        at = ["-L", library]
        [rule] = [json.loads(line) for line in doppel("lists", *at, "--json").stdout.splitlines()]
        assert (rule["max_distance"], rule["flood"]) == (12, 9), rule
        done = json.loads(doppel("import", *at, "more.csv", *words).stdout)
        assert done["removed_from_library"] == 10 and done["added"] == 10, (library, done)
        items = [json.loads(line) for line in doppel("list", *at, "--json").stdout.splitlines()]
        state = sorted((item["digest"], item["labels"], item["lists"]) for item in items)
        expected = expected or state
        assert state == expected, library
        assert "no problems" in doppel("verify", *at).stderr


def test_a_list_that_comes_after_the_picture():
    """The same bytes are a duplicate of the picture, and on the list all the same."""
    path = "pictures/originals/planet.jpg"
    at = ["-L", "late"]
    (FOLDER / "planet.jpg").write_bytes((FOLDER / path).read_bytes())
    doppel("ingest", *at, "--scheme", "pdq", path)
    [code] = rows("hash", "--scheme", "pdq", path)
    write_list("late.csv", {code["code"]: "planet"})
    doppel("import", *at, "late.csv", "--list", "late")
    [answer] = rows("check", *at, "planet.jpg")
    assert answer["reason"] == "identical" and answer["lists"] == ["late"], answer
    assert answer["labels"] == ["planet"], answer


def test_lists_as_exchanges_write_them():
    code, digest = f"{CHANCE.getrandbits(256):064X}", f"{CHANCE.getrandbits(128):032x}"
    rows_of = [
        "hash_value,hash_type,tags",
        f'{code},HASH_PDQ,"media_type_photo,pwny"',
        f"{digest},video_md5,\"['a', 'b']\"",
        *(f"http://example.org/{i},url,x" for i in range(12)),
    ]
    (FOLDER / "exchange.csv").write_text("\r\n".join(rows_of) + "\r\n")
    words = ["import", "--sync", "exchange.csv", "--list", "exchange", "--json"]
    for added in (2, 0):  # what cannot be compared is said, and is no reason to refuse the rest
        done = doppel(*words, code=3)
        assert json.loads(done.stdout)["added"] == added, done.stdout
        assert "no such type of a hash: 'url'" in done.stderr and "2 more" in done.stderr, done
    assert find_code(code)[0]["labels"] == ["media_type_photo", "pwny"]
    labels = [row["labels"] for row in rows("list", "--list", "exchange")]
    assert labels == [["media_type_photo", "pwny"], ["a", "b"]], labels


with tempfile.TemporaryDirectory(prefix="doppel-moderator.") as folder:
    FOLDER = pathlib.Path(folder)
    tap.run(BUILD / "doppel-demo", "--all", folder, ROOT / "LICENSE")
    ENTRIES, GONE = make_entries(), []
    write_list("first.csv", ENTRIES)
    sys.exit(tap.main(sys.modules[__name__]))
