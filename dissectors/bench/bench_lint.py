#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Measures rnic-lint against tshark's own dissectors on one core, and both against a plain loop over the same file.

The loop maps the file, counts its frames and FPDUs and computes their CRCs: no judge can be faster. The same loop with libpcap is what
such programs usually are. Runs are interleaved, so that other
load on the machine affects all alike; the output has medians of processor time.
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

KINDS = {"mss": "FPDUs of an MSS each", "sends": "Sends of 64 octets each", "packed": "Sends of 64 octets each, 16 in a segment"}


def seconds(words):
    """Processor time: a process that waits for its turn on a busy machine is not slow."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode != 0:
        raise SystemExit(f"{words[0]} ended with {ended.returncode}: {ended.stderr.strip()}")
    return max(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1e-6)


def measure(programs, rounds):
    times = {name: [] for name in programs}
    for _ in range(rounds):
        for name, words in programs.items():
            times[name].append(seconds(words))
    return {name: statistics.median(values) for name, values in times.items()}


def report(kind, file, medians):
    size = file.stat().st_size
    print(f"{KINDS[kind]}: {size / 2**20:.0f} MiB")
    for name, median in medians.items():
        print(f"  {name:<22} {median:8.3f} s  {size / median / 1e9:6.2f} GB/s")
    lint = medians["rnic-lint"]
    if "tshark -z expert" in medians:
        print(f"  rnic-lint is {medians['tshark -z expert'] / lint:.1f} times as fast as tshark, and", end=" ")
    else:
        print("  tshark is not here; rnic-lint is", end=" ")
    print(f"at {medians['plain loop'] / lint:.0%} of the plain loop's speed, "
          f"{medians['loop with libpcap'] / lint:.0%} of the loop with libpcap")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                     epilog="example: bench_lint.py build/dev/dissectors/bench/rnic-lint-traffic "
                                            "build/dev/dissectors/lint/rnic-lint --long")
    parser.add_argument("traffic", help="rnic-lint-traffic")
    parser.add_argument("lint", help="rnic-lint")
    parser.add_argument("--size", type=int, default=16, help="MiB of each file (default 16)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each program on each file (default 3)")
    parser.add_argument("--long", action="store_true", help="files of 1 GiB, five rounds")
    parser.add_argument("--no-tshark", action="store_true", help="without the comparison")
    parser.add_argument("--folder", type=pathlib.Path, help="where the files are made (default: a temporary folder)")
    arguments = parser.parse_args()
    size, rounds = (1024, 5) if arguments.long else (arguments.size, arguments.rounds)
    tshark = None if arguments.no_tshark else shutil.which("tshark")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # one core for everything that is measured
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for kind in KINDS:
            file = pathlib.Path(folder) / f"{kind}.pcap"
            seconds([arguments.traffic, "make", kind, str(file), "--size", str(size)])
            programs = {"plain loop": [arguments.traffic, "count", str(file)],
                        "loop with libpcap": [arguments.traffic, "count", "--libpcap", str(file)],
                        "rnic-lint": [arguments.lint, "--jobs", "1", "--summary", str(file)]}
            if tshark:
                programs["tshark -z expert"] = [tshark, "-r", str(file), "-q", "-z", "expert"]
            report(kind, file, measure(programs, rounds))
            file.unlink()
            sys.stdout.flush()


if __name__ == "__main__":
    main()
