# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What one vendor may see of a plugfest: its own cells, and of everybody else no name, no log and no hardware address."""

import collections
import hashlib
import pathlib
import struct

from . import json_stream, page, plugfest
from .hiding import aliases, hider

PCAP_HEADER = struct.Struct("<IHHiIII")
RECORD_HEADER = struct.Struct("<IIII")
MAGICS = (0xA1B2C3D4, 0xA1B23C4D)  # times in microseconds, in nanoseconds
ETHERNET = 1
IPV4, IPV6, EXPERIMENTAL = 0x0800, 0x86DD, 0x88B5
VLAN_TAGS = (b"\x81\x00", b"\x88\xa8")  # IEEE 802.1Q: C-tag, S-tag
TCP = 6
LONGEST_FRAME = 1 << 18
NOTHING = bytes(12) + struct.pack(">H", EXPERIMENTAL)
# What nobody wrote: words of closed lists and of the catalogue of rules, some of which may be somebody's name.
OURS = ("verdict", "fault", "absent", "side", "result", "rule", "level", "also", "start", "suite")

COUNTED = ("id", "initiator", "responder", "scenario", "repeat", "verdict", "advisory", "gate")  # of a cell, for the summary


class Refused(Exception):
    """One line that says what is wrong."""


def make(folder, vendor, target):
    """Writes the bundle of `vendor`; returns how many cells it holds. The results are read twice, cell by cell."""
    folder, target = pathlib.Path(folder), pathlib.Path(target)
    plugfest.load(folder)  # refuses what is no plugfest
    cells = []  # what is counted of them
    whole = _members(folder, lambda cell: cells.append({name: cell[name] for name in COUNTED if name in cell}))
    own = [one["name"] for one in whole["event"]["participants"] if one["vendor"] == vendor]
    if not own:
        vendors = ", ".join(sorted({one["vendor"] for one in whole["event"]["participants"] if one["vendor"]})) or "none"
        raise Refused(f"no participant is of the vendor {vendor!r}; there are: {vendors}")
    if target.exists() and any(target.iterdir()):
        raise Refused(f"{target} is not empty; name a folder that is to be made")
    (target / "pcap").mkdir(parents=True, exist_ok=True)
    view = _View(whole, [cell for cell in cells if cell["initiator"] in own or cell["responder"] in own], own)
    with (folder / "results.json").open("rb") as file:
        found = next(value for name, value in json_stream.Stream(file).members({"cells"}) if name == "cells")
        made = (_with_pcaps(view.cell(cell, pcaps := {}), pcaps, folder, target) for cell in found if cell["initiator"] in own or cell["responder"] in own)
        json_stream.write(target / "results.json", [*view.document.items(), ("cells", made)])
    return len(view.cells)


def _members(folder, take):
    """The members of the results but their cells, which are passed to `take`."""
    made = {}
    with (folder / "results.json").open("rb") as file:
        for name, value in json_stream.Stream(file).members({"cells"}):
            if name != "cells":
                made[name] = value
                continue
            for cell in value:
                take(cell)
    return made


def _with_pcaps(cell, pcaps, folder, target):
    """The cell, when its captures have been copied."""
    for source, name in pcaps.items():
        path = (folder / source).resolve()
        if folder.resolve() in path.parents and path.is_file():
            (target / name).write_bytes(without_addresses(path.read_bytes()))
    for kept in (cell, *cell.get("captures", [])):
        if not (target / kept["pcap"]).is_file():
            kept["pcap"] = ""
    return cell


class _View:
    """The results with the own cells only."""

    def __init__(self, whole, cells, own):
        self.cells, self._own = cells, own
        others = [one for one in whole["event"]["participants"] if one["name"] not in own]
        self._names = {one["name"]: f"peer-{at}" for at, one in enumerate(others, 1)}
        self._hide = hider(others)
        self.document = {key: whole[key] for key in ("plugfest", "complete")}
        self.document["event"] = self._event(whole["event"], aliases(others))
        self.document["summary"] = self._summary(whole["summary"])
        self.document["left_out"] = [_left_out(one, self._names, self._hide) for one in whole.get("left_out", [])
                                     if one["initiator"] in own or one["responder"] in own]

    def _event(self, event, shown):
        met = {cell[side] for cell in self.cells for side in ("initiator", "responder")}
        return {**event, "participants": [
            one if one["name"] in self._own else {"name": self._names[one["name"]], "vendor": "", "alias": shown[one["name"]], "agent": "argv"}
            for one in event["participants"] if one["name"] in met]}

    def _summary(self, summary):
        last = [cell for cell in self.cells if cell["gate"]["result"] != "superseded"]
        ids = {cell["id"]: self._id(cell) for cell in self.cells}
        return {"cells": len(last), "played": len(last), "verdicts": dict(collections.Counter(cell["verdict"] for cell in last)),
                "advisories": sum(bool(cell.get("advisory")) for cell in last),
                "new_failures": [ids[cell] for cell in summary["new_failures"] if cell in ids], "stale": []}

    def _id(self, cell):
        return f"{self._shown(cell['initiator'])}/{self._shown(cell['responder'])}/{cell['scenario']}#{cell['repeat']}"

    def _shown(self, name):
        return self._names.get(name, name)

    def cell(self, cell, pcaps):
        return _cell(cell, self._own, self._names, self._hide, pcaps)


