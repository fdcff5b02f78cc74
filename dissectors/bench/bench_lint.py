#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Measures rnic-lint against tshark's own dissectors on one core, and both against a plain loop over the same file.

The loop maps the file, counts its frames and FPDUs and computes their CRCs: no judge can be faster. The same loop with libpcap is what
such programs usually are. Runs are interleaved, so that other load on the machine affects all alike; the output has medians of processor
time. What two jobs gain is measured by the clock, on all cores.
"""
import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

KINDS = {"mss": "FPDUs of an MSS each", "sends": "Sends of 64 octets each", "packed": "Sends of 64 octets each, 16 in a segment"}
CONNECTIONS = 50_000
OTHERS = {"open": f"FPDUs of an MSS each on {CONNECTIONS} connections side by side", "other": "octets of another protocol"}
# By kind: against which program, and how many times as fast as it rnic-lint is to be.
AIMS = {("mss", "loop with libpcap"): 1.2, ("packed", "loop with libpcap"): 0.4, ("open", "tshark -z expert"): 4.0,
        ("other", "tshark -z expert"): 1.0}
AIM_OF_TWO_JOBS = 1.7
NO_IWARP = 4  # how rnic-lint ends where the octets are another protocol's


def run(words):
    ended = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if ended.returncode not in (0, NO_IWARP):
        raise SystemExit(f"{words[0]} ended with {ended.returncode}: {ended.stderr.strip()}")


def seconds(words):
    """Processor time: a process that waits for its turn on a busy machine is not slow."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return max(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1e-6)


def by_the_clock(programs):
    """Of programs that run at the same time, until the last has ended."""
    begin = time.monotonic()
    started = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for words in programs]
    if any([one.wait() for one in started]):
        raise SystemExit(f"{programs[0][0]} failed")
    return time.monotonic() - begin


def measure(programs, rounds, one_run=seconds):
    times = {name: [] for name in programs}
    for _ in range(rounds):
        for name, words in programs.items():
            times[name].append(one_run(words))
    return {name: statistics.median(values) for name, values in times.items()}


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.size, self.rounds = (1024, 5) if arguments.long else (arguments.size, arguments.rounds)
        self.tshark = None if arguments.no_tshark else shutil.which("tshark")
        self.cores = os.sched_getaffinity(0)
        self.missed = []
        os.sched_setaffinity(0, {max(self.cores)})  # one core for everything but several jobs

    def lint(self, file, jobs):
        return [self.arguments.lint, "--jobs", str(jobs), "--summary", str(file)]

    def programs(self, kind, file):
        traffic, programs = self.arguments.traffic, {}
        if kind != "other":  # it has no FPDUs to count
            programs = {"plain loop": [traffic, "count", str(file)], "loop with libpcap": [traffic, "count", "--libpcap", str(file)]}
        programs["rnic-lint"] = self.lint(file, 1)
        if self.tshark:
            programs["tshark -z expert"] = [self.tshark, "-r", str(file), "-q", "-z", "expert"]
        return programs

    def compare(self, what, ratio, aim):
        print(f"  {what}: {ratio:.2f}" + (f" (aim {aim})" if aim else ""))
        if aim and ratio < aim:
            self.missed.append(what)

    def judge(self, kind, file):
        size, medians = file.stat().st_size, measure(self.programs(kind, file), self.rounds)
        print(f"{(KINDS | OTHERS)[kind]}: {size / 2**20:.0f} MiB")
        for name, median in medians.items():
            print(f"  {name:<22} {median:8.3f} s  {size / median / 1e9:6.2f} GB/s")
        lint = medians.pop("rnic-lint")
        for name, median in medians.items():
            self.compare(f"speed of rnic-lint, by that of {name}", median / lint, AIMS.get((kind, name)))

    def judge_jobs(self, file):
        if len(self.cores) < 2:
            return
        os.sched_setaffinity(0, self.cores)
        one, two = self.lint(file, 1), self.lint(file, 2)
        medians = measure({"one": [one], "two": [two], "apart": [one, one]}, self.rounds, by_the_clock)
        os.sched_setaffinity(0, {max(self.cores)})
        self.compare("speed of two jobs, by that of one", medians["one"] / medians["two"], AIM_OF_TWO_JOBS)
        # They share nothing but the machine, so no two threads can do better.
        self.compare("speed of two processes, each with the whole file, by that of one", 2 * medians["one"] / medians["apart"], None)

    def run(self, kind, folder):
        file = pathlib.Path(folder) / f"{kind}.pcap"
        run([self.arguments.traffic, "make", kind, str(file), "--size", str(self.size), "--connections", str(CONNECTIONS)])
        self.judge(kind, file)
        if kind in KINDS:
            self.judge_jobs(file)
        file.unlink()
        sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                     epilog="example: bench_lint.py build/dev/dissectors/bench/rnic-lint-traffic "
                                            "build/dev/dissectors/lint/rnic-lint --long; exit: 0, or with --aims 1 if one is missed")
    parser.add_argument("traffic", help="rnic-lint-traffic")
    parser.add_argument("lint", help="rnic-lint")
    parser.add_argument("--kinds", nargs="+", choices=KINDS | OTHERS, default=list(KINDS | OTHERS), help="of traffic (default all)")
    parser.add_argument("--size", type=int, default=16, help="MiB of each file (default 16)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each program on each file (default 3)")
    parser.add_argument("--long", action="store_true", help="files of 1 GiB, five rounds")
    parser.add_argument("--no-tshark", action="store_true", help="without the comparison")
    parser.add_argument("--aims", action="store_true", help="fail if an aim is missed")
    parser.add_argument("--folder", type=pathlib.Path, help="where the files are made (default: a temporary folder)")
    bench = Bench(parser.parse_args())
    with tempfile.TemporaryDirectory(dir=bench.arguments.folder) as folder:
        for kind in bench.arguments.kinds:
            bench.run(kind, folder)
    if bench.arguments.aims and bench.missed:
        raise SystemExit("missed: " + "; ".join(bench.missed))


if __name__ == "__main__":
    main()
