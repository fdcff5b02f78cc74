#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Checks docs/bug-classes.md: each case and deviation that it names exists, and the deviations of a row make its cases fail."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

NAME = re.compile(r"`([^`]+)`")
RULER = re.compile(r"^\|[-|]+\|$")


def lines_of(page):
    """(line number, cases, deviations) of each row of a table with cases; deviations are None if the table has none."""
    heading = None
    for number, line in enumerate(page.splitlines(), 1):
        if not line.startswith("|"):
            heading = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if heading is None:
            heading = cells
        elif not RULER.match(line):
            yield number, NAME.findall(cells[1]), NAME.findall(cells[2]) if heading[2].startswith("deviations") else None


def case_ids(program):
    """Every case of the suite, variants folded."""
    listed = subprocess.run([program, "list", "--long"], capture_output=True, text=True, check=True).stdout
    return {word.split("@")[0] for line in listed.splitlines() for word in line.split()[:1]}


def caught(program, deviations):
    """{deviation: cases that fail for it at its rule}; names that do not exist are left out."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "matrix.json"
        words = [word for name in deviations for word in ("--deviation", name)]
        done = subprocess.run([program, "--link", "memory", "--out", str(out), *words], capture_output=True, text=True)
        if not out.exists():
            sys.exit(f"{program}: {done.stderr.strip() or done.stdout.strip()}")
        matrix = json.loads(out.read_text(encoding="utf-8"))["deviations"]
    return {name: {case.split("@")[0] for case in entry["caught_by"]} for name, entry in matrix.items()}


def faults(lines, known_cases, catches):
    for number, cases, deviations in lines:
        for case in cases:
            if case not in known_cases:
                yield f"{number}: there is no case {case}"
        if deviations is None:
            continue
        if not cases or not deviations:
            yield f"{number}: a class needs a case and a deviation"
        for case in cases:
            if not any(case in catches[name] for name in deviations):
                yield f"{number}: none of {', '.join(deviations)} fails {case}"
        for name in deviations:
            if not catches[name].intersection(cases):
                yield f"{number}: {name} fails none of the cases"


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: check_bug_classes.py docs/bug-classes.md rnic-suite rnic-self-test")
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("suite", help="the program rnic-suite")
    parser.add_argument("self_test", help="the program rnic-self-test")
    arguments = parser.parse_args()
    lines = list(lines_of(arguments.page.read_text(encoding="utf-8")))
    deviations = list(dict.fromkeys(name for *_, names in lines for name in names or ()))
    if not deviations:
        sys.exit(f"{arguments.page}: no line names a deviation")
    found = list(faults(lines, case_ids(arguments.suite), caught(arguments.self_test, deviations)))
    for fault in found:
        print(f"{arguments.page}:{fault}", file=sys.stderr)
    print(f"{len(lines)} lines, {len(deviations)} deviations, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
