#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Events whose participants connect over TLS, by certificates and by tokens: tls_test.py RNIC_PLUGFEST RNIC_AGENT."""
import json
import pathlib
import re
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
"""


def joined(out):
    """The cells that count, by their id."""
    cells = json.loads((out / "results.json").read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: cell for cell in cells if cell["gate"]["result"] != "superseded"}


class OverTls(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        known = Certificates(self.folder)
        known.sign("organiser")
        event = EVENT + "participants:\n"
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


class ByToken(unittest.TestCase):
    """Nobody is in the event file: everyone joins."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "event.yaml").write_text(EVENT + "join: joined\n", encoding="utf-8")

    def token(self, name, *more, status=0):
        ran = subprocess.run([PROGRAM, "token", "event.yaml", name, *more], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(ran.returncode, status, ran.stderr)
        return ran.stdout if status == 0 else ran.stderr

    def new(self, name, *more):
        self.token(name, "--listen", f"127.0.0.1:{free_port()}", "--address", "127.0.0.1", *more)
        return self.folder / f"{name}.token"

    def start(self, token):
        process = subprocess.Popen([AGENT, "--driver", "reference", "--join", token], stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.kill)

    def run_event(self):
        return subprocess.Popen([PROGRAM, "run", "event.yaml", "--out", "out", "--jobs", "1"], cwd=self.folder, text=True, stderr=subprocess.PIPE,
                                stdout=subprocess.DEVNULL)

    def test_two_play_and_a_third_joins_while_they_do(self):
        for name in ("acme", "other"):
            self.start(self.new(name, "--vendor", f"Vendor of {name}"))
        with self.run_event() as program:
            for line in program.stderr:
                if "[1/" in line:
                    break
            self.start(self.new("late"))
            said = program.stderr.read()
        self.assertEqual(program.returncode, 0, said)
        self.assertIn("1 participants have joined", said)
        cells = joined(self.folder / "out")
        self.assertEqual(len(cells), 12, said)
        self.assertEqual({cell["verdict"] for cell in cells.values()}, {"inconclusive"})
        # The rest of the first two was played with the cells of the third.
        self.assertRegex(said, r"11 of them to play|10 of them to play")
        event = json.loads((self.folder / "out" / "results.json").read_text(encoding="utf-8"))["event"]
        self.assertEqual({(one["name"], one["vendor"], one["agent"]) for one in event["participants"]},
                         {("acme", "Vendor of acme", "tls"), ("other", "Vendor of other", "tls"), ("late", "", "tls")})

    def test_a_token_is_for_its_holder_alone(self):
        token = self.new("acme")
        for path in (token, self.folder / "ca.key", self.folder / "organiser.key"):
            self.assertEqual(path.stat().st_mode & 0o777, 0o600, path)
        shown = subprocess.run(["openssl", "x509", "-in", token, "-noout", "-ext", "subjectAltName,basicConstraints"], capture_output=True, text=True,
                               check=True).stdout
        self.assertIn("DNS:acme", shown)
        self.assertIn("CA:FALSE", shown)
        subprocess.run(["openssl", "verify", "-x509_strict", "-CAfile", self.folder / "ca.pem", token], check=True, capture_output=True)
        token.chmod(0o640)
        ran = subprocess.run([AGENT, "--driver", "reference", "--join", token], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((ran.returncode, ran.stderr.count("\n")), (3, 1), ran.stderr)
        self.assertIn("is open to others: chmod 600", ran.stderr)

    def test_a_token_that_is_lost_is_made_anew(self):
        first = self.new("acme").read_text(encoding="utf-8")
        entry = (self.folder / "joined" / "acme.yaml").read_text(encoding="utf-8")
        self.assertIn("File exists", self.token("acme", status=2))
        self.assertIn("rnic-agent --driver verbs --device DEVICE --join again.token", self.token("acme", "--to", "again.token"))
        again = (self.folder / "again.token").read_text(encoding="utf-8")
        self.assertEqual(again.split("-----BEGIN")[0], first.split("-----BEGIN")[0])
        self.assertNotEqual(again, first)
        self.assertEqual((self.folder / "joined" / "acme.yaml").read_text(encoding="utf-8"), entry)

    def test_what_cannot_be_is_told_in_one_line_and_leaves_nothing(self):
        self.new("acme", "--alias", "one")
        there = sorted(self.folder.rglob("*"))
        place = ["--listen", "127.0.0.1", "--address", "127.0.0.1"]
        for words, text in ((["other"], "--listen is missing"),
                            (["other", *place[:2]], "--address is missing"),
                            (["other", "--listen", "nowhere", *place[2:]], "is no address of this host"),
                            (["a/b", *place], "name must be made of"),
                            (["a_b", *place], "cannot be the name of a certificate"),
                            (["ACME", *place], "differ only in case"),
                            (["other", "--alias", "one", *place], "the alias \"one\" stands for"),
                            (["acme", *place], "acme is a participant already")):
            with self.subTest(text):
                said = self.token(*words, status=2)
                self.assertEqual(said.count("\n"), 1, said)
                self.assertIn(text, said)
        self.assertEqual(sorted(self.folder.rglob("*")), there)
        (self.folder / "ca.key").unlink()
        self.assertIn("ca.key: not there, but", self.token("other", *place, status=2))

    def test_tokens_that_are_none(self):
        good = self.new("acme").read_text(encoding="utf-8")
        for text, word in (("", "this is no token"), (good.replace("rnic-token: 1", "rnic-token: 2"), "this is no token"),
                           (good.split("-----BEGIN")[0], "it was cut off"), (good.replace("peer: organiser\n", ""), "no line 'peer: ...'"),
                           (good.replace("connect: 127", "connect: :127"), "is not HOST:PORT"),
                           (good.replace("event: ", "surprise: "), "a line that is not understood: 'surprise: "),
                           (re.sub("-----BEGIN PRIVATE.*END PRIVATE KEY-----\n", "", good, flags=re.DOTALL), "is not the key of")):
            with self.subTest(word):
                bad = self.folder / "bad.token"
                bad.touch(mode=0o600)
                bad.write_text(text, encoding="utf-8")
                ran = subprocess.run([AGENT, "--driver", "reference", "--join", bad], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
                self.assertIn(word, ran.stderr)
                self.assertIn("--join: ", ran.stderr)
                self.assertIn("bad.token", ran.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
