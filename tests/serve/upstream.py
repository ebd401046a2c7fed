#!/usr/bin/env python3
"""Two levels: nodes that ask an upstream, all of them real processes.

`upstream.py BUILD`
"""

import concurrent.futures
import contextlib
import http.server
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402
from service import Service  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
ROUNDS = 600
WORDS = [line.strip() for line in """
amber anchor apple arrow autumn badge basket beacon bishop blanket bottle branch bridge bronze
bucket butter candle canyon carpet castle cedar chalk cherry circle clover cobalt copper cotton
cradle crystal dagger desert dragon drum eagle ember engine falcon feather fiddle forest fossil
garden garnet glacier goblet granite hammer harbor hazel helmet hollow ivory jacket jasper jungle
kernel kettle ladder lantern lemon linen lizard magnet maple marble meadow mirror needle nickel
""".split()]


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix="doppel-upstream.") as home:
        (pathlib.Path(home) / "up").mkdir()
        yield pathlib.Path(home)


def text(seed):
    """Unlike that of any other seed."""
    choice = random.Random(seed)
    return " ".join(choice.choice(WORDS) for _ in range(40))


def environment(home, **more):
    return dict(os.environ, HOME=str(home), XDG_CACHE_HOME=str(home / "cache")) | more


def upstream(home, *options, port=0):
    return Service(BUILD, home / "up", *options, listen=f"127.0.0.1:{port}")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ingest(home, node, url, *what, given=None, **more):
    """Decisions of a node, whose library is its folder, and what it said."""
    run = subprocess.run(
        [BUILD / "doppel", "ingest", "-L", home / node, "--json", "--upstream", url, *what],
        input=given, text=True, capture_output=True, cwd=home, timeout=120,
        env=environment(home, **more),
    )
    return run.returncode, [json.loads(line) for line in run.stdout.splitlines()], run.stderr


