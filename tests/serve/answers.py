#!/usr/bin/env python3
"""`doppel serve`: what it answers, to whom, and how it begins and ends.

`answers.py BUILD`
"""

import base64
import concurrent.futures
import contextlib
import hashlib
import json
import pathlib
import random
import re
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402
from service import Service  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
WORDS = "the quick brown fox jumps over the lazy dog and then sleeps in the warm sun until noon "
JSON = "application/json"
NDJSON = "application/x-ndjson"
PDQ = "--scheme", "pdq"


def folder():
    return tempfile.TemporaryDirectory(prefix="doppel-serve.")


def media(place):
    """Originals and copies, which the demo draws."""
    subprocess.run([BUILD / "doppel-demo", place], check=True, stdout=subprocess.DEVNULL)
    return pathlib.Path(place)


def problem(answer, status):
    got, headers, body = answer
    assert got == status, (got, body)
    assert headers["Content-Type"] == "application/problem+json", headers
    assert body["status"] == status and body["title"] and body["detail"], body
    return body["detail"]


def test_a_page_of_groups_is_of_now():
    """Pages by any limit are the whole, also when they come from what was kept, and when another
    process wrote in between, or nothing can be kept."""
    chance = random.Random(5)
    codes = [chance.getrandbits(256) for _ in range(60)]

    def lines(of):
        return "".join(f"{one ^ bit:064x}\n" for one in of for bit in (0, 1))

    def pages(service, limit):
        rows, cursor = [], 0
        while cursor is not None:
            got = service.get(f"/v1/groups?limit={limit}&cursor={cursor}")
            assert got[0] == 200, got
            rows += got[2]["groups"]
            assert len(got[2]["groups"]) == limit or "next" not in got[2], got[2]
            cursor = got[2].get("next")
        return rows

    def add(home, of):
        pathlib.Path(home, "codes").write_text(lines(of))
        subprocess.run([BUILD / "doppel", "import", "-q", "-L", f"{home}/library", "--format",
                        "pdq", f"{home}/codes"], check=True)

    for environment in (None, {"TMPDIR": "/nonexistent"}):
        with folder() as home:
            add(home, codes[:50])
            with Service(BUILD, home, *PDQ, environment=environment) as service:
                first = pages(service, 1000)
                assert len(first) == 50 == len({str(one) for one in first}), len(first)
                assert all(pages(service, limit) == first for limit in (1, 7, 50, 49))
                assert service.get("/v1/groups?cursor=50")[2] == {"groups": []}
                for wrong in ("limit=0", "limit=1.5", "cursor=.5"):
                    problem(service.get(f"/v1/groups?{wrong}"), 400)
                add(home, codes[50:])
                then = pages(service, 7)
                assert len(then) == 60 and then[:50] == first, len(then)
                pair = [one["id"] for one in first[0]["members"]]
                wish = {"a": str(pair[0]), "b": str(pair[1]), "mark": "distinct"}
                assert service.post("/v1/marks", wish)[0] == 204
                assert pair not in [[one["id"] for one in group["members"]]
                                    for group in pages(service, 11)]


def test_what_comes_in_is_found():
    with folder() as home, Service(BUILD, home) as service:
        pictures = media(f"{home}/demo")
        marble = (pictures / "originals/marble.jpg").read_bytes()
        copy = (pictures / "copies/marble.png").read_bytes()
        status, _, made = service.post("/v1/ingest", {"text": WORDS, "id": "fox"})
        assert status == 200 and made["results"][0]["decision"] == "new", made
        _, _, made = service.send("/v1/ingest", ("marble.jpg", marble), ("again.jpg", marble))
        assert [one["decision"] for one in made["results"]] == ["new", "duplicate"], made
        assert made["results"][0]["id"] == "marble.jpg"
        item = made["results"][0]["item"]
        service.send("/v1/ingest", ("c.jpg", copy))
        (group,) = service.get("/v1/groups")[2]["groups"]
        digests = {member["digest"] for member in group["members"]}
        assert len(digests) == len(group["members"]) and "0" * 32 not in digests, group
        _, _, found = service.send("/v1/find", ("c.jpg", copy))
        (one,) = found["results"]
        assert one["query"] == "c.jpg" and one["match"], found
        assert one["matches"][0]["id"] == item and "distance" in one["matches"][0]
        _, _, found = service.send("/v1/check", ("c.jpg", copy))
        assert found["results"][0]["decision"] == "duplicate" and found["results"][0]["of"] == item
        _, _, found = service.post("/v1/check", {"text": WORDS.upper()})
        assert found["results"][0]["decision"] == "duplicate"
        rain = b"rain knocks at each window of this small kitchen while a kettle sings on the stove"
        files = [("rain.txt", rain), ("again.txt", rain), ("rain.txt", rain)]
        _, _, made = service.send("/v1/ingest", *files)
        assert [one.get("reason") for one in made["results"]] == [None, *["identical"] * 2], made
        assert made["results"][0]["item"] == made["results"][2]["item"], made
        unlike = "nothing of the kind was ever said here " * 3
        _, _, found = service.post("/v1/find", {"text": unlike})
        assert found["results"] == [{"match": False, "matches": []}], found


def test_the_name_of_a_file_is_no_id():
    with folder() as home, Service(BUILD, home) as service:
        pictures = media(f"{home}/demo") / "originals"
        files = [("a.jpg", (pictures / f"{name}.jpg").read_bytes()) for name in ("sea", "city")]
        _, _, made = service.send("/v1/ingest", *files)
        assert [one["decision"] for one in made["results"]] == ["new", "new"], made
        assert [one["id"] for one in made["results"]] == ["a.jpg", "a.jpg"], made
        _, _, item = service.get(f"/v1/items/{made['results'][1]['item']}")
        assert item["meta"] == {"filename": "a.jpg"} and item["name"] == "a.jpg", item
        _, _, found = service.send("/v1/find", files[1])
        assert found["results"][0]["matches"][0]["name"] == "a.jpg", found
        assert "'id'" in problem(service.send("/v1/ingest?id=x", files[0]), 400)
        named = {"Content_Type": "image/jpeg"}
        path = "/v1/ingest?id=x&name=b.jpg"
        for place, decision in (("tree", "new"), ("clock", "revision")):
            data = (pictures / f"{place}.jpg").read_bytes()
            _, _, made = service.ask("POST", path, data, **named)
            assert made["results"][0]["decision"] == decision, made


def test_what_a_person_keeps_is_kept_when_a_better_one_comes():
    with folder() as home, Service(BUILD, home) as service:
        pictures = media(f"{home}/demo")
        small = (pictures / "copies/mountains-small.jpg").read_bytes()
        large = (pictures / "originals/mountains.jpg").read_bytes()
        kept = lambda: service.get("/v1/groups")[2]["groups"][0]["members"][0]["id"]  # noqa: E731
        service.send("/v1/ingest", ("small.jpg", small))
        (one,) = service.send("/v1/ingest", ("large.jpg", large))[2]["results"]
        assert one["replaces"] == 1 and kept() == 2, one
        for mark, then in ("keep", 1), ("none", 3):
            service.post("/v1/marks", {"a": "1", "mark": mark})
            (one,) = service.send("/v1/ingest", (mark, large + mark.encode()))[2]["results"]
            assert one.get("replaces") == (None if then == 1 else 1), one
            assert kept() == then or mark == "none", service.get("/v1/groups")[2]
        service.post("/v1/marks", {"a": str(kept()), "mark": "keep"})  # as a policy has it
        (one,) = service.send("/v1/ingest", ("last", large + b"last"))[2]["results"]
        assert "replaces" not in one, one


