# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Annotations of a GitHub workflow: one line for each cause of new failures, for stale known issues, and for a run that is incomplete."""

from . import attention

LIMIT = 10  # annotations of one kind that GitHub shows of a step


def annotations(report, catalogue, location=""):
    """Lines for standard output. `location`: the file that they are shown at; empty: none."""
    place = {"file": location} if location else {}
    if not report.complete:
        yield _line("error", f"the run is incomplete ({report.run.ending}): {len(report.cases)} of {report.run.selected} selected cases have a verdict",
                    title="RNIC conformance", **place)
    causes = attention.findings(report.new_failures)
    for finding in causes[:LIMIT - 1]:
        yield _line("error", _words(finding, catalogue), title=f"RNIC conformance: {finding.rule or finding.cases[0].verdict}", **place)
    if len(causes) >= LIMIT:
        yield _line("error", f"{len(causes) - LIMIT + 1} more causes of new failures are in the report", title="RNIC conformance", **place)
    for finding in report.new_findings:
        yield _line("error", f"{finding.observed[0]}, admissible: {' or '.join(finding.admissible[:4])}; in {finding.cases} cases that are about "
                    f"something else\nrun again: {finding.rerun}", title=f"RNIC conformance: {finding.id}", **place)
    if report.stale_entries:
        yield _line("warning", "stale known issues: " + ", ".join(report.stale_entries[:20]), title="RNIC conformance", **place)


def _words(finding, catalogue):
    way, rule = finding.ways[0], catalogue.rule(finding.rule)
    count = len(finding.cases)
    what = f"{way.words}, admissible: {' or '.join(way.judgement.admissible[:4])}" if way.judgement else way.words
    place = f" ({rule.place}, {rule.level.upper()})" if rule.known else ""
    return f"{what}{place}; {count} case{'s' if count > 1 else ''}, the first: {way.cases[0].id}\nrun again: {way.cases[0].rerun}"


def _line(command, words, **properties):
    said = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in properties.items())
    return f"::{command} {said}::{_escaped(words)}"


def _escaped(words, also=""):
    """What would end the command, or a property of it, percent-encoded."""
    for sign in "%\r\n" + also:
        words = words.replace(sign, f"%{ord(sign):02X}")
    return words
