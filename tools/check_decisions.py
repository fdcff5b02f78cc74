#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Checks the decision points of the reference RNIC: there are at most 122, the protocol code asks at each, a deviation or a
lawful variant answers at each, and the protocol code, its tests and its build need neither folder."""

import argparse
import pathlib
import re
import sys

MOST = 122
PROTOCOL = ["stream", "verbs", "access"]
ANSWERS = ["deviants", "lawful"]
NEEDED = re.compile(r"reference_rnic/(deviants|lawful)/|\brnic_(stream_deviants|deviants|lawful)\b")
POINT = re.compile(r"^  virtual void\s+(\w+)\(", re.MULTILINE)
ASKED = re.compile(r"\bDecisions::(\w+)\b")
COMMENT = re.compile(r"//[^\n]*")


def code_of(reference, rooms):
    for room in rooms:
        for path in sorted((reference / room).glob("*.?pp")):
            yield path, COMMENT.sub("", path.read_text())


def faults_of(reference):
    points = {}
    for path, code in code_of(reference, PROTOCOL):
        if path.name.endswith("decisions.hpp"):
            points |= {name: path for name in POINT.findall(code)}
    asked = {name for _, code in code_of(reference, PROTOCOL) for name in ASKED.findall(code)}
    answers = "".join(code for _, code in code_of(reference, ANSWERS))
    if len(points) > MOST:
        yield f"{len(points)} decision points, but at most {MOST} are allowed: let one answer serve several deviations"
    for name, path in points.items():
        if name not in asked:
            yield f"{path}: the protocol code never asks for {name}"
        if not re.search(rf"\bvoid {name}\(", answers):
            yield f"{path}: no deviation and no lawful variant answers {name}"
    for path in (path for room in PROTOCOL for path in sorted((reference / room).rglob("*"))):
        if (path.suffix in (".cpp", ".hpp") or path.name == "CMakeLists.txt") and NEEDED.search(path.read_text()):
            yield f"{path}: the protocol code must not need deviations or lawful variants"
    print(f"{len(points)} decision points")


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: tools/check_decisions.py .")
    parser.add_argument("root", type=pathlib.Path, nargs="?", default=pathlib.Path(__file__).resolve().parent.parent)
    found = list(faults_of(parser.parse_args().root.resolve() / "reference_rnic"))
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
