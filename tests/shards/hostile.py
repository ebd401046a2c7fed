#!/usr/bin/env python3
"""A client of a cluster whose node is none: answers of all kinds of wrong. Usage: hostile.py BUILD

The client ends in time, with a sentence, in little memory; under a sanitizer without a report."""

import concurrent.futures
import itertools
import os
import pathlib
import resource
import socketserver
import subprocess
import sys
import threading
import time

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TOP / "house"), str(TOP / "cluster")]

import tap
from redis import slot_of

BUILD = pathlib.Path(sys.argv[1]).resolve()
CLIENT = BUILD / "tests" / "shards" / "meet-node"
SECONDS = 90
MOST_COMMANDS = 100000  # a client that never paused would send as many in a second
MOST_KILOBYTES = 1 << 20
NONE = b"$-1\r\n"


def number(value):
    return b":%d\r\n" % value


def bulk(value):
    return b"$%d\r\n%s\r\n" % (len(value), value)


def array(*parts):
    return b"*%d\r\n" % len(parts) + b"".join(parts)


def slots(port, host=b"127.0.0.1", first=0, last=16383):
    return array(array(number(first), number(last), array(bulk(host), number(port), bulk(b"id"))))


class Node(socketserver.ThreadingTCPServer):
    """Answers each command by `answers`: by name, bytes or a function of words and node."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, answers):
        super().__init__(("127.0.0.1", 0), Talk)
        self.port = self.server_address[1]
        self.answers = answers
        self.commands = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answer(self, words):
        self.commands += 1
        name = words[0].upper().decode()
        answer = self.answers.get(name, self.answers.get("*", b"+OK\r\n"))
        if name == "CLUSTER" and "CLUSTER" not in self.answers:
            return slots(self.port)
        return answer(words, self) if callable(answer) else answer


class Talk(socketserver.StreamRequestHandler):
    def words(self):
        line = self.rfile.readline()
        if not line.startswith(b"*"):
            return None
        words = []
        for _ in range(int(line[1:])):
            size = int(self.rfile.readline()[1:])
            words.append(self.rfile.read(size + 2)[:-2])
        return words

    def handle(self):
        try:
            while words := self.words():
                answer = self.server.answer(words)
                if answer is None:
                    return
                for piece in [answer] if isinstance(answer, bytes) else answer:
                    self.wfile.write(piece)
        except OSError:
            pass


def meet(answers, *options):
    """What the client said of a node; it has ended in time."""
    node = Node(answers)
    start = time.monotonic()
    process = subprocess.Popen(
        [CLIENT, f"redis://127.0.0.1:{node.port}/x", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        out, errors = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        node.shutdown()
        node.server_close()
    assert process.returncode == 0, (process.returncode, errors.decode(errors="replace")[-3000:])
    return out.decode(errors="replace"), node, time.monotonic() - start


def meet_all(nodes):
    """As meet, of many at once: most of the time clients wait."""
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        return list(pool.map(meet, nodes))


def test_wrong_types():
    wrong = [
        b"+OK\r\n", number(-1), number(2**63 - 1), NONE, b"*-1\r\n", array(), bulk(b""),
        array(NONE), array(number(1)), array(array(array(number(1)))), bulk(b"x" * 100000),
        array(*[number(7)] * 1000), array(bulk(b"\xff" * 128), array(*[number(-5)] * 12)),
        array(bulk(b"\xff" * 500), array(*[bulk(b"5")] * 12)), b"-\r\n", b"-ERR\r\n",
        array(number(1), bulk(b"5"), bulk(b"{}")), array(number(3), bulk(b" 1 2 -3 x ")),
        array(*[bulk(b'{"kind":')] * 300), array(*[bulk(b"?1 {}")] * 3),
    ]  # fmt: skip
    for out, _, _ in meet_all({"*": answer} for answer in wrong):
        assert "find:" in out, out


def test_wrong_maps():
    port = 7
    maps = [
        array(), b"+OK\r\n", array(array()), slots(0), slots(70000), slots(-1), slots(2**40),
        slots(port, b"a\x00b"), slots(port, b"a\r\n\x1b[31m"), slots(port, b"h" * 100000),
        slots(port, first=-5, last=2**62), slots(port, first=9, last=1), array(*[NONE] * 9),
    ]  # fmt: skip
    meet_all({"CLUSTER": answer} for answer in maps)


def test_a_map_with_other_names_each_time():
    count = itertools.count(1)

    def many(_words, node):
        numbers = [next(count) for _ in range(500)]
        names = [b"127.%d.%d.1" % (i >> 8 & 255, i & 255) for i in numbers]
        copies = [array(bulk(name), number(1), bulk(b"id")) for name in names]
        here = array(bulk(b"127.0.0.1"), number(node.port), bulk(b"id"))
        return array(array(number(0), number(16383), here, *copies))

    meet({"CLUSTER": many, "*": b"-MOVED 1 127.0.0.1:1\r\n"})


def test_sent_in_circles():
    def around(word):
        return lambda _words, node: b"-%s %d 127.0.0.1:%d\r\n" % (word, slot_of("0"), node.port)

    for _, node, _ in meet_all({"*": around(word)} for word in (b"MOVED", b"ASK")):
        assert node.commands < MOST_COMMANDS, node.commands


def test_later_for_ever():
    words = (b"TRYAGAIN", b"CLUSTERDOWN", b"LOADING")
    for _, node, _ in meet_all({"*": b"-%s x\r\n" % word} for word in words):
        assert node.commands < MOST_COMMANDS, node.commands


def test_announced_and_not_sent():
    answers = (b"*2147483647\r\n", b"*2147483647\r\n" * 6, b"$9223372036854775807\r\nx",
               b"$536870912\r\nx", b"*16777216\r\n" * 6, b"*3\r\n:1\r\n")  # fmt: skip
    meet_all({"*": answer} for answer in answers)


def test_without_end():
    begun = ((b"$536870912\r\n", b"x" * 65536), (b"*16777216\r\n", b":1\r\n" * 999),
             (b"", b"+OK\r\n" * 999))  # fmt: skip
    meet_all(
        {"*": lambda _words, _node, one=one: itertools.chain([one[0]], itertools.repeat(one[1]))}
        for one in begun
    )


def test_closed_and_silent():
    meet_all([{"*": lambda _words, _node: None}, {"*": b""}, {"CLUSTER": b""}])


def test_errors_are_shown_in_one_short_line():
    text = b"-ERR \x1b[31m\x07" + b"y" * 3000000 + b"\r\n"
    out, _, _ = meet({"*": text})
    assert max(map(len, out.splitlines())) < 2000, len(out)


def test_never_on_a_replica():
    meet({"WAIT": number(0)})


def test_the_counter_at_its_end():
    ends = (2**33, 2**63 - 1, -1, -(2**63))
    for end in ends:
        out, _, _ = meet({"INCRBY": number(end), "WAIT": number(1)}, "20000")
        assert "the library is full" in out, out


if __name__ == "__main__":
    code = tap.main(sys.modules[__name__])
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"# at most {used >> 10} MiB")
    sys.exit(code or (used > MOST_KILOBYTES and "ASAN_OPTIONS" not in os.environ))
