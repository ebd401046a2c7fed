#!/usr/bin/env python3
"""`doppel --server URL VERB`: the command as a client of a service says what it says of a library.

`client.py BUILD`
"""

import contextlib
import hashlib
import json
import math
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import wave

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402
from service import Service  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
# Where an item lies, and what it is called, differs; and so which of two texts is kept, since size
# and age are those of a file.
OF_PLACE = {"id", "path", "name", "size", "mtime", "replaces"}
OF_PLACE |= {"external_id", "of_path", "of_external_id"}
WORDS = "the quick brown fox jumps over the lazy dog and then sleeps in the warm sun until noon "


class Client:
    """The command in a home of its own, beside the service's."""

    def __init__(self, home, service):
        self.home = pathlib.Path(home)
        self.server = ["--server", service.address] if service else []

    def run(self, *words, code=0, environment=None):
        done = subprocess.run(
            [BUILD / "doppel", *self.server, *map(str, words)],
            cwd=self.home,
            capture_output=True,
            env=dict(os.environ, HOME=str(self.home), XDG_CACHE_HOME=str(self.home / "cache"))
            | (environment or {}),
        )
        self.said = done.stderr.decode()
        self.code = done.returncode
        assert code in (None, self.code), (words, done.returncode, done.stdout, self.said)
        return done.stdout.decode()

    def rows(self, *words, **more):
        return [json.loads(line) for line in self.run(*words, "--json", **more).splitlines()]


def folder():
    return tempfile.TemporaryDirectory(prefix="doppel-client.")


@contextlib.contextmanager
def both(*options):
    """A service with a client, and a library here with what says the same of it."""
    with folder() as home, Service(BUILD, home, *options) as service:
        shutil.copytree(DEMO, f"{home}/demo")
        yield Client(home, service), Local(home)


class Local(Client):
    def __init__(self, home):
        super().__init__(home, None)

    def run(self, *words, **more):
        return super().run(words[0], "-L", self.home / "here", *words[1:], **more)


def without_place(row):
    return {key: value for key, value in row.items() if key not in OF_PLACE}


def compare_rows(theirs, ours):
    assert len(theirs) == len(ours) > 0, (theirs, ours)
    for a, b in zip(theirs, ours):
        assert without_place(a) == without_place(b), (a, b)


def members(groups):
    return sorted(sorted(one["id"] for one in group["members"]) for group in groups)


