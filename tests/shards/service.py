#!/usr/bin/env python3
"""`doppel serve` with a library in a cluster. Usage: service.py BUILD"""

import concurrent.futures
import pathlib
import random
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TOP / part) for part in ("house", "cluster", "serve")]

import tap
from redis import start_cluster
from service import Service

BUILD = pathlib.Path(sys.argv[1]).resolve()
folder = tempfile.TemporaryDirectory(prefix="doppel-shards-")
nodes = []


def service(name, *options):
    if not nodes:
        nodes.extend(start_cluster(BUILD, pathlib.Path(folder.name), 3))
    home = pathlib.Path(folder.name) / name
    home.mkdir()
    address = f"redis://127.0.0.1:{nodes[0].port}/{name}"
    return Service(BUILD, home, "--scheme", "pdq", *options, library=address)


def code_of(chance, bits=256):
    return chance.getrandbits(bits).to_bytes(bits // 8, "big").hex()


def near(code, chance, bits=3):
    number = int(code, 16)
    for _ in range(bits):
        number ^= 1 << chance.randrange(4 * len(code))
    return f"{number:0{len(code)}x}"


def ask_codes(served, route, codes):
    inputs = [{"code": code, "scheme": "pdq", "id": name} for name, code in codes]
    status, _, answer = served.post(route, {"inputs": inputs})
    assert status == 200, (status, answer)
    return answer["results"]


def test_codes_are_decided_about_and_found():
    chance = random.Random(1)
    codes = [(f"picture {i}", code_of(chance)) for i in range(100)]
    with service("codes") as served:
        assert [r["decision"] for r in ask_codes(served, "/v1/ingest", codes)] == ["new"] * 100
        again = ask_codes(served, "/v1/ingest", codes)
        assert [r["decision"] for r in again] == ["duplicate"] * 100
        copies = [(f"copy of {name}", near(code, chance)) for name, code in codes]
        told = ask_codes(served, "/v1/check", copies)
        assert [r["decision"] for r in told] == ["duplicate"] * 100
        assert [r["of_external_id"] for r in told] == [name for name, _ in codes]
        found = ask_codes(served, "/v1/find", copies)
        assert [[m["name"] for m in r["matches"]] for r in found] == [[name] for name, _ in codes]
        status, _, stats = served.get("/v1/stats")
        assert status == 200 and stats["library"] == {"items": 100, "nodes": 3, "replicas": 0}


def test_items_are_told_and_removed():
    with service("items") as served:
        (told,) = ask_codes(served, "/v1/ingest", [("one", "0f" * 32)])
        path = f"/v1/items/{told['item']}"
        status, _, item = served.get(path)
        assert status == 200 and item["external_id"] == "one" and item["scheme"] == "pdq"
        assert served.get("/v1/items/id:one")[2] == item
        assert served.get("/v1/items/id:two")[0] == served.get("/v1/items/one")[0] == 404
        assert served.ask("DELETE", path)[0] == 204
        assert served.get(path)[0] == 404
        (told,) = ask_codes(served, "/v1/ingest", [("one", "0f" * 32)])
        assert served.ask("DELETE", "/v1/items/id:one")[0] == 204
        assert served.ask("DELETE", path)[0] == 404
        assert ask_codes(served, "/v1/find", [("one", "0f" * 32)])[0]["match"] is False


def test_of_copies_sent_to_two_services_exactly_one_is_new():
    chance = random.Random(2)
    codes = [code_of(chance) for _ in range(200)]
    with service("race") as one, Service(
        BUILD, pathlib.Path(folder.name), "--scheme", "pdq",
        library=f"redis://127.0.0.1:{nodes[1].port}/race",
    ) as other:  # fmt: skip
        def ingest(number, served):
            inputs = [(f"{number} of {i}", near(code, chance, 1)) for i, code in enumerate(codes)]
            return [r["decision"] for r in ask_codes(served, "/v1/ingest", inputs)]

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            told = list(pool.map(ingest, range(4), (one, other, one, other)))
        for decisions in zip(*told):
            assert sorted(decisions) == ["duplicate"] * 3 + ["new"], decisions


def test_what_it_does_not_hold_is_said():
    with service("refused") as served:
        status, _, told = served.post("/v1/find", {"text": "some words that mean something"})
        assert status in (415, 422, 400), (status, told)
        assert "picture" in told["detail"], told
        status, _, told = served.get("/v1/groups")
        assert status == 404 and "cluster" in told["detail"], told
        status, _, told = served.post("/v1/ingest", {"code": "0f" * 32, "scheme": "pdq"},
                                      Idempotency_Key="a")  # fmt: skip
        assert status == 400 and "same id" in told["detail"], told
        assert served.get("/healthz")[0] == 200 and served.get("/readyz")[0] == 200
        assert b"doppel_requests_total" in served.get("/metrics")[2]


def test_of_a_part_of_the_cluster_it_is_told():
    with service("part") as served, Service(
        BUILD, pathlib.Path(folder.name), "--scheme", "pdq", "--partial", "refuse",
        library=f"redis://127.0.0.1:{nodes[0].port}/part",
    ) as whole:  # fmt: skip
        assert ask_codes(served, "/v1/ingest", [("one", "0f" * 32)])[0]["decision"] == "new"
        nodes.pop().kill()
        (found,) = ask_codes(served, "/v1/find", [("one", "0f" * 32)])
        assert found["partial"] is True and 300 < len(found["missing_shards"]) < 380, found
        status, _, told = whole.post("/v1/find", {"code": "0f" * 32, "scheme": "pdq"})
        assert status == 503 and "shards did not answer" in told["detail"], (status, told)


def test_a_cluster_that_is_away_is_told():
    with service("away") as served:
        for node in nodes:
            node.kill()
        nodes.clear()
        status, headers, told = served.post("/v1/find", {"code": "0f" * 32, "scheme": "pdq"})
        assert status == 503 and "Retry-After" in headers, (status, told)
        assert served.get("/readyz")[0] == 503
        assert served.get("/healthz")[0] == 200


if __name__ == "__main__":
    code = tap.main(sys.modules[__name__])
    for node in nodes:
        node.stop()
    sys.exit(code)
