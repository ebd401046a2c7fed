#!/usr/bin/env python3
"""`doppel serve` under attack: broken requests, slow clients, clients that go away, SIGKILL, a full
disk, many idle connections.

`hostile.py BUILD [--requests N] [--kills N] [--seed N] [--only WORD]`
"""

import argparse
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import random
import re
import resource
import select
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402
from service import Service  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("build", type=pathlib.Path)
parser.add_argument("--requests", type=int, default=1500)
parser.add_argument("--kills", type=int, default=10)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--sanitized", action="store_true", help="memory is not the service's alone")
parser.add_argument("--only", default="", help="cases whose name has this word")
OPTIONS = parser.parse_args()
BUILD = OPTIONS.build.resolve()
JSON = {"Content-Type": "application/json"}
CODE = {"scheme": "phash64", "codes": ["9cf11f47d0f89fc0"]}
RESET = b"\1\0\0\0\0\0\0\0"  # of SO_LINGER: the end of a connection is a reset
ANSWERS_WITHIN = 30  # seconds, on a machine that has much else to do


def folder():
    return tempfile.TemporaryDirectory(prefix="doppel-hostile.")


def text_of(number):
    """Texts of which no two are alike."""
    words = random.Random(number)
    return " ".join(f"w{words.randrange(10**6)}" for _ in range(24))


def gauge(service, name):
    text = service.get("/metrics")[2].decode()
    return float(re.search(rf"^{name} (\S+)$", text, re.MULTILINE)[1])


def affordable(connections):
    """As many as this process may have open; the service takes half of what it may."""
    return min(connections, resource.getrlimit(resource.RLIMIT_NOFILE)[1] // 2 - 100)


def resident_mb(service):
    status = pathlib.Path(f"/proc/{service.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def descriptors(service):
    """Those of databases stay with their readers, of which there may be one a thread."""
    links = pathlib.Path(f"/proc/{service.process.pid}/fd").iterdir()
    return sum(".db" not in os.path.realpath(link) for link in links)


def wait_until(true, what):
    end = time.monotonic() + ANSWERS_WITHIN
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def wait_until_nothing_runs(service):
    wait_until(lambda: gauge(service, "doppel_requests_in_flight") == 1, "requests are left")


def connect(service):
    host, port = service.address.split("//")[1].rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=ANSWERS_WITHIN)


def request(method, path, body=b"", **headers):
    """The bytes of a request."""
    head = {"Host": "h", "Content-Length": len(body)} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body


# ---- broken requests ----


def chunked(chance, body):
    pieces, at = b"", 0
    while at < len(body):
        size = chance.randrange(1, 1 + len(body) - at)
        pieces += b"%x\r\n" % size + body[at : at + size] + b"\r\n"
        at += size
    return pieces + b"0\r\n\r\n"


def form_of(chance, example):
    mark = "x" * chance.randrange(1, 60)
    body = b""
    for _ in range(chance.randrange(0, 4)):
        name = chance.choice(['name="file"; filename="a.jpg"', 'name="text"', 'name="no"', ""])
        head = f"--{mark}\r\nContent-Disposition: form-data; {name}\r\n\r\n"
        body += head.encode() + json.dumps(example).encode() + b"\r\n"
    return body + f"--{mark}--\r\n".encode(), f"multipart/form-data; boundary={mark}"


def bend_value(chance, value):
    """JSON that is almost what it was."""
    odd = [None, True, -1, 1e308, "", "\x00", "é" * 50, [], {}, [[]], {"a": {}}, "0" * 64, 2**63]
    if isinstance(value, dict) and value and chance.random() < 0.7:
        bent = dict(value)
        name = chance.choice(list(bent))
        kind = chance.randrange(4)
        if kind == 0:
            del bent[name]
        elif kind == 1:
            bent[chance.choice(["inputs", "codes", "path", "scheme", "meta", "x\x01"])] = (
                chance.choice(odd)
            )
        else:
            bent[name] = bend_value(chance, bent[name])
        return bent
    if isinstance(value, list) and value and chance.random() < 0.7:
        bent = list(value)
        at = chance.randrange(len(bent))
        bent[at] = bend_value(chance, bent[at])
        return bent * chance.choice([1, 1, 1, 100])
    if isinstance(value, str) and chance.random() < 0.5:
        return value * chance.choice([0, 2, 1000])
    return chance.choice(odd)


def bend_bytes(chance, data):
    data = bytearray(data)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(data) + 1)
        kind = chance.randrange(4)
        if kind == 0 and data:
            data[at % len(data)] = chance.randrange(256)
        elif kind == 1:
            data[at:at] = chance.choice([b"\0", b"\r\n", b"%zz", b"\xff", b'"', b"[" * 3000])
        elif kind == 2:
            del data[at : at + chance.randrange(1, 20)]
        else:
            data[at:at] = data[at : at + chance.randrange(1, 200)]
    return bytes(data)


