# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Reads the folder of a run: results.json, or else the journal results.ndjson that a killed run left."""

import json
import pathlib

from . import json_stream, model
from .node import Node, Unreadable

SCHEMA = "rnic-results-1"
DOCUMENT = "results.json"
JOURNAL = "results.ndjson"


def load(folder):
    """The report of what the folder holds. Raises Unreadable with one line that says what is wrong."""
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        raise Unreadable(f"{folder}: no such folder; give the --out folder of a run")
    if (folder / DOCUMENT).exists():
        return _document(folder / DOCUMENT)
    if (folder / JOURNAL).exists():
        return _journal(folder / JOURNAL)
    raise Unreadable(f"{folder}: holds neither {DOCUMENT} nor {JOURNAL}; give the --out folder of a run")


def _document(path):
    """Attempt by attempt: a document of many cases is far larger than what a report keeps of it."""
    found, attempts = {}, []
    try:
        with path.open("rb") as file:
            for name, value in json_stream.Stream(file).members(lists={"cases"}):
                found[name] = value
                if name == "schema":
                    _check_schema(path, found)
                elif name == "cases" and not isinstance(value, list):
                    nodes = (Node(each, f"{path.name}.cases[{index}]") for index, each in enumerate(value))
                    attempts, found[name] = [model.Case.of(node) for node in nodes], []
    except OSError as error:
        raise Unreadable(f"{path}: cannot be read: {error.strerror}") from error
    except (RecursionError, ValueError) as error:
        raise _no_json(path, error) from error
    _check_schema(path, found)
    root = Node(found, path.name)
    root.nodes("cases")  # is there, and a list
    run, stale = model.Run.of(root.node("run")), root.node("summary").lines("stale_entries")
    findings = [model.RunFinding.of(node) for node in root.nodes_since("findings")]
    report = model.Report.of(run, attempts, stale, [], findings)
    if run.complete and len(report.cases) < run.selected:
        report.notes.append(f"{run.selected} cases were selected, {len(report.cases)} have a verdict")
    return report


def _check_schema(path, members):
    schema = Node(members, path.name).line("schema")
    if schema != SCHEMA:
        raise Unreadable(f"{path}: is of schema '{schema}'; this program reads {SCHEMA}")


def _journal(path):
    """Takes every line that can be read; the notes report the others, since evidence is worth more than form."""
    run, attempts, stale, findings, lost = None, [], None, [], []
    lines = _content(path).split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip(b" \r\0"):
            continue
        try:
            root = Node(_parsed(line, f"line {number}"), f"line {number}")
            kind = root.only_of("run", "case", "end")
            if kind == "case":
                attempts.append(model.Case.of(root.node("case")))
                continue
            holder = root if kind == "run" else root.node("end")
            # A run that continues has a later end.
            stale = holder.lines("stale_entries") if kind == "end" else None
            findings = [model.RunFinding.of(node) for node in holder.nodes_since("findings")] if kind == "end" else []
            run = model.Run.of(holder.node("run"))
        except Unreadable as fault:
            if run is None:
                raise Unreadable(f"{path}: {fault}") from fault
            lost.append("the last line is torn" if number == len(lines) else f"{fault}")
    if run is None:
        raise Unreadable(f"{path}: holds no run")
    return _of_journal(run, attempts, stale, findings, lost)


def _of_journal(run, attempts, stale, findings, lost):
    notes = []
    if stale is None:
        run = run.killed()
        notes.append(f"the run was killed; this is what {JOURNAL} kept")
    if lost:
        more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
        notes.append(f"left out of {JOURNAL}: {'; '.join(lost[:3])}{more}")
    report = model.Report.of(run, attempts, stale or [], notes, findings)
    if stale is None:
        report.stale_entries.extend(f"{case.gate.entry} {case.id}" for case in report.cases if case.gate.result == "stale")
    return report


def _content(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise Unreadable(f"{path}: cannot be read: {error.strerror}") from error


def _parsed(content, where):
    try:
        return json.loads(content)
    except (RecursionError, ValueError) as error:
        raise _no_json(where, error) from error


def _no_json(where, error):
    if isinstance(error, RecursionError):
        return Unreadable(f"{where}: is nested too deeply")
    # A ValueError is also bad UTF-8 and absurdly long numbers.
    return Unreadable(f"{where}: is not JSON: {' '.join(str(error).split())[:200]}")
