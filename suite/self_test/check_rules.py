#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Checks that each MUST and SHOULD that a case judges has been seen broken by a deviation of the reference, or says why not.

A rule of the RFCs has been seen broken if it has a deviation, in deviations.def or also_breaks.def; if it restates a rule that has; or if the judge
names it for the same fault as a rule that has (the lists of ANALYZER_CHECK in dissectors/analyzer/*.def; the captures of the corpus show each of
them broken). Otherwise the catalogue has a `without_deviation`, or a `reason` why it cannot be tested. A list has the rules that lack all of these,
one per line; a line that does not hold is a fault too, so that the list only becomes shorter.
"""
import argparse
import json
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]


def catalogue():
    """The rules that cases of this table judge, by id."""
    files = sorted([*(ROOT / "rules").glob("rfc*.yaml"), ROOT / "rules" / "verbs.yaml", ROOT / "rules" / "kernel_verbs.yaml"])
    return {rule["id"]: rule for file in files for rule in yaml.safe_load(file.read_text())["rules"]}


def judged_in(matrix):
    """The rules that some case evaluates on the conforming reference, or the judge in its frames."""
    return {rule for case in matrix["cases"].values() for rule in (*case["judged"], *case["in_frames"])}


def broken_in(matrix):
    """The rules that have a deviation."""
    return {rule for one in matrix["deviations"].values() for rule in (one["rule"], *one.get("also_breaks", {}))}


def faults_of_the_judge():
    """The rules of each fault that the judge can find."""
    for file in sorted((ROOT / "dissectors" / "analyzer").glob("*.def")):
        text = re.sub(r"//.*", "", file.read_text())
        for entry in re.findall(r"ANALYZER_CHECK\((.*?)\)", text, re.S):
            yield set(re.findall(r'"([^"]+)"', entry))


def seen_broken(rules, broken):
    """`broken`, with what is broken by the same faults and what restates such a rule."""
    seen = set(broken)
    for names in faults_of_the_judge():
        if names & broken:
            seen |= names
    while more := {rule for rule, one in rules.items() if rule not in seen and one.get("restates") in seen}:
        seen |= more
    return seen


def lacking(rules, judged, seen):
    return {rule for rule in judged if rule in rules and rules[rule]["level"] != "may" and rule not in seen
            and "without_deviation" not in rules[rule] and "reason" not in rules[rule]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="exit: 0 each has been, but for what is listed; 1 not")
    parser.add_argument("matrix", type=pathlib.Path, help="what rnic-self-test --complete --out wrote")
    parser.add_argument("--open", type=pathlib.Path, help="file of the rules that are known to lack a deviation")
    arguments = parser.parse_args()
    matrix, rules = json.loads(arguments.matrix.read_text()), catalogue()
    judged, broken = judged_in(matrix), broken_in(matrix)
    missing = lacking(rules, judged, seen_broken(rules, broken))
    lines = arguments.open.read_text().splitlines() if arguments.open else []
    known = {line for line in lines if line and not line.startswith("#")}
    found = [f"{rule}: is judged, and no deviation breaks it: add one, or `without_deviation` to the catalogue" for rule in sorted(missing - known)]
    found += [f"{rule}: is listed in {arguments.open}, and no longer lacks a deviation: take the line out" for rule in sorted(known - missing)]
    found += [f"{rule}: has a deviation: take its `without_deviation` out" for rule in sorted(broken) if "without_deviation" in rules.get(rule, {})]
    print("\n".join([*found, f"{len(judged & set(rules))} rules of the RFCs judged, {len(broken & set(rules))} with a deviation, "
                             f"{len(missing)} without and without a reason, {len(found)} faults"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
