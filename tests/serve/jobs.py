#!/usr/bin/env python3
"""Jobs of `doppel serve`: accepted at once, done once, whatever happens to the process.

`jobs.py BUILD`
"""

import base64
import contextlib
import hashlib
import hmac
import http.server
import json
import pathlib
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402
from service import STARTS_WITHIN, Service  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()


def folder():
    return tempfile.TemporaryDirectory(prefix="doppel-serve.")


def media(place):
    """Originals and copies, which the demo draws."""
    subprocess.run([BUILD / "doppel-demo", place], check=True, stdout=subprocess.DEVNULL)
    return pathlib.Path(place)


def text(number):
    return f"{number} and {number * 7} and {number * 11} " * 9


def accepted(answer):
    status, headers, job = answer
    assert status == 202, answer
    assert headers["Location"] == f"/v1/jobs/{job['id']}", headers
    return job["id"]


def problem(answer, status):
    got, _, body = answer
    assert got == status and body["detail"], answer
    return body["detail"]


def look(service, job, query=""):
    status, _, body = service.get(f"/v1/jobs/{job}{query}")
    assert status == 200, body
    return body


def wait_for(condition, what):
    end = time.monotonic() + STARTS_WITHIN
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def ended(service, job):
    """The job, once it has ended, with all results."""
    wait_for(lambda: "ended" in look(service, job), f"job {job} has not ended")
    results, cursor = [], 0
    while cursor is not None:
        done = look(service, job, f"?limit=1000&cursor={cursor}")
        results += done["results"]
        cursor = done.get("next")
    assert len(results) == done["decided"], (len(results), done["decided"])
    return dict(done, results=results)


def numbers(job):
    """Without its results, which are long."""
    return {key: value for key, value in job.items() if key != "results"}


def catalogue_of(home):
    """Whoever writes to it meanwhile is waited for."""
    path = pathlib.Path(home, "library/catalogue.db")
    options = {"isolation_level": None, "check_same_thread": False, "timeout": STARTS_WITHIN}
    return contextlib.closing(sqlite3.connect(path, **options))


def uploads(home):
    found = pathlib.Path(home, "library/jobs").rglob("*")
    return sorted(path for path in found if path.name != "lock")


def test_what_was_accepted_is_ingested():
    with folder() as home:
        pictures = media(f"{home}/demo") / "originals"
        with Service(BUILD, home, "--allow-paths", home) as service:
            sea = (pictures / "sea.jpg").read_bytes()
            files = [("sea.jpg", sea), ("again.jpg", sea), ("none.jpg", b"\xff\xd8\xff nothing")]
            done = ended(service, accepted(service.send("/v1/jobs", *files)))
            assert done["state"] == "done" and done["inputs"] == done["decided"] == 3, done
            assert done["unreadable"] == 1, done
            assert done["added"] <= done["begun"] <= done["ended"] < done["added"] + 60
            decisions = [one["decision"] for one in done["results"]]
            assert decisions == ["new", "duplicate", "unreadable"], done
            assert [one["id"] for one in done["results"]] == [name for name, _ in files]
            assert not uploads(home), uploads(home)
            item = service.get(f"/v1/items/{done['results'][0]['item']}")[2]
            assert item["meta"] == {"filename": "again.jpg"}, item["meta"]
            inputs = [
                {"text": text(1), "id": "one", "lists": ["seen"], "meta": {"by": ["me"]}},
                {"path": str(pictures / "city.jpg"), "source": "disk"},
                {"code": "9cf11f47d0f89fc0", "scheme": "phash64", "labels": ["x"]},
            ]
            done = ended(service, accepted(service.post("/v1/jobs", inputs)))
            assert {one["decision"] for one in done["results"]} == {"new"}, done
            assert done["results"][1]["path"] == str(pictures / "city.jpg"), done
            item = service.get("/v1/items/id:one")[2]
            assert item["lists"] == ["seen"] and item["meta"] == {"by": ["me"]}, item["meta"]
            item = service.get(f"/v1/items/{done['results'][1]['item']}")[2]
            assert item["path"] == str(pictures / "city.jpg") and item["source"] == "disk"
            body = "".join(json.dumps({"text": text(n)}) + "\n" for n in range(300))
            job = accepted(service.ask("POST", "/v1/jobs", body, Content_Type="application/jsonl"))
            again = ended(service, job)["results"]
            assert [one["decision"] for one in again] == ["new", "duplicate"] + ["new"] * 298
            raw = service.ask("POST", "/v1/jobs?id=x&name=y.jpg", sea, Content_Type="image/jpeg")
            (one,) = ended(service, accepted(raw))["results"]
            assert one["decision"] == "duplicate" and one["id"] == "x", one


