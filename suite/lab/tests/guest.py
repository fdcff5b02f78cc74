# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What tests that rnic-lab has started know of its siw guest."""
import os
import subprocess

PROGRAM, CHANNEL = os.environ["RNIC_GUEST_AGENT"], os.environ["RNIC_GUEST_CHANNEL"]
SECOND = CHANNEL.removesuffix("0") + "1"


def in_guest(command, timeout=120):
    """Runs it by the guest's shell; what it printed, and its exit status."""
    done = subprocess.run([PROGRAM, SECOND, "/bin/sh", "-c", command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout)
    return done.stdout, done.returncode


def lost_memory():
    """What the kernel's kmemleak finds, if the guest's kernel has it."""
    said, status = in_guest("siw-leaks", timeout=600)
    return said if status == 0 else f"siw-leaks ended with {status}: {said}"


def objects_of(module):
    """As the kernel's own resource tracking knows them: the kinds of the lines that name the module."""
    kinds = []
    for kind in ("pd", "cq", "qp", "mr", "cm_id"):
        shown, _ = in_guest(f"rdma resource show {kind}")
        kinds += [kind for line in shown.splitlines() if module in line]
    return kinds