def write_more(home):
    """A text, its near copy, and sound: what demo does not have."""
    text = "".join(f"{WORDS}{n} " for n in range(20))
    (home / "demo/originals/fox.txt").write_text(text)
    (home / "demo/copies/fox.txt").write_text(text.replace("7 ", "seven "))
    tone = bytearray()
    for n in range(11025 * 12):
        tone += int(9000 * math.sin(n * (300 + n // 450 * 37 % 900) / 1755)).to_bytes(
            2, "little", signed=True
        )
    for name, data in ("originals", tone), ("copies", tone[11025 * 6 :]):
        with wave.open(str(home / f"demo/{name}/tone.wav"), "wb") as file:
            file.setparams((1, 2, 11025, 0, "NONE", ""))
            file.writeframes(data)


def test_files_are_decided_about_and_found_as_in_a_library_here():
    with both() as (client, local):
        write_more(client.home)
        asked = [
            ("ingest", "demo/originals", 0),
            ("check", "demo/copies", 3),
            ("find", "demo/copies", 3),
            ("find", "--max-distance", "2", "demo/copies", 3),
            ("find", "--min-similarity", "0.97", "demo/copies", 3),
            ("find", "--code", "ffff0000ffff0000", 1),
            ("ingest", "demo/copies", 3),
        ]
        for *words, code in asked:
            theirs, ours = client.rows(*words, code=code), local.rows(*words, code=code)
            compare_rows(theirs, ours)
            key = "query" if words[0] == "find" else "path"
            assert [row[key] for row in theirs] == [row[key] for row in ours]
        assert "broken.jpg: the JPEG is cut short" in client.said, client.said
        theirs, ours = members(client.rows("groups")), members(local.rows("groups"))
        assert len(theirs) > 5 and theirs == ours, (theirs, ours)
        for words in ["--kind", "text"], ["--where", "width > 1"], ["--kind", "image"]:
            theirs, ours = (one.rows("list", *words) for one in (client, local))
            assert [row["digest"] for row in theirs] == [row["digest"] for row in ours] != []
        assert "demo/originals/tiles.jpg" in client.run("find", "demo/copies/tiles-turned.jpg")


def test_files_are_sent_where_that_is_asked_for():
    with both() as (client, local):
        ours = local.rows("ingest", "demo/originals")
        compare_rows(client.rows("ingest", "--upload", "demo/originals"), ours)
        ours = local.rows("find", "demo/copies", code=3)
        compare_rows(client.rows("find", "--upload", "demo/copies", code=3), ours)
        assert "broken.jpg: " in client.said and "16 of 600 rows" in client.said, client.said
        (client.home / "empty.jpg").touch()
        (row,) = client.rows("check", "--upload", "empty.jpg", code=3)
        assert row == {"path": "empty.jpg", "decision": "unreadable", "reason": "the file is empty"}


def test_what_is_too_long_to_be_sent_is_said():
    with both("--max-body", "20K") as (client, _):
        client.run("check", "--upload", "demo/originals/clock.jpg", code=3)
        assert "clock.jpg: " in client.said and "413" in client.said, client.said


def test_a_file_is_known_again_by_where_it_lies():
    with both() as (client, _):
        sea, tree = (client.home / f"demo/originals/{name}.jpg" for name in ("sea", "tree"))
        (first,) = client.rows("ingest", sea)
        (again,) = client.rows("ingest", sea)
        assert again["decision"] == "duplicate" and again["of"] == first["item"], again
        sea.write_bytes(tree.read_bytes())
        (changed,) = client.rows("ingest", sea)
        assert changed["decision"] == "revision" and changed["replaces"] == first["item"], changed
        (named,) = client.rows("check", "--external-id", "mine", sea)
        assert named["id"] == "mine" and named["decision"] == "duplicate", named


def test_lists_of_hashes_know_what_nobody_can_read():
    with both() as (client, _):
        program = client.home / "program.bin"
        program.write_bytes(b"MZ\x90\0 nothing that can be read" + bytes(range(256)))
        sea = client.home / "demo/originals/sea.jpg"
        hashes = [hashlib.sha1(file.read_bytes()).hexdigest() for file in (program, sea)]
        (client.home / "bad.sha1").write_text("".join(f"{one}  a\n" for one in hashes))
        command = [BUILD / "doppel", "import", "-q", "--list", "bad", "bad.sha1", "-L", "library"]
        subprocess.run(command, check=True, cwd=client.home)
        for file in program, sea:
            (row,) = client.rows("find", file)
            assert row["lists"] == ["bad"] and row["query"] == str(file), row
        (row,) = client.rows("check", sea)
        assert row["decision"] == "duplicate" and row["lists"] == ["bad"], row
        client.run("find", "--quiet", BUILD / "doppel", code=3)


def test_lists_of_hashes_decide_as_in_a_library_here():
    """Also about what cannot be read; a digest is all that a service has of that."""
    program = b"MZ\x90\0 nothing that can be read" + bytes(range(256))
    for state in "active", "benign", "disabled":
        with both() as (client, local):
            file, sea = client.home / "program.bin", client.home / "demo/originals/sea.jpg"
            file.write_bytes(program)
            (client.home / "other.bin").write_bytes(program + b"x")
            hashes = [hashlib.md5(one.read_bytes()).hexdigest() for one in (file, sea)]
            (client.home / "a.md5").write_text("".join(f"{one}  a\n" for one in hashes))
            for library in "library", "here":
                words = ["import", "-q", "--list", "a", "a.md5", "-L", library]
                subprocess.run([BUILD / "doppel", *words], check=True, cwd=client.home)
                words = ["lists", "set", "a", "--state", state, "-L", library]
                subprocess.run([BUILD / "doppel", *words], check=True, cwd=client.home)
            for verb in "check", "ingest":
                for one in file, sea, client.home / "other.bin":
                    rows = [side.rows(verb, one, code=None) for side in (client, local)]
                    # what is listed is not read here, and was read when it is sent
                    told = [
                        [row.get(key) for key in ("decision", "of_item", "reason", "lists")]
                        for [row] in rows
                    ]
                    assert told[0] == told[1], (state, verb, rows)
                    assert client.code == local.code, (state, verb, one, rows)
                    if state == "active" and "other" not in one.name:
                        assert rows[0][0]["decision"] == "duplicate", (state, verb, rows[0])


def test_items_are_listed_shown_tagged_and_marked():
    with both() as (client, _):
        client.rows("ingest", "demo/originals/sea.jpg", "demo/originals/tree.jpg")
        client.run("tag", "1", "2", "--list", "known", "--label", "x", "--meta", '{"a":"b\u009b"}')
        client.run("tag", "2", "--remove", "--list", "known", "--label", "x", "--label", "never")
        client.run("tag", "2", "--external-id", "tree", "--source", "https://example.org")
        client.run("tag", "7", "--list", "known", code=3)
        assert "7: " in client.said and "no such item" in client.said, client.said
        assert [row["id"] for row in client.rows("list", "--list", "known")] == [1]
        (row,) = client.rows("show", "id:tree")
        assert row["id"] == 2 and row["source"] == "https://example.org", row
        assert "\\u009B" in client.run("show", "--json", "1")
        assert "labels       x\n" in client.run("show", "1")
        for name in ("77", "", ".", ".."):
            client.run("show", name, code=3)
            assert "holds no such item" in client.said, (name, client.said)
        client.run("mark", "1", "77", "--same", code=3)
        assert "'77': the library holds no such item" in client.said, client.said
        client.run("mark", "1", "2", "--same", "--note", "by hand")
        (mark,) = client.rows("mark", "--list")
        assert mark["mark"] == "same" and mark["note"] == "by hand", mark
        (group,) = client.rows("groups")
        assert len(group["members"]) == 2, group
        client.run("mark", "1", "2", "--forget")
        assert client.rows("mark", "--list") == client.rows("groups") == []
        client.run("list", "--where", "no such thing", code=2)
        assert "syntax error" in client.said, client.said


def test_more_items_than_a_page_has():
    with both() as (client, _):
        texts = [{"id": str(n), "text": f"{n} {n * n} {n * 7} " * 12} for n in range(2300)]
        (client.home / "texts.jsonl").write_text("\n".join(map(json.dumps, texts)))
        command = [BUILD / "doppel", "ingest", "-q", "--jsonl", "texts.jsonl", "-L", "library"]
        subprocess.run(command, check=True, cwd=client.home, stdout=-3)
        rows = client.rows("list")
        assert [row["id"] for row in rows] == list(range(1, 2301))


def test_options_of_a_library_are_refused():
    with both() as (client, local):
        for words in (
            ["find", "--refine", "a.jpg"],
            ["check", "--jsonl", "a.jsonl"],
            ["list", "-L", "."],
            ["list", "--failures"],
            ["groups", "--action", "trash"],
            ["mark", "--from", "marks.jsonl"],
            ["ingest", "-"],
            ["ingest", "--upload", "--list", "known", "a.jpg"],
            ["scan", "."],
        ):
            client.run(*words, code=2)
            assert "--server" in client.said or "name files" in client.said or (
                "'tag'" in client.said
            ), (words, client.said)
        local.run("find", "--upload", "a.jpg", code=2)


def test_a_configured_service_is_the_usual_place():
    with both() as (client, local):
        (client.home / ".config/doppel").mkdir(parents=True)
        (client.home / ".config/doppel/config").write_text(
            f"server = {client.server[1]}\nserver-key = nowhere\n"
        )
        client.server = []
        (client.home / "nowhere").write_text("a key\n")
        environment = {"XDG_CONFIG_HOME": str(client.home / ".config")}
        client.rows("ingest", "demo/originals/sea.jpg", environment=environment)
        assert len(client.rows("list", environment=environment)) == 1
        client.run("list", "-L", "none", code=2, environment=environment)
        assert "no library here" in client.said, client.said
        client.run("check", "--jsonl", "a.jsonl", code=2, environment=environment)
        assert "'--server'" in client.said, client.said


def test_keys_are_shown():
    key = hashlib.sha256(b"secret").hexdigest()
    with folder() as home:
        home = pathlib.Path(home)
        (home / "keys").write_text(f"{key} reader read\n")
        (home / "key").write_text("secret\n")
        (home / "a.txt").write_text(WORDS * 3)
        with Service(BUILD, home, "--keys", str(home / "keys")) as service:
            client = Client(home, service)
            client.run("check", "a.txt", code=2)
            assert "401" in client.said, client.said
            client.run("check", "a.txt", "--server-key", "key", code=1)
            client.run("check", "a.txt", code=1, environment={"DOPPEL_SERVER_KEY": "secret"})
            client.run("ingest", "a.txt", "--server-key", "key", code=2)
            assert "403" in client.said, client.said
            client.server += ["--server-key=key", "--server-ca", "none"]
            client.run("check", "a.txt", code=1)


def test_a_service_that_is_away_is_waited_for_a_while():
    with folder() as home:
        home = pathlib.Path(home)
        (home / "a.txt").write_text(WORDS * 3)
        client = Client(home, None)
        client.server = ["--server", f"unix:{home}/socket"]
        client.run("list", code=2)
        assert "socket: " in client.said, client.said
        running = threading.Thread(target=lambda: client.rows("ingest", "a.txt"))
        with Service(BUILD, home, listen=f"unix:{home}/socket") as service:
            client.rows("check", "a.txt", code=1)
            service.end()
            running.start()
            time.sleep(0.3)
        with Service(BUILD, home, listen=f"unix:{home}/socket"):
            running.join()
            (row,) = client.rows("list")
            assert row["kind"] == "text", row


class Pretender:
    """What answers as it is told to, in place of a service; `asked` are the paths."""

    def __init__(self, home, answer):
        self.answer, self.asked = answer, []
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.client = Client(home, None)
        address = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        self.client.server = ["--server", address]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listening.accept()
                with contextlib.suppress(OSError), connection:
                    self.talk(connection)

    def talk(self, connection):
        data = b""
        while b"\r\n\r\n" not in data:
            if not (more := connection.recv(65536)):
                return
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        self.asked.append(head.split()[1].decode())
        if self.asked[-1] == "/v1/schemes" and not isinstance(self.answer, bytes):
            connection.sendall(said({}))
            return
        (wanted,) = [int(line[15:]) for line in head.split(b"\r\n") if b"Length:" in line] or [0]
        answer = self.answer
        if callable(answer):
            answer = answer(self.asked[-1], connection)
        while answer and len(body) < wanted:
            if not (more := connection.recv(65536)):
                return
            body += more
        connection.sendall(answer or b"")


def said(value, status=200):
    """An answer with JSON, or the text of it."""
    body = value if isinstance(value, str) else json.dumps(value) + "\n"
    head = f"HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    return (head + body).encode()


@contextlib.contextmanager
def pretender(answer):
    with folder() as home:
        (pathlib.Path(home) / "a.txt").write_text(WORDS * 3)
        one = Pretender(pathlib.Path(home), answer)
        with one.listening:
            yield one


EVERY_VERB = (
    ["list"],
    ["show", "1"],
    ["groups"],
    ["tag", "1", "--label", "x"],
    ["mark", "1", "2", "--same"],
    ["mark", "--list"],
    ["find", "a.txt"],
    ["find", "--code", "ffff0000ffff0000"],
    ["find", "--upload", "a.txt"],
    ["check", "a.txt"],
    ["check", "--upload", "a.txt"],
    ["ingest", "a.txt"],
)


def test_what_is_no_service_is_said():
    answers = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"a\":[1]}",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
    ]
    for answer in answers:
        with pretender(answer) as one:
            for words in EVERY_VERB:
                one.client.run(*words, code=2)
                assert one.client.said.startswith("doppel: "), one.client.said
    with pretender(b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{") as one:
        one.client.run("list", code=2)
        assert one.client.said.startswith("doppel: "), one.client.said


def test_answers_that_make_no_sense_are_said():
    some = [{"id": 1}, {"id": 1, "members": []}, {"id": 1, "mark": "same"}]
    rows = [1, None, "x", [], {}, {"": 1}]
    for value in (
        {},
        [],
        5,
        "null\n",
        "{}\n{}\n",
        '{"decision":"new","matches":[]}',  # without an end of the line
        '{"decision":"new","matches":[]}\n{"decision":"new","matches":[]}\n',
        *({"items": [one], "groups": [one], "marks": [one]} for one in rows),
        *({"results": [{"matches": [one]}], "matches": [one], "error": one} for one in rows),
        {"matches": [{"id": 1, "segments": [5]}], "decision": {}, "results": 5},
        {"decision": "fine", "matches": {}, "error": {"detail": []}, "results": [{}]},
        {"results": [{"decision": "new", "matches": []}] * 2, "decision": 1, "matches": 1},
        *({"items": some[:1], "groups": some[1:2], "marks": some[2:], "next": n} for n in (0, "x")),
        {"items": [], "groups": [], "marks": [], "next": 7},  # for ever
        "[" * 100000,
    ):
        with pretender(lambda *_, value=value: said(value)) as one:
            for words in EVERY_VERB:
                one.client.run(*words, code=2)
                assert "does not answer as a doppel service" in one.client.said, one.client.said


def test_pages_that_do_not_go_on_end_the_list():
    with pretender(lambda path, _: said({"items": [{"id": 1}], "next": 5})) as one:
        assert one.client.run("list", "--json", code=2) == '{"id":1}\n'
        assert len(one.asked) == 2 and one.asked[1].endswith("&cursor=5"), one.asked


def test_what_a_service_says_is_printed_as_what_may_do_no_harm():
    harm = "\x1b[31m\x9b\u202e"
    row = {"id": 1, "name": harm, harm: harm, "": [[harm]], "segments": [{"a_start": 1e300}]}
    answer = {"items": [row], "matches": [row], "decision": "new", "reason": harm} | row
    with pretender(lambda path, _: said(answer)) as one:
        for words in ["list"], ["show", "1"], ["find", "a.txt"], ["check", "a.txt"]:
            for more in ["--json"], ["--format", "table"]:
                code = 1 if words[0] == "check" else 0
                out = one.client.run(*words, *more, code=code)
                assert not set(out) & set(harm) - set("[31m"), (words, out)
    with pretender(lambda path, _: said({"detail": harm}, 400)) as one:
        one.client.run("list", code=2)
        assert "answers 400: \\x1b[31m\\x9b\\u202e" in one.client.said, one.client.said
    for more in "", "x":
        with pretender(lambda *_, more=more: said({"detail": more + "\u00e9" * 400}, 400)) as one:
            one.client.run("list", code=2)  # what is cut is cut between characters
            assert "\u00e9\n" in one.client.said, one.client.said


def test_a_file_that_is_shorter_while_it_is_sent_is_one_that_cannot_be_read():
    with pretender(None) as one:
        long = one.client.home / "long.bin"

        def shorten(path, connection):
            if "long.bin" not in path:
                return said({"results": [{"decision": "new"}]})
            os.truncate(long, 1000)
            with contextlib.suppress(OSError):
                while connection.recv(1 << 20):
                    pass
            return None

        one.answer = shorten
        with open(long, "wb") as file:
            file.truncate(256 << 20)
        rows = one.client.rows("ingest", "--upload", "long.bin", "a.txt", code=3)
        assert [row["decision"] for row in rows] == ["unreadable", "new"], rows
        assert "long.bin: cannot be sent: it is shorter now" in one.client.said, one.client.said


def test_files_with_odd_names_have_ids():
    with both() as (client, local):
        names = [b"new\nline", b"\x1b[31m", b"bad\xff", b"bad\xfe", b"a#b%20?c&d=e", b"x" * 200]
        folders = [client.home / ("d" * 200) / ("e" * 200) / ("f" * 200) / "g"] + [client.home]
        for place in folders:
            place.mkdir(parents=True, exist_ok=True)
            for name in names:
                path = os.path.join(os.fsencode(place), name + b".txt")
                pathlib.Path(os.fsdecode(path)).write_text(repr((place, name)) * 9)
        files = [one for place in folders for one in sorted(place.glob("*.txt"))]
        assert len(files) == 12, files

        def run(*words):
            return subprocess.run(
                [BUILD / "doppel", *words, *client.server, "--json", *files],
                capture_output=True,
                env=dict(os.environ, HOME=str(client.home)),
            )

        for words in ["ingest"], ["ingest", "--upload"], ["check"]:
            done = run(*words)
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            assert done.returncode == 0 and len(rows) == 12, (done.stdout, done.stderr)
            if words != ["ingest"]:
                assert {row["reason"] for row in rows} == {"identical"}, rows
        ids = [row["external_id"] for row in client.rows("list")]
        assert len(set(ids)) == 12 and max(map(len, ids)) < 700, ids
        assert any(one.endswith("/a#b%20?c&d=e.txt") for one in ids), ids


def test_much_that_is_said_of_files_hides_no_record():
    with both() as (client, _):
        meta = json.dumps({"a": "x" * 9000})
        sea = "demo/originals/sea.jpg"
        (row,) = client.rows("check", "--meta", meta, sea, code=1)
        assert row["decision"] == "new" and row["kind"] == "image", row


def test_words_that_are_not_text_are_refused():
    with both() as (client, _):
        client.rows("ingest", "demo/originals/sea.jpg", "demo/originals/tree.jpg")
        bad = os.fsdecode(b"x\xff")
        for words in (
            ["ingest", "--external-id", bad, "demo/originals/sea.jpg"],
            ["check", "--source", bad, "demo/originals/sea.jpg"],
            ["tag", "1", "--source", bad],
            ["tag", "1", "--external-id", bad],
            ["mark", "1", "2", "--same", "--note", bad],
        ):
            client.run(*words, code=2)
            assert "UTF-8" in client.said, (words, client.said)
        client.run("mark", "1", bad, "--same", code=2)
        assert "UTF-8" in client.said, client.said


if __name__ == "__main__":
    with folder() as drawn:
        DEMO = pathlib.Path(drawn, "demo")
        subprocess.run([BUILD / "doppel-demo", DEMO], check=True, stdout=-3)
        sys.exit(tap.main(sys.modules[__name__]))
