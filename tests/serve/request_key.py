#!/usr/bin/env python3
"""Requests with an Idempotency-Key are done once, however often they come.

`request_key.py BUILD`
"""

import concurrent.futures
import contextlib
import hashlib
import http.client
import itertools
import json
import pathlib
import random
import signal
import socket
import sqlite3
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402
from service import Service  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
CLIENTS, TEXTS, KILLS = 5, 20, 40
ANSWERED_WITHIN = 240  # seconds, also under a sanitizer on a machine that has much else to do


def folder():
    return tempfile.TemporaryDirectory(prefix="doppel-keys.")


def text(seed):
    choice = random.Random(str(seed))
    return " ".join("".join(choice.choices("abcdefghijklmnop", k=6)) for _ in range(30))


def decisions(answer):
    status, _, body = answer
    assert status == 200, answer
    if isinstance(body, bytes):
        return [json.loads(line)["decision"] for line in body.splitlines()]
    return [one["decision"] for one in body["results"]]


def rows(home, table):
    with contextlib.closing(sqlite3.connect(f"{home}/library/catalogue.db")) as database:
        return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def test_the_same_again_is_answered_the_same():
    image = b"P5 64 64 255\n" + random.Random(1).randbytes(64 * 64)
    kind = {"Content_Type": "application/x-ndjson"}
    lines = "".join(json.dumps({"text": text(i)}) + "\n" for i in (5, 6)) + '{"text":1}\n'
    with folder() as home:
        asked = [
            lambda one, key: one.post("/v1/ingest", {"text": text(1)}, Idempotency_Key=key),
            lambda one, key: one.post("/v1/ingest", [{"text": text(i)} for i in (2, 3, 2)],
                                      Idempotency_Key=key),
            lambda one, key: one.send("/v1/ingest", ("a.txt", text(4).encode()), ("b", image),
                                      Idempotency_Key=key),
            lambda one, key: one.ask("POST", "/v1/ingest?name=c.txt", text(7),
                                     Content_Type="text/plain", Idempotency_Key=key),
            lambda one, key: one.ask("POST", "/v1/ingest", lines, Idempotency_Key=key, **kind),
        ]
        with Service(BUILD, home) as service:
            first = [send(service, f"key {i}") for i, send in enumerate(asked)]
            assert "new" in decisions(first[0]) and "duplicate" in decisions(first[1])
            assert decisions(first[4]) == ["new", "new", "unreadable"], first[4]
            again = [send(service, f"key {i}")[2] for i, send in enumerate(asked)]
            assert again == [one[2] for one in first], (again, first)
            service.end()
        with Service(BUILD, home) as service:  # which survives a restart
            again = [send(service, f"key {i}")[2] for i, send in enumerate(asked)]
            assert again == [one[2] for one in first], (again, first)
            assert "new" not in decisions(asked[0](service, "another key"))


def test_a_key_is_of_one_body_and_of_one_client():
    with folder() as home:
        keys = pathlib.Path(home) / "keys"
        names = ("a", "b")
        keys.write_text("".join(
            f"{hashlib.sha256(name.encode()).hexdigest()} {name} write\n" for name in names))
        with Service(BUILD, home, "--keys", keys) as service:
            def send(client, key, number):
                return service.post("/v1/ingest", {"text": text(number)}, Idempotency_Key=key,
                                    Authorization=f"Bearer {client}")

            assert decisions(send("a", "k", 1)) == ["new"]
            status, headers, body = send("a", "k", 2)
            assert status == 422 and "another body" in body["detail"], body
            assert decisions(send("b", "k", 2)) == ["new"]
            assert decisions(send("a", "k", 1)) == ["new"]
            for bad in ("x" * 256, "ä".encode().decode("latin-1"), " "):
                status, _, body = send("a", bad, 1)
                assert status in (200, 400) and (status == 400 or bad == " "), (bad, body)


