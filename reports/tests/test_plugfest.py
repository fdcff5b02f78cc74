# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The matrix of a plugfest, from a document with a hostile participant."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree as tree

import jsonschema

import render_plugfest
from tests import browser, page

SCHEMA = pathlib.Path(__file__).resolve().parents[1] / "schema" / "plugfest-2.schema.json"
HOSTILE = "<script>alert(1)</script>\u202e=cmd|' /C calc'!A0"


def gate(result, reason=""):
    return {"result": result, "entry": "line 1", "reason": reason}


def cell(initiator, responder, verdict, **members):
    made = {"id": f"{initiator}/{responder}/send.plain#1", "initiator": initiator, "responder": responder, "scenario": "send.plain",
            "repeat": 1, "attempt": 1, "verdict": verdict, "fault": "none", "reason": "", "seconds": 0.1,
            "gate": {"result": "new_failure" if verdict in ("fail", "inconclusive", "error") else "as_expected", "entry": "", "reason": ""}, "pcap": "pcap/x.pcap", "checks": [], "findings": [], "steps": [], "wire": [], "said": []}
    return {**made, **members}


def document():
    finding = {"rule": "mpa.crc.field-holds-crc32c", "level": "must", "also": [], "side": "responder", "frame": 7, "actual": HOSTILE,
               "admissible": "a right CRC", "certain": True, "provoked": False}
    cells = [cell("a", "b", "error", gate=gate("superseded")),
             cell("a", "b", "fail", attempt=2, fault="responder", reason=HOSTILE, findings=[finding], pcap="../../etc/passwd",
                  wire=[{"frame": 7, "side": "responder", "text": HOSTILE}], said=[{"side": "responder", "text": HOSTILE}],
                  steps=[{"at": 0.5, "side": None, "text": HOSTILE}],
                  checks=[{"side": "responder", "what": HOSTILE, "expected": "1", "actual": "2", "good": False}]),
             cell("b", "a", "pass", start="2026-11-23T09:00:00.5Z", suite={"version": "0.1.0", "commit": "0123456789abcdef" * 2 + "01234567"},
                  hosts=[{"side": "initiator", "implementation": HOSTILE, "driver": "cxgb4", "driver_version": "6.1", "firmware": "2", "kernel": "6.12"}],
                  cuts=[{"side": "initiator", "segments": 725, "within": 3, "frame": 54},
                                          {"side": "responder", "segments": 40, "within": 0, "frame": 0}])]
    left_out = [{"id": "b/a/read.sizes#1", "initiator": "b", "responder": "a", "scenario": "read.sizes", "reason": HOSTILE}]
    return {"plugfest": 2, "complete": True, "cells": cells, "left_out": left_out,
            "event": {"name": "e", "digest": "0", "repeats": 1, "scenarios": [{"name": "send.plain", "title": HOSTILE}, {"name": "read.sizes", "title": "t"}],
                      "participants": [{"name": "a", "vendor": HOSTILE, "alias": "", "agent": "reference"},
                                       {"name": "b", "vendor": "", "alias": "Vendor X", "agent": "argv"}]},
            "summary": {"cells": 2, "played": 2, "verdicts": {"fail": 1, "pass": 1}, "advisories": 0, "new_failures": [], "stale": []}}