def test_uploads_are_known_by_lists_of_hashes():
    with folder() as home, Service(BUILD, home) as service:
        pictures = media(f"{home}/demo")
        marble = (pictures / "originals/marble.jpg").read_bytes()
        program = b"MZ\x90\0 nothing that can be read" + bytes(range(256))
        hashes = [hashlib.md5(marble).hexdigest(), hashlib.md5(program).hexdigest()]
        pathlib.Path(home, "list.md5").write_text("".join(f"{one}  a\n" for one in hashes))
        command = [BUILD / "doppel", "import", "-q", "--list", "bad", f"{home}/list.md5"]
        subprocess.run([*command, "-L", f"{home}/library"], check=True)
        for path in "/v1/check", "/v1/ingest":
            (one,) = service.send(path, ("marble.jpg", marble))[2]["results"]
            assert one["decision"] == "duplicate" and one["reason"] == "identical", one
            assert one["lists"] == ["bad"], one
        for data in marble, program:
            (one,) = service.send("/v1/find", ("a", data))[2]["results"]
            assert one["match"] and "bad" in one["matches"][0]["lists"], one
        problem(service.send("/v1/find", ("a", program + b"x")), 422)


def test_a_form_is_the_same_however_it_comes():
    """A part whose first byte comes late is no part of its own."""
    mark = "form-of-a-test"
    body = b""
    for number in range(3):
        head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{number}"'
        body += head.encode() + b"\r\n\r\n" + WORDS.encode() + b"\r\n"
    body += f"--{mark}--\r\n".encode()
    begins = [place.end() for place in re.finditer(b"\r\n\r\n", body)]
    head = (
        f"POST /v1/hash HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        f"Content-Type: multipart/form-data; boundary={mark}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    with folder() as home, Service(BUILD, home) as service:
        host, port = service.address.split("//")[1].split(":")
        for late in range(-2, 9):
            with socket.create_connection((host, int(port))) as client:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                client.sendall(head)
                sent = 0
                for place in [begin + late for begin in begins] + [len(body)]:
                    client.sendall(body[sent:place])
                    sent = place
                    time.sleep(0.02)
                answer = b"".join(iter(lambda: client.recv(1 << 16), b""))
            results = json.loads(answer.split(b"\r\n\r\n", 1)[1])["results"]
            assert [one["path"] for one in results] == ["0", "1", "2"], (late, results)
            assert not any("error" in one for one in results), (late, results)


def test_files_of_every_kind_are_decided_about():
    with folder() as home, Service(BUILD, home) as service:
        words = pathlib.Path(home, "words.txt")
        words.write_text(WORDS * 20)
        drawn = [BUILD / "doppel-demo", "--all", f"{home}/demo", words]
        subprocess.run(drawn, check=True, stdout=subprocess.DEVNULL)
        place = pathlib.Path(home, "demo")
        names = ["trailer.avi", "diver.avi", "music/tune-1.wav", "music/tune-1-part.wav"]
        files = [(pathlib.Path(name).name, (place / name).read_bytes()) for name in names]
        _, _, made = service.send("/v1/ingest", *files)
        decisions = [one["decision"] for one in made["results"]]
        assert decisions == ["new", "revision", "new", "part"], made
        whole, part = made["results"][2:]
        assert part["of"] == whole["item"] and part["segments"], made
        _, _, again = service.send("/v1/check", *files)
        assert {one["decision"] for one in again["results"]} == {"duplicate"}, again
        code = {"code": "9cf11f47d0f89fc0", "scheme": "phash64"}
        for path in ("/v1/find", "/v1/check"):
            status, _, found = service.post(path, code)
            assert status == 200 and len(found["results"]) == 1, (path, found)


def test_a_request_has_a_rate_of_its_own():
    with folder() as home, Service(BUILD, home) as service:
        words = pathlib.Path(home, "words.txt")
        words.write_text(WORDS * 20)
        drawn = [BUILD / "doppel-demo", "--all", f"{home}/demo", words]
        subprocess.run(drawn, check=True, stdout=subprocess.DEVNULL)
        drawn = [BUILD / "doppel-demo", f"{home}/demo/pictures"]
        subprocess.run(drawn, check=True, stdout=subprocess.DEVNULL)
        place = pathlib.Path(home, "demo")
        pairs = [
            ("music/tune-1.wav", "music/tune-1-part.wav"),
            ("trailer.avi", "diver.avi"),
            ("pictures/originals/sea.jpg", "pictures/copies/sea-cropped.jpg"),
        ]
        for whole, part in pairs:
            service.send("/v1/ingest", (pathlib.Path(whole).name, (place / whole).read_bytes()))
            asked = (pathlib.Path(part).name, (place / part).read_bytes())
            for rate, found in (("", True), ("?max_fp_rate=1e-200", False), ("", True)):
                answer = service.send("/v1/find" + rate, asked)[2]
                assert answer["results"][0]["match"] == found, (part, rate, answer)
                decided = service.send("/v1/check" + rate, asked)[2]["results"][0]["decision"]
                assert (decided == "new") != found, (part, rate, decided)
            status, _, answer = service.send("/v1/ingest?max_fp_rate=1e-200", asked)
            assert status == 200 and answer["results"][0]["decision"] == "new", answer
            groups = lambda rate: service.get("/v1/groups" + rate)[2]["groups"]  # noqa: E731
            both = groups("")
            assert len(groups("?max_fp_rate=1e-200")) < len(both), both
            assert groups("") == both == groups("?max_fp_rate=0.001")
        for wrong in ("0", "2", "x", "-1"):
            answer = service.send(f"/v1/find?max_fp_rate={wrong}", asked)
            assert "max_fp_rate" in problem(answer, 400)
        record = '{"id": "a", "text": "some words"}\n'
        kind = {"Content_Type": "application/x-ndjson"}
        status, _, data = service.ask("POST", "/v1/check?max_fp_rate=0.1", record, **kind)
        assert status == 400 and "records of texts" in str(data), (status, data)


def test_codes_are_found_at_the_distance_that_is_asked_for():
    with folder() as home, Service(BUILD, home, "--scheme", "pdq") as service:
        code, near = "f" * 60 + "0123", "f" * 60 + "0120"
        listed = {"code": code, "scheme": "pdq", "id": "first", "lists": ["bad"], "labels": ["x"]}
        _, _, made = service.post("/v1/ingest", {"inputs": [listed]})
        assert made["results"][0]["decision"] == "new", made
        _, _, found = service.post("/v1/find", {"scheme": "pdq", "codes": [near, "0" * 64]})
        assert [one["match"] for one in found["results"]] == [True, False], found
        match = found["results"][0]["matches"][0]
        assert match["name"] == "first" and match["distance"] == 2 and match["lists"] == ["bad"]
        _, _, found = service.post("/v1/find?max_distance=1", {"code": near, "scheme": "pdq"})
        assert not found["results"][0]["match"], found
        assert "distance" in problem(service.post("/v1/find?max_distance=x", {"code": near}), 400)


def test_lists_are_as_they_were_last_set():
    with folder() as home, Service(BUILD, home, "--scheme", "pdq") as service:
        code = {"code": "f" * 60 + "0123", "scheme": "pdq"}
        service.post("/v1/ingest", dict(code, lists=["bad"]))
        for state, found in (("disabled", False), ("active", True)):
            service.post("/v1/find", code)
            command = [BUILD / "doppel", "lists", "set", "bad", "--state", state]
            subprocess.run([*command, "-L", f"{home}/library"], check=True)
            assert service.post("/v1/find", code)[2]["results"][0]["match"] == found, state
        near = dict(code, code="0" * 7 + "f" * 53 + "0123")  # 28 bits
        for limit, found in (("31", True), ("24", False), ("28", True)):
            command = [BUILD / "doppel", "lists", "set", "bad", "--max-distance", limit]
            subprocess.run([*command, "-L", f"{home}/library"], check=True)
            assert service.post("/v1/find", near)[2]["results"][0]["match"] == found, limit
            decision = service.post("/v1/check", near)[2]["results"][0]["decision"]
            assert decision == ("duplicate" if found else "new"), (limit, decision)


def lines(service, path, values, **headers):
    """The answers to a body of JSON Lines, a line each."""
    body = "".join(json.dumps(value) + "\n" for value in values)
    headers["Content_Type"] = "application/x-ndjson"
    status, told, data = service.ask("POST", path, body, **headers)
    assert status == 200 and told["Content-Type"] == "application/x-ndjson", (status, data)
    return [json.loads(line) for line in data.splitlines()]


def test_lines_are_answered_by_lines():
    with folder() as home, Service(BUILD, home) as service:
        texts = [{"id": str(n), "text": f"{n} and {n * 7} and {n * 11} " * 9} for n in range(20000)]
        made = lines(service, "/v1/ingest", texts)
        assert [one["id"] for one in made] == [text["id"] for text in texts]
        assert {one["decision"] for one in made} == {"new"} and "path" not in made[0], made[0]
        again = lines(service, "/v1/check", [{"text": text["text"]} for text in texts[:3]])
        assert [one["of_item"] for one in again] == [one["item"] for one in made[:3]], again
        codes = [{"code": f"{n:016x}", "id": f"c{n}"} for n in range(0x1234, 0x9234, 0x1111)]
        assert {one["decision"] for one in lines(service, "/v1/ingest", codes)} <= {
            "new",
            "duplicate",
        }
        found = lines(service, "/v1/find", [{"text": texts[5]["text"]}, {"txt": 1}, codes[0]])
        assert found[0]["match"] and found[0]["matches"][0]["record"] == "5", found
        assert "txt" in found[1]["error"]["detail"] and "match" in found[2], found
        file = {"id": "p", "path": "/etc/passwd"}
        refused = lines(service, "/v1/ingest", [{"text": WORDS}, file])
        assert [one["decision"] for one in refused] == ["new", "unreadable"], refused


def many_codes(count, note=""):
    """Far from each other."""
    factor = int("9E3779B97F4A7C15F39CC0605CEDC8341082276BF3A27251F86C6A11D0C18E95", 16)
    line = '{"code":"%064x","scheme":"pdq","id":"c%d","meta":{"note":"%s"}}'
    return [line % (n * factor % 2**256, n, note) for n in range(count)]


def test_a_stream_of_lines_may_have_any_length():
    with folder() as home, Service(BUILD, home, "--max-body", "4M", *PDQ) as service:
        codes = many_codes(120000)
        codes[70000] = '{"code":7}'
        codes[40000:40000] = ["", " \t\r", '{"code":"7"}'] + [""] * 2000000
        body = "\n".join(codes + ["", ""]).encode()
        pieces = (body[at : at + 70001] for at in range(0, len(body), 70001))  # chunked
        for path, data in ("/v1/find", pieces), ("/v1/hash", body):
            status, _, answer = service.ask("POST", path, data, Content_Type=NDJSON)
            assert status == 200, answer
            answers = [json.loads(line) for line in answer.splitlines()]
            assert len(answers) == 120001, len(answers)
            for at, one in enumerate(answers):
                assert ("error" in one) == (at in (40000, 70001)), (at, one)


def test_texts_of_a_stream_are_numbered_through():
    with folder() as home, Service(BUILD, home) as service:
        texts = [{"text": f"{n} and {n * 7} and {n * 11} " * 20} for n in range(9000)]
        texts[0]["id"] = texts[8000]["id"] = "again"
        texts[8500] = {"code": "0123456789abcdef"}
        texts[8600] = texts[0]
        blanks = "\n" * 3000000
        body = blanks + "".join(json.dumps(text) + "\n\n" for text in texts) + blanks
        assert len(body) - 2 * len(blanks) > 3 << 20
        status, _, answer = service.ask("POST", "/v1/ingest", body, Content_Type=NDJSON)
        answers = [json.loads(line) for line in answer.splitlines()]
        assert status == 200 and len(answers) == len(texts), answers
        assert [one["line"] for one in answers] == list(range(3000001, 3018001, 2))
        decisions = {at: one["decision"] for at, one in enumerate(answers)}
        others = {at: decisions[at] for at in decisions if decisions[at] != "new"}
        assert others == {8000: "revision", 8500: "unreadable", 8600: "revision"}, others


def test_a_line_has_an_end():
    with folder() as home, Service(BUILD, home, "--max-body", "1M") as service:
        long = '{"text":"' + "x" * (1 << 20) + '"}\n'
        for before in "", "\n".join(many_codes(30000)) + "\n":
            answer = service.ask("POST", "/v1/find", before + long, Content_Type=NDJSON)
            assert "line" in problem(answer, 413), answer
        just = '{"text":"' + "x" * 1000000 + '"}\n'
        answer = service.ask("POST", "/v1/find", just * 3, Content_Type=NDJSON)
        assert answer[0] == 200 and len(answer[2].splitlines()) == 3, answer
        # what is kept has an end, too
        answer = service.ask("POST", "/v1/find", "{}\n" * 200000, Content_Type=NDJSON)
        assert "answers" in problem(answer, 413), answer
        # its key is that of all of it, so it is read whole
        answer = service.ask(
            "POST", "/v1/ingest", just * 3, Content_Type=NDJSON, Idempotency_Key="a"
        )
        assert "request" in problem(answer, 413), answer
        # what is nothing but blanks has no input, however long it is
        blanks = " \n" * (1 << 21)
        problem(service.ask("POST", "/v1/find", blanks, Content_Type=NDJSON), 400)


def send_until_full(connection, data):
    """How much of it is taken, until nothing more is for a second."""
    connection.setblocking(False)
    sent, last = 0, time.monotonic()
    while sent < len(data) and time.monotonic() - last < 1:
        try:
            sent += connection.send(data[sent : sent + (1 << 16)])
            last = time.monotonic()
        except BlockingIOError:
            time.sleep(0.01)
    connection.setblocking(True)
    return sent


def test_who_sends_a_stream_waits_for_who_decides():
    with folder() as home, Service(BUILD, home, "--max-body", "1M", *PDQ) as service:
        body = "\n".join(many_codes(20000, "x" * 1000)).encode() + b"\n"
        host, port = service.address.split("//")[1].split(":")
        catalogue = sqlite3.connect(f"{home}/library/catalogue.db", isolation_level=None)
        count = "SELECT count(*) FROM item"
        with socket.create_connection((host, int(port))) as connection:
            connection.settimeout(120)
            head = f"POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Type: {NDJSON}\r\n"
            head += f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            connection.sendall(head.encode())
            catalogue.execute("BEGIN IMMEDIATE")  # nobody else writes meanwhile
            sent = send_until_full(connection, body)
            assert sent < len(body) * 2 / 3, sent
            catalogue.execute("ROLLBACK")
            most = len(body) * 2 // 3
            connection.sendall(body[sent:most])
            deadline = time.monotonic() + 60
            while (items := catalogue.execute(count).fetchone()[0]) < 10000:
                assert time.monotonic() < deadline, items  # decided about before its end
                time.sleep(0.2)
            connection.sendall(body[most:])
            answer = connection.makefile("rb")
            assert b" 200 " in answer.readline()
            assert any(b'"id":"c19999"' in line for line in iter(answer.readline, b""))
        assert catalogue.execute(count).fetchone()[0] == 20000
        catalogue.close()


def test_two_inputs_are_compared():
    with folder() as home, Service(BUILD, home) as service:
        _, _, pair = service.post("/v1/compare", [{"text": WORDS}, {"text": WORDS + "always"}])
        assert pair["match"] and 0.5 < pair["similarity"] < 1, pair
        problem(service.post("/v1/compare", {"text": WORDS}), 400)
        _, _, hashed = service.post("/v1/hash", {"text": WORDS})
        assert hashed["results"][0]["kind"] == "text" and hashed["results"][0]["code"], hashed


def test_items_are_looked_through_and_removed():
    with folder() as home, Service(BUILD, home) as service:
        texts = [{"text": f"{n} {n + 1} {n + 2} {n + 3} " * 9} for n in range(0, 40, 4)]
        for number, text in enumerate(texts):
            text["id"] = f"t{number}"
        service.post("/v1/ingest", texts)
        ids, path = [], "/v1/items?limit=4"
        while path:
            _, _, page = service.get(path)
            ids += [item["record"] for item in page["items"]]
            assert len(page["items"]) <= 4
            path = f"/v1/items?limit=4&cursor={page['next']}" if "next" in page else None
        assert ids == [text["id"] for text in texts], ids
        some = urllib.parse.quote("record_id IN ('t3', 't5') AND kind = 'text'")
        path = f"/v1/items?limit=1&where={some}"
        _, _, page = service.get(path)
        assert page["items"][0]["record"] == "t3" and page["next"], page
        _, _, page = service.get(f"{path}&cursor={page['next']}")
        assert page["items"][0]["record"] == "t5" and "next" not in page, page
        for wrong in ("where=nothing", "where=1)", "list=none"):
            problem(service.get(f"/v1/items?{wrong}"), 400)
        assert service.get("/v1/items?label=none")[2]["items"] == []
        _, _, item = service.get("/v1/items/id:t4")
        assert item["record"] == "t4", item
        status, _, body = service.ask("DELETE", "/v1/items/id:t4")
        assert status == 204 and not body
        problem(service.get("/v1/items/id:t4"), 404)
        problem(service.ask("DELETE", "/v1/items/id:t4"), 404)
        _, _, again = service.post("/v1/ingest", texts[4])
        assert again["results"][0]["decision"] == "new", again
        _, _, log = service.get("/v1/decisions?limit=2")
        assert len(log["decisions"]) == 2 and "next" in log
        _, _, stats = service.get("/v1/stats")
        assert stats["library"]["records"] == len(texts) and "files" in stats["sandbox"], stats


def test_marks_are_said_and_taken_back():
    with folder() as home, Service(BUILD, home) as service:
        texts = [WORDS, "one two three four five six seven eight nine ten eleven twelve thirteen"]
        service.post("/v1/ingest", [{"text": text} for text in texts])
        wish = {"a": "1", "b": "2", "mark": "same", "note": "by hand"}
        assert service.post("/v1/marks", wish)[0] == 204
        _, _, marks = service.get("/v1/marks")
        assert marks["marks"][0]["mark"] == "same" and marks["marks"][0]["note"] == "by hand"
        assert service.post("/v1/marks", dict(wish, mark="none"))[0] == 204
        assert service.get("/v1/marks")[2]["marks"] == []
        problem(service.post("/v1/marks", dict(wish, mark="perhaps")), 400)
        for method, path in ("POST", "/v1/marks"), ("PATCH", "/v1/items/1"):
            fields = {"Content_Type": "application/x-www-form-urlencoded"}  # as of curl -d
            refused = problem(service.ask(method, path, json.dumps(wish), **fields), 400)
            assert "Content-Type" in refused, refused
        problem(service.post("/v1/marks", dict(wish, a="/etc/passwd")), 404)


def test_items_are_tagged():
    with folder() as home, Service(BUILD, home) as service:
        service.post("/v1/ingest", {"text": WORDS, "id": "fox", "labels": ["old"]})

        def tag(value, ref="1"):
            return service.ask("PATCH", f"/v1/items/{ref}", json.dumps(value), Content_Type=JSON)

        said = {"lists": ["known"], "labels": ["new"], "meta": {"place": "Pune"}}
        assert tag(said)[0] == 204
        assert tag({"remove": {"labels": ["old", "never"], "lists": ["nor that"]}})[0] == 204
        item = service.get("/v1/items/1")[2]
        assert item["labels"] == ["new"] and item["lists"] == ["known"], item
        assert item["meta"] == {"place": "Pune"}, item
        for wrong in (
            {},
            {"lists": "known"},
            {"other": 1},
            {"remove": {"meta": {}}},
            {"remove": []},
            {"id": 3},
            [],
            {"meta": [1]},
            {"lists": [""]},
        ):
            problem(tag(wrong), 400)
        problem(tag(said, "77"), 404)
        assert service.get("/v1/schemes")[2]["image"] == "phash64"


def test_uploads_are_compared_by_the_scheme_of_the_library():
    with folder() as home:
        pictures = media(f"{home}/demo")
        known = ["-L", f"{home}/library", "--scheme", "pdq", "-q", pictures / "originals"]
        subprocess.run([BUILD / "doppel", "add", *known], check=True)
        with Service(BUILD, home) as service:
            assert service.get("/v1/schemes")[2]["image"] == "pdq"
            marble = (pictures / "copies/marble.png").read_bytes()
            (one,) = service.send("/v1/find", ("a.png", marble))[2]["results"]
            assert one["match"] and one["matches"][0]["path"].endswith("marble.jpg"), one


def test_uploads_are_decided_about_by_keypoints_as_well():
    with folder() as home:
        pictures = media(f"{home}/demo")
        library, originals = f"{home}/library", pictures / "originals"
        add = [BUILD / "doppel", "add", "-q", "-L", library]
        subprocess.run([*add, "--scheme", "local", originals / "marble.jpg"], check=True)
        subprocess.run([*add, "--scheme", "phash64", originals / "planet.jpg"], check=True)
        with Service(BUILD, home) as service:
            marble = (pictures / "copies/marble.png").read_bytes()
            for path in "/v1/find", "/v1/check", "/v1/ingest":
                (one,) = service.send(path, ("a.png", marble))[2]["results"]
                assert (one["matches"][0] if path == "/v1/find" else one)["scheme"] == "local", one


def test_digests_that_were_sent_are_looked_up():
    with folder() as home, Service(BUILD, home) as service:
        program = hashlib.sha256(b"a program").hexdigest()
        pathlib.Path(home, "list").write_text(f"{program}  a\n")
        command = [BUILD / "doppel", "import", "-q", "--list", "bad", f"{home}/list"]
        subprocess.run([*command, "-L", f"{home}/library"], check=True)
        assert service.get("/v1/schemes")[2]["exact"] == ["sha256"]
        exact = {"md5": "0" * 32, "sha256": program}
        (one,) = service.post("/v1/find", {"exact": exact})[2]["results"]
        assert one["matches"][0]["lists"] == ["bad"], one
        code = {"kind": "image", "scheme": "phash64", "version": 2, "bits": 64, "quality": 90}
        record = code | {"digest": "1" * 32, "sequence": [["3c3c0f0f55aa55aa", 0]]}
        (one,) = service.post("/v1/check", {"record": record, "exact": exact})[2]["results"]
        assert one["decision"] == "duplicate" and one["lists"] == ["bad"], one
        problem(service.post("/v1/find", {"exact": {"md5": "0" * 32}}), 422)
        others = {"sha256": program[::-1]}, {"md5": "0" * 32}
        for path in "/v1/check", "/v1/ingest", "/v1/check":  # without a record, too
            inputs = [{"exact": exact, "id": "a"}, *({"exact": one} for one in others)]
            known, *unknown = service.post(path, inputs)[2]["results"]
            assert known["decision"] == "duplicate" and known["lists"] == ["bad"], known
            assert {one["decision"] for one in unknown} == {"unreadable"}, unknown
        assert service.get("/v1/stats")[2]["library"]["items"] == 1
        for wrong in {}, {"md5": "0"}, {"md5": 1}, {"sha3": "0" * 64}, [], {"md5": "g" * 32}:
            answer = service.post("/v1/find", {"exact": wrong})
            assert answer[0] in (400, 422), answer
            assert "exact" in answer[2]["detail"], answer


def test_the_one_to_keep_is_chosen():
    with folder() as home:
        pictures = media(f"{home}/demo")
        with Service(BUILD, home) as service:
            files = ("a.jpg", (pictures / "originals/marble.jpg").read_bytes()), (
                "b.png",
                (pictures / "copies/marble.png").read_bytes(),
            )
            service.send("/v1/ingest", *files)

            def kept():
                return service.get("/v1/groups")[2]["groups"][0]["members"][0]["id"]

            first = kept()
            other = str(3 - first)
            wish = {"a": other, "mark": "keep", "over": [str(first)]}
            assert service.get("/v1/marks")[2]["marks"] == []
            assert service.post("/v1/marks", wish)[0] == 204 and str(kept()) == other
            (mark,) = service.get("/v1/marks")[2]["marks"]
            assert mark["mark"] == "keep" and mark["item"] == int(other) and mark["time"], mark
            assert mark["a_digest"] == service.get(f"/v1/items/{other}")[2]["digest"], mark
            command = [BUILD / "doppel", "mark", "--list", "--json", "-L", f"{home}/library"]
            listed = subprocess.run(command, check=True, capture_output=True).stdout
            assert json.loads(listed) == mark, listed
            assert service.post("/v1/marks", {"a": other, "mark": "none"})[0] == 204
            assert kept() == first and service.get("/v1/marks")[2]["marks"] == []
            for wrong in ({"b": "2"}, {"over": "2"}, {"over": [2]}, {"a": 1}):
                problem(service.post("/v1/marks", wish | wrong), 400)
            problem(service.post("/v1/marks", {"a": "1", "mark": "same"}), 400)
            problem(service.post("/v1/marks", wish | {"over": ["99"]}), 404)


def test_items_are_seen_while_their_files_are_there():
    with folder() as home:
        pictures = media(f"{home}/demo")
        with Service(BUILD, home, "--allow-paths", home) as service:
            paths = [f"{home}/demo/originals/{name}.jpg" for name in ("marble", "sea")]
            service.post("/v1/ingest", [{"path": path} for path in paths])
            service.post("/v1/ingest", {"text": WORDS, "id": "fox"})
            status, headers, seen = service.get("/v1/items/1/preview?pixels=64")
            assert status == 200 and headers["Cache-Control"] == "private, max-age=300", headers
            picture = base64.b64decode(seen["members"][0]["jpeg"])
            assert picture[:3] == b"\xff\xd8\xff" and len(picture) < 8192, seen
            large = service.get("/v1/items/1/preview?pixels=1024")[2]["members"][0]["jpeg"]
            assert len(large) > len(seen["members"][0]["jpeg"])
            two = service.get("/v1/items/2/preview?beside=1")[2]["members"]
            assert len(two) == 2 and all("jpeg" in one for one in two), two
            assert "jpeg" in service.get("/v1/items/1/preview?pixels=0")[2]["members"][0]
            problem(service.get("/v1/items/1/preview?pixels=2000"), 400)
            problem(service.get("/v1/items/9/preview"), 404)
            problem(service.get("/v1/items/1/preview?beside=9"), 404)
            (text,) = service.get("/v1/items/id:fox/preview")[2]["members"]
            assert "gone" in text, text
            pathlib.Path(paths[1]).write_bytes(b"another file")
            (gone,) = service.get("/v1/items/2/preview")[2]["members"]
            assert gone == {"gone": "has changed since it was read"}, gone
            data = (pictures / "copies/marble.png").read_bytes()
            _, _, found = service.send("/v1/find?previews&limit=1", ("m.png", data))
            (one,) = found["results"]
            assert one["input"]["width"] and len(one["looks"]["members"]) == 2, one
            assert all("jpeg" in look for look in one["looks"]["members"]), one
            _, _, found = service.post("/v1/find?previews", {"text": WORDS})
            assert found["results"][0]["looks"]["members"][0]["text"], found


def test_what_a_list_of_hashes_has_need_not_be_read():
    with folder() as home:
        files = [("odd.bin", bytes(range(256))), ("broken.jpg", b"\xff\xd8\xff nothing")]
        sums = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files]
        pathlib.Path(home, "sums").write_text("".join(sums))
        command = [BUILD / "doppel", "import", "-L", "library", "--list", "bad", "sums"]
        subprocess.run(command, check=True, cwd=home, stderr=-3)
        with Service(BUILD, home) as service:
            files.append(("other.bin", bytes(range(255))))
            for path in ("/v1/check", "/v1/ingest", "/v1/ingest"):
                told = service.send(path, *files)[2]["results"]
                decisions = [one["decision"] for one in told]
                assert decisions == ["duplicate", "duplicate", "unreadable"], told
                assert [one["of"] for one in told[:2]] == [1, 2], told
                assert all(one["lists"] == ["bad"] for one in told[:2]), told
            job = service.send("/v1/jobs", *files)[2]["id"]
            while "ended" not in (done := service.get(f"/v1/jobs/{job}")[2]):
                time.sleep(0.1)
            assert [one["decision"] for one in done["results"]] == decisions, done
            items = service.get("/v1/items")[2]["items"]
            assert [one["id"] for one in items] == [1, 2], items