def test_a_body_under_another_name_or_of_another_type_is_another():
    with folder() as home, Service(BUILD, home) as service:
        body = json.dumps({"text": text(1)})
        for key, (first, second) in enumerate([
            (("?id=x", "text/plain"), ("?name=x", "text/plain")),
            (("", "application/json"), ("", "text/plain")),
        ]):
            def send(where, kind, key=key):
                return service.ask("POST", f"/v1/ingest{where}", body, Content_Type=kind,
                                   Idempotency_Key=str(key))
            assert send(*first)[0] == 200
            assert send(*second)[0] == 422, second
            assert send(*first)[0] == 200


def test_what_waits_for_an_upstream_still_does_when_it_comes_again():
    with folder() as home:
        options = ["--upstream", f"http://127.0.0.1:{free_port()}", "--upstream-policy", "accept"]
        with Service(BUILD, home, *options) as service:
            first, again = [service.post("/v1/ingest", {"text": text(1)}, Idempotency_Key="k")[2]
                            for _ in range(2)]
        assert first["results"][0]["queued"] and again == first, (first, again)


def test_a_key_is_forgotten_after_a_day():
    with folder() as home, Service(BUILD, home) as service:
        for key in ("old", "young"):
            service.post("/v1/ingest", {"text": text(key)}, Idempotency_Key=key)
        with contextlib.closing(sqlite3.connect(f"{home}/library/catalogue.db")) as database:
            day = 24 * 60 * 60 * 10**9
            for key, age in (("old", day + 60 * 10**9), ("young", day - 60 * 10**9)):
                database.execute("UPDATE request SET time_ns = time_ns - ? WHERE key = ?",
                                 (age, key))
            database.commit()
        service.post("/v1/ingest", {"text": text("other")}, Idempotency_Key="other")
        assert rows(home, "request") == 2 and rows(home, "answer") == 2


def test_two_at_once_are_one():
    with folder() as home, Service(BUILD, home) as service:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for number in range(40):
                value = [{"text": text((number, i))} for i in range(10)]
                sent = [pool.submit(service.post, "/v1/ingest", value, Idempotency_Key=str(number))
                        for _ in range(8)]
                answers = [one.result() for one in sent]
                done = [one for one in answers if one[0] == 200]
                assert done and all(decisions(one) == ["new"] * 10 for one in done), answers
                assert all(one[0] == 409 and one[1]["Retry-After"] for one in answers
                           if one[0] != 200), answers


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_killed_at_any_moment_each_is_done_once():
    """Texts without an id: nothing but the key tells that they came before."""
    with folder() as home, contextlib.ExitStack() as stack:
        listen = f"127.0.0.1:{free_port()}"
        running = [Service(BUILD, home, listen=listen)]

        def bulk(number):
            value = [{"text": text((number, i))} for i in range(TEXTS)]
            end = time.monotonic() + ANSWERED_WITHIN
            while time.monotonic() < end:
                with contextlib.suppress(OSError, http.client.HTTPException):
                    answer = running[0].post("/v1/ingest", value, Idempotency_Key=f"b{number}")
                    if answer[0] == 200:
                        return decisions(answer)
                time.sleep(0.02)
            raise AssertionError("never answered")

        def bulks(first):
            return {number: bulk(number) for number in
                    itertools.takewhile(lambda _: not killed.is_set(),
                                        itertools.count(first, CLIENTS))}

        killed, choice = threading.Event(), random.Random(3)
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            sent = [pool.submit(bulks, first) for first in range(CLIENTS)]
            # A slow machine is killed later, or none would ever be answered between two kills.
            began = time.monotonic()
            bulk(-1)
            usual = time.monotonic() - began
            try:
                for _ in range(KILLS):
                    time.sleep(choice.uniform(0.2, 3) * usual)
                    running[0].end(signal.SIGKILL)
                    running[0] = Service(BUILD, home, listen=listen)
            finally:
                killed.set()
            answers = {}
            for one in sent:
                answers |= one.result()
        last = stack.enter_context(running[0])
        assert len(answers) >= KILLS, len(answers)
        wrong = {number: one for number, one in answers.items() if one != ["new"] * TEXTS}
        assert not wrong, wrong
        assert all(bulk(number) == answers[number] for number in list(answers)[::20])
        assert rows(home, "text") == (len(answers) + 1) * TEXTS
        assert last.end() == 0


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
