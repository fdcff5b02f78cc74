# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What scripts that rnic-lab has started know of its siw guest."""
import os
import subprocess
import time

PROGRAM, CHANNEL = os.environ["RNIC_GUEST_AGENT"], os.environ["RNIC_GUEST_CHANNEL"]
DEADLINE = 240  # seconds for one program: the guest is emulated


def channel_of(number):
    """There are those from 0, the first, to 3."""
    return CHANNEL.removesuffix("0") + str(number)


def start_in_guest(words, output, channel=1):
    """Starts it by the guest's shell. A new program on a channel ends the one before."""
    return subprocess.Popen([PROGRAM, channel_of(channel), "/bin/sh", "-c", f"exec {words} 2>&1"],
                            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)


def guest_listens(port, channel=2):
    """A socket of siw is in the guest's tables as any other."""
    look = f"grep -qiE ':{port:04X} [0:]+ 0A' /proc/net/tcp /proc/net/tcp6"
    return start_in_guest(look, subprocess.DEVNULL, channel).wait(DEADLINE) == 0


def wait_for_listener(listens, server, port, seconds):
    """Until listens(port); `server` is the process that is to listen."""
    latest = time.monotonic() + seconds
    while not listens(port):
        assert server.poll() is None, "the server has ended"
        assert time.monotonic() < latest, f"nobody listens on port {port}"
        try:
            server.wait(0.05)  # its end is the only event that there is
        except subprocess.TimeoutExpired:
            pass


def in_guest(command, timeout=120):
    """Runs it by the guest's shell; what it printed, and its exit status."""
    done = subprocess.run([PROGRAM, channel_of(1), "/bin/sh", "-c", command], stdin=subprocess.DEVNULL,
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