def test_a_damaged_text_is_no_missing_one():
    with folder() as home, Service(BUILD, home) as service:
        service.post("/v1/ingest", {"text": WORDS})
        with contextlib.closing(sqlite3.connect(f"{home}/library/catalogue.db")) as catalogue:
            catalogue.execute("UPDATE text SET words = words + 1")
            catalogue.commit()
        assert "damaged" in problem(service.get("/v1/items/1/preview"), 422)


def test_what_is_wrong_is_said():
    with folder() as home, Service(BUILD, home, "--max-body", "1M") as service:
        problem(service.get("/nothing"), 404)
        answer = service.get("/v1/find")
        problem(answer, 405)
        assert answer[1]["Allow"] == "POST"
        for body in ("{", "[]", "[1]", '{"text":1}', '{"text":"a","code":"b"}', '{"txt":"a"}', "7"):
            problem(service.ask("POST", "/v1/find", body, Content_Type=JSON), 400)
        problem(service.ask("POST", "/v1/find", "", Content_Type=JSON), 400)
        problem(service.ask("POST", "/v1/find"), 400)
        form = "application/x-www-form-urlencoded"
        problem(service.ask("POST", "/v1/find", "a=b", Content_Type=form), 415)
        sentence = problem(service.ask("POST", "/v1/find", '{"text":"a"}', Content_Type=form), 415)
        assert "application/json" in sentence, sentence
        sentence = problem(service.get("/v1/items?limits=3"), 400)
        assert "limits" in sentence and "cursor limit" in sentence, sentence
        for path in "/v1/stats?at", "/v1/marks?limit=1", "/v1/lists?cursor=1":  # these give all
            problem(service.get(path), 400)
        assert service.get("/healthz?from=a")[0] == 200
        large = b"x" * (1 << 20 | 1)
        problem(service.ask("POST", "/v1/find", large, Content_Type="image/png"), 413)
        problem(service.send("/v1/hash", ("broken.jpg", b"\xff\xd8\xff\xe0 and no more")), 422)
        files = ("a.jpg", b"\xff\xd8\xff\xe0 no"), ("b.txt", WORDS.encode())
        many = service.send("/v1/hash", *files)
        errors = ["error" in one for one in many[2]["results"]]
        assert many[0] == 200 and errors == [True, False], many
        _, _, made = service.send("/v1/ingest", *files)
        assert [one["decision"] for one in made["results"]] == ["unreadable", "new"], made


