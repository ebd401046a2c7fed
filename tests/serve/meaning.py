#!/usr/bin/env python3
"""`doppel serve`: texts that are found, decided about and grouped by their meaning, as the command
does it.

`meaning.py BUILD`
"""

import io
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import wave

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "house"), str(TESTS / "embed")]
import tap  # noqa: E402
from embedding_server import Call, Server  # noqa: E402
from service import Service  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
NDJSON = "application/x-ndjson"
MEANINGS, DIMENSION, TEXTS = 300, 24, 30


def spelled(spelling, meaning):
    return "m" + spelling + "".join(chr(ord("a") + int(digit)) for digit in str(meaning))


def write_model(path, seed):
    """Each meaning has two words, with nearly the same vector."""
    random.seed(seed)
    with open(path, "w") as file:
        for meaning in range(MEANINGS):
            middle = [random.gauss(0, 1) for _ in range(DIMENSION)]
            for spelling in "ab":
                numbers = " ".join(f"{one + random.gauss(0, 0.1):.4f}" for one in middle)
                file.write(f"{spelled(spelling, meaning)} {numbers}\n")


def in_words(text, spelling):
    return " ".join(spelled(spelling, meaning) for meaning in MEANT[text])


def doppel(*words, code=0):
    environment = dict(os.environ, HOME=str(FOLDER), DOPPEL_MODELS=str(FOLDER / "models"))
    done = subprocess.run(
        [BUILD / "doppel", *map(str, words)],
        capture_output=True,
        text=True,
        cwd=FOLDER,
        env=environment,
    )
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def serve(*options, **environment):
    models = {"DOPPEL_MODELS": str(FOLDER / "models")}
    return Service(BUILD, FOLDER, *options, environment=models | environment)


def matches_of(answer):
    status, _, body = answer
    assert status == 200, answer
    return body["results"][0]["matches"]


def test_a_text_is_found_as_the_command_finds_it():
    asked = "/v1/find?semantic=1&min_cosine=0.9"
    with serve() as service:
        for number in range(0, TEXTS, 7):
            text = in_words(number, "b")
            (FOLDER / "query.txt").write_text(text)
            done = doppel("find", "-L", "library", "--semantic", "--min-cosine", "0.9", "--json",
                          "query.txt")  # fmt: skip
            wanted = [json.loads(line) for line in done.stdout.splitlines()]
            for row in wanted:
                del row["query"]
            assert wanted[0]["record"] == f"t{number}" and wanted[0]["relation"] == "semantic"
            assert matches_of(service.post(asked, {"text": text})) == wanted
            assert matches_of(service.send(asked, ("q.txt", text.encode()))) == wanted
            row = {name: json.loads(line) for name, line in [
                ("remote", doppel("--server", service.address, "find", "--semantic", "--upload",
                                  "--min-cosine", "0.9", "--json", "query.txt").stdout)]
            }["remote"]  # fmt: skip
            assert {key: row[key] for key in wanted[0]} == wanted[0], row
            assert matches_of(service.post("/v1/find", {"text": text})) == []


def test_lines_and_words_and_thresholds():
    with serve() as service:
        lines = [{"text": in_words(3, "a")}, {"text": in_words(4, "b")}, {"text": "nothing known"}]
        body = "".join(json.dumps(line) + "\n" for line in lines)
        status, _, answer = service.ask(
            "POST", "/v1/find?semantic=1&min_cosine=0.9", body, Content_Type=NDJSON
        )
        assert status == 200, answer
        first, second, third = [json.loads(line) for line in answer.splitlines()]
        assert first["matches"][0]["relation"] == "same", first
        assert sum(one["id"] == first["matches"][0]["id"] for one in first["matches"]) == 1
        assert second["match"] is True and second["matches"][0]["record"] == "t4", second
        assert third["match"] is False and third["matches"] == [], third
        text = {"text": in_words(4, "b")}
        assert matches_of(service.post("/v1/find?semantic=1&min_cosine=0.9999", text)) == []
        assert matches_of(service.post("/v1/find?semantic=1", text)) == []  # too few for 1e-5
        one = service.post("/v1/find?semantic=1&min_cosine=0.001&limit=1", text)
        assert len(matches_of(one)) == 1 and one[2]["results"][0]["found"] > 1, one
        rare = matches_of(service.post("/v1/find?semantic=1&max_fp_rate=0.03", text))
        assert rare[0]["record"] == "t4" and rare[0]["false_positive_rate"] <= 0.03, rare
        often = matches_of(service.post("/v1/find?semantic=1&max_fp_rate=0.9", text))
        assert often[0]["record"] == "t4" and len(often) > len(rare), often
        for wrong in ("min_cosine=2", "max_fp_rate=x", "min_cosine=-1"):
            assert service.post(f"/v1/find?semantic=1&{wrong}", text)[0] == 400
        for verb in "find", "check":
            status, _, body = service.post(f"/v1/{verb}?min_cosine=0.1", text)
            assert status == 400 and "goes with 'semantic=1'" in body["detail"], body
        status, _, body = service.get("/v1/groups?min_cosine=0.1")
        assert status == 400 and "goes with 'semantic=1'" in body["detail"], body