def test_a_job_decides_as_a_request_does():
    with folder() as one, folder() as other:
        pictures = media(f"{one}/demo")
        files = [(path.name, path.read_bytes()) for path in sorted(pictures.rglob("*.jpg"))]
        texts = [{"text": text(n % 7), "id": f"t{n % 9}"} for n in range(40)]
        with Service(BUILD, one) as asked, Service(BUILD, other) as told:
            for send, inputs in (("send", files), ("post", [texts])):
                _, _, answer = getattr(asked, send)("/v1/ingest", *inputs)
                done = ended(told, accepted(getattr(told, send)("/v1/jobs", *inputs)))
                for one_done, one_asked in zip(done["results"], answer["results"], strict=True):
                    assert one_done == one_asked, (one_done, one_asked)


def test_who_reads_looks_and_who_writes_sends():
    with folder() as home:
        keys = {right: f"the key to {right}" for right in ("read", "write")}
        lines = [f"{hashlib.sha256(k.encode()).hexdigest()} {r}-key {r}\n" for r, k in keys.items()]
        pathlib.Path(home, "keys").write_text("".join(lines))
        reads, writes = ({"Authorization": f"Bearer {keys[right]}"} for right in keys)
        with Service(BUILD, home, "--keys", f"{home}/keys") as service:
            problem(service.post("/v1/jobs", {"text": text(1)}), 401)
            problem(service.post("/v1/jobs", {"text": text(1)}, **reads), 403)
            job = accepted(service.post("/v1/jobs", {"text": text(1)}, **writes))
            for path in ("", f"/{job}", f"/{job}/events"):
                assert service.get(f"/v1/jobs{path}", **reads)[0] == 200, path
                problem(service.get(f"/v1/jobs{path}"), 401)
            assert service.get(f"/v1/jobs/{job}", **reads)[2]["client"] == "write-key"
            problem(service.ask("DELETE", f"/v1/jobs/{job}", **reads), 403)
            assert service.ask("DELETE", f"/v1/jobs/{job}", **writes)[0] == 204


def test_pages():
    with folder() as home, Service(BUILD, home) as service:
        jobs = [accepted(service.post("/v1/jobs", [{"text": text(n)}] * 3)) for n in range(5)]
        for job in jobs:
            ended(service, job)
        page = service.get("/v1/jobs?limit=2")[2]
        assert [job["id"] for job in page["jobs"]] == [5, 4] and page["next"] == 3, page
        page = service.get("/v1/jobs?limit=9&cursor=3")[2]
        assert [job["id"] for job in page["jobs"]] == [3, 2, 1] and "next" not in page, page
        page = look(service, 2, "?limit=2")
        assert len(page["results"]) == 2 and page["next"] == 2, page
        page = look(service, 2, "?cursor=2")
        assert len(page["results"]) == 1 and "next" not in page, page


def test_wrong_requests():
    with folder() as home, Service(BUILD, home, "--max-body", "1M") as service:
        inputs = [{"text": text(1)}, {"path": "/etc/passwd"}]
        assert "input 1" in problem(service.post("/v1/jobs", inputs), 400)
        problem(service.post("/v1/jobs", {"code": "xyz"}), 400)
        problem(service.post("/v1/jobs", []), 400)
        problem(service.send("/v1/jobs", ("large", b"x" * (2 << 20))), 413)
        for name in ("7", "0", "x", "-1", "1x", "99999999999999999999", "1/x"):
            assert service.get(f"/v1/jobs/{name}")[0] == 404, name
            assert service.ask("DELETE", f"/v1/jobs/{name}")[0] == 404, name
        assert service.get("/v1/jobs")[2] == {"jobs": []}
        problem(service.get("/v1/jobs?limit=x"), 400)
        assert not uploads(home)


SLOW = ["--jobs", "1"]


def slow_job(service, home):
    """One of many pictures, no two of the same bytes, which takes a while."""
    pictures = pathlib.Path(home, "demo")
    if not pictures.exists():
        media(pictures)
    paths = [path for path in sorted(pictures.rglob("*.jpg")) if path.stem != "broken"]
    files = [(path.name, path.read_bytes() + bytes([n])) for n in range(12) for path in paths]
    return accepted(service.send("/v1/jobs", *files)), len(files)


