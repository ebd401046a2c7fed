#!/usr/bin/env python3
"""`doppel ingest --stream rediss://…`: TLS to a real server, and whom it refuses, by which words.

Usage: tls.py BUILD"""

import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402
from stream_case import FOLDER, doppel, end, records, start, text_of, wait_until  # noqa: E402

if not shutil.which("redis-server") or not shutil.which("openssl"):
    print("1..0 # SKIP redis-server and openssl are not installed")
    sys.exit(0)

from redis_server import Server, TlsServer, slot_of  # noqa: E402


NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout"]


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=60)


def make_ca(name):
    key, certificate = FOLDER / f"{name}.key", FOLDER / f"{name}.crt"
    openssl("req", "-x509", *NEW_KEY, key, "-out", certificate, "-days", 30, "-subj",
            f"/CN={name}")  # fmt: skip
    return key, certificate


def make_certificate(ca, name, who, days=30):
    """A certificate for hosts such as "DNS:localhost,IP:127.0.0.1". @return key, certificate"""
    key, request, certificate, extra = (
        FOLDER / f"{name}.{kind}" for kind in ("key", "csr", "crt", "ext")
    )
    extra.write_text(f"subjectAltName={who}\n")
    openssl("req", *NEW_KEY, key, "-out", request, "-subj", f"/CN={name}")
    openssl("x509", "-req", "-in", request, "-CA", ca[1], "-CAkey", ca[0], "-CAcreateserial",
            "-days", days, "-extfile", extra, "-out", certificate)  # fmt: skip
    return key, certificate


CA, OTHER_CA = make_ca("ca"), make_ca("other-ca")
HERE = make_certificate(CA, "here", "DNS:localhost,IP:127.0.0.1")
SERVER = TlsServer(FOLDER / "redis", HERE, CA[1])


def words(url, *options, library="lib"):
    return ["ingest", "-L", library, "--drain", "--stream", url, *options]


def said(url, *options, code=2):
    return doppel(*words(url, *options), code=code).stderr


def drained(url, *options, library="lib"):
    return doppel(*words(url, *options, library=library)).stdout.splitlines()


def test_messages_by_name_and_by_address():
    client = SERVER.client()
    for host in ("127.0.0.1", "localhost"):
        client.run("XADD", host, "*", "text", text_of(host))
        lines = drained(SERVER.url(host, host=host), "--stream-ca", CA[1])
        assert len(lines) == 1, lines


def test_many_and_large_messages():
    """More than a record of TLS, both ways."""
    client = SERVER.client()
    rows = records(0, 500)
    for row in rows:
        client.run("XADD", "many", "*", "id", row["id"], "text", row["text"] + " y" * 20000)
    lines = drained(SERVER.url("many"), "--stream-ca", CA[1], "--to", "many:out", library="many")
    assert lines == [] and client.run("XLEN", "many:out") == len(rows)
    assert client.run("XPENDING", "many", "doppel")[0] == 0


def test_passwords_go_by_tls():
    client = SERVER.client()
    client.run("ACL", "SETUSER", "reader", "on", ">secret", "~*", "+@all")
    client.run("XADD", "closed", "*", "text", text_of("closed"))
    key = FOLDER / "password"
    key.write_text("secret\n")
    url = SERVER.url("closed", user="reader@")
    assert len(drained(url, "--stream-ca", CA[1], "--stream-key", key)) == 1
    key.write_text("wrong\n")
    assert "WRONGPASS" in said(url, "--stream-ca", CA[1], "--stream-key", key)


def test_certificates_that_are_refused():
    ca = ["--stream-ca", CA[1]]
    url = SERVER.url("in")
    assert "signed by nobody who is trusted here (--stream-ca)" in said(url)
    other = said(url, "--stream-ca", OTHER_CA[1])
    assert "signed by nobody who is trusted here (--stream-ca)" in other
    assert f"127.0.0.1:{SERVER.port}" in other, other
    for name, who, days, sentence in (
        ("elsewhere", "DNS:elsewhere.example,IP:10.1.2.3", 30, "its certificate is for another"),
        ("nameless", "DNS:127.0.0.1", 30, "its certificate is for another"),
        ("expired", "DNS:localhost,IP:127.0.0.1", -1, "its certificate has expired"),
    ):
        pair = make_certificate(CA, name, who, days)
        server = TlsServer(FOLDER / f"redis-{name}", pair, CA[1])
        got = said(server.url("in"), *ca)
        server.kill()
        assert sentence in got, (name, got)
    own = make_ca("127.0.0.1")
    server = TlsServer(FOLDER / "redis-own", own, CA[1])
    assert "signed by nobody" in said(server.url("in"), *ca)
    server.kill()


def test_files_of_certificates_that_are_refused():
    broken = FOLDER / "broken.pem"
    broken.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    empty = FOLDER / "empty.pem"
    empty.write_text("")
    for path, sentence in (
        (FOLDER / "none.pem", "No such file"),
        (broken, "holds no certificate"),
        (empty, "holds no certificate"),
        (CA[0], "holds no certificate"),
    ):
        got = said(SERVER.url("in"), "--stream-ca", path)
        assert str(path) in got and sentence in got, (path, got)