def test_what_is_added_meanwhile_is_found():
    with serve() as service:
        asked = "/v1/find?semantic=1&min_cosine=0.9"
        MEANT.append(random.sample(range(MEANINGS), 60))
        text = {"text": in_words(-1, "b")}
        assert matches_of(service.post(asked, text)) == []
        (FOLDER / "late.jsonl").write_text(json.dumps({"id": "late", "text": in_words(-1, "a")}))
        doppel("ingest", "-L", "library", "--semantic", "--min-cosine", "0.9", "--jsonl",
               "late.jsonl")  # fmt: skip
        assert matches_of(service.post(asked, text))[0]["record"] == "late"


def test_the_model_may_be_whitened():
    doppel("model", "whiten", "words", "--as", "white", "corpus.jsonl")
    whole = FOLDER / "whitened"
    whole.mkdir()
    near = "--semantic", "--min-cosine", "0.8"
    doppel("ingest", "-L", whole / "library", *near, "--model", "white", "--jsonl", "corpus.jsonl")
    text = in_words(5, "b")
    (FOLDER / "query.txt").write_text(text)
    done = doppel("find", "-L", whole / "library", *near, "--json", "query.txt")
    wanted = [json.loads(line) for line in done.stdout.splitlines()]
    plain = doppel("find", "-L", "library", *near, "--json", "query.txt").stdout
    with Service(BUILD, whole, environment={"DOPPEL_MODELS": str(FOLDER / "models")}) as service:
        found = matches_of(service.post("/v1/find?semantic=1&min_cosine=0.8", {"text": text}))
    assert found[0]["record"] == "t5" and found[0]["relation"] == "semantic", found
    assert found == [{key: row[key] for key in row if key != "query"} for row in wanted]
    assert found[0]["cosine"] != json.loads(plain.splitlines()[0])["cosine"], plain


def test_what_is_in_the_way_is_said():
    with serve(DOPPEL_MODELS=str(FOLDER / "none")) as service:
        status, _, body = service.post("/v1/find?semantic=1", {"text": in_words(1, "b")})
        assert status == 422 and "'words', which is not among" in body["detail"], body
    with tempfile.TemporaryDirectory() as home, Service(BUILD, home) as service:
        status, _, body = service.post("/v1/find?semantic=1", {"text": in_words(1, "b")})
        assert status == 422 and "ingest --semantic" in body["detail"], body
        for no in ("0", "false"):
            assert matches_of(service.post(f"/v1/find?semantic={no}", {"text": "some"})) == []
        assert service.post("/v1/find?semantic=1", {"code": "9cf11f47d0f89fc0"})[0] == 422
    here = "--server", "http://127.0.0.1:1"
    said = doppel(*here, "find", "--semantic", "query.txt", code=2).stderr
    assert "'--upload', which sends the text" in said, said
    for verb in ("check", "ingest"):
        said = doppel(*here, verb, "--semantic", "query.txt", code=2).stderr
        assert "'--upload', which sends the text" in said, said
    for verb in (["find", "query.txt"], ["groups"]):
        said = doppel(*here, *verb, "--max-fp-rate", "0.1", code=2).stderr
        assert "'--max-fp-rate' is for a library here" in said, said


# ---- decisions ----


def results_of(answer):
    status, headers, body = answer
    assert status == 200, answer
    if headers["Content-Type"] == NDJSON:
        return [json.loads(line) for line in body.splitlines()]
    return body["results"]


def put_lines(service, path, records, **headers):
    body = "".join(json.dumps(one) + "\n" for one in records)
    return results_of(service.ask("POST", path, body, Content_Type=NDJSON, **headers))


