"""A PostgreSQL server, started for a test as a user who is not root, and ended by it."""

import atexit
import glob
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import subprocess
import time

PASSWORD = "scram-secret-4711"


def programs():
    """The folder of Debian's newest server; None: there is none."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    there = found[-1] if found else shutil.which("initdb")
    return pathlib.Path(there).parent if there and shutil.which("psql") else None


def as_user():
    """What a command begins with: root is refused by the server."""
    if os.getuid():
        return []
    user = pwd.getpwnam("nobody")
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


def free_port():
    while True:
        port = random.randrange(20000, 55000)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class Server:
    """All who come need the password, which `passfile` has."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder) / "postgres"
        self.folder.mkdir()
        self.data = self.folder / "data"
        self.passfile = self.folder / "pgpass"
        self.port = free_port()
        self.process = None
        for above in (self.folder, *self.folder.parents):
            if above.stat().st_uid == os.getuid() and str(above) != "/":
                above.chmod(above.stat().st_mode | 0o011)
        secret = self.folder / "secret"
        secret.write_text(PASSWORD)
        self.write_passfile(self.passfile, PASSWORD)
        if not os.getuid():
            shutil.chown(self.folder, "nobody")
            shutil.chown(secret, "nobody")
        subprocess.run(
            [*as_user(), programs() / "initdb", "-D", self.data, "-U", "writer", "-E", "UTF8",
             "--no-locale", "--auth=scram-sha-256", f"--pwfile={secret}", "--no-sync"],
            check=True, capture_output=True, timeout=120, cwd="/",
        )  # fmt: skip
        self.start()

    def write_passfile(self, path, password):
        path.write_text(f"127.0.0.1:{self.port}:*:*:{password}\n")
        path.chmod(0o600)

    def environment(self, passfile=None):
        return {"PGPASSFILE": str(passfile or self.passfile)}

    def url(self, database="postgres", user="writer", more=""):
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}{more}"

    def start(self):
        self.process = subprocess.Popen(
            [*as_user(), programs() / "postgres", "-D", self.data, "-p", str(self.port),
             "-h", "127.0.0.1", "-k", self.folder, "-F"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", start_new_session=True,
        )  # fmt: skip
        atexit.register(self.kill)
        end = time.monotonic() + 60
        while subprocess.run(self.psql("SELECT 1"), capture_output=True, env=self.env()).returncode:
            assert time.monotonic() < end and self.process.poll() is None, "it does not start"
            time.sleep(0.05)

    def env(self):
        return os.environ | self.environment()

    def psql(self, sql):
        return ["psql", "-XAtq", "-F", "|", "-v", "ON_ERROR_STOP=1", self.url(), "-c", sql]

    def ask(self, sql):
        """The rows, as lists of texts."""
        done = subprocess.run(
            self.psql(sql), env=self.env(), capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, (sql, done.stderr)
        return [line.split("|") for line in done.stdout.splitlines()]

    def number(self, sql):
        return int(self.ask(sql)[0][0])

    def children(self):
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True
        ).stdout
        return [int(word) for word in found.split()]

    def signal_all(self, number):
        for pid in [self.process.pid, *self.children()]:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def kill(self):
        """SIGKILL for all of it, as when a machine loses power but not its disk."""
        if self.process.poll() is None:
            self.signal_all(signal.SIGKILL)
        self.process.wait(60)
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def restart_killed(self):
        self.kill()
        self.start()
