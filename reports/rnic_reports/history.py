# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Several runs: what each case came to in each of them, what changed from one to another, and which cases are unstable."""

import dataclasses
import pathlib

from . import load, renamed
from .model import VERDICTS

GOOD = ("pass", "not_applicable")
KINDS = ("new", "changed", "fixed", "added", "gone")
KIND_WORDS = {"new": "new failure", "changed": "fails differently", "fixed": "fixed", "added": "added", "gone": "not run again"}


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    verdict: str
    rule: str  # that decided it; empty where none did
    why: str
    gate: str
    tries: tuple  # verdicts of all attempts, the first one first

    @property
    def good(self):
        return self.verdict in GOOD


@dataclasses.dataclass
class Run:
    """What a history keeps of a run."""

    folder: pathlib.Path
    id: str
    start: str
    iut: str
    version: str  # driver, firmware and kernel
    suite: str
    seconds: float
    complete: bool
    outcomes: dict  # present id of the case -> Outcome

    def count(self, verdict):
        return sum(1 for one in self.outcomes.values() if one.verdict == verdict)

    @property
    def new_failures(self):
        return sum(1 for one in self.outcomes.values() if one.gate == "new_failure")

    @property
    def counts(self):
        return [self.count(verdict) for verdict in VERDICTS]

    @property
    def subject(self):
        """Two runs of one subject ought to come to the same."""
        return self.iut, self.version, self.suite


@dataclasses.dataclass(frozen=True)
class Change:
    kind: str  # of KINDS
    case: str
    before: Outcome | None
    after: Outcome | None

    @property
    def worse(self):
        return self.kind in ("new", "changed")


def in_words(changes):
    """[phrase] for each kind of change that there is: `2 new failures`."""
    counts = [(sum(one.kind == kind for one in changes), kind) for kind in KINDS]
    return [f"{count} {KIND_WORDS[kind]}{'s' if kind == 'new' and count > 1 else ''}" for count, kind in counts if count]


def read(folder):
    """Raises load.Unreadable."""
    report = load.load(folder)
    run, iut = report.run, report.run.iut
    version = ", ".join(filter(None, (f"{iut.driver} {iut.driver_version}".strip(), iut.firmware and f"firmware {iut.firmware}",
                                      iut.kernel and f"kernel {iut.kernel}")))
    return Run(pathlib.Path(folder), run.id, run.start, iut.implementation or iut.kind, version, f"{run.suite_version} at {run.suite_commit[:12]}",
               sum(case.duration for case in report.cases), report.complete,
               {**{renamed.current_id(case.id): _outcome(case) for case in report.cases}, **{found.id: _of_finding(found) for found in report.findings}})


def _of_finding(found):
    """A finding is an item of the run as a case is, and fails."""
    return Outcome("fail", found.rule, found.observed[0], found.gate.result, ("fail",))


def _outcome(case):
    found = case.decisive
    return Outcome(case.verdict, found.rule if found else "", "" if case.verdict == "pass" else case.why, case.gate.result,
                   tuple(attempt.verdict for attempt in (*case.earlier, case)))


def compare(before, after):
    """The changes from one run to another, the worst first."""
    changes = [change for case in dict.fromkeys([*before.outcomes, *after.outcomes])
               if (change := _change(case, before.outcomes.get(case), after.outcomes.get(case)))]
    return sorted(changes, key=lambda change: (KINDS.index(change.kind), change.case))


def _change(case, before, after):
    kind = _kind(before, after)
    return Change(kind, case, before, after) if kind else None


def _kind(before, after):
    if after is None:
        return "gone"
    if before is None:
        return "added" if after.good else "new"
    if before.good or after.good:
        return "" if before.good and after.good else "fixed" if after.good else "new"
    return "changed" if (before.verdict, before.rule) != (after.verdict, after.rule) else ""


def is_unstable(outcomes):
    """Of one case in runs of one subject: another verdict or rule in one of them, or in one of the attempts within a run."""
    seen = [one for one in outcomes if one]
    return len({(one.verdict, one.rule) for one in seen}) > 1 or any(len(set(one.tries)) > 1 for one in seen)


def unstable(runs):
    """[(case, subject's runs that show it)] of cases that did not come to the same in runs of the same thing."""
    subjects = {}
    for run in runs:
        subjects.setdefault(run.subject, []).append(run)
    found = {}
    for same in subjects.values():
        for case in dict.fromkeys(case for run in same for case in run.outcomes):
            if is_unstable([run.outcomes.get(case) for run in same]):
                found.setdefault(case, []).extend(same)
    return sorted(found.items())


def troubled(runs):
    """Cases that were not good in each of the runs, by id."""
    return sorted({case for run in runs for case, one in run.outcomes.items() if not one.good})
