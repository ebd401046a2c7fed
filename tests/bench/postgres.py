"""Codes within a radius in PostgreSQL: the index of the extension, a scan, and what is used in its
place: python3 postgres.py BUILD [ROWS]. It prints milliseconds a query, medians of queries in
turn, and how many of the scan's rows each finds."""

import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "postgres"), str(TESTS / "stream"), str(TESTS / "house")]

import extension  # noqa: E402

QUERIES = 15
NO_SCAN = "SET enable_seqscan = off;"
WAYS = {
    "scan, hamming()": ("SET enable_indexscan = off; SET enable_bitmapscan = off;",
                        "hamming(code, B'{code}') <= {radius}"),
    "scan of bit_count(a # b)": ("SET enable_indexscan = off; SET enable_bitmapscan = off;",
                                 "bit_count(code # B'{code}') <= {radius}"),
    "index, code <@ (q, r)": (NO_SCAN, "code <@ (B'{code}', {radius})"),
    "pg_trgm of hex, % at .3": (NO_SCAN, "hex % '{hex}'"),
    "GIN of chunks as integers, &&": (NO_SCAN, "chunks && '{{{chunks}}}'::int[] AND "
                                      "hamming(code, B'{code}') <= {radius}"),
}  # fmt: skip


def chunks(code):
    return ",".join(str(i << 16 | (code >> 48 - 16 * i & 0xFFFF)) for i in range(4))


def fill(database, rows):
    """Codes at random, of which one of fifty is near another."""
    chance = random.Random(1)
    codes = [chance.getrandbits(64) for _ in range(rows)]
    for i in range(0, rows, 50):
        code = codes[chance.randrange(rows)]
        for bit in chance.sample(range(64), chance.randint(1, 9)):
            code ^= 1 << bit
        codes[i] = code
    database.run("CREATE EXTENSION pg_trgm; CREATE EXTENSION intarray; CREATE TABLE codes "
                 "(id int, code bit(64), hex text, chunks int[])")  # fmt: skip
    lines = "".join(
        f"{i}\t{code:064b}\t{code:016x}\t{{{chunks(code)}}}\n" for i, code in enumerate(codes)
    )
    database.run(f"COPY codes FROM STDIN;\n{lines}\\.\n")
    database.run("VACUUM ANALYZE codes")
    for name, what in {
        "ours": "gin (code)",
        "trgm": "gin (hex gin_trgm_ops)",
        "ints": "gin (chunks gin__int_ops)",
    }.items():
        begin = time.monotonic()
        database.run(f"CREATE INDEX {name} ON codes USING {what}")
        took = time.monotonic() - begin
        size = int(database.run(f"SELECT pg_relation_size('{name}')")[0])
        print(f"index {what}: built in {took:.1f} s, {size / rows:.1f} bytes a row")
    size = int(database.run("SELECT pg_relation_size('codes')")[0])
    print(f"the table: {size / rows:.1f} bytes a row")
    return [codes[i] for i in range(0, rows, max(rows // QUERIES, 1))][:QUERIES]


def ask(database, way, code, radius):
    """Milliseconds in the server, and the rows."""
    settings, condition = WAYS[way]
    text = condition.format(
        code=f"{code:064b}", hex=f"{code:016x}", radius=radius, chunks=chunks(code)
    )
    found = database.run(
        f"{settings} SET max_parallel_workers_per_gather = 0;\n"
        f"SELECT count(*) FROM codes WHERE {text};\n\\timing on\n"
        f"SELECT count(*) FROM codes WHERE {text};"
    )
    return float(found[3]), int(found[0])


def main():
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        database = extension.Database(folder)
        queries = fill(database, rows)
        for radius in 3, 8:
            print(f"radius {radius}")
            told = {
                way: [ask(database, way, code, radius) for code in queries] for way in WAYS
            }
            base = statistics.median(ms for ms, _ in told["scan, hamming()"])
            for way, answers in told.items():
                ms = statistics.median(ms for ms, _ in answers)
                share = sum(min(n, m) for (_, n), (_, m) in zip(answers, told["scan, hamming()"]))
                all_rows = sum(n for _, n in told["scan, hamming()"])
                print(f"{way:32} {ms:9.3f} ms {base / ms:8.1f} x  finds {share / all_rows:.3f}")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.stderr)
