# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The matrix of a plugfest: pairs by scenarios, with the evidence of each cell. Depends only on schema/plugfest-2.schema.json."""

import csv
import dataclasses
import functools
import io
import pathlib

from . import compressed, json_stream, page, participants, plugfest_cells, text
from .node import Unreadable

GLYPHS = {"pass": "✓", "advisory": "△", "fail": "✗", "inconclusive": "?", "not_applicable": "–", "error": "!"}
WORDS = {**{verdict: verdict for verdict in GLYPHS}, "not_applicable": "not applicable"}
# What a square shows beside its verdict: a race that the organiser has listed is the same in each run, and so is a cell that is left out.
VARIES, LEFT_OUT = "~", "·"
BAD = ("fail", "inconclusive", "error")


@dataclasses.dataclass
class Row:
    initiator: str
    responder: str
    cells: list  # one for each scenario, None where none was played
    left_out: list  # one for each scenario: the number of the reason, None where it was not left out


@dataclasses.dataclass
class Matrix:
    name: str
    complete: bool
    summary: dict
    scenarios: list  # (name, title)
    shown: dict  # participant -> alias, or name
    vendors: dict
    rows: list
    attempts: dict  # id of a cell -> the attempts before the one that counts
    reasons: list  # (why cells are left out, how many)

    @functools.cached_property
    def cells(self):
        return [cell for row in self.rows for cell in row.cells if cell]

    def count(self, verdict):
        return sum(cell["verdict"] == verdict and not cell.get("varies") for cell in self.cells)

    @property
    def new_failures(self):
        return [cell for cell in self.cells if cell["gate"]["result"] == "new_failure"]

    @property
    def varying(self):
        return sum(bool(cell.get("varies")) for cell in self.cells)

    @property
    def left_out(self):
        return sum(count for _, count in self.reasons)


def load(folder):
    """Reads the results cell by cell: they need not fit into memory."""
    path = pathlib.Path(folder) / "results.json"
    document, cells = {}, _Cells()
    try:
        with path.open("rb") as file:
            for name, value in json_stream.Stream(file).members({"cells", "left_out"}):
                if name == "cells":
                    cells.take(value)
                elif name == "left_out":
                    document[name] = _reasons(value)
                else:
                    document[name] = plugfest_cells.cleaned(value)
        if document["plugfest"] != 2:
            raise Unreadable(f"{path}: version {document['plugfest']} of the results is not known here")
        return _matrix(document, cells)
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}; give the --out folder of a plugfest run") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable(f"{path}: these are no results of a plugfest: {text.line(repr(error), 200)}") from error


class _Cells:
    """What is kept of the cells: of each square the worst of its repetitions, which is shown for all."""

    def __init__(self):
        self._reader, self.last, self.attempts = plugfest_cells.Reader(), {}, {}

    def take(self, cells):
        order = list(GLYPHS)
        for cell in cells:
            made = self._reader.outline(cell)
            if made["verdict"] not in GLYPHS:
                raise ValueError(f"verdict {made['verdict']}")
            if made["gate"]["result"] == "superseded":
                self.attempts.setdefault(made["id"], []).append({"verdict": made["verdict"], "pcap": made.get("pcap", "")})
                continue
            key = made["initiator"], made["responder"], made["scenario"]
            if key not in self.last or order.index(made["verdict"]) > order.index(self.last[key]["verdict"]):
                made["packed"] = plugfest_cells.packed(cell, made["verdict"])
                self.last[key] = made


def _reasons(left_out):
    """reason -> (initiator, responder, scenario) of each square that it leaves out."""
    reasons = {}
    for one in map(plugfest_cells.cleaned, left_out):
        reasons.setdefault(one["reason"], set()).add((one["initiator"], one["responder"], one["scenario"]))
    return reasons


