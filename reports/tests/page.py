# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Reads a finished page the way a browser would, far enough to say what it would load, run and link to."""

import base64
import html.parser
import json
import zlib

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Page(html.parser.HTMLParser):
    """Tags in order, text by tag, ids, links; `faults` holds what a careful author would not write."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.ids, self.links, self.faults, self.scripts, self.words = [], [], [], [], [], []
        self.blocks = []  # what the compressed blocks hold, as values
        self.rules = []  # the same of those of rules: a list for each section
        self._open = []
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self._open]

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        for name, value in attributes:
            if name.startswith("on"):
                self.faults.append(f"<{tag}> has {name}")
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src", "action", "srcset"):
                self.links.append(value)
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        if not self._open or self._open[-1] != tag:
            self.faults.append(f"</{tag}> closes {self._open[-1:]} at {self.getpos()}")
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data):
        if not self._open or self._open[-1] != "script":
            self.words.append(data)
        elif self.tags[-1][1].get("type") == "application/json":
            values = json.loads(zlib.decompress(base64.b64decode(json.loads(data))))
            if self.tags[-1][1]["data-block"] == "rules":
                self.rules += values
            else:
                self.blocks += values
        else:
            self.scripts.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())

    @property
    def targets(self):
        """What a link may lead to: the ids, and those of rules that are made when their section is opened."""
        return {*self.ids, *(f"rule-{rule['id']}" for section in self.rules for rule in section)}

    @property
    def cases(self):
        """What the page shows of each case when it is opened."""
        return self.blocks[1:]

    def with_class(self, name):
        return [attributes for _, attributes in self.tags if name in (attributes.get("class") or "").split()]