def bend_path(chance, path):
    odd = ["%", "%zz", "%00", "%2e%2e/", "\x01", "\x7f", "?limit=x", "?cursor=-1", "?limit=1e300"]
    odd += ["?max_distance=nan", "?" + "a&" * 300, "/" * 300, "x" * 9000, "?name=%ff", "é"]
    return path + chance.choice(odd)


def bend_headers(chance, headers):
    odd = {
        "Content-Type": chance.choice(
            ["", "application/json; charset=x", "application/x-ndjson", "image/jpeg", "\x01"]
            + ["multipart/form-data", "multipart/form-data; boundary="]
            + ["application/x-www-form-urlencoded"]
        ),
        "Content-Length": chance.choice(["-1", "x", "0", "99999999999999999999", "7", "1, 1"]),
        "Transfer-Encoding": chance.choice(["chunked", "gzip", "chunked, chunked"]),
        "Expect": chance.choice(["100-continue", "x"]),
        "Authorization": chance.choice(["Bearer ", "Bearer " + "x" * 3000, "Basic x"]),
        "Connection": chance.choice(["close", "keep-alive", "upgrade"]),
        "X-Long": "x" * chance.choice([10, 5000, 9000, 100000]),
        "Content-Encoding": "gzip",
        "Cookie": "a=b;" * chance.randrange(100),
    }
    name = chance.choice(list(odd))
    return headers + [(name, odd[name])] * chance.choice([1, 1, 2])


def bent_request(chance, examples):
    """The bytes of one, and whether its head and length are sound: then it has an answer."""
    method, path, example = chance.choice(examples)
    kind = chance.choice(["json"] * 4 + ["form", "form", "raw", "lines", "chunked", "none"])
    sound = True
    value = bend_value(chance, example) if chance.random() < 0.6 else example
    body, typed = json.dumps(value).encode(), "application/json"
    if kind == "form":
        body, typed = form_of(chance, value)
    elif kind == "lines":
        body, typed = body + b"\n" + body, "application/x-ndjson"
    elif kind == "raw":
        typed = "image/jpeg"
    if kind == "none":
        body = b""
    if body and chance.random() < 0.4:
        body = bend_bytes(chance, body)
    if chance.random() < 0.15:
        path, sound = bend_path(chance, path), False
    if chance.random() < 0.1:
        method = chance.choice(["PUT", "PATCH", "HEAD", "OPTIONS", "BREW", "x" * 50, "get"])
        sound = sound and method in ("PUT", "PATCH", "BREW")
    headers = [("Host", "h"), ("Content-Type", typed)]
    if kind == "chunked":
        headers.append(("Transfer-Encoding", "chunked"))
        body = chunked(chance, body)
    else:
        headers.append(("Content-Length", str(len(body))))
    if chance.random() < 0.2:
        headers, sound = bend_headers(chance, headers), False
    chance.shuffle(headers)
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{a}: {b}\r\n" for a, b in headers)
    whole = head.encode("utf-8", "surrogateescape") + b"\r\n" + body
    if chance.random() < 0.1:
        whole, sound = bend_bytes(chance, whole), False
    if chance.random() < 0.1:
        whole *= chance.randrange(2, 20)
    return whole, sound