class Node:
    """`doppel ingest -`, which answers line by line."""

    def __init__(self, home, name, url, *options):
        self.log = open(home / f"{name}.log", "a")
        self.process = subprocess.Popen(
            [BUILD / "doppel", "ingest", "-L", home / name, "--upstream", url, *options, "-"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True, bufsize=1,
            cwd=home, env=environment(home),
        )

    def decide(self, record):
        """NULL: it died."""
        try:
            self.process.stdin.write(json.dumps(record) + "\n")
            line = self.process.stdout.readline()
        except (BrokenPipeError, ValueError):
            return None
        return json.loads(line) if line.endswith("\n") else None

    def end(self, how=None):
        if how:
            self.process.send_signal(how)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()
        self.log.close()


def log_of(home, node, item):
    shown = subprocess.run(
        [BUILD / "doppel", "log", "-L", home / node, "--json", str(item)],
        capture_output=True, text=True, check=True, env=environment(home),
    )
    return [json.loads(line) for line in shown.stdout.splitlines()]


def only(decisions):
    (one,) = decisions
    return one


# ---- what is there is ignored ----


def test_what_the_upstream_has_is_ignored_here():
    with folder() as home, upstream(home) as service:
        subprocess.run([BUILD / "doppel-demo", home / "demo"], check=True, capture_output=True)
        originals = home / "demo/originals"
        code, first, _ = ingest(home, "a", service.address, originals)
        assert code == 0 and {one["decision"] for one in first} == {"new"}, first
        code, second, _ = ingest(home, "b", service.address, originals)
        assert code == 0 and {one["decision"] for one in second} == {"ignored"}, second
        for mine, theirs in zip(second, first):
            assert mine["reason"] == "upstream" and theirs["path"] in mine["upstream"]["name"]
            there = service.get(f"/v1/items/{mine['upstream']['item']}")[2]
            assert there["external_id"] == mine["upstream"]["name"], there
            entries = log_of(home, "b", mine["item"])
            assert [one["decision"] for one in entries] == ["new", "ignored"], entries
            assert entries[1]["detail"] == mine["upstream"], entries
        near = sorted((home / "demo/copies").glob("*.jpg"))
        _, copies, _ = ingest(home, "c", service.address, *near)
        assert any(one["decision"] == "ignored" for one in copies), copies
        story = subprocess.run([BUILD / "doppel", "log", "-L", home / "b", "1"], text=True,
                               capture_output=True, check=True, env=environment(home)).stdout
        assert "is ignored" in story and service.address in story, story
        _, again, _ = ingest(home, "b", service.address, originals)
        assert {one["decision"] for one in again} == {"duplicate"}, again


def test_texts_audio_and_video_are_asked_by_codes():
    """The bytes of the upstream's library hold no word of a text, and no picture."""
    with folder() as home, upstream(home) as service:
        (home / "demo").mkdir()
        subprocess.run([BUILD / "doppel-demo", "--all", home / "demo", ROOT / "LICENSE"],
                       check=True, capture_output=True)
        record = {"id": "1", "text": text("a text")}
        (home / "demo/a.txt").write_text(text("a file"))
        names = ["a.txt", "music/tune-1.wav", "music/tune-2.wav", "heard.wav", "diver.avi"]
        files = [home / "demo" / name for name in names]
        lines = "".join(f"{path}\n" for path in files) + json.dumps(record) + "\n"
        _, first, _ = ingest(home, "a", service.address, "-", given=lines)
        _, second, _ = ingest(home, "b", service.address, "-", given=lines)
        assert [one["decision"] for one in first] == ["new"] * 3 + ["part"] + ["new"] * 2, first
        assert [one["decision"] for one in second] == ["ignored"] * 3 + ["part"] + ["ignored"] * 2
        _, replayed, _ = ingest(home, "b", service.address, "-", given=json.dumps(record))
        assert only(replayed)["decision"] == "ignored" and only(replayed)["replayed"], replayed
        _, other, _ = ingest(home, "b", service.address, "-",
                             given=json.dumps({"id": "2", "text": text("another")}))
        assert only(other)["decision"] == "new", other
        held = b"".join(path.read_bytes() for path in (home / "up/library").glob("catalogue*"))
        assert not any(word.encode() in held for word in WORDS if len(word) > 5)


def test_a_service_is_a_node_and_an_upstream_in_turn():
    with folder() as home, upstream(home) as top:
        (home / "middle").mkdir()
        with Service(BUILD, home / "middle", "--upstream", top.address) as middle:
            sent = {"text": text("of the middle"), "id": "1"}
            assert only(middle.post("/v1/ingest", sent)[2]["results"])["decision"] == "new"
            _, mine, _ = ingest(home, "a", top.address, "-", given=json.dumps(sent))
            assert only(mine)["decision"] == "ignored", mine
            other = {"text": text("of a node"), "id": "2"}
            _, mine, _ = ingest(home, "a", top.address, "-", given=json.dumps(other))
            assert only(mine)["decision"] == "new", mine
            _, below, _ = ingest(home, "b", middle.address, "-", given=json.dumps(other))
            assert only(below)["decision"] == "ignored", below
            assert "#" in only(below)["upstream"]["name"], below


# ---- at the same moment ----


def race(nodes, records):
    """Each record to all nodes at once. How often which decided what."""
    with concurrent.futures.ThreadPoolExecutor(len(nodes)) as pool:
        for record in records:
            begin = threading.Barrier(len(nodes))

            def send(node, record=record, begin=begin):
                begin.wait()
                return node.decide(record)["decision"]

            yield sorted(pool.map(send, nodes))


def test_of_two_nodes_one_is_new_and_the_other_ignored():
    with folder() as home, upstream(home) as service:
        nodes = [Node(home, name, service.address) for name in "ab"]
        records = [{"id": str(i), "text": text(i)} for i in range(300)]
        for decisions in race(nodes, records):
            assert decisions == ["ignored", "new"], decisions
        for node in nodes:
            node.end()


class Mortal:
    """A node or an upstream that is killed now and then, and started again in its place."""

    def __init__(self, start):
        self.start = start
        self.one = start()

    def kill(self):
        self.one.end(signal.SIGKILL)
        self.one = self.start()


def send_until_answered(node, record):
    """As a client does that does not know whether what it sent was taken."""
    for _ in range(50):
        answer = node.one.decide(record)
        if answer:
            return answer
        time.sleep(0.05)
        if node.one.process.poll() is not None:
            node.one.end()
            node.one = node.start()
    raise AssertionError("never answered")


def kill_now_and_then(victims, stop, kills):
    choice = random.Random(5)
    while not stop.wait(choice.uniform(0.02, 0.3)):
        victim = choice.choice(victims)
        if isinstance(victim.one, Node):
            with contextlib.suppress(ProcessLookupError):
                victim.one.process.kill()
        else:
            victim.kill()
        kills.append(victim)


def held(library):
    """Which records a library holds, and as what."""
    rows = sqlite3.connect(f"file:{library}/catalogue.db?mode=ro", uri=True).execute(
        "SELECT record_id, decision FROM items")
    return sorted((name.partition(":")[2].partition("#")[0] or name, what) for name, what in rows)


def test_killed_at_any_moment_no_record_is_new_twice_or_never():
    """Both nodes get all records, each twice; nodes and upstream are killed meanwhile."""
    with folder() as home:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        nodes = [Mortal(lambda name=name: Node(home, name, url)) for name in "ab"]
        top = Mortal(lambda: upstream(home, port=port))
        records, answers, kills = [], [], []
        stop = threading.Event()
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            killing = pool.submit(kill_now_and_then, [*nodes, top, top], stop, kills)
            try:
                while len(records) < ROUNDS or len(kills) < 20:  # some machines are quick
                    record = {"id": str(len(records)), "text": text(len(records))}
                    records.append(record)
                    both = [pool.submit(send_until_answered, node, record) for node in nodes]
                    answers.append([one.result(timeout=120)["decision"] for one in both])
            finally:
                stop.set()
                killing.result(timeout=60)
        again = [[send_until_answered(node, record)["decision"] for node in nodes]
                 for record in records]
        for mine in nodes:
            mine.one.end()
        top.one.end()
        top.one.__exit__()
        assert all(sorted(one) == ["ignored", "new"] for one in answers), answers
        assert again == answers
        names = [record["id"] for record in records]
        for number, name in enumerate("ab"):
            told = sorted(zip(names, (one[number] for one in answers)))
            assert held(home / name) == told
        once = [(name, what) for name in names for what in ("duplicate", "new")]
        assert held(home / "up/library") == sorted(once)
        waits = "SELECT count(*) FROM upstream"
        for name in "ab":
            rows = sqlite3.connect(home / name / "catalogue.db").execute(waits)
            assert rows.fetchone() == (0,)


# ---- while it is away ----


def test_accepted_while_away_and_found_to_be_there_later():
    with folder() as home:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        given = json.dumps({"id": "1", "text": text(1)})
        for name in "ab":
            code, decisions, said = ingest(home, name, url, "--upstream-policy", "accept", "-",
                                           given=given)
            assert code == 0 and "will be asked later" in said, said
            assert only(decisions)["decision"] == "new" and only(decisions)["queued"], decisions
        with upstream(home, port=port):
            _, _, said = ingest(home, "a", url, "--upstream-policy", "accept", "-", given="")
            assert "ignored" not in said, said
            _, _, said = ingest(home, "b", url, "--upstream-policy", "accept", "-", given="")
            assert "was new here, but the upstream has it" in said, said
            _, _, said = ingest(home, "b", url, "--upstream-policy", "accept", "-", given="")
            assert "was new here" not in said, said
        assert [one["decision"] for one in log_of(home, "a", 1)] == ["new"]
        assert [one["decision"] for one in log_of(home, "b", 1)] == ["new", "ignored"]


def test_what_has_no_name_there_is_called_by_its_number():
    with folder() as home:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        (home / "a.txt").write_text(text(1))
        ingest(home, "a", url, "--upstream-policy", "accept", home / "a.txt")
        with upstream(home, port=port) as service:
            assert service.send("/v1/ingest", ("a.txt", text(1).encode()))[0] == 200
            _, _, said = ingest(home, "a", url, "-", given="")
        assert "ignored (there item 1)" in said, said
        told = subprocess.run([BUILD / "doppel", "log", "-L", home / "a", "1"], text=True,
                              capture_output=True, check=True, env=environment(home)).stdout
        assert f"{url} has it, as item 1\n" in told, told


def test_accepted_before_it_was_asked_again_and_found_to_be_there():
    """After the first one the upstream is not asked for a while: the second is told at once."""
    with folder() as home:
        port = free_port()
        records = [{"id": str(i), "text": text(i)} for i in range(3)]
        node = Node(home, "b", f"http://127.0.0.1:{port}", "--upstream-policy", "accept")
        assert all(node.decide(record)["queued"] for record in records[:2])
        with upstream(home, port=port) as service:
            ingest(home, "a", service.address, "-",
                   given="".join(json.dumps(record) + "\n" for record in records[:2]))
            time.sleep(0.5)
            assert "queued" not in node.decide(records[2])
            node.end()
        said = (home / "b.log").read_text()
        assert said.count("was new here, but the upstream has it") == 2, said


def test_what_was_sent_before_is_ones_own_whatever_it_is_called():
    """The answer is lost, and the file is sent again beside another."""
    with folder() as home:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        accept = ["--upstream-policy", "accept"]
        odd = os.fsencode(home) + b"/caf\xe9 \xf0\x9f\x98\x80.txt"
        pathlib.Path(os.fsdecode(odd)).write_text(text(1))
        (home / "b.txt").write_text(text(2))
        ingest(home, "a", url, *accept, odd)
        shutil.copytree(home / "a", home / "before")
        with upstream(home, port=port):
            ingest(home, "a", url, "-", given="")
        ingest(home, "before", url, *accept, "b.txt")
        with upstream(home, port=port):
            ingest(home, "before", url, "-", given="")
        assert [one["decision"] for one in log_of(home, "before", 1)] == ["new"]


def test_waited_for_while_away():
    with folder() as home:
        port = free_port()
        node = Node(home, "a", f"http://127.0.0.1:{port}")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            answer = pool.submit(node.decide, {"id": "1", "text": text(1)})
            time.sleep(1)
            assert not answer.done()
            with upstream(home, port=port):
                assert answer.result(timeout=60)["decision"] == "new"
        node.end()
        assert "waited for" in (home / "a.log").read_text()


def test_who_waits_can_be_stopped():
    with folder() as home:
        node = Node(home, "a", f"http://127.0.0.1:{free_port()}")
        node.process.stdin.write(json.dumps({"id": "1", "text": text(1)}) + "\n")
        time.sleep(1)
        node.end(signal.SIGINT)
        assert node.process.returncode == 130, node.process.returncode


def test_a_service_that_waits_can_be_stopped():
    away = f"http://127.0.0.1:{free_port()}"
    with folder() as home, Service(BUILD, home, "--upstream", away) as service:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            asked = pool.submit(service.post, "/v1/ingest", {"text": text(1)})
            while "is away" not in service.said():
                assert not asked.done(), asked.result()
                time.sleep(0.02)
            begun = time.monotonic()
            assert service.end() == 0
            assert time.monotonic() - begun < 20, "it waited for the upstream"
            assert asked.result()[0] == 503, asked.result()


# ---- who answers ----


class Impostor:
    """A server that answers each POST with the same bytes."""

    def __init__(self, status, body, **headers):
        outer = self
        self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                outer.asked.append(self.rfile.read(int(self.headers["Content-Length"])))
                outer.headers = self.headers
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body)

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


