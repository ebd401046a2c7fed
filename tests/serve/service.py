"""A `doppel serve` for tests: on a port of its own, ended with the test."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

STARTS_WITHIN = 60  # seconds, also on a machine that has much else to do


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=120)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Service:
    def __init__(
        self, build, folder, *options, listen="127.0.0.1:0", library=None, environment=None, **more
    ):
        home = pathlib.Path(folder)
        self.log = open(home / "serve.log", "w+")
        self.process = subprocess.Popen(
            [build / "doppel", "serve", "-L", library or home / "library", "--listen", listen]
            + list(options),
            stderr=self.log,
            cwd=home,
            env=dict(os.environ, HOME=str(home), XDG_CACHE_HOME=str(home / "cache"))
            | (environment or {}),
            **more,
        )
        self.address = self.wait_for_address()

    def said(self):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text()

    def wait_for_address(self):
        end = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < end:
            found = re.search(r"answers at (\S+);", self.said())
            if found:
                return found[1]
            if self.process.poll() is not None:
                raise AssertionError(f"it ended with {self.process.returncode}: {self.said()}")
            time.sleep(0.02)
        raise AssertionError("it does not answer")

    def connection(self):
        if self.address.startswith("unix:"):
            return UnixConnection(self.address[5:])
        return http.client.HTTPConnection(self.address.split("//")[1], timeout=120)

    def ask(self, method, path, body=None, **headers):
        """The status, headers and body of the answer to one request, JSON as what it says."""
        with contextlib.closing(self.connection()) as connection:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            data = answer.read()
        kind = answer.headers.get("Content-Type", "")
        is_json = kind in ("application/json", "application/problem+json")
        return answer.status, answer.headers, json.loads(data) if is_json else data

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, value, **headers):
        return self.ask("POST", path, json.dumps(value), Content_Type="application/json", **headers)

    def send(self, path, *files, field="file", **headers):
        """Files, as a form."""
        mark, body = "form-of-a-test", b""
        for name, data in files:
            head = f'form-data; name="{field}"; filename="{name}"\r\n\r\n'
            body += f"--{mark}\r\nContent-Disposition: {head}".encode() + data + b"\r\n"
        body += f"--{mark}--\r\n".encode()
        kind = f"multipart/form-data; boundary={mark}"
        return self.ask("POST", path, body, Content_Type=kind, **headers)

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(timeout=STARTS_WITHIN)
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()
