# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Reads and writes a large JSON object member by member, and lists in it element by element, so that it is never in memory as a whole."""

import codecs
import collections.abc
import json
import re

PIECE = 1 << 20  # octets read at a time
_BLANKS = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def write(path, members):
    """(name, value) of each member of an object; an iterator is a list, one element on a line."""
    with path.open("w", encoding="utf-8") as file:
        for at, (name, value) in enumerate(members):
            file.write(f"{',' if at else '{'}\n{json.dumps(name)}: ")
            if not isinstance(value, collections.abc.Iterator):
                file.write(json.dumps(value))
                continue
            file.write("[")
            for number, element in enumerate(value):
                file.write(f"{',' if number else ''}\n{json.dumps(element)}")
            file.write("]")
        file.write("\n}\n")


class Stream:
    """The text of an open binary file, decoded as far as it is needed. Raises ValueError where it is not JSON in UTF-8."""

    def __init__(self, file):
        self._file, self._decoder = file, codecs.getincrementaldecoder("utf-8")()
        self._text, self._at, self._ended = "", 0, False

    def members(self, lists):
        """(name, value) of each member of the object; the value of a member in `lists` is an iterator, to be used up at once."""
        self._expect("{")
        if self._taken("}"):
            return self._end()
        while True:
            name = self._value()
            if not isinstance(name, str):
                raise ValueError("a member without a name")
            self._expect(":")
            if name in lists and self._taken("["):
                elements = self._elements()
                yield name, elements
                for _ in elements:
                    pass
            else:
                yield name, self._value()
            if self._taken("}"):
                return self._end()
            self._expect(",")

    def _elements(self):
        if self._taken("]"):
            return
        while True:
            yield self._value()
            if self._taken("]"):
                return
            self._expect(",")

    def _end(self):
        if self._next():
            raise ValueError("text after the end of the document")

    def _more(self):
        """Adds a piece to the text from here on; false where the file has ended."""
        if self._ended:
            return False
        piece = self._file.read(max(PIECE, len(self._text) - self._at))
        self._ended = not piece
        self._text = self._text[self._at:] + self._decoder.decode(piece, final=self._ended)
        self._at = 0
        return True

    def _next(self):
        """The next character that is no blank; empty at the end."""
        while True:
            self._at = _BLANKS.match(self._text, self._at).end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _taken(self, sign):
        if self._next() != sign:
            return False
        self._at += 1
        return True

    def _expect(self, sign):
        if not self._taken(sign):
            raise ValueError(f"'{sign}' is missing")

    def _value(self):
        """One whole value. What fails, or reaches the end of the text, may only want more of it."""
        self._next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except ValueError:
                if self._more():
                    continue
                raise
            # "1" may go on as "1.5", and "1" before "e+" as "1e+5".
            whole = end + (2 if isinstance(value, (int, float)) else 0) < len(self._text)
            if whole or not self._more():
                self._at = end
                return value
