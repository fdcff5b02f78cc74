#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A kernel's soft-iWARP takes part, dies in the midst of it, and the rest of the event is played: siw_test.py RNIC_PLUGFEST."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

PROGRAM = sys.argv[1]
EVENT = """
event: small
deadline: 60
patience: 15
participants:
  - {name: ours, agent: {reference: }}
  - {name: theirs, agent: {siw-vm: {kernel: "6.1"%s}}}
scenarios: [%s]
repeats: %d
"""


def descendants(pid):
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return []
    return [int(child) for child in children] + [below for child in children for below in descendants(int(child))]


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

    def run_event(self, *values, kill_after=None):
        """The cells by id; kills the guest's emulator when that line of progress comes."""
        event, out = self.folder / "event.yaml", self.folder / "out"
        event.write_text(EVENT % values, encoding="utf-8")
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
        cells = self.run_event("", "startup.revision_2, close.graceful_by_responder, startup.markers", 1)
        self.assertEqual(len(cells), 6, self.said)
        for pair in ("ours/theirs", "theirs/ours"):
            for scenario in ("startup.revision_2", "close.graceful_by_responder"):
                self.assertIn(cells[f"{pair}/{scenario}#1"]["verdict"], ("pass", "advisory"), self.said)
            markers = cells[f"{pair}/startup.markers#1"]
            self.assertEqual(markers["verdict"], "not_applicable")
        self.assertGreater((self.folder / "out" / "pcap").stat().st_nlink, 1)

    def test_a_kernel_that_stops_is_a_red_cell_with_its_log(self):
        """Its own checks of memory find what siw does with a connection that was rejected."""
        cells = self.run_event(", checks: true", "startup.reject, close.graceful_by_initiator", 2)
        self.assertEqual(len(cells), 8, self.said)
        dead = [cell for cell in cells.values() if cell["scenario"] == "startup.reject" and "kernel" in cell["reason"]]
        self.assertTrue(dead, self.said)
        for cell in dead:
            self.assertEqual(cell["verdict"], "fail")
            self.assertEqual(cell["fault"], "initiator" if cell["initiator"] == "theirs" else "responder")
            self.assertTrue(any(said["text"].startswith("kernel log:\n") for said in cell["said"]))
        for cell in cells.values():  # the guest is there again
            if cell["scenario"] != "startup.reject":
                self.assertIn(cell["verdict"], ("pass", "advisory"), cell["reason"])
        self.assertIn("Linux version", (self.folder / "out" / "theirs.kernel.log").read_text(encoding="utf-8", errors="replace"))

    def test_a_guest_that_is_gone_is_booted_again(self):
        cells = self.run_event("", "close.graceful_by_initiator", 4, kill_after="[2/8]")
        verdicts = [cell["verdict"] for cell in cells.values()]
        self.assertEqual(len(verdicts), 8, self.said)
        self.assertLessEqual(verdicts.count("fail"), 1, self.said)
        self.assertGreaterEqual(sum(verdict in ("pass", "advisory") for verdict in verdicts), 7, self.said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