NEW = b'{"decision":"new"}\n'


def test_what_is_no_answer_is_a_sentence():
    cases = [
        (200, b"<html>log in</html>", {}, "does not answer as a doppel service"),
        (200, b"", {}, "does not answer as a doppel service"),
        (200, b"[1]\n", {}, "does not answer as a doppel service"),
        (200, b'{"decision":"fine"}\n', {}, "does not answer as a doppel service"),
        (200, b'{"decision":"new","decision":"new"}\n', {}, "does not answer as a doppel service"),
        (200, NEW + NEW, {}, "more than was asked"),
        (200, b"[" * 100000, {}, "does not answer as a doppel service"),
        (200, b" " * (65 << 20), {}, "the answer has more than 67108864 bytes"),
        (302, b"", {"Location": "http://127.0.0.1:1/"}, "redirects are not followed"),
        (401, b'{"detail":"a key is wanted"}', {}, "answers 401: a key is wanted"),
        (400, b'{"detail":7}', {}, "answers 400"),
        (404, b"", {}, "answers 404"),
    ]
    with folder() as home:
        for i, (status, body, headers, sentence) in enumerate(cases):
            with Impostor(status, body, **headers) as impostor:
                code, decisions, said = ingest(home, f"n{i}", impostor.address, "-",
                                               given=json.dumps({"id": "1", "text": text(1)}))
                assert code == 2 and not decisions and sentence in said, (code, decisions, said)
                assert len(impostor.asked) == 1


