#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Judges the hand-made captures: rnic-lint must find in each what was put there, and nothing else."""
import argparse
import gzip
import json
import pathlib
import subprocess
import sys

import make_samples

HERE = pathlib.Path(__file__).resolve().parent


def judged(lint, file):
    ended = subprocess.run([lint, "--json", str(file)], capture_output=True, text=True, check=False)
    if ended.returncode not in (0, 1):
        return ended.returncode, [], ended.stderr.strip()
    records = [json.loads(line) for line in ended.stdout.splitlines()]
    return ended.returncode, [record for record in records if record["type"] == "connection"], ""


def agrees(expected, came):
    return expected[0] <= came <= expected[1] if isinstance(expected, list) else expected == came


def differences(expected, came):
    for end in ("first", "second"):
        for member, value in expected[end].items():
            if not agrees(value, came[end][member]):
                yield f"{end}: {came[end][member]} {member} in place of {value}"
    for end, port in zip(("first", "second"), expected["ports"]):
        if not came[end]["address"].endswith(f":{port}"):
            yield f"{end}: {came[end]['address']} has not port {port}"
    if came["by_rule"] != expected["violations"]:
        yield f"violations {came['by_rule']} in place of {expected['violations']}"
    if sorted(came["notes"]) != expected["notes"]:
        yield f"notes {sorted(came['notes'])} in place of {expected['notes']}"


def faults(lint, samples):
    manifest = json.loads((samples / "expected.json").read_text())
    if sorted(manifest) != sorted(make_samples.SAMPLES):
        yield "expected.json: not the samples that make_samples.py makes"
    for name in make_samples.SAMPLES:
        file = samples / f"{name}.pcap.gz"
        octets, expected = make_samples.make(name)
        if gzip.decompress(file.read_bytes()) != octets or manifest[name] != json.loads(json.dumps(expected)):
            yield f"{name}: is not what make_samples.py makes"
        code, connections, said = judged(lint, file)
        if code != int(any(one["violations"] for one in expected)):
            yield f"{name}: exit {code} {said}"
        if len(connections) != len(expected):
            yield f"{name}: {len(connections)} connections in place of {len(expected)}"
            continue
        for wanted, came in zip(expected, connections):
            for difference in differences(wanted, came):
                yield f"{name}: connection {came['connection']}: {difference}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="example: test_samples.py build/dev/dissectors/lint/rnic-lint")
    parser.add_argument("lint", help="rnic-lint")
    found = list(faults(parser.parse_args().lint, HERE / "samples"))
    for fault in found:
        print(fault)
    print(f"{len(make_samples.SAMPLES)} samples, {len(found)} faults")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