def test_a_long_job_keeps_nobody_waiting():
    with folder() as home, Service(BUILD, home, *SLOW) as service:
        job, count = slow_job(service, home)
        quick = accepted(service.post("/v1/jobs", {"text": text(1)}))
        assert ended(service, quick)["state"] == "done"
        assert look(service, job)["decided"] < count


def test_what_an_upstream_has_is_ignored():
    with folder() as one, folder() as other, Service(BUILD, one) as upstream:
        upstream.post("/v1/ingest", {"text": text(1)})
        with Service(BUILD, other, "--upstream", upstream.address) as service:
            job = accepted(service.post("/v1/jobs", [{"text": text(n)} for n in range(3)]))
            decisions = [one["decision"] for one in ended(service, job)["results"]]
            assert decisions == ["new", "ignored", "new"], decisions


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_what_an_upstream_has_is_ignored_also_after_a_crash():
    """It ends after its results are kept, and before the upstream, which is away, answers."""
    with folder() as one, folder() as other:
        listen = f"127.0.0.1:{free_port()}"
        options = ("--upstream", f"http://{listen}")
        with Service(BUILD, other, *options) as service:
            job = accepted(service.post("/v1/jobs", [{"text": text(n)} for n in range(3)]))
            wait_for(lambda: look(service, job)["decided"] == 3, "nothing is kept")
            service.end(signal.SIGKILL)
        with Service(BUILD, one, listen=listen) as upstream:
            upstream.post("/v1/ingest", {"text": text(1)})
            with Service(BUILD, other, *options) as service:
                decisions = [one["decision"] for one in ended(service, job)["results"]]
                assert decisions == ["new", "ignored", "new"], decisions


def test_cancelled():
    with folder() as home, Service(BUILD, home, *SLOW) as service:
        job, count = slow_job(service, home)
        waits = accepted(service.post("/v1/jobs", {"text": text(1)}))
        wait_for(lambda: look(service, job)["decided"], "nothing is decided")
        assert service.ask("DELETE", f"/v1/jobs/{job}")[0] == 204
        cancelled = look(service, job)
        assert cancelled["state"] == "cancelled", numbers(cancelled)
        assert cancelled["decided"] < count, numbers(cancelled)
        assert service.ask("DELETE", f"/v1/jobs/{job}")[0] == 204
        assert ended(service, waits)["state"] == "done"
        assert service.ask("DELETE", f"/v1/jobs/{waits}")[0] == 204
        assert look(service, waits)["state"] == "done"
        wait_for(lambda: not uploads(home), "uploads are left")
        assert look(service, job)["state"] == "cancelled"