def test_the_address_and_the_key():
    given = json.dumps({"id": "1", "text": text(1)})
    with folder() as home:
        for url in ("ftp://127.0.0.1/", "127.0.0.1:8040", "file:///etc/passwd", "http://", ""):
            code, _, said = ingest(home, "a", url, "-", given=given)
            assert code == 2 and "https://" in said, (url, code, said)
        (home / "key").write_text("secret\n")
        with Impostor(200, NEW) as impostor:
            ingest(home, "a", impostor.address, "--upstream-key", home / "key", "-", given=given)
            assert impostor.headers["Authorization"] == "Bearer secret"
            assert impostor.headers["Idempotency-Key"]
            ingest(home, "b", impostor.address, "-", given=given, DOPPEL_UPSTREAM_KEY="other")
            assert impostor.headers["Authorization"] == "Bearer other"
            sent = json.loads(impostor.asked[0])
            assert set(sent) == {"id", "record"} and "amber" not in impostor.asked[0].decode()
        for name, content in (("none", None), ("empty", ""), ("long", "x" * 2000)):
            if content is not None:
                (home / name).write_text(content)
            code, _, said = ingest(home, "a", "http://127.0.0.1:1", "--upstream-key", home / name,
                                   "-", given=given)
            assert code == 2 and name in said, said


