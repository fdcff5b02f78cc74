#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A session whose process is killed has no result: it has not passed."""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "cases" / "dat" / "shim"))
import dat_self_test  # noqa: E402

ATTEMPTS = 50  # a session may end before it is killed


def child_of(process):
    """The process that plays the session; nothing if it has ended already."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None:
        if numbers := children.read_text().split():
            return int(numbers[0])
    return None


def words_of_killed(bed, seed):
    """What is written where the process of the session is killed; nothing if the session was faster."""
    with subprocess.Popen([bed.program, "--run", f"soak.dat.{seed}", "--ia", dat_self_test.IA], env=bed.environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        child = child_of(process)
        if child is None:
            return None
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            return None
        words = dat_self_test.words_of(process.communicate(timeout=120)[0])
        return None if any("steps played" in word.get("step", "") for word in words) else words


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", required=True, help="the program rnic-dat-cases")
    parser.add_argument("--provider", required=True, help="the provider's library")
    arguments = parser.parse_args()
    arguments.shim = None
    dat_self_test.enter_private_network()
    with tempfile.TemporaryDirectory() as folder:
        bed = dat_self_test.TestBed(arguments, folder)
        for seed in range(1, ATTEMPTS + 1):
            words = words_of_killed(bed, seed)
            if words is None:
                continue
            ends = [word for word in words if "end" in word]
            print(f"soak.dat.{seed}: {ends or 'no result'}")
            return 1 if ends else 0
    print(f"none of {ATTEMPTS} sessions could be killed")
    return 1


if __name__ == "__main__":
    sys.exit(main())
