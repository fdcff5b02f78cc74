#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Judges a batch of semantic mutants of the reference RNIC by the cases, by those of the DAT API and by random sessions.

A batch is a folder with mutants.patch, a patch of reference_rnic in which `base::mutant(N)` chooses mutant N, and batch.yaml, which says of
each mutant what it breaks. All mutants of a batch are in one build; RNIC_MUTANT in the environment turns one on. The unchanged RNIC is judged
first and has to pass. Each mutant's record is written at once, so a run that was interrupted goes on where it stopped.
"""

import argparse
import functools
import json
import pathlib
import re
import sys
import time

import batch as batches
from workshop import SUITE, Workshop

TARGETS = ("rnic-suite", "cases_on_reference", "rnic-agent", "rnic-dat-cases", "rnic_dat")
ONE_PROCESS = "suite/cases/cases_on_reference"
CASES = ("--iut", "reference", "--link", "memory", "--no-capture", "--strict")
DAT = ("--iut", "dat:reference", "--no-capture")
NOT_PLAYED = {"played": False, "caught": False, "failed": [], "doubtful": [], "rules": {}}
PLACE_OF_DAT = "reference_rnic/dat/"


def selected(cases):
    """The sentinels are played in any case, and are not selected. If only they failed, the run is the same again."""
    return [word for case in cases if not case.startswith("harness.") for word in ("--select", case)]


def in_order(rules):
    return dict(sorted(rules.items(), key=lambda one: (-one[1], one[0])))


def verdicts(code, document):
    """What a run of cases shows: which failed for the first time, which gave no verdict, and which rules are blamed."""
    if document is None:
        return {**NOT_PLAYED, "played": True, "exit": code, "doubtful": [f"the run: exit {code}"]}
    failed, doubtful, rules = [], [], {}
    for case in document["cases"]:
        if case["gate"]["result"] != "new_failure":
            continue
        (failed if case["verdict"] == "fail" else doubtful).append(case["id"])
        for rule in {one["rule"] for one in case["expectations"] if one["verdict"] == "fail" and case["verdict"] == "fail"} - {""}:
            rules[rule] = rules.get(rule, 0) + 1
    for finding in document["findings"]:
        if finding["gate"]["result"] == "new_failure":
            failed.append(f"finding:{finding['rule']}")
            rules[finding["rule"]] = rules.get(finding["rule"], 0) + finding["cases"]
    return {"played": True, "exit": code, "caught": bool(failed), "failed": sorted(failed), "doubtful": sorted(doubtful), "rules": in_order(rules)}


def printed_verdicts(code, printed):
    """What all cases in one process show: a line for each case that does not pass, and an indented one for each expectation."""
    failed, doubtful, rules = set(), set(), {}
    for line in printed.splitlines():
        words = line.split()
        if line.startswith("  ") and words[0] in ("fail", "also_seen") and words[2] != ":":
            rule = words[2].removesuffix(":")
            rules.setdefault(rule, set()).add(words[1])
            failed |= {f"finding:{rule}"} if words[0] == "also_seen" else set()
        elif words and words[0] == "fail" and line[0] != " ":
            failed.add(words[1])
        elif words and words[0] in ("inconclusive", "error") and line[0] != " ":
            doubtful.add(words[1])
    return {"played": True, "exit": code, "caught": bool(failed), "failed": sorted(failed), "doubtful": sorted(doubtful),
            "rules": in_order({rule: len(cases) for rule, cases in rules.items()})}


def findings(code, printed):
    """What a soak shows."""
    rules, seeds = {}, []
    for found in re.finditer(r"^finding, (\d+) times, first by seed (\d+):\n((?:  (?!admissible:).*\n)*)", printed, re.MULTILINE):
        seeds.append(int(found[2]))
        for line in found[3].splitlines():
            rule = line.split()[0]
            rules[rule] = rules.get(rule, 0) + int(found[1])
    doubtful = [] if code in (0, 1) else [f"the soak: exit {code}"]
    return {"played": True, "exit": code, "caught": code == 1, "failed": [], "doubtful": doubtful, "rules": in_order(rules), "seeds": seeds}


class Judge:
    def __init__(self, batch, workshop, arguments):
        self.batch, self.workshop, self.arguments = batch, workshop, arguments
        self.places = batches.catalogue(workshop.tree)

    def environment(self, number):
        return {"RNIC_MUTANT": str(number)}

    def run(self, number, *words):
        code, document = self.workshop.run(*words, timeout=self.arguments.timeout, environment=self.environment(number))
        return verdicts(code, document)

    def cases(self, number):
        """In one process; if the mutant ends or holds up that one, in the processes of a run."""
        code, printed = self.workshop.program(ONE_PROCESS, "--strict", timeout=self.arguments.timeout, environment=self.environment(number))
        return printed_verdicts(code, printed) if code in (0, 1) else self.run(number, *CASES)

    @functools.cached_property
    def usual(self):
        """What a strict run of the DAT cases fails without any mutant: the provider has lawful choices that are advisories."""
        return set(self.run(0, *DAT, "--strict")["failed"])

    def dat(self, number):
        """In real time, and strictly: what fails has to fail again by itself, and to pass without the mutant."""
        first = self.run(number, *DAT, "--strict")
        cases = [one for one in first["failed"] if one not in self.usual and not one.startswith("finding:")]
        if not cases:
            return {**first, "caught": False, "failed": [], "rules": {}}
        chosen = selected(cases[:40])
        again, without = (self.run(each, *DAT, "--strict", *chosen) for each in (number, 0))
        failed = [one for one in again["failed"] if one not in without["failed"]]
        rules = {rule: count for rule, count in again["rules"].items() if count > without["rules"].get(rule, 0)}
        return {**again, "caught": bool(failed), "failed": failed, "rules": rules if failed else {},
                "doubtful": sorted({*first["doubtful"], *first["failed"], *again["doubtful"]} - set(failed) - self.usual)}

    def soak(self, number):
        return findings(*self.workshop.program(SUITE, "soak", "--seed", str(self.arguments.seed), "--sessions", str(self.arguments.sessions),
                                               timeout=self.arguments.timeout, environment=self.environment(number)))

    def dat_soak(self, number):
        """Sessions of the DAT API, in real time: what fails has to fail again."""
        first = self.arguments.seed
        sessions = [f"soak.dat.{seed}" for seed in range(first, first + self.arguments.dat_sessions)]
        seen = self.run(number, *DAT, *selected(sessions))
        failed = [one for one in seen["failed"] if not one.startswith("finding:")]
        if not failed:
            return seen
        again = self.run(number, *DAT, *selected(failed))
        return {**again, "doubtful": sorted({*again["doubtful"], *seen["doubtful"], *seen["failed"]} - set(again["failed"]))}

    def mutant(self, entry):
        """Only what can reach the mutant is played, and DAT, which takes longest, where it is most likely to show or nothing else has shown it."""
        number, in_dat = entry["id"], PLACE_OF_DAT in entry["where"]
        record = {"id": number, "cases": NOT_PLAYED, "dat": NOT_PLAYED, "soak": NOT_PLAYED}
        if in_dat:
            record["soak"] = self.dat_soak(number)
        else:
            record["soak"] = self.soak(number)
        if self.arguments.brief and self.judged(record, entry)["right_section"]:
            return record
        if not in_dat:
            record["cases"] = self.cases(number)
        if entry["shows"] != "wire" or not batches.is_caught(record):
            record["dat"] = self.dat(number)
        return self.judged(record, entry)

    def judged(self, record, entry):
        """The record with the rules that are blamed, and whether one of them is in the section that is marked."""
        rules = [rule for by in batches.FOUND_BY for rule in record[by]["rules"]]
        record["blamed"] = {rule: " ".join(filter(None, (f"RFC {self.places[rule][0]}" if self.places[rule][0] else "", self.places[rule][1])))
                            for rule in rules if rule in self.places}
        record["marked"] = entry["rule"]
        record["right_section"] = batches.matches([self.places[rule] for rule in record["blamed"]], entry["rule"])
        return record

    def unchanged(self):
        """Why the RNIC without a mutant does not pass; None if it does."""
        for what, seen in (("cases", self.cases(0)), ("dat", self.run(0, *DAT)), ("soak", self.soak(0)), ("soak of DAT", self.dat_soak(0))):
            if seen["exit"] != 0:
                return f"{what}: exit {seen['exit']}, {', '.join([*seen['failed'], *seen['doubtful'], *seen['rules']][:5])}"
        return None


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="example: tools/mutation/judge_batch.py tools/mutation/batches/one --out out/batch-one\n"
                                            "exit: 0 every mutant has its record, 2 usage or a batch that cannot be used, 3 the unchanged RNIC does not build or pass")
    parser.add_argument("batch", type=pathlib.Path, help="the folder of the batch")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the folder of the records: record.json, table.md, mutants/N.json")
    parser.add_argument("--only", type=int, action="append", metavar="N", help="this mutant, even if it has a record; may be given more than once")
    parser.add_argument("--brief", action="store_true", help="plays no cases of a mutant that sessions have blamed on the right section")
    parser.add_argument("--table", action="store_true", help="plays nothing: makes the table again, from the records and reading.yaml")
    parser.add_argument("--seed", type=int, default=1, help="of the first session (default 1)")
    parser.add_argument("--sessions", type=int, default=2000, help="for each mutant (default 2000)")
    parser.add_argument("--dat-sessions", type=int, default=300, help="of the DAT API, for each mutant in it (default 300)")
    parser.add_argument("--preset", default="dev")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run of cases or sessions (default 300)")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/mutants/batch"), help="where it is built (default build/mutants/batch)")
    return parser.parse_args()


def records_in(out, batch):
    paths = [(number, out / f"mutants/{number}.json") for number in batch.entries]
    return {number: json.loads(path.read_text()) for number, path in paths if path.exists()}


def write(out, batch, records, how):
    ordered = [records[number] for number in sorted(records)]
    batches.write_json(out / "record.json", {**how, "counts": batches.counts(batch, ordered), "mutants": ordered})
    (out / "table.md").write_text(batches.table(batch, ordered))


def describe(record):
    by = [name for name in batches.FOUND_BY if record[name]["caught"]]
    doubtful = any(record[name]["doubtful"] for name in batches.FOUND_BY)
    return ("caught by " + ", ".join(by) if by else "not caught, inconclusive" if doubtful else "SURVIVED") + (
        f": {batches.shown(list(record['blamed']), 3)}; marked {record['marked']}" if by else "")


def play(judge, batch, numbers, records, arguments, how):
    start = time.monotonic()
    for done, number in enumerate(numbers):
        records[number] = judge.mutant(batch.entries[number])
        batches.write_json(arguments.out / f"mutants/{number}.json", records[number])
        write(arguments.out, batch, records, how)
        left = (time.monotonic() - start) / (done + 1) * (len(numbers) - done - 1)
        print(f"{done + 1}/{len(numbers)}, {left / 60:.0f} min left  {number}: {describe(records[number])}", flush=True)


def build_and_judge(batch, arguments, root, how):
    files = batches.applied(batch, root)
    records = records_in(arguments.out, batch)
    numbers = arguments.only or [number for number in sorted(batch.entries) if number not in records]
    print(f"{len(batch.entries)} mutants, {len(numbers)} to judge; building", flush=True)
    workshop = Workshop(root, arguments.work.resolve(), arguments.preset, files)
    built = workshop.compile(*TARGETS)
    if built.returncode:
        print(f"judge_batch.py: the batch does not build:\n{built.stdout[-3000:]}", file=sys.stderr)
        return 3
    judge = Judge(batch, workshop, arguments)
    print("judging the unchanged RNIC", flush=True)
    if why := judge.unchanged():
        print(f"judge_batch.py: without a mutant the RNIC has to pass: {why}", file=sys.stderr)
        return 3
    play(judge, batch, numbers, records, arguments, how)
    return 0


def main():
    arguments = parse_arguments()
    root = pathlib.Path(__file__).resolve().parents[2]
    try:
        batch = batches.load(arguments.batch)
        if unknown := set(arguments.only or []) - set(batch.entries):
            raise batches.Unusable(f"--only: the batch has no mutant {', '.join(map(str, sorted(unknown)))}")
        how = {"batch": batch.folder.name, "seed": arguments.seed, "sessions": arguments.sessions, "dat_sessions": arguments.dat_sessions, "brief": arguments.brief,
               "commit": batches.git(root, "rev-parse", "HEAD").stdout.strip()}
        code = 0 if arguments.table else build_and_judge(batch, arguments, root, how)
        if code:
            return code
    except batches.Unusable as problem:
        print(f"judge_batch.py: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("judge_batch.py: interrupted; the same command goes on", file=sys.stderr)
        return 130
    records = records_in(arguments.out, batch)
    if arguments.table:
        known = json.loads((arguments.out / "record.json").read_text())
        how = {name: known[name] for name in how if name in known}
    write(arguments.out, batch, records, how)
    print("\n".join(batches.figures(batch, [records[number] for number in sorted(records)])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
