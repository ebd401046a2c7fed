#!/usr/bin/env python3
"""`doppel serve`: texts that are found by their meaning, as the command finds them.

`meaning.py BUILD`
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402
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


def serve(**environment):
    models = {"DOPPEL_MODELS": str(FOLDER / "models")}
    return Service(BUILD, FOLDER, environment=models | environment)


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
        for wrong in ("min_cosine=2", "max_fp_rate=x", "min_cosine=-1"):
            assert service.post(f"/v1/find?semantic=1&{wrong}", text)[0] == 400


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
    for words in (["check", "query.txt"], ["ingest", "query.txt"], ["groups"]):
        said = doppel(*here, *words, "--semantic", code=2).stderr
        assert "find --semantic --upload" in said, said
    said = doppel(*here, "find", "--max-fp-rate", "0.1", "query.txt", code=2).stderr
    assert "'--max-fp-rate' is for a library here" in said, said


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
