# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""SARIF and the annotations of a GitHub workflow: each failure once, in a form that peers' text cannot leave."""

import contextlib
import io
import json
import re

import render
from rnic_reports import github, sarif
from tests.support import CATALOGUE, SAMPLES, FolderTest, load, make_samples

LEVELS = {"none", "note", "warning", "error"}  # of SARIF 2.1.0 section 3.27.10
ANNOTATION = re.compile(r"^::(error|warning) (?:(?:title|file)=[^,:\r\n]*,?)+::[^\r\n]*$")


class Sarif(FolderTest):
    def of(self, report, location=""):
        document = json.loads(sarif.sarif(report, CATALOGUE, location))
        run, = document["runs"]
        rules = run["tool"]["driver"]["rules"]
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
            self.assertIn(result["level"], LEVELS)
            self.assertGreaterEqual(result["locations"][0]["physicalLocation"]["region"]["startLine"], 1)
        self.assertEqual((document["version"], len({rule["id"] for rule in rules})), ("2.1.0", len(rules)))
        return run

    def test_each_failure_is_a_result(self):
        run = self.of(load.load(SAMPLES / "mixed"))
        found = {result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]: result for result in run["results"]}
        self.assertEqual({name: (result["level"], "suppressions" in result) for name, result in found.items()}, {
            "mpa.crc.bad-crc-delivers-nothing": ("error", False), "mpa.markers.asked-for-and-sent": ("error", True),
            "ddp.tagged.write-beyond-bounds-is-terminated": ("error", False),
            "ddp.tagged.write-beyond-bounds-is-terminated@ipv6": ("error", False), "ddp.untagged.segments-in-order": ("note", False),
            "rdmap.write.cut-reached-the-wire": ("warning", False), "rdmap.read.zero-length-read-is-answered": ("error", False),
            "rdmap.read.hung-agent": ("error", False)})
        rule = next(rule for rule in run["tool"]["driver"]["rules"] if rule["id"] == "mpa.crc.mismatch-invalidates-fpdu")
        self.assertEqual((rule["helpUri"], rule["shortDescription"]["text"]),
                         ("https://www.rfc-editor.org/rfc/rfc5044#section-4.4", "RFC 5044 §4.4 MUST"))
        self.assertTrue(run["invocations"][0]["executionSuccessful"])

    def test_the_place_is_the_case_or_what_is_gated(self):
        report = self.loaded(make_samples.document([make_samples.case("mpa.a.b", "mpa/a.cpp:47", ["r"], "fail")]))
        for location, wanted in (("", ("suite/cases/mpa/a.cpp", 47)), ("drivers/x.c", ("drivers/x.c", 1))):
            place = self.of(report, location)["results"][0]["locations"][0]["physicalLocation"]
            self.assertEqual((place["artifactLocation"]["uri"], place["region"]["startLine"]), wanted)

    def test_a_fingerprint_outlives_durations(self):
        prints = [self.of(self.loaded(make_samples.document([make_samples.case("mpa.a.b", "mpa/a.cpp", ["r"], "fail", reason=words)])))
                  ["results"][0]["partialFingerprints"]["rnicCase/v1"] for words in ("nothing within 4999 ms", "nothing within 5001 ms", "a FIN")]
        self.assertEqual((prints[0] == prints[1], prints[0] == prints[2]), (True, False))

    def test_an_incomplete_run_says_so(self):
        self.assertFalse(self.of(load.load(SAMPLES / "torn"))["invocations"][0]["executionSuccessful"])


class Annotations(FolderTest):
    def of(self, sample, location=""):
        return list(github.annotations(load.load(SAMPLES / sample), CATALOGUE, location))

    def test_one_line_for_each_cause(self):
        lines = self.of("mixed", "drivers/x.c")
        self.assertEqual(len([line for line in lines if line.startswith("::error ")]), 5)
        self.assertIn("::error title=RNIC conformance%3A ddp.terminate.tagged-base-or-bounds,file=drivers/x.c::Terminate DDP tagged buffer error: "
                      "invalid STag (1/1/0x00), admissible: ", lines[0])
        self.assertIn("; 2 new failures, the first: ddp.tagged.write-beyond-bounds-is-terminated%0Arun again: ", lines[0])
        self.assertTrue(lines[-1].startswith("::warning title=RNIC conformance,file=drivers/x.c::stale known issues: "))

    def test_what_peers_wrote_cannot_leave_its_line(self):
        for line in self.of("hostile"):
            self.assertRegex(line, ANNOTATION)

    def test_many_causes_end_in_a_count(self):
        cases = [make_samples.case(f"a.b.{number}", "mpa/a.cpp", [f"r{number}"], "fail",
                                   expectations=[make_samples.judged(f"r{number}", ["x"], "y", "fail", 0.1)]) for number in range(14)]
        lines = list(github.annotations(self.loaded(make_samples.document(cases)), CATALOGUE))
        self.assertEqual((len(lines), lines[-1]), (github.LIMIT, "::error title=RNIC conformance::5 more causes of new failures are in the report"))

    def test_a_clean_run_is_silent_and_an_incomplete_one_is_not(self):
        self.assertEqual(self.of("clean"), [])
        self.assertIn("5 of 20 selected cases have a verdict", self.of("torn")[0])

    def test_the_program_writes_both(self):
        folder = self.copy_of("mixed")
        with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()):
            code = render.main([str(folder), "--sarif", str(folder / "a.sarif"), "--github", "--location", "x.c"])
        self.assertEqual((code, json.loads((folder / "a.sarif").read_text(encoding="utf-8"))["version"]), (0, "2.1.0"))
        self.assertEqual(len(said.getvalue().splitlines()), 6)