def test_a_certificate_is_verified():
    with folder() as home:
        pair = [home / "cert.pem", home / "key.pem"]
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-out", pair[0],
             "-keyout", pair[1]], check=True, capture_output=True)
        tls = ["--tls-cert", pair[0], "--tls-key", pair[1]]
        given = json.dumps({"id": "1", "text": text(1)})
        with upstream(home, *tls) as service:
            url = service.address.replace("127.0.0.1", "localhost")
            code, _, said = ingest(home, "a", url, "-", given=given)
            assert code == 2 and "certificate" in said and "--upstream-ca" in said, said
            code, made, said = ingest(home, "a", url, "--upstream-ca", pair[0], "-", given=given)
            assert code == 0 and not made[0].get("queued"), (made, said)
            code, _, said = ingest(home, "b", service.address, "--upstream-ca", pair[0], "-",
                                   given=given)
            assert code == 2, said  # it is not signed for that name


def test_a_socket_is_an_address():
    with folder() as home:
        path = f"unix:{home}/socket"
        with Service(BUILD, home / "up", listen=path):
            given = json.dumps({"id": "1", "text": text(1)})
            for name, decision in (("a", "new"), ("b", "ignored")):
                _, decisions, said = ingest(home, name, path, "-", given=given)
                assert only(decisions)["decision"] == decision, said


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
