#!/usr/bin/env python3
"""`doppel serve --api hma`: what a client of Hasher-Matcher-Actioner does, step by step.

`hma.py BUILD`
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402
from service import Service  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
CODE = "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22"
NEAR = CODE[:-2] + "2d"  # 4 bits of 256
OTHER = "5" * 64
MD5 = hashlib.md5(b"a film").hexdigest()


def folder():
    return tempfile.TemporaryDirectory(prefix="doppel-hma.")


def hma(home, *options):
    return Service(BUILD, home, "--api", "hma", *options)


def ok(answer, status=200):
    assert answer[0] == status, (answer[0], answer[2])
    return answer[2]


def refused(answer, status):
    body = ok(answer, status)
    assert list(body) == ["message"] and body["message"], body
    return body["message"]


def put(service, path, value):
    return service.ask("PUT", path, json.dumps(value), Content_Type="application/json")


def lookup(service, signal, kind="pdq", more=""):
    return ok(service.get(f"/m/lookup?signal_type={kind}&signal={signal}{more}"))


def raw_lookup(service, signal, kind="pdq", more=""):
    return ok(service.get(f"/m/raw_lookup?signal_type={kind}&signal={signal}{more}"))["matches"]


def bank(service, name, **more):
    return ok(service.post("/c/banks", dict(name=name, **more)), 201)


def add(service, name, signal, kind="pdq"):
    added = ok(service.post(f"/c/bank/{name}/signal", {kind: signal}))
    assert added["signals"] == {kind: signal}, added
    return added["id"]


def test_only_where_it_is_asked_for():
    with folder() as home, Service(BUILD, home) as service:
        assert service.get("/status")[0] == 404
        assert service.get("/c/banks")[0] == 404


def test_a_bank_finds_what_was_added():
    with folder() as home, hma(home) as service:
        assert ok(service.get("/status")) == b"I-AM-ALIVE"
        assert ok(service.get("/c/banks")) == []
        made = bank(service, "TEST_BANK")
        assert made == {"name": "TEST_BANK", "matching_enabled_ratio": 1.0}, made
        content = add(service, "TEST_BANK", CODE)
        film = add(service, "TEST_BANK", MD5, "video_md5")
        match = {"bank_content_id": content, "distance": "0"}
        assert lookup(service, CODE) == {"TEST_BANK": [match]}
        assert lookup(service, NEAR) == {"TEST_BANK": [dict(match, distance="4")]}
        assert lookup(service, NEAR, more="&max_distance=3") == {}
        assert lookup(service, OTHER) == {}
        digest = {"bank_content_id": film, "distance": "-"}
        assert lookup(service, MD5, "video_md5") == {"TEST_BANK": [digest]}
        assert lookup(service, "0" * 32, "video_md5") == {}
        assert raw_lookup(service, NEAR) == [content]
        more = "&include_distance=True"
        assert raw_lookup(service, NEAR, more=more) == [dict(match, distance="4")]
        status = ok(service.get("/m/index/status"))
        assert status["pdq"]["present"] and status["pdq"]["size"] == 1, status
        assert status["video_md5"]["size"] == 1, status
        assert list(ok(service.get("/m/index/status?signal_type=pdq"))) == ["pdq"]


def test_files_are_hashed_and_added():
    with folder() as home, hma(home) as service:
        subprocess.run([BUILD / "doppel-demo", f"{home}/demo"], check=True, stdout=subprocess.PIPE)
        marble = pathlib.Path(home, "demo/originals/marble.jpg").read_bytes()
        copy = pathlib.Path(home, "demo/copies/marble.png").read_bytes()
        signals = ok(service.send("/h/hash", ("a.jpg", marble), field="photo"))
        assert list(signals) == ["pdq"] and len(signals["pdq"]) == 64, signals
        bank(service, "PHOTOS")
        added = ok(service.send("/c/bank/PHOTOS/content", ("a.jpg", marble), field="photo"))
        assert added["signals"] == signals, added
        found = ok(service.send("/m/lookup", ("b.png", copy), field="photo"))
        assert found["pdq"]["PHOTOS"][0]["bank_content_id"] == added["id"], found
        film = ok(service.send("/c/bank/PHOTOS/content", ("a.mp4", b"a film"), field="video"))
        assert film["signals"] == {"video_md5": MD5}, film
        found = ok(service.send("/m/lookup", ("b.mp4", b"a film"), field="video"))
        assert found["video_md5"]["PHOTOS"][0]["bank_content_id"] == film["id"], found
        for path in ("/h/hash", "/m/lookup", "/c/bank/PHOTOS/content"):
            refused(service.send(path, ("a.jpg", marble), field="file"), 400)
            refused(service.send(path, ("a.jpg", marble), ("b.png", copy), field="photo"), 400)
            refused(service.post(path, {}), 400)
        refused(service.send("/h/hash?types=video_md5", ("a.jpg", marble), field="photo"), 400)
        refused(service.send("/h/hash", ("a.jpg", b"no picture"), field="photo"), 422)
        assert "URL" in refused(service.get("/h/hash?url=https://example.com/a.jpg"), 403)
        assert "URL" in refused(service.get("/m/lookup?url=https://example.com/a.jpg"), 403)
        assert "URL" in refused(service.post("/c/bank/PHOTOS/content?url=http://a.b/c", {}), 403)


def test_banks_are_made_changed_and_removed():
    with folder() as home, hma(home) as service:
        for name in ("01_BANK", "my_bank", "", 7, None):
            refused(service.post("/c/banks", {"name": name}), 400)
        bank(service, "A")
        refused(service.post("/c/banks", {"name": "A"}), 403)
        assert bank(service, "OFF", enabled=False)["matching_enabled_ratio"] == 0
        assert bank(service, "OFF2", enabled_ratio=0.0)["matching_enabled_ratio"] == 0
        refused(service.post("/c/banks", {"name": "HALF", "enabled_ratio": 0.5}), 400)
        add(service, "A", CODE)
        refused(put(service, "/c/bank/A", {"name": "1_invalid"}), 400)
        refused(put(service, "/c/bank/A", {"name": "OFF"}), 403)
        refused(put(service, "/c/bank/NONE", {"name": "OFF"}), 404)
        assert ok(put(service, "/c/bank/A", {"name": "B"}))["name"] == "B"
        refused(service.get("/c/bank/A"), 404)
        assert ok(service.get("/c/bank/B")) == {"name": "B", "matching_enabled_ratio": 1.0}
        assert list(lookup(service, CODE)) == ["B"]
        assert ok(put(service, "/c/bank/B", {"enabled": False}))["matching_enabled_ratio"] == 0
        assert lookup(service, CODE) == {} and raw_lookup(service, CODE) == []
        assert ok(put(service, "/c/bank/B", {"enabled_ratio": 1}))["matching_enabled_ratio"] == 1
        assert list(lookup(service, CODE)) == ["B"]
        for _ in range(2):
            assert ok(service.ask("DELETE", "/c/bank/B")) == {"message": "Done"}
        assert lookup(service, CODE) == {} and raw_lookup(service, CODE) == []
        assert [one["name"] for one in ok(service.get("/c/banks"))] == ["OFF", "OFF2"]


def test_contents_are_shown_and_removed():
    with folder() as home, hma(home) as service:
        refused(service.get("/c/bank/A/content/1"), 404)
        for name in "AB":
            bank(service, name)
            content = add(service, name, CODE)
        refused(service.get("/c/bank/A/content/99"), 404)
        refused(service.get("/c/bank/A/content/x"), 404)
        shown = ok(service.get(f"/c/bank/A/content/{content}"))
        assert shown["id"] == content and shown["bank"]["name"] == "A", shown
        assert "signals" not in shown and shown["original_media_uri"] is None, shown
        shown = ok(service.get(f"/c/bank/A/content/{content}?include_signals=true"))
        assert shown["signals"] == {"pdq": CODE}, shown
        film = add(service, "A", MD5, "video_md5")
        shown = ok(service.get(f"/c/bank/A/content/{film}?include_signals=true"))
        assert shown["signals"] == {"video_md5": MD5}, shown
        refused(service.get(f"/c/bank/B/content/{film}"), 404)
        assert list(lookup(service, CODE)) == ["A", "B"]
        assert list(lookup(service, CODE, more="&banks=B,C")) == ["B"]
        assert raw_lookup(service, CODE, more="&banks=C") == []
        assert raw_lookup(service, CODE) == [content]
        ok(put(service, "/c/bank/A", {"enabled": False}))
        assert list(lookup(service, CODE)) == ["B"]
        for deleted in (1, 0):
            gone = ok(service.ask("DELETE", f"/c/bank/B/content/{content}"))
            assert gone == {"deleted": deleted}, gone
        assert lookup(service, CODE) == {}
        ok(service.get(f"/c/bank/A/content/{content}"))
        refused(service.ask("DELETE", "/c/bank/NONE/content/1"), 404)
        refused(service.post("/c/bank/NONE/signal", {"pdq": CODE}), 404)


def test_what_a_benign_bank_has_is_no_match():
    with folder() as home, hma(home) as service:
        assert bank(service, "STOCK", benign=True)["benign"]
        bank(service, "BAD")
        add(service, "BAD", NEAR)
        assert list(lookup(service, CODE)) == ["BAD"]
        add(service, "STOCK", CODE)
        assert lookup(service, CODE) == {}
        assert len(raw_lookup(service, CODE)) == 2
        assert "benign" not in ok(put(service, "/c/bank/STOCK", {"benign": False}))
        assert list(lookup(service, CODE)) == ["BAD", "STOCK"]


def test_signals_are_compared():
    with folder() as home, hma(home) as service:
        pairs = {"pdq": [CODE, NEAR], "video_md5": [MD5, MD5]}
        compared = ok(service.post("/m/compare", pairs))
        assert compared == {"pdq": [True, {"distance": 4}], "video_md5": [True, {}]}, compared
        far = ok(service.post("/m/compare", {"pdq": [CODE, OTHER]}))["pdq"]
        assert far[0] is False and far[1]["distance"] > 31, far
        for wrong in ([], {"pdq": [CODE]}, {"pdq": CODE}, {"pdq": [CODE, 1]}, {"tlsh": ["", ""]}):
            refused(service.post("/m/compare", wrong), 400)
        refused(service.get(f"/m/lookup?signal_type=tlsh&signal={CODE}"), 400)
        refused(service.get(f"/m/lookup?signal={CODE}"), 400)
        refused(service.get("/m/lookup?signal_type=pdq&signal=abc"), 400)
        refused(service.get("/m/raw_lookup"), 400)
        names = [one["name"] for one in ok(service.get("/c/signal_type"))]
        assert names == ["pdq", "video_md5"], names
        assert ok(service.get("/c/content_type"))[0] == {"name": "photo", "enabled": True}


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