def test_a_server_that_wants_certificates_of_clients():
    server = TlsServer(FOLDER / "redis-mutual", HERE, CA[1], "--tls-auth-clients", "yes")
    got = said(server.url("in"), "--stream-ca", CA[1])
    assert "wants a certificate of its clients" in got, got
    server.kill()


def test_nodes_of_a_cluster():
    """The other one is named by its address, for which its certificate is, too."""
    options = ["--cluster-enabled", "yes", "--tls-cluster", "yes"]
    nodes = [TlsServer(FOLDER / f"node{i}", HERE, CA[1], *options) for i in range(2)]
    try:
        for node, slots in zip(nodes, ((0, 8191), (8192, 16383)), strict=True):
            node.client().run("CLUSTER", "ADDSLOTSRANGE", *slots)
            node.client().run("CLUSTER", "MEET", "127.0.0.1", nodes[0].port)
        for node in nodes:
            wait_until(lambda node=node: b"state:ok" in node.client().run("CLUSTER", "INFO"),
                       "the nodes meet")  # fmt: skip
        here, there = nodes if slot_of("in") < 8192 else nodes[::-1]
        here.client().run("XADD", "{in}", "*", "text", text_of("moved"))
        got = doppel(*words(there.url("%7Bin%7D"), "--stream-ca", CA[1], library="nodes"))
        assert len(got.stdout.splitlines()) == 1
        assert f"lies at 127.0.0.1:{here.port} of the cluster" in got.stderr, got.stderr
    finally:
        for node in nodes:
            node.kill()


class Peer:
    """Answers each connection once, plain or by TLS; nothing to what does not begin with `only`."""

    def __init__(self, answer, context=None, only=b""):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.answer, self.context, self.only = answer, context, only
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.listener.accept()
            try:
                connection.settimeout(10)
                if self.context:
                    connection = self.context.wrap_socket(connection, server_side=True)
                if connection.recv(4096).startswith(self.only):
                    connection.sendall(self.answer)
                    connection.recv(4096)
            except OSError:
                pass
            connection.close()


def test_peers_that_speak_something_else():
    ca = ["--stream-ca", CA[1]]
    plain = Server(FOLDER / "plain")
    hello = bytes([0x15, 3, 3, 0, 2, 2, 70])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(HERE[1], HERE[0])
    web = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
    page = b"<!DOCTYPE HTML>\n<html></html>\n"
    http, html, mail = Peer(web), Peer(page), Peer(b"220 mail.example ESMTP\r\n")
    tls_alone, zero = Peer(hello), Peer(bytes(8))
    shy = Peer(web, only=b"GET / HTTP/1")
    https = Peer(web, context)
    try:
        for port, tls, sentence in (
            (plain.port, True, "it speaks no TLS: its address begins with redis://"),
            (http.port, True, "it speaks HTTP"),
            (http.port, False, "it speaks HTTP"),
            (html.port, False, "it speaks HTTP"),
            (shy.port, False, "it speaks HTTP"),
            (tls_alone.port, False, "it speaks TLS: its address begins with rediss://"),
            (zero.port, True, "does not speak Redis' protocol"),
            (zero.port, False, "does not speak Redis' protocol"),
            (mail.port, True, "does not speak Redis' protocol"),
            (mail.port, False, "does not speak Redis' protocol"),
        ):
            url = f"redis{'s' if tls else ''}://127.0.0.1:{port}/in"
            got = said(url, *(ca if tls else []))
            assert sentence in got, (port, tls, got)
        got = said(f"rediss://127.0.0.1:{https.port}/in", *ca)
        assert "Protocol error" in got, got
    finally:
        plain.kill()


def test_a_server_that_speaks_tls_alone_is_waited_for_with_a_hint():
    """It closes the connection, as one does that is about to end."""
    process = start(*words(f"redis://127.0.0.1:{SERVER.port}/in"))
    line = process.stderr.readline().decode()
    assert "its address begins with rediss://" in line, line
    end(process)


def test_a_server_that_comes_back():
    server = TlsServer(FOLDER / "redis-back", HERE, CA[1])
    out = start("ingest", "-L", "back", "--stream", server.url("in"), "--stream-ca", CA[1], "--to",
                "out")  # fmt: skip
    try:
        client = server.client()
        client.run("XADD", "in", "*", "text", text_of("one"))
        wait_until(lambda: client.run("XLEN", "out") == 1, "the first decision")
        server.kill()
        server.start()
        client = server.client()
        client.run("XADD", "in", "*", "text", text_of("two"))
        wait_until(lambda: client.run("XLEN", "out") == 2, "the second decision")
    finally:
        _, err = end(out)
        server.kill()
    assert "is away" in err, err


if __name__ == "__main__":
    try:
        sys.exit(tap.main(sys.modules[__name__]))
    finally:
        SERVER.kill()