def test_where_the_library_lies_is_not_told():
    with folder() as home, Service(BUILD, home) as service:
        service.post("/v1/ingest", {"text": WORDS})
        wrong = "nothing", "nothing = 1", "1 +", "readfile('x')", "(SELECT 1 FROM none)"
        asked = [f"/v1/items?where={urllib.parse.quote(one)}" for one in wrong]
        asked += ["/v1/jobs/99", "/v1/items/99", "/v1/items/99/preview", "/v1/items?list=none"]
        for path in asked:
            answer = service.get(path)
            told = problem(answer, answer[0])
            assert answer[0] in (400, 404, 422), answer
            assert home not in told, told
        database = sqlite3.connect(f"{home}/library/catalogue.db")
        service.post("/v1/jobs", {"text": WORDS})
        while service.get("/v1/jobs/1")[2]["state"] != "done":  # its runner writes till then
            time.sleep(0.05)
        database.execute("UPDATE job SET bytes = bytes + 1")
        database.commit()
        told = problem(service.get("/v1/jobs/1"), 422)
        assert told == "the library: job 1 is damaged", told
        database.close()


def test_paths_are_those_that_are_allowed():
    with folder() as home:
        allowed, other = pathlib.Path(home, "in"), pathlib.Path(home, "out")
        for place in (allowed, other):
            place.mkdir()
            (place / "a.txt").write_text(WORDS)
        (allowed / "link.txt").symlink_to(other / "a.txt")
        with Service(BUILD, home, "--allow-paths", allowed) as service:
            _, _, found = service.post("/v1/ingest", {"path": f"{allowed}/a.txt"})
            assert found["results"][0]["decision"] == "new", found
            assert found["results"][0]["path"] == f"{allowed.resolve()}/a.txt"
            refused = [other / "a.txt", allowed / "link.txt", allowed / "../out/a.txt", allowed]
            refused.append("a")
            sentences = {
                problem(service.post("/v1/hash", {"path": str(path)}), 400) for path in refused
            }
            sentences.add(problem(service.post("/v1/hash", {"path": f"{allowed}/none"}), 400))
            assert len(sentences) == 1, sentences
        with Service(BUILD, home) as service:
            problem(service.post("/v1/hash", {"path": f"{allowed}/a.txt"}), 400)


