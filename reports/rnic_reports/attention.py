# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What a reader finds below the causes of new failures: lists of what is known or merely advised, the same words gathered."""

import collections
import re

# What differs from case to case though the cause is one: durations, counts, memory and ports that the kernel chose.
_VARYING = re.compile(r"\b\d[\d,.]* ?(ms|s|us)\b|\((seen in the capture, )?the first of \d+\)|\(seen in the capture\)|\b(stag|to|sink|source)[ =]0x[0-9a-f]+|:\d{4,5}\b|\b(endpoint|receive|send|read|write|work) \d+\b")


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
