# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The matrix of a plugfest: pairs by scenarios, with the evidence of each cell. Depends only on schema/plugfest-2.schema.json."""

import base64
import csv
import dataclasses
import hashlib
import io
import json
import pathlib
import urllib.parse

import markupsafe

from . import page, participants, text
from .node import Unreadable
from .page import TEMPLATES

GLYPHS = {"pass": "✓", "advisory": "△", "fail": "✗", "inconclusive": "?", "not_applicable": "–", "error": "!"}
WORDS = {**{verdict: verdict for verdict in GLYPHS}, "not_applicable": "not applicable"}
# What a square shows beside its verdict: a race that the organiser has listed is the same in each run, and so is a cell that is left out.
VARIES, LEFT_OUT = "~", "·"
BAD = ("fail", "inconclusive", "error")
LINES = 80  # of steps and of the decoded exchange, in a cell's evidence


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

    @property
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
    path = pathlib.Path(folder) / "results.json"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["plugfest"] != 2:
            raise Unreadable(f"{path}: version {document['plugfest']} of the results is not known here")
        return _matrix(_cleaned(document))
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}; give the --out folder of a plugfest run") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable(f"{path}: these are no results of a plugfest: {text.line(repr(error), 200)}") from error


def _cleaned(value):
    """Every string may come from an agent; log texts keep their lines."""
    if isinstance(value, str):
        return text.log(value, keep="tail")
    if isinstance(value, list):
        return [_cleaned(one) for one in value]
    if isinstance(value, dict):
        return {key: _cleaned(one) for key, one in value.items()}
    return value


def _matrix(document):
    event = document["event"]
    last, attempts = {}, {}
    for cell in document["cells"]:
        if cell["verdict"] == "pass" and cell.get("advisory"):
            cell["verdict"] = "advisory"  # a square shows one sign
        if cell["verdict"] not in GLYPHS:
            raise ValueError(f"verdict {cell['verdict']}")
        if cell["gate"]["result"] != "superseded":
            key = cell["initiator"], cell["responder"], cell["scenario"]
            # The worst of the repetitions is shown for all.
            if key not in last or list(GLYPHS).index(cell["verdict"]) > list(GLYPHS).index(last[key]["verdict"]):
                last[key] = cell
        else:
            attempts.setdefault(cell["id"], []).append(cell)
    reasons = {}
    for one in document.get("left_out", []):
        reasons.setdefault(one["reason"], set()).add((one["initiator"], one["responder"], one["scenario"]))
    numbers = {key: at for at, keys in enumerate(reasons.values()) for key in keys}
    names = [one["name"] for one in event["participants"]]
    scenarios = [(one["name"], one["title"]) for one in event["scenarios"]]
    rows = [Row(one, other, [last.get((one, other, name)) for name, _ in scenarios], [numbers.get((one, other, name)) for name, _ in scenarios])
            for one in names for other in names if one != other]
    return Matrix(event["name"], document["complete"], document["summary"], scenarios,
                  {one["name"]: one["alias"] or one["name"] for one in event["participants"]},
                  {one["name"]: one["vendor"] for one in event["participants"]},
                  [row for row in rows if any(row.cells) or set(row.left_out) != {None}], attempts, [(reason, len(keys)) for reason, keys in reasons.items()])


def _evidence(cell):
    """What the page holds of a cell: all of a bad one, the outline of a good one."""
    bad = cell["verdict"] not in ("pass", "not_applicable")
    return {"checks": [check for check in cell.get("checks", []) if not check["good"]],
            "kept": sum(check["good"] for check in cell.get("checks", [])),
            "findings": cell.get("findings", [])[:LINES] if bad else [],
            "steps": cell.get("steps", [])[-LINES:] if bad else [],
            "wire": _around(cell) if bad else [],
            "said": cell.get("said", []) if bad else []}


def _around(cell):
    """The part of the exchange that leads to the first finding, else its end."""
    wire = cell.get("wire", [])
    frames = [found["frame"] for found in cell.get("findings", []) if found["level"] == "must" and not found["provoked"]]
    if not frames:
        return wire[-LINES:]
    end = sum(line["frame"] <= frames[0] for line in wire) + LINES // 2
    return wire[max(0, end - LINES):end]


def _pcap(folder, html_path, cell):
    """A link from where the page will be; empty if the path leads out of the folder."""
    name = cell.get("pcap", "")
    file = (pathlib.Path(folder) / name).resolve()
    if not name or pathlib.Path(folder).resolve() not in file.parents:
        return ""
    try:
        return "./" + urllib.parse.quote(file.relative_to(pathlib.Path(html_path).resolve().parent).as_posix())
    except ValueError:
        return file.as_uri()


def html(matrix, folder, html_path, rules):
    """The page as text; `rules`: the catalogue."""
    asset = {name: markupsafe.Markup((TEMPLATES / name).read_text(encoding="utf-8"))
             for name in ("report.css", "dark.css", "plugfest.css", "hosts.css", "plugfest.js")}
    return page.environment().get_template("plugfest.html.j2").render(
        matrix=matrix, broken=[rules.rule(name) for name in _broken(matrix)], host_line=participants.host_line, GLYPHS=GLYPHS, WORDS=WORDS, VARIES=VARIES, LEFT_OUT=LEFT_OUT, glyph=_glyph, asset=asset, evidence=_evidence,
        participants=participants.overview(matrix.shown, matrix.cells), squares=participants.squares(matrix.cells),
        pcap=lambda cell: _pcap(folder, html_path, cell), numbers={id(cell): at for at, cell in enumerate(matrix.cells)}, id=id,
        script_digest=base64.b64encode(hashlib.sha256(asset["plugfest.js"].encode()).digest()).decode())


def _broken(matrix):
    """The rules that the evidence names, sorted."""
    return sorted({found["rule"] for cell in matrix.cells for found in _evidence(cell)["findings"]})


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
