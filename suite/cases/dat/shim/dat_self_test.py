#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Shows that the cases of the DAT API can fail: each against faults of the calls that it judges, until one is noticed.

A fault is noticed where the case fails in a strict run, at a rule of its own, or where the case hangs because an event or an
effect never came. What the shim can do wrong is listed in fault.hpp.
"""

import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

IA = "rnic0"
KINDS = ["returns", "error", "out_zero", "out_other", "swallow", "in_other"]
EVENT_KINDS = ["event_number", "event_status", "event_cookie", "event_length", "event_handle", "event_operation",
               "event_context", "event_data", "event_again", "event_drop"]
MAY_HANG = {"swallow", "event_drop", "event_number", "in_other", "event_cookie", "event_again"}
NTH = range(9)
# As in dat_error.h: returns that no case brings about.
CODES = {"DAT_INSUFFICIENT_RESOURCES": 0x30000, "DAT_INTERNAL_ERROR": 0x40000, "DAT_INVALID_PARAMETER": 0x60000,
         "DAT_INVALID_STATE": 0x70000, "DAT_MODEL_NOT_SUPPORTED": 0x90000, "DAT_INTERRUPTED_CALL": 0x130000,
         "DAT_CONN_QUAL_UNAVAILABLE": 0x140000}
# Calls that cases make on their way to what they judge.
WAYS = ["dat_ep_post_recv", "dat_ep_post_send", "dat_ep_post_rdma_write", "dat_ep_post_rdma_read", "dat_evd_dequeue",
        "dat_ep_get_status", "dat_ep_query", "dat_ep_disconnect", "dat_evd_wait"]


def enter_private_network():
    """Runs this script again in a namespace whose only interface is lo; ports are free there."""
    if os.environ.get("RNIC_DAT_SELF_TEST") == "1":
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    os.execvpe("unshare", ["unshare", "-rn", sys.executable, *sys.argv], os.environ | {"RNIC_DAT_SELF_TEST": "1"})


class Case:
    def __init__(self, line):
        self.id, rest = line.split("  (", 1)
        calls, rules = rest.split(")  [", 1)
        self.calls = [call for call in calls.split(", ") if call]
        self.rules = rules.rstrip("]").split(", ")


class TestBed:
    def __init__(self, arguments, folder):
        conf = pathlib.Path(folder) / "dat.conf"
        conf.write_text("".join(
            f'{IA} u2.0 {safety} default {arguments.provider} rnic.1.0 "lo 127.0.0.1" ""\n'
            for safety in ("nonthreadsafe", "threadsafe")))
        self.program, self.shim = arguments.cases, arguments.shim
        self.environment = os.environ | {"DAT_OVERRIDE": str(conf)}

    def cases(self):
        words = subprocess.run([self.program, "--list"], check=True, capture_output=True, text=True)
        return [case for case in map(Case, words.stdout.splitlines()) if case.id.startswith("dat.")]

    def run(self, case, fault=None):
        """The words of one run."""
        return self.words("--run", case.id, fault)

    def words(self, option, name, fault=None, timeout=60):
        """What the program writes for a case or a session; it is ended after so many seconds."""
        environment = dict(self.environment)
        if fault is not None:
            environment |= {"LD_PRELOAD": self.shim, "RNIC_DAT_FAULT": fault}
        child = subprocess.Popen([self.program, option, name, "--ia", IA], env=environment, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            text, _ = child.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            child.kill()
            text, _ = child.communicate()
        return words_of(text)


def words_of(text):
    """The lines that a case wrote; one that is no JSON is an empty object."""
    words = []
    for line in text.splitlines():
        try:
            words.append(json.loads(line))
        except ValueError:
            words.append({})
    return words


def verdict(words):
    last = words[-1] if words else {}
    if "end" in last:
        return last["end"]["verdict"], last["end"]["reason"]
    return ("hung" if "hung" in last else "died"), json.dumps(last)


def faults_of(case):
    for nth in NTH:
        for call in case.calls:
            for kind in KINDS:
                yield kind, f"call={call},kind={kind}" + (f",nth={nth}" if nth else "")
        for kind in EVENT_KINDS:
            yield kind, f"kind={kind}" + (f",nth={nth}" if nth else "")
    for nth in NTH:
        for call in WAYS:
            if call not in case.calls:
                for kind in KINDS:
                    yield kind, f"call={call},kind={kind}" + (f",nth={nth}" if nth else "")


def failed_rules(words, usual):
    """The rules that fail in a strict run, but for the advisories that there are without a fault."""
    return rules_of(words, "fail") | (rules_of(words, "advisory") - usual)


def noticed(case, kind, words, usual):
    return not failed_rules(words, usual).isdisjoint(case.rules) or (verdict(words)[0] == "hung" and kind in MAY_HANG)


def rules_of(words, *judgements):
    """The rules of the expectations that came to one of these judgements."""
    made = [word["expectation"] for word in words if "expectation" in word]
    return {one["rule"] for one in made if one["verdict"] in judgements}


class Outcome:
    """The fault that made a case fail, or why there is none; the rules that it judges without a fault, and those that fail with it.
    A case that does not apply to the provider needs no fault."""

    def __init__(self, why=None, applies=True):
        self.fault, self.why, self.applies, self.judged, self.failed = None, why, applies, set(), set()


def judge(test_bed, case):
    words = test_bed.run(case)
    how, reason = verdict(words)
    if how == "not_applicable" or words[-1:] and words[-1].get("died", {}).get("in_libdat2"):
        return Outcome(f"not applicable: {reason}", applies=False)
    if how != "pass":
        return Outcome(f"it is {how} without a fault: {reason}")
    outcome = Outcome("no fault fails it")
    outcome.judged = rules_of(words, "pass", "advisory")
    usual = rules_of(words, "advisory")
    for kind, fault in faults_of(case):
        words = test_bed.run(case, fault)
        if noticed(case, kind, words, usual):
            # One that hangs has failed at the expectation that it was waiting for.
            outcome.fault, outcome.why, outcome.failed = fault, None, failed_rules(words, usual) or set(case.rules[:1])
            break
    return outcome


def tells(words, call, code):
    """Whether the texts of a case say that this call returned that."""
    said = [word["expectation"]["actual"] for word in words if "expectation" in word]
    said += [end["reason"] for word in words for end in (word.get("end"), word.get("row")) if end]
    return any(re.search(rf"\b{code}\b", text) and (call in text or not re.search(r"\bdat_\w+: ", text)) for text in said)


def answered(test_bed, cases, call, code):
    """The case that reports a return which only the shim can give, or None."""
    fault = f"call={call},kind=answers,code={CODES[code]:#x}"
    mine = [case for case in cases if call in case.calls]
    return next((case.id for case in mine if tells(test_bed.run(case, fault), call, code)), None)


def judge_answers(test_bed, path):
    """Lines about the returns of this file that no case reports."""
    cases = test_bed.cases()
    wanted = [name.split() for name in read_reasons(path)]
    with concurrent.futures.ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        found = list(pool.map(lambda one: answered(test_bed, cases, *one), wanted))
    for (call, code), case in zip(wanted, found):
        if case is None:
            yield f"{call}: no case tells of {code}, which the shim answers"


def read_reasons(path):
    """Cases that no fault fails, with the reason: `case: reason` a line."""
    reasons = {}
    for line in pathlib.Path(path).read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(": ")
            reasons[name] = reason
    return reasons


def arguments_of():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="exit: 0 every case failed under some fault "
                                     "or is listed with a reason; 1 not; 2 wrong usage")
    parser.add_argument("--cases", required=True, help="the program rnic-dat-cases")
    parser.add_argument("--provider", required=True, help="the provider's library")
    parser.add_argument("--shim", required=True, help="librnic_dat_shim.so")
    parser.add_argument("--known", required=True, help="file of the cases that no fault fails, with reasons")
    parser.add_argument("--unprovoked", help="instead: have the shim answer each return of this file, and see that cases tell it")
    parser.add_argument("--select", default="*", help="only cases whose id matches this pattern")
    parser.add_argument("--every", type=int, default=1, help="only one of so many cases")
    parser.add_argument("--jobs", type=int, default=4 * (os.cpu_count() or 1), help="cases at a time")
    parser.add_argument("--json", help="write which fault failed which case to this file")
    return parser.parse_args()


def main():
    arguments = arguments_of()
    enter_private_network()
    known = read_reasons(arguments.known)
    seen, open_cases = {}, []
    with tempfile.TemporaryDirectory() as folder:
        test_bed = TestBed(arguments, folder)
        if arguments.unprovoked:
            untold = list(judge_answers(test_bed, arguments.unprovoked))
            print("\n".join([*untold, f"{len(untold)} answers of the shim that no case tells of"]))
            return 1 if untold else 0
        cases = [case for case in test_bed.cases() if fnmatch.fnmatch(case.id, arguments.select)][::arguments.every]
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            outcomes = dict(zip((case.id for case in cases), pool.map(lambda case: judge(test_bed, case), cases)))
        for name, outcome in outcomes.items():
            if outcome.fault:
                seen[name] = [outcome.fault]
            elif name not in known and outcome.applies:
                open_cases.append(f"{name}: {outcome.why}")
    stale = [name for name in known if name in seen]
    for line in open_cases:
        print(line)
    for name in stale:
        print(f"{name} is listed in {arguments.known}, and {seen[name][0]} fails it: remove the line")
    print(f"{len(cases)} cases, {len(seen)} seen to fail, {len(open_cases)} not and not listed, {len(stale)} listed wrongly")
    if arguments.json:
        aims = {case.id: case.rules for case in cases}
        written = {"seen_to_fail_by": seen,
                   "seen_to_fail_at": {name: {rule: [one.fault] for rule in sorted(one.failed)} for name, one in outcomes.items() if one.fault},
                   "cases": {name: {"aim": aims[name], "judged": sorted(one.judged), "in_frames": [], "applies": bool(one.judged)}
                             for name, one in outcomes.items()}}
        pathlib.Path(arguments.json).write_text(json.dumps(written, indent=1) + "\n")
    return 1 if open_cases or stale or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
