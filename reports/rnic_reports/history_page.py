# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The page of several runs: one file, as the report of a run is."""

import os
import pathlib
import urllib.parse

from . import compressed, history, page
from .model import VERDICTS


def render(runs, html_path):
    """The page as text, of runs in their order; `html_path` is where it will be."""
    home = pathlib.Path(html_path).resolve().parent
    pairs = list(zip(runs, runs[1:]))
    steps = [None, *(history.compare(before, after) for before, after in pairs)]
    return page.environment().get_template("history.html.j2").render(
        runs=runs, links=[_link(run, home) for run in runs], steps=steps, last=steps[-1], count=_count, in_words=history.in_words,
        unstable=history.unstable(runs), troubled=history.troubled(runs), KINDS=history.KINDS, KIND_WORDS=history.KIND_WORDS,
        blocks=[("runs", text) for _, text in compressed.blocks([_values(runs)])],
        **page.assets(["report.css", "history.css"], ["page.js", "history.js"]))


def _link(run, home):
    """To the run's own page; empty where there is none."""
    page = run.folder.resolve() / "report.html"
    return "./" + urllib.parse.quote(pathlib.PurePath(os.path.relpath(page, home)).as_posix()) if page.is_file() else ""


def _count(changes, kind):
    return sum(1 for change in changes if change.kind == kind) if changes else 0


def _values(runs):
    """For the comparison of any two runs: [verdict, rule, why] of each case in each run, null where it has none."""
    cases = sorted({case for run in runs for case in run.outcomes})
    return {"cases": cases, "words": {"glyphs": page.GLYPHS, "verdicts": page.WORDS, "kinds": history.KIND_WORDS}, "good": history.GOOD,
            "verdicts": VERDICTS,
            "outcomes": [[[one.verdict, one.rule, one.why] if (one := run.outcomes.get(case)) else None for case in cases] for run in runs]}