def test_keys_say_who_may_what():
    names = {"r": "read", "w": "write", "slow": "read"}
    with folder() as home:
        lines = ["# a comment", ""]
        for key, right in names.items():
            digest = hashlib.sha256(key.encode()).hexdigest()
            lines.append(f"{digest} {key}-name {right}" + (" 1" if key == "slow" else ""))
        pathlib.Path(home, "keys").write_text("\n".join(lines) + "\n")
        with Service(BUILD, home, "--keys", "keys") as service:
            text = {"text": WORDS}
            assert service.get("/healthz")[0] == 200
            answer = service.post("/v1/find", text)
            problem(answer, 401)
            assert answer[1]["WWW-Authenticate"] == "Bearer"
            problem(service.post("/v1/find", text, Authorization="Bearer x"), 401)
            assert service.post("/v1/find", text, Authorization="Bearer r")[0] == 200
            problem(service.post("/v1/ingest", text, Authorization="Bearer r"), 403)
            assert service.post("/v1/ingest", text, Authorization="Bearer w")[0] == 200
            answers = [service.get("/v1/lists", Authorization="Bearer slow") for _ in range(3)]
            assert answers[0][0] == 200
            problem(answers[-1], 429)
            assert int(answers[-1][1]["Retry-After"]) >= 1
        digest = hashlib.sha256(b"r").hexdigest()
        for line in ("abc name read", f"{digest} name read fast", f"{digest} name read 5x"):
            pathlib.Path(home, "keys").write_text(line + "\n")
            done = serve_in(home, "--listen", "127.0.0.1:0", "--keys", "keys")
            assert done.returncode == 2 and "line 1" in done.stderr, done.stderr
        pathlib.Path(home, "keys").write_text("# none yet\n")
        done = serve_in(home, "--listen", "127.0.0.1:0", "--keys", "keys")
        assert done.returncode == 2 and "no key" in done.stderr, done.stderr


