#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A day of an event, on the page that is served: a kill, a host that dies and comes back, a participant that comes late, a re-test after a fix; no
verdict is lost. event_day_test.py RNIC_PLUGFEST RNIC_AGENT [HOSTS]: so many participants, the one that comes late among them."""

import collections
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

PROGRAM, AGENT = sys.argv[1:3]
HOSTS, SCENARIOS = int(sys.argv[3]) - 1 if len(sys.argv) > 3 else 4, 3
PATIENCE = 60 + HOSTS * HOSTS * SCENARIOS * 2  # seconds, for a whole run on a busy machine
EVENT = """event: day
patience: 1
deadline: 20
join: joined
scenarios: [send.plain, write.sizes, read.sizes]
expectations:
  - {{cells: "*", verdict: inconclusive, observed: "*names no interface to capture on", reason: nothing is captured here}}
participants:
{}"""
# An agent whose host is down while a file is there.
AGENT_OF = """#!/bin/sh
if [ -e "$0.down" ]; then echo tried >>"$0.tried"; exit 1; fi
exec {} --driver reference --address 127.0.0.1
"""


def document(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))


def last_of(folder):
    return {cell["id"]: cell for cell in document(folder)["cells"] if cell["gate"]["result"] != "superseded"}


class Day(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "joined").mkdir()
        self.out = self.folder / "out"
        lines = "".join(f"  - {self.participant(f'host{number}')}\n" for number in range(1, HOSTS + 1))
        (self.folder / "event.yaml").write_text(EVENT.format(lines))

    def participant(self, name):
        agent = self.folder / f"{name}.sh"
        agent.write_text(AGENT_OF.format(AGENT))
        agent.chmod(0o755)
        return json.dumps({"name": name, "vendor": f"Vendor of {name}", "address": "127.0.0.1", "agent": {"argv": [str(agent)]}})

    def start(self, *more):
        return subprocess.Popen([PROGRAM, "run", self.folder / "event.yaml", "--out", self.out, "--trust-event", "--jobs", "2", *more], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self, *more):
        with self.start(*more) as program:
            told, said = program.communicate(timeout=PATIENCE)
        return program.returncode, told, said

    def await_line(self, program, words):
        for line in program.stderr:
            if words in line:
                return
        self.fail(f"it ended without {words!r}")

    def test_the_day(self):
        with self.start() as first:  # killed in the midst of it
            self.await_line(first, "[3/")
            first.send_signal(signal.SIGKILL)
        kept = {json.loads(line)["case"]["id"] for line in (self.out / "results.ndjson").read_text().splitlines()[1:] if line.endswith("}")}
        self.assertGreaterEqual(len(kept), 3)
        with subprocess.Popen([PROGRAM, "serve", self.out, "--listen", "127.0.0.1:0"], text=True, stdout=subprocess.PIPE) as server:
            try:
                address = server.stdout.readline().strip()
                self.continue_while_a_host_is_down(address)
                self.let_one_join(address)
                self.play_again_after_a_fix(address)
            finally:
                server.terminate()
        last = last_of(self.out)
        self.assertEqual(len(last), (HOSTS + 1) * HOSTS * SCENARIOS)
        self.assertLessEqual(kept, set(last))

    def counts(self, address):
        with urllib.request.urlopen(address + "state.json", timeout=30) as answer:
            return json.load(answer)

    def continue_while_a_host_is_down(self, address):
        down, tried = self.folder / "host2.sh.down", self.folder / "host2.sh.tried"
        with self.start() as program:
            self.await_line(program, "host2/")  # it has answered
            down.touch()
            self.await_line(program, "host2 is set aside")
            seen = self.counts(address)
            self.assertEqual((seen["aside"], seen["over"]), (["host2"], False))
            down.unlink()
            _, said = program.communicate(timeout=PATIENCE)
        self.assertEqual(program.returncode, 0, said)
        self.assertIn("host2 is tried again", said)
        self.assertTrue(tried.exists())
        last = last_of(self.out)
        self.assertEqual({cell["verdict"] for cell in last.values()} - {"inconclusive", "pass"}, set(), said)
        self.assertEqual(len(last), HOSTS * (HOSTS - 1) * SCENARIOS)
        lost = [cell for cell in document(self.out)["cells"] if cell.get("absent")]
        self.assertTrue(lost)  # what was tried in vain is kept
        deadline = time.monotonic() + 30
        while not (seen := self.counts(address))["over"]:
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual(sum(seen["counts"].values()), len(last))

    def let_one_join(self, address):
        """While two rows are played again, and another host is set aside: it comes back all the same."""
        before = document(self.out)["cells"]
        down = self.folder / "host3.sh.down"
        with self.start("--rerun", "host1/*", "--rerun", "host3/*") as program:
            self.await_line(program, "host3/")
            down.touch()
            self.await_line(program, "host3 is set aside")
            (self.folder / "joined" / "late.yaml").write_text(self.participant("late"))
            self.await_line(program, "1 participants have joined")
            self.await_line(program, "host3 is set aside")
            down.unlink()
            told, said = program.communicate(timeout=PATIENCE)
        self.assertEqual(program.returncode, 0, said)
        cells = document(self.out)["cells"]
        self.assertEqual([cell["id"] for cell in cells[:len(before)]], [cell["id"] for cell in before])
        self.assertEqual(len(last_of(self.out)), (HOSTS + 1) * HOSTS * SCENARIOS, told)
        # The rows were played once more, and not again when the other came.
        more = collections.Counter(cell["id"] for cell in cells[len(before):] if not cell.get("absent"))
        again = {cell["id"] for cell in before if cell["initiator"] in ("host1", "host3")}
        self.assertEqual(set(more.values()), {1})
        self.assertEqual({name for name in more if "late" not in name.split("/")}, again)
        with urllib.request.urlopen(address, timeout=30) as answer:
            self.assertIn("late", answer.read().decode())

    def play_again_after_a_fix(self, address):
        status, _, said = self.finish("--rerun", "host1/host2/*")
        self.assertEqual(status, 0, said)
        tries = [cell for cell in document(self.out)["cells"] if cell["id"] == "host1/host2/send.plain#1"]
        self.assertEqual([cell["attempt"] for cell in tries], list(range(1, len(tries) + 1)))
        self.assertGreaterEqual(len(tries), 2)
        self.assertTrue(all(cell["start"] for cell in tries if not cell.get("absent")))
        with urllib.request.urlopen(address + "pair?initiator=0&responder=1", timeout=30) as answer:
            self.assertIn("reference", answer.read().decode())
        page = (self.out / "report.html").read_text(encoding="utf-8")
        self.assertEqual(page.count(f"{HOSTS} of {HOSTS}</td>"), 0)  # without captures no cell is good
        self.assertEqual(page.count(f'<td class="n" data-label="cells">{2 * HOSTS * SCENARIOS}</td>'), HOSTS + 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
