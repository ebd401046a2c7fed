#!/usr/bin/env python3
"""`doppel dedup --semantic --embeddings URL`, by a service of this machine that misbehaves; and the
cache of what it made.

`embeddings.py BUILD`
"""

import collections
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "house"), str(TESTS / "embed")]
import tap  # noqa: E402
from embedding_server import (  # noqa: E402
    PAGE,
    Call,
    Server,
    changed,
    elements,
    embeddings,
    key_echoed,
    packed,
    vector,
)

BUILD = pathlib.Path(sys.argv[1]).resolve()
HELD = tempfile.TemporaryDirectory(prefix="doppel-embeddings-")
FOLDER = pathlib.Path(HELD.name)
CORPUS = FOLDER / "corpus.jsonl"
KEY = "sk-secret-0123456789"
TEXTS, REWRITTEN, A_REQUEST = 200, 20, 64
UNIQUE = TEXTS + REWRITTEN
SERVER = Server()


# ---- texts, and a service that knows what they mean ----


def text_of(topic, words):
    """A topic, and words that nobody else has."""
    chance = random.Random(f"{topic} {words}")
    return f"topic {topic} " + " ".join(
        "".join(chance.choices("abcdefghijklmnop", k=7)) for _ in range(45)
    )


def make_corpus():
    lines = [{"id": f"t{i}", "text": text_of(i, "first")} for i in range(TEXTS)]
    lines += [{"id": f"r{i}", "text": text_of(i, "other")} for i in range(REWRITTEN)]
    lines += [{"id": "same", "text": lines[0]["text"]}, {"id": "short", "text": "brief " * 20}]
    CORPUS.write_text("".join(json.dumps(line) + "\n" for line in lines))


def meanings(texts, salt="", dimension=8):
    """By the topic; of other words a little different."""
    out = []
    for i, text in enumerate(texts):
        topic = " ".join(text.split()[:2])
        whole, own = vector(topic, dimension, salt), vector(text, dimension)
        near = [x + 0.01 * y for x, y in zip(whole, own)]
        out.append({"index": i, "embedding": packed(near)})
    return out


def well(call):
    call.answer(meanings(call.texts))


def at(number, act):
    """Something else from that request on."""
    return lambda call: act(call) if call.number >= number else well(call)


def texts_sent():
    return [t for _, _, r in SERVER.calls for t in r["input"] if "harbour was quiet" not in t]


def wrong_key(call):
    call.send(401, b'{"error":{"message":"no such key"}}')


# ---- the command ----


def arguments(*words, url=None, model="m"):
    url = SERVER.url if url is None else url
    fixed = ["dedup", "--semantic", "--embeddings", url, "--model", model, "--min-cosine", "0.98"]
    return [str(BUILD / "doppel"), *fixed, *map(str, words)]


def environment(cache="cache", **more):
    given = dict(os.environ, HOME=str(FOLDER), XDG_CACHE_HOME=str(FOLDER / cache), **more)
    return {name: value for name, value in given.items() if value is not None}


def dedup(*words, code=0, cache="cache", corpus=CORPUS, env=None, **options):
    done = subprocess.run(
        arguments(*words, corpus, **options),
        capture_output=True,
        cwd=FOLDER,
        env=environment(cache, **(env or {})),
        text=True,
        timeout=60,
    )
    assert done.returncode == code, (words, done.returncode, done.stderr)
    assert KEY not in done.stdout + done.stderr
    done.decisions = [json.loads(line) for line in done.stdout.splitlines()]
    return done


