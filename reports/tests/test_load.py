# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Reading results: whole ones, torn ones, and ones that are wrong, each fault one line that names the place."""

import copy
import io
import json
import unittest
from unittest import mock

from rnic_reports import json_stream, load, text
from rnic_reports.node import Unreadable
from tests.support import SAMPLES, FolderTest, make_samples


class Documents(FolderTest):
    def setUp(self):
        super().setUp()
        self.document = make_samples.document(make_samples.mixed_cases())

    def fault(self, change):
        """The line that reports what `change` broke."""
        document = copy.deepcopy(self.document)
        change(document)
        with self.assertRaises(Unreadable) as raised:
            self.loaded(document)
        self.assertNotIn("\n", str(raised.exception))
        return str(raised.exception)

    def test_layers_stand_bottom_up_and_attempts_in_their_case(self):
        report = self.loaded(self.document)
        self.assertEqual(report.layers, ["mpa", "ddp", "rdmap"])
        retried, = [case for case in report.cases if case.attempt == 2]
        self.assertEqual([(case.attempt, case.verdict) for case in retried.earlier], [(1, "error")])
        self.assertEqual(len(report.cases), len({case["id"] for case in self.document["cases"]}))

    def test_unknown_members_are_ignored(self):
        self.document["run"]["later"] = self.document["cases"][0]["later"] = {"a": [1]}
        self.assertTrue(self.loaded(self.document).complete)

    def test_a_missing_member_is_named(self):
        self.assertEqual(self.fault(lambda d: d["cases"][2].pop("gate")), "results.json.cases[2].gate: is missing")

    def test_a_wrong_kind_is_named(self):
        self.assertEqual(self.fault(lambda d: d["cases"][0].update(duration="3")),
                         "results.json.cases[0].duration: a number is needed, not a string")
        self.assertEqual(self.fault(lambda d: d["cases"][0].update(attempt=True)),
                         "results.json.cases[0].attempt: a whole number is needed, not true or false")
        self.assertEqual(self.fault(lambda d: d["cases"].insert(1, [])), "results.json.cases[1]: an object is needed, not a list")

    def test_an_unknown_verdict_is_named_and_cleaned(self):
        self.assertIn(r"results.json.cases[0].verdict: '\x1b[2Jgreen' is none of pass, fail",
                      self.fault(lambda d: d["cases"][0].update(verdict="\x1b[2Jgreen")))

    def test_odd_hex_is_refused(self):
        self.assertIn("expectations[0].hex", self.fault(lambda d: d["cases"][0]["expectations"][0].update(hex="abc")))
        self.assertIn("expectations[0].hex", self.fault(lambda d: d["cases"][0]["expectations"][0].update(hex="AB")))

    def test_numbers_that_are_none_are_refused(self):
        for number in (float("nan"), float("inf"), 10**400):
            self.assertIn("duration: a finite number", self.fault(lambda d, n=number: d["cases"][0].update(duration=n)))

    def test_another_schema_is_refused(self):
        self.assertIn("reads rnic-results-1", self.fault(lambda d: d.update(schema="rnic-results-2")))

    def test_files_that_are_no_results(self):
        for content in (b"", b"{", b"[]", b"\xff\xfe", b"[" * 200_000, b'{"schema": ' + b"9" * 5000 + b"}", b"null"):
            (self.folder / "results.json").write_bytes(content)
            with self.subTest(content[:12]), self.assertRaises(Unreadable) as raised:
                load.load(self.folder)
            self.assertLess(len(str(raised.exception)), 400)

    def test_a_folder_without_results(self):
        with self.assertRaisesRegex(Unreadable, "holds neither results.json nor results.ndjson"):
            load.load(self.folder)
        with self.assertRaisesRegex(Unreadable, "no such folder"):
            load.load(self.folder / "absent")

    def test_fewer_verdicts_than_selected_is_not_complete(self):
        self.document["run"]["selected"] += 1
        report = self.loaded(self.document)
        self.assertFalse(report.complete)
        self.assertIn("14 cases were selected, 13 have a verdict", report.notes)

    def test_no_case_is_not_complete(self):
        report = self.loaded(make_samples.document([]))
        self.assertFalse(report.complete)
        self.assertIn("no case was run", report.headline)


class Streams(unittest.TestCase):
    def read(self, content, piece):
        with mock.patch.object(json_stream, "PIECE", piece):
            return {name: value if isinstance(value, (str, int, float, dict, list, type(None))) else list(value)
                    for name, value in json_stream.Stream(io.BytesIO(content)).members({"cases"})}

    def test_whatever_the_pieces_the_document_is_the_same(self):
        for value in ({}, {"cases": []}, {"a": 12345, "cases": [{"b": "\u00e4\u20ac\U0001d11e"}, 1.5, 22, None, [{}]], "z": {"cases": [1]}},
                      {"cases": {"no": "list"}}, {"n": 1e300, "cases": ["]", "}"]}):
            for ascii_only in (True, False):
                content = json.dumps(value, indent=1, ensure_ascii=ascii_only).encode()
                for piece in (1, 2, 3, 7, 64, 4096):
                    self.assertEqual(self.read(content, piece), value)

    def test_what_is_no_document_is_refused_at_every_cut(self):
        whole = json.dumps({"a": [1, 2], "cases": [{"b": 1}, {"c": "d"}], "z": 1}).encode()
        for cut in range(len(whole)):
            self.assertRaises(ValueError, self.read, whole[:cut], 5)
        for content in (whole + b"x", b"{1:2}", b'{"a" 1}', b'{"cases":[1 2]}', b'{"a":1 "b":2}', b'{"a":"\xff"}'):
            self.assertRaises(ValueError, self.read, content, 5)


