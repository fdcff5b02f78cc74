# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Text that may come from a peer: every string of a results document passes here once, before any report sees it."""

import re

LINE_LIMIT = 2_000
LOG_LIMIT = 20_000
SHORT = 200

# Controls, bidirectional overrides, invisible characters, lone surrogates and non-characters: they hide or reorder what
# is read, and XML allows few of them.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
_BREAK = re.compile("\r\n?|\n")


def _escaped(match):
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible(text):
    """The text with each character that cannot be seen written as an escape."""
    if text.isascii() and text.isprintable():  # most are, and this is ten times as fast
        return text
    return _UNSEEN.sub(_escaped, text)


def line(text, limit=LINE_LIMIT):
    """One line of at most `limit` characters, and a note of what was left out."""
    size = len(text)
    if size > SHORT or size > limit:
        return _cut_line(text, limit)
    shown = known.get(text)
    if shown is None:
        if len(known) >= KNOWN_LIMIT:
            known.clear()
        shown = known[text] = visible(text)
    return shown


KNOWN_LIMIT = 1 << 15
known = {}  # short lines and how they are shown: a run says the same things again and again, and each is kept once


def _cut_line(text, limit):
    left_out = len(text) - limit
    return visible(text if left_out <= 0 else text[:limit]) + (_left_out(left_out) if left_out > 0 else "")


def log(text, keep="head", limit=LOG_LIMIT):
    """Several lines of at most `limit` characters, from the `head` or the `tail` of the text; tabs and line ends stay."""
    left_out = len(text) - limit
    note = _left_out(left_out) if left_out > 0 else ""
    if left_out > 0:
        text = text[:limit] if keep == "head" else text[-limit:]
    text = "\n".join(visible(part.replace("\t", "    ")) for part in _BREAK.split(text)).strip("\n")
    return f"{text}\n{note.strip()}" if note and keep == "head" else f"{note.strip()}\n{text}" if note else text


def _left_out(count):
    return f" [{count:,} more characters not shown]"
