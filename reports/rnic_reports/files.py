# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Writes a file whole or not at all."""

import contextlib
import os
import pathlib


def write(path, content):
    """Writes `content` (text) under another name beside `path`, then renames it. On failure raises OSError and leaves no file."""
    path = pathlib.Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException as fault:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(fault, OSError):  # a full disk does not say of which file it is
            raise OSError(fault.errno, fault.strerror, str(path)) from fault
        raise
