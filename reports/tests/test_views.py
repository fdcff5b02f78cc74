# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What the reports work out of the results: the ladder, the coverage of rules, the differences, the findings."""

import pathlib
import tempfile
import unittest

from rnic_reports import breakers, case_data, catalogue, coverage, notation
from rnic_reports.word_diff import word_diff
from rnic_reports.ladder import RUNG_LIMIT, ladder
from rnic_reports.model import PASSED_LIMIT, Case
from rnic_reports.node import Node
from tests.support import CATALOGUE, SAMPLES, load, make_samples
from tests.make_samples import ANSWER, SEND, case, judged, step


def read(record):
    return Case.of(Node(record, "case"))


def of_steps(steps, judgements):
    verdict = "fail" if any(one["verdict"] == "fail" for one in judgements) else "pass"
    return ladder(read(case("a.b.c", "mpa/a.cpp", ["a.b.c"], verdict=verdict, exchange=steps, expectations=judgements)))


class Ladder(unittest.TestCase):
    def test_a_judgement_stands_at_its_frame_and_among_its_octets(self):
        steps = [step(0.001, "to_iut", "Send 1", SEND, 7), step(0.002, "from_iut", "Send 1", SEND, 9), step(0.002, "from_iut", "Send 2", ANSWER, 9)]
        found = of_steps(steps, [judged("r", ["x"], "another description", "fail", 0.002, octets=ANSWER, frame=9)])
        self.assertEqual([rung.worst for rung in found.rungs], ["", "", "fail"])
        self.assertEqual(found.place, {0: 2})

    def test_the_frame_decides_between_steps_that_say_the_same(self):
        steps = [step(0.001, "from_iut", "Send 1", SEND, 7), step(0.009, "from_iut", "Send 1", SEND, 9)]
        self.assertEqual(of_steps(steps, [judged("r", ["x"], "Send 1", "fail", 0.001, octets=SEND, frame=9)]).place, {0: 1})

    def test_without_a_frame_the_words_decide_and_then_the_time(self):
        steps = [step(0.001, "none", "event"), step(0.010, "none", "event"), step(0.011, "from_iut", "event")]
        found = of_steps(steps, [judged("r", ["x"], "event", "fail", 0.009, "none")])
        self.assertEqual([rung.worst for rung in found.rungs], ["", "fail", ""])

    def test_what_never_came_has_a_rung_of_its_own_at_its_time(self):
        steps = [step(0.001, "to_iut", "Send", SEND, 1), step(0.003, "from_iut", "FIN", frame=2)]
        found = of_steps(steps, [judged("r", ["Terminate"], "nothing", "fail", 0.002), judged("r", ["y"], "fine", "pass", 0.002)])
        self.assertEqual([(rung.step is None, rung.worst) for rung in found.rungs], [(False, ""), (True, "fail"), (False, "")])

    def test_the_worst_mark_colours_the_rung(self):
        found = of_steps([step(0.001, "from_iut", "x", frame=3)], [judged("r", ["x"], "x", verdict, 0.001, frame=3)
                                                                   for verdict in ("pass", "advisory", "inconclusive")])
        self.assertEqual((found.rungs[0].worst, len(found.rungs[0].marks)), ("inconclusive", 3))

    def test_a_long_silence_is_shown_and_a_short_one_is_not(self):
        found = of_steps([step(at, "to_iut", "x") for at in (0, 0.01, 0.3, 0.31)], [])
        self.assertEqual([round(rung.silence, 3) for rung in found.rungs], [0, 0, 0.29, 0, 0])

    def test_a_long_exchange_is_cut_but_not_its_failures(self):
        steps = [step(number / 1000, "from_iut", f"segment {number}", frame=number + 1) for number in range(RUNG_LIMIT + 200)]
        found = of_steps(steps, [judged("r", ["x"], "y", "fail", 0.45, frame=451)])
        self.assertEqual((len(found.rungs), found.left_out), (RUNG_LIMIT + 1, 199))
        self.assertEqual(found.rungs[-1].worst, "fail")

    def test_a_passed_exchange_is_cut_shorter(self):
        found = of_steps([step(number / 1000, "from_iut", "x") for number in range(PASSED_LIMIT + 5)], [])
        self.assertEqual((len(found.rungs), found.left_out), (PASSED_LIMIT, 5))

    def test_no_exchange(self):
        self.assertEqual(of_steps([], []).rungs, [])


