#!/usr/bin/env python3
"""serve_requests BUILD [CODES [SECONDS [ROUNDS [SCHEME]]]]: `doppel serve` with a library of so
many random codes (1 000 000) of a scheme (pdq, or imagehash, of 64 bits), asked by wrk for so long
at a time (3 s), beside an empty handler of libmicrohttpd in turns; medians of so many rounds (5).

CPU is that of the server, user and system: on a machine that others use it says more than requests
a second, of which the ratio to the empty handler counts."""

import contextlib
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "serve"), str(HERE)]
from commands import run  # noqa: E402
from service import Service  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
NUMBERS = [int(word) for word in sys.argv[2:5]]
CODES, SECONDS, ROUNDS = NUMBERS + [1_000_000, 3, 5][len(NUMBERS):]
SCHEME = sys.argv[5] if len(sys.argv) > 5 else "pdq"
DIGITS = {"pdq": 64, "imagehash": 16}[SCHEME]
MANY, TEXTS, TEXTS_A_REQUEST = 1000, 100_000, 1000
# HEAD_CODES of library/derived/codes.c
SEGMENT_CODES, IDLE = 1 << 17, 2000
TICKS = os.sysconf("SC_CLK_TCK")


def code(numbers):
    return f"{numbers.getrandbits(4 * DIGITS):0{DIGITS}x}"


def write_lines(path, lines):
    with open(path, "w") as file:
        file.writelines(f"{line}\n" for line in lines)
    return path


def make_requests(folder):
    """Every tenth code is one of the library."""
    numbers = random.Random(1)
    known = [code(numbers) for _ in range(CODES)]
    write_lines(folder / "codes", known)

    def sought():
        return numbers.choice(known) if numbers.random() < 0.1 else code(numbers)

    one = ({"scheme": SCHEME, "code": sought()} for _ in range(5000))
    many = ({"scheme": SCHEME, "codes": [sought() for _ in range(MANY)]} for _ in range(20))
    return (write_lines(folder / "one", map(json.dumps, one)),
            write_lines(folder / "many", map(json.dumps, many)))


def texts(seed):
    numbers = random.Random(seed)
    words = [f"{numbers.getrandbits(28):x}" for _ in range(20_000)]
    for i in range(TEXTS):
        yield {"id": f"{seed}-{i}", "text": " ".join(numbers.choices(words, k=100))}


def cpu_of(pid):
    """Seconds, of user and system."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_of(pid):
    """MB."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+)", status)[1]) / 1e3


class Measured:
    def __init__(self, output, cpu):
        words = re.search(r"measured (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)", output)
        if not words:
            raise SystemExit(output)
        requests, micros, self.p50, self.p99, self.longest, self.errors = map(int, words.groups())
        self.rate = requests / micros * 1e6
        self.cpu = cpu / max(requests, 1) * 1e6


def ask(address, pid, bodies, connections=16):
    before = cpu_of(pid)
    command = ["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}", "--timeout", "60", "-s",
               HERE / "post_bodies.lua", address, "--", bodies]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return Measured(output, cpu_of(pid) - before)


def median(values):
    return statistics.median(list(values))


def say(what, *values):
    print(f"{what:52}" + "".join(f"{value:>14}" for value in values), flush=True)


