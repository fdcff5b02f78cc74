#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Runs the cases against the reference RNIC with lawful variants, and judges captures of it: neither the cases nor the analyzer may find fault.

The tester's end of the connections is left aside: its octets are wrong on purpose.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from test_deviations import against, records_of, violations


# Permitted by one sentence of the RFCs, against the SHOULD of another one.
DISCOURAGED = {"resets_after_terminate": "rdmap.terminate.graceful-llp-teardown"}


def faults(entry, lint, folder):
    discouraged = {DISCOURAGED.get(name) for name in entry["deviation"].split("+")}
    for record in violations(records_of(lint, folder / entry["file"])):
        if against(entry["iut"], record["from"]) and record["rule"] not in discouraged:
            yield f"{entry['deviation']}: frame {record['frame']}: {record['rule']} ({record['certainty']}): {record['came']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                     epilog="example: test_lawful.py SELF_TEST LINT --shard 1/4 --captures out/lawful")
    parser.add_argument("self_test", help="rnic-self-test")
    parser.add_argument("lint", help="rnic-lint")
    parser.add_argument("--shard", default="1/1", help="the I-th of N parts of the sets of variants")
    parser.add_argument("--combinations", default="10", help="sets that are drawn, besides each variant by itself")
    parser.add_argument("--captures", type=pathlib.Path, help="keep the captures in this folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.captures or pathlib.Path(scratch)
        made = subprocess.run([arguments.self_test, "--lawful", "--shard", arguments.shard, "--combinations", arguments.combinations,
                               "--captures", str(folder)], text=True, stdout=subprocess.PIPE, check=False)
        print(made.stdout, end="")
        if made.returncode not in (0, 1):
            raise SystemExit(made.returncode)
        index = json.loads((folder / "index.json").read_text())
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            found = [fault for each in workers.map(lambda entry: list(faults(entry, arguments.lint, folder)), index) for fault in each]
    for fault in found:
        print(fault)
    print(f"{len(index)} captures of lawful sets, {len(found)} findings")
    sys.exit(1 if found or made.returncode or not index else 0)


if __name__ == "__main__":
    main()
