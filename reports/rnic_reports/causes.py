# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The causes of new failures. One fault of an IUT fails many cases; those that it explains stand under it, and no other does: a case that
shows a second fault counts for that one."""

import collections
import dataclasses
import math

from . import notation
from .attention import alike
from .consequences import fault_behind, faults_of
from .model import Case, Judgement, RunFinding


@dataclasses.dataclass
class Way:
    """What came in place of the admissible, and the cases in which it came."""

    judgement: Judgement | None  # None: the case failed without a judgement (a crash, a lost agent)
    words: str
    cases: list


@dataclasses.dataclass
class Cause:
    """A rule and a verdict, in one way or several; where no rule was judged, the words of the reason."""

    rule: str  # empty: cases of several rules came to one end, which says nothing of these rules
    ways: list = dataclasses.field(default_factory=list)  # the most frequent first
    seen: RunFinding | None = None  # the same rule broken in cases that are about something else
    first: Case | None = None  # of those
    explained: list = dataclasses.field(default_factory=list)  # cases that could not be judged because of it
    implied: list = dataclasses.field(default_factory=list)  # cases of rules that nobody can keep with this fault

    @property
    def cases(self):
        """Those that show it themselves, where no finding of the run does."""
        return [case for way in self.ways for case in way.cases]

    @property
    def failures(self):
        """All new failures that it accounts for."""
        return self.cases + self.explained + self.implied

    @property
    def verdict(self):
        return "fail" if self.seen else max((case.verdict for case in self.cases), key=("inconclusive", "fail", "error").index)

    @property
    def explained_by_rule(self):
        return _by_own_rule(self.explained)

    @property
    def implied_by_rule(self):
        return _by_own_rule(self.implied)

    @property
    def cases_by_rule(self):
        return _by_own_rule(self.cases)


def _by_own_rule(cases):
    """[(rule, cases)], the most frequent first."""
    found = collections.defaultdict(list)
    for case in cases:
        found[own_rule(case)].append(case)
    return sorted(found.items(), key=lambda item: -len(item[1]))


def causes(report):
    """Findings of the run come first, then the causes that account for most cases."""
    found = {}
    findings = {finding.rule: finding for finding in report.findings}
    by_id = {case.id: case for case in report.cases}

    def of_rule(rule):
        seen = findings.get(rule)
        return found.setdefault(("fail", rule, ""), Cause(rule, [], seen, by_id.get(seen.first_case) if seen else None))

    for finding in report.new_findings:
        of_rule(finding.rule)
    resting, controls, shown, faults = [], _failed_controls(report), {}, faults_of(report.cases)
    for case in report.new_failures:
        control = _rests_on(case, controls)
        broken = None if control else broken_in_frames(case)
        if control:
            resting.append((case, control))
            continue
        if broken in findings:
            shown[case.id] = of_rule(broken)
            shown[case.id].explained.append(case)
        elif fault := fault_behind(case, faults):
            of_rule(fault.shown_by[0]).implied.append(case)
        else:
            shown[case.id] = _add_way(found, of_rule, case)
    for case, control in resting:
        cause = shown.get(control.id) or _add_way(found, of_rule, case)
        if case not in cause.cases:
            cause.explained.append(case)
    for cause in found.values():
        cause.ways.sort(key=lambda way: -len(way.cases))
    return sorted(found.values(), key=lambda cause: (cause.seen is None, -len(cause.failures)))


def _add_way(found, of_rule, case):
    """Under the rule that it breaks, where one was judged; else under what came."""
    decisive = own_judgement(case)
    words = decisive.actual if decisive else _without_row(case)
    unread = bool(decisive) and notation.is_unreadable(decisive.actual)
    if decisive and case.verdict == "fail" and not unread:
        cause = of_rule(decisive.rule)
    else:
        says_nothing = unread or (case.verdict == "inconclusive" and not decisive)
        rule = own_rule(case)
        key = ("", "", alike(words)) if says_nothing else (case.verdict, rule, "" if decisive else alike(words))
        cause = found.setdefault(key, Cause(rule))
        if cause.rule != rule:
            cause.rule = ""
    way = next((way for way in cause.ways if alike(way.words) == alike(words)), None)
    if not way:
        cause.ways.append(way := Way(decisive, words, []))
    way.cases.append(case)
    return cause


def own_rule(case):
    decisive = own_judgement(case)
    return decisive.rule if decisive else case.rules[0] if case.rules else ""


def own_judgement(case):
    """The judgement that makes its verdict; the first that nothing else explains, if there is one."""
    apart = (one for one in case.judgements if one.verdict == case.verdict == "fail" and not _unread_for(one, case))
    return next(apart, case.decisive)


def broken_in_frames(case):
    """The rule that the IUT broke in the frames of the case, which is about something else, if this explains all that is wrong with it: that very
    message could not be read, or the tester gave up the stream on it. That a fault merely came before explains nothing. Else None."""
    seen = sorted((one for one in case.judgements if one.verdict == "also_seen"), key=lambda one: one.at)
    if not seen or case.kernel_log:
        return None
    if case.verdict == "inconclusive":
        end = case.decisive.at if case.decisive else math.inf
        return next((one.rule for one in seen if one.at <= end and _ends_the_stream(one, case)), None)
    if case.verdict != "fail" or not case.decisive:
        return None
    unread = [_unread_for(one, case) for one in case.judgements if one.verdict == "fail"]
    return unread[0].rule if all(unread) else None


def _ends_the_stream(broken, case):
    """Whether nothing could be judged behind it: the message is none, or a Terminate of the tester's own stack is the answer to it."""
    if any(step.direction == "from_iut" and notation.is_unreadable(step.text) and _is_of_one_message(broken, step) for step in case.exchange):
        return True
    answer = next((step for step in case.exchange if step.direction == "to_iut" and step.at >= broken.at), None)
    return bool(answer) and notation.is_terminate(answer.text)


def _unread_for(judgement, case):
    """The finding that says why what came is no message, or has nothing of what the rule is about; else None. The judge tells a fault of one
    kind once."""
    about_enhanced_data = judgement.rule.startswith(("mpa.enhanced.", "mpa.private-data."))
    if not notation.is_unreadable(judgement.actual) and not (about_enhanced_data and notation.lacks_enhanced_data(judgement.actual)):
        return None
    alike_it = [judgement, *(one for one in case.judgements if one.verdict == "fail" and one.actual == judgement.actual)]
    return next((one for one in case.judgements if one.verdict == "also_seen" and any(_is_of_one_message(one, other) for other in alike_it)), None)


def _is_of_one_message(one, other):
    if one.frame is not None and other.frame is not None:
        return one.frame == other.frame
    return bool(one.octets.total) and one.octets == other.octets


def _failed_controls(report):
    """Cases that try once what many others rest on, with the reason that those repeat."""
    return [case for case in report.cases if case.layer == "harness" and case.is_new_failure and case.reason]


def _rests_on(case, controls):
    """The failed control for the sake of which it was not tried, or that came to the same end without what is special in the case. Else None."""
    if case.layer == "harness" or case.kernel_log:
        return None
    if case.verdict == "inconclusive":
        return next((control for control in controls if control.reason in case.reason), None)
    ends = [one.actual for one in case.judgements if one.verdict == "fail"]
    if case.verdict != "fail" or not ends or not all(map(notation.is_no_connection, ends)):
        return None
    return next((control for control in controls if all(alike(control.reason).endswith(alike(end)) for end in ends)), None)


def _without_row(case):
    for row in case.rows:
        if case.why.startswith(f"row {row.name}: "):
            return case.why.removeprefix(f"row {row.name}: ")
    return case.why
