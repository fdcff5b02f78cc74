# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""JUnit XML for continuous integration: a suite for each layer, and one that fails when the run itself cannot be trusted."""

import xml.etree.ElementTree as tree

from .model import Case, Report

RUN_SUITE = "run"


def junit(report: Report):
    """The XML document as text."""
    root = tree.Element("testsuites", name="RNIC conformance")
    suites = [_run_suite(root, report)]
    for number, layer in enumerate(report.layers, 1):
        suites.append(_layer_suite(root, report, layer, number))
    return document(root, suites, sum(case.duration for case in report.cases))


def document(root, suites, seconds):
    """The text of a finished document: the root has the sums over its suites."""
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name)) for suite in suites)))
    root.set("time", seconds_of(seconds))
    tree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tree.tostring(root, encoding="unicode") + "\n"


def _suite(root, report, name, number):
    suite = tree.SubElement(root, "testsuite", name=name, id=str(number), package="rnic", hostname=report.run.host,
                            timestamp=report.run.start.split(".")[0].rstrip("Z"))
    properties = tree.SubElement(suite, "properties")
    for key, value in _properties(report):
        tree.SubElement(properties, "property", name=key, value=value)
    return suite


def _properties(report):
    run = report.run
    yield from (("run", run.id), ("complete", "yes" if report.complete else "no"), ("ending", run.ending), ("iut", run.iut.kind),
                ("iut.implementation", run.iut.implementation), ("iut.driver", f"{run.iut.driver} {run.iut.driver_version}".strip()),
                ("iut.firmware", run.iut.firmware), ("iut.kernel", run.iut.kernel), ("suite.version", run.suite_version),
                ("suite.commit", run.suite_commit), ("catalogue", run.catalogue))


def finish(suite, seconds):
    """JUnit wants its counts as attributes, and the output streams after the cases."""
    for name, child in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{child}"))))
    suite.set("tests", str(len(suite.findall("testcase"))))
    suite.set("time", seconds_of(seconds))
    return suite


def _run_suite(root, report):
    """A killed run or a stale known issue must not look green, though every case that is in the file passed."""
    suite = _suite(root, report, RUN_SUITE, 0)
    complete = tree.SubElement(suite, "testcase", classname="rnic.run", name="run.complete", time="0.000")
    if not report.complete:
        words = [report.run.ending_reason or f"ending: {report.run.ending}", *report.notes,
                 f"{len(report.cases)} of {report.run.selected} selected cases have a verdict"]
        outcome(complete, "error", "incomplete", "the run is incomplete: " + words[0], "\n".join(words))
    current = tree.SubElement(suite, "testcase", classname="rnic.run", name="run.expectations-are-current", time="0.000")
    if report.stale_entries:
        outcome(current, "failure", "stale", "stale known issues: their cases pass or do not exist",
                 "\n".join(report.stale_entries))
    for finding in report.findings:
        _finding(suite, finding)
    return finish(suite, 0)


def _finding(suite, finding):
    element = tree.SubElement(suite, "testcase", classname="rnic.findings", name=finding.id, time="0.000")
    if finding.is_new_failure:
        lines = [finding.gate.reason, "  admissible: " + "\n          or: ".join(finding.admissible),
                 "  actual:     " + "\n          or: ".join(finding.observed),
                 f"seen in {finding.cases} cases that are about something else, first in {finding.first_case}",
                 f"run again: {finding.rerun}"]
        outcome(element, "failure", "finding", f"{finding.rule}: {finding.observed[0]}", "\n".join(lines))
    else:
        outcome(element, "skipped", "known issue", f"known issue: {finding.gate.reason} ({finding.gate.entry})", None)


def _layer_suite(root, report, layer, number):
    suite, seconds = _suite(root, report, layer, number), 0.0
    for case in report.cases:
        if case.layer == layer:
            _testcase(suite, case)
            seconds += case.duration
    return finish(suite, seconds)


def _testcase(suite, case: Case):
    name = case.source.removeprefix("suite/cases/").rpartition(".")[0].replace("/", ".") or case.layer
    element = tree.SubElement(suite, "testcase", classname=f"rnic.{name}", name=case.id, time=seconds_of(case.duration))
    if case.verdict == "error":
        outcome(element, "error", "error", case.why or "error", evidence(case))
    elif case.is_new_failure:
        outcome(element, "failure", case.verdict, case.why or case.gate.reason or case.verdict, evidence(case))
    elif case.verdict == "not_applicable":
        outcome(element, "skipped", "not applicable", f"not applicable: {case.reason}", None)
    elif case.is_known:
        outcome(element, "skipped", "known issue", f"known issue: {case.gate.reason} ({case.gate.entry})", None)
    elif case.verdict != "pass":  # the gate says nothing of it: never green
        outcome(element, "failure", case.verdict, case.why or case.verdict, evidence(case))
    _retries(element, case)


def _retries(element, case: Case):
    """Earlier attempts that were bad, in the elements that Maven Surefire introduced and CI systems read: the last attempt alone counts."""
    final = "flaky" if case.verdict == "pass" else "rerun"
    for attempt in case.earlier:
        if attempt.verdict in ("pass", "not_applicable"):
            continue
        kind = "Error" if attempt.verdict == "error" else "Failure"
        child = tree.SubElement(element, final + kind, message=attempt.why or attempt.verdict, type=attempt.verdict)
        tree.SubElement(child, "stackTrace").text = evidence(attempt)


def outcome(element, tag, kind, message, body):
    child = tree.SubElement(element, tag, message=message) if tag == "skipped" else tree.SubElement(
        element, tag, message=message, type=kind)
    child.text = body


def evidence(case: Case):
    """What a failure says, as plain lines."""
    lines = [f"{case.verdict}: {case.title}", *([case.reason] if case.reason else []), f"rules: {', '.join(case.rules)}"]
    for found in case.judgements:
        if found.verdict in ("pass", "advisory", "also_seen"):
            continue
        lines += ["", f"{found.rule}" + (f" [{found.row}]" if found.row else "") + f": {found.verdict}",
                  "  admissible: " + "\n          or: ".join(found.admissible), f"  actual:     {found.actual}"]
        if found.octets.total:
            more = f" ... {found.octets.total} octets" if found.octets.total > 64 else ""
            lines.append(f"  octets:     {bytes.fromhex(found.octets.start[:128]).hex(' ')}{more}")
        if found.frame is not None:
            lines.append(f"  frame:      {found.frame}")
    lines += ["", *([f"capture: {case.pcap.file} sha256 {case.pcap.sha256}"] if case.pcap else []), f"run again: {case.rerun}"]
    for name, log in (("kernel log", case.kernel_log), ("stderr", case.stderr)):
        lines += [f"{name}:", log] if log else []
    return "\n".join(lines)


def seconds_of(seconds):
    return f"{seconds:.3f}"
