#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Shows that the memory of rnic-lint does not grow with the capture: connections that stay open, through a pipe, with little and much traffic.

The bound is that of the connections: what one of them needs is printed, and must not be more than --most octets. With the capture
twenty times as long nothing may be added but noise.
"""
import argparse
import os
import subprocess
import sys


def peak(arguments, size):
    """Largest resident set of rnic-lint in octets, and its processor time in seconds."""
    make = [arguments.traffic, "make", "open", "/dev/stdout", "--size", str(size), "--connections", str(arguments.connections)]
    traffic = subprocess.Popen(make, stdout=subprocess.PIPE)
    lint = subprocess.Popen([arguments.lint, "--summary", "-"], stdin=traffic.stdout, stdout=subprocess.DEVNULL)
    traffic.stdout.close()
    _, status, used = os.wait4(lint.pid, 0)
    lint.returncode = os.waitstatus_to_exitcode(status)
    if lint.returncode != 0 or traffic.wait() != 0:
        raise SystemExit(f"rnic-lint ended with {lint.returncode}, rnic-lint-traffic with {traffic.returncode}")
    return used.ru_maxrss * 1024, used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                     epilog="example: bench_memory.py build/release/dissectors/bench/rnic-lint-traffic "
                                            "build/release/dissectors/lint/rnic-lint --long")
    parser.add_argument("traffic", help="rnic-lint-traffic")
    parser.add_argument("lint", help="rnic-lint")
    parser.add_argument("--connections", type=int, default=1000, help="open at once (default 1000)")
    parser.add_argument("--size", type=int, default=64, help="MiB of the longer capture (default 64)")
    parser.add_argument("--most", type=int, default=16384, help="octets that a connection may need (default 16384)")
    parser.add_argument("--long", action="store_true", help="100,000 connections, 10 GiB")
    arguments = parser.parse_args()
    if arguments.long:
        arguments.connections, arguments.size = 100_000, 10 * 1024
    one, _ = peak(argparse.Namespace(**vars(arguments) | {"connections": 1}), 1)
    little, _ = peak(arguments, arguments.size // 20)
    much, seconds = peak(arguments, arguments.size)
    each = (much - one) / arguments.connections
    print(f"{arguments.connections} connections open: {little / 2**20:.0f} MiB after {arguments.size // 20} MiB, "
          f"{much / 2**20:.0f} MiB after {arguments.size} MiB ({seconds:.1f} s of processor time)")
    print(f"  {each:.0f} octets a connection, {one / 2**20:.0f} MiB without")
    noise = max(little // 20, 2 << 20)
    if much > little + noise:
        raise SystemExit("it grows with the capture")
    if each > arguments.most:
        raise SystemExit(f"a connection needs more than {arguments.most} octets")


if __name__ == "__main__":
    sys.exit(main())
