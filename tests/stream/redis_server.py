"""A Redis server for streams, and a client; the client is that of tests/cluster."""

import atexit
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))
from redis import Client, RedisError, free_port, slot_of  # noqa: E402

__all__ = ["RedisError", "Server", "TlsServer", "pairs", "slot_of"]


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
            [shutil.which("redis-server"), *self.port_options(), "--bind", "127.0.0.1",
             "--dir", str(self.folder), "--save", "", "--appendonly", "yes",
             "--logfile", str(self.folder / "log"), *self.options],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        atexit.register(self.process.kill)
        end = time.monotonic() + 60
        while True:
            assert time.monotonic() < end and self.process.poll() is None, "it does not start"
            if self.is_there():
                return
            time.sleep(0.02)

    def port_options(self):
        return ["--port", str(self.port)]

    def is_there(self):
        try:
            return self.client().run("PING") == "PONG"
        except RedisError as error:
            return "NOAUTH" in str(error)
        except OSError:
            return False

    def client(self):
        return Client(self.port)

    def kill(self):
        self.process.kill()
        self.process.wait(60)

    def url(self, key, user="", more=""):
        return f"redis://{user}127.0.0.1:{self.port}/{key}{more}"


class TlsClient(Client):
    """A connection by TLS that checks nothing."""

    def __init__(self, port):
        super().__init__(port)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.socket = context.wrap_socket(self.socket)
        self.answers = self.socket.makefile("rb")


class TlsServer(Server):
    """It speaks TLS alone. `pair`: its key and certificate."""

    def __init__(self, folder, pair, ca, *options):
        self.wants_clients = "--tls-auth-clients" in options
        tls = [
            "--tls-key-file", str(pair[0]), "--tls-cert-file", str(pair[1]),
            "--tls-ca-cert-file", str(ca),
        ]  # fmt: skip
        options = options if self.wants_clients else ("--tls-auth-clients", "no", *options)
        super().__init__(folder, *tls, *options)

    def port_options(self):
        return ["--port", "0", "--tls-port", str(self.port)]

    def client(self):
        return TlsClient(self.port)

    def is_there(self):
        if not self.wants_clients:
            return super().is_there()
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def url(self, key, user="", more="", host="127.0.0.1"):
        return f"rediss://{user}{host}:{self.port}/{key}{more}"
