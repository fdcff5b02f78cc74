# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What a reader must see first: new failures, gathered where many cases fail in one way; and the quieter lists below them."""

import collections
import dataclasses
import re

from .model import Judgement

CARD_LIMIT = 60
WAY_LIMIT = 12  # of one cause


# What differs from case to case though the cause is one: durations, counts, memory and ports that the kernel chose.
_VARYING = re.compile(r"\b\d[\d,.]* ?(ms|s|us)\b|\((seen in the capture, )?the first of \d+\)|\(seen in the capture\)|\b(stag|to|sink|source)[ =]0x[0-9a-f]+|:\d{4,5}\b")


@dataclasses.dataclass
class Way:
    """What came in place of the admissible, and the cases in which it came."""

    judgement: Judgement | None  # None: the case failed without a judgement (a crash, a lost agent)
    words: str
    cases: list


@dataclasses.dataclass
class Finding:
    """One cause: a rule and a verdict, in one way or several; where no rule was judged, the words of the reason."""

    rule: str
    ways: list  # the most frequent first

    @property
    def cases(self):
        return [case for way in self.ways for case in way.cases]


def findings(cases):
    """The causes of which most cases fail come first."""
    found = collections.OrderedDict()
    for case in cases:
        decisive = case.decisive
        rule = decisive.rule if decisive else case.rules[0] if case.rules else ""
        words = decisive.actual if decisive else case.why
        cause = found.setdefault((case.verdict, rule, "" if decisive else alike(words)), (rule, collections.OrderedDict()))
        cause[1].setdefault(alike(words), Way(decisive, words, [])).cases.append(case)
    made = [Finding(rule, sorted(ways.values(), key=lambda way: -len(way.cases))) for rule, ways in found.values()]
    return sorted(made, key=lambda finding: -len(finding.cases))


def alike(words):
    """The words without what varies: the same for two outcomes that have one cause."""
    return " ".join(_VARYING.sub("", words).split())


def by_words(pairs):
    """[(words, cases)] for (words, case) pairs, the most frequent first; the words are those of the first case, a case counts once."""
    found = collections.OrderedDict()
    for words, case in pairs:
        key = tuple(map(alike, words)) if isinstance(words, tuple) else alike(words)
        cases = found.setdefault(key, (words, {}))[1]
        cases[case.id] = case
    return sorted(((words, list(cases.values())) for words, cases in found.values()), key=lambda item: -len(item[1]))


def known_issues(report):
    """[(reason, cases)] of failures that the expectations file explains."""
    return by_words((case.gate.reason or "no reason recorded", case) for case in report.known)


def advisories(report):
    return by_words(((advisory.rule, advisory.text), case) for case in report.cases for advisory in case.advisories)


def not_applicable(report):
    return by_words((case.reason or "no reason given", case) for case in report.cases if case.verdict == "not_applicable")
