# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""One card for each cause: what a fault explains stands under it, and what shows another fault never does."""

import pathlib
import re
import unittest

from rnic_reports import causes, consequences, github, markdown, notation
from tests.page import Page
from tests.support import CATALOGUE, SAMPLES, FolderTest, load, make_samples
from tests.make_samples import case, judged, step

BAD_CRC = "an FPDU with a wrong CRC"
SEEN = judged("mpa.crc.field-holds-crc32c", ["0x01"], "CRC field 0x00", "also_seen", 0.2, frame=9)
UNREAD = judged("a.b.own", ["a Send"], BAD_CRC, "fail", 0.2, frame=9)
PROJECT = pathlib.Path(__file__).resolve().parents[2]
RECEPTION = PROJECT / "suite" / "lower_tester" / "reception.cpp"


def finding(rule=SEEN["rule"], result="new_failure", cases=2):
    return {"rule": rule, "cases": cases, "first_case": "mpa.x.0", "observed": ["CRC field 0x00"] * 5, "admissible": ["0x01"], "rerun": "again",
            "gate": {"result": result, "entry": "", "reason": "why"}}


def failed(number, *judgements, verdict="fail", **members):
    return case(f"mpa.x.{number}", "mpa/x.cpp", [f"a.b.{number}"], verdict, expectations=list(judgements), **members)