def check_answer(answer, data):
    """Of a response: what it says if it is a problem."""
    status, typed = answer.status, answer.headers.get("Content-Type", "")
    assert status < 500 or status in (503, 507), (status, data)
    # What libmicrohttpd itself refuses, before there is a request, is a page of its own.
    if status >= 400 and "problem+json" in typed and data:  # none for HEAD
        said = json.loads(data)
        assert said["status"] == status and said["title"] and " " in said["detail"], said
    elif status >= 400 and data:
        assert not answer.getheader("X-Content-Type-Options"), (status, typed, data)


def send_bent(service, whole, sound):
    with connect(service) as client:
        if not sound:  # it may have no end, and then no answer
            client.settimeout(0.5)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        try:
            client.sendall(whole)
            method = whole.split(b" ", 1)[0].decode("latin-1")
            answer = http.client.HTTPResponse(client, method=method)
            answer.begin()
            data = answer.read()
        except (ConnectionError, http.client.BadStatusLine, http.client.IncompleteRead):
            assert not sound, whole[:2000]
            return 0
        except TimeoutError:
            assert not sound, f"no answer: {whole[:2000]}"
            return 0
    check_answer(answer, data)
    return answer.status


def examples_of(service):
    _, _, described = service.get("/openapi.json")
    found = []
    for path, methods in described["paths"].items():
        for method in ("get", "post", "delete"):
            if method not in methods:
                continue
            content = methods[method].get("requestBody", {}).get("content", {})
            values = [
                example["value"]
                for kind in content.values()
                for example in kind.get("examples", {}).values()
            ]
            for value in values or [{}]:
                found.append((method.upper(), path.replace("{ref}", "1"), value))
    return found


def test_broken_requests():
    with folder() as home, Service(BUILD, home, "--allow-path", home) as service:
        examples = examples_of(service)
        counts = {}

        def attack(number):
            chance = random.Random(f"{OPTIONS.seed} {number}")
            return send_bent(service, *bent_request(chance, examples))

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for status in pool.map(attack, range(OPTIONS.requests)):
                counts[status] = counts.get(status, 0) + 1
        assert service.process.poll() is None, service.said()
        wait_until_nothing_runs(service)
        print("#", OPTIONS.requests, "requests:", dict(sorted(counts.items())))
        assert counts[200] > OPTIONS.requests / 20 and counts[400] > OPTIONS.requests / 10, counts
        assert service.end() == 0


# ---- streams ----

LINES = [
    json.dumps({"text": "a line that is decided about as it comes, as all that come with it"}),
    json.dumps({"text": "another", "id": "a"}) + " " * 900,
    json.dumps({"code": "9cf11f47d0f89fc0"}),
    json.dumps({"code": "9cf1"}),
    "{}",
    "7",
    '{"text":',
    "\x1f\x8b\xff\0",
    "[",
    "",
    " \t\r",
]


def stream_of(chance):
    """Lines, their bytes as they lie in a request, and whether one of them is too long."""
    lines = chance.choices(LINES, k=chance.randrange(1, 600))
    long = chance.random() < 0.1
    if long:
        lines.insert(chance.randrange(len(lines)), '{"text":"' + "x" * (17 << 10) + '"}')
    body = "\n".join(lines + [""] * chance.randrange(2)).encode("latin-1")
    kind = {"Content_Type": "application/x-ndjson"}
    if chance.random() < 0.5:
        return lines, request("POST", "/v1/hash", body, **kind), long
    head = request("POST", "/v1/hash", **kind).replace(
        b"Content-Length: 0", b"Transfer-Encoding: chunked"
    )
    if chance.random() < 0.5:  # a chunk may end where a line does
        return lines, head + chunked(chance, body), long
    at_lines = (b"%x\r\n%b\r\n" % (len(line), line) for line in body.splitlines(keepends=True))
    return lines, head + b"".join(at_lines) + b"0\r\n\r\n", long


