# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What the commands that read results have in common: how they complain, and how they end."""

import argparse
import contextlib
import os
import sys

from .node import Unreadable


class Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}; see --help\n")


def tell(name, line):
    """One line of the command `name` to standard error, which may be a terminal that is gone, or a full disk."""
    _say(f"{name}: {line}", sys.stderr)


def say(line):
    """One line to standard output, of a command that goes on whether or not somebody reads it."""
    _say(line, sys.stdout)


def _say(line, stream):
    try:
        print(line, file=stream, flush=True)
    except OSError:
        _silence(stream.fileno())


def perform(name, action):
    """The exit code of `action`, which reads results and writes files: 3, after one line by the command `name`, if it cannot."""
    try:
        return action() or 0
    except Unreadable as fault:
        tell(name, fault)
    except OSError as error:
        if error.filename is None:
            raise  # not of a file: see `ended`
        tell(name, f"{error.filename}: {error.strerror}")
    except MemoryError:
        tell(name, "out of memory")
    return 3


def ended(name, main):
    """The exit code of a program. One whose standard output cannot be written ends with 3: what it found is not told, so its code may say nothing of that."""
    try:
        code = main()
        sys.stdout.flush()
        return code
    except OSError as error:
        tell(name, f"standard output: {error.strerror}")
        _silence(1)
        return 3
    except MemoryError:
        tell(name, "out of memory")
        return 3


def _silence(descriptor):
    """Else Python fails at its end once more."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
