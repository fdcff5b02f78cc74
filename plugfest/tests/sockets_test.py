#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Participants that start MPA over TCP sockets of their own (iWARP extension of DAT 3.1.1, 3.1.4), in both roles, and what is noticed if such a
start goes wrong: sockets_test.py RNIC_PLUGFEST RNIC_AGENT PROVIDER SHIM."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, AGENT, PROVIDER, SHIM = sys.argv[1:5]
EVENT = """
event: sockets
participants:
  - {name: reference, agent: {reference: }}
  - {name: sockets, agent: {reference: }, driver: dat_sockets}
  - {name: provider, agent: {reference: }, driver: dat}
scenarios: [startup.revision_2, startup.private_data, startup.reject, send.plain, read.sizes, "close.*"]
pairs: [[reference, sockets], [provider, sockets]]
"""
FAULTY = """
event: faulty
deadline: 6
patience: 2
capture: lo
participants:
  - {name: reference, address: 127.0.0.1, agent: {reference: }}
  - {name: faulty, address: 127.0.0.1, agent: {argv: [env, DAT_OVERRIDE=%s, LD_PRELOAD=%s, "RNIC_DAT_FAULT=call=%s,kind=swallow", %s, --driver, dat, --ia, rnic0, --sockets]}}
scenarios: [send.plain]
"""


class Sockets(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def verdicts(self, event, *options):
        file = self.folder / "event.yaml"
        file.write_text(event, encoding="utf-8")
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        done = subprocess.run([PROGRAM, "run", file, "--out", out, *options], capture_output=True, text=True, timeout=200, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        whole = json.loads((out / "results.json").read_text(encoding="utf-8"))
        return {cell["id"]: (cell["verdict"], cell.get("reason")) for cell in whole["cells"]}

    def test_both_roles_pass(self):
        cells = self.verdicts(EVENT)
        self.assertGreaterEqual(len(cells), 4 * 6)
        for cell, (verdict, reason) in cells.items():
            self.assertEqual(verdict, "pass", f"{cell}: {reason}")

    def test_a_start_that_does_not_happen_fails(self):
        conf = self.folder / "dat.conf"
        conf.write_text("".join(f'rnic0 u2.0 {safety} default {PROVIDER} rnic.1.0 "127.0.0.1" ""\n'
                                for safety in ("nonthreadsafe", "threadsafe")), encoding="utf-8")
        for call, cell in (("dat_iw_socket_connect", "faulty/*"), ("dat_iw_ssp_create", "reference/*")):
            with self.subTest(call):
                cells = self.verdicts(FAULTY % (conf, SHIM, call, AGENT), "--trust-event", "--select", cell)
                self.assertEqual([verdict for verdict, _ in cells.values()], ["fail"], cells)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