def test_streams_are_answered_line_by_line():
    """As each line is by itself, wherever the parts end in which it is answered."""
    rounds = max(OPTIONS.requests // 15, 50)
    with folder() as home, Service(BUILD, home, "--max-body", "16K") as service:
        kind, alone = {"Content_Type": "application/x-ndjson"}, {}
        for line in LINES:
            status, _, said = service.ask("POST", "/v1/hash", line.encode("latin-1"), **kind)
            alone[line] = [said] if status == 200 else []
            assert status == (200 if line.strip() else 400), (line, said)

        def attack(number):
            chance = random.Random(f"{OPTIONS.seed} {number}")
            lines, whole, long = stream_of(chance)
            with connect(service) as client:
                while whole:
                    size = chance.choice([1, 100, 5000, len(whole)])
                    client.sendall(whole[:size])
                    whole = whole[size:]
                answer = http.client.HTTPResponse(client, method="POST")
                answer.begin()
                data = answer.read()
            expected = b"".join(said for line in lines for said in alone.get(line, []))
            if long:
                assert answer.status == 413 and b"line" in data, (number, data)
            elif expected:
                assert answer.status == 200 and data == expected, number
            else:
                assert answer.status == 400, (number, data)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(attack, range(rounds)))
        wait_until_nothing_runs(service)
        assert service.end() == 0


# ---- slow clients, idle ones, those that go away ----


def find_seconds(service, count):
    connection = service.connection()
    took = []
    for _ in range(count):
        begun = time.monotonic()
        connection.request("POST", "/v1/find", json.dumps(CODE), JSON)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200
        took.append(time.monotonic() - begun)
    connection.close()
    return statistics.median(took), max(took)


def test_slow_clients_stop_nobody():
    with folder() as home, Service(BUILD, home) as service:
        quiet, _ = find_seconds(service, 50)
        slow = request("POST", "/v1/find", b"x" * 100000, Content_Type="image/png")
        clients = [connect(service) for _ in range(affordable(1000))]
        half = request("GET", "/healthz")[:20]
        for number, client in enumerate(clients):
            client.sendall(half if number % 2 else slow[:200])
        ended = threading.Event()

        def drip():
            while not ended.is_set():
                for client in clients:
                    client.send(b"x")
                ended.wait(0.2)

        dripping = threading.Thread(target=drip)
        dripping.start()
        median, longest = find_seconds(service, 200)
        ended.set()
        dripping.join()
        print(
            f"# a find by code: {quiet * 1e3:.1f} ms, beside 1 000 slow clients "
            f"{median * 1e3:.1f} ms, at most {longest * 1e3:.0f} ms"
        )
        assert longest < ANSWERS_WITHIN / 10, longest
        for client in clients:
            client.close()
        wait_until_nothing_runs(service)


def test_idle_connections_are_cheap():
    with folder() as home, Service(BUILD, home) as service:
        find_seconds(service, 20)
        before = resident_mb(service)
        clients = [connect(service) for _ in range(affordable(2000))]
        for client in clients:
            client.sendall(request("GET", "/healthz"))
        for client in clients:
            assert b" 200 " in client.recv(4096)
        grown = resident_mb(service) - before
        print(f"# 2 000 idle connections: {grown:.1f} MB")
        for client in clients:
            client.close()
        assert grown <= 20 or OPTIONS.sanitized, grown


def leave(service, chance):
    """Send some of a request, or all, or read some of its answer, and go away."""
    texts = [{"text": text_of(chance.randrange(50))} for _ in range(chance.randrange(1, 20))]
    pages = ["/v1/items", "/v1/groups"]
    path = chance.choice(["/v1/ingest", "/v1/check", "/v1/find", "/v1/hash", *pages])
    if path in pages:
        whole = request("GET", path)
    elif chance.random() < 0.2:
        whole = request("POST", path, os.urandom(3 << 20), Content_Type="image/png")
    elif chance.random() < 0.2:  # some of it is decided about before it ends
        lines = b'{"code":"9cf11f47d0f89fc0"}\n' * 1500
        whole = request("POST", path, lines, Content_Type="application/x-ndjson")
    else:
        whole = request("POST", path, json.dumps(texts).encode(), Content_Type="application/json")
    with connect(service) as client:
        size = chance.choice([len(whole), chance.randrange(len(whole))])
        # That there is no more of a body, libmicrohttpd learns from a reset, or at its time limit.
        if size < len(whole) or chance.random() < 0.5:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        try:
            client.sendall(whole[:size])
            if chance.random() < 0.3:
                client.settimeout(0.05)
                client.recv(chance.randrange(1, 100))
        except (ConnectionError, TimeoutError):
            pass