class Causes(FolderTest):
    def report(self, *cases, findings=()):
        document = make_samples.document(list(cases))
        document["findings"] = list(findings)
        return self.loaded(document)

    def of(self, *cases, findings=()):
        return causes.causes(self.report(*cases, findings=findings))

    def shown(self, *cases, findings=()):
        """[(rule, ids of the cases that show it, ids of those that it explains)]."""
        return [(cause.rule, [one.id for one in cause.cases], [one.id for one in cause.explained]) for cause in self.of(*cases, findings=findings)]

    def test_cases_that_fail_alike_are_one_cause(self):
        report = load.load(SAMPLES / "mixed")
        found = causes.causes(report)
        self.assertEqual([case.id for case in found[0].cases], ["ddp.tagged.write-beyond-bounds-is-terminated",
                                                                "ddp.tagged.write-beyond-bounds-is-terminated@ipv6"])
        self.assertEqual(sum(len(cause.failures) for cause in found), len(report.new_failures))

    def test_what_varies_makes_no_other_way(self):
        found = self.of(*(failed(number, judged("r", ["x"], actual, "fail", 0.1)) for number, actual in enumerate((
            "nothing within 4999 ms", "nothing within 5001 ms", "rev 0 (seen in the capture, the first of 3)", "rev 0 (seen in the capture)",
            "Write stag=0x58bc5c7e", "Write stag=0x00000001", "invalid STag (1/1/0x00)", "invalid STag (1/1/0x01)"))))
        self.assertEqual([[len(way.cases) for way in cause.ways] for cause in found], [[2, 2, 2, 1, 1]])
        self.assertEqual(found[0].ways[0].words, "nothing within 4999 ms")

    def test_another_rule_is_another_cause(self):
        self.assertEqual(len(self.of(failed(0, judged("r", ["x"], "y", "fail", 0.1)), failed(1, judged("s", ["x"], "y", "fail", 0.1)))), 2)

    def test_without_a_judgement_the_reason_is_the_cause(self):
        found = self.of(*(case(f"mpa.x.{number}", "mpa/x.cpp", ["r"], "error", reason=reason)
                          for number, reason in enumerate(("lost after 3 s", "lost after 12.5 s", "no hello"))))
        self.assertEqual([(cause.ways[0].words, len(cause.cases)) for cause in found], [("lost after 3 s", 2), ("no hello", 1)])

    def test_cases_of_several_rules_that_could_not_begin_are_one_cause_but_crashes_are_not(self):
        rows = [{"name": "one: two", "verdict": "inconclusive", "reason": ""}]
        self.assertEqual(self.shown(failed(0, verdict="inconclusive", reason="it does not come up"),
                                    failed(1, verdict="inconclusive", reason="row one: two: it does not come up", rows=rows)),
                         [("", ["mpa.x.0", "mpa.x.1"], [])])
        self.assertEqual(len(self.of(failed(0, reason="the kernel reported a BUG"), failed(1, reason="the kernel reported a BUG"))), 2)

    def test_what_could_not_be_read_stands_under_the_fault_of_its_frame(self):
        self.assertEqual(self.shown(failed(0, SEEN, UNREAD), findings=[finding()]), [(SEEN["rule"], [], ["mpa.x.0"])])
        again = {**UNREAD, "frame": 21, "at": 0.3}  # the judge tells a fault once
        self.assertEqual(self.shown(failed(0, SEEN, UNREAD, again), findings=[finding()]), [(SEEN["rule"], [], ["mpa.x.0"])])

    def test_a_second_fault_of_the_same_case_is_not_hidden(self):
        other = judged("a.b.second", ["a Terminate"], "Send L qn=0", "fail", 0.3, frame=11)
        for judgements, rule in (((SEEN, UNREAD, other), "a.b.second"), ((SEEN, {**UNREAD, "actual": "Terminate 1/1/0x00"}), "a.b.own"),
                                 ((SEEN, {**UNREAD, "frame": 10}), "a.b.own"), ((SEEN, {**UNREAD, "actual": "nothing", "frame": None}), "a.b.own")):
            with self.subTest(judgements[-1]):
                self.assertEqual(self.shown(failed(0, *judgements), findings=[finding()]), [(SEEN["rule"], [], []), (rule, ["mpa.x.0"], [])])
        self.assertEqual(self.shown(failed(0, SEEN, UNREAD, kernel_log="BUG"), findings=[finding()])[1][1], ["mpa.x.0"])
        self.assertEqual(self.shown(failed(0, SEEN, verdict="error", reason="the agent crashed"), findings=[finding()])[1][1], ["mpa.x.0"])

    def test_what_came_to_no_verdict_stands_under_the_fault_that_ended_the_stream(self):
        came, answer = step(0.2, "from_iut", BAD_CRC, frame=9), step(0.21, "to_iut", "Terminate MPA: CRC error (2/0/0x02)", frame=11)
        decoded = step(0.2, "from_iut", "Send L qn=0", frame=9)
        for steps, at, explained in (([came], 0.3, 1), ([decoded, answer], 0.3, 1), ([came], 0.1, 0), ([decoded], 0.3, 0),
                                     ([decoded, {**answer, "text": "Send L qn=0"}], 0.3, 0), ([decoded, {**answer, "text": answer["text"] + " ! wrong"}], 0.3, 0)):
            halted = judged("a.b.own", ["a completion"], "flushed", "inconclusive", at, "none")
            self.assertEqual(len(self.shown(failed(0, SEEN, halted, verdict="inconclusive", exchange=steps), findings=[finding()])[0][2]), explained)
        self.assertEqual(self.shown(failed(0, SEEN, verdict="inconclusive", reason="it does not come up", exchange=[came]), findings=[finding()]),
                         [(SEEN["rule"], [], ["mpa.x.0"])])

    def test_that_a_fault_merely_came_before_explains_nothing(self):
        harmless = judged("r", ["0"], "reserved flags 0x0f", "also_seen", 0.1, frame=4)
        halted = judged("a.b.own", ["a completion"], "nothing", "inconclusive", 0.3, "none")
        self.assertEqual(self.shown(failed(0, harmless, halted, verdict="inconclusive"), findings=[finding("r")]),
                         [("r", [], []), ("a.b.own", ["mpa.x.0"], [])])

    def test_what_is_no_message_says_nothing_of_the_rules_that_it_was_to_show(self):
        unread = [judged(f"a.b.{number}", ["a Send"], BAD_CRC, verdict, 0.2, frame=9) for number, verdict in enumerate(("inconclusive", "fail"))]
        found, = self.of(failed(0, unread[0], verdict="inconclusive"), failed(1, unread[1]))
        self.assertEqual((found.rule, found.verdict, found.ways[0].words, len(found.cases)), ("", "fail", BAD_CRC, 2))

    def test_what_rests_on_a_control_stands_where_the_control_does(self):
        why = "the connection could not be established: nothing came"
        control = case("harness.sentinel.iut_connects", "harness/sentinel.cpp", ["c"], "inconclusive", reason=why)
        resting = failed(1, verdict="inconclusive", reason=f"row a: the IUT opens no connection: {why}")
        self.assertEqual(self.shown(control, resting), [("c", ["harness.sentinel.iut_connects"], ["mpa.x.1"])])
        control.update(expectations=[SEEN], exchange=[step(0.2, "from_iut", BAD_CRC, frame=9)])
        self.assertEqual(self.shown(control, resting, findings=[finding()]),
                         [(SEEN["rule"], [], ["harness.sentinel.iut_connects", "mpa.x.1"])])

    def test_a_connection_that_ends_as_the_plain_one_does_shows_nothing_of_its_own(self):
        control = case("harness.sentinel.iut_connects", "harness/sentinel.cpp", ["c"], "inconclusive",
                       reason="the connection could not be established: no established event; endpoint 1 not connected: protocol")
        for actual, explained in (("endpoint 7 not connected: protocol", True), ("no established event; endpoint 2 not connected: protocol", True),
                                  ("endpoint 7 not connected: rejected", False), ("not connected: protocol", False), ("nothing", False)):
            with self.subTest(actual):
                own = failed(1, judged("r", ["an established event"], actual, "fail", 0.1))
                self.assertEqual("mpa.x.1" in self.shown(control, own)[0][2], explained)
                self.assertEqual(self.shown(own), [("r", ["mpa.x.1"], [])])  # the plain one came about
        both = failed(1, judged("r", ["x"], "endpoint 7 not connected: protocol", "fail", 0.1), judged("s", ["x"], "y", "fail", 0.2))
        self.assertEqual(self.shown(control, both)[0][2], [])

    def test_enhanced_data_that_could_not_be_read_are_the_fault_of_their_frame(self):
        seen = judged("mpa.enhanced.revision-two-or-higher", ["revision 2"], "rev 0", "also_seen", 0.1, frame=5)
        reply = "MPA Reply rev 0 [C S] pd=4 ! S needs revision 2"
        for rule, actual, frame, explained in (("mpa.enhanced.flag-a-echoed", reply, 5, True), ("mpa.private-data.length-field-matches", reply, 5, True),
                                               ("mpa.startup.frame-layout", reply, 5, False), ("mpa.enhanced.flag-a-echoed", reply, 6, False),
                                               ("mpa.enhanced.flag-a-echoed", "MPA Reply rev 2 [C S] pd=4", 5, False)):
            with self.subTest((rule, actual)):
                own = failed(1, seen, judged(rule, ["A set"], actual, "fail", 0.1, frame=frame))
                self.assertEqual(self.shown(own, findings=[finding(seen["rule"])])[0][2], ["mpa.x.1"] if explained else [])

    def test_a_fault_that_shows_wherever_it_is_tried_takes_along_what_follows_from_it(self):
        first, second = "mpa.crc.mismatch-invalidates-fpdu", "mpa.terminate.crc-error-detected"
        broken = failed(1, judged(first, ["x"], "memory changed", "fail", 0.1))
        unnoticed = failed(2, judged(second, ["a Terminate"], "nothing", "fail", 0.1))
        follows = failed(3, judged("mpa.framing.pad-checked-by-crc", ["x"], "a completion", "fail", 0.1))
        cause, = self.of(broken, unnoticed, follows)
        self.assertEqual((cause.rule, [one.id for one in cause.implied], len(cause.failures)), (first, ["mpa.x.2", "mpa.x.3"], 3))
        for rule in (first, second):  # once it was kept: then the pad is a fault of its own
            kept = case("mpa.x.4", "mpa/x.cpp", [rule], "pass", expectations=[judged(rule, ["x"], "x", "pass", 0.1)])
            self.assertEqual(len(self.of(broken, unnoticed, follows, kept)), 3)
        known = {**broken, "gate": {"result": "known", "entry": "e", "reason": "why"}}
        more = failed(3, judged("mpa.framing.pad-checked-by-crc", ["x"], "y", "fail", 0.1), judged("r", ["x"], "y", "fail", 0.2))
        for cases in ((known, unnoticed, follows), (broken, follows), (unnoticed, follows)):
            self.assertEqual([cause.implied for cause in self.of(*cases)], [[], []])
        for other in (more, {**follows, "kernel_log": "BUG"}):
            self.assertEqual([[one.id for one in cause.implied] for cause in self.of(broken, unnoticed, other)], [["mpa.x.2"], []])
        document = make_samples.document([broken, unnoticed])
        page, _, summary = self.rendered(document)
        self.assertIn("1 case about 1 rule could not have passed", Page(page).text)
        self.assertIn("Could not have passed, since their rules follow from this one, which is always broken: 1 case about another rule\n", summary)

    def test_the_rules_of_consequences_exist(self):
        for fault in consequences.FAULTS:
            self.assertEqual([one for one in {*fault.shown_by, *fault.breaks} if not CATALOGUE.rule(one).known], [])

    def test_cases_about_the_rule_of_a_finding_stand_beside_it(self):
        about_it = failed(1, {**SEEN, "verdict": "fail"})
        self.assertEqual(self.shown(failed(0, SEEN, UNREAD), about_it, findings=[finding()]), [(SEEN["rule"], ["mpa.x.1"], ["mpa.x.0"])])

    def test_findings_come_first_and_a_known_one_only_where_it_explains(self):
        many = [failed(number, judged("r", ["x"], "y", "fail", 0.1)) for number in (1, 2, 3)]
        self.assertEqual([rule for rule, _, _ in self.shown(*many, findings=[finding()])], [SEEN["rule"], "r"])
        known = finding(result="known")
        self.assertEqual([rule for rule, _, _ in self.shown(*many, findings=[known])], ["r"])
        self.assertEqual(self.shown(*many, failed(0, SEEN, UNREAD), findings=[known])[0], (SEEN["rule"], [], ["mpa.x.0"]))

    def test_no_failure_is_lost_and_none_counts_twice(self):
        cases = [failed(0, SEEN, UNREAD), failed(1, judged("r", ["x"], "y", "fail", 0.1)), failed(2, verdict="error", reason="gone")]
        found = [one.id for cause in self.of(*cases, findings=[finding()]) for one in cause.failures]
        self.assertEqual(sorted(found), ["mpa.x.0", "mpa.x.1", "mpa.x.2"])

    def test_the_words_of_the_lower_tester_are_known(self):
        said = re.findall(r'"((?:an? |not the )[^"]+)"', RECEPTION.read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(said), 8)
        self.assertEqual([words for words in said if not notation.is_unreadable(words)], [])
        self.assertFalse(notation.is_unreadable("Send L qn=0 msn=1 mo=0 len=5"))

    def test_the_words_for_what_is_wrong_with_enhanced_data_are_known(self):
        said = re.findall(r'" ! (S [^"]+)"', (PROJECT / "reference_rnic" / "wire" / "mpa_frame.cpp").read_text(encoding="utf-8"))
        self.assertEqual(len(said), 2)
        self.assertTrue(all(notation.lacks_enhanced_data(f"MPA Reply rev 1 [S] pd=4 ! {words}") for words in said))
        consumer = (PROJECT / "suite" / "cases" / "framework" / "consumer.cpp").read_text(encoding="utf-8")
        self.assertIn('"endpoint {} not connected: {}"', consumer)

    def test_each_report_tells_the_cause_once(self):
        document = make_samples.document([failed(number, SEEN, UNREAD) for number in range(6)])
        document["findings"] = [finding(cases=6)]
        page = Page(self.rendered(document)[0])
        self.assertEqual(page.faults, [])
        self.assertEqual(len(page.with_class("card")), 1)
        for words in ("6 new failures", "Seen in 6 cases about something else, first in mpa.x.0", "6 cases about 1 rule could not be judged because of it",
                      "and 2 more"):
            self.assertIn(words, page.text)
        report = self.loaded(document)
        summary = markdown.markdown(report, CATALOGUE)
        self.assertIn("### New failures (6, 1 cause)", summary)
        self.assertIn("in 6 cases about something else, first in `mpa.x.0`\n  Not judged because of it: 6 cases about another rule\n", summary)
        line, = github.annotations(report, CATALOGUE)
        self.assertIn("; in 6 cases about something else; 6 new failures, the first: mpa.x.0", line)


if __name__ == "__main__":
    unittest.main()
