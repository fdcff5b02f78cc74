# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The table of DAT calls and their returns."""

import types
import unittest

from rnic_reports import catalogue, dat_returns

STATED = {"dat_pz_free": ["DAT_SUCCESS", "DAT_INVALID_HANDLE", "DAT_INVALID_STATE"], "dat_csp_free": []}
RULES = catalogue.Catalogue({"dat.pz-free.success": catalogue.Rule("dat.pz-free.success", rfc=0, section="dat_pz_free")}, {}, "", "", STATED)


def judged(actual, verdict="pass", admissible=()):
    return types.SimpleNamespace(rule="dat.pz-free.success", actual=actual, verdict=verdict, admissible=list(admissible))


def report(findings=(), **cases):
    return types.SimpleNamespace(findings=findings, cases=[
        types.SimpleNamespace(id=name, judgements=judgements, is_known=name.startswith("known")) for name, judgements in cases.items()])


def rows(table):
    return [(call.name, one.code, one.stated, one.state, [case.id for case in one.cases])
            for call in table.calls for one in call.returns]


class TestReturns(unittest.TestCase):
    def table(self, findings=(), **cases):
        return dat_returns.table_of(report(findings, **cases), RULES)

    def test_stated_returns_stand_there_even_if_none_came(self):
        table = self.table()
        self.assertEqual(["dat_csp_free", "dat_pz_free"], [call.name for call in table.calls])
        self.assertEqual([("dat_pz_free", code, True, "unjudged", []) for code in STATED["dat_pz_free"]], rows(table))
        self.assertEqual((0, 3), (table.count(True, True), table.count(True, False)))

    def test_a_return_is_its_calls_own_whatever_the_rule(self):
        table = self.table(a=[judged("dat_pz_create: DAT_INVALID_PARAMETER (subtype 2)"), judged("DAT_SUCCESS"), judged("DAT_SUCCESS")])
        self.assertIn(("dat_pz_create", "DAT_INVALID_PARAMETER", False, "kept", ["a"]), rows(table))
        self.assertIn(("dat_pz_free", "DAT_SUCCESS", True, "kept", ["a"]), rows(table))
        self.assertEqual(1, table.count(False, True))

    def test_what_should_have_come_is_broken(self):
        table = self.table(a=[judged("dat_pz_free: DAT_SUCCESS", "fail", ["DAT_INVALID_STATE"])], b=[judged("dat_pz_free: DAT_INVALID_STATE")],
                           known=[judged("dat_pz_free: DAT_SUCCESS", "fail", ["DAT_INVALID_HANDLE"])])
        self.assertEqual([("DAT_SUCCESS", "unjudged"), ("DAT_INVALID_HANDLE", "known"), ("DAT_INVALID_STATE", "broken")],
                         [(one.code, one.state) for one in table.calls[1].returns])
        self.assertEqual(["a", "b"], [case.id for case in table.calls[1].returns[2].cases])

    def test_what_a_random_session_finds_is_broken(self):
        table = self.table(a=[judged("dat_pz_free: DAT_SUCCESS", "also_seen", ["DAT_INVALID_STATE"])])
        self.assertEqual("broken", table.calls[1].returns[2].state)

    def test_a_known_finding_is_known(self):
        for new, state in ((False, "known"), (True, "broken")):
            finding = types.SimpleNamespace(rule="dat.pz-free.success", is_new_failure=new)
            table = self.table([finding], a=[judged("dat_pz_free: DAT_SUCCESS", "also_seen", ["DAT_INVALID_STATE"])])
            self.assertEqual(state, table.calls[1].returns[2].state)

    def test_what_is_no_return_has_no_place(self):
        table = self.table(a=[judged("DAT_CONNECTION_EVENT_BROKEN"), judged("completion 1: DAT_DTO_SUCCESS"), judged("no event")])
        self.assertEqual(0, table.count(True, True) + table.count(False, True))

    def test_the_file_of_stated_returns(self):
        stated = catalogue.load(catalogue.RULES_FOLDER, "").returns
        self.assertEqual(["DAT_SUCCESS", "DAT_INVALID_HANDLE", "DAT_INVALID_STATE"], stated["dat_cno_free"])
        self.assertEqual(88, len(stated))
        self.assertEqual(set(), {code for codes in stated.values() for code in codes} - set(dat_returns.ORDER))


if __name__ == "__main__":
    unittest.main()
