# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The failures and advisories of a run as SARIF 2.1.0, for services that show findings at the source they gate."""

import hashlib
import json
import urllib.parse

from . import attention, markdown

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"fail": "error", "error": "error", "inconclusive": "warning"}


def sarif(report, catalogue, location=""):
    """The document as text. `location`: the file of the driver that findings are shown at; empty: the source of the case."""
    results = [_failure(case, location) for case in report.cases if case.is_new_failure or case.is_known]
    results += [_advisory(case, advisory, location) for case in report.cases for advisory in case.advisories if advisory.rule]
    first = {case.id: case for case in report.cases}
    results += [_finding(finding, first[finding.first_case], location) for finding in report.findings if finding.first_case in first]
    named = sorted({result["ruleId"] for result in results})
    for result in results:
        result["ruleIndex"] = named.index(result["ruleId"])
    return json.dumps({"version": "2.1.0", "$schema": SCHEMA, "runs": [{
        "tool": {"driver": {"name": "rnic-suite", "version": report.run.suite_version,
                            "rules": [_rule(catalogue.rule(name)) for name in named]}},
        "automationDetails": {"id": f"rnic-suite/{report.run.iut.kind}/{report.run.id}"},
        "invocations": [{"executionSuccessful": report.complete, "startTimeUtc": report.run.start,
                         **({"toolExecutionNotifications": [{"level": "error", "message": {"text": _incomplete(report)}}]}
                            if not report.complete else {})}],
        "results": results}]}, indent=1) + "\n"


def _incomplete(report):
    return f"the run is incomplete: {len(report.cases)} of {report.run.selected} selected cases have a verdict"


def _rule(rule):
    return {"id": rule.id, "shortDescription": {"text": f"{rule.place} {rule.level.upper()}".strip() or rule.id},
            "fullDescription": {"text": rule.text or rule.id}, **({"help": _help(rule)} if rule.quote else {}),
            **({"helpUri": rule.href} if rule.href else {}),
            "defaultConfiguration": {"level": "error" if rule.level in ("", "must") else "warning" if rule.level == "should" else "note"}}


def _help(rule):
    """The rule in our words and in those of its RFC."""
    return {"text": f'{rule.text}\n\n{rule.place}: "{rule.quote}"',
            "markdown": f"{markdown.plain(rule.text)}\n\n> {markdown.plain(rule.quote)}\n>\n> [{rule.place}]({rule.href})"}


def _failure(case, location):
    found = case.decisive
    rule = found.rule if found else case.rules[0] if case.rules else "harness"
    admissible = f"; admissible: {' or '.join(found.admissible)}" if found else ""
    result = _result(case, rule, LEVELS.get(case.verdict, "error"), f"{case.id}: {case.why or case.verdict}{admissible}", location)
    if case.is_known:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": f"{case.gate.reason} ({case.gate.entry})"}]
    return result


def _finding(finding, case, location):
    result = _result(case, finding.rule, "error", f"{finding.id}: {finding.observed[0]}; admissible: {' or '.join(finding.admissible)}", location)
    if not finding.is_new_failure:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": f"{finding.gate.reason} ({finding.gate.entry})"}]
    return result


def _advisory(case, advisory, location):
    return _result(case, advisory.rule, "note", f"{case.id}: {advisory.text}", location)


def _result(case, rule, level, words, location):
    file, line = (location, 1) if location else (case.source, case.line)
    # The same in two runs, so that a service recognises a finding.
    fingerprint = hashlib.sha256(f"{case.id}\0{rule}\0{attention.alike(words)}".encode(errors="replace")).hexdigest()
    return {"ruleId": rule, "level": level, "message": {"text": words},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": urllib.parse.quote(file)}, "region": {"startLine": line}},
                           "logicalLocations": [{"fullyQualifiedName": case.id, "kind": "function"}]}],
            "partialFingerprints": {"rnicCase/v1": fingerprint}, "properties": {"rerun": case.rerun, "layer": case.layer}}
