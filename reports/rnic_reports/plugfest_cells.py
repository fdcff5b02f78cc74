# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The cells of a plugfest as its results are read: of each what the matrix needs, and the evidence compressed beside it. An event has tens of
thousands of cells, and results.json hundreds of megabytes."""

import json
import pathlib
import urllib.parse
import zlib

from . import text, words
from .participants import host_line

LINES = 80  # of steps and of the decoded exchange, in a cell's evidence
GOOD = ("pass", "not_applicable")
# What a cell has in memory; the rest is in its evidence.
KEPT = ("id", "initiator", "responder", "scenario", "repeat", "attempt", "verdict", "varies", "fault", "reason", "seconds", "gate", "start", "suite", "hosts",
        "pcap")
PACKED = ("capture_trouble", "captures", "cuts")
_LEVEL = 1  # it is unpacked once


class Reader:
    """Makes outlines of cells; what many of them say alike is one object."""

    def __init__(self):
        self._shared = {}

    def outline(self, cell):
        """Raises KeyError, TypeError and the like for what is no cell."""
        made = {name: self._once(cleaned(cell[name])) for name in KEPT if name in cell}
        if made["verdict"] == "pass" and cell.get("advisory"):
            made["verdict"] = "advisory"  # a square shows one sign
        made["rules"] = self._once(sorted({cleaned(found["rule"]) for found in cell.get("findings", []) if not found["provoked"]}))
        return made

    def _once(self, value):
        key = value if isinstance(value, str) else json.dumps(value) if isinstance(value, (list, dict)) else None
        return value if key is None or len(key) > 2000 else self._shared.setdefault((type(value), key), value)


def cleaned(value):
    """Every string may come from an agent; log texts keep their lines."""
    if isinstance(value, str):
        plain = len(value) <= text.LOG_LIMIT and value.isascii() and value.isprintable()  # most are
        return value if plain else text.log(value, keep="tail")
    if isinstance(value, list):
        return [cleaned(one) for one in value]
    if isinstance(value, dict):
        return {key: cleaned(one) for key, one in value.items()}
    return value


def packed(cell, verdict):
    """What reports hold of a cell besides its outline: all of a bad one, the outline of a good one."""
    bad = verdict not in GOOD
    checks = cell.get("checks", [])
    made = {"checks": [check for check in checks if not check["good"]],
            "kept": sum(check.get("times", 1) for check in checks if check["good"]),
            "findings": cell.get("findings", [])[:LINES] if bad else [],
            "steps": cell.get("steps", [])[-LINES:] if bad else [],
            "wire": _around(cell) if bad else [],
            "said": cell.get("said", []) if bad else [],
            **{name: cell[name] for name in PACKED if cell.get(name)}}
    return zlib.compress(json.dumps(cleaned(made)).encode("utf-8", "surrogatepass"), _LEVEL)


def evidence(cell):
    return json.loads(zlib.decompress(cell["packed"]))


def _around(cell):
    """The part of the exchange that leads to the first finding, else its end."""
    wire = cell.get("wire", [])
    frames = [found["frame"] for found in cell.get("findings", []) if found["level"] == "must" and not found["provoked"]]
    if not frames:
        return wire[-LINES:]
    end = sum(line["frame"] <= frames[0] for line in wire) + LINES // 2
    return wire[max(0, end - LINES):end]


class Links:
    """Links to captures from where the page will be."""

    def __init__(self, folder, html_path):
        self._folder, self._page = pathlib.Path(folder).resolve(), pathlib.Path(html_path).resolve().parent

    def __call__(self, name):
        """Empty if the path leads out of the folder."""
        if not name:
            return ""
        file = (self._folder / name).resolve()
        if self._folder not in file.parents:
            return ""
        try:
            return "./" + urllib.parse.quote(file.relative_to(self._page).as_posix())
        except ValueError:
            return file.as_uri()


def on_page(cell, names, before, link):
    """What the page's script (templates/cell.js) makes a cell's section of, as plain values. `names` as they are shown; `before`: the attempts that do not
    count."""
    known = evidence(cell)
    suite, gate = cell.get("suite") or {}, cell["gate"]
    made = {"title": f"{names[cell['initiator']]} → {names[cell['responder']]}, {cell['scenario']}",
            "verdict": cell["verdict"], "seconds": f"{cell['seconds']:.2f}", "fault": cell["fault"] if cell["fault"] != "none" else "",
            "listed": f"{gate['entry']} of the event file: {gate['reason']}" if gate["entry"] else "", "pcap": link(cell.get("pcap")), "attempt": cell["attempt"],
            "before": [[one["verdict"], link(one["pcap"])] for one in before], "varies": bool(cell.get("varies")), "reason": cell["reason"],
            "when": words.when(cell["start"]) if cell.get("start") else "", "suite": f"{suite['version']} ({suite['commit'][:12]})" if suite else "",
            "hosts": [f"{host['side']}: {host_line(host)}" for host in cell.get("hosts", [])], **known,
            "captures": [{**one, "pcap": link(one["pcap"])} for one in known.get("captures", [])],
            "cuts": [cut for cut in known.get("cuts", []) if cut["within"]]}
    return {name: value for name, value in made.items() if value}
