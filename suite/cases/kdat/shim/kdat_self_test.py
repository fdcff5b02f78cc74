#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Shows in the guest that the cases of kDAPL can fail: each against faults of the calls that it judges, until one is noticed.

    rnic-lab siw-vm --device rxe --kdat --program .../rnic-dat-cases --program .../librnic_kdat_shim.so -- kdat_self_test.py --ia rxe0
"""

import argparse
import concurrent.futures
import fnmatch
import os
import pathlib
import queue
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "dat" / "shim"))
import dat_self_test  # noqa: E402

CHANNELS = 4  # of the guest that rnic-lab boots
# A case that hangs under a fault waits for its deadline: emulated, and beside others.
SCALE = "4"


class Guest:
    def __init__(self, cases, ia):
        self.ia = ia
        self.program, channel = os.environ["RNIC_GUEST_AGENT"], os.environ["RNIC_GUEST_CHANNEL"]
        self.listing = cases
        self.free = queue.Queue()
        for number in range(CHANNELS):
            self.free.put(channel.removesuffix("0") + str(number))

    def cases(self):
        words = subprocess.run([self.listing, "--list"], check=True, capture_output=True, text=True)
        return [case for case in map(dat_self_test.Case, words.stdout.splitlines()) if case.id.startswith("kdat.")]

    def run(self, case, fault=None):
        """The words of one run."""
        argv = ["/bin/rnic-dat-cases", "--run", case.id, "--ia", self.ia, "--deadline-scale", SCALE]
        if fault is not None:
            argv = ["/bin/env", "LD_PRELOAD=/bin/librnic_kdat_shim.so", f"RNIC_DAT_FAULT={fault}", *argv]
        channel = self.free.get()
        try:
            done = subprocess.run([self.program, channel, *argv], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        finally:
            self.free.put(channel)
        return dat_self_test.words_of(done.stdout)


def arguments_of():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="exit: 0 every case passes, and fails under some "
                                     "fault; 1 not; 2 wrong usage")
    parser.add_argument("--cases", required=True, help="the program rnic-dat-cases on this host, for its list")
    parser.add_argument("--known", required=True, help="file of the cases that no fault fails, with reasons")
    parser.add_argument("--ia", default="siw0", help="the device in the guest; default: siw0")
    parser.add_argument("--select", default="*", help="only cases whose id matches this pattern")
    parser.add_argument("--without-faults", action="store_true", help="only see that each case passes")
    return parser.parse_args()


def judge(guest, case, without_faults):
    words = guest.run(case)
    how, reason = dat_self_test.verdict(words)
    # A row that does not pass lets the others run, and the case end as usual.
    for row in (word["row"] for word in words if "row" in word):
        if how == "pass" and row["verdict"] != "pass":
            how, reason = row["verdict"], f"row {row['name']}: {row['reason']}"
    if how == "pass" and not without_faults:
        return dat_self_test.judge(guest, case)
    outcome = dat_self_test.Outcome(f"it is {how}: {reason}")
    outcome.fault = "passes" if how == "pass" else None
    return outcome


def main():
    arguments = arguments_of()
    guest, known = Guest(arguments.cases, arguments.ia), dat_self_test.read_reasons(arguments.known)
    cases = [case for case in guest.cases() if fnmatch.fnmatch(case.id, arguments.select)]
    with concurrent.futures.ThreadPoolExecutor(CHANNELS) as pool:
        outcomes = list(pool.map(lambda case: judge(guest, case, arguments.without_faults), cases))
    wrong = 0
    for case, outcome in zip(cases, outcomes):
        if not outcome.fault and case.id not in known:
            wrong += 1
            print(f"{case.id}: {outcome.why}")
        elif outcome.fault and case.id in known and not arguments.without_faults:
            wrong += 1
            print(f"{case.id} is listed in {arguments.known}, and {outcome.fault} fails it: remove the line")
        else:
            print(f"{case.id}  {outcome.fault or known[case.id]}")
    print(f"{len(cases)} cases, {wrong} not as they should be")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