class Receiver(http.server.BaseHTTPRequestHandler):
    """Keeps what it is sent, and answers what the test says."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.calls.append((time.monotonic(), self.path, self.headers, body))
        if self.server.on_call:
            self.server.on_call()
        self.send_response(self.server.answers.pop(0) if self.server.answers else 204)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def receiver(*answers):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        server.calls, server.answers, server.on_call = [], list(answers), None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server, f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


SECRET = "a secret of many words"


def webhook_options(home, *hosts):
    pathlib.Path(home, "secret").write_text(SECRET + "\n")
    allowed = [word for host in hosts for word in ("--webhook-allow", host)]
    return [*allowed, "--webhook-secret", f"{home}/secret"]


def checked_call(call):
    """The job that a call is about; its signature is right."""
    _, path, headers, body = call
    assert path == "/hook?x=1" and headers["Content-Type"] == "application/json"
    age = time.time() - int(headers["webhook-timestamp"])
    assert -5 < age < 60, age
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()
    assert headers["webhook-signature"] == "v1," + base64.b64encode(digest).decode()
    job = json.loads(body)
    assert headers["webhook-id"] == f"job_{job['id']}"
    return job


def send_with_webhook(service, url, number=1):
    query = urllib.parse.quote(url, safe="")
    return service.post(f"/v1/jobs?webhook={query}", {"text": text(number)})


def test_whoever_wants_to_know_is_called():
    with folder() as home, receiver() as (server, host):
        with Service(BUILD, home, *webhook_options(home, host)) as service:
            job = accepted(send_with_webhook(service, f"http://{host}/hook?x=1"))
            wait_for(lambda: server.calls, "nobody calls")
            called = checked_call(server.calls[0])
            assert called["id"] == job and called["state"] == "done" and called["decided"] == 1
            wait_for(lambda: look(service, job)["webhook"]["calls"] == 1, "it is not noted")
            hook = look(service, job)["webhook"]
            assert hook == {"url": f"http://{host}/hook?x=1", "calls": 1}, hook
            time.sleep(1.5)
            assert len(server.calls) == 1


def test_calls_are_tried_again_also_after_a_crash():
    with folder() as home, receiver(500, 302, 200) as (server, host):
        options = webhook_options(home, host)
        with Service(BUILD, home, *options) as service:
            job = accepted(send_with_webhook(service, f"http://{host}/hook?x=1"))
            wait_for(lambda: len(server.calls) == 2, "it is not tried again")
            wait_for(lambda: look(service, job)["webhook"]["calls"] == 2, "it is not noted")
            hook = look(service, job)["webhook"]
            assert "302" in hook["problem"] and hook["next"] > time.time(), hook
            service.end(signal.SIGKILL)
        with Service(BUILD, home, *options) as service:
            wait_for(lambda: len(server.calls) == 3, "it is not tried after the crash")
            wait_for(lambda: look(service, job)["webhook"]["calls"] == 3, "it is not noted")
            assert set(look(service, job)["webhook"]) == {"url", "calls"}
        bodies = [json.loads(call[3])["id"] for call in server.calls]
        waits = [after[0] - before[0] for before, after in zip(server.calls, server.calls[1:])]
        assert bodies == [job] * 3 and waits[0] >= 1 and waits[1] >= 3, waits
        for call in server.calls:
            checked_call(call)


def test_a_call_that_cannot_be_noted_is_not_made_again():
    with folder() as home, receiver() as (server, host):
        with Service(BUILD, home, *webhook_options(home, host)) as service:
            with catalogue_of(home) as database:
                server.on_call = lambda: database.execute("BEGIN IMMEDIATE")
                job = accepted(send_with_webhook(service, f"http://{host}/hook?x=1"))
                wait_for(lambda: "webhooks cannot be called" in service.said(), "nobody is told")
                server.on_call = None
                time.sleep(2)
                database.execute("ROLLBACK")
                wait_for(lambda: look(service, job)["webhook"]["calls"] == 1, "it is not noted")
            wait_for(lambda: "webhooks are called again" in service.said(), "nobody is told")
            assert service.said().count("webhooks cannot be called") == 1, service.said()
            assert len(server.calls) == 1, len(server.calls)


def test_whom_nobody_allowed_is_not_called():
    with folder() as home, receiver() as (server, host):
        port = host.split(":")[1]
        options = webhook_options(home, f"localhost:{port}", "hooks.example")
        with Service(BUILD, home, *options) as service:
            for url in (
                f"http://{host}/",
                f"http://localhost.:{port}/",
                f"http://localhost:{port}@hooks.example/",
                f"http://hooks.example:{port}/",
                f"http://hooks.example#@localhost:{port}/",
                "http://169.254.169.254/latest",
                "http://[::1]/",
                "http://0x7f.1/",
                "file:///etc/passwd",
                "gopher://hooks.example/",
                "hooks.example",
                "",
            ):
                assert send_with_webhook(service, url)[0] in (400, 403), url
            assert not service.get("/v1/jobs")[2]["jobs"]
            # the name is allowed, and what it resolves to is private
            job = accepted(send_with_webhook(service, f"http://localhost:{port}/"))
            wait_for(lambda: look(service, job)["webhook"]["calls"], "it is not tried")
            assert "private" in look(service, job)["webhook"]["problem"]
        with Service(BUILD, home) as service:
            assert send_with_webhook(service, f"http://{host}/")[0] == 403
        assert not server.calls


def events_of(service, job):
    """What curl gets until the stream ends: the names of events, and their jobs."""
    url = f"{service.address}/v1/jobs/{job}/events"
    header = "Accept: text/event-stream"
    with subprocess.Popen(["curl", "-sN", "-H", header, url], stdout=subprocess.PIPE) as curl:
        name = None
        for line in curl.stdout:
            field, _, value = line.decode().rstrip("\n").partition(": ")
            if field == "event":
                name = value
            if field == "data":
                yield name, json.loads(value)


def test_progress_is_told_as_it_happens():
    with folder() as home, Service(BUILD, home, *SLOW) as service:
        job, count = slow_job(service, home)
        told = list(events_of(service, job))
        assert told[-1][0] == "done" and told[-1][1]["decided"] == count, told[-1]
        decided = [one["decided"] for _, one in told]
        assert len(told) > 2 and decided == sorted(decided), decided
        assert all(name == one["state"] and one["id"] == job for name, one in told)
        assert [name for name, _ in events_of(service, job)] == ["done"]
        assert service.get("/v1/jobs/99/events")[0] == 404
        assert service.get(f"/v1/jobs/{job}/event")[0] == 404
        job, _ = slow_job(service, home)
        several = [events_of(service, job) for _ in range(8)]
        seen = [[next(one)] for one in several]
        service.ask("DELETE", f"/v1/jobs/{job}")
        state = look(service, job)["state"]
        for first, rest in zip(seen, several):
            assert [*first, *rest][-1][0] == state


def test_the_stream_of_a_damaged_job_ends():
    with folder() as home, Service(BUILD, home) as works, Service(BUILD, home) as service:
        works.process.send_signal(signal.SIGSTOP)  # so that the job waits
        job = accepted(service.post("/v1/jobs", {"text": text(1)}))
        events = events_of(service, job)
        assert next(events)[0] == "waiting"
        with catalogue_of(home) as database:
            database.execute("UPDATE job SET inputs = inputs + 1")
        timer = threading.Timer(STARTS_WITHIN, service.process.kill)
        timer.start()
        assert not list(events)
        timer.cancel()
        assert service.process.poll() is None, "the stream goes on"
        assert "damaged" in problem(service.get(f"/v1/jobs/{job}/events"), 422)


def test_streams_end_with_the_service():
    with folder() as home, Service(BUILD, home, *SLOW) as service:
        job, _ = slow_job(service, home)
        several = [events_of(service, job) for _ in range(5)]
        for one in several:
            next(one)
        assert service.end() == 0, service.said()
        for one in several:
            list(one)


def test_jobs_are_counted():
    with folder() as home, Service(BUILD, home, *SLOW) as service:
        assert service.get("/v1/stats")[2]["jobs"] == {"waiting": 0, "running": 0, "failed": 0}
        job, _ = slow_job(service, home)
        wait_for(lambda: look(service, job)["state"] == "running", "it does not run")
        assert service.get("/v1/stats")[2]["jobs"]["running"] == 1
        assert b'\ndoppel_jobs{state="running"} 1\n' in service.get("/metrics")[2]
        service.ask("DELETE", f"/v1/jobs/{job}")
        assert b'\ndoppel_jobs{state="running"} 0\n' in service.get("/metrics")[2]


def items_of(service):
    listed, cursor = [], 0
    while cursor is not None:
        page = service.get(f"/v1/items?limit=1000&cursor={cursor}")[2]
        listed += page["items"]
        cursor = page.get("next")
    return listed


def test_killed_again_and_again_it_is_done_once():
    texts = [{"text": text(n)} for n in range(1000)]
    with folder() as home:
        jobs = []
        for kill in range(5):
            with Service(BUILD, home, *SLOW) as service:
                if not jobs:
                    jobs.append(slow_job(service, home)[0])
                jobs.append(accepted(service.post("/v1/jobs", texts[kill::5])))
                before = look(service, jobs[0])["decided"]
                wait_for(
                    lambda: "ended" in look(service, jobs[0])
                    or look(service, jobs[0])["decided"] > before,
                    "it does not go on",
                )
                service.end(signal.SIGKILL)
        with Service(BUILD, home) as service:
            results = [ended(service, job) for job in jobs]
            for done in results:
                assert done["state"] == "done" and done["unreadable"] == 0, numbers(done)
                assert done["inputs"] == done["decided"], numbers(done)
            items = [item["id"] for item in items_of(service)]
            told = {one["item"] for done in results for one in done["results"]}
            assert len(items) == len(set(items)) and set(items) == told, (len(items), len(told))
            made = [one["item"] for done in results[1:] for one in done["results"]]
            assert len(set(made)) == len(texts), len(set(made))
            decisions = {one["decision"] for done in results[1:] for one in done["results"]}
            assert decisions == {"new"}, decisions
        assert not uploads(home), uploads(home)
        subprocess.run([BUILD / "doppel", "verify", "-L", f"{home}/library"], check=True)


def test_at_the_end_of_the_service_it_stops_and_goes_on():
    with folder() as home:
        with Service(BUILD, home, *SLOW) as service:
            job, count = slow_job(service, home)
            wait_for(lambda: look(service, job)["decided"], "nothing is decided")
            assert service.end() == 0, service.said()
            assert uploads(home)
        with Service(BUILD, home) as service:
            done = ended(service, job)
            assert done["state"] == "done" and done["decided"] == count, numbers(done)
            assert done["unreadable"] == 0, numbers(done)
        assert not uploads(home)


def test_what_keeps_jobs_from_going_on_is_told_once():
    with folder() as home, Service(BUILD, home, *SLOW) as service:
        job, count = slow_job(service, home)
        with catalogue_of(home) as database:
            database.execute("BEGIN IMMEDIATE")
            wait_for(lambda: "jobs cannot go on" in service.said(), "nobody is told")
            time.sleep(7)  # the writer is waited for 5 seconds, and a second later again
            database.execute("ROLLBACK")
        assert ended(service, job)["decided"] == count
        wait_for(lambda: "jobs go on" in service.said(), "nobody is told that they go on")
        assert service.said().count("jobs cannot go on") == 1, service.said()
        assert service.said().count("jobs go on") == 1, service.said()


def test_what_was_never_accepted_leaves_nothing():
    with folder() as home:
        with Service(BUILD, home) as service:
            service.end(signal.SIGKILL)
        for name in ("new-17", "9"):
            left = pathlib.Path(home, "library/jobs", name)
            left.mkdir()
            (left / "0").write_bytes(b"x")
        with Service(BUILD, home) as service:
            assert not uploads(home), uploads(home)


def test_what_another_service_is_about_to_accept_stays():
    with folder() as home, Service(BUILD, home) as one, Service(BUILD, home) as other:
        other.process.send_signal(signal.SIGSTOP)  # so that the next one works on the jobs
        assert one.end() == 0
        for name in ("new-17", "9"):
            draft = pathlib.Path(home, "library/jobs", name)
            draft.mkdir()
            (draft / "0").write_bytes(b"x")
        before = uploads(home)
        with Service(BUILD, home):
            assert uploads(home) == before, uploads(home)
        other.process.send_signal(signal.SIGCONT)


def test_the_draft_of_another_container_is_not_touched():
    with folder() as home, Service(BUILD, home) as service:
        draft = pathlib.Path(home, f"library/jobs/new-{service.process.pid << 32}")
        draft.mkdir()
        (draft / "0").write_bytes(b"x")
        job = accepted(service.send("/v1/jobs", ("one.txt", text(1).encode())))
        assert ended(service, job)["results"][0]["decision"] == "new"
        wait_for(lambda: len(uploads(home)) == 2, "its uploads are left")


def test_uploads_of_a_job_that_cannot_be_read_stay():
    with folder() as home:
        with Service(BUILD, home, *SLOW) as service:
            slow_job(service, home)
            service.end(signal.SIGKILL)
        before = uploads(home)
        with catalogue_of(home) as database:
            database.execute("UPDATE job SET inputs = inputs + 1")
        with Service(BUILD, home) as service:
            assert before and uploads(home) == before, (len(before), len(uploads(home)))


def test_two_services_of_a_library_do_a_job_once():
    with folder() as home:
        with Service(BUILD, home) as one, Service(BUILD, home) as other:
            jobs = [accepted(other.post("/v1/jobs", {"text": text(n)})) for n in range(20)]
            for job in jobs:
                assert ended(other, job)["results"][0]["decision"] == "new"
            assert one.end() == 0
            job = accepted(other.post("/v1/jobs", {"text": text(99)}))
            assert ended(other, job)["results"][0]["decision"] == "new"


def large_picture(side):
    """A PNG that takes long to decode, and more bytes than it needs."""

    def chunk(name, data):
        check = zlib.crc32(name + data).to_bytes(4, "big")
        return len(data).to_bytes(4, "big") + name + data + check

    size = 2 * side.to_bytes(4, "big")
    rows = zlib.compress((b"\0" + bytes(range(256)) * (side // 256)) * side, 1)
    whole = chunk(b"IHDR", size + b"\x08\0\0\0\0") + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return (b"\x89PNG\r\n\x1a\n" + whole).ljust(900000, b"x")


def test_what_waits_is_limited():
    with folder() as home, Service(BUILD, home, *SLOW, "--max-body", "1M") as service:
        slow, picture = [], large_picture(8192)
        for _ in range(40):
            answer = service.send("/v1/jobs", ("large.png", picture))
            if answer[0] == 507:
                break
            slow.append(accepted(answer))
        assert "wait for jobs" in problem(answer, 507)
        for job in slow:
            ended(service, job)
        accepted(service.send("/v1/jobs", ("large.png", picture)))


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
