# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The notation of decoded lines, as far as a report marks it: what is wrong is written after ` ! `, some of it with its octets."""

import re

_OCTETS = re.compile(r"^octets? (\d+)(?: to (\d+))?: ")


def provocations(text):
    """(the line without them, what is wrong on purpose in what the tester sent, its places as (first octet, count))."""
    line, *faults = text.split(" ! ")
    found = [match for fault in faults if (match := _OCTETS.match(fault))]
    return line, faults, [(int(place[1]), int(place[2] or place[1]) - int(place[1]) + 1) for place in found]
