# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What a vendor reads in place of the other participants' names, in every text that an agent or an organiser wrote."""

import re

SHORT = 3  # characters; so short a name is part of other words, and is replaced only where it is a word of its own, or a device with a number


def aliases(others):
    """name -> alias of each of these participants; an event file has no name and no alias that is like `peer-1`."""
    return {one["name"]: one["alias"] or f"peer-{at}" for at, one in enumerate(others, 1)}


def hider(others):
    """A function that replaces every mention of these participants in a text."""
    shown = aliases(others)
    words = {one[key].casefold(): shown[one["name"]] for one in others for key in ("vendor", "name") if one[key]}
    if not words:
        return lambda text: text
    known = re.compile("|".join(_pattern(word) for word in sorted(words, key=len, reverse=True)), re.IGNORECASE)

    def replaced(found):
        number = "-" if len(found[0]) <= SHORT and found.string[found.end():found.end() + 1].isdigit() else ""
        return words.get(found[0].casefold(), "peer") + number

    return lambda text: known.sub(replaced, text)


def _pattern(word):
    if len(word) > SHORT:
        return re.escape(word)
    # `hp0` is of hp; but octets such as `a5`, another name such as `n12`, and every host's `amd64` are nobody's.
    numbered = re.search("[g-z]", word, re.IGNORECASE) and not word[-1].isdigit()
    return rf"(?<![^\W_])(?!(?:amd|arm)64\b){re.escape(word)}" + (r"(?![^\W\d_])" if numbered else r"(?![^\W_])")
