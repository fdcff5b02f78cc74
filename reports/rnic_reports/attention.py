# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What a reader must see first: new failures, gathered where many cases fail in one way; and the quieter lists below them."""

import collections
import dataclasses

from .model import Judgement

CARD_LIMIT = 60


@dataclasses.dataclass
class Finding:
    """One way to fail, and every case that fails so."""

    rule: str
    judgement: Judgement | None  # None: the case failed without a judgement (a crash, a lost agent)
    why: str
    cases: list


def findings(cases):
    """Cases that fail in the same way at the same rule are one finding; those that touch most cases come first."""
    found = collections.OrderedDict()
    for case in cases:
        decisive = case.decisive
        rule = decisive.rule if decisive else case.rules[0] if case.rules else ""
        key = (case.verdict, rule, decisive.actual if decisive else case.why)
        found.setdefault(key, Finding(rule, decisive, case.why, [])).cases.append(case)
    return sorted(found.values(), key=lambda finding: -len(finding.cases))


def by_words(pairs):
    """[(words, cases)] for (words, case) pairs, the most frequent first."""
    found = collections.OrderedDict()
    for words, case in pairs:
        found.setdefault(words, []).append(case)
    return sorted(found.items(), key=lambda item: -len(item[1]))


def known_issues(report):
    """[(reason, cases)] of failures that the expectations file explains."""
    return by_words((case.gate.reason or "no reason recorded", case) for case in report.known)


def advisories(report):
    return by_words(((advisory.rule, advisory.text), case) for case in report.cases for advisory in case.advisories)


def not_applicable(report):
    return by_words((case.reason or "no reason given", case) for case in report.cases if case.verdict == "not_applicable")
