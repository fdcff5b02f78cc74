# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What the commands that make a page of results share."""

import sys

from .node import Unreadable


def perform(name, action):
    """The exit code of `action`, which reads results and writes files: 3, after one line by the command `name`, if it cannot."""
    try:
        return action() or 0
    except Unreadable as fault:
        print(f"{name}: {fault}", file=sys.stderr)
    except OSError as error:
        print(f"{name}: {error.filename}: {error.strerror}", file=sys.stderr)
    return 3
