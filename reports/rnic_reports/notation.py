# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The notation of decoded lines, as far as a report marks it: what is wrong is written after ` ! `, some of it with its octets."""

import re

# How the lower tester calls what came and is no message (suite/lower_tester/reception.cpp).
_UNREADABLE = ("an FPDU that ", "an FPDU with ", "a ULPDU too short ", "not the key of ", "a startup frame with ")
_NO_CONNECTION = re.compile(r"^(no established event; )?endpoint \d+ not connected: ")
_OCTETS = re.compile(r"^octets? (\d+)(?: to (\d+))?: ")


def provocations(text):
    """(the line without them, what is wrong on purpose in what the tester sent, its places as (first octet, count))."""
    line, *faults = text.split(" ! ")
    found = [match for fault in faults if (match := _OCTETS.match(fault))]
    return line, faults, [(int(place[1]), int(place[2] or place[1]) - int(place[1]) + 1) for place in found]


def is_unreadable(text):
    """Whether these are the words for octets of which no message could be made."""
    return text.startswith(_UNREADABLE)


def lacks_enhanced_data(text):
    """Whether this startup frame has S set and yet no enhanced data that could be read (reference_rnic/wire/mpa_frame.cpp)."""
    return text.endswith((" ! S needs revision 2", " ! S without its four octets"))


def is_no_connection(text):
    """Whether these are the words of the suite for a connection that did not come to be (suite/cases/framework/)."""
    return bool(_NO_CONNECTION.match(text))


def is_terminate(text):
    """Whether this is a Terminate that is as it should be."""
    return text.startswith("Terminate ") and " ! " not in text
