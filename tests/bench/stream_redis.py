#!/usr/bin/env python3
"""Messages of a Redis stream, decided about, beside the same records as lines of a file.

usage: stream_redis.py BUILD [RECORDS [ROUNDS]]"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "stream"))

from redis_server import Server  # noqa: E402

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "rstvxzln"]


def make_records(count):
    chance = random.Random(1)
    lines = [
        json.dumps({"id": f"r{i}", "text": " ".join(chance.choices(WORDS, k=100))})
        for i in range(count)
    ]
    for i in range(0, count, 10):  # a tenth are copies
        copy = json.loads(lines[chance.randrange(count)])
        lines[i] = json.dumps({"id": f"r{i}", "text": copy["text"]})
    return lines


def fill(client, key, lines):
    for at in range(0, len(lines), 5000):
        some = lines[at : at + 5000]
        client.send(*(("XADD", key, "*", "json", line) for line in some))
        for _ in some:
            client.read()


def seconds(*command):
    began = time.monotonic()
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)  # fmt: skip
    return time.monotonic() - began


def main():
    doppel = pathlib.Path(sys.argv[1]) / "doppel"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    lines = make_records(count)
    with tempfile.TemporaryDirectory(prefix="doppel-bench-") as folder:
        folder = pathlib.Path(folder)
        (folder / "lines.jsonl").write_text("".join(line + "\n" for line in lines))
        server = Server(folder / "redis")
        client = server.client()
        print("| what | messages a second |\n|---|---|")
        for turn in range(rounds):
            fill(client, f"in{turn}", lines)
            by_stream = seconds(
                doppel, "ingest", "-q", "-L", folder / f"s{turn}", "--drain",
                "--stream", server.url(f"in{turn}"), "--to", f"out{turn}",
            )  # fmt: skip
            assert client.run("XLEN", f"out{turn}") == count
            by_file = seconds(doppel, "ingest", "-q", "-L", folder / f"f{turn}", "--jsonl",
                              folder / "lines.jsonl")  # fmt: skip
            print(f"| a stream, round {turn + 1} | {count / by_stream:,.0f} |")
            print(f"| lines of a file | {count / by_file:,.0f} |")
            print(f"| share of the file's | {by_file / by_stream:.2f} |")
        server.kill()


if __name__ == "__main__":
    main()
