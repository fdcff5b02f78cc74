# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What the page shows of the rules of a section when it is opened, as plain JSON values, without its words, which the page holds once;
templates/rule.js turns them into elements."""

CASES_SHOWN = 3  # of a rule; the others are in the list of cases


def of_section(section, anchor, breakers):
    return [_rule(use, anchor, breakers) for use in section.uses]


def _rule(use, anchor, breakers):
    rule = use.rule
    cases = [case for case, _ in use.uses]
    return {
        "id": rule.id, "state": use.state, "binds": rule.binds, "needs": rule.needs,
        "cases": [[anchor(case), case.id] for case in cases[:CASES_SHOWN]], "more": max(0, len(cases) - CASES_SHOWN),
        "untestable": "" if cases else _untestable(rule), "how": use.how, "seen": list(use.seen_to_fail_by), "frames": bool(use.in_frames),
        "deviations": [[one.name, one.text] for one in breakers.deviations[rule.id]],
        "offenders": [[f"{one.iut} ({one.versions})", one.case, one.reason] for one in breakers.offenders[rule.id]],
    }


def _untestable(rule):
    if rule.reason:
        return f"Not testable: {rule.reason}"
    return "Needs SCTP: the links between tester and IUT carry TCP only." if rule.needs == "sctp" else ""
