#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""An agent that misbehaves in the way its first argument names, once it has said hello and been given a command."""
import json
import os
import resource
import signal
import sys

HELLO = {"type": "hello", "version": 1, "driver": "toy", "capabilities": ["ipv6"], "limits": {"max_ird": 4}}


def say(message):
    text = message if isinstance(message, str) else json.dumps(message)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def serve():
    """The good agent: answers everything."""
    for line in sys.stdin:
        command = json.loads(line)
        say({"type": "reply", "command": command["number"], "outcome": "ok"})
        if command["type"] == "disconnect":
            say({"type": "disconnected", "endpoint": command["endpoint"]})


def die_by(number):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    signal.pause()


def main(how):
    if how == "no_hello":
        sys.stdin.read()
        return 0
    if how == "cannot_start":
        print("toy: no RDMA device", file=sys.stderr)
        return 3
    if how == "garbage_first":
        say("Welcome to the vendor's agent!")
    if how == "other_version":
        say(dict(HELLO, version=2))
    if how == "event_first":
        say({"type": "disconnected", "endpoint": 1})
    say(HELLO)
    if how == "good":
        serve()
        return 0
    number = json.loads(sys.stdin.readline())["number"]
    reply = {"type": "reply", "command": number, "outcome": "ok"}
    if how == "hang":
        signal.pause()
    elif how == "garbage":
        say("Segmentation fault (core dumped)")
    elif how == "misspelt":
        say({"type": "reply", "command": number, "outcom": "ok"})
    elif how == "second_hello":
        say(HELLO)
    elif how == "gone":
        say({"type": "gone", "why": "crashed"})
    elif how == "twice":
        say(reply)
        say(reply)
    elif how == "unasked":
        say(dict(reply, command=number + 77))
    elif how == "oversize":
        sys.stdout.write("x" * (5 * 1024 * 1024))
        sys.stdout.flush()
    elif how == "flood":
        while True:
            sys.stdout.write('{"type":"disconnected","endpoint":1}\n' * 1000)
    elif how == "noisy":
        sys.stderr.write("noise\n" * 100_000 + "the last line\n")
        sys.stderr.flush()
        say(reply)
    elif how in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTERM"):
        print("toy: about to end", file=sys.stderr, flush=True)
        die_by(getattr(signal, how))
    elif how == "wrapped_crash":
        return 139
    elif how == "exit":
        say(reply)
        return 5
    elif how == "mute":
        os.close(1)
        os.close(0)
        while True:
            signal.pause()
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
