# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Times, sizes and counts as people read them."""

import re


def duration(seconds):
    if seconds < 1:
        return f"{seconds * 1000:,.1f} ms" if seconds < 0.1 else f"{seconds * 1000:,.0f} ms"
    return f"{seconds:,.2f} s" if seconds < 100 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


def when(timestamp):
    """2026-01-02T03:04:05.678901Z -> 2026-01-02 03:04:05 UTC; anything else as it is."""
    found = re.match(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z$", timestamp)
    return f"{found[1]} {found[2]} UTC" if found else timestamp


def plural(count, one, many=None):
    return f"{count:,} {one if count == 1 else many or one + 's'}"
