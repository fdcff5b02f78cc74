# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""JUnit XML: of the form that continuous integration reads, with the right outcome for each case."""

import json
import re
import unittest
import xml.etree.ElementTree as tree

from rnic_reports.junit import junit
from tests.support import SAMPLES, FolderTest, load, make_samples

# The form that common readers agree on: attributes and children of each element.
ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors", "time"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "id", "package"},
    "properties": set(), "property": {"name", "value"}, "testcase": {"name", "classname", "time"},
    "failure": {"message", "type"}, "error": {"message", "type"}, "skipped": {"message"},
    "flakyFailure": {"message", "type"}, "flakyError": {"message", "type"}, "rerunFailure": {"message", "type"}, "rerunError": {"message", "type"},
    "stackTrace": set(),
}
RETRIES = {"flakyFailure", "flakyError", "rerunFailure", "rerunError"}
CHILDREN = {"testsuites": {"testsuite"}, "testsuite": {"properties", "testcase"}, "properties": {"property"},
            "testcase": {"failure", "error", "skipped", *RETRIES}, **{name: {"stackTrace"} for name in RETRIES}}


class JUnit(FolderTest):
    def of(self, sample):
        return self.checked(junit(load.load(SAMPLES / sample)))

    def checked(self, text):
        root = tree.fromstring(text)
        for element in root.iter():
            self.assertLessEqual(set(element.attrib), ATTRIBUTES[element.tag])
            self.assertLessEqual({child.tag for child in element}, CHILDREN.get(element.tag, set()))
        for suite in root:
            for attribute, child in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
                self.assertEqual(int(suite.get(attribute)), len(suite.findall(f"testcase/{child}")))
            self.assertEqual(int(suite.get("tests")), len(suite.findall("testcase")))
            self.assertRegex(suite.get("timestamp"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$")
        for attribute in ("tests", "failures", "errors"):
            self.assertEqual(int(root.get(attribute)), sum(int(suite.get(attribute)) for suite in root))
        return root

    def outcomes(self, root):
        return {case.get("name"): ([child.tag for child in case if child.tag not in RETRIES] or ["pass"])[0] for case in root.iter("testcase")}

    def test_each_case_has_its_outcome(self):
        root = self.of("mixed")
        self.assertEqual([suite.get("name") for suite in root], ["run", "mpa", "ddp", "rdmap"])
        self.assertEqual(self.outcomes(root), {
            "run.complete": "pass", "run.expectations-are-current": "failure",
            "mpa.startup.request-accepted": "pass", "mpa.startup.request-accepted@ipv6": "pass", "mpa.startup.no-reply-to-garbage": "pass",
            "mpa.markers.asked-for-and-sent": "skipped", "mpa.markers.pointer-is-right": "skipped",
            "mpa.crc.bad-crc-delivers-nothing": "failure", "ddp.tagged.write-beyond-bounds-is-terminated": "failure",
            "ddp.tagged.write-beyond-bounds-is-terminated@ipv6": "failure", "ddp.untagged.segments-in-order": "pass",
            "rdmap.write.large-write-arrives": "pass", "rdmap.write.cut-reached-the-wire": "failure",
            "rdmap.read.zero-length-read-is-answered": "failure", "rdmap.read.hung-agent": "error"})

    def test_earlier_bad_attempts_are_shown_and_do_not_count(self):
        document = json.loads((SAMPLES / "mixed" / "results.json").read_text())
        number = next(at for at, one in enumerate(document["cases"]) if one["verdict"] == "fail")
        last = document["cases"][number]
        for verdict, tag in (("pass", "flaky"), ("fail", "rerun")):
            for bad, kind in (("fail", "Failure"), ("inconclusive", "Failure"), ("error", "Error"), ("pass", None)):
                earlier = {**last, "verdict": bad, "gate": {"result": "superseded", "entry": "", "reason": ""}}
                after = {**last, "attempt": 2, "verdict": verdict,
                         "gate": {"result": "as_expected" if verdict == "pass" else "new_failure", "entry": "", "reason": ""}}
                cases = [*document["cases"][:number], earlier, after, *document["cases"][number + 1:]]
                report = self.loaded({**document, "cases": cases})
                element = next(one for one in self.checked(junit(report)).iter("testcase") if one.get("name") == last["id"])
                outcome = ["failure"] if verdict == "fail" else []
                self.assertEqual([child.tag for child in element], outcome + ([tag + kind] if kind else []))
                self.assertEqual(last["id"] in [case.id for case in report.flaky], verdict == "pass" and kind is not None)

    def test_a_finding_is_an_item_of_its_own(self):
        document = json.loads((SAMPLES / "clean" / "results.json").read_text())
        seen = {"rule": "mpa.framing.pad-sent-as-zero", "cases": 2, "first_case": document["cases"][0]["id"], "observed": ["pad 01"],
                "admissible": ["zeros"], "rerun": "rnic-suite run"}
        for result, outcome in (("new_failure", "failure"), ("known", "skipped")):
            document["findings"] = [seen | {"gate": {"result": result, "entry": "a.yaml:3", "reason": "it is so"}}]
            root = self.checked(junit(load.load(self.put(document))))
            self.assertEqual(self.outcomes(root)["finding:mpa.framing.pad-sent-as-zero"], outcome)

    def test_a_skip_gives_its_reason(self):
        reasons = {case.get("name"): case.find("skipped").get("message") for case in self.of("mixed").findall(".//skipped/..")}
        self.assertIn("siw does not look at the markers", reasons["mpa.markers.asked-for-and-sent"])
        self.assertIn("suite/expectations/siw.yaml:14", reasons["mpa.markers.asked-for-and-sent"])
        self.assertEqual(reasons["mpa.markers.pointer-is-right"], "not applicable: PICS: the implementation does not send Markers")

    def test_a_failure_gives_its_evidence(self):
        failure = self.of("mixed").find(".//testcase[@name='ddp.tagged.write-beyond-bounds-is-terminated']/failure")
        self.assertEqual(failure.get("message"), "the Terminate names the wrong error")
        for words in ("admissible: Terminate DDP tagged buffer error: base or bounds violation (1/1/0x01)", "or: Terminate RDMAP",
                      "actual:     Terminate DDP tagged buffer error: invalid STag", "octets:     00 26 41 47", "frame:      10",
                      "run again: ./run_suite.sh"):
            self.assertIn(words, failure.text)

    def test_a_clean_run_is_green(self):
        self.assertEqual(set(self.outcomes(self.of("clean")).values()), {"pass"})

    def test_a_killed_run_is_not_green(self):
        for sample in ("torn", "torn_whole_lines", "empty"):
            self.assertEqual(self.outcomes(self.of(sample))["run.complete"], "error")

    def test_an_error_is_never_skipped_even_if_the_gate_knows_it(self):
        known = {"result": "known", "entry": "e:1", "reason": "r"}
        cases = [make_samples.case(f"mpa.a.{verdict}-{gate['result']}", "mpa/a.cpp", ["r"], verdict, gate=gate, expectations=[])
                 for verdict in ("fail", "inconclusive", "error") for gate in (known, {"result": "as_expected", "entry": "", "reason": ""})]
        found = self.outcomes(self.checked(junit(self.loaded(make_samples.document(cases)))))
        self.assertEqual({name.removeprefix("mpa.a."): outcome for name, outcome in found.items() if name.startswith("mpa.a.")}, {
            "fail-known": "skipped", "fail-as_expected": "failure", "inconclusive-known": "skipped",
            "inconclusive-as_expected": "failure", "error-known": "error", "error-as_expected": "error"})

    def test_another_outcome_than_the_recorded_one_fails_even_without_a_failure(self):
        gate = {"result": "new_failure", "entry": "e:1", "reason": "recorded as fail, not applicable now"}
        case = make_samples.case("mpa.a.b", "mpa/a.cpp", ["r"], "not_applicable", gate=gate, reason="PICS")
        self.assertEqual(self.outcomes(self.checked(junit(self.loaded(make_samples.document([case])))))["mpa.a.b"], "failure")

    def test_hostile_text_is_only_text(self):
        text = junit(load.load(SAMPLES / "hostile"))
        root = self.checked(text)
        self.assertEqual(len(list(root.iter("testcase"))), 2 + len(make_samples.HOSTILE))
        self.assertIsNone(re.search("[^\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text))
        self.assertNotIn("\x7f", text)
        messages = [failure.get("message") for failure in root.iter("failure")]
        self.assertIn("</script><img src=x onerror=alert(1)>", messages)


if __name__ == "__main__":
    unittest.main()
