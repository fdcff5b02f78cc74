#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Runs the suite several times and prints the differences in verdicts of cases, verdicts of rows, and advisories."""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys

EPILOG = """\
examples:
  tools/repeat_runs.py                                  20 runs of everything on the reference
  tools/repeat_runs.py --times 5 -- --iut siw-vm        what follows -- is passed to `rnic-suite run`
  tools/repeat_runs.py --load 4                         with four processes that compute at the same time
  tools/repeat_runs.py --only-compare out/repeat        compares the runs in that folder
exit: 0 all the same, 1 something differed, 2 usage, 3 a run did not end by itself
"""
PROGRAM = "build/dev/suite/runner/rnic-suite"


def outcome_of(results):
    """{case id: what must be the same in each run}"""
    return {case["id"]: {
        "verdict": case["verdict"],
        "rows": ", ".join(f"{row['name']}: {row['verdict']}" for row in case["rows"] if row["verdict"] != "pass"),
        "advisories": ", ".join(sorted({advisory["rule"] for advisory in case["advisories"]})),
    } for case in results["cases"]}


def differences(outcomes):
    """A line for each thing that differs between runs; `outcomes` is [(name of the run, {id: ...})]."""
    lines = []
    for case in dict.fromkeys(case for _, outcome in outcomes for case in outcome):
        for aspect in ("verdict", "rows", "advisories"):
            seen = collections.defaultdict(list)
            for name, outcome in outcomes:
                seen[outcome[case][aspect] if case in outcome else "not run"].append(name)
            if len(seen) > 1:
                kinds = sorted(seen.items(), key=lambda item: -len(item[1]))
                told = "; ".join(f"{len(runs)} x {value or 'none'}" + (f" ({', '.join(runs)})" if number else "")
                                 for number, (value, runs) in enumerate(kinds))
                lines.append(f"{case}: {aspect}: {told}")
    return lines


def read(folder):
    with open(folder / "results.json", encoding="utf-8") as file:
        return json.load(file)


def run_once(program, words, folder):
    """The results of one run, or None if it did not end by itself."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "console.txt", "w", encoding="utf-8") as console:
        subprocess.run([program, "run", *words, "--out", str(folder)], stdout=console, stderr=subprocess.STDOUT, check=False)
    if not (folder / "results.json").exists():
        return None
    results = read(folder)
    return results if results["run"]["complete"] else None


class Load:
    """So many processes that do nothing but compute."""

    def __init__(self, count):
        self._busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self._busy:
            one.terminate()
        for one in self._busy:
            one.wait()


def say(name, results):
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(results["summary"]["verdicts"].items()))
    print(f"{name}: {counts}; {results['run']['timings'].get('total', 0):.1f} s", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20, help="how many runs (default: 20)")
    parser.add_argument("--program", default=PROGRAM, help=f"default: {PROGRAM}")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/repeat"), help="a folder for each run is made in here")
    parser.add_argument("--load", type=int, default=0, metavar="N", help="this many processes compute at the same time")
    parser.add_argument("--only-compare", type=pathlib.Path, metavar="DIR", help="runs nothing; compares the runs in DIR")
    parser.add_argument("words", nargs="*", help="for `rnic-suite run`")
    found = parser.parse_args()
    if found.times < 2 or found.load < 0:
        parser.error("--times is 2 or more, --load 0 or more")
    if not found.only_compare and not os.access(found.program, os.X_OK):
        parser.error(f"{found.program} is not there: build it, or name it by --program")
    return found


def main():
    options = arguments()
    outcomes = []
    if options.only_compare:
        for file in sorted(options.only_compare.glob("*/results.json")):
            outcomes.append((file.parent.name, outcome_of(read(file.parent))))
        if len(outcomes) < 2:
            print(f"repeat_runs.py: fewer than two runs in {options.only_compare}", file=sys.stderr)
            return 2
    else:
        if any(options.out.glob("*/results.ndjson")):
            print(f"repeat_runs.py: {options.out} holds runs already: give another --out, or compare them by --only-compare", file=sys.stderr)
            return 2
        with Load(options.load):
            for number in range(1, options.times + 1):
                name = f"{number:02}"
                results = run_once(options.program, options.words, options.out / name)
                if results is None:
                    print(f"repeat_runs.py: run {name} did not end by itself; see {options.out / name}/console.txt", file=sys.stderr)
                    return 3
                say(name, results)
                outcomes.append((name, outcome_of(results)))
    lines = differences(outcomes)
    print(*lines, sep="\n")
    print(f"{len(outcomes)} runs, {len(lines)} differences")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