class Matrix(unittest.TestCase):
    def render(self, content):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        (folder / "results.json").write_text(content, encoding="utf-8")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            status = render_plugfest.main([str(folder)])
        return status, folder, said.getvalue()

    def test_page(self):
        made = document()
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(made)
        status, folder, _ = self.render(json.dumps(made))
        self.assertEqual(status, 0)
        seen = page.Page((folder / "report.html").read_text(encoding="utf-8"))
        self.assertEqual(seen.faults, [])
        self.assertEqual(len(seen.scripts), 1)
        self.assertNotIn("alert", seen.scripts[0])
        self.assertNotIn("alert", str([attributes for tag, attributes in seen.tags if tag == "script"]))
        bad, good = seen.blocks
        self.assertNotIn("\u202e", seen.text)
        self.assertEqual([link for link in seen.links if not link.startswith("#")],
                         ["https://www.rfc-editor.org/rfc/rfc5044#section-4.1"] * 2)  # of the rule, and of its quotation
        self.assertEqual([bad["before"], good["pcap"], "pcap" in bad], [[["error", "./pcap/x.pcap"]], "./pcap/x.pcap", False])
        self.assertLess({"out-0", "rule-mpa.crc.field-holds-crc32c"}, set(seen.ids))
        self.assertLess({"#cell-0", "#cell-1"}, {*seen.links, "#out-0"})
        self.assertIn("Left out by the event: 1 cell", seen.text)
        self.assertEqual(len(seen.with_class("m-fail")), 1)
        self.assertIn("a → Vendor X", seen.text)
        self.assertEqual((bad["fault"], bad["attempt"]), ("responder", 2))
        self.assertEqual((good["when"], good["suite"]), ("2026-11-23 09:00:00 UTC", "0.1.0 (0123456789ab)"))
        self.assertTrue(good["hosts"][0].startswith("initiator: <script>"))
        self.assertTrue(good["hosts"][0].endswith("cxgb4 6.1, firmware 2, 6.12"))
        self.assertEqual([found["rule"] for found in bad["findings"]], ["mpa.crc.field-holds-crc32c"])
        self.assertEqual([cut["segments"] for cut in good["cuts"]], [725])

    def test_checks_that_are_counted_together_are_counted(self):
        made = document()
        check = {"side": "initiator", "what": "w", "expected": "1", "actual": "1", "good": True}
        made["cells"] = [cell("a", "b", "pass", checks=[{**check, "times": 1000}, check])]
        _, folder, _ = self.render(json.dumps(made))
        self.assertEqual(page.Page((folder / "report.html").read_text(encoding="utf-8")).blocks[0]["kept"], 1001)

    def test_of_repetitions_the_worst_is_shown_and_how_many_there_were(self):
        made = document()
        made["cells"] = [cell("a", "b", verdict, id=f"a/b/send.plain#{repeat}", repeat=repeat, reason=f"r{repeat}")
                         for repeat, verdict in enumerate(("pass", "fail", "pass", "fail"), 1)]
        made["summary"]["played"] = 4
        _, folder, _ = self.render(json.dumps(made))
        seen = page.Page((folder / "report.html").read_text(encoding="utf-8"))
        self.assertEqual([(one["verdict"], one["reason"]) for one in seen.blocks], [("fail", "r2")])
        self.assertIn("4 cells were played. A square stands for all repetitions of one, and shows the worst.", seen.text)

    @unittest.skipUnless(browser.program(), "no chromium: tools/install_packages.sh long")
    def test_a_cell_is_made_when_it_is_asked_for(self):
        _, folder, _ = self.render(json.dumps(document()))
        shown = browser.Browser(folder / "profile")
        self.addCleanup(shown.close)
        text = "document.getElementById('cell').textContent"
        shown.open((folder / "report.html").as_uri())
        self.assertEqual(shown.value(text), "")
        shown.click(".scenarios a.m-fail")
        shown.wait_for("document.querySelector('#cell-0 table.log')")
        for words in ("a → Vendor X, send.plain", "in 0.10 s, fault: responder, 0 checks held", "Attempt 2; before it: error (pcap).", "mpa.crc.field-holds-crc32c",
                      "On the wire", "0.500"):
            self.assertIn(words, shown.value(text))
        self.assertIn("<script>alert(1)</script>", shown.value(text))  # as text
        self.assertEqual(shown.value("document.querySelectorAll('#cell script').length"), 0)
        shown.click("#cell a.says-what")
        self.assertIn("CRC", shown.value("document.querySelector('#cell .words-row').textContent"))
        shown.open(shown.value("location.href").replace("cell-0", "cell-1"))
        shown.wait_for("document.getElementById('cell-1')")
        for words in ("Of 725 TCP segments of the initiator 3 begin within an FPDU", "2026-11-23 09:00:00 UTC, suite 0.1.0 (0123456789ab); initiator: <script>"):
            self.assertIn(words, shown.value(text))
        self.assertNotIn("Of 40 TCP segments", shown.value(text))
        self.assertTrue(shown.value("document.querySelector('.scenarios a.m-pass').hasAttribute('aria-current')"))

    def test_a_race_that_is_listed_looks_the_same_however_it_went(self):
        pages = []
        for verdict in ("pass", "fail"):
            made = document()
            made["cells"] = [cell("a", "b", verdict, varies=True), cell("b", "a", "fail", gate=gate("known", "known"))]
            _, folder, _ = self.render(json.dumps(made))
            pages.append((folder / "matrix.md").read_text(encoding="utf-8"))
            seen = page.Page((folder / "report.html").read_text(encoding="utf-8"))
            self.assertEqual(len(seen.with_class("m-varies")), 1)
            self.assertEqual(len(seen.with_class("m-" + "fail")), 1)
            self.assertIn("1 known to vary", seen.text)
        self.assertEqual(*pages)
        self.assertIn("| a → Vendor X | ~ |", pages[0])

    def test_other_forms(self):
        _, folder, _ = self.render(json.dumps(document()))
        table = (folder / "matrix.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(table), 3)
        self.assertTrue(table[2].startswith("Vendor X,a,send.plain,pass,none,0.100,"))
        self.assertIn("| a → Vendor X | ✗ |", (folder / "matrix.md").read_text(encoding="utf-8"))
        self.assertIn("| Vendor X → a | ✓ | · |", (folder / "matrix.md").read_text(encoding="utf-8"))
        self.assertIn("- left out, 1: &lt;script>", (folder / "matrix.md").read_text(encoding="utf-8"))

    def outcomes(self, made):
        """By pair and scenario: what JUnit has of a cell, and its words."""
        status, folder, _ = self.render(json.dumps(made))
        self.assertEqual(status, 0)
        root = tree.parse(folder / "junit.xml").getroot()
        for suite in root:
            for name, child in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"), ("tests", "")):
                self.assertEqual(int(suite.get(name)), len(suite.findall(f"testcase/{child}".rstrip("/"))))
        self.assertEqual(int(root.get("tests")), len(root.findall("testsuite/testcase")))
        return {(case.get("classname"), case.get("name")): (case[0].tag, case[0].get("message")) if len(case) else ("pass", "")
                for case in root.iter("testcase")}

    def test_junit_has_each_cell(self):
        found = self.outcomes(document())
        self.assertEqual({key: tag for key, (tag, _) in found.items()}, {
            ("plugfest.event", "event.complete"): "pass", ("plugfest.event", "event.expectations-are-current"): "pass",
            ("plugfest.a--Vendor X", "send.plain"): "failure", ("plugfest.Vendor X--a", "send.plain"): "pass",
            ("plugfest.Vendor X--a", "read.sizes"): "skipped"})
        self.assertTrue(found["plugfest.Vendor X--a", "read.sizes"][1].startswith("left out by the event: <script>"))

    def test_junit_skips_what_is_expected_and_never_an_error(self):
        for members, tag, words in (({"verdict": "fail", "gate": gate("known", "e")}, "skipped", "expected: e"),
                                    ({"verdict": "fail", "varies": True, "reason": "r"}, "skipped", "known to vary: r"),
                                    ({"verdict": "not_applicable", "reason": "r"}, "skipped", "not applicable: r"),
                                    ({"verdict": "inconclusive", "reason": "r"}, "failure", "r"),
                                    ({"verdict": "error", "gate": gate("known", "e"), "reason": "r"}, "error", "r")):
            made = document()
            made["cells"] = [cell("a", "b", **members)]
            self.assertEqual(self.outcomes(made)["plugfest.a--Vendor X", "send.plain"], (tag, words))

    def test_junit_of_an_event_that_is_not_over_is_not_green(self):
        made = {**document(), "complete": False}
        made["summary"]["stale"] = ["a/b/x"]
        found = self.outcomes(made)
        self.assertEqual([found["plugfest.event", name][0] for name in ("event.complete", "event.expectations-are-current")], ["error", "failure"])

    def test_what_is_no_plugfest(self):
        wrong = document()
        wrong["cells"][0]["verdict"] = "purple"
        for content in ("", "[]", "{}", '{"plugfest": 1}', "[" * 100_000, json.dumps(wrong), "null"):
            status, folder, said = self.render(content)
            self.assertEqual(status, 3, content[:40])
            self.assertEqual(len(said.splitlines()), 1)
            self.assertFalse((folder / "report.html").exists())


if __name__ == "__main__":
    unittest.main()
