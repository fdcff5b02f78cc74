# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""An event participant by participant: its numbers, and in a real browser what a click on one leads to."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import render_plugfest
from rnic_reports import participants
from tests import browser, page, test_plugfest

ROWS = "[...document.querySelectorAll('.scenarios tbody tr')].filter((one) => one.checkVisibility()).map((one) => one.innerText.split('\\t')[0])"


def host(side, firmware):
    return {"side": side, "implementation": "RNIC", "driver": "cxgb4", "driver_version": "6.1", "firmware": firmware, "kernel": "6.1.0"}


def cells():
    cell = test_plugfest.cell
    return [cell("a", "b", "fail", fault="responder", start="2026-11-27T09:00:00Z", hosts=[host("initiator", "2"), host("responder", "7")]),
            cell("b", "a", "pass", start="2026-11-27T08:00:00Z", hosts=[host("responder", "1")]),
            cell("a", "c", "fail", fault="both"), cell("c", "a", "fail", fault="unknown", gate=test_plugfest.gate("known", "known")),
            cell("b", "c", "advisory"), cell("c", "b", "not_applicable"), cell("c", "b", "pass", scenario="read.sizes")]


def document():
    made = test_plugfest.document()
    made["cells"] = [{**cell, "verdict": "pass", "advisory": True} if cell["verdict"] == "advisory" else cell for cell in cells()]
    made["event"]["participants"] = [{"name": name, "vendor": f"Vendor {name}", "alias": "", "agent": "argv"} for name in "abc"]
    made["left_out"] = []
    return made


class Overview(unittest.TestCase):
    def test_numbers(self):
        a, b, c = participants.overview("abc", cells())
        self.assertEqual([(one.name, one.cells, one.new, one.clean, one.peers) for one in (a, b, c)],
                         [("a", 4, 2, 0, 2), ("b", 5, 1, 1, 2), ("c", 5, 1, 1, 2)])
        self.assertEqual([dict(one.faults) for one in (a, b, c)],
                         [{"peer": 1, "own": 1, "unknown": 1}, {"own": 1}, {"own": 1, "unknown": 1}])
        self.assertEqual((a.counts["initiator"]["fail"], a.counts["responder"]["fail"], a.share("fail"), b.share("advisory")), (2, 1, 3, 1))

    def test_each_state_of_a_host_is_told_the_last_first(self):
        a, b, c = participants.overview("abc", cells())
        self.assertEqual(a.hosts, ["RNIC, cxgb4 6.1, firmware 2, 6.1.0", "RNIC, cxgb4 6.1, firmware 1, 6.1.0"])
        self.assertEqual((len(b.hosts), c.hosts), (1, []))

    def test_the_worst_of_a_pair(self):
        found = participants.squares(cells())
        self.assertEqual((found["a", "b"], found["c", "b"]), (("fail", 1, 1), ("pass", 1, 2)))


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        (cls.folder / "results.json").write_text(json.dumps(document()), encoding="utf-8")
        with contextlib.redirect_stderr(io.StringIO()):
            assert render_plugfest.main([str(cls.folder)]) == 0
        cls.path = cls.folder / "report.html"

    def test_a_row_for_each(self):
        seen = page.Page(self.path.read_text(encoding="utf-8"))
        self.assertEqual(seen.faults, [])
        for words in ("Vendor a", "RNIC, cxgb4 6.1, firmware 2, 6.1.02 states in this event", "1 of 2"):
            self.assertIn(words, seen.text)
        # Without a third there is nothing that the matrix does not show.
        self.assertNotIn("Participant by participant", self.page_of(test_plugfest.document()))

    def page_of(self, made):
        folder = self.folder / "two"
        folder.mkdir()
        (folder / "results.json").write_text(json.dumps(made), encoding="utf-8")
        self.assertEqual(render_plugfest.main([str(folder)]), 0)
        return page.Page((folder / "report.html").read_text(encoding="utf-8")).text

    @unittest.skipUnless(browser.program(), "no chromium: tools/install_packages.sh long")
    def test_a_click_leads_to_its_cells(self):
        shown = browser.Browser(self.folder / "profile")
        self.addCleanup(shown.close)
        shown.open(self.path.as_uri())
        self.assertEqual(len(shown.value(ROWS)), 6)
        shown.click(".participants a")
        self.assertEqual(shown.value(ROWS), ["a → b", "a → c", "b → a", "c → a"])
        shown.click(".hosts a.m-advisory")
        self.assertEqual(shown.value(ROWS), ["b → c", "c → b"])
        shown.open(shown.value("location.href"))
        self.assertEqual(shown.value(ROWS), ["b → c", "c → b"])
        # Nothing but the tables' own boxes is wider than a phone.
        shown.call("Emulation.setDeviceMetricsOverride", width=390, height=900, deviceScaleFactor=1, mobile=True)
        shown.open(self.path.as_uri())
        self.assertEqual(shown.value("document.documentElement.scrollWidth"), 390)


if __name__ == "__main__":
    unittest.main()
