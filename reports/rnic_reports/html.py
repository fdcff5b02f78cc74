# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The HTML report: one file that needs no network and no script, made from the templates beside this package."""

import base64
import dataclasses
import datetime
import hashlib
import os
import pathlib
import re
import shlex
import urllib.parse

import jinja2
import markupsafe

from . import attention, breakers, coverage, dat_returns
from .catalogue import Rule
from .ladder import Ladder, ladder
from .model import Case, VERDICTS
from .word_diff import word_diff

TEMPLATES = pathlib.Path(__file__).resolve().parents[1] / "templates"
OCTETS_OF_PASS = 64  # octets of a step shown where all went well; the headers are in there
OCTETS = 512
GLYPHS = {"pass": "✓", "fail": "✗", "inconclusive": "?", "error": "!", "not_applicable": "–", "advisory": "△",
          "also_seen": "△"}
WORDS = {"pass": "pass", "fail": "fail", "inconclusive": "inconclusive", "error": "error", "not_applicable": "not applicable",
         "advisory": "advisory", "also_seen": "also seen"}
STATE_WORDS = {"broken": "broken", "error": "error", "known": "known issue", "inconclusive": "inconclusive",
               "advisory": "kept, with an advisory", "kept": "kept", "not_applicable": "not applicable",
               "not_reached": "not evaluated", "unjudged": "no case in this run", "untestable": "not testable from outside"}


@dataclasses.dataclass
class RuleGroup:
    """A rule that a case names, and what was judged of it there."""

    rule: Rule
    state: str
    judgements: list  # (number, Judgement, admissible with marks, actual with marks)


@dataclasses.dataclass
class PcapView:
    href: str  # empty: it is not a file inside the run's folder
    path: str  # from the report's folder, for a shell
    trouble: str  # empty: it is there and of the recorded size


@dataclasses.dataclass
class CaseView:
    case: Case
    anchor: str
    groups: list
    ladder: Ladder
    pcap: PcapView | None
    earlier: list
    octets_limit: int

    @property
    def failing_frame(self):
        found = self.case.decisive
        return found.frame if found else None

    @property
    def advisories(self):
        """Those that no judgement of the case tells as well."""
        told = {(found.rule, found.actual) for found in self.case.judgements if found.verdict == "advisory"}
        return [advisory for advisory in self.case.advisories if (advisory.rule, advisory.text) not in told]

    @property
    def search(self):
        """What the text filter looks at."""
        case = self.case
        return " ".join([case.id, case.title, case.file, case.configuration, *case.rules, case.why, case.gate.reason]).lower()


class Pages:
    """Makes case views: knows where the report will lie, and gives each case an anchor of its own."""

    def __init__(self, catalogue, folder, html_path):
        self._catalogue = catalogue
        self._folder = pathlib.Path(folder).resolve()
        self._home = pathlib.Path(html_path).resolve().parent
        self._anchors = {}  # anchor -> case id
        self._by_case = {}

    def anchor(self, case):
        """A fragment that stays the same from run to run."""
        if case.id not in self._by_case:
            plain = "case-" + re.sub(r"[^A-Za-z0-9._@-]", "-", case.id)[:200]
            name, number = plain, 2
            while name in self._anchors:
                name, number = f"{plain}-{number}", number + 1
            self._anchors[name] = case.id
            self._by_case[case.id] = name
        return self._by_case[case.id]

    def view(self, case, anchor=None):
        anchor = anchor or self.anchor(case)
        earlier = [self.view(other, f"{anchor}.attempt-{number}") for number, other in enumerate(case.earlier, 1)]
        return CaseView(case, anchor, self._groups(case), ladder(case), self._pcap(case.pcap), earlier,
                        OCTETS_OF_PASS if case.verdict == "pass" else OCTETS)

    def _groups(self, case):
        """Worst rule first; rules of the case that nothing was judged of come with no judgement."""
        states = coverage.states_of(case)
        groups = {rule: RuleGroup(self._catalogue.rule(rule), state, []) for rule, state in states.items()}
        for number, judgement in enumerate(case.judgements):
            plain = [[(line, False)] for line in judgement.admissible], [(judgement.actual, False)]
            marks = plain if judgement.verdict == "pass" else word_diff(judgement.admissible, judgement.actual)
            groups[judgement.rule].judgements.append((number, judgement, *marks))
        return sorted(groups.values(), key=lambda group: coverage.STATES.index(group.state))

    def _pcap(self, pcap):
        if pcap is None:
            return None
        file = (self._folder / pcap.file).resolve()
        if self._folder not in file.parents:
            return PcapView("", pcap.file, "the path leads out of the run's folder, so there is no link")
        path = pathlib.PurePath(os.path.relpath(file, self._home)).as_posix()
        try:
            size = file.stat().st_size
            trouble = "" if size == pcap.octets else f"the file has {size:,} octets, recorded were {pcap.octets:,}"
        except (OSError, ValueError):
            trouble = "the file is not there"
        return PcapView("./" + urllib.parse.quote(path), path, trouble)


