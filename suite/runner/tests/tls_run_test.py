#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Runs whose agents connect over TLS: one that is played, a DUT that dies in the midst of it and comes back, and what is wrong at once:
tls_run_test.py RNIC_SUITE RNIC_AGENT."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "iut" / "tests"))
from certificates import Certificates, free_port  # noqa: E402

SUITE, AGENT = sys.argv[1:3]


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.known = Certificates(cls.folder)
        cls.known.sign("tester")
        cls.known.sign("dut")

    def setUp(self):
        self.port = free_port()
        self.out = self.folder / self.id()

    def dut(self):
        process = subprocess.Popen([AGENT, "--driver", "reference", "--address", "127.0.0.1", "--connect", f"127.0.0.1:{self.port}",
                                    *self.known.options("dut", "tester")], stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.kill)
        return process

    def words(self, iut, select, own="tester"):
        _, _, *files = self.known.options(own, "dut")
        return [SUITE, "run", "--iut", iut, "--host", f"tls:dut@{self.port}", *files, "--address", "127.0.0.1", "--select", select,
                "--out", self.out]

    def assert_passed(self, program, said):
        self.assertEqual(program.wait(300), 0, said)
        results = json.loads((self.out / "results.json").read_text(encoding="utf-8"))
        self.assertTrue(results["run"]["complete"])
        self.assertLessEqual({case["verdict"] for case in results["cases"]}, {"pass", "not_applicable"})

    def test_a_dut_that_dies_and_comes_back(self):
        dut = self.dut()
        # Those of ddp.llp need a link with smaller buffers than loopback has.
        with subprocess.Popen(self.words("agent", "ddp.[!l]*"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
            self.await_line(program, "pass           ddp.")
            dut.kill()
            self.await_line(program, "the IUT has not answered since ")
            self.dut()
            _, said = program.communicate(timeout=300)
            self.assert_passed(program, said)
        self.assertIn("the IUT answers again", said)

    def await_line(self, program, words):
        for line in program.stderr:
            if words in line:
                return
        self.fail(f"it ended without {words!r}")

    def assert_refused(self, words, text):
        ran = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        self.assertIn(text, ran.stderr)

    def test_an_agent_with_another_driver(self):
        self.dut()
        self.assert_refused(self.words("verbs:siw0", "mpa.crc.*"), "has the driver 'reference': start it with --driver verbs --device siw0")

    def test_a_certificate_that_is_not_there(self):
        self.assert_refused(self.words("agent", "mpa.crc.*", own="absent"), "absent.pem: No such file")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