def _matrix(document, cells):
    event, reasons, last = document["event"], document.get("left_out", {}), cells.last
    numbers = {key: at for at, keys in enumerate(reasons.values()) for key in keys}
    names = [one["name"] for one in event["participants"]]
    scenarios = [(one["name"], one["title"]) for one in event["scenarios"]]
    rows = [Row(one, other, [last.get((one, other, name)) for name, _ in scenarios], [numbers.get((one, other, name)) for name, _ in scenarios])
            for one in names for other in names if one != other]
    return Matrix(event["name"], document["complete"], document["summary"], scenarios,
                  {one["name"]: one["alias"] or one["name"] for one in event["participants"]},
                  {one["name"]: one["vendor"] for one in event["participants"]},
                  [row for row in rows if any(row.cells) or set(row.left_out) != {None}], cells.attempts, [(reason, len(keys)) for reason, keys in reasons.items()])


def html(matrix, folder, html_path, rules):
    """The page as text; `rules`: the catalogue."""
    link = plugfest_cells.Links(folder, html_path)
    on_page = (plugfest_cells.on_page(cell, matrix.shown, matrix.attempts.get(cell["id"], []), link) for cell in matrix.cells)
    return page.environment().get_template("plugfest.html.j2").render(
        matrix=matrix, broken=[rules.rule(name) for name in _broken(matrix)], GLYPHS=GLYPHS, WORDS=WORDS, VARIES=VARIES, LEFT_OUT=LEFT_OUT, glyph=_glyph,
        blocks=compressed.blocks(on_page), participants=participants.overview(matrix.shown, matrix.cells), squares=participants.squares(matrix.cells),
        numbers={id(cell): at for at, cell in enumerate(matrix.cells)}, id=id,
        **page.assets(["report.css", "plugfest.css", "hosts.css"], ["page.js", "cell.js", "plugfest.js"]))


def _broken(matrix):
    """The rules that the evidence names, sorted."""
    return sorted({found["rule"] for cell in matrix.cells if cell["verdict"] not in plugfest_cells.GOOD for found in plugfest_cells.evidence(cell)["findings"]})


def _glyph(cell):
    return VARIES if cell.get("varies") else GLYPHS[cell["verdict"]]


def markdown(matrix):
    def plain(said):
        return said.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")

    lines = [f"# Plugfest {plain(matrix.name)}", "",
             ", ".join([f"{matrix.count(verdict)} {WORDS[verdict]}" for verdict in GLYPHS if matrix.count(verdict)]
                       + [f"{count} {what}" for count, what in ((matrix.varying, "known to vary"), (matrix.left_out, "left out")) if count])
             or "no cells", "",
             "| initiator → responder | " + " | ".join(plain(name) for name, _ in matrix.scenarios) + " |",
             "|---|" + "---|" * len(matrix.scenarios)]
    for row in matrix.rows:
        marks = [_glyph(cell) if cell else " " if out is None else LEFT_OUT for cell, out in zip(row.cells, row.left_out)]
        lines.append(f"| {plain(matrix.shown[row.initiator])} → {plain(matrix.shown[row.responder])} | " + " | ".join(marks) + " |")
    legend = [f"{glyph} {WORDS[verdict]}" for verdict, glyph in GLYPHS.items()] + [f"{VARIES} known to vary", f"{LEFT_OUT} left out"]
    reasons = [f"- left out, {count}: {plain(reason)}" for reason, count in matrix.reasons]
    return "\n".join([*lines, "", ", ".join(legend), *([""] + reasons if reasons else []), ""])


def table(matrix):
    """CSV: one line for each cell. A text that a spreadsheet would take for a formula gets an apostrophe."""
    def inert(said):
        return "'" + said if said[:1] in ("=", "+", "-", "@") else said

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["initiator", "responder", "scenario", "verdict", "fault", "seconds", "reason"])
    for cell in matrix.cells:
        writer.writerow([inert(matrix.shown[cell["initiator"]]), inert(matrix.shown[cell["responder"]]), cell["scenario"], cell["verdict"],
                         cell["fault"], f"{cell['seconds']:.3f}", inert(cell["reason"].replace("\n", " "))])
    return out.getvalue()
