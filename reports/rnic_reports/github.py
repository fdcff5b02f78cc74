# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Annotations of a GitHub workflow: one line for each cause of new failures, for stale known issues, and for a run that is incomplete."""

from . import causes
from .words import plural

LIMIT = 10  # annotations of one kind that GitHub shows of a step


def annotations(report, catalogue, location=""):
    """Lines for standard output. `location`: the file that they are shown at; empty: none."""
    place = {"file": location} if location else {}
    if not report.complete:
        yield _line("error", f"the run is incomplete ({report.run.ending}): {len(report.cases)} of {report.run.selected} selected cases have a verdict",
                    title="RNIC conformance", **place)
    found = causes.causes(report)
    for cause in found[:LIMIT - 1]:
        yield _line("error", _words(cause, catalogue), title=f"RNIC conformance: {cause.rule or cause.verdict}", **place)
    if len(found) >= LIMIT:
        yield _line("error", f"{len(found) - LIMIT + 1} more causes of new failures are in the report", title="RNIC conformance", **place)
    if report.stale_entries:
        yield _line("warning", "stale known issues: " + ", ".join(report.stale_entries[:20]), title="RNIC conformance", **place)


def _words(cause, catalogue):
    way, rule = cause.ways[0] if cause.ways else None, catalogue.rule(cause.rule)
    judged = cause.seen or way.judgement
    came = cause.seen.observed[0] if cause.seen else way.words
    what = f"{came}, admissible: {' or '.join(judged.admissible[:4])}" if judged else came
    place = f" ({rule.place}, {rule.level.upper()})" if rule.known else ""
    first, rerun = (cause.seen.first_case, cause.seen.rerun) if cause.seen else (way.cases[0].id, way.cases[0].rerun)
    seen = f"; in {plural(cause.seen.cases, 'case')} about something else" if cause.seen else ""
    return f"{what}{place}{seen}; {plural(len(cause.failures), 'new failure')}, the first: {first}\nrun again: {rerun}"


def _line(command, words, **properties):
    said = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in properties.items())
    return f"::{command} {said}::{_escaped(words)}"


def _escaped(words, also=""):
    """What would end the command, or a property of it, percent-encoded."""
    for sign in "%\r\n" + also:
        words = words.replace(sign, f"%{ord(sign):02X}")
    return words
