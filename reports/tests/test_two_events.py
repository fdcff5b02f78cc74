# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Two events side by side: each kind of change is told, and a page is made of it."""

import contextlib
import copy
import io
import json
import pathlib
import tempfile
import unittest

import compare_plugfests
from tests import page, test_plugfest


def document(name, verdict, **members):
    made = test_plugfest.document()
    made["event"]["name"] = name
    made["cells"] = [test_plugfest.cell("a", "b", verdict, **members), test_plugfest.cell("b", "a", "pass")]
    return made


class TwoEvents(unittest.TestCase):
    def compare(self, before, after):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            for name, made in (("before", before), ("after", after)):
                (folder / name).mkdir()
                (folder / name / "results.json").write_text(json.dumps(made))
            with contextlib.redirect_stdout(io.StringIO()):
                status = compare_plugfests.main([str(folder / "before"), str(folder / "after"), "--html", str(folder / "both.html")])
            seen = page.Page((folder / "both.html").read_text())
            self.assertEqual((seen.faults, seen.scripts), ([], []))
            return status, seen.text

    def test_each_kind_of_change(self):
        broken = [{"rule": "mpa.crc.field-holds-crc32c", "level": "must", "also": [], "side": "responder", "frame": 7, "actual": "x", "admissible": "y",
                   "certain": True, "provoked": False}]
        for was, now, more, status, words in (
                ("pass", "pass", {}, 0, "Each cell came to the same."), ("pass", "fail", {}, 1, "1 new failure"), ("fail", "pass", {}, 0, "1 fixed"),
                ("fail", "error", {}, 1, "1 bad in another way"), ("fail", "fail", {}, 0, "Each cell came to the same."),
                ("fail", "fail", {"findings": broken}, 1, "1 bad in another way"), ("fail", "fail", {"fault": "both"}, 1, "1 bad in another way"),
                ("pass", "not_applicable", {}, 0, "Each cell came to the same."), ("pass", "fail", {"varies": True}, 0, "Each cell came to the same.")):
            done, text = self.compare(document("spring", was), document("autumn", now, **more))
            self.assertEqual(done, status, (was, now, more))
            self.assertIn(words, text)
            self.assertIn("spring and autumn", text)

    def test_cells_of_one_event_only(self):
        less = document("spring", "pass")
        less["cells"].pop()
        whole = document("autumn", "pass")
        self.assertIn("1 not in the first", self.compare(less, copy.deepcopy(whole))[1])
        self.assertIn("1 not in the second", self.compare(whole, less)[1])

    def test_what_cannot_be_read_is_one_line(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(compare_plugfests.main(["/nonexistent", "/nonexistent"]), 3)
        self.assertEqual(len(said.getvalue().splitlines()), 1)