def test_the_log_says_whose_request_it_was():
    with folder() as home:
        keys = [f"{hashlib.sha256(who.encode()).hexdigest()} {who} write" for who in ("ann", "bob")]
        pathlib.Path(home, "keys").write_text("\n".join(keys) + "\n")
        sea = (media(f"{home}/demo") / "originals/sea.jpg").read_bytes()
        with Service(BUILD, home, "--keys", "keys") as service:
            ann, bob = ({"Authorization": f"Bearer {who}"} for who in ("ann", "bob"))
            service.post("/v1/ingest", {"text": WORDS * 2, "id": "a"}, **ann)
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                for who in ann, bob:
                    file = ("sea.jpg", sea + str(who).encode())
                    pool.submit(service.send, "/v1/ingest", file, **who)
            lines(service, "/v1/ingest", [{"id": "b", "text": WORDS * 3}], **bob)
            job = service.send("/v1/jobs", ("sea.jpg", sea + b"."), **bob)[2]["id"]
            while service.get(f"/v1/jobs/{job}", **bob)[2]["state"] != "done":
                time.sleep(0.02)
            service.post("/v1/marks", {"a": "1", "b": "2", "mark": "distinct", "note": "no"}, **ann)
            tags = json.dumps({"lists": ["x"], "labels": ["y", "z"], "id": "i", "meta": {"a": 1}})
            service.ask("PATCH", "/v1/items/1", tags, Content_Type=JSON, **bob)
            tags = json.dumps({"remove": {"labels": ["z"]}})
            service.ask("PATCH", "/v1/items/1", tags, Content_Type=JSON, **ann)
            service.ask("DELETE", "/v1/items/2", **ann)
            entries = service.get("/v1/decisions", **ann)[2]["decisions"]
        who = [(entry["action"], entry["detail"]["client"]) for entry in entries]
        assert who[:1] == [("decided", "ann")] and who[-1] == ("removed", "ann"), who
        assert sorted(who[1:3]) == [("decided", "ann"), ("decided", "bob")], who
        assert who[3:5] == 2 * [("decided", "bob")], who
        assert ("marked", "ann") in who and ("listed", "bob") in who, who
        (marked,) = [entry for entry in entries if entry["action"] == "marked"]
        assert marked["detail"]["note"] == "no" and marked["detail"]["b"], marked
        told = [entry for entry in entries if entry["action"] == "said"]
        assert [entry["detail"] for entry in told] == [
            {"client": "bob", "labels": ["y", "z"], "id": "i"},
            {"client": "ann", "removed_labels": ["z"]},
        ], told
        assert told[0]["reason"] == "was told its labels id meta", told
        told = subprocess.run(
            [BUILD / "doppel", "log", "1", "-L", f"{home}/library"], capture_output=True, text=True
        )
        assert ", by 'ann'" in told.stdout and ", by 'bob'" in told.stdout, told
        verified = [BUILD / "doppel", "verify", "-q", "-L", f"{home}/library"]
        subprocess.run(verified, check=True)


