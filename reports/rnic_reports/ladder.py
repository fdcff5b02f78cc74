# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The decoded exchange of a case as the rungs of a sequence ladder, with each judgement at the step that it judged."""

import dataclasses

from .model import PASSED_LIMIT, Judgement, Step

RUNG_LIMIT = 300  # of one case that did not pass; the pcap has all
SILENCE = 0.05  # seconds without a word that are worth a rung of their own


@dataclasses.dataclass
class Rung:
    step: Step | None  # None: a silence, or a judgement on something that never came
    at: float
    silence: float = 0.0  # seconds of silence that end here
    marks: list = dataclasses.field(default_factory=list)  # (number of the judgement, Judgement)

    @property
    def worst(self):
        """fail, error, inconclusive, also_seen, advisory, pass, or empty where nothing was judged."""
        if not self.marks:
            return ""
        order = ("fail", "error", "inconclusive", "also_seen", "advisory", "pass")
        return min((mark.verdict for _, mark in self.marks), key=order.index)


@dataclasses.dataclass
class Ladder:
    rungs: list
    left_out: int  # steps that are on no rung
    place: dict  # number of a judgement -> index of its rung


def ladder(case):
    """The rungs of `case`; every judgement that is no pass has its mark on one, the passes where a step is found."""
    rungs = [Rung(step, step.at) for step in case.exchange]
    index = _Index(rungs)
    extra = []
    for number, judgement in enumerate(case.judgements):
        rung = index.rung_of(judgement)
        if rung is None and judgement.verdict != "pass":
            rung = Rung(None, judgement.at)
            extra.append(rung)
        if rung is not None:
            rung.marks.append((number, judgement))
    limit = PASSED_LIMIT if case.verdict == "pass" else RUNG_LIMIT
    rungs = _cut(_with_silences(sorted(rungs + extra, key=lambda rung: rung.at)), limit)
    shown = sum(1 for rung in rungs if rung.step)
    place = {number: index for index, rung in enumerate(rungs) for number, _ in rung.marks}
    return Ladder(rungs, len(case.exchange) + case.steps_unread - shown, place)


class _Index:
    """The rungs by what a judgement may say of them, so that none is looked through for each judgement."""

    def __init__(self, rungs):
        self._rungs, self._made = rungs, {}

    def _by(self, what, key, wanted):
        """The rungs whose `key` is `wanted`. Each index is made when it is first needed."""
        index = self._made.get(what)
        if index is None:
            index = self._made[what] = {}
            for rung in self._rungs:
                index.setdefault(key(rung.step), []).append(rung)
        return index.get(wanted, [])

    def rung_of(self, judgement: Judgement):
        """The step that the judgement is about: same frame and direction, else same words or octets; None if there is none."""
        way = judgement.direction
        same = self._by("text", _text, (way, judgement.actual))
        if judgement.octets.total > 0:
            same = same + self._by("octets", _octets, (way, judgement.octets))
        candidates = same
        if judgement.frame is not None:
            same = [rung for rung in same if rung.step.frame == judgement.frame]
            candidates = same or self._by("frame", _frame, (way, judgement.frame))
        return min(candidates, key=lambda rung: abs(rung.at - judgement.at), default=None)


def _text(step):
    return step.direction, step.text


def _octets(step):
    return step.direction, step.octets


def _frame(step):
    return step.direction, step.frame


def _cut(rungs, limit):
    """The first `limit` rungs, and of the others those that are marked as not passed."""
    return rungs[:limit] + [rung for rung in rungs[limit:] if rung.worst not in ("", "pass")]


def _with_silences(rungs):
    """Puts a rung before each step that came after a long silence, long in itself and for this exchange."""
    if len(rungs) < 2:
        return rungs
    limit = max(SILENCE, 0.2 * (rungs[-1].at - rungs[0].at))
    spaced = rungs[:1]
    for before, rung in zip(rungs, rungs[1:]):
        if rung.at - before.at >= limit:
            spaced.append(Rung(None, before.at, silence=rung.at - before.at))
        spaced.append(rung)
    return spaced
