# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A headless Chromium that a test drives through the DevTools protocol, over the pipe that it offers for that."""

import json
import os
import select
import shutil
import signal
import subprocess
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def program():
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Browser:
    """One page. Chromium reads commands from descriptor 3 and answers on 4, each message ended by a NUL."""

    def __init__(self, profile):
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        words = [program(), "--headless", "--remote-debugging-pipe", f"--user-data-dir={profile}", "--no-first-run", "--disable-gpu",
                 "--disable-dev-shm-usage", "--disable-background-networking", "--disable-extensions", "--window-size=1400,1000"]
        if os.geteuid() == 0:
            words.append("--no-sandbox")  # it refuses to run as root otherwise

        def place():  # high numbers first, so that neither is overwritten
            high = [os.dup2(commands, 101), os.dup2(answers, 102)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(words, preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(commands)
        os.close(answers)
        self._number, self._rest, self._session = 0, b"", None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def close(self):
        os.close(self._to)
        os.close(self._from)
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()

    def _message(self, deadline):
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self._from, 1 << 20) if ready else b""
            if not part:
                raise TimeoutError("no answer from the browser")
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._to, json.dumps(command).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            message = self._message(deadline)
            if message.get("id") == self._number:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]

    def value(self, expression):
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise AssertionError(f"{expression}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def wait_for(self, expression):
        """Until it is true; the page's own events drive it, so a few looks suffice."""
        self.value(f"new Promise((done) => {{ const look = () => ({expression}) ? done(true) : requestAnimationFrame(look); look(); }})")

    def open(self, url):
        self.call("Page.navigate", url="about:blank")
        self.wait_for("location.href === 'about:blank'")
        self.call("Page.navigate", url=url)
        self.wait_for("location.href !== 'about:blank' && document.readyState === 'complete'")

    def click(self, selector):
        """Where a hand would: in the middle of what the selector finds."""
        place = self.value(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
                           "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)