def serve_in(home, *options):
    return subprocess.run(
        [BUILD / "doppel", "serve", "-L", f"{home}/library", *options],
        capture_output=True,
        text=True,
        cwd=home,
        timeout=60,
    )


def test_pages_of_other_sites_may_not_ask():
    with folder() as home, Service(BUILD, home) as service:
        own = service.address
        assert service.post("/v1/find", {"text": WORDS}, Origin=own)[0] == 200
        for headers in (
            {"Origin": "https://example.com"},
            {"Origin": "null"},
            {"Host": "example.com:8040", "Origin": "http://example.com:8040"},
            {"Host": "example.com"},
        ):
            problem(service.post("/v1/ingest", {"text": WORDS}, **headers), 403)
            problem(service.get("/v1/items", **headers), 403)
            assert service.get("/healthz", **headers)[0] == 200
        assert service.get("/v1/items", Host="localhost:1")[0] == 200
        assert service.get("/v1/items", Host="[::1]:1")[0] == 200
    with folder() as home, Service(BUILD, home, "--insecure") as service:
        assert service.get("/v1/items", Host="example.com")[0] == 200


def test_others_than_this_machine_want_keys():
    with folder() as home:
        done = serve_in(home, "--listen", "0.0.0.0:0")
        assert done.returncode == 2 and "--keys" in done.stderr, done.stderr
        for nowhere in ("nowhere", "127.0.0.1:99999"):
            done = serve_in(home, "--listen", nowhere)
            assert done.returncode == 2 and "ADDRESS:PORT" in done.stderr, done.stderr
        with Service(BUILD, home, "--insecure", listen="0.0.0.0:0") as service:
            port = service.address.rsplit(":", 1)[1]
            done = serve_in(home, "--listen", f"127.0.0.1:{port}")
            assert done.returncode == 2 and "in use" in done.stderr, done.stderr


def test_a_socket_of_a_path():
    with folder() as home:
        with Service(BUILD, home, listen=f"unix:{home}/socket") as service:
            assert service.get("/readyz")[0] == 200
            assert pathlib.Path(home, "socket").stat().st_mode & 0o077 == 0
            service.process.kill()
            service.process.wait()
        with Service(BUILD, home, listen=f"unix:{home}/socket") as service:
            assert service.get("/healthz")[0] == 200
            assert service.end() == 0
        assert not pathlib.Path(home, "socket").exists()


def test_systemd_hands_a_socket_over_and_is_told():
    with folder() as home, socket.socket() as listener, socket.socket(
        socket.AF_UNIX, socket.SOCK_DGRAM
    ) as told:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        told.bind(f"{home}/notify")
        told.settimeout(60)
        start = f'exec 3<&{listener.fileno()}; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
        words = [BUILD / "doppel", "serve", "-L", f"{home}/library"]
        process = subprocess.Popen(
            ["sh", "-c", start, "sh", *words],
            pass_fds=[listener.fileno()],
            env={"NOTIFY_SOCKET": f"{home}/notify", "HOME": home, "PATH": "/usr/bin:/bin"},
            stderr=subprocess.PIPE,
        )
        assert told.recv(100) == b"READY=1"
        with socket.create_connection(listener.getsockname()) as client:
            client.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            assert b" 200 " in client.recv(1000)
        process.terminate()
        assert told.recv(100) == b"STOPPING=1"
        assert process.wait(60) == 0, process.stderr.read()


