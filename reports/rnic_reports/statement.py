# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What a run says of an implementation, profile by profile: a conformance statement of one page.

It counts rules, not cases, and says no more than was judged. A known issue is a broken rule like any other."""

import dataclasses
import hashlib
import os
import pathlib
import urllib.parse

from . import coverage, page

LISTED = 24  # broken rules that the page has room for
BROKEN = ("broken", "known")


@dataclasses.dataclass(frozen=True)
class Profile:
    name: str
    rfcs: tuple  # or of catalogue.DOCUMENTS
    what: str


BASE = (5040, 5041, 5042, 5044)
PROFILES = (
    Profile("RFC 5044", BASE, "MPA over TCP with DDP and RDMAP (RFC 5040, 5041), security as far as it shows (RFC 5042)"),
    Profile("RFC 5044 with 6581", (*BASE, 6581), "and the enhanced connection establishment"),
    Profile("RFC 5044 with 7306", (*BASE, 7306), "and Atomic Operations and Immediate Data"),
    Profile("DAT 2.0", (0,), "the consumer's API"),
    Profile("verbs", (1,), "the consumer's API of libibverbs and librdmacm"),
    Profile("kernel verbs", (2,), "the kernel consumer's API of ib_core"),
)


@dataclasses.dataclass
class Count:
    """The rules of one level in one profile."""

    uses: list  # of coverage.RuleUse

    def of(self, *states):
        return sum(1 for use in self.uses if use.state in states)

    @property
    def testable(self):
        return len(self.uses) - self.of("untestable")

    @property
    def judged(self):
        return self.of(*coverage.JUDGED)

    @property
    def broken(self):
        return [use for use in self.uses if use.state in BROKEN]


@dataclasses.dataclass
class Result:
    profile: Profile
    must: Count
    should: Count
    own: Count  # MUSTs of the document that the profile adds

    @property
    def outcome(self):
        """broken, kept (as far as judged) or unjudged."""
        if not self.own.judged:
            return "unjudged"
        return "broken" if self.must.broken else "kept"


def uses_of(report, catalogue):
    return [use for rfc in coverage.coverage(report, catalogue) for section in rfc.sections for use in section.uses if use.rule.known]


def results(uses):
    """A Result for each profile."""
    def count(level, rfcs):
        return Count([use for use in uses if use.rule.rfc in rfcs and use.rule.level == level])

    return [Result(profile, count("must", profile.rfcs), count("should", profile.rfcs), count("must", profile.rfcs[-1:])) for profile in PROFILES]


def render(report, catalogue, folder, html_path):
    """The page as text."""
    uses = uses_of(report, catalogue)
    broken = [use for use in uses if use.state in BROKEN and use.rule.level == "must"]
    unkept = [use for use in uses if use.state in (*BROKEN, "advisory") and use.rule.level == "should"]
    return page.environment().get_template("statement.html.j2").render(
        report=report, run=report.run, results=results(uses), broken=broken, unkept=unkept, limit=LISTED, catalogue=catalogue, partial=_is_partial(report.run),
        digest=_digest(folder), report_href=_href(folder, html_path), **page.assets(["report.css", "statement.css"], []))


def _is_partial(run):
    options = dict(run.options)
    return any(options.get(name, "") not in ("", "*", "none") for name in ("select", "rules", "rfc", "sections", "shard"))


def _digest(folder):
    """Binds the page to its evidence."""
    path = pathlib.Path(folder) / "results.json"
    if not path.is_file():
        path = pathlib.Path(folder) / "results.ndjson"
    with path.open("rb") as file:
        return path.name, hashlib.file_digest(file, "sha256").hexdigest()


def _href(folder, html_path):
    target = pathlib.Path(folder).resolve() / "report.html"
    home = pathlib.Path(html_path).resolve().parent
    return "./" + urllib.parse.quote(pathlib.PurePath(os.path.relpath(target, home)).as_posix()) if target.is_file() else ""
