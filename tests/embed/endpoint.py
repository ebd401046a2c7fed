#!/usr/bin/env python3
"""Vectors from a service, by a local one that misbehaves.

`endpoint.py PROGRAM`: the program of endpoint_program.c.
"""

import base64
import json
import math
import pathlib
import random
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402
from embedding_server import (  # noqa: E402
    DIMENSION,
    PAGE,
    Call,
    Server,
    changed,
    elements,
    embeddings,
    http_date,
    key_echoed,
    lacking,
    packed,
    shuffled,
    slow_by_count,
    unit,
    vector,
    without_base64,
    without_index,
)

PROGRAM = sys.argv[1]
KEY = "sk-secret-0123456789"
TEXTS = [f"text number {i}" for i in range(10)]
BAD = 3  # the text that something is wrong with, where it is one


def but(status):
    return [status if i == BAD else "ok" for i in range(len(TEXTS))]


# What the service does; what comes of it: the status of the call, and what else is stated of
#   each      statuses of the texts; not stated: all are the call's
#   says      words of the message     reason    words of why the bad text is refused
#   requests  how many were sent after the probe; a pair: from, to
#   takes     seconds at least
#   options   of the call
#   always    it misbehaves at the probe already, so that nothing is opened
CASES = {
    "all is well": (Call.answer, "ok", {"requests": 1}),
    "shuffled": (shuffled, "ok", {}),
    "floats in place of base64": (lambda c: c.answer(elements(c.texts, list)), "ok", {}),
    "base64 is refused": (without_base64, "ok", {"requests": 1, "always": True}),
    "no index": (without_index, "ok", {}),
    "whole numbers": (
        lambda c: c.answer([{"index": i, "embedding": [3, 4]} for i in range(len(c.texts))]),
        "ok",
        {"always": True, "rows": [0.6, 0.8]},
    ),
    "chunked": (lambda c: c.chunked(embeddings(elements(c.texts))), "ok", {}),
    "chunked, and cut": (
        lambda c: c.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{"),
        "busy",
        {"requests": 3},
    ),
    "a wrong content type": (
        lambda c: c.send(200, embeddings(elements(c.texts)), "text/html"),
        "ok",
        {},
    ),
    "late": (lambda c: (time.sleep(0.3), c.answer()), "ok", {"takes": 0.3}),
    "never": (
        lambda c: time.sleep(3),
        "timeout",
        {"options": {"timeout_ms": 500, "most_texts": 1}, "requests": 3, "says": "at every try"},
    ),
    "a byte at a time": (
        Call.trickle,
        "timeout",
        {"options": {"timeout_ms": 500, "most_texts": 1}, "requests": 3},
    ),
    "too slow for many texts": (
        slow_by_count,
        "ok",
        {"options": {"timeout_ms": 700}, "requests": (5, 20)},
    ),
    "closes once": (lambda c: c.first(lambda: c.raw(b"")), "ok", {}),
    "closes always": (lambda c: c.raw(b""), "busy", {}),
    "half an answer, once": (lambda c: c.first(lambda: c.half(True)), "ok", {"requests": 2}),
    "half an answer, always": (lambda c: c.half(True), "busy", {"requests": 3}),
    "half an answer, of no stated length": (
        lambda c: c.half(False),
        "format",
        {"says": "no JSON", "requests": 1},
    ),
    "a page": (
        lambda c: c.send(200, PAGE, "text/html"),
        "format",
        {"says": "answers 200, but what it answers is no JSON with embeddings; it begins "
         "'<!DOCTYPE html> <html><body> Welcome to nginx'"},
    ),
    "a page of a gateway, once": (
        lambda c: c.first(lambda: c.send(502, PAGE, "text/html")),
        "ok",
        {"requests": 2},
    ),
    "no HTTP": (lambda c: c.raw(b"SSH-2.0-OpenSSH_9.2\r\n"), "argument", {"requests": 1}),
    "nothing": (lambda c: c.send(200), "format", {"says": "no JSON"}),
    "no content": (lambda c: c.send(204), "format", {"says": "answers 204"}),
    "other JSON": (lacking(ok=True), "format", {"says": "no JSON with embeddings"}),
    "no object": (lambda c: c.send(200, b"[1,2]"), "format", {"says": "no JSON with embeddings"}),
    "an error by 200": (lacking(error="model is loading"), "format", {"says": "model is loading"}),
    "deep JSON": (lambda c: c.send(200, b'{"data":' + b"[" * 100000), "format", {}),
    "too few": (changed(lambda d: d.pop()), "corrupt", {"says": "9 vectors of 10 texts"}),
    "too many": (changed(lambda d: d.append(d[0])), "corrupt", {"says": "11 vectors of 10 texts"}),
    "none": (changed(lambda d: d.clear()), "corrupt", {"says": "0 vectors of 10"}),
    "an index twice": (
        changed(lambda d: d[4].update(index=5)),
        "corrupt",
        {"says": "the index 5 twice"},
    ),
    "an index beyond": (changed(lambda d: d[9].update(index=10)), "corrupt", {"says": "index 10"}),
    "an index below": (changed(lambda d: d[0].update(index=-1)), "corrupt", {"says": "index -1"}),
    "elements that are none": (
        changed(lambda d: d.__setitem__(2, "x")),
        "format",
        {"says": "neither base64"},
    ),
    "another dimension": (
        changed(lambda d: d[4].update(embedding=packed([1.0] * 7))),
        "corrupt",
        {"says": "a vector of 7 numbers, where others have 8"},
    ),
    "another dimension later": (
        lambda c: c.answer(elements(c.texts, dimension=8 if c.number < 3 else 9)),
        "corrupt",
        {"options": {"most_texts": 4}, "each": ["ok"] * 8 + ["corrupt"] * 2, "requests": 3},
    ),
    "a dimension of 5000": (
        lambda c: c.answer(elements(c.texts, dimension=5000)),
        "format",
        {"always": True, "says": "up to 4096 floats"},
    ),
    "no numbers in a vector": (
        lambda c: c.with_bad(packed([1.0, math.nan] * 4)),
        "ok",
        {"each": but("corrupt"), "reason": "is zero, or has what is no number"},
    ),
    "infinity in a vector": (
        lambda c: c.with_bad(packed([1.0, math.inf] * 4)),
        "ok",
        {"each": but("corrupt")},
    ),
    "a vector of zeros": (
        lambda c: c.with_bad(packed([0.0] * 8)),
        "ok",
        {"each": but("corrupt"), "reason": "is zero"},
    ),
    "null among numbers": (
        lambda c: c.with_bad([1.0, None] * 4),
        "ok",
        {"each": but("corrupt")},
    ),
    "numbers beyond floats": (lambda c: c.with_bad([1e39] * 8), "ok", {"each": but("corrupt")}),
    "numbers beyond doubles": (
        lambda c: c.send(200, b'{"data":[{"embedding":[1e999]}]}'),
        "format",
        {},
    ),
    "NaN as Python writes it": (
        lambda c: c.with_bad([math.nan] * 8),
        "format",
        {"says": "no JSON"},
    ),
    "zeros at the probe": (
        lambda c: c.answer([{"index": 0, "embedding": [0.0] * 8}]),
        "corrupt",
        {"always": True, "says": "is zero"},
    ),
    "base64 of an odd length": (
        changed(lambda d: d[4].update(embedding=packed([1.0] * 8)[:-1])),
        "format",
        {"says": "neither base64"},
    ),
    "base64 of half a float": (
        changed(lambda d: d[4].update(embedding=base64.b64encode(b"x" * 30).decode())),
        "format",
        {"says": "neither base64"},
    ),
    "no base64": (changed(lambda d: d[4].update(embedding="~~~~")), "format", {}),
    "no vector": (changed(lambda d: d[4].update(embedding=[])), "format", {}),
    "more than 4 texts are too many (413)": (
        lambda c: c.refuse_many(413),
        "ok",
        {"requests": (4, 7)},
    ),
    "more than 4 texts are too many (422)": (lambda c: c.refuse_many(422), "ok", {}),
    "more than 4 texts are too many (400)": (lambda c: c.refuse_many(400), "ok", {}),
    "more than one text is too many": (
        lambda c: c.refuse_many(413, 1),
        "ok",
        {"requests": (14, 20)},
    ),
    "a text is too long": (
        lambda c: c.refuse_bad(413),
        "ok",
        {"each": but("limit"), "reason": "answers 413: no such text"},
    ),
    "a text is refused (422)": (lambda c: c.refuse_bad(422), "ok", {"each": but("format")}),
    "a text is refused (400)": (
        lambda c: c.refuse_bad(400),
        "ok",
        {"each": but("format"), "reason": "answers 400: no such text"},
    ),
    "busy once, for a second": (
        lambda c: c.first(lambda: c.send(429, Retry_After="1")),
        "ok",
        {"takes": 0.95, "requests": 2},
    ),
    "busy once, until a time": (
        lambda c: c.first(lambda: c.send(429, Retry_After=http_date(2))),
        "ok",
        {"takes": 0.7, "requests": 2},
    ),
    "busy once, for hours": (
        lambda c: c.first(lambda: c.send(429, Retry_After="9999")),
        "ok",
        {"options": {"most_wait_ms": 200}, "takes": 0.2, "requests": 2},
    ),
    "busy once, for nonsense": (
        lambda c: c.first(lambda: c.send(429, Retry_After="soon")),
        "ok",
        {"requests": 2},
    ),
    "busy once": (lambda c: c.first(lambda: c.send(429)), "ok", {"requests": 2}),
    "500 once": (lambda c: c.first(lambda: c.send(500)), "ok", {"requests": 2}),
    "a text by which it fails": (
        lambda c: c.refuse_bad(500),
        "ok",
        {"each": but("format"), "reason": "answers 500: no such text", "requests": (10, 15)},
    ),
    "more than 4 texts make it fail": (lambda c: c.refuse_many(500), "ok", {}),
    "500 a few times": (lambda c: c.send(500) if c.number < 4 else c.answer(), "ok", {}),
    "500 for one text a few times": (
        lambda c: c.send(500) if c.number < 3 else c.answer(),
        "ok",
        {"options": {"most_texts": 1}, "requests": 12},
    ),
    "500 from then on": (Call.break_down, "busy", {"says": "answers 500 (at every try)"}),
    "503 always": (
        lambda c: c.send(503, b'{"error":{"message":"loading model"}}'),
        "busy",
        {"requests": 3, "says": "answers 503: loading model (at every try)"},
    ),
    "503 in the middle": (
        lambda c: c.answer() if c.number < 3 else c.send(503),
        "busy",
        {"options": {"most_texts": 4}, "each": ["ok"] * 8 + ["busy"] * 2, "requests": 5},
    ),
    "501": (lambda c: c.send(501), "argument", {"requests": 1, "says": "answers 501"}),
    "an endless answer": (Call.endless, "limit", {"requests": 1, "says": "more than the"}),
    "elsewhere": (
        lambda c: c.send(307, Location="/elsewhere/embeddings"),
        "argument",
        {"requests": 1, "says": "answers 307: redirects are not followed"},
    ),
    "no such model": (
        lambda c: c.send(404, b'{"error":"model \\"m\\" not found, try pulling it first"}'),
        "not-found",
        {"always": True, "says": 'answers 404: model "m" not found, try pulling it first'},
    ),
    "all is refused": (
        lambda c: c.send(400, b'{"message":"what?"}'),
        "argument",
        {"always": True, "says": "answers 400: what?"},
    ),
    "a wrong key": (
        key_echoed,
        "argument",
        {"always": True, "says": "answers 401: bad key: Bearer ****************"},
    ),
}


SERVER = Server()
USUAL = {"model": "m", "min_letters": 0, "tries": 3, "wait_ms": 5, "timeout_ms": 20000}


def embed(texts=TEXTS, **options):
    asked = {**USUAL, "url": SERVER.url + "/v1", "texts": texts, "key": KEY, **options}
    begun = time.monotonic()
    done = subprocess.run([PROGRAM], input=json.dumps(asked).encode(), capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
    assert KEY.encode() not in done.stdout, "the key is shown"
    out = json.loads(done.stdout)
    out["took"] = time.monotonic() - begun
    return out


def near(a, b):
    return len(a) == len(b) and all(abs(x - y) < 1e-6 for x, y in zip(a, b))


def check_rows(out, texts, row):
    for text, status, got in zip(texts, out["each"], out["rows"]):
        if status == "ok":
            assert near(got, row or unit(vector(text))), (text, got)
        else:
            assert not any(got), (text, got)


def check(out, status, stated):
    assert out["status"] == status, (out["status"], out["message"])
    assert stated.get("says", "") in out["message"], out["message"]
    assert bool(out["message"]) == (status != "ok")
    if out["opened"]:
        assert out["each"] == stated.get("each", [status] * len(TEXTS)), out["each"]
        check_rows(out, TEXTS, stated.get("rows"))
    least, most = stated.get("requests", (0, 99)), stated.get("requests", (0, 99))
    if isinstance(least, tuple):
        least, most = least
    assert least <= SERVER.number <= most, f"{SERVER.number} requests"
    assert out["took"] >= stated.get("takes", 0), out["took"]
    refused = [] if not out["opened"] else [i for i, s in enumerate(out["each"]) if s != "ok"]
    if status == "ok":
        assert [place for place, _ in out["refused"]] == refused, out["refused"]
    for _, reason in out["refused"]:
        assert stated.get("reason", "") in reason, reason
    assert all("elsewhere" not in path for path, _, _ in SERVER.calls)


def test_a_service_that_misbehaves():
    failed = []
    for name, (act, status, stated) in CASES.items():
        SERVER.behave(act, stated.get("always", False), TEXTS[BAD])
        try:
            check(embed(**stated.get("options", {})), status, stated)
        except AssertionError as problem:
            failed.append(f"{name}: {problem}")
    assert not failed, "\n".join(failed)
    assert len(CASES) > 60


def test_what_is_sent():
    SERVER.behave(Call.answer)
    out = embed(["a\u0000b", "naïve", "\u2028 \"quoted\"\n"], prefix="query: ")
    path, headers, request = SERVER.calls[1]
    assert path == "/v1/embeddings" and headers["Authorization"] == f"Bearer {KEY}"
    assert headers["Content-Type"] == "application/json"
    assert request == {
        "model": "m",
        "input": ["query: a b", "query: naïve", "query: \u2028 \"quoted\"\n"],
        "encoding_format": "base64",
    }, request
    assert SERVER.calls[0][2]["input"][0].startswith("query: The harbour")
    assert out["tokens"] == 4 and out["requests"] == 2 and out["dimension"] == DIMENSION


def test_where_it_is_sent():
    for given, path in {
        "": "/v1/embeddings",
        "/": "/v1/embeddings",
        "?a=b": "/v1/embeddings?a=b",
        "/v1": "/v1/embeddings",
        "/v1/": "/v1/embeddings",
        "/v1/embeddings": "/v1/embeddings",
        "/v1/embeddings/": "/v1/embeddings",
        "/deployments/x?api-version=3": "/deployments/x/embeddings?api-version=3",
        "/embeddings": "/embeddings",
    }.items():
        SERVER.behave(Call.answer)
        assert embed(TEXTS[:1], url=SERVER.url + given)["status"] == "ok", given
        assert SERVER.calls[0][0] == path, (given, SERVER.calls[0][0])


def test_hosts_that_are_not_allowed():
    port = SERVER.server_address[1]
    for url, status, options in [
        (f"http://localhost:{port}", "ok", {}),
        ("https://api.openai.example/v1", "unsupported", {}),
        ("http://10.1.2.3:8080", "unsupported", {}),
        ("http://127.0.0.1.example", "unsupported", {"allowed": "127.0.0.1"}),
        ("http://other.example:81", "unsupported", {"allowed": "other.example"}),
        ("http://other.invalid", "busy", {"allowed": "other.invalid"}),
        (f"http://someone:{KEY}@127.0.0.1/", "argument", {"url_is_secret": True}),
        ("ftp://127.0.0.1", "argument", {}),
        ("", "argument", {}),
        ("127.0.0.1", "argument", {}),
    ]:
        SERVER.behave(Call.answer)
        if options.pop("url_is_secret", False):
            url = url.replace(KEY, "word")
        out = embed(TEXTS[:1], url=url, tries=1, **options)
        assert out["status"] == status, (url, out)
        assert SERVER.number == (status == "ok"), url


def test_options_that_have_no_meaning():
    SERVER.behave(Call.answer)
    for options in (
        {"model": ""},
        {"key": ""},
        {"key": "a b"},
        {"key": "a\r\nX: y"},
        {"most_texts": 0},
        {"most_texts": 4097},
        {"tries": 0},
        {"timeout_ms": 0},
    ):
        out = embed(**options)
        assert out["status"] == "argument" and out["message"], (options, out)
    assert not SERVER.calls


def test_nobody_is_there():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        out = embed(url=f"http://127.0.0.1:{place.getsockname()[1]}")
    assert out["status"] == "busy" and "at every try" in out["message"], out


def test_short_texts_are_not_sent():
    SERVER.behave(Call.answer)
    texts = ["word " * 49, "word " * 50, "", "12345 " * 99, "数据" * 100, "é" * 199]
    out = embed(texts, min_letters=200)
    assert out["each"] == ["too-short", "ok", "too-short", "too-short", "ok", "too-short"], out
    assert SERVER.calls[1][2]["input"] == [texts[1], texts[4]] and not out["refused"]
    check_rows(out, texts, None)
    assert embed(["", "a"], min_letters=0)["each"] == ["too-short", "ok"]


def test_batches():
    SERVER.behave(Call.answer)
    texts = [f"{i:03} " + "x" * (i * 7 % 90) for i in range(200)]
    out = embed(texts, most_texts=16, most_bytes=500)
    assert out["status"] == "ok"
    check_rows(out, texts, None)
    batches = [request["input"] for _, _, request in SERVER.calls[1:]]
    assert [text for batch in batches for text in batch] == texts
    assert all(len(batch) <= 16 and sum(map(len, batch)) <= 500 for batch in batches)
    assert len(batches) < 30, len(batches)
    SERVER.behave(Call.answer)
    out = embed(["y" * 900, "z"], most_bytes=500)
    assert out["status"] == "ok" and SERVER.number == 2
    SERVER.behave(lambda call: call.refuse_many(413, 8))
    assert embed(texts)["status"] == "ok"
    assert SERVER.number < 200 / 8 + 8, SERVER.number  # it is learned once


def test_a_model_that_has_changed():
    SERVER.behave(Call.answer)
    first, again = embed(), embed()
    assert first["revision"] == again["revision"] and len(first["revision"]) == 32
    known = {"revision": "0" * 32, "probe": first["probe"]}
    noise = random.Random(1)

    def other(salt, share):
        def act(call):
            call.answer(
                [
                    {"index": i, "embedding": [
                        x + share * y + 1e-3 * noise.gauss(0, 1)
                        for x, y in zip(vector(text), vector(text, salt=salt))
                    ]}
                    for i, text in enumerate(call.texts)
                ]
            )

        return act

    SERVER.behave(other("", 0), always=True)
    same = embed(known=known)
    assert same["status"] == "ok" and same["revision"] == "0" * 32
    SERVER.behave(other("other", 0.3), always=True)
    out = embed(known=known)
    assert out["status"] == "version" and "another model" in out["message"], out
    assert embed()["revision"] != first["revision"]
    SERVER.behave(lambda c: c.answer(elements(c.texts, dimension=9)), always=True)
    out = embed(known=known)
    assert out["status"] == "version" and "9 numbers now, and had 8" in out["message"], out
    SERVER.behave(Call.answer)
    assert embed(prefix="x")["revision"] != first["revision"]
    assert embed(model="n")["revision"] != first["revision"]


def test_a_silent_service_is_given_up_soon():
    SERVER.behave(lambda call: time.sleep(3), always=True)
    out = embed(timeout_ms=300, tries=6)
    assert out["status"] == "timeout" and len(SERVER.calls) == 2, (out, len(SERVER.calls))


def test_it_ends_when_it_is_to_stop():
    SERVER.behave(lambda call: call.send(429, Retry_After="30"))
    out = embed(stop_after=10)
    assert out["status"] == "cancelled" and out["took"] < 10, out
    assert not out["opened"] or out["each"] == ["cancelled"] * len(TEXTS)
    SERVER.behave(lambda call: time.sleep(20), always=True)
    out = embed(stop_after=3)
    assert out["status"] == "cancelled" and out["took"] < 15, out


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
