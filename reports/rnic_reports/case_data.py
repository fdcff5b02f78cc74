# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What the page shows of a case when it is opened, as plain JSON values; templates/case.js turns them into elements."""

import dataclasses
import os
import pathlib
import shlex
import urllib.parse

from . import coverage, notation, why, words
from .ladder import ladder
from .model import Case
from .word_diff import word_diff

OCTETS_OF_PASS = 64  # octets of a step shown where all went well; the headers are in there
OCTETS = 512


@dataclasses.dataclass(frozen=True)
class Place:
    """Where the results are, and where the page will be: links lead from one to the other."""

    results: pathlib.Path
    page: pathlib.Path

    @staticmethod
    def of(folder, html_path):
        return Place(pathlib.Path(folder).resolve(), pathlib.Path(html_path).resolve().parent)

    def pcap(self, pcap, frame):
        """Link, command that shows the frame, and what is wrong with the file."""
        file = pathlib.Path(os.path.normpath(self.results / pcap.file))
        if self.results not in file.parents or os.path.islink(file):
            return {"href": "", "wireshark": "", "trouble": "the path leads out of the run's folder, so there is no link"}
        path = pathlib.PurePath(os.path.relpath(file, self.page)).as_posix()
        shown = "" if frame is None else shlex.join(["wireshark", "-g", str(frame), "-r", path])
        try:
            size = file.stat().st_size
            trouble = "" if size == pcap.octets else f"the file has {size:,} octets, recorded were {pcap.octets:,}"
        except (OSError, ValueError):
            trouble = "the file is not there"
        return {"href": "./" + urllib.parse.quote(path), "wireshark": shown, "trouble": trouble}


def of_case(case: Case, catalogue, place: Place, strict):
    """All of the case but what its line in the list of cases says already; earlier attempts are inside."""
    limit = OCTETS_OF_PASS if case.verdict == "pass" else OCTETS
    shown = ladder(case)
    found = case.decisive
    return {
        "id": case.id, "title": case.title, "file": case.file, "configuration": case.configuration, "verdict": case.verdict,
        "known": case.is_known, "reason": case.reason, "why": case.why, "attempt": case.attempt, "worker": case.worker,
        "when": f"{words.when(case.start)}, {words.duration(case.duration)}", "gate": [case.gate.result, case.gate.reason, case.gate.entry], "rerun": case.rerun,
        "seen": case.seen_to_fail_by,
        "advisories": [[advisory.rule, advisory.text, why.advises(catalogue.rule(advisory.rule))] for advisory in other_advisories(case)],
        "rows": [[row.name, row.verdict, row.reason] for row in case.rows],
        "rules": _rules(case),
        "judgements": [_judgement(one, shown.place.get(number), limit, why.of(one, catalogue.rule(one.rule), strict))
                       for number, one in enumerate(case.judgements)],
        "rungs": [_rung(rung, limit) for rung in shown.rungs], "left_out": shown.left_out,
        "logs": [[title, log] for title, log in (("Kernel log of the IUT", case.kernel_log),
                                                 ("stderr of the agent or worker", case.stderr)) if log],
        "pcap": {**_pcap(case.pcap), **place.pcap(case.pcap, found.frame if found else None)} if case.pcap else None,
        "earlier": [of_case(other, catalogue, place, strict) for other in case.earlier],
    }


def other_advisories(case):
    """Those that no judgement of the case reports as well."""
    told = {(found.rule, found.actual) for found in case.judgements if found.verdict == "advisory"}
    return [advisory for advisory in case.advisories if (advisory.rule, advisory.text) not in told]


def _rules(case):
    """[rule, state, is an aim of the case, numbers of its judgements], the worst first."""
    numbers = {}
    for number, judgement in enumerate(case.judgements):
        numbers.setdefault(judgement.rule, []).append(number)
    states = coverage.states_of(case)
    return sorted(([rule, state, rule in case.rules, numbers.get(rule, [])] for rule, state in states.items()),
                  key=lambda rule: coverage.STATES.index(rule[1]))


def _judgement(judgement, rung, limit, reason):
    admissible, actual = judgement.admissible, judgement.actual
    if judgement.verdict != "pass":
        admissible, actual = word_diff(admissible, actual)
    elif judgement.direction == "none" and len(admissible) == 1:
        actual = admissible[0]  # the words for what came are those of a failure
    return {"rule": judgement.rule, "row": judgement.row, "verdict": judgement.verdict, "admissible": admissible, "actual": actual,
            "frame": judgement.frame, "rung": rung, "why": reason,
            **(_octets(judgement.octets, limit) if judgement.verdict != "pass" else {})}


def _rung(rung, limit):
    """Without the members that say nothing: a large run has hundreds of thousands of rungs."""
    if rung.silence:
        return {"silence": words.duration(rung.silence)}
    shown = {"at": round(rung.at, 6)}
    if rung.marks:
        shown["marks"], shown["worst"] = [number for number, _ in rung.marks], rung.worst
    step = rung.step
    if step:
        shown["direction"], shown["text"] = step.direction, step.text
        if step.frame is not None:
            shown["frame"] = step.frame
        provoked = step.direction == "to_iut" and " ! " in step.text
        if step.octets.total:
            shown.update(_octets(step.octets, OCTETS if provoked else limit))
        if provoked:
            shown["text"], shown["provoked"], shown["wrong"] = notation.provocations(step.text)
    return shown


def _pcap(pcap):
    return {"file": pcap.file, "sha256": pcap.sha256, "frames": pcap.frames, "octets": pcap.octets, "source": pcap.source, "note": pcap.note}


def _octets(octets, limit):
    return {"hex": octets.start[:2 * limit], "total": octets.total} if octets.total else {}
