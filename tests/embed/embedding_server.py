"""A service that embeds, as OpenAI's does, on this machine: well, or badly in many ways.

    SERVER = Server()
    SERVER.behave(Call.answer)

`SERVER.calls` has what was sent, `SERVER.number` how many requests came but for probes.
"""

import base64
import email.utils
import hashlib
import http.server
import json
import math
import random
import struct
import threading
import time

DIMENSION = 8


def vector(text, dimension=DIMENSION, salt=""):
    """Of no particular length."""
    chance = random.Random(hashlib.md5((salt + text).encode("utf-8")).digest())
    return [chance.gauss(0, 3) for _ in range(dimension)]


def unit(numbers):
    length = math.sqrt(sum(x * x for x in numbers))
    return [x / length for x in numbers]


def packed(numbers):
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def elements(texts, pack=packed, dimension=DIMENSION):
    return [
        {"object": "embedding", "index": i, "embedding": pack(vector(text, dimension))}
        for i, text in enumerate(texts)
    ]


def embeddings(data):
    usage = {"prompt_tokens": len(data), "total_tokens": len(data)}
    return json.dumps({"object": "list", "data": data, "model": "m", "usage": usage}).encode()


class Call:
    """A request; `number` counts those after the probe, from 1 on."""

    def __init__(self, handler, request, number):
        self.handler, self.request, self.number = handler, request, number
        self.texts = request["input"]

    def send(self, status, body=b"", kind="application/json", **headers):
        self.handler.send_response(status)
        self.handler.send_header("Content-Type", kind)
        self.handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()
        self.handler.wfile.write(body)

    def answer(self, data=None):
        self.send(200, embeddings(elements(self.texts) if data is None else data))

    def raw(self, data):
        self.handler.wfile.write(data)
        self.handler.close_connection = True

    def first(self, act):
        """Something else the first time."""
        act() if self.number == 1 else self.answer()

    def with_bad(self, embedding):
        """All is well but the vector of one text."""
        data = elements(self.texts)
        if self.handler.server.bad in self.texts:
            data[self.texts.index(self.handler.server.bad)]["embedding"] = embedding
        self.answer(data)

    def refuse_bad(self, status):
        error = json.dumps({"error": {"message": "no such text"}}).encode()
        self.send(status, error) if self.handler.server.bad in self.texts else self.answer()

    def refuse_many(self, status, most=4):
        self.send(status, b"{}") if len(self.texts) > most else self.answer()

    def break_down(self):
        self.handler.server.always = True
        self.send(500)

    def chunked(self, data):
        self.handler.send_response(200)
        self.handler.send_header("Transfer-Encoding", "chunked")
        self.handler.end_headers()
        for at in range(0, len(data), 100):
            piece = data[at : at + 100]
            self.handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.handler.wfile.write(b"0\r\n\r\n")

    def trickle(self):
        self.handler.send_response(200)
        self.handler.end_headers()
        for byte in embeddings(elements(self.texts)):
            self.handler.wfile.write(bytes([byte]))
            time.sleep(0.05)

    def endless(self):
        self.handler.send_response(200)
        self.handler.end_headers()
        self.handler.close_connection = True
        while True:
            self.handler.wfile.write(b" " * 65536)

    def half(self, length):
        body = embeddings(elements(self.texts))
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        head += b"Content-Length: %d\r\n" % len(body) if length else b"Connection: close\r\n"
        self.raw(head + b"\r\n" + body[: len(body) // 2])


def shuffled(call):
    data = elements(call.texts)
    random.Random(5).shuffle(data)
    call.answer(data)


def changed(change):
    def act(call):
        data = elements(call.texts)
        change(data)
        call.answer(data)

    return act


def without_index(call):
    call.answer([{"embedding": one["embedding"]} for one in elements(call.texts)])


def without_base64(call):
    if "encoding_format" in call.request:
        call.send(422, b'{"detail":"extra fields not permitted"}')
    else:
        call.answer(elements(call.texts, list))


def slow_by_count(call):
    time.sleep(2 if len(call.texts) > 3 else 0)
    call.answer()


def key_echoed(call):
    given = call.handler.headers["Authorization"]
    call.send(401, json.dumps({"error": {"message": f"bad key: {given} is none"}}).encode())


def http_date(seconds):
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


def lacking(**words):
    """An answer that is JSON, and none of embeddings."""
    return lambda call: call.send(200, json.dumps(words).encode())


PAGE = b"<!DOCTYPE html>\n<html><body>  Welcome\tto nginx"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        body = self.rfile.read(size)
        request = json.loads(body)
        is_probe = len(request["input"]) == 1 and "harbour was quiet" in request["input"][0]
        with self.server.lock:
            self.server.calls.append((self.path, self.headers, request))
            self.server.number += not is_probe
            call = Call(self, request, self.server.number)
        try:
            if is_probe and not self.server.always:
                call.answer()
            else:
                self.server.act(call)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def behave(self, act, always=False, bad=None):
        """@param bad the text that something is wrong with, where it is one"""
        self.act, self.always, self.number, self.calls = act, always, 0, []
        self.bad = bad