@contextlib.contextmanager
def empty_handler():
    """Its address and process."""
    with subprocess.Popen([BUILD / "tests/bench/serve_empty"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}", process.pid
        process.stdin.close()


def print_single(service, one):
    pid, find = service.process.pid, f"{service.address}/v1/find"
    with empty_handler() as (address, empty_pid):
        turns = [(ask(f"{address}/v1/find", empty_pid, one), ask(find, pid, one),
                  ask(f"{find}?max_distance=3", pid, one)) for _ in range(ROUNDS)]
    say("one code a request, keep-alive", "requests/s", "of empty", "CPU us", "p99 ms")
    for i, name in enumerate(("an empty handler", "find", "find, max_distance=3")):
        say("  " + name, f"{median(turn[i].rate for turn in turns):.0f}",
            f"{median(turn[i].rate / turn[0].rate for turn in turns):.2f}",
            f"{median(turn[i].cpu for turn in turns):.1f}",
            f"{median(turn[i].p99 for turn in turns) / 1e3:.1f}")
    # one connection waits for its answer: the server is at half of what it can, or less
    half = [ask(find, pid, one, connections=1) for _ in range(ROUNDS)]
    say("  find, one connection", f"{median(turn.rate for turn in half):.0f}", "",
        f"{median(turn.cpu for turn in half):.1f}",
        f"{median(turn.p99 for turn in half) / 1e3:.1f}")


def print_many(service, many):
    say(f"{MANY} codes a request", "codes/s", "CPU us/code", "2 cores by it")
    for name, query in ("max_distance=3", "?max_distance=3"), ("the default", ""):
        turns = [ask(f"{service.address}/v1/find{query}", service.process.pid, many, connections=4)
                 for _ in range(ROUNDS)]
        cpu = median(turn.cpu for turn in turns) / MANY
        say("  " + name, f"{median(turn.rate for turn in turns) * MANY:.0f}", f"{cpu:.2f}",
            f"{2e6 / cpu if cpu else 0:.0f}")


def print_stream(service):
    """Lines that come in chunks; the answers are read at the end."""
    line = {"code": "0123456789abcdef" * (DIGITS // 16), "scheme": SCHEME}
    piece, pieces = (json.dumps(line) + "\n").encode() * 10_000, 300
    begun = time.perf_counter()
    status, _, _ = service.ask("POST", "/v1/find?max_distance=3", (piece for _ in range(pieces)),
                               Content_Type="application/x-ndjson")
    assert status == 200, status
    wall = time.perf_counter() - begun
    say(f"a stream of {pieces * len(piece) / 1e6:.0f} MB", "codes/s", "private MB")
    say("  find, max_distance=3, NDJSON", f"{pieces * 10_000 / wall:.0f}",
        f"{memory_of(service.process.pid):.0f}")


def print_ingest(folder):
    lines = list(texts(2))
    path = write_lines(folder / "texts.jsonl", map(json.dumps, lines))
    command = [BUILD / "doppel", "ingest", "-q", "-L", folder / "texts.l", "--jsonl", path]
    wall, cpu, _ = run(command)
    say(f"ingest of {TEXTS} texts", "texts/s", "CPU us/text")
    say("  doppel ingest --jsonl", f"{TEXTS / wall:.0f}", f"{cpu / TEXTS * 1e6:.1f}")
    for name, kind, body in (
        ("POST /v1/ingest, NDJSON, in one", "application/x-ndjson", [path.read_bytes()]),
        (f"POST /v1/ingest, JSON, {TEXTS_A_REQUEST} a request", "application/json",
         [json.dumps(lines[at:at + TEXTS_A_REQUEST])
          for at in range(0, TEXTS // 10, TEXTS_A_REQUEST)]),
    ):
        count = TEXTS if "ndjson" in kind else TEXTS // 10
        with Service(BUILD, tempfile.mkdtemp(dir=folder)) as other:
            begun, before = time.perf_counter(), cpu_of(other.process.pid)
            for one in body:
                status, _, answer = other.ask("POST", "/v1/ingest", one, Content_Type=kind)
                assert status == 200, answer
            wall, cpu = time.perf_counter() - begun, cpu_of(other.process.pid) - before
            say("  " + name, f"{count / wall:.0f}", f"{cpu / count * 1e6:.1f}")


def print_jobs(service):
    """Jobs of a text, one after the other: of which nothing is to be decoded."""
    waits = []
    for line in itertools.islice(texts(3), 50):
        begun = time.perf_counter()
        _, headers, _ = service.post("/v1/jobs", line)
        while "ended" not in service.get(headers["Location"])[2]:
            time.sleep(0.002)
        waits.append(1e3 * (time.perf_counter() - begun))
    waits.sort()
    say("a job of a text, from sending to its decision", "half: ms", "of 50, most")
    say("  POST /v1/jobs", f"{median(waits):.0f}", f"{waits[-1]:.0f}")


def print_beside_ingest(service, one):
    """Another client ingests all the while, so much that a segment of the index is written."""
    find, pid = f"{service.address}/v1/find?max_distance=3", service.process.pid
    quiet = [ask(find, pid, one, connections=1) for _ in range(ROUNDS)]
    ended, taken = threading.Event(), [0]

    def ingest():
        numbers = random.Random(9)
        while not ended.is_set():
            inputs = [{"code": code(numbers), "scheme": SCHEME} for _ in range(1000)]
            service.post("/v1/ingest", {"inputs": inputs})
            taken[0] += len(inputs)

    client = threading.Thread(target=ingest)
    client.start()
    busy = []
    while len(busy) < ROUNDS or taken[0] < SEGMENT_CODES * 1.2:
        busy.append(ask(find, pid, one, connections=1))
    ended.set()
    client.join()
    say("find while another client ingests", "requests/s", "p50 ms", "p99 ms", "longest ms")
    for name, turns in ("quiet", quiet), (f"{taken[0]} codes ingested meanwhile", busy):
        say("  " + name, f"{median(turn.rate for turn in turns):.0f}",
            f"{median(turn.p50 for turn in turns) / 1e3:.2f}",
            f"{median(turn.p99 for turn in turns) / 1e3:.2f}",
            f"{max(turn.longest for turn in turns) / 1e3:.0f}")


def print_idle(service):
    """Connections that have asked once, and stay."""
    before, idle = memory_of(service.process.pid), []
    for _ in range(IDLE):
        idle.append(service.connection())
        idle[-1].request("GET", "/healthz")
        idle[-1].getresponse().read()
    grown = memory_of(service.process.pid) - before
    say(f"{IDLE} idle connections, private memory, MB", f"{grown:.1f}")
    for connection in idle:
        connection.close()


def main():
    if not shutil.which("wrk"):
        raise SystemExit("serve_requests: there is no wrk (apt-get install wrk)")
    with tempfile.TemporaryDirectory(prefix="doppel-serve-bench-") as name:
        folder = pathlib.Path(name)
        one, many = make_requests(folder)
        run([BUILD / "doppel", "import", "-q", "-L", folder / "library", "--format", SCHEME,
             folder / "codes"])
        with Service(BUILD, folder, "--scheme", SCHEME) as service:
            print_single(service, one)
            print_many(service, many)
            say("private memory, MB", f"{memory_of(service.process.pid):.0f}")
            print_idle(service)
            print_stream(service)
            print_ingest(folder)
            print_jobs(service)
            print_beside_ingest(service, one)


if __name__ == "__main__":
    main()
