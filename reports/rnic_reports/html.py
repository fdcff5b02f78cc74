# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The HTML report: one file that needs no network, made from the templates beside this package."""

import datetime
import re
import shlex

from . import attention, breakers, case_data, causes, compressed, coverage, dat_returns, page, rule_data
from .model import VERDICTS
from .page import GLYPHS, WORDS
from .word_diff import word_diff

CARD_LIMIT, WAY_LIMIT, RULE_LIMIT = 60, 12, 200  # causes; of one, the ways in which it shows and the rules that it kept from being judged
STATE_WORDS = {"broken": "broken", "error": "error", "known": "known issue", "inconclusive": "inconclusive",
               "advisory": "kept, with an advisory", "kept": "kept", "not_applicable": "not applicable",
               "not_reached": "not evaluated", "unjudged": "no case in this run", "untestable": "not testable from outside"}


class Anchors:
    """A fragment for each case, which stays the same from run to run."""

    def __init__(self):
        self._taken = set()
        self._by_case = {}

    def __call__(self, case):
        if case.id not in self._by_case:
            plain = "case-" + re.sub(r"[^A-Za-z0-9._@-]", "-", case.id)[:200]
            name, number = plain, 2
            while name in self._taken:
                name, number = f"{plain}-{number}", number + 1
            self._taken.add(name)
            self._by_case[case.id] = name
        return self._by_case[case.id]


def render(report, catalogue, folder, html_path):
    """The whole page as text. `folder` is that of the results, `html_path` where the page will be."""
    anchor = Anchors()
    found = coverage.coverage(report, catalogue)
    return _environment(anchor, catalogue).get_template("report.html.j2").render(
        report=report, run=report.run, catalogue=catalogue, **page.assets(["report.css"], ["page.js", "case.js", "rule.js", "report.js"]),
        files=_by_file(report), blocks=[*_blocks(report, catalogue, case_data.Place.of(folder, html_path)), *_rule_blocks(found, anchor)],
        causes=causes.causes(report), card_limit=CARD_LIMIT, way_limit=WAY_LIMIT, rule_limit=RULE_LIMIT,
        known=attention.known_issues(report), advisories=attention.advisories(report),
        not_applicable=attention.not_applicable(report), coverage=found,
        coverage_cells=coverage.cells_of([use for rfc in found for section in rfc.sections for use in section.uses]),
        dat_returns=dat_returns.table_of(report, catalogue), bar=_bar(report),
        outcome=_outcome(report), seconds=_seconds_of(report.run),
    )


def _environment(anchor, catalogue):
    environment = page.environment()
    environment.globals.update(
        STATE_WORDS=STATE_WORDS, STATES=coverage.STATES, JUDGED=coverage.JUDGED, LEVELS=coverage.LEVELS, WAYS=coverage.WAYS,
        anchor=anchor, search=_search, rule_of=catalogue.rule, word_diff=word_diff, shell=_shell, folder_of=_folder_of)
    return environment


def _blocks(report, catalogue, place):
    """[(name, text)] of the compressed blocks: the rules and the words that cases share, then the cases in their order."""
    strict = dict(report.run.options).get("strict") == "yes"
    rules = {rule.id: {"place": rule.place, "level": rule.level, "text": rule.text, "href": rule.href, "quote": rule.quote}
             for rule in catalogue.rules.values()}
    shared = {"rules": rules, "words": {"glyphs": GLYPHS, "verdicts": WORDS, "states": STATE_WORDS}}
    yield from (("shared", text) for _, text in compressed.blocks([shared]))
    yield from compressed.blocks(case_data.of_case(case, catalogue, place, strict) for case in report.cases)


def _rule_blocks(found, anchor):
    """The same for the rules of each section of the coverage, in its order."""
    known = breakers.load()
    sections = (section for rfc in found for section in rfc.sections)
    yield from (("rules", text) for _, text in compressed.blocks(rule_data.of_section(section, anchor, known) for section in sections))


def _rules_of(case):
    return {*case.rules, *(judgement.rule for judgement in case.judgements), *(advisory.rule for advisory in case.advisories)}


def _search(case):
    """What the text filter looks at, other than what the case's line shows."""
    return " ".join([case.file, *sorted(_rules_of(case)), case.gate.reason if case.verdict != "pass" else ""]).lower()


def _by_file(report):
    """[(layer, [(file, [(number, case)])])], in the order of the cases."""
    layers = []
    for number, case in enumerate(report.cases):
        if not layers or layers[-1][0] != case.layer:
            layers.append((case.layer, []))
        files = layers[-1][1]
        if not files or files[-1][0] != case.source:
            files.append((case.source, []))
        files[-1][1].append((number, case))
    return layers


def _bar(report):
    """[(class, words, count, verdict, gate)] of the verdict bar; known issues are apart from new failures."""
    known = report.count("fail", gate="known")
    parts = [("pass", "pass", report.count("pass"), "pass", ""), ("fail", "fail", report.count("fail") - known, "fail", "new_failure"),
             ("known", "fail, known", known, "fail", "known")]
    parts += [(verdict, WORDS[verdict], report.count(verdict), verdict, "") for verdict in VERDICTS[2:]]
    return [part for part in parts if part[2]]


def _outcome(report):
    """bad, doubtful or good: the colour of the page's first line and of its icon."""
    if report.new_failures:
        return "bad"
    return "good" if report.complete and not report.stale_entries else "doubtful"


def _seconds_of(run):
    """From start to end, or None where either is not known."""
    try:
        start, end = (datetime.datetime.fromisoformat(moment) for moment in (run.start, run.end))
        return (end - start).total_seconds()
    except (ValueError, TypeError):
        return None


def _shell(*words):
    return shlex.join(words)


def _folder_of(file):
    """suite/cases/mpa/startup.cpp -> startup."""
    return file.removeprefix("suite/cases/").rpartition(".")[0].rpartition("/")[2] or file or "(no file)"
