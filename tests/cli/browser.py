"""Headless Chromium, driven through a pipe: keys are true keys, and the page's policy stays as
it is."""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE_SECONDS = 60

KEYS = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39, "Tab": 9}


def find():
    return (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )


class Browser:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="doppel-browser-"))
        self.downloads = self.folder / "downloads"
        self.downloads.mkdir()
        to_child, self.out = os.pipe()
        self.into, from_child = os.pipe()

        def place():
            # Beyond both, so that neither is overwritten before it is copied.
            high = [os.dup2(fd, 40 + i) for i, fd in enumerate((to_child, from_child))]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [
                find(),
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ]
            + ["--remote-debugging-pipe", f"--user-data-dir={self.folder}/profile", "about:blank"],
            preexec_fn=place,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        self.number, self.buffer, self.session, self.events = 0, b"", None, []
        self.complaints = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.resize(1400, 1000)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], max(0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            more = os.read(self.into, 1 << 20)
            assert more, "the browser has ended"
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data) :]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.note(answer)

    def note(self, event):
        self.events.append(event.get("method"))
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(event["params"]["exceptionDetails"])[:600])
        if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
            self.complaints.append(event["params"]["entry"]["text"])

    def open(self, path):
        self.go(pathlib.Path(path).absolute().as_uri())

    def go(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self.events:
            self.note(self.receive())
        # Before a frame was shown, clicks are lost.
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, expression):
        """The value of an expression in the page; a promise is waited for."""
        done = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def until(self, expression):
        deadline = time.monotonic() + 20
        while not (value := self.run(expression)):
            assert time.monotonic() < deadline, f"never true: {expression}"
            time.sleep(0.05)
        return value

    def keys(self, *names):
        for name in names:
            common = {"key": name, "windowsVirtualKeyCode": KEYS.get(name, ord(name[0].upper()))}
            text = "\r" if name == "Enter" else name if len(name) == 1 else ""
            self.call(
                "Input.dispatchKeyEvent",
                type="keyDown" if text else "rawKeyDown",
                text=text,
                **common,
            )
            self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def point(self, selector):
        """Moves the pointer onto an element, when two frames have shown it at one place, uncovered:
        before that, the browser may send a press to what lay there in the frame before.
        """
        node = f"document.querySelector({json.dumps(selector)})"
        place = f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({node}.getBoundingClientRect())"
        frame = "new Promise(done => requestAnimationFrame(done))"
        self.until(f"{node} !== null")
        box = self.until(f"""(async () => {{
            await {frame};
            const before = {place};
            await {frame};
            const after = {place}, there = document.elementFromPoint(...after);
            return before.join() === after.join() && there && {node}.contains(there) && after;
        }})()""")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
        return box

    def click(self, selector):
        x, y = self.point(selector)
        self.run(
            "document.addEventListener('click', () => { document.clicked = true; }, {capture: true, once: true})"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        # The browser answers before the page has acted where it is busy.
        self.until("document.clicked")
        self.run("delete document.clicked")

    def set(self, field, value):
        """Fill a field of the bar, as a person does."""
        self.run(
            f"(field => {{ field.value = {json.dumps(value)}; field.dispatchEvent(new Event('input', {{bubbles: true}})); }})(document.getElementById({json.dumps(field)}))"
        )

    def resize(self, width, height):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, scheme):
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def shot(self, path):
        pathlib.Path(path).write_bytes(
            base64.b64decode(self.call("Page.captureScreenshot")["data"])
        )

    def downloaded(self, name, act):
        """What is in the file that `act` makes the page save."""
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))
        path = self.downloads / name
        path.unlink(missing_ok=True)
        act()
        deadline = time.monotonic() + 20
        while not path.exists() or not path.stat().st_size:
            assert time.monotonic() < deadline, f"{name} was not saved"
            self.run("1")
            time.sleep(0.05)
        return path.read_text()
