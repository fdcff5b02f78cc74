#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Compares the head of each case, which is its aim, with the rules that it evaluates on the conforming reference.

Each rule of a head must be named by an expectation that was evaluated, or by one that a deviation made fail (what every sender must do is
recorded only if it is not done), or be a rule that shows in frames and that the judge evaluated on those of the case. Each rule that an
expectation evaluates must be in the head, except those of the steps that many cases take (a checked transfer, the end of a stream after an
error). A list has the known differences, one "CASE RULE" per line; a line that does not hold is a fault
too, so that the list only becomes shorter. Cases that are not applicable on the link of the matrix are not compared.
"""
import argparse
import collections
import json
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "rules"
STEPS = ("*/*_steps.[ch]pp", "framework/*.[ch]pp")
RULE_ID = re.compile(r'"((?:mpa|ddp|rdmap|sec|verbs|kmem)(?:\.[a-z0-9-]+){2})"')


def passive_rules():
    """The rules that show in what the IUT sends, whatever the case is about."""
    for file in sorted(RULES.glob("rfc*.yaml")):
        for rule in yaml.safe_load(file.read_text())["rules"]:
            if rule["check"] == "passive":
                yield rule["id"]


def rules_of_steps():
    """The rules that steps name by themselves, whichever case takes them."""
    cases = ROOT / "suite" / "cases"
    return {rule for pattern in STEPS for file in cases.glob(pattern) for rule in RULE_ID.findall(file.read_text())}


class Body:
    """A case, all its variants together: `@ipv6` judges what the case judges."""

    def __init__(self):
        self.aim, self.judged, self.failed, self.in_frames = set(), set(), set(), set()


def bodies_of(matrix):
    bodies = collections.defaultdict(Body)
    for case, one in matrix["cases"].items():
        if not one["applies"]:
            continue
        body = bodies[case.split("@")[0]]
        body.aim.update(one["aim"])
        body.judged.update(one["judged"])
        body.in_frames.update(one["in_frames"])
        body.failed.update(matrix["seen_to_fail_at"].get(case, {}))
    return bodies


def unnamed(bodies, passive):
    """Rules of heads that the case does not evaluate."""
    return {(case, rule) for case, body in bodies.items()
            for rule in body.aim - body.judged - (body.failed & body.aim) - (body.in_frames & passive)}


def unannounced(bodies, of_steps):
    """Rules that a case evaluates and that its head does not name."""
    return {(case, rule) for case, body in bodies.items() for rule in body.judged - body.aim - of_steps}


def listed_in(file):
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")] if file else []
    return {tuple(line.split()) for line in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="exit: 0 they agree, but for what is listed; 1 not")
    parser.add_argument("matrix", type=pathlib.Path, help="what rnic-self-test --complete --out wrote")
    parser.add_argument("--open", type=pathlib.Path, help="file of the differences that are known")
    parser.add_argument("--print", action="store_true", help="print the lines that --open needs")
    arguments = parser.parse_args()
    matrix = json.loads(arguments.matrix.read_text())
    bodies = bodies_of(matrix)
    missing, extra = unnamed(bodies, set(passive_rules())), unannounced(bodies, rules_of_steps())
    if arguments.print:
        print("\n".join(f"{case} {rule}" for case, rule in sorted(missing | extra)))
        return 0
    known = listed_in(arguments.open)
    faults = [f"{case}: {rule} stands in the head, and nothing evaluates it" for case, rule in sorted(missing - known)]
    faults += [f"{case}: {rule} is evaluated, and does not stand in the head" for case, rule in sorted(extra - known)]
    faults += [f"{' '.join(line)}: listed in {arguments.open}, and true no more: take the line out" for line in sorted(known - missing - extra)]
    print("\n".join([*faults, f"{len(bodies)} cases, {len(missing)} rules of heads not evaluated, {len(extra)} not announced, "
                              f"{len(known)} listed, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