class Provocations(unittest.TestCase):
    def test_what_is_wrong_and_where(self):
        self.assertEqual(notation.provocations("Send L qn=0 len=4 ! reserved DDP bits 0x04 ! octets 36 to 39: 00 in place of 01 ! octet 1: 23 in place of 22"),
                         ("Send L qn=0 len=4", ["reserved DDP bits 0x04", "octets 36 to 39: 00 in place of 01", "octet 1: 23 in place of 22"],
                          [(36, 4), (1, 1)]))

    def test_only_what_the_tester_sent_is_a_provocation(self):
        text = "Send L qn=0 ! octets 36 to 39: 00 in place of 01"
        steps = [step(0.001, direction, text, SEND, 1) for direction in ("to_iut", "from_iut", "none")]
        shown = case_data.of_case(read(case("a.b.c", "mpa/a.cpp", ["a.b.c"], exchange=steps, pcap=None)), CATALOGUE, None, False)
        self.assertEqual([(rung["text"], rung.get("wrong")) for rung in shown["rungs"]], [("Send L qn=0", [(36, 4)]), (text, None), (text, None)])


class Coverage(unittest.TestCase):
    def state(self, *judgements, **members):
        return coverage.states_of(read(case("a.b.c", "mpa/a.cpp", ["r"], expectations=list(judgements), **members))).get("r")

    def test_the_worst_judgement_makes_the_state(self):
        passed, failed = judged("r", ["x"], "x", "pass", 0), judged("r", ["x"], "y", "fail", 0)
        self.assertEqual(self.state(passed), "kept")
        self.assertEqual(self.state(passed, failed, verdict="fail"), "broken")
        self.assertEqual(self.state(failed, verdict="fail", gate={"result": "known", "entry": "e", "reason": ""}), "known")
        self.assertEqual(self.state(passed, advisories=[{"rule": "r", "text": "t"}]), "advisory")

    def test_a_rule_without_judgement(self):
        self.assertEqual(self.state(), "not_reached", "that it stands in the head is no judgement")
        self.assertEqual(self.state(judged_in_frames=["r"]), "kept")
        self.assertEqual(self.state(verdict="not_applicable"), "not_applicable")
        self.assertEqual(self.state(verdict="error"), "not_reached")

    def test_the_worst_case_makes_the_state_of_a_rule(self):
        use = coverage.RuleUse(catalogue.Rule("r", check="active"), [(None, "kept"), (None, "broken"), (None, "not_applicable")])
        self.assertEqual(use.state, "broken")
        self.assertEqual([coverage.RuleUse(catalogue.Rule("r", check=check), []).state for check in ("active", "none")],
                         ["unjudged", "untestable"])
        self.assertEqual(coverage.RuleUse(catalogue.Rule("r", check="active", needs="sctp"), []).state, "untestable")

    def test_how_a_rule_was_judged(self):
        rule = catalogue.Rule("r", check="active")
        self.assertEqual(coverage.RuleUse(rule, [(None, "not_reached")]).how, "")
        self.assertEqual(coverage.RuleUse(rule, [(None, "kept")], 2).how, "actively, by the frames of 2 cases")
        self.assertEqual(coverage.RuleUse(rule, [(None, "not_reached")], 1).state, "kept")
        self.assertEqual(coverage.RuleUse(catalogue.Rule("r", check="api"), [(None, "broken")]).how, "at the API")

    def test_every_rule_of_the_catalogue_has_one_tile(self):
        report = load.load(SAMPLES / "mixed")
        found = coverage.coverage(report, CATALOGUE)
        self.assertEqual(sum(len(section.uses) for rfc in found for section in rfc.sections), len(CATALOGUE.rules))
        self.assertEqual([rfc.number for rfc in found], [5040, 5041, 5042, 5043, 5044, 6581, 7306, 0, 1, 2, 3])
        self.assertTrue(all(rfc.title for rfc in found))
        by_id = {use.rule.id: use for rfc in found for section in rfc.sections for use in section.uses}
        self.assertEqual(by_id["mpa.crc.mismatch-invalidates-fpdu"].state, "broken")
        self.assertEqual(by_id["mpa.markers.every-512-octets"].state, "known")
        self.assertEqual(by_id["mpa.markers.pointer-distance-to-header"].state, "not_applicable")
        self.assertEqual(by_id["ddp.segmentation.increasing-to"].state, "advisory")
        self.assertEqual(by_id["ddp.untagged.header-format"].state, "unjudged")

    def test_sections_stand_in_natural_order(self):
        rules = {f"r{number}": catalogue.Rule(f"r{number}", 5044, section) for number, section in enumerate(("7.1.10", "A.2", "7.1.9", "10", "7"))}
        found = coverage.coverage(load.load(SAMPLES / "empty"), catalogue.Catalogue(rules, {}, "", ""))
        self.assertEqual([section.number for section in found[0].sections], ["7", "7.1.9", "7.1.10", "10", "A.2"])

    def test_rules_that_the_catalogue_lacks_are_not_lost(self):
        found = coverage.coverage(load.load(SAMPLES / "mixed"), catalogue.Catalogue({}, {}, "", ""))
        self.assertEqual([rfc.number for rfc in found], [-1])
        self.assertEqual(found[0].count("broken"), 2)


    def test_cells_count_each_rule_once_by_level_and_way(self):
        rules = [catalogue.Rule("a", 1, "1", "must", check="active"), catalogue.Rule("b", 1, "1", "must", check="active"),
                 catalogue.Rule("c", 1, "1", "may", check="api", needs="sctp"), catalogue.Rule("d", 1, "1", "should", check="none")]
        uses = [coverage.RuleUse(rule, [(None, state)] if state else []) for rule, state in zip(rules, ("kept", "not_applicable", "", ""))]
        cells = coverage.cells_of(uses)
        self.assertEqual([[len(cell.uses) for cell in level] for level in cells], [[2, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]])
        self.assertEqual((cells[0][0].judged, cells[0][0].first.id), (1, "b"))

    def test_the_cells_hold_the_whole_catalogue(self):
        found = coverage.coverage(load.load(SAMPLES / "mixed"), CATALOGUE)
        self.assertEqual(sum(len(cell.uses) for rfc in found for level in rfc.cells for cell in level), len(CATALOGUE.rules))