def test_a_text_is_checked_as_the_command_checks_it():
    asked = "/v1/check?semantic=1&min_cosine=0.9"
    text = in_words(6, "b")
    (FOLDER / "query.txt").write_text(text)
    check = ["check", "--semantic", "--min-cosine", "0.9", "--json", "query.txt"]
    (wanted,) = map(json.loads, doppel(*check, "-L", "library").stdout.splitlines())
    assert wanted["decision"] == "new" and wanted["semantic"]["of"] == "t6", wanted
    with serve("--allow-paths", FOLDER) as service:
        lines = put_lines(service, asked, [{"id": "n", "text": text}, {"id": "t", "text": "a b"}])
        for answers in (
            results_of(service.post(asked, {"text": text})),
            results_of(service.send(asked, ("q.txt", text.encode()))),
            results_of(service.post(asked, {"path": str(FOLDER / "query.txt")})),
            put_lines(service, asked, [{"path": str(FOLDER / "query.txt")}]),
            lines[:1],
        ):
            (found,) = answers
            assert found["decision"] == "new" and found["semantic"] == wanted["semantic"], found
        assert lines[1]["id"] == "t" and "semantic" not in lines[1], lines
        for other in ("", "?semantic=0", "?semantic=1&min_cosine=0.9999"):
            (found,) = results_of(service.post(f"/v1/check{other}", {"text": text}))
            assert found["decision"] == "new" and "semantic" not in found, found
        known = results_of(service.post(asked, {"text": in_words(6, "a")}))[0]
        assert known["decision"] == "duplicate" and "semantic" not in known, known
        remote = doppel("--server", service.address, *check, "--upload").stdout
        assert json.loads(remote)["semantic"] == wanted["semantic"], remote
        table = doppel("--server", service.address, *check[:-2], "--upload", "query.txt").stdout
        assert "t6" in table and "near-duplicate" not in table, table
        far = ["--min-cosine", "0.9999", "--upload", "query.txt"]
        doppel("--server", service.address, "check", "--semantic", *far, code=1)


def home_of_its_own():
    """With the one model."""
    home = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
    (home / "models").mkdir()
    shutil.copy(FOLDER / "models" / "words.model", home / "models")
    return home, {"DOPPEL_MODELS": str(home / "models")}


def found_here(home, number):
    (FOLDER / "query.txt").write_text(in_words(number, "b"))
    words = ["--semantic", "--min-cosine", "0.9", "--model", "words", "--json", "query.txt"]
    done = doppel("find", "-L", home / "library", *words)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_what_is_ingested_is_found_by_its_meaning():
    asked = "/v1/ingest?semantic=1&min_cosine=0.9"
    home, environment = home_of_its_own()
    with Service(BUILD, home, environment=environment) as service:
        text = {"text": in_words(0, "a"), "id": "first"}
        assert service.post("/v1/check?semantic=1", text)[0] == 422
        assert results_of(service.post("/v1/ingest", {"text": in_words(8, "a"), "id": "plain"}))
        assert "semantic" not in results_of(service.post(asked, text))[0]
        other = {"text": in_words(0, "b"), "id": "second"}
        answers = [service.post(asked, other, Idempotency_Key="k") for _ in range(2)]
        assert answers[0][2] == answers[1][2], answers
        (second,) = results_of(answers[0])
        assert second["decision"] == "new" and second["semantic"]["of"] == "first", second
        assert service.post("/v1/ingest", other, Idempotency_Key="k")[0] == 422
        sent = service.send(asked, ("q.txt", in_words(1, "a").encode()), Idempotency_Key="f")
        assert results_of(sent)[0]["decision"] == "new"
        lines = put_lines(service, asked, [{"id": "l", "text": in_words(1, "b")},
                                           {"id": "m", "text": in_words(2, "b")}])  # fmt: skip
        assert lines[0]["semantic"]["item"] == results_of(sent)[0]["item"], lines
        assert [one["decision"] for one in lines] == ["new", "new"], lines
        assert not matches_of(service.post("/v1/find?semantic=1&min_cosine=0.9",
                                           {"text": in_words(8, "b")}))  # fmt: skip
        (again,) = results_of(service.post(asked, {"text": in_words(8, "a"), "id": "plain"}))
        assert again["decision"] == "duplicate" or again.get("replayed"), again
        late = service.post("/v1/find?semantic=1&min_cosine=0.9", {"text": in_words(8, "b")})
        assert matches_of(late)[0]["record"] == "plain", late
        assert service.post("/v1/jobs?semantic=1", text)[0] == 400
        (home / "sent.txt").write_text(in_words(2, "a"))
        sent = ["--semantic", "--min-cosine", "0.9", "--upload", "--json", home / "sent.txt"]
        row = json.loads(doppel("--server", service.address, "ingest", *sent).stdout)
        assert row["decision"] == "new" and row["semantic"]["of"] == "m", row
        assert service.end() == 0
    assert "semantic" in [row["relation"] for row in found_here(home, 1)]
    doppel("verify", "-L", home / "library")