def test_clients_that_go_away_leave_nothing():
    rounds = max(OPTIONS.requests // 5, 200)
    with folder() as home, Service(BUILD, home) as service:

        def go(numbers):
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                list(pool.map(lambda number: leave(service, random.Random(number)), numbers))
            wait_until_nothing_runs(service)

        go(range(2 * rounds))  # each thread has a reader by then, and these their caches
        open_before, before = descriptors(service), resident_mb(service)
        go(range(2 * rounds, 3 * rounds))
        grown = resident_mb(service) - before
        print(f"# {rounds} clients that left: {grown:+.1f} MB")
        wait_until(lambda: descriptors(service) <= open_before + 2, "descriptors are left open")
        assert grown < 20 or OPTIONS.sanitized, grown
        assert service.end() == 0


def test_the_end_amid_requests():
    for _ in range(3):
        with folder() as home, Service(BUILD, home) as service:

            def ask_on():
                connection = service.connection()
                try:
                    while True:
                        connection.request("GET", "/v1/stats")
                        connection.getresponse().read()
                except (OSError, http.client.HTTPException):
                    pass

            clients = [threading.Thread(target=ask_on) for _ in range(16)]
            for client in clients:
                client.start()
            time.sleep(0.2)
            assert service.end() == 0, service.said()
            for client in clients:
                client.join()


def test_requests_that_waited_before_it_began():
    with folder() as home, socket.socket() as listener, contextlib.ExitStack() as clients:
        listener.bind(("127.0.0.1", 0))
        listener.listen(100)
        waiting = []
        for _ in range(50):
            waiting.append(clients.enter_context(socket.create_connection(listener.getsockname())))
            waiting[-1].settimeout(2 * ANSWERS_WITHIN)
            waiting[-1].sendall(request("GET", "/metrics"))
        start = f'exec 3<&{listener.fileno()}; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
        words = [BUILD / "doppel", "serve", "-L", f"{home}/library"]
        process = subprocess.Popen(
            ["sh", "-c", start, "sh", *words],
            pass_fds=[listener.fileno()],
            env={**os.environ, "HOME": home},
            stderr=subprocess.DEVNULL,
        )
        for client in waiting:
            assert b" 200 " in client.recv(1000)
        process.terminate()
        assert process.wait(ANSWERS_WITHIN) == 0


def test_more_paths_than_can_be_open():
    with folder() as home:
        place = pathlib.Path(home, "a.txt")
        place.write_text(text_of(1))
        few = (100, 100)

        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, few)

        with Service(BUILD, home, "--allow-path", home, preexec_fn=limit) as service:
            status, _, said = service.post("/v1/find", [{"path": str(place)}] * 500)
            assert status == 200 and not any("error" in one for one in said["results"]), said