def sign_off(folder, vendor, signer=""):
    """The page that vendor and organiser sign: what was played with what result, and the digest of the results that it stands for.
    `signer`: the organiser's public key as PEM, if the bundle is signed."""
    last = []
    document = _members(pathlib.Path(folder), lambda cell: cell["gate"]["result"] != "superseded" and last.append(
        {name: cell[name] for name in (*COUNTED, "hosts") if name in cell}))
    with (pathlib.Path(folder) / "results.json").open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    own = [one["name"] for one in document["event"]["participants"] if one["vendor"] == vendor]
    rows = []
    for peer in document["event"]["participants"]:
        cells = [cell for cell in last if peer["name"] in (cell["initiator"], cell["responder"])]
        if peer["name"] not in own and cells:
            rows.append((peer["alias"] or peer["name"], {verdict: sum(cell["verdict"] == verdict for cell in cells) for verdict in plugfest.WORDS}))
    hosts = sorted({tuple(host[key] for key in ("implementation", "driver", "driver_version", "firmware", "kernel")) for cell in last
                    for host in cell.get("hosts", []) if cell[host["side"]] in own})
    verdicts = [verdict for verdict in plugfest.WORDS if any(counts[verdict] for _, counts in rows)]
    key = hashlib.sha256(signer.encode()).hexdigest() if signer else ""
    return page.environment().get_template("sign_off.html.j2").render(
        event=document["event"]["name"], vendor=vendor, own=own, rows=rows, verdicts=verdicts, hosts=hosts, cells=len(last),
        complete=document["complete"], digest=digest, key=key, **page.assets(["report.css", "statement.css"], []))


def _cell(cell, own, names, hide, pcaps):
    made = _hidden({key: value for key, value in cell.items()
                    if key not in ("id", "initiator", "responder", "scenario", "pcap", "pcap_sha256", "said", "hosts")}, hide)
    for side in ("initiator", "responder"):
        made[side] = names.get(cell[side], cell[side])
    made["scenario"] = cell["scenario"]
    made["id"] = f"{made['initiator']}/{made['responder']}/{made['scenario']}#{made['repeat']}"
    # What an agent wrote to its standard error, and what it said of its host, is its vendor's.
    made["hosts"] = [host for host in cell.get("hosts", []) if cell[host["side"]] in own]
    made["said"] = [said for said in cell.get("said", []) if cell[said["side"]] in own]
    made["pcap"] = ""
    own_name = f"pcap/{made['initiator']}--{made['responder']}--{made['scenario']}.{made['repeat']}.{made['attempt']}"
    if cell.get("pcap"):
        made["pcap"] = pcaps[cell["pcap"]] = f"{own_name}.pcap"
    for number, capture in enumerate(made.get("captures", []), 1):
        # The digest is of the file with addresses; the place is the organiser's.
        source = cell["captures"][number - 1]["pcap"]
        capture.update(place=f"place {number}", pcap_sha256="", pcap=pcaps.setdefault(source, f"{own_name}.{number}.pcap") if source else "")
    return made


def _left_out(one, names, hide):
    made = {"scenario": one["scenario"], "reason": hide(one["reason"])}
    for side in ("initiator", "responder"):
        made[side] = names.get(one[side], one[side])
    return {**made, "id": f"{made['initiator']}/{made['responder']}/{made['scenario']}#{one['id'].rpartition('#')[2]}"}


def _hidden(value, hide):
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, list):
        return [_hidden(one, hide) for one in value]
    if isinstance(value, dict):
        return {key: one if key in OURS else _hidden(one, hide) for key, one in value.items()}
    return value


def without_addresses(pcap):
    """The same frames under the same numbers, with neutral MAC addresses; frames without TCP are blanked, since ARP and similar protocols show them too.
    Of a file that is not understood nothing is left."""
    if len(pcap) < PCAP_HEADER.size:
        return b""
    header = PCAP_HEADER.unpack_from(pcap)
    if header[0] not in MAGICS or header[6] & 0xFFFF != ETHERNET:
        return b""
    out, at, macs = [pcap[:PCAP_HEADER.size]], PCAP_HEADER.size, {}
    while at + RECORD_HEADER.size <= len(pcap):
        seconds, fraction, kept, length = RECORD_HEADER.unpack_from(pcap, at)
        at += RECORD_HEADER.size
        if kept > LONGEST_FRAME or at + kept > len(pcap):
            break
        frame = _neutral(pcap[at:at + kept], macs)
        at += kept
        out.append(RECORD_HEADER.pack(seconds, fraction, len(frame), max(len(frame), length) if len(frame) == kept else len(frame)) + frame)
    return b"".join(out)


def _neutral(frame, macs):
    if not _is_tcp(frame):
        return NOTHING
    ends = [macs.setdefault(frame[start:start + 6], bytes((2, 0, 0, 0, 0, 1 + len(macs) % 250))) for start in (0, 6)]
    return ends[0] + ends[1] + frame[12:]


def _is_tcp(frame):
    while frame[12:14] in VLAN_TAGS:
        frame = frame[:12] + frame[16:]
    kind = frame[12:14]
    if kind == struct.pack(">H", IPV4):
        return len(frame) > 23 and frame[23] == TCP
    return kind == struct.pack(">H", IPV6) and len(frame) > 20 and frame[20] == TCP
