# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A Markdown summary, short enough for the comment of a continuous integration: counts, new failures by cause, stale known issues,
advisories."""

import re

from . import attention, causes
from .model import Report, VERDICTS

LIST_LIMIT = 50
CASE_LIMIT = 5  # of one entry
WORDS = {"pass": "pass", "fail": "fail", "inconclusive": "inconclusive", "error": "error", "not_applicable": "n/a"}


def markdown(report: Report, catalogue):
    """The summary as text; at most LIST_LIMIT entries in each list."""
    lines = [f"## RNIC conformance: {', '.join(report.headline)}", "", _about(report), "", *_warnings(report), *_table(report)]
    found = [_cause(cause, catalogue) for cause in causes.causes(report)]
    lines += _list("New failures" if report.new_failures else "New findings", len(report.new_failures) or len(found), found)
    lines += _list("Stale known issues", len(report.stale_entries), [f"- {code(entry)}" for entry in report.stale_entries])
    lines += _list("Flaky: passed after a bad attempt", len(report.flaky), [_flaky(case) for case in report.flaky])
    lines += _list("Advisories", report.advisories, [_advisory(*found, catalogue) for found in attention.advisories(report)])
    return "\n".join(lines).rstrip() + "\n"


def code(text, limit=200):
    """Text in a code span: whatever a peer put into it, it makes no mark-up, link or mention."""
    text = " ".join(text[:limit].split()) + ("..." if len(text) > limit else "")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def plain(text):
    """Words of a document, in which no sign makes mark-up."""
    return re.sub(r"([\\`*_\[\]<>#|~&])", r"\\\1", text)


def _cell(text):
    return text.replace("|", "\\|")


def _about(report):
    run = report.run
    driver = f"{run.iut.driver} {run.iut.driver_version}".strip()
    parts = [f"IUT {code(run.iut.kind)}", *([code(run.iut.implementation)] if run.iut.implementation else []),
             *([f"driver {code(driver)}"] if driver else []), *([f"kernel {code(run.iut.kernel)}"] if run.iut.kernel else []),
             f"suite {code(run.suite_version)} at {code(run.suite_commit[:12])}", f"started {code(run.start)}"]
    if run.exit_code is not None:
        parts.append(f"exit code {run.exit_code}")
    return " · ".join(parts)


def _warnings(report):
    lines = []
    if not report.complete:
        lines.append(f"> **Incomplete** ({report.run.ending}): {len(report.cases)} of {report.run.selected} selected cases have a verdict. "
                     f"{code(report.run.ending_reason)}")
    if len(report.run.sessions) > 1:
        lines.append(f"> {len(report.run.sessions)} sessions: the last attempt at each case counts.")
    lines += [f"> {code(note, 400)}" for note in report.notes]
    if report.run.capture.dropped or report.run.capture.interface_dropped:
        lines.append(f"> The capture lost {report.run.capture.dropped + report.run.capture.interface_dropped} frames.")
    return [part for line in lines for part in (line, ">")][:-1] + [""] if lines else []


def _table(report):
    lines = ["| layer | cases | " + " | ".join(WORDS[verdict] for verdict in VERDICTS) + " |", "|---|" + "---:|" * (len(VERDICTS) + 1)]
    for layer in [*report.layers, None]:
        if layer is None and len(report.layers) == 1:
            continue
        counts = [report.count(layer=layer), *(report.count(verdict, layer) for verdict in VERDICTS)]
        name = "**all**" if layer is None else _cell(code(layer))
        lines.append(f"| {name} | " + " | ".join(str(count) if count else "" for count in counts) + " |")
    known, advisories = len(report.known), report.advisories
    extra = [f"{known} known issue{'s' if known > 1 else ''}"] if known else []
    extra += [f"{advisories} advisor{'ies' if advisories > 1 else 'y'}"] if advisories else []
    return lines + (["", " · ".join(extra)] if extra else []) + [""]


def _cause(cause, catalogue):
    head = f"- **{cause.verdict}** {_rule(cause.rule, catalogue) if cause.rule else ''}".rstrip()
    way = cause.ways[0] if cause.ways else None
    if cause.seen:
        told = f"{_contrast(cause.seen.admissible, cause.seen.observed[0])}; in {_count(cause.seen.cases)} about something else, " \
               f"first in {code(cause.seen.first_case)}"
    elif way.judgement:
        frame = f", frame {way.judgement.frame}" if way.judgement.frame is not None else ""
        others = len(cause.ways) - 1
        told = _contrast(way.judgement.admissible, way.judgement.actual) + frame + (f"; {others} other way{'s' if others > 1 else ''} to break it" if others else "")
    else:
        told = code(way.words) or "no reason given"
    explained = _with_it("Not judged because of it", cause.explained_by_rule)
    implied = _with_it("Could not have passed, since their rules follow from this one, which is always broken", cause.implied_by_rule)
    return f"{head}: {told}{_cases(cause.cases) if cause.cases else ''}{implied}{explained}"


def _with_it(words, by_rule):
    """Of the cases that a cause accounts for: how many, on a line of the entry."""
    other = "another rule" if len(by_rule) == 1 else f"{len(by_rule)} other rules"
    return f"\n  {words}: {_count(sum(len(cases) for _, cases in by_rule))} about {other}" if by_rule else ""


def _contrast(admissible, actual):
    return f"admissible {' or '.join(code(line) for line in admissible[:4])}, actual {code(actual)}"


def _flaky(case):
    bad = [attempt for attempt in case.earlier if attempt.verdict not in ("pass", "not_applicable")]
    return f"- {code(case.id)}: attempt {', '.join(str(one.attempt) for one in bad)} of {case.attempt}: {bad[-1].verdict}: {code(bad[-1].why)}"


def _advisory(told, cases, catalogue):
    rule, words = told
    return f"- {_rule(rule, catalogue) + ': ' if rule else ''}{code(words)}{_cases(cases)}"


def _rule(rule_id, catalogue):
    rule = catalogue.rule(rule_id)
    return code(rule.id) + (f" ([{rule.place}]({rule.href}), {rule.level.upper()})" if rule.href else f" ({rule.place})" if rule.known else "")


def _count(cases):
    return "1 case" if cases == 1 else f"{cases} cases"


def _cases(cases):
    """The cases on a line of their own, which belongs to the entry."""
    more = f" and {len(cases) - CASE_LIMIT} more" if len(cases) > CASE_LIMIT else ""
    return f"\n  {_count(len(cases))}: {', '.join(code(case.id) for case in cases[:CASE_LIMIT])}{more}"


def _list(title, count, entries):
    if not entries:
        return []
    more = [f"- and {len(entries) - LIST_LIMIT} more"] if len(entries) > LIST_LIMIT else []
    causes = f", {len(entries)} cause{'s' if len(entries) > 1 else ''}" if len(entries) != count else ""
    return [f"### {title} ({count}{causes})", "", *entries[:LIST_LIMIT], *more, ""]
