# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The matrix of a plugfest as JUnit XML: a suite for each pair, a case for each scenario, and a suite that fails when the event itself
cannot be trusted."""

import xml.etree.ElementTree as tree

from . import junit, plugfest_cells
from .plugfest import BAD, Matrix, WORDS


def xml(matrix: Matrix):
    """The XML document as text."""
    root = tree.Element("testsuites", name=f"RNIC plugfest {matrix.name}")
    suites = [_event(root, matrix)]
    suites += [_pair(root, matrix, row, number) for number, row in enumerate(matrix.rows, 1)]
    return junit.document(root, suites, sum(cell["seconds"] for cell in matrix.cells))


def _event(root, matrix):
    suite = tree.SubElement(root, "testsuite", name="event", id="0", package="plugfest")
    complete = tree.SubElement(suite, "testcase", classname="plugfest.event", name="event.complete", time="0.000")
    if not matrix.complete:
        words = f"{matrix.summary['played']} of {matrix.summary['cells']} cells were played"
        junit.outcome(complete, "error", "incomplete", f"the event is incomplete: {words}", words)
    current = tree.SubElement(suite, "testcase", classname="plugfest.event", name="event.expectations-are-current", time="0.000")
    if matrix.summary["stale"]:
        junit.outcome(current, "failure", "stale", "expectations that hold for no cell", "\n".join(matrix.summary["stale"]))
    return junit.finish(suite, 0)


def _pair(root, matrix, row, number):
    names = matrix.shown[row.initiator], matrix.shown[row.responder]
    suite = tree.SubElement(root, "testsuite", name=f"{names[0]} → {names[1]}", id=str(number), package="plugfest")
    for (scenario, _), cell, reason in zip(matrix.scenarios, row.cells, row.left_out):
        if cell is None and reason is None:
            continue
        case = tree.SubElement(suite, "testcase", classname=f"plugfest.{names[0]}--{names[1]}", name=scenario,
                               time=junit.seconds_of(cell["seconds"] if cell else 0))
        if cell:
            _judge(case, cell)
        else:
            junit.outcome(case, "skipped", "left out", f"left out by the event: {matrix.reasons[reason][0]}", None)
    return junit.finish(suite, sum(cell["seconds"] for cell in row.cells if cell))


def _judge(case, cell):
    """A cell that the event file expects to be bad, or to vary, is skipped with its reason; an error never is."""
    verdict, why = cell["verdict"], cell["reason"] or WORDS[cell["verdict"]]
    if verdict == "error":
        junit.outcome(case, "error", verdict, why, _evidence(cell))
    elif verdict == "not_applicable":
        junit.outcome(case, "skipped", verdict, f"not applicable: {why}", None)
    elif verdict in BAD and cell["gate"]["result"] == "known":
        junit.outcome(case, "skipped", "expected", f"expected: {cell['gate']['reason']}", None)
    elif verdict in BAD and cell.get("varies"):
        junit.outcome(case, "skipped", "varies", f"known to vary: {why}", None)
    elif verdict in BAD:
        junit.outcome(case, "failure", verdict, why, _evidence(cell))


def _evidence(cell):
    known = plugfest_cells.evidence(cell)
    lines = [f"{WORDS[cell['verdict']]}: {cell['reason']}", f"fault: {cell['fault']}"]
    lines += [f"check of the {check['side']}: {check['what']}: expected {check['expected']}, came {check['actual']}"
              for check in known["checks"]]
    lines += [f"{found['rule']} ({found['level']}), sent by {found['side']}, frame {found['frame']}: {found['actual']}; "
              f"admissible: {found['admissible']}" for found in known["findings"] if not found["provoked"]]
    return "\n".join([*lines, *([f"capture: {cell['pcap']}"] if cell.get("pcap") else [])])
