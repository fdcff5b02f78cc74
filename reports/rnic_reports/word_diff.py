# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Where what came differs from what was admissible, word by word, so that the eye need not search."""

import difflib
import functools
import re

_WORD = re.compile(r"\w+|\W")
_WORDS_LIMIT = 160
_ALIKE = 0.6  # below this the two lines say different things, and marks would only be noise


def word_diff(admissible, actual):
    """(admissible lines, actual), each a list of (text, differs); only the admissible line most like the actual has marks."""
    return _word_diff(tuple(admissible), actual)


@functools.lru_cache(maxsize=1 << 12)  # many cases fail in the same words
def _word_diff(admissible, actual):
    plain = [[(line, False)] for line in admissible]
    came = _WORD.findall(actual)
    best, best_ratio = None, _ALIKE
    for index, line in enumerate(admissible):
        words = _WORD.findall(line)
        if max(len(words), len(came)) > _WORDS_LIMIT:
            continue
        matcher = difflib.SequenceMatcher(None, words, came, autojunk=False)
        # The cheap upper bounds rule out most.
        if min(matcher.real_quick_ratio(), matcher.quick_ratio()) < best_ratio:
            continue
        if best_ratio <= matcher.ratio() < 1:
            best, best_ratio = (index, words, matcher.get_opcodes()), matcher.ratio()
    if best is None:
        return plain, [(actual, False)]
    index, words, changes = best
    plain[index] = _marked(words, [(change[0], change[1], change[2]) for change in changes])
    return plain, _marked(came, [(change[0], change[3], change[4]) for change in changes])


def _marked(words, spans):
    """Parts of one kind become one; blanks between two differences count as differing."""
    parts = []
    for tag, start, end in spans:
        text, differs = "".join(words[start:end]), tag != "equal"
        if not text:
            continue
        if parts and parts[-1][1] and (differs or not text.strip()):
            parts[-1] = (parts[-1][0] + text, True)
        else:
            parts.append((text, differs))
    return parts