def render(report, catalogue, folder, html_path):
    """The whole page as text. `folder` is that of the results, `html_path` where the page will lie."""
    pages = Pages(catalogue, folder, html_path)
    script = _asset("report.js")
    found = coverage.coverage(report, catalogue)
    return _environment(pages, catalogue).get_template("report.html.j2").render(
        report=report, run=report.run, catalogue=catalogue, style=_asset("report.css"), dark=_asset("dark.css"), script=script,
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        files=_by_file(report, pages), findings=attention.findings(report.new_failures), card_limit=attention.CARD_LIMIT,
        known=attention.known_issues(report), advisories=attention.advisories(report),
        not_applicable=attention.not_applicable(report), coverage=found,
        coverage_cells=coverage.cells_of([use for rfc in found for section in rfc.sections for use in section.uses]),
        dat_returns=dat_returns.table_of(report, catalogue), bar=_bar(report),
        breakers=breakers.load(), outcome=_outcome(report), seconds=_seconds_of(report.run),
    )


def _environment(pages, catalogue):
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined)
    environment.filters.update(hexdump=hexdump, ms=_milliseconds, duration=_duration, when=_when, plural=_plural, size=_size)
    environment.globals.update(
        GLYPHS=GLYPHS, WORDS=WORDS, STATE_WORDS=STATE_WORDS, VERDICTS=VERDICTS, STATES=coverage.STATES, JUDGED=coverage.JUDGED, LEVELS=coverage.LEVELS, WAYS=coverage.WAYS,
        anchor=pages.anchor, rule_of=catalogue.rule, word_diff=word_diff, shell=_shell, folder_of=_folder_of)
    return environment


def _asset(name):
    """Our own style and script go in as they are; nothing of a run is ever part of them."""
    return markupsafe.Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def _by_file(report, pages):
    """[(layer, [(file, [CaseView])])], in the order of the cases."""
    layers = []
    for case in report.cases:
        if not layers or layers[-1][0] != case.layer:
            layers.append((case.layer, []))
        files = layers[-1][1]
        if not files or files[-1][0] != case.file:
            files.append((case.file, []))
        files[-1][1].append(pages.view(case))
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


def hexdump(octets, limit=OCTETS):
    """Offset, hex and ASCII in lines of 16; equal lines in a row are one line with a star."""
    lines, before, starred = [], None, False
    shown = octets.start[:limit]
    for offset in range(0, len(shown), 16):
        part = shown[offset:offset + 16]
        if part == before and offset + 16 < len(shown):
            lines += [] if starred else ["*"]
            starred = True
            continue
        before, starred = part, False
        ascii_part = "".join(chr(octet) if 0x20 <= octet < 0x7F else "." for octet in part)
        lines.append(f"{offset:04x}  {part[:8].hex(' '):<23}  {part[8:].hex(' '):<23}  {ascii_part}")
    if octets.total > len(shown):
        lines.append(f"... {octets.total - len(shown):,} more of {octets.total:,} octets are in the pcap")
    return "\n".join(lines)


def _milliseconds(seconds):
    return f"{seconds * 1000:,.3f}"


def _duration(seconds):
    if seconds < 1:
        return f"{seconds * 1000:,.1f} ms" if seconds < 0.1 else f"{seconds * 1000:,.0f} ms"
    return f"{seconds:,.2f} s" if seconds < 100 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


def _when(timestamp):
    """2026-01-02T03:04:05.678901Z -> 2026-01-02 03:04:05 UTC; anything else as it is."""
    found = re.match(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z$", timestamp)
    return f"{found[1]} {found[2]} UTC" if found else timestamp


def _seconds_of(run):
    """From start to end, or None where either is not known."""
    try:
        start, end = (datetime.datetime.fromisoformat(moment) for moment in (run.start, run.end))
        return (end - start).total_seconds()
    except (ValueError, TypeError):
        return None


def _plural(count, one, many=None):
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _size(octets):
    return f"{octets:,} octets" if octets < 10_000 else f"{octets / 1000:,.0f} kB" if octets < 10_000_000 else f"{octets / 1e6:,.0f} MB"


def _shell(*words):
    return shlex.join(words)


def _folder_of(file):
    """suite/cases/mpa/startup.cpp -> startup."""
    return file.removeprefix("suite/cases/").rpartition(".")[0].rpartition("/")[2] or file or "(no file)"