def test_more_clients_than_there_is_room_for_wait():
    """Room is for half of its descriptors; a connection that nobody takes yet is no error."""
    few = (100, 100)

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, few)

    with folder() as home, Service(BUILD, home, preexec_fn=limit) as service:
        clients = [connect(service) for _ in range(few[0] // 2 + 20)]
        for client in clients:
            client.sendall(request("GET", "/healthz"))
        time.sleep(1)
        answered = select.select(clients, [], [], 0)[0]
        # that it is ready was asked, too
        assert few[0] // 2 - 1 <= len(answered) <= few[0] // 2, len(answered)
        for client in answered + [one for one in clients if one not in answered]:
            client.settimeout(ANSWERS_WITHIN)
            assert b" 200 " in client.recv(4096)
            client.close()


# ---- SIGKILL ----


def ingest_until_it_dies(service, numbers, answered):
    connection = service.connection()
    try:
        for number in numbers:
            value = json.dumps({"id": f"t{number}", "text": text_of(number)})
            connection.request("POST", "/v1/ingest", value, JSON)
            answer = connection.getresponse()
            said = json.loads(answer.read())
            if answer.status == 200:
                answered[number] = said["results"][0]
    except (OSError, http.client.HTTPException, ValueError):
        pass
    connection.close()


def test_what_was_answered_survives_sigkill():
    chance = random.Random(OPTIONS.seed)
    answered, begun = {}, 0
    with folder() as home:
        for _ in range(OPTIONS.kills):
            with Service(BUILD, home) as service:
                threads = []
                for _ in range(8):
                    numbers = range(begun, begun + 1000)
                    begun += 1000
                    threads.append(
                        threading.Thread(
                            target=ingest_until_it_dies, args=(service, numbers, answered)
                        )
                    )
                for thread in threads:
                    thread.start()
                time.sleep(chance.uniform(0.02, 0.4))
                service.end(signal.SIGKILL)
                for thread in threads:
                    thread.join()
        with Service(BUILD, home) as service:
            there, cursor = [], 0
            while cursor is not None:
                _, _, page = service.get(f"/v1/items?limit=1000&cursor={cursor}")
                there += [item["record"] for item in page["items"]]
                cursor = page.get("next")
            assert service.end() == 0
        assert len(set(there)) == len(there), "an item is there twice"
        lost = {f"t{number}" for number in answered} - set(there)
        assert not lost, (len(lost), list(lost)[:5])
        assert all(one["decision"] == "new" for one in answered.values())
        print(f"# {OPTIONS.kills} kills, {len(answered)} answered, {len(there)} there")
        assert len(answered) > 5 * OPTIONS.kills, len(answered)
        tap.run(BUILD / "doppel", "verify", "-L", f"{home}/library")


# ---- a full disk ----


@contextlib.contextmanager
def small_disk(home):
    """A folder that has 64 MB; None where none may be mounted."""
    place = pathlib.Path(home, "small")
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", place]
    if subprocess.run(mount, capture_output=True).returncode:
        print("# no tmpfs may be mounted here")
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def fill(place):
    with open(place / "ballast", "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


def is_full(answer):
    status, headers, said = answer
    if status != 507:
        return False
    assert headers["Content-Type"] == "application/problem+json", headers
    assert said["reason"] == "no-space" and "no space" in said["detail"].lower(), said
    return True


def test_a_full_disk_under_the_library():
    with folder() as home, small_disk(home) as small:
        if not small:
            return
        (pathlib.Path(home) / "library").symlink_to(small / "library")
        (small / "library").mkdir()
        with Service(BUILD, home) as service:
            assert service.post("/v1/ingest", {"id": "first", "text": text_of(0)})[0] == 200
            fill(small)
            for number in range(1, 200):
                many = [
                    {"id": f"t{number} {n}", "text": text_of(100 * number + n)} for n in range(50)
                ]
                answer = service.post("/v1/ingest", many)
                if is_full(answer):
                    break
                assert answer[0] == 200, answer
            assert answer[0] == 507, answer
            lines = "".join(json.dumps(one) + "\n" for one in many * 20).encode()
            answer = service.ask("POST", "/v1/ingest", lines, Content_Type="application/x-ndjson")
            assert is_full(answer), answer
            _, _, found = service.post("/v1/find", {"text": text_of(0)})
            assert found["results"][0]["match"], found
            assert service.get("/v1/items/id:first")[0] == 200
            (small / "ballast").unlink()
            status, _, made = service.post("/v1/ingest", {"id": "later", "text": text_of(10**6)})
            assert status == 200 and made["results"][0]["decision"] == "new", made
            _, _, made = service.post("/v1/ingest", many)
            assert len(made["results"]) == len(many), made
            assert service.end() == 0
        tap.run(BUILD / "doppel", "verify", "-L", f"{home}/library")


def test_a_full_disk_under_uploads():
    with folder() as home, small_disk(home) as small:
        if not small:
            return
        with Service(BUILD, home, environment={"TMPDIR": str(small)}) as service:
            large = bytes(3 << 20)
            fill(small)
            assert is_full(service.ask("POST", "/v1/hash", large, Content_Type="image/png"))
            assert is_full(service.send("/v1/hash", ("a.png", large)))
            assert service.post("/v1/find", CODE)[0] == 200
            (small / "ballast").unlink()
            assert service.ask("POST", "/v1/hash", large, Content_Type="image/png")[0] == 422


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    for name in [name for name in globals() if name.startswith("test_")]:
        if OPTIONS.only not in name:
            del globals()[name]
    sys.exit(tap.main(sys.modules[__name__]))