class Journals(FolderTest):
    def journal(self, *lines):
        (self.folder / "results.ndjson").write_bytes(b"\n".join(lines))
        return load.load(self.folder)

    def setUp(self):
        super().setUp()
        self.lines = make_samples.journal(make_samples.mixed_cases()[:4]).encode().split(b"\n")

    def test_whole_lines_of_a_killed_run(self):
        report = load.load(SAMPLES / "torn_whole_lines")
        self.assertEqual((len(report.cases), report.run.ending, report.complete), (6, "killed", False))
        self.assertEqual(report.notes, ["the run was killed; this is what results.ndjson kept"])
        self.assertEqual(report.stale_entries, ["suite/expectations/siw.yaml:30 mpa.startup.no-reply-to-garbage"])

    def test_a_torn_last_line_is_left_out_and_told(self):
        report = load.load(SAMPLES / "torn")
        self.assertEqual(len(report.cases), 5)
        self.assertIn("left out of results.ndjson: the last line is torn", report.notes)

    def test_every_cut_is_read_or_refused(self):
        whole = b"\n".join(self.lines)
        first = len(self.lines[0])
        for cut in range(0, len(whole), 97):
            (self.folder / "results.ndjson").write_bytes(whole[:cut])
            if cut < first:
                self.assertRaises(Unreadable, load.load, self.folder)
            else:
                self.assertLessEqual(len(load.load(self.folder).cases), 4)

    def test_a_spoilt_line_costs_only_itself(self):
        report = self.journal(self.lines[0], self.lines[1], b"\0" * 40, b'{"case": {"id": 7}}', b"gar\x1bbage", self.lines[3], b"")
        self.assertEqual(len(report.cases), 2)
        self.assertIn("line 4.case.id: a string is needed", report.notes[1])
        self.assertIn("line 5: is not JSON", report.notes[1])

    def test_the_last_word_on_the_run_counts(self):
        run = json.loads(self.lines[0])["run"]
        ended = {**run, "complete": True, "ending": "finished", "exit_code": 0, "selected": 4, "end": run["start"]}
        report = self.journal(*self.lines[:5], json.dumps({"end": {"run": ended, "stale_entries": ["a:1 b"]}}).encode(), b"")
        self.assertEqual((report.run.exit_code, report.complete, report.stale_entries), (0, True, ["a:1 b"]))

    def test_a_session_after_the_end_has_an_end_of_its_own(self):
        run = json.loads(self.lines[0])["run"]
        ended = json.dumps({"end": {"run": {**run, "complete": True, "ending": "finished"}, "stale_entries": []}}).encode()
        session = {"start": run["start"], "end": None, "command": ["rnic-suite", "--rerun-failed"], "asked": {}, "ending": "running",
                   "ending_reason": ""}
        again = json.dumps({"run": {**run, "sessions": [{**session, "ending": "finished"}, session]}}).encode()
        report = self.journal(*self.lines[:5], ended, again, b"")
        self.assertEqual((report.run.ending, report.complete, len(report.cases)), ("killed", False, 4))
        self.assertEqual([each.ending for each in report.run.sessions], ["finished", "running"])

    def test_a_retry_counts_once_though_the_journal_does_not_mark_it(self):
        first, second = make_samples.mixed_cases()[9:11]
        first["gate"] = {"result": "new_failure", "entry": "", "reason": "error"}
        report = self.journal(self.lines[0], *(json.dumps({"case": case}).encode() for case in (first, second)), b"")
        self.assertEqual([(case.attempt, len(case.earlier)) for case in report.cases], [(2, 1)])
        self.assertEqual(report.new_failures, [])

    def test_a_journal_without_a_run(self):
        with self.assertRaisesRegex(Unreadable, "holds no run"):
            self.journal(*self.lines[1:3])
        with self.assertRaisesRegex(Unreadable, "line 1: is not JSON"):
            self.journal(self.lines[0][:50])


class Text(FolderTest):
    def test_what_cannot_be_seen_is_written_out(self):
        self.assertEqual(text.line("a\x1b[1m\x00\x7f\x9b\u202e\u2066\ufeff\ud800\ufffe\r\nb\tc"),
                         r"a\x1b[1m\x00\x7f\x9b\u202e\u2066\ufeff\ud800\ufffe\x0d\x0ab\x09c")
        self.assertEqual(text.line("é日本\U0001f600 ok"), "é日本\U0001f600 ok")

    def test_a_long_text_is_cut_and_says_so(self):
        self.assertEqual(text.line("x" * 1_000_000, 10), "x" * 10 + " [999,990 more characters not shown]")
        self.assertEqual(text.line("x" * 10, 10), "x" * 10)

    def test_a_log_keeps_its_lines_and_the_wanted_end(self):
        self.assertEqual(text.log("a\r\nb\rc\n\td\x07\n"), "a\nb\nc\n    d\\x07")
        self.assertEqual(text.log("0123456789", "head", 4), "0123\n[6 more characters not shown]")
        self.assertEqual(text.log("0123456789", "tail", 4), "[6 more characters not shown]\n6789")
