# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""One object of a results document, read by name: each member is checked for its kind as it is taken, and cleaned."""

import math

from . import text

_HEX = "0123456789abcdef"


class Unreadable(Exception):
    """Results that cannot be used; the text is one line that says where and why."""


class Node:
    """Wraps a JSON object and the path to it. Members that the reader does not ask for are ignored."""

    __slots__ = ("_value", "_where")

    def __init__(self, value, path, index=None):
        self._value, self._where = value, (path, index)
        if type(value) is not dict:
            raise Unreadable(f"{self._path}: an object is needed, not {_kind(value)}")

    @property
    def _path(self):
        path, index = self._where
        return path if index is None else f"{path}[{index}]"

    def _take(self, name, kinds, wanted):
        try:
            value = self._value[name]
        except KeyError:
            raise Unreadable(f"{self._path}.{name}: is missing") from None
        if type(value) not in kinds:  # True is no number
            raise Unreadable(f"{self._path}.{name}: {wanted} is needed, not {_kind(value)}")
        return value

    def only_of(self, *names):
        """Which of `names` is a member."""
        for name in names:
            if name in self._value:
                return name
        raise Unreadable(f"{self._path}: has none of {', '.join(names)}")

    def line(self, name):
        value = self._value.get(name)  # as are most members of a document, so these are the short ways
        if type(value) is not str:
            self._take(name, (str,), "a string")
        return text.known.get(value) or text.line(value)

    def log(self, name, keep):
        return text.log(self._take(name, (str,), "a string"), keep)

    def whole(self, name):
        return self._take(name, (int,), "a whole number")

    def whole_or_none(self, name):
        return self._take(name, (int, type(None)), "a whole number or null")

    def number(self, name):
        value = self._value.get(name)
        if type(value) is float and -math.inf < value < math.inf:
            return value
        value = self._take(name, (int, float), "a number")
        try:
            if math.isfinite(value):
                return float(value)
        except OverflowError:
            pass
        raise Unreadable(f"{self._path}.{name}: a finite number is needed")

    def number_or_none(self, name):
        return None if self._take(name, (int, float, type(None)), "a number or null") is None else self.number(name)

    def flag(self, name):
        return self._take(name, (bool,), "true or false")

    def choice(self, name, values):
        value = self._value.get(name)
        if value not in values:
            self._take(name, (str,), "a string")
            raise Unreadable(f"{self._path}.{name}: '{text.line(value, 80)}' is none of {', '.join(values)}")
        return value

    def hexadecimal(self, name, limit):
        """The digits of the first `limit` octets, and how many octets there are."""
        value = self._value.get(name)
        if value == "":
            return "", 0
        value = self._take(name, (str,), "a string")
        if len(value) % 2 or value.strip(_HEX):
            raise Unreadable(f"{self._path}.{name}: an even number of lower-case hex digits is needed")
        return value[: 2 * limit], len(value) // 2

    def line_or_empty(self, name):
        """A string or null, which is read as the empty string."""
        return text.line(self._take(name, (str, type(None)), "a string or null") or "")

    def lines(self, name):
        values = self._take(name, (list,), "a list")
        if len(values) == 1 and type(values[0]) is str:
            return [text.line(values[0])]
        for index, value in enumerate(values):
            if not isinstance(value, str):
                raise Unreadable(f"{self._path}.{name}[{index}]: a string is needed, not {_kind(value)}")
        return [text.line(value) for value in values]

    def lines_since(self, name):
        """The same of a member that older results do not have."""
        return self.lines(name) if name in self._value else []

    def lists_since(self, name):
        """Lists of strings by name, in a member that older results do not have."""
        if name not in self._value:
            return {}
        inner = self.node(name)
        return {text.line(key): inner.lines(key) for key in inner._value}

    def node(self, name):
        return Node(self._take(name, (dict,), "an object"), f"{self._path}.{name}")

    def node_or_none(self, name):
        return None if self._take(name, (dict, type(None)), "an object or null") is None else self.node(name)

    def nodes(self, name):
        values = self._take(name, (list,), "a list")
        path = f"{self._path}.{name}"
        return [Node(value, path, index) for index, value in enumerate(values)]

    def nodes_since(self, name):
        """A list that was added to the schema: what is older has none."""
        return self.nodes(name) if name in self._value else []

    def pairs(self, name):
        """The members of an object whose names are not fixed, as (name, value in words)."""
        members = self._take(name, (dict,), "an object")
        return [(text.line(key, 200), _words(value)) for key, value in members.items()]


def _words(value):
    if isinstance(value, list):
        return ", ".join(_words(item) for item in value[:100])
    if isinstance(value, dict):
        return ", ".join(f"{text.line(key, 200)}={_words(item)}" for key, item in list(value.items())[:100])
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return text.line(value) if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)


def _kind(value):
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