def plain_decisions():
    done = subprocess.run(
        [BUILD / "doppel", "dedup", CORPUS], capture_output=True, env=environment(), text=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def linked(done):
    return {one["id"]: one["semantic"]["of"] for one in done.decisions if "semantic" in one}


ALL_LINKED = {f"r{i}": f"t{i}" for i in range(REWRITTEN)}


def check_undecided_by_meaning(done):
    """What words decide is written, whatever became of the vectors."""
    assert done.decisions == plain_decisions(), done.stdout


def cache_file(cache="cache"):
    return FOLDER / cache / "doppel" / "vectors.db"


_next_cache = iter(range(1000))


def new_cache():
    return f"cache{next(_next_cache)}"


# ---- tests ----


def test_texts_are_found_by_meaning():
    SERVER.behave(well)
    done = dedup(cache="first")
    assert linked(done) == ALL_LINKED, linked(done)
    assert sorted(texts_sent()) == sorted(
        {json.loads(line)["text"] for line in CORPUS.read_text().splitlines()} - {"brief " * 20}
    )
    assert SERVER.number == -(-UNIQUE // A_REQUEST), SERVER.number
    said = re.search(
        r"to be embedded: (\d+) texts, about (\d+) tokens by their bytes; 0 are in", done.stderr
    )
    assert said and int(said[1]) == UNIQUE, done.stderr
    assert abs(int(said[2]) - sum(map(len, texts_sent())) / 4) < 2, done.stderr
    assert f"'m' embedded {UNIQUE} texts" in done.stderr, done.stderr
    assert "0 were in the cache, 1 too short, 0 refused" in done.stderr, done.stderr
    assert f"semantic: 1 record needed not be embedded; {REWRITTEN} are like an" in done.stderr
    without = [{k: v for k, v in one.items() if k != "semantic"} for one in done.decisions]
    assert without == plain_decisions()


def test_nothing_is_embedded_twice():
    SERVER.behave(well)
    again = dedup(cache="first")
    assert SERVER.number == 0 and len(SERVER.calls) == 1, SERVER.number  # the probe
    assert linked(again) == ALL_LINKED
    assert f"to be embedded: 0 texts, about 0 tokens by their bytes; {UNIQUE} are" in again.stderr
    assert f"'m' embedded 0 texts: 1 tokens in 1 requests; {UNIQUE} were in" in again.stderr
    more = FOLDER / "more.jsonl"
    more.write_text(CORPUS.read_text() + json.dumps({"id": "n", "text": text_of(5, "new")}) + "\n")
    SERVER.behave(well)
    assert linked(dedup(cache="first", corpus=more))["n"] == "t5"
    assert texts_sent() == [text_of(5, "new")]
    SERVER.behave(well)
    dedup("--no-cache", cache="first")
    assert len(texts_sent()) == UNIQUE
    SERVER.behave(well)
    dedup(cache="first", model="other")
    assert len(texts_sent()) == UNIQUE
    SERVER.behave(well)
    dedup(cache="first", url=SERVER.url.replace("127.0.0.1", "localhost"))
    assert not texts_sent()  # the same model, found by its probe


# What the service does from the first request on, and what is said of it; it ends with 3.
WRONG = {
    "too few": (changed(lambda d: d.pop()), " vectors of "),  # of any in flight
    "another dimension": (lambda c: c.answer(elements(c.texts, dimension=9)), "others have 8"),
    "a page": (lambda c: c.send(200, PAGE, "text/html"), "no JSON with embeddings"),
    "no such model": (lambda c: c.send(404, b'{"error":"no model m"}'), "answers 404: no model m"),
    "no HTTP": (lambda c: c.raw(b"SSH-2.0\r\n"), "embeddings"),
    "elsewhere": (lambda c: c.send(307, Location="/x"), "redirects are not followed"),
    "endless": (Call.endless, "more than the"),
    "half": (lambda c: c.half(False), "no JSON with embeddings"),
}

# All comes all the same.
ODD = {
    "from last to first": lambda c: c.answer(meanings(c.texts)[::-1]),
    "late": lambda c: (time.sleep(0.2), well(c)),
    "busy for a second": lambda c: c.send(429, Retry_After="1") if c.number == 1 else well(c),
    "closed once": lambda c: c.raw(b"") if c.number == 1 else well(c),
    "20 are too many": lambda c: c.send(413) if len(c.texts) > 20 else well(c),
    "floats": lambda c: c.answer(
        [{"index": i, "embedding": vector(" ".join(t.split()[:2]))} for i, t in enumerate(c.texts)]
    ),
}


def test_a_service_that_is_odd():
    for name, act in ODD.items():
        SERVER.behave(act)
        assert linked(dedup("--no-cache")) == ALL_LINKED, name


def test_that_it_is_waited_for_is_said():
    loading = b'{"error":{"message":"Loading model"}}'
    tries = collections.Counter()

    def three_times(call):
        tries[call.texts[0]] += 1
        call.send(503, loading) if tries[call.texts[0]] < 4 else well(call)

    SERVER.behave(three_times)
    done = dedup("--no-cache")
    said = re.findall(r"answers 503: Loading model; it is asked again in [\d.]+ s", done.stderr)
    # the third time, and not by each of the four that are in flight
    assert 1 <= len(said) < 4 and linked(done) == ALL_LINKED, done.stderr
    SERVER.behave(lambda c: c.send(503, loading) if c.number < 2 else well(c))
    assert "it is asked again in 0." in dedup("--no-cache", "-v").stderr
    SERVER.behave(lambda c: c.send(503, loading) if c.number < 2 else well(c))
    assert "it is asked again" not in dedup("--no-cache").stderr


def test_four_requests_are_in_flight():
    lock, now, most = threading.Lock(), [0], [0]

    def slowly(call):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.5)
        with lock:
            now[0] -= 1
        well(call)

    SERVER.behave(slowly)
    assert linked(dedup("--no-cache")) == ALL_LINKED
    assert most == [4] and SERVER.number == -(-UNIQUE // A_REQUEST), (most, SERVER.number)


def test_all_wait_when_one_is_to():
    begun, came = time.monotonic(), []

    def wait_a_second(call):
        came.append(time.monotonic() - begun)
        if call.number == 1:
            call.send(429, Retry_After="2")
        elif len(call.texts) > 20:
            time.sleep(0.2)
            call.send(413)
        else:
            well(call)

    SERVER.behave(wait_a_second)
    assert linked(dedup("--no-cache")) == ALL_LINKED
    came = [at - min(came) for at in came]
    assert len(came) > 8 and not [at for at in came if 0.9 < at < 1.9], sorted(came)
    assert len([at for at in came if at < 1]) <= 4, sorted(came)


def test_a_service_that_is_wrong():
    for name, (act, words) in WRONG.items():
        SERVER.behave(act)
        done = dedup(code=3, cache=new_cache())
        assert words in done.stderr and "doppel: --semantic: " in done.stderr, (name, done.stderr)
        check_undecided_by_meaning(done)


def test_what_was_embedded_before_a_failure_is_kept():
    SERVER.behave(at(3, wrong_key))
    done = dedup(code=3, cache="failed")
    assert "answers 401: no such key" in done.stderr, done.stderr
    kept = in_first_two()
    assert f"{kept} vectors are kept: the next run goes on" in done.stderr, (kept, done.stderr)
    check_undecided_by_meaning(done)
    SERVER.behave(well)
    done = dedup(cache="failed")
    assert linked(done) == ALL_LINKED
    assert len(texts_sent()) == UNIQUE - kept


def in_first_two():
    """Texts of the requests that came first, behind the probe: any of those in flight."""
    return sum(len(request["input"]) for _, _, request in SERVER.calls[1:3])


def vectors_kept(cache):
    words = [BUILD / "doppel", "model", "list", "--json"]
    done = subprocess.run(words, capture_output=True, env=environment(cache), text=True)
    return sum(json.loads(line).get("vectors", 0) for line in done.stdout.splitlines())


def wait_until(come):
    end = time.monotonic() + 20
    while not come():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_what_was_embedded_before_a_kill_is_kept():
    for end in signal.SIGKILL, signal.SIGINT:
        cache, reached, over = new_cache(), threading.Event(), threading.Event()
        SERVER.behave(at(3, lambda call: (reached.set(), over.wait(30))))
        child = subprocess.Popen(
            arguments(CORPUS),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(cache),
            text=True,
        )
        assert reached.wait(30)
        wanted = in_first_two()
        wait_until(lambda: vectors_kept(cache) == wanted)
        child.send_signal(end)
        begun = time.monotonic()
        assert child.wait(20) == (-9 if end == signal.SIGKILL else 130)
        assert time.monotonic() - begun < 5, "it waited for an answer"
        kept = "what was done is kept" in child.stderr.read()
        assert kept == (end == signal.SIGINT)
        over.set()
        SERVER.behave(well)
        assert linked(dedup(cache=cache)) == ALL_LINKED
        assert len(texts_sent()) == UNIQUE - wanted, len(texts_sent())


def test_processes_share_the_cache():
    SERVER.behave(lambda call: (time.sleep(0.05), well(call)))
    children = [
        subprocess.Popen(
            arguments(CORPUS),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment("shared"),
            text=True,
        )
        for _ in range(3)
    ]
    outs = [child.communicate(timeout=60) for child in children]
    assert all(child.returncode == 0 for child in children), outs
    assert len({out for out, _ in outs}) == 1
    SERVER.behave(well)
    assert linked(dedup(cache="shared")) == ALL_LINKED and not texts_sent()


def cached_models(cache):
    done = subprocess.run([BUILD / "doppel", "model", "list", "--json"], capture_output=True,
                          env=environment(cache), text=True, check=True)  # fmt: skip
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [{key: row.get(key, 0) for key in ("vectors", "refused")} for row in rows]


def test_a_text_that_is_refused():
    bad = text_of(7, "first")
    refused = b'{"error":{"message":"no such text"}}'
    SERVER.behave(lambda call: call.send(422, refused) if bad in call.texts else well(call))
    cache, expected = new_cache(), {k: v for k, v in ALL_LINKED.items() if k != "r7"}
    done = dedup(cache=cache)
    assert "1 refused" in done.stderr, done.stderr
    assert "the first that was refused: " in done.stderr and "no such text" in done.stderr
    assert linked(done) == expected
    SERVER.behave(well)  # it is not asked again
    done = dedup(cache=cache)
    assert linked(done) == expected and not texts_sent(), texts_sent()
    assert "embedded 0 texts" in done.stderr and "1 refused" in done.stderr, done.stderr
    assert f"{UNIQUE - 1} were in the cache" in done.stderr, done.stderr
    assert cached_models(cache)[0] == {"vectors": UNIQUE - 1, "refused": 1}
    done = dedup("--retry", cache=cache)
    assert cached_models(cache)[0] == {"vectors": UNIQUE, "refused": 0}
    assert linked(done) == ALL_LINKED and texts_sent() == [bad], texts_sent()
    SERVER.behave(well)
    assert linked(dedup(cache=cache)) == ALL_LINKED and not texts_sent()


# ---- what it costs ----


def test_the_price_is_said_first():
    SERVER.behave(well)
    done = dedup("--price", "20", cache=new_cache())
    tokens = sum(map(len, texts_sent())) / 4
    said = re.search(r"about (\d+) tokens by their bytes, about \$([\d.]+);", done.stderr)
    assert said and abs(float(said[2]) - tokens * 20 / 1e6) < 0.01, done.stderr


def scan_texts(*words, cache, code=0):
    folder = FOLDER / "texts"
    folder.mkdir(exist_ok=True)
    for i, line in enumerate(CORPUS.read_text().splitlines()):
        (folder / f"{i:03}.txt").write_text(json.loads(line)["text"])
    fixed = ["scan", "texts", "--json", "--semantic", "--embeddings", SERVER.url, "--model", "m"]
    done = subprocess.run([str(BUILD / "doppel"), *fixed, "--min-cosine", "0.98", *words],
                          capture_output=True, cwd=FOLDER, env=environment(cache), text=True,
                          timeout=60)  # fmt: skip
    assert done.returncode == code, (done.returncode, done.stderr)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    done.links = {row["path"]: row["semantic"]["of_path"] for row in rows if "semantic" in row}
    return done


def test_files_of_a_scan():
    SERVER.behave(well)
    cache = new_cache()
    done = scan_texts(cache=cache)
    expected = {f"texts/{TEXTS + i}.txt": f"texts/{i:03}.txt" for i in range(REWRITTEN)}
    assert done.links == expected, done.links
    assert SERVER.number == -(-UNIQUE // A_REQUEST), SERVER.number
    assert f"to be embedded: {UNIQUE} texts" in done.stderr, done.stderr
    assert f"{UNIQUE} texts have vectors, of {UNIQUE} passages; 1 more needed" in done.stderr
    SERVER.behave(well)
    assert scan_texts(cache=cache).links == expected and SERVER.number == 0
    SERVER.behave(well)
    done = scan_texts("--price", "1000", "--max-cost", "0.5", cache=new_cache(), code=3)
    assert "no text was sent" in done.stderr and not texts_sent() and not done.links, done.stderr
    assert '"reason":"identical"' in done.stdout, done.stdout  # what words decide stands
    SERVER.behave(at(3, wrong_key))
    done = scan_texts(cache=new_cache(), code=3)
    assert "no such key" in done.stderr and "vectors are kept" in done.stderr, done.stderr


def test_too_dear():
    SERVER.behave(well)
    done = dedup("--price", "1000", "--max-cost", "0.5", cache=new_cache(), code=3)
    assert not texts_sent() and "no text was sent" in done.stderr, done.stderr
    check_undecided_by_meaning(done)
    dedup("--price", "0.001", "--max-cost", "0.5", cache="paid")
    SERVER.behave(well)
    done = dedup("--price", "1000", "--max-cost", "0.5", cache="paid")  # nothing is to be paid
    assert linked(done) == ALL_LINKED and not texts_sent()


def test_dearer_than_foreseen():
    def dear(call):
        answer = json.loads(embeddings(meanings(call.texts)))
        answer["usage"] = {"total_tokens": 400_000}
        call.send(200, json.dumps(answer).encode())

    SERVER.behave(dear)
    done = dedup("--price", "1", "--max-cost", "0.5", cache="dear", code=3)
    assert SERVER.number == 2, SERVER.number
    assert "800001 tokens have cost 0.8" in done.stderr, done.stderr
    assert f"{2 * A_REQUEST} vectors are kept" in done.stderr
    check_undecided_by_meaning(done)
    SERVER.behave(well)
    assert linked(dedup(cache="dear")) == ALL_LINKED
    assert len(texts_sent()) == UNIQUE - 2 * A_REQUEST


def test_dearer_than_foreseen_where_no_tokens_are_counted():
    def uncounted(call):
        answer = json.loads(embeddings(meanings(call.texts)))
        del answer["usage"]
        call.send(200, json.dumps(answer).encode())

    tokens = sum(len(json.loads(line)["text"]) for line in CORPUS.read_text().splitlines()) / 4
    SERVER.behave(uncounted, always=True)
    done = dedup("--price", "1000", "--max-cost", tokens * 0.9e-3, cache=new_cache(), code=3)
    assert not texts_sent() and "no text was sent" in done.stderr, done.stderr
    done = dedup("--price", "1000", "--max-cost", tokens * 1.1e-3, cache=new_cache())
    assert linked(done) == ALL_LINKED


# ---- keys, hosts, and other models ----


def test_the_key_is_sent_and_not_shown():
    (FOLDER / "key").write_text(KEY + "\n")
    lines = []

    def look(call):
        for process in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                lines.append(process.read_bytes())
            except OSError:
                pass
        well(call)

    for words, env in (
        (["--embeddings-key", FOLDER / "key"], {}),
        (["--embeddings-key-file", FOLDER / "key"], {"DOPPEL_EMBEDDINGS_KEY": "another"}),
        ([], {"DOPPEL_EMBEDDINGS_KEY": KEY}),
    ):
        SERVER.behave(look)
        cache = new_cache()
        dedup(*words, "-v", cache=cache, env=env)
        assert {headers["Authorization"] for _, headers, _ in SERVER.calls} == {f"Bearer {KEY}"}
        for file in cache_file(cache).parent.iterdir():
            assert KEY.encode() not in file.read_bytes(), file
            assert b"topic" not in file.read_bytes(), file
    assert any(b"--embeddings" in line for line in lines)
    assert not any(KEY.encode() in line for line in lines)
    SERVER.behave(well)
    dedup(cache=new_cache(), env={"DOPPEL_EMBEDDINGS_KEY": None})
    assert SERVER.calls[0][1]["Authorization"] is None
    SERVER.behave(key_echoed, always=True)
    done = dedup(code=2, cache=new_cache(), env={"DOPPEL_EMBEDDINGS_KEY": KEY})
    assert "answers 401: bad key: Bearer ****" in done.stderr, done.stderr
    assert not done.stdout


def test_hosts():
    done = dedup(url="http://no.invalid/v1", code=2)
    assert "this machine alone, unless 'no.invalid' is allowed (--allow-host)" in done.stderr
    done = dedup("--allow-host", "other.invalid", url="http://no.invalid/v1", code=2)
    assert "unless 'no.invalid'" in done.stderr, done.stderr
    child = subprocess.Popen(
        arguments("--allow-host", "no.invalid:80", CORPUS, url="http://no.invalid/v1"),
        stderr=subprocess.PIPE,
        env=environment(new_cache()),
        text=True,
    )
    time.sleep(1)  # it is tried again and again
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=20)
    assert child.returncode == 130 and "--allow-host" not in said, (child.returncode, said)


def test_a_model_that_has_changed():
    def other(call):
        call.answer(meanings(call.texts, salt="other"))

    SERVER.behave(well, always=True)
    dedup(cache="changed")
    SERVER.behave(other, always=True)
    done = dedup(cache="changed", code=2)
    assert "'m' has other vectors than those that" in done.stderr, done.stderr
    assert "it is another model. To forget that one: doppel model remove 'm'" in done.stderr
    assert not texts_sent() and not done.stdout
    assert linked(dedup("--no-cache", cache="changed")) == ALL_LINKED
    SERVER.behave(lambda call: call.answer(meanings(call.texts, dimension=9)), always=True)
    assert "another model" in dedup(cache="changed", code=2).stderr
    SERVER.behave(well, always=True)
    assert linked(dedup(cache="changed")) == ALL_LINKED and not texts_sent()


def model(*words, cache, code=0):
    done = subprocess.run(
        [BUILD / "doppel", "model", *words],
        capture_output=True,
        env=environment(cache, DOPPEL_MODELS=str(FOLDER / "models")),
        text=True,
    )
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done


def test_models_of_services_are_listed_and_forgotten():
    assert not model("list", "--json", cache="none").stdout
    assert not (FOLDER / "none").exists()
    SERVER.behave(well)
    for name in "m", "some/other":
        dedup(cache="listed", model=name)
    printed = model("list", "--json", cache="listed").stdout
    listed = [json.loads(line) for line in printed.splitlines()]
    assert [one.pop("name") for one in listed] == ["m", "some/other"]
    for one in listed:
        assert len(one.pop("revision")) == 32
        assert one == {"dimension": 8, "tokens": "service", "vectors": UNIQUE}, one
    model("remove", "some/other", cache="listed")
    done = model("remove", "some/other", "nobody", cache="listed", code=2)
    assert "'some/other' is no name of a model" in done.stderr, done.stderr
    assert "there is no such model" in model("remove", "nobody", cache="listed", code=3).stderr
    SERVER.behave(lambda call: call.answer(meanings(call.texts, salt="other")), always=True)
    dedup(cache="listed", code=2)
    assert linked(dedup(cache="listed", model="some/other")) == ALL_LINKED
    assert len(texts_sent()) == UNIQUE
    model("remove", "m", cache="listed")
    SERVER.behave(lambda call: call.answer(meanings(call.texts, salt="other")), always=True)
    assert linked(dedup(cache="listed")) == ALL_LINKED and len(texts_sent()) == UNIQUE
    file = cache_file("listed")
    file.write_bytes(b"nothing of the kind, and no database")
    assert "left alone" in model("list", cache="listed", code=3).stderr


# ---- a cache that is of no use ----


def test_a_damaged_cache():
    SERVER.behave(well)
    dedup(cache="damaged")
    file = cache_file("damaged")
    content = file.read_bytes()
    file.write_bytes(content[:100] + b"\x5a" * 400 + content[500:])
    SERVER.behave(well)
    done = dedup(cache="damaged")
    assert "damaged; started again" in done.stderr, done.stderr
    assert linked(done) == ALL_LINKED and len(texts_sent()) == UNIQUE
    SERVER.behave(well)
    assert linked(dedup(cache="damaged")) == ALL_LINKED and not texts_sent()


def test_what_is_no_cache_is_left_alone():
    file = cache_file("picture")
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\x89PNG\r\n a picture of somebody's")
    SERVER.behave(well)
    done = dedup(cache="picture")
    assert "going on without the cache of vectors" in done.stderr, done.stderr
    assert "left alone" in done.stderr and linked(done) == ALL_LINKED
    assert file.read_bytes() == b"\x89PNG\r\n a picture of somebody's"


def test_a_cache_that_cannot_be_made():
    (FOLDER / "file").write_text("in the way")
    SERVER.behave(well)
    done = dedup(cache="file")
    assert "going on without the cache of vectors" in done.stderr, done.stderr
    assert linked(done) == ALL_LINKED


def test_a_full_disk():
    room = 56  # KB: for the tables, whose log has 41, and for some of the vectors
    limit = ["bash", "-c", f'ulimit -f {room}; exec "$0" "$@"']
    SERVER.behave(well)
    done = subprocess.run(
        [*limit, *arguments(CORPUS)],
        capture_output=True,
        env=environment("full"),
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "what is embedded cannot be kept" in done.stderr, done.stderr
    assert done.stderr.count("cannot be kept") == 1
    done.decisions = [json.loads(line) for line in done.stdout.splitlines()]
    assert linked(done) == ALL_LINKED


# ---- options ----


def test_options_that_do_not_go_together():
    program = str(BUILD / "doppel")
    url = ["--embeddings", SERVER.url]
    for words, said in (
        (url, "goes with '--semantic'"),
        ([*url, "--semantic"], "goes with '--model NAME'"),
        (["--semantic", "--price", "1"], "go with '--embeddings URL'"),
        (["--semantic", "--allow-host", "x"], "go with '--embeddings URL'"),
        (["--semantic", "--embeddings-key", "x"], "go with '--embeddings URL'"),
        ([*url, "--semantic", "--model", "m", "--max-cost", "1"], "'--price X'"),
        ([*url, "--semantic", "--model", "m", "--price", "0"], "a number over 0"),
        ([*url, "--semantic", "--model", "m", "--price", "nan"], "a number over 0"),
        ([*url, "--semantic", "--model", "m", "--allow-host", "http://x"], "not HOST or HOST:PORT"),
        ([*url, "--semantic", "--model", "m", "--embeddings-key", "none"], "No such file"),
        ([*url, "--semantic", "--model", "m" * 300], "at most 255 bytes"),
        (["--semantic", "--model", "m", "--embeddings", "x"], "'x' is no URL of http or https"),
    ):
        SERVER.behave(well)
        done = subprocess.run(
            [program, "dedup", *words, CORPUS],
            capture_output=True,
            cwd=FOLDER,
            env=environment(),
            text=True,
        )
        assert done.returncode == 2 and said in done.stderr, (words, done.returncode, done.stderr)
        assert not SERVER.calls and not done.stdout


def test_without_texts_that_are_sent():
    (FOLDER / "short.jsonl").write_text('{"id": "a", "text": "%s"}\n' % ("brief word " * 15))
    SERVER.behave(well)
    done = dedup(cache=new_cache(), corpus=FOLDER / "short.jsonl")
    assert "no two texts have vectors" in done.stderr and not texts_sent(), done.stderr
    (FOLDER / "empty.jsonl").write_text("")
    assert dedup(cache=new_cache(), corpus=FOLDER / "empty.jsonl").decisions == []


def test_quiet():
    SERVER.behave(well)
    done = dedup("-q", cache=new_cache())
    assert not done.stderr and linked(done) == ALL_LINKED


if __name__ == "__main__":
    make_corpus()
    sys.exit(tap.main(sys.modules[__name__]))
