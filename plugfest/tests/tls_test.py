#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""An event whose participants connect over TLS: tls_test.py RNIC_PLUGFEST RNIC_AGENT."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "suite" / "iut" / "tests"))
from certificates import Certificates, free_port  # noqa: E402

PROGRAM, AGENT = sys.argv[1:3]
EVENT = """event: over-tls
tls: {certificate: organiser.pem, key: organiser.key, ca: ca.pem}
scenarios: [send.plain, write.sizes]
expectations:
  - {cells: "*", verdict: inconclusive, observed: "*names no interface to capture on", reason: nothing is captured here}
participants:
"""


class OverTls(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        known = Certificates(self.folder)
        known.sign("organiser")
        event = EVENT
        for name in ("acme", "other"):
            port = free_port()
            known.sign(f"{name}.dut")
            event += f"  - {{name: {name}, address: 127.0.0.1, agent: {{tls: {{name: {name}.dut, listen: '{port}'}}}}}}\n"
            self.start(port, known.options(f"{name}.dut", "organiser"))
        (self.folder / "event.yaml").write_text(event, encoding="utf-8")

    def start(self, port, options):
        process = subprocess.Popen([AGENT, "--driver", "reference", "--address", "127.0.0.1", "--connect", f"localhost:{port}", *options],
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.kill)

    def test_every_cell_is_played(self):
        ran = subprocess.run([PROGRAM, "run", self.folder / "event.yaml", "--out", self.folder / "out"], capture_output=True, text=True,
                             timeout=240, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        cells = json.loads((self.folder / "out" / "results.json").read_text(encoding="utf-8"))["cells"]
        self.assertEqual(len(cells), 4)
        self.assertEqual({cell["verdict"] for cell in cells}, {"inconclusive"})

    def test_the_agents_are_examined_before(self):
        ran = subprocess.run([PROGRAM, "preflight", self.folder / "event.yaml"], capture_output=True, text=True, timeout=240, check=False)
        self.assertIn("ok    agent", ran.stdout, ran.stderr)
        self.assertNotIn("FAIL  agent", ran.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
