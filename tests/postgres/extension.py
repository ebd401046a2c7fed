"""The functions and the index for PostgreSQL, on a real server: python3 extension.py BUILD."""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "house"), str(TESTS / "stream")]

import postgres  # noqa: E402
import tap  # noqa: E402

EXTENSION = TESTS.parent / "postgres"
BUILD = pathlib.Path(sys.argv[1])


class Database:
    """A server with the extension's script run in it: it may lie where none is installed."""

    def __init__(self, folder):
        module = pathlib.Path(folder) / "doppel_postgres.so"
        shutil.copy(BUILD / "postgres" / module.name, module)
        module.chmod(0o755)
        self.server = postgres.Server(folder)
        self.run("CREATE DATABASE regression")
        script = (EXTENSION / "doppel--0.2.sql").read_text()
        lines = [line for line in script.splitlines() if not line.startswith("\\echo")]
        self.run("\n".join(lines).replace("MODULE_PATHNAME", str(module)))

    def run(self, sql):
        """What psql prints for it; the database is made by the first."""
        database = "postgres" if sql.startswith("CREATE DATABASE") else "regression"
        done = subprocess.run(
            ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", self.server.url(database)],
            input=sql, env=self.server.env(), capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, (sql[:200], done.stderr)
        return done.stdout.split()


def make_codes(bits, count, chance):
    """Some at random, and each again with a few bits turned; as whole numbers."""
    codes = [chance.getrandbits(bits) for _ in range(count)]
    for code in codes[: count // 2]:
        for _ in range(4):
            turned = code
            for bit in chance.sample(range(bits), chance.randint(0, min(bits, 14))):
                turned ^= 1 << bit
            codes.append(turned)
    return codes


def test_the_index_finds_what_a_scan_of_integers_finds():
    chance = random.Random(4711)
    for bits in 1, 8, 16, 17, 33, 64, 100, 256:
        codes = make_codes(bits, 300, chance)
        rows = ",".join(f"({i}, B'{code:0{bits}b}')" for i, code in enumerate(codes))
        database.run(
            f"DROP TABLE IF EXISTS codes; CREATE TABLE codes (id int, code bit({bits}));"
            f"INSERT INTO codes VALUES {rows}; CREATE INDEX ON codes USING gin (code);"
        )
        found = 0
        for radius in 0, 1, 3, 5, 8, 12, 31:
            query = chance.choice(codes)
            got = database.run(
                "SET enable_seqscan = off; SELECT id FROM codes"
                f" WHERE code <@ (B'{query:0{bits}b}', {radius}) ORDER BY id"
            )
            want = [i for i, code in enumerate(codes) if (code ^ query).bit_count() <= radius]
            assert [int(word) for word in got] == want, (bits, radius, len(got), len(want))
            found += len(want)
        assert found > 7, bits  # more than the queries themselves


def test_similarity_is_that_of_the_command():
    words = [f"word{i}" for i in range(300)]
    texts = [" ".join(words), " ".join(words[:250])]
    folder = pathlib.Path(temporary)
    signatures = []
    for i, text in enumerate(texts):
        path = folder / f"{i}.txt"
        path.write_text(text)
        done = subprocess.run(
            [BUILD / "doppel", "hash", "--scheme", "minhash128", "--quiet", path],
            env=os.environ | {"XDG_CACHE_HOME": str(folder)}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        signatures.append(done.stdout.splitlines()[-1].split()[0])
    lanes = [[sign[i : i + 4] for i in range(0, len(sign), 4)] for sign in signatures]
    share = sum(a == b for a, b in zip(*lanes)) / len(lanes[0])
    want = (share - 1 / 65536) / (1 - 1 / 65536)
    assert 0.1 < share < 1, share
    got = database.run(f"SELECT minhash_similarity('\\x{signatures[0]}', '\\x{signatures[1]}')")
    assert abs(float(got[0]) - want) < 1e-12, (got, want)


def test_what_users_type_is_answered_as_expected():
    """By the tool that PostgreSQL's own extensions are tested with."""
    found = list(pathlib.Path("/usr/lib/postgresql").glob("*/lib/pgxs/src/test/regress/pg_regress"))
    assert found, "postgresql-server-dev is installed without pg_regress"
    server = database.server
    output = pathlib.Path(temporary) / "regress"
    output.mkdir()
    done = subprocess.run(
        [found[-1], "--use-existing", f"--bindir={postgres.programs()}", "--host=127.0.0.1",
         f"--port={server.port}", "--user=writer", "--dbname=regression",
         f"--inputdir={EXTENSION}", f"--outputdir={output}", "doppel"],
        env=server.env(), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    differences = output / "regression.diffs"
    told = differences.read_text() if differences.exists() else done.stdout + done.stderr
    if os.environ.get("DOPPEL_KEEP_RESULTS"):
        shutil.copy(output / "results" / "doppel.out", os.environ["DOPPEL_KEEP_RESULTS"])
    assert done.returncode == 0, told


if __name__ == "__main__":
    if not postgres.programs():
        print("1..0 # SKIP no PostgreSQL server")
        sys.exit(0)
    with tempfile.TemporaryDirectory() as temporary:
        database = Database(temporary)
        sys.exit(tap.main(sys.modules[__name__]))
