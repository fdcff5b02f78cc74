# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Which rules of each RFC section this run judged, with what outcome, and by which cases.

Judged is what an expectation evaluated, and what the judge evaluated on the frames of the IUT. A rule that only stands in the head of a
case is its aim, and counts for nothing."""

import collections
import dataclasses
import re

from .catalogue import DOCUMENTS, Rule

# Worst first: a rule's state is the worst that any case made of it.
STATES = ("broken", "error", "known", "inconclusive", "advisory", "kept", "not_applicable", "not_reached", "unjudged", "untestable")
JUDGED = ("broken", "known", "advisory", "kept")
LEVELS = ("must", "should", "may")
WAYS = ("active", "passive", "api", "none")  # how a rule can be checked; none: not from outside, or not over the links that there are


@dataclasses.dataclass
class RuleUse:
    rule: Rule
    uses: list  # (case, state) of each case that names the rule
    in_frames: int = 0  # cases in which the judge evaluated it on what the IUT sent
    seen_to_fail_by: tuple = ()  # deviations that made an expectation of it fail, in a case that evaluated one

    @property
    def how(self):
        """How this run judged it, in words; empty: not."""
        evaluated = any(state in JUDGED for _, state in self.uses)
        ways = ["at the API" if self.rule.check == "api" else "actively"] if evaluated else []
        if self.in_frames:
            ways.append(f"by the frames of {self.in_frames} case{'s' if self.in_frames > 1 else ''}")
        return ", ".join(ways)

    @property
    def state(self):
        states = [state for _, state in self.uses]
        if self.in_frames:  # a breach of it would be a judgement of its case
            states = [state for state in states if state != "not_reached"] + ["kept"]
        if states:
            return min(states, key=STATES.index)
        return "untestable" if self.rule.check == "none" or self.rule.needs else "unjudged"


@dataclasses.dataclass
class Cell:
    """The rules of one level that are checked in one way."""

    uses: list  # of RuleUse

    @property
    def judged(self):
        return sum(1 for use in self.uses if use.state in JUDGED)

    @property
    def first(self):
        """The rule to look at: one that no case judged, if there is one."""
        return next((use.rule for use in self.uses if use.state not in JUDGED), self.uses[0].rule)


def cells_of(uses):
    """A Cell for each level and way, in the order of LEVELS and WAYS."""
    found = collections.defaultdict(list)
    for use in uses:
        way = "none" if use.rule.needs else use.rule.check
        found[use.rule.level, way].append(use)
    return [[Cell(found[level, way]) for way in WAYS] for level in LEVELS]


@dataclasses.dataclass
class Section:
    number: str
    uses: list  # of RuleUse, worst first

    def count(self, *states):
        return sum(1 for use in self.uses if use.state in states)

    @property
    def testable(self):
        return len(self.uses) - self.count("untestable")

    @property
    def cells(self):
        return cells_of(self.uses)


@dataclasses.dataclass
class Rfc:
    number: int  # or one of catalogue.DOCUMENTS; -1: rules that the catalogue does not have
    title: str
    sections: list

    def count(self, *states):
        return sum(section.count(*states) for section in self.sections)

    @property
    def testable(self):
        return sum(section.testable for section in self.sections)

    @property
    def cells(self):
        return cells_of([use for section in self.sections for use in section.uses])

    @property
    def name(self):
        return "Unknown" if self.number < 0 else DOCUMENTS.get(self.number, f"RFC {self.number}")


def known_findings(report):
    """The rules of its findings that are no new failure."""
    return {finding.rule for finding in report.findings if not finding.is_new_failure}


def state_of(judgement, case, known=frozenset()):
    """Of the rule that it names; `known` are the rules of known findings."""
    if judgement.verdict == "also_seen":
        return "known" if judgement.rule in known else "broken"
    if judgement.verdict == "fail":
        return "known" if case.is_known else "broken"
    return "kept" if judgement.verdict == "pass" else judgement.verdict


def states_of(case, known=frozenset()):
    """The state that one case gives to each rule that it names, worst judgement first."""
    found = collections.defaultdict(list)
    for judgement in case.judgements:
        found[judgement.rule].append(state_of(judgement, case, known))
    for advisory in case.advisories:
        if advisory.rule:
            found[advisory.rule].append("advisory")
    for rule in case.rules:
        if rule not in found:
            kept = rule in case.judged_in_frames and case.verdict != "not_applicable"
            found[rule].append("kept" if kept else "not_applicable" if case.verdict == "not_applicable" else "not_reached")
    return {rule: min(states, key=STATES.index) for rule, states in found.items()}


def coverage(report, catalogue):
    """One Rfc for each in the catalogue, and a last one for rules that it does not have."""
    uses, in_frames, seen = collections.defaultdict(list), collections.Counter(), collections.defaultdict(set)
    known = known_findings(report)
    for case in report.cases:
        in_frames.update(case.judged_in_frames)
        for rule, state in states_of(case, known).items():
            uses[rule].append((case, state))
            if state in JUDGED:
                seen[rule].update(case.seen_to_fail_at.get(rule, ()))
    grouped = collections.defaultdict(lambda: collections.defaultdict(list))
    for rule in list(catalogue.rules.values()) + [Rule(name) for name in sorted(uses) if name not in catalogue.rules]:
        grouped[rule.rfc][rule.section].append(RuleUse(rule, uses.get(rule.id, []), in_frames[rule.id], tuple(sorted(seen[rule.id]))))
    return [
        Rfc(number, catalogue.titles.get(number, "rules that the catalogue does not have"),
            [Section(name, sorted(found, key=lambda use: STATES.index(use.state)))
             for name, found in sorted(sections.items(), key=lambda item: _natural(item[0]))])
        for number, sections in sorted(grouped.items(), key=lambda item: (item[0] < 0, item[0] in DOCUMENTS, item[0]))
    ]


def _natural(section):
    """7.1.10 after 7.1.9, appendices last."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"[.\s]+", section)]