class StandsBehind(unittest.TestCase):
    def test_every_deviation_stands_at_a_rule_of_the_catalogue(self):
        found = breakers.load()
        source = breakers.DEVIATIONS.read_text(encoding="utf-8")
        names = [one.name for deviations in found.deviations.values() for one in deviations]
        self.assertEqual(len(names), sum(line.startswith("RNIC_DEVIATION(") for line in source.splitlines()))
        self.assertEqual([rule for rule in found.deviations if rule not in CATALOGUE.rules], [])
        self.assertIn(breakers.Deviation("revision_zero_sent", "sends revision 0"), found.deviations["mpa.startup.revision-one-sent"])

    def test_an_offender_stands_at_each_rule_that_it_breaks(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "one.yaml").write_text(
                "entries:\n- {case: a.b.c, rule: r, also: [s], iut: siw, versions: any, reason: 'two\n  lines'}\n", encoding="utf-8")
            (folder / "torn.yaml").write_text("entries: [", encoding="utf-8")
            found = breakers.load(folder / "none.def", folder)
        offender = breakers.Offender("siw", "any", "a.b.c", "two lines")
        self.assertEqual((dict(found.offenders), dict(found.deviations)), ({"r": [offender], "s": [offender]}, {}))


class Catalogues(unittest.TestCase):
    def test_another_version_than_the_runs_is_told(self):
        self.assertEqual(catalogue.load(catalogue.RULES_FOLDER, CATALOGUE.version).note, "")
        self.assertIn("the run used deadbeef", catalogue.load(catalogue.RULES_FOLDER, "deadbeef").note)

    def test_a_missing_catalogue_is_a_note(self):
        found = catalogue.load("/nonexistent", "")
        self.assertIn("rule texts are missing", found.note)
        self.assertFalse(found.rule("mpa.crc.mismatch-invalidates-fpdu").known)


class Contrast(unittest.TestCase):
    def test_only_what_differs_is_marked(self):
        admissible, actual = word_diff(["Terminate base or bounds (1/1/0x01)", "FIN"], "Terminate invalid STag (1/1/0x00)")
        self.assertEqual([part for part, differs in actual if differs], ["invalid STag", "0x00"])
        self.assertEqual([part for part, differs in admissible[0] if differs], ["base or bounds", "0x01"])
        self.assertEqual(admissible[1], [("FIN", False)])
        self.assertEqual("".join(part for part, _ in actual), "Terminate invalid STag (1/1/0x00)")

    def test_lines_that_have_nothing_in_common_are_not_marked(self):
        self.assertEqual(word_diff(["connection closed"], "Send L qn=0"), ([[("connection closed", False)]], [("Send L qn=0", False)]))

    def test_long_lines_cost_nothing(self):
        self.assertEqual(word_diff(["a " * 5000], "b " * 5000)[1], [("b " * 5000, False)])


class Octetry(unittest.TestCase):
    def test_the_generator_computes_crc32c(self):
        self.assertEqual(make_samples.crc32c(b"123456789"), 0xE3069283)
