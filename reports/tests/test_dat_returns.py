# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The table of DAT calls and their returns."""

import unittest

from rnic_reports import coverage, dat_returns
from rnic_reports.catalogue import Rule


class Case:
    def __init__(self, name):
        self.id = name


def use(aspect, *uses):
    return coverage.RuleUse(Rule(f"dat.pz-free.{aspect}", rfc=0, section="dat_pz_free", check="case"), list(uses))


class TestReturns(unittest.TestCase):
    def test_aspects_that_are_returns(self):
        self.assertEqual("DAT_INVALID_STATE", dat_returns.code_of(Rule("dat.pz-free.invalid-state")))
        self.assertEqual("DAT_INVALID_HANDLE", dat_returns.code_of(Rule("dat.pz-free.invalid-handle-freed")))
        self.assertEqual(dat_returns.OTHER, dat_returns.code_of(Rule("dat.pz-free.successor")))

    def test_each_return_has_its_worst_state_and_each_case_once(self):
        one, other = Case("dat.pz.one"), Case("dat.pz.other")
        section = coverage.Section("dat_pz_free", [use("success", (one, "kept")), use("invalid-handle", (one, "kept")),
                                                   use("invalid-handle-freed", (one, "kept"), (other, "broken"))])
        calls = dat_returns.returns_of([coverage.Rfc(5040, "", []), coverage.Rfc(0, "DAT 2.0", [section])])
        self.assertEqual(["dat_pz_free"], [call.name for call in calls])
        self.assertEqual([("DAT_SUCCESS", "kept"), ("DAT_INVALID_HANDLE", "broken")],
                         [(each.code, each.state) for each in calls[0].returns])
        self.assertEqual([one, other], calls[0].returns[1].cases)


if __name__ == "__main__":
    unittest.main()
