# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Batches of mutants. With --build: a batch of two mutants is built and judged, one is caught and one is not."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))
import batch as batches  # noqa: E402
import judge_batch  # noqa: E402

TINY = HERE / "tiny"
PROGRAM = HERE.parent / "judge_batch.py"
WITH_BUILD = "--build" in sys.argv


def play(*words):
    return subprocess.run([sys.executable, PROGRAM, *words], capture_output=True, text=True, check=False)


def record_of(number, by=(), rules=(), doubtful=(), right=False):
    seen = {name: {"caught": name in by, "failed": [], "doubtful": list(doubtful)} for name in batches.FOUND_BY}
    return {"id": number, **seen, "blamed": {rule: "RFC 1 1" for rule in rules}, "right_section": right}


@unittest.skipIf(WITH_BUILD, "the others")
class Batches(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name) / "batch"
        shutil.copytree(TINY, self.folder)

    def replace(self, name, old, new):
        path = self.folder / name
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))

    def refused(self, *words):
        done = play(self.folder, "--out", self.folder / "out", *words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_mutants_are_put_into_the_iut_and_kept_out_of_the_testers_stream(self):
        files = batches.applied(batches.load(TINY), ROOT)
        self.assertEqual(set(files), {"base/mutant.hpp", "reference_rnic/stream/segmenter.cpp", "suite/lower_tester/stream_peer.cpp",
                                      "suite/lower_tester/stream_peer.hpp"})
        self.assertIn(b"base::mutant(2)", files["reference_rnic/stream/segmenter.cpp"])
        self.assertIn(b"base::OfTester<Stream> stream_;", files["suite/lower_tester/stream_peer.hpp"])

    def test_what_cannot_be_used_is_refused_in_one_line(self):
        self.assertIn("no mutant 7", self.refused("--only", "7"))
        self.replace("mutants.patch", "  message_ = std::move(message);", "  message_ = message;")
        self.assertIn("does not apply to this tree: reference_rnic/stream/segmenter.cpp", self.refused())
        self.replace("batch.yaml", "id: 2", "id: 1")
        self.assertIn("there are two of this number", self.refused())
        self.replace("batch.yaml", "shows: wire", "shows: air")
        self.assertIn("mutant 1: `shows` is one of", self.refused())
        (self.folder / "batch.yaml").unlink()
        self.assertIn("there is no batch.yaml", self.refused())

    def test_sections_match_if_one_contains_the_other(self):
        for blamed, rule, right in (((5040, "5.2.1"), "RFC 5040 5.2", True), ((5040, "5.2"), "RFC 5040 section 5.2.1, 7.1", True),
                                    ((5040, "7"), "RFC 5044 4.1, 7.1", False), ((5040, "5.20"), "RFC 5040 5.2", False),
                                    ((0, "dat_ep_free"), "DAT 2.0 dat_ep_free", True), ((0, "dat_ep_free"), "DAT 2.0 dat_ep_reset", False),
                                    ((5044, "2.0"), "RFC 5044 4.1; DAT 2.0 dat_ep_free", False)):
            self.assertEqual(batches.matches([blamed], rule), right, (blamed, rule))

    def test_interval(self):
        low, high = batches.wilson(44, 74)
        self.assertAlmostEqual(low, 0.481, 3)
        self.assertAlmostEqual(high, 0.699, 3)
        self.assertEqual(batches.wilson(0, 0), (0.0, 1.0))

    def test_a_reader_has_the_last_word(self):
        records = [record_of(1, by=["soak"], rules=["a"]), record_of(2, doubtful=["some.case"])]
        self.assertEqual(batches.counts(batches.load(TINY), records), {
            "mutants": 2, "break a rule": 1, "caught": 1, "caught by cases": 0, "caught by dat": 0, "caught by soak": 1,
            "shown without a failure": 0, "blamed on the right rule": 0, "caught, but break no rule": 0})
        (self.folder / "reading.yaml").write_text("1: {right: yes, why: the same fault}\n2: {breaks: yes, why: a peer sees it}\n")
        counts = batches.counts(batches.load(self.folder), records)
        self.assertEqual((counts["break a rule"], counts["blamed on the right rule"], counts["shown without a failure"]), (2, 1, 1))
        self.assertIn("none; not a pass: some.case", batches.table(batches.load(self.folder), records))

    def test_verdicts_of_one_process(self):
        printed = ("not_applicable a.b the link has none\nfail c.d no Terminate: silence\n  fail c.d mpa.x: silence\n  fail c.d mpa.y: silence\n"
                   "  also_seen e.f ddp.z: MSN 2\ninconclusive g.h no connection\n  advisory i.j mpa.s: late\n5 cases, 2 did not pass\n")
        seen = judge_batch.printed_verdicts(1, printed)
        self.assertEqual((seen["failed"], seen["doubtful"], seen["rules"]), (["c.d", "finding:ddp.z"], ["g.h"], {"ddp.z": 1, "mpa.x": 1, "mpa.y": 1}))
        self.assertFalse(judge_batch.printed_verdicts(0, "advisory a.b\n  advisory a.b c.d: x\n0 cases\n")["caught"])

    def test_findings_of_a_soak(self):
        printed = "seed 1\nfinding, 3 times, first by seed 4:\n  a.b (RFC 5040, 5.2)\n  c.d (RFC 5041, 1)\n  admissible: x\n  came: y\n"
        seen = judge_batch.findings(1, printed + printed.replace("seed 4", "seed 9"))
        self.assertEqual((seen["caught"], seen["rules"], seen["seeds"]), (True, {"a.b": 6, "c.d": 6}, [4, 9]))
        self.assertEqual(judge_batch.findings(3, "seed 1\n")["doubtful"], ["the soak: exit 3"])


@unittest.skipUnless(WITH_BUILD, "builds")
class Built(unittest.TestCase):
    def test_one_is_caught_and_the_run_goes_on_where_it_stopped(self):
        with tempfile.TemporaryDirectory() as scratch:
            out = pathlib.Path(scratch) / "out"
            command = (TINY, "--out", out, "--sessions", "100", "--work", ROOT / "build/mutants/batch")
            self.assertEqual(play(*command, "--only", "2").returncode, 0)
            first = (out / "mutants/2.json").read_text()
            done = play(*command)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("2 mutants, 1 to judge", done.stdout)
            record = json.loads((out / "record.json").read_text())
            self.assertEqual(record["mutants"][1], json.loads(first))
            caught, equivalent = record["mutants"]
            self.assertFalse(batches.is_caught(equivalent))
            self.assertTrue(caught["cases"]["caught"] and caught["soak"]["caught"] and caught["right_section"], caught)
            # The tester's own stream sends as it should, that of the IUT does not.
            for name, fails in (("sends_of_every_size_are_received", False), ("sends_of_every_size_are_sent_whole", True)):
                self.assertEqual(f"rdmap.transfer_integrity.{name}" in caught["cases"]["failed"], fails)


if __name__ == "__main__":
    sys.argv = [one for one in sys.argv if one != "--build"]
    unittest.main()
