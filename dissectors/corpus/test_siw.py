#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Judges the captures of two kernels' soft-iWARP: what rnic-lint finds in each is listed in siw/expected.json with its cause, and nothing
else may be found. Clean traffic has no finding at all."""
import argparse
import collections
import json
import pathlib
import re
import sys

import record_siw
import test_samples

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE / "siw"


def summed(connections, member):
    total = collections.Counter()
    for connection in connections:
        total.update(connection[member])
    return dict(total)


def judge(lint, file):
    """Violations by rule, and findings about what is no traffic of a stock tool at all."""
    code, connections, said = test_samples.judged(lint, file)
    by_rule = summed(connections, "by_rule")
    if code != (1 if by_rule else 0):
        yield f"{file.name}: exit {code} {said}"
    if not connections or any(one["first"]["role"] != "initiator" or not one["first"]["operations"] for one in connections):
        yield f"{file.name}: not every connection has a startup and messages"
    if notes := summed(connections, "notes"):
        yield f"{file.name}: notes {notes}"
    return by_rule


def faults(lint, expected, write):
    files = {file.name: file for file in sorted(FOLDER.glob("*.pcap.gz"))}
    violations, came = expected["violations"], {}
    for name, file in files.items():
        came[name] = yield from judge(lint, file)
        if not write and came[name] != violations.get(name):
            yield f"{name}: violations {came[name]} in place of {violations.get(name)}"
    if write:
        expected["violations"] = came
    for name in sorted(set(violations) - set(files)):
        yield f"{name}: is listed and not there"
    for rule in {rule for found in came.values() for rule in found} ^ set(expected["causes"]):
        yield f"{rule}: broken without a cause, or a cause without need"
    played = {match.groups() for name in files if (match := re.fullmatch(r"(.*)-([\d.]+)-to-([\d.]+)\.pcap\.gz", name))}
    for series in record_siw.SERIES:
        for role in (1, 2):
            missing = set(record_siw.SESSIONS) - {each[0] for each in played if each[role] == series}
            if missing:
                yield f"{', '.join(sorted(missing))}: not played by {series} as {('Initiator', 'Responder')[role - 1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="example: test_siw.py build/dev/dissectors/lint/rnic-lint")
    parser.add_argument("lint", help="rnic-lint")
    parser.add_argument("--write", action="store_true", help="write what came into expected.json; causes are yours to add")
    arguments = parser.parse_args()
    manifest = FOLDER / "expected.json"
    expected = json.loads(manifest.read_text()) if manifest.exists() else {"causes": {}, "violations": {}}
    found = list(faults(arguments.lint, expected, arguments.write))
    if arguments.write:
        manifest.write_text(json.dumps(expected, indent=1) + "\n")
    for fault in found:
        print(fault)
    print(f"{len(expected['violations'])} captures, {len(found)} faults")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
