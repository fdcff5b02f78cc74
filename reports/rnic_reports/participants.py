# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""An event participant by participant: what each one's cells came to, whose fault it was, and with whom it gets on."""

import collections
import dataclasses

WORST = ("error", "fail", "inconclusive", "advisory", "pass", "not_applicable")  # the worst first
BAD = ("error", "fail", "inconclusive")
SIDES = ("initiator", "responder")


@dataclasses.dataclass
class Participant:
    name: str
    hosts: list  # what its agents said of themselves: one line for each state of the host, the last first
    counts: dict  # side -> verdict -> cells
    faults: collections.Counter  # of its failures: own, peer's, unknown
    new: int  # failures that the event does not expect
    peers: int
    clean: int  # peers with whom nothing is bad, in either role

    @property
    def cells(self):
        return sum(sum(verdicts.values()) for verdicts in self.counts.values())

    def share(self, verdict):
        """How many cells, in both roles."""
        return sum(self.counts[side][verdict] for side in SIDES)


def overview(names, cells):
    """[Participant] in the order of `names`; a cell that is known to vary counts as what it was."""
    own = {name: [] for name in names}
    for cell in cells:
        for side in SIDES:
            own[cell[side]].append((side, cell))
    return [_participant(name, played) for name, played in own.items()]


def squares(cells):
    """(initiator, responder) -> (worst verdict, how many of it, how many were played)."""
    pairs = collections.defaultdict(list)
    for cell in cells:
        pairs[cell["initiator"], cell["responder"]].append(cell["verdict"])
    return {pair: (worst := min(verdicts, key=WORST.index), verdicts.count(worst), len(verdicts)) for pair, verdicts in pairs.items()}


def _participant(name, played):
    counts = {side: collections.Counter(cell["verdict"] for at, cell in played if at == side) for side in SIDES}
    faults = collections.Counter(_whose(side, cell["fault"]) for side, cell in played if cell["verdict"] == "fail")
    peers = collections.defaultdict(list)
    for side, cell in played:
        peers[cell["responder" if side == "initiator" else "initiator"]].append(cell["verdict"])
    said = {}  # in the order of the cells
    for side, cell in sorted(played, key=lambda one: one[1].get("start", "")):
        for host in cell.get("hosts", []):
            if host["side"] == side:
                said.pop(line := host_line(host), None)
                said[line] = True
    return Participant(name, list(reversed(said)), counts, faults, sum(cell["gate"]["result"] == "new_failure" for _, cell in played), len(peers),
                       sum(not set(verdicts) & set(BAD) for verdicts in peers.values()))


def _whose(side, fault):
    if fault in ("both", side):
        return "own"
    return "peer" if fault in SIDES else "unknown"


def host_line(host):
    """What an agent said of itself and its host."""
    words = [host["implementation"], f"{host['driver']} {host['driver_version']}".strip(), f"firmware {host['firmware']}" if host["firmware"] else "",
             host["kernel"]]
    return ", ".join(word for word in words if word)
