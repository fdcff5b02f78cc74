#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A kernel's soft-iWARP takes part, crashes during the event, and the rest of the event is played: siw_test.py RNIC_PLUGFEST."""
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = sys.argv[1]
EVENT = """
event: small
deadline: 60
patience: 15
participants:
  - {name: ours, agent: {reference: }}
  - {name: theirs, driver: %s, agent: {siw-vm: {kernel: "6.1"}}}
scenarios: [%s]
repeats: %d
"""


def descendants(pid):
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return []
    return [int(child) for child in children] + [below for child in children for below in descendants(int(child))]


def words_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").split("\0")
    except OSError:
        return []


def emulator_of(pid):
    for each in descendants(pid):
        try:
            if pathlib.Path(f"/proc/{each}/comm").read_text(encoding="utf-8").startswith("qemu"):
                return each
        except OSError:
            pass
    return None


class Siw(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_event(self, *values, kill_after=None, driver="verbs"):
        """The cells by id; kills the guest's emulator when that line of progress comes."""
        event, out = self.folder / "event.yaml", self.folder / "out"
        event.write_text(EVENT % (driver, *values), encoding="utf-8")
        with subprocess.Popen([PROGRAM, "run", event, "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as done:
            watchdog = threading.Timer(500, done.kill)
            watchdog.start()
            self.said = ""
            for line in done.stderr:
                self.said += line
                if kill_after and line.startswith(kill_after):
                    os.kill(emulator_of(done.pid), signal.SIGKILL)
            watchdog.cancel()
        cells = json.loads((out / "results.json").read_text(encoding="utf-8"))["cells"]
        return {cell["id"]: cell for cell in cells}

    def test_both_roles(self):
        cells = self.run_event("startup.revision_2, close.graceful_by_responder, startup.markers", 1)
        self.assertEqual(len(cells), 6, self.said)
        for pair in ("ours/theirs", "theirs/ours"):
            for scenario in ("startup.revision_2", "close.graceful_by_responder"):
                self.assertEqual(cells[f"{pair}/{scenario}#1"]["verdict"], "pass", self.said)
            markers = cells[f"{pair}/startup.markers#1"]
            self.assertEqual(markers["verdict"], "not_applicable")
        self.assertGreater((self.folder / "out" / "pcap").stat().st_nlink, 1)

    def test_consumers_in_the_kernel_play_both_roles(self):
        # What siw passes: a Write or Read of a length that needs a pad has octets in it that are not 0.
        scenarios = ("startup.revision_2", "send.solicited", "send.invalidate", "close.graceful_by_responder")
        for driver in ("kverbs", "kdat"):
            with self.subTest(driver):
                cells = self.run_event(", ".join(scenarios), 1, driver=driver)
                self.assertEqual(len(cells), 8, self.said)
                for pair in ("ours/theirs", "theirs/ours"):
                    for scenario in scenarios:
                        cell = cells[f"{pair}/{scenario}#1"]
                        self.assertEqual(cell["verdict"], "pass", cell["reason"])
                        self.assertIn(driver, [host["driver"] for host in cell["hosts"]])

    def test_a_kernel_that_stops_is_a_red_cell_with_its_log(self):
        """The first cell takes seconds; its guest's kernel panics in the midst of it."""
        panics = threading.Thread(target=self.panic_when_playing)
        panics.start()
        cells = self.run_event("many.connections, close.graceful_by_initiator", 1)
        panics.join()
        self.assertEqual(len(cells), 4, self.said)
        dead = [cell for cell in cells.values() if cell["verdict"] != "pass"]
        self.assertEqual([cell["scenario"] for cell in dead], ["many.connections"], self.said)
        for cell in dead:
            self.assertEqual(cell["verdict"], "fail", cell["reason"])
            self.assertEqual(cell["fault"], "initiator" if cell["initiator"] == "theirs" else "responder")
            log = [said["text"] for said in cell["said"] if said["text"].startswith("kernel log:\n")]
            self.assertEqual(len(log), 1)
            self.assertIn("panic", log[0])
        whole = (self.folder / "out" / "theirs.kernel.log").read_text(encoding="utf-8", errors="replace")
        self.assertEqual(whole.count("Linux version"), 2, "booted, and booted again")

    def panic_when_playing(self):
        """What makes the guest's kernel stop comes by the channel that the cell's agent does not use."""
        until = time.monotonic() + 400
        while time.monotonic() < until:
            for words in map(words_of, descendants(os.getpid())):
                if len(words) > 2 and words[0].endswith("rnic-guest-agent"):
                    other = str(pathlib.Path(words[1]).with_name("agent.1"))
                    subprocess.run([words[0], other, "/bin/sh", "-c", "echo c >/proc/sysrq-trigger"], check=False, timeout=60)
                    return
            select.select([], [], [], 0.05)  # a process tree has nothing that could be waited for

    def test_a_guest_that_is_gone_is_booted_again(self):
        cells = self.run_event("close.graceful_by_initiator", 4, kill_after="[2/8]")
        verdicts = [cell["verdict"] for cell in cells.values()]
        self.assertEqual(len(verdicts), 8, self.said)
        self.assertLessEqual(verdicts.count("fail"), 1, self.said)
        self.assertGreaterEqual(sum(verdict == "pass" for verdict in verdicts), 7, self.said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
