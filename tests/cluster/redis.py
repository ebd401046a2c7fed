"""Redis servers with the module, started for a test, and a client of them."""

import atexit
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # servers are ended as well


class RedisError(Exception):
    """An answer that is an error."""


class Client:
    """One connection. Commands are lists of str, int or bytes."""

    def __init__(self, port, timeout=60):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.socket.makefile("rb")

    def close(self):
        self.answers.close()
        self.socket.close()

    def send(self, *commands):
        self.socket.sendall(b"".join(encode(command) for command in commands))

    def read(self):
        line = self.answers.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server is gone")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return RedisError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.answers.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        raise ValueError(line)

    def run(self, *command):
        """The answer of one command; an error is raised."""
        self.send(command)
        answer = self.read()
        if isinstance(answer, RedisError):
            raise answer
        return answer

    def error(self, *command):
        """The error that a command is answered with."""
        self.send(command)
        answer = self.read()
        if not isinstance(answer, RedisError):
            raise AssertionError(f"{command[:3]} was not refused: {answer!r}")
        return str(answer)


def encode(command):
    parts = [as_bytes(part) for part in command]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


def as_bytes(part):
    return part if isinstance(part, bytes) else str(part).encode()


def free_port():
    """The bus of a cluster has the port 10000 above; both below those that systems give to
    connections: a server that is started again finds its own free."""
    while True:
        port = random.randrange(11000, 22700)
        with socket.socket() as one, socket.socket() as bus:
            try:
                one.bind(("127.0.0.1", port))
                bus.bind(("127.0.0.1", port + 10000))
                return port
            except OSError:
                continue


SLOTS = 16384


def slot_of(tag):
    """CRC-16 of XMODEM, as a cluster has it of what stands in braces."""
    crc = 0
    for byte in tag.encode():
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc % SLOTS


def start_cluster(build, folder, count, *options):
    """Nodes that share the slots in order: node i has those from i * SLOTS // count on."""
    nodes = [Server(build, folder / f"node{i}", *options, cluster=True) for i in range(count)]
    for number, node in enumerate(nodes):
        client = node.client()
        client.run("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        first, last = number * SLOTS // count, (number + 1) * SLOTS // count - 1
        client.run("CLUSTER", "ADDSLOTSRANGE", first, last)
        client.run("CLUSTER", "MEET", "127.0.0.1", nodes[0].port)
    end = time.monotonic() + 60
    for node in nodes:
        client = node.client()
        while b"cluster_state:ok" not in client.run("CLUSTER", "INFO"):
            assert time.monotonic() < end, "the nodes do not find each other"
            time.sleep(0.05)
    return nodes


class Server:
    """A server in a folder of its own; in its cluster mode the bus has port + 10000."""

    def __init__(self, build, folder, *options, cluster=False, with_module=True):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.module = pathlib.Path(build) / "cluster" / "doppel.so" if with_module else None
        self.options = options
        self.cluster = cluster
        self.port = free_port()
        self.process = None
        self.start()

    def start(self):
        command = [
            shutil.which("redis-server"), "--port", str(self.port), "--bind", "127.0.0.1",
            "--dir", str(self.folder), "--save", "", "--enable-debug-command", "yes",
            "--logfile", str(self.folder / "log"),
        ]  # fmt: skip
        if self.module:
            command += ["--loadmodule", str(self.module)]
        if self.cluster:
            command += ["--cluster-enabled", "yes", "--cluster-config-file", "nodes"]
        self.process = subprocess.Popen(
            command + list(self.options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        atexit.register(self.process.kill)
        self.wait()

    def wait(self):
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            try:
                client = Client(self.port)
                if client.run("PING") == "PONG":
                    client.close()
                    return
            except (OSError, RedisError):
                time.sleep(0.02)
        raise AssertionError("the server does not start: " + self.log()[-2000:])

    def client(self, timeout=60):
        return Client(self.port, timeout)

    def log(self):
        path = self.folder / "log"
        return path.read_text() if path.exists() else ""

    def stop(self):
        self.process.terminate()
        self.process.wait(60)

    def kill(self):
        self.process.kill()
        self.process.wait(60)

    def runs(self):
        return self.process.poll() is None

    def pause(self):
        """It hangs: connections to it are taken, and nothing is answered."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)