def recording(seed):
    """Six seconds of tones, as a WAV."""
    rate, chance, frames = 11025, random.Random(seed), bytearray()
    for _ in range(24):
        tones = [chance.uniform(200, 3000) for _ in range(4)]
        for n in range(rate // 4):
            level = sum(math.sin(2 * math.pi * tone * n / rate) for tone in tones)
            frames += int(6000 * level).to_bytes(2, "little", signed=True)
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((1, 2, rate, 0, "NONE", "none"))
        out.writeframes(bytes(frames))
    return file.getvalue()


def test_recordings_are_left_to_the_writer():
    home, environment = home_of_its_own()
    with Service(BUILD, home, environment=environment) as service:
        for seed, path in enumerate(["/v1/ingest", "/v1/ingest?semantic=1"]):
            sent = service.send(path, ("tones.wav", recording(seed)))
            (one,) = results_of(sent)
            assert one["decision"] == "new" and one["kind"] == "audio", one
        assert service.end() == 0


def test_several_models_and_no_vectors():
    home, environment = home_of_its_own()
    shutil.copy(FOLDER / "models" / "words.model", home / "models" / "others.model")
    text = {"text": in_words(0, "a"), "id": "first"}
    with Service(BUILD, home, environment=environment) as service:
        status, _, body = service.post("/v1/ingest?semantic=1", text)
        assert status == 422 and "'doppel serve --model NAME' says by which" in body["detail"], body
        assert service.get("/v1/items")[2]["items"] == []
    with Service(BUILD, home, "--model", "words", environment=environment) as service:
        assert results_of(service.post("/v1/ingest?semantic=1", text))[0]["decision"] == "new"
        asked = "/v1/check?semantic=1&min_cosine=0.9"
        (found,) = results_of(service.post(asked, {"text": in_words(0, "b")}))
        assert found["semantic"]["of"] == "first", found


def test_many_at_a_time():
    asked = "/v1/ingest?semantic=1&min_cosine=0.9"
    home, environment = home_of_its_own()
    with Service(BUILD, home, environment=environment) as service:
        seen = []

        def send(spelling, numbers):
            for number in numbers:
                path = asked if number % 3 else "/v1/ingest"
                text = {"text": in_words(number, spelling), "id": f"{spelling}{number}"}
                seen.append(results_of(service.post(path, text))[0])

        askers = [threading.Thread(target=send, args=(spelling, numbers))
                  for spelling in "ab" for numbers in (range(0, 8), range(8, 16))]  # fmt: skip
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        assert len(seen) == 32 and all(one["decision"] == "new" for one in seen), seen
        assert not any("semantic_problem" in one for one in seen), seen
        found = service.post("/v1/find?semantic=1&min_cosine=0.9", {"text": in_words(1, "b")})
        assert {"a1", "b1"} <= {one.get("record") for one in matches_of(found)}, found


# ---- groups ----


def groups_by_page(service, path):
    groups, links, cursor, pages = [], [], 0, 0
    while cursor is not None:
        status, _, page = service.get(f"{path}&cursor={cursor}")
        assert status == 200, page
        groups += page["groups"]
        links += page["links"]
        cursor = page.get("next")
        pages += 1
    return groups, links, pages


def test_groups_and_what_means_the_same():
    home, environment = home_of_its_own()
    records = [{"id": f"a{i}", "text": in_words(i, "a")} for i in range(6)]
    records += [{"id": f"b{i}", "text": in_words(i, "b")} for i in range(4)]
    records += [{"id": f"c{i}", "text": in_words(i, "a") + " more"} for i in range(2)]
    (home / "records.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    near = "--semantic", "--min-cosine", "0.9"
    library = "-L", home / "library"
    doppel("ingest", *library, *near, "--model", "words", "--jsonl", home / "records.jsonl")
    rows = doppel("groups", *library, *near, "--json").stdout
    people = doppel("groups", *library, *near).stdout
    wanted = [json.loads(line) for line in rows.splitlines()]
    with Service(BUILD, home, environment=environment) as service:
        for limit in (1, 3, 1000):
            path = f"/v1/groups?semantic=1&min_cosine=0.9&limit={limit}"
            groups, links, pages = groups_by_page(service, path)
            assert pages == -(-len(groups + links) // limit), (pages, len(groups), len(links))
            assert len(groups) == 2 and len(links) == 4, (groups, links)
            assert links == [row for row in wanted if "semantic" in row]
        there = "--server", service.address
        assert doppel(*there, "groups", *near, "--json").stdout.splitlines()[2:] == (
            rows.splitlines()[2:]
        )
        below = people[people.index("Texts that mean the same") :]
        remote = doppel(*there, "groups", *near).stdout
        assert remote.endswith("\n" + below) and "(in group 1)" in below, (remote, below)
        few = service.get("/v1/groups?semantic=1")[2]
        assert few["links"] == [] and "too few to tell" in few["notice"], few
        said = doppel(*there, "groups", "--semantic").stderr
        assert "too few to tell" in said, said
        assert "links" not in service.get("/v1/groups")[2]
    with tempfile.TemporaryDirectory() as home, Service(BUILD, home) as service:
        assert service.get("/v1/groups?semantic=1")[0] == 422


# ---- by a service that embeds ----


def test_who_runs_it_chooses_the_service_that_embeds():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    server.behave(Call.answer)
    home, environment = home_of_its_own()
    embeds = "--embeddings", server.url, "--model", "m"
    asked = "/v1/ingest?semantic=1&min_cosine=0.99"
    with Service(BUILD, home, *embeds, environment=environment) as service:
        first = results_of(service.post(asked, {"text": in_words(0, "a"), "id": "first"}))
        assert first[0]["decision"] == "new" and "semantic_problem" not in first[0], first
        near = service.post("/v1/find?semantic=1&min_cosine=0.99", {"text": in_words(0, "a")})
        assert matches_of(near)[0]["record"] == "first", near
        server.behave(lambda call: call.send(401, b"{}"))
        lines = [{"text": in_words(number, "a"), "id": f"l{number}"} for number in range(1, 6)]
        for answers in (
            results_of(service.post(asked, lines[:2])),
            put_lines(service, asked, lines[2:]),
        ):
            for one in answers:
                assert one["decision"] == "new" and one["item"], one
                assert "cannot be embedded now" in one["semantic_problem"], one
                assert server.url not in json.dumps(one)
        assert server.number <= 4, server.number  # the first of each request, not all
        status, _, body = service.post("/v1/find?semantic=1", {"text": in_words(7, "a")})
        assert status == 503 and server.url not in json.dumps(body), body
        assert "401" in service.said(), service.said()
        (home / "late.txt").write_text(in_words(8, "a"))
        done = doppel("--server", service.address, "check", "--semantic", "--upload",
                      home / "late.txt", code=1)  # fmt: skip
        assert "is decided by its words alone" in done.stderr, done.stderr
        server.behave(Call.answer)
        again = results_of(service.post(asked, lines))
        assert not any("semantic_problem" in one for one in again), again
        near = service.post("/v1/find?semantic=1&min_cosine=0.99", {"text": in_words(5, "a")})
        assert matches_of(near)[0]["record"] == "l5", near
    server.shutdown()


def main():
    global FOLDER, MEANT
    with tempfile.TemporaryDirectory(prefix="doppel-meaning.") as folder:
        FOLDER = pathlib.Path(folder)
        write_model(FOLDER / "words.txt", 1)
        doppel("model", "add", "words.txt", "--name", "words")
        MEANT = [random.sample(range(MEANINGS), 60) for _ in range(TEXTS)]
        records = [{"id": f"t{i}", "text": in_words(i, "a")} for i in range(TEXTS)]
        (FOLDER / "corpus.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
        doppel("ingest", "-L", "library", "--semantic", "--min-cosine", "0.9", "--jsonl",
               "corpus.jsonl")  # fmt: skip
        return tap.main(sys.modules[__name__])


if __name__ == "__main__":
    sys.exit(main())