def wait_for_another_request(service):
    """On one connection, where a request for the metrics has ended when the next is read: after
    its answer it may count for a moment."""
    with contextlib.closing(service.connection()) as connection:
        metrics = b""
        while b"requests_in_flight 2" not in metrics:
            connection.request("GET", "/metrics")
            metrics = connection.getresponse().read()


def test_what_is_connected_is_answered_before_the_end():
    with folder() as home, Service(BUILD, home) as service:
        service.process.send_signal(signal.SIGSTOP)
        waiting = [service.connection() for _ in range(400)]  # in the queue of the system
        for connection in waiting:
            connection.request("GET", "/v1/schemes")
        service.process.send_signal(signal.SIGTERM)
        service.process.send_signal(signal.SIGCONT)
        for connection in waiting:
            answer = connection.getresponse()
            assert answer.status == 200 and answer.read()
        assert service.process.wait(60) == 0


def connect_until_refused(service, told):
    """A connection a request. What becomes of each goes to `told`."""
    while True:
        with contextlib.closing(service.connection()) as connection:
            try:
                connection.request("GET", "/v1/schemes")
                told.append(connection.getresponse().status)
            except ConnectionRefusedError:
                return
            except OSError:
                told.append("lost")


def test_the_end_loses_next_to_nothing():
    """But for a moment of the system's: what it takes just before the socket is closed. Where a
    busy machine makes one such moment long, others are short."""
    lost = []
    for _ in range(5):
        told = []
        with folder() as home, Service(BUILD, home) as service:
            askers = [
                threading.Thread(target=connect_until_refused, args=(service, told))
                for _ in range(24)
            ]
            for asker in askers:
                asker.start()
            time.sleep(0.2)
            assert service.end() == 0
            for asker in askers:
                asker.join()
        lost.append(told.count("lost"))
        assert told.count(200) + lost[-1] == len(told) > 20, set(told)
    assert statistics.median(lost) <= 1, lost


def test_a_stream_without_an_end_is_not_waited_for():
    with folder() as home, Service(BUILD, home) as service:
        with contextlib.closing(service.connection()) as connection:
            connection.putrequest("POST", "/v1/find")
            connection.putheader("Content-Type", NDJSON)
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders()
            wait_for_another_request(service)
            begun = time.monotonic()
            assert service.end() == 0
            assert 4 < time.monotonic() - begun < 20, time.monotonic() - begun


def test_what_runs_is_answered_before_the_end():
    with folder() as home, Service(BUILD, home) as service:
        pictures = media(f"{home}/demo")
        files = [(path.name, path.read_bytes()) for path in pictures.glob("originals/*.jpg")]
        answers = []
        asking = threading.Thread(
            target=lambda: answers.append(service.send("/v1/hash", *files * 16))
        )
        asking.start()
        wait_for_another_request(service)
        assert not answers, "it was answered too soon"
        service.process.terminate()
        refused = False
        while not refused and not answers:
            try:
                service.get("/healthz")
            except ConnectionRefusedError:
                refused = True
            except OSError:  # it was taken, and not answered any more
                pass
        assert refused, "it takes connections until it ends"
        asking.join()
        assert service.process.wait(60) == 0
        assert answers[0][0] == 200 and len(answers[0][2]["results"]) == 16 * len(files)


def test_what_the_description_shows_can_be_asked():
    with folder() as home, Service(BUILD, home) as service:
        asked = 0
        _, _, described = service.get("/openapi.json")
        counted = "one two three four five six seven eight nine ten eleven twelve"
        texts = {"one": WORDS, "two": counted, "gone": counted[::-1]}
        service.post("/v1/ingest", [{"id": name, "text": text} for name, text in texts.items()])
        for path, methods in described["paths"].items():
            for method in ("get", "post", "delete"):
                if method not in methods:
                    continue
                bodies = methods[method].get("requestBody", {}).get("content", {}).get(JSON, {})
                examples = [e["value"] for e in bodies.get("examples", {}).values()] or [None]
                for example in examples:
                    removes = method == "delete" and "items" in path
                    place = path.replace("{ref}", "id:gone" if removes else "1")
                    answer = service.ask(
                        method.upper(), place, example and json.dumps(example), Content_Type=JSON
                    )
                    expected = next(iter(methods[method]["responses"]))
                    assert str(answer[0]) == expected, (method, path, example, answer[2])
                    asked += 1
        assert asked >= 25, asked
        counted = re.findall(
            r'seconds_count\{method="(\w+)",route="(/.*?)"', service.get("/metrics")[2].decode()
        )
        routes = {(method.lower(), path) for method, path in counted}
        told = {
            (method, path.replace("{ref}", "*"))
            for path, methods in described["paths"].items()
            for method in methods
            if method != "parameters"
        }
        assert routes == told, routes ^ told


def test_a_head_that_is_too_long_is_refused():
    """By libmicrohttpd, whose page it is."""
    with folder() as home, Service(BUILD, home) as service:
        assert service.get("/v1/items?where=" + "a" * 6000)[0] == 400
        assert service.get("/v1/items?where=" + "a" * 9000)[0] == 414
        assert service.get("/healthz", X_Long="a" * 9000)[0] == 431


def test_what_is_far_too_long_is_told_so():
    """Its sender reads why, before the end of it, or behind it; by whatever length it is told."""
    piece = bytes(1 << 20)
    with folder() as home, Service(BUILD, home, "--max-body", "1000") as service:
        for kind in "image/png", JSON, NDJSON:
            for body in bytes(40 << 20), (piece for _ in range(40)):
                answer = service.ask("POST", "/v1/check", body, Content_Type=kind)
                assert "--max-body" in problem(answer, 413), answer
                assert answer[1]["Connection"] == "close", answer[1]
        answer = service.send("/v1/hash", ("a.bin", bytes(40 << 20)))
        assert "--max-body" in problem(answer, 413), answer
        answer = service.ask("POST", "/v1/nothing", (piece for _ in range(40)))
        assert "openapi" in problem(answer, 404), answer
        with contextlib.closing(service.connection()) as connection:
            connection.putrequest("POST", "/v1/check")
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders()
            for _ in range(18):
                connection.send(b"100000\r\n" + piece + b"\r\n")
            answer = connection.getresponse()
            assert answer.status == 413 and b"--max-body" in answer.read()
            connection.close()
        assert service.get("/healthz")[0] == 200


def test_many_at_a_time():
    with folder() as home, Service(BUILD, home) as service:
        texts = [{"text": f"{n} and {n * 7} and {n * 11} " * 9} for n in range(64)]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            made = list(pool.map(lambda text: service.post("/v1/ingest", text), texts * 2))
        decisions = [answer[2]["results"][0]["decision"] for answer in made]
        assert decisions.count("new") == len(texts) and decisions.count("duplicate") == len(texts)


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
