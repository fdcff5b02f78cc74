#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Plays random sessions of the DAT API against a provider: without a fault none may find anything; with a fault of the shim
between them (suite/cases/dat/shim) some session has to find it, unless the fault is listed with a reason."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "cases" / "dat" / "shim"))
import dat_self_test  # noqa: E402

KINDS = ["returns", "error", "out_zero", "out_other", "swallow"]
# Those that take segments.
SHIFTED = ["dat_ep_post_recv", "dat_ep_post_send", "dat_ep_post_rdma_write", "dat_ep_post_rdma_read", "dat_srq_post_recv"]
# Those that return something through a pointer.
ANSWERING = ["dat_cno_create", "dat_cno_query", "dat_cno_wait", "dat_cr_query", "dat_ep_create", "dat_ep_create_with_srq",
             "dat_ep_get_status", "dat_ep_query", "dat_ep_recv_query", "dat_evd_create", "dat_evd_dequeue", "dat_evd_query",
             "dat_evd_wait", "dat_get_consumer_context", "dat_ia_query", "dat_lmr_create", "dat_lmr_query",
             "dat_psp_create_any", "dat_pz_create", "dat_pz_query", "dat_rmr_bind", "dat_rmr_create", "dat_rmr_query",
             "dat_rsp_create", "dat_rsp_query", "dat_srq_create", "dat_srq_query"]
EVENT_KINDS = ["event_number", "event_status", "event_cookie", "event_length", "event_handle", "event_operation", "event_data",
               "event_again", "event_drop"]


def play(bed, seed, fault=None):
    """What the session finds: pairs of a rule, and what is wrong."""
    return findings(bed.words("--play", f"soak.dat.{seed}", fault, timeout=15 if fault else 150))


def findings(words):
    found = [(one["rule"], f"{' or '.join(one['admissible'])}; came: {one['actual']}")
             for one in (word["expectation"] for word in words if "expectation" in word)
             if one["verdict"] in ("also_seen", "advisory", "fail")]
    last = words[-1] if words else {}
    if "end" not in last:
        found.append(("", f"ended by {json.dumps(last)}"))
    elif last["end"]["verdict"] != "pass":
        found.append(("", f"{last['end']['verdict']}: {last['end']['reason']}"))
    return found


def calls_of(sources):
    """The calls that sessions make."""
    text = "".join(path.read_text() for path in pathlib.Path(sources).glob("*.cpp"))
    return sorted(set(re.findall(r"CALL\((dat_\w+)", text)))


def faults_of(sources):
    for call in calls_of(sources):
        yield from (f"call={call},kind={kind}" for kind in KINDS if call in ANSWERING or not kind.startswith("out_"))
        if call in SHIFTED:
            yield f"call={call},kind=in_other"
    yield from (f"kind={kind}" for kind in EVENT_KINDS)


def read_reasons(path):
    """Faults that no session finds: `fault: reason` a line."""
    lines = [line for line in pathlib.Path(path).read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


def judge_lawful(bed, arguments):
    seeds = range(arguments.seed, arguments.seed + arguments.sessions)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for seed, found in zip(seeds, pool.map(lambda seed: play(bed, seed), seeds)):
            for rule, what in found:
                print(f"soak.dat.{seed}: {rule}: {what}", flush=True)
            failed += bool(found)
    print(f"{arguments.sessions} sessions from seed {arguments.seed}: {failed} found something")
    return 1 if failed else 0


def first_seed(bed, fault, arguments):
    """The first seed whose session finds the fault, and the rule; None if there is none."""
    for seed in range(arguments.seed, arguments.seed + arguments.sessions):
        found = play(bed, seed, fault)
        if found:
            return seed, found[0][0]
    return None


def judge_faults(bed, arguments):
    known = read_reasons(arguments.known)
    faults = list(faults_of(arguments.sources))[arguments.offset::arguments.every]
    missed, stale, found = [], [], 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for fault, seed in zip(faults, pool.map(lambda one: first_seed(bed, one, arguments), faults)):
            found += seed is not None
            if arguments.verbose:
                print(f"{fault}: {seed}", flush=True)
            if seed is None and fault not in known:
                missed.append(fault)
            if seed is not None and fault in known:
                stale.append(f"{fault} (soak.dat.{seed[0]})")
    for fault in missed:
        print(f"no session finds {fault}")
    for fault in stale:
        print(f"listed in {arguments.known}, and found: {fault}")
    print(f"{len(faults)} faults, {found} found, {len(missed)} not and not listed, {len(stale)} listed wrongly")
    return 1 if missed or stale or not found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0] + ".", epilog="exit: 0 as it should be, 1 not, 2 wrong usage")
    parser.add_argument("--cases", required=True, help="the program rnic-dat-cases")
    parser.add_argument("--provider", required=True, help="the provider's library")
    parser.add_argument("--shim", help="librnic_dat_shim.so: plant its faults, one at a time")
    parser.add_argument("--sources", help="with --shim: the folder of the sessions' sources, for the calls that they make")
    parser.add_argument("--known", help="with --shim: file of the faults that no session finds, with reasons")
    parser.add_argument("--every", type=int, default=1, help="with --shim: only one of so many faults")
    parser.add_argument("--offset", type=int, default=0, help="with --every: from this one on")
    parser.add_argument("--verbose", action="store_true", help="with --shim: say which session finds each fault")
    parser.add_argument("--seed", type=int, default=1, help="of the first session")
    parser.add_argument("--fresh", action="store_true", help="with a new seed, which is printed")
    parser.add_argument("--sessions", type=int, default=50, help="how many; with --shim: for each fault, at most")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1), help="sessions at a time")
    arguments = parser.parse_args()
    dat_self_test.enter_private_network()
    if arguments.fresh:
        arguments.seed = random.randrange(1 << 40)
    with tempfile.TemporaryDirectory() as folder:
        bed = dat_self_test.TestBed(arguments, folder)
        return judge_faults(bed, arguments) if arguments.shim else judge_lawful(bed, arguments)


if __name__ == "__main__":
    sys.exit(main())
