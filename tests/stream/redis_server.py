"""A Redis server for streams, and a client; the client is that of tests/cluster."""

import atexit
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))
from redis import Client, RedisError, free_port  # noqa: E402

__all__ = ["RedisError", "Server", "pairs"]


def pairs(fields):
    """The fields of a message, by their names."""
    return {
        name.decode(): value.decode() for name, value in zip(fields[::2], fields[1::2], strict=True)
    }


class Server:
    """With `--appendfsync always` each command is in its file before it is answered; else a write
    may be put off while an earlier one goes to the disk, and a kill loses it."""

    def __init__(self, folder, *options):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.options = options
        self.port = free_port()
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [shutil.which("redis-server"), "--port", str(self.port), "--bind", "127.0.0.1",
             "--dir", str(self.folder), "--save", "", "--appendonly", "yes",
             "--logfile", str(self.folder / "log"), *self.options],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        atexit.register(self.process.kill)
        end = time.monotonic() + 60
        while True:
            assert time.monotonic() < end and self.process.poll() is None, "it does not start"
            try:
                Client(self.port).run("PING")
                return
            except RedisError as error:
                if "NOAUTH" in str(error):
                    return
            except OSError:
                pass
            time.sleep(0.02)

    def client(self):
        return Client(self.port)

    def kill(self):
        self.process.kill()
        self.process.wait(60)

    def url(self, key, user="", more=""):
        return f"redis://{user}127.0.0.1:{self.port}/{key}{more}"
