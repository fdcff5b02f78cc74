# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A plugfest while it is played: its journal read as it grows, and what the run says of itself in state.json."""

import dataclasses
import datetime
import json
import pathlib
import threading

from . import plugfest, text
from .hiding import aliases, hider
from .participants import squares

JOURNAL, STATE = "results.ndjson", "state.json"
KEPT = ("id", "initiator", "responder", "scenario", "repeat", "attempt", "verdict", "advisory", "fault", "reason", "seconds", "start", "suite", "hosts")


class Live:
    """One plugfest folder. Each refresh reads only what the journal has gained; of a cell it keeps no evidence."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self._lock = threading.Lock()
        self._at, self._identity = 0, None
        self._forget()
        self.refresh()
        if not self.event:
            raise plugfest.Unreadable(f"{self.folder / JOURNAL}: this is no journal of a plugfest; give the --out folder of a run")

    def _forget(self):
        self._at = 0
        self.event, self.attempts = None, {}  # cell id -> attempts in their order
        self.ended, self.over, self.left, self._values = [], False, 0, {}

    def refresh(self):
        """Returns this object. A torn last line waits until it is whole."""
        with self._lock:
            path = self.folder / JOURNAL
            try:
                with path.open("rb") as file:
                    status = path.stat()
                    identity = status.st_dev, status.st_ino
                    if identity != self._identity or status.st_size < self._at:
                        self._identity = identity
                        self._forget()
                    file.seek(self._at)
                    for line in file:  # one at a time: the journal of a large event has gigabytes
                        if not line.endswith(b"\n"):
                            break
                        self._take(line)
                        self._at += len(line)
            except OSError as error:
                raise plugfest.Unreadable(f"{path}: {error.strerror}; give the --out folder of a plugfest run") from error
        return self

    def _take(self, line):
        try:
            made = json.loads(line)
            if "run" in made and "participants" in made["run"]:  # a run of cases has none
                self.event, self.over = _clean(made["run"]), False
            elif "case" in made or "attempt" in made:
                self.over = False  # the same command goes on after an end
                self._add(made.get("case") or made["attempt"])
            elif "end" in made:
                self.over, self.left = True, max(0, made["end"].get("cells", 0) - made["end"].get("played", 0))
        except (ValueError, KeyError, TypeError, RecursionError):
            return  # a line that was torn in the middle of an earlier run

    def _add(self, record):
        cell = {name: self._shared(_clean(record[name])) for name in KEPT if name in record}
        if cell["verdict"] == "pass" and cell.get("advisory"):
            cell["verdict"] = "advisory"
        if cell["verdict"] not in plugfest.GLYPHS:
            return
        self.attempts.setdefault(cell["id"], []).append(cell)
        self.ended.append(cell)

    def _shared(self, value):
        """The same object for what many cells say alike."""
        key = value if isinstance(value, str) else json.dumps(value) if isinstance(value, list) else None
        return value if key is None or len(key) > 2000 else self._values.setdefault(key, value)

    @property
    def state(self):
        """What the run did last: {} if it has not said anything."""
        try:
            made = _clean(json.loads((self.folder / STATE).read_text(encoding="utf-8")))
            return made if isinstance(made, dict) else {}
        except (OSError, ValueError):
            return {}

    @property
    def latest(self):
        return [tries[-1] for tries in self.attempts.values()]


def _clean(value):
    if isinstance(value, str):
        return text.line(value, 400)
    if isinstance(value, list):
        return [_clean(one) for one in value]
    if isinstance(value, dict):
        return {key: _clean(one) for key, one in value.items()}
    return value


@dataclasses.dataclass
class View:
    """What one reader may see of a plugfest: everything, or a vendor its own cells and the others under their aliases."""

    live: Live
    vendor: str = ""

    def __post_init__(self):
        participants = self.live.event["participants"]
        self.own = {one["name"] for one in participants if not self.vendor or one["vendor"] == self.vendor}
        others = [one for one in participants if one["name"] not in self.own]
        self.shown = {one["name"]: one["alias"] or one["name"] if not self.vendor else one["name"] for one in participants if one["name"] in self.own}
        self.shown.update(aliases(others))
        self.says = hider(others)

    def sees(self, cell):
        return not self.vendor or cell["initiator"] in self.own or cell["responder"] in self.own

    def ends(self, initiator, responder):
        """A pair as the query of its page: by numbers, since an address must not show a vendor the names of others."""
        names = [one["name"] for one in self.live.event["participants"]]
        return {"initiator": names.index(initiator), "responder": names.index(responder)} if {initiator, responder} <= set(names) else {}

    def pair_of(self, query):
        """The names of the pair in a query of that form; None if there is none."""
        names = [one["name"] for one in self.live.event["participants"]]
        try:
            numbers = [int(query[end][0]) for end in ("initiator", "responder")]
        except (KeyError, ValueError):
            return None
        return tuple(names[number] for number in numbers) if all(0 <= number < len(names) for number in numbers) else None

    def name(self, participant):
        return self.shown.get(participant, "peer" if self.vendor else participant)

    def hosts(self, cell, side):
        """What the host of that side said of itself, as one line; a vendor sees that of its own hosts."""
        if cell[side] not in self.own:
            return ""
        words = [host for host in cell.get("hosts", []) if host["side"] == side]
        return ", ".join(filter(None, (part for host in words for part in (
            host["implementation"], f"{host['driver']} {host['driver_version']}".strip(), host["firmware"] and f"firmware {host['firmware']}",
            host["kernel"] and f"kernel {host['kernel']}"))))

    def id(self, cell):
        """The id of a cell, of which a vendor knows the others' names only as aliases; empty if it may not see it."""
        parts = cell.split("/", 2)
        if len(parts) != 3 or not self.sees({"initiator": parts[0], "responder": parts[1]}):
            return ""
        return f"{self.name(parts[0])} → {self.name(parts[1])}, {parts[2].removesuffix('#1')}"

    @property
    def participants(self):
        """Those that this reader has cells with, itself first."""
        names = [one["name"] for one in self.live.event["participants"]]
        return sorted(names, key=lambda name: name not in self.own) if self.vendor else names

    @property
    def cells(self):
        return [cell for cell in self.live.latest if self.sees(cell)]

    @property
    def counts(self):
        found = {}
        for cell in self.cells:
            found[cell["verdict"]] = found.get(cell["verdict"], 0) + 1
        return {verdict: found[verdict] for verdict in plugfest.GLYPHS if verdict in found}

    def squares(self):
        """(initiator, responder) -> (worst verdict, how many of it, how many were played)."""
        return squares(self.cells)

    def pair(self, initiator, responder):
        """[(scenario, attempts)] of a pair in both its repeats, in the order of the event; None if the reader may not see it."""
        if not self.sees({"initiator": initiator, "responder": responder}):
            return None
        order = {one["name"]: at for at, one in enumerate(self.live.event["scenarios"])}
        found = [tries for tries in self.live.attempts.values() if (tries[-1]["initiator"], tries[-1]["responder"]) == (initiator, responder)]
        return sorted(((tries[-1]["scenario"], tries) for tries in found), key=lambda one: (order.get(one[0], 0), one[1][-1]["repeat"]))

    def now(self, moment=None):
        """What is going on: dict of playing [(cell, seconds)], waiting, aside, remaining seconds, over, quiet (nobody plays)."""
        state, moment = self.live.state, moment or datetime.datetime.now(datetime.UTC)
        playing = [(self.id(one["cell"]), _since(one["since"], moment)) for one in state.get("playing", [])]
        waiting = [self.id(cell) for cell in state.get("waiting", [])]
        return {"playing": [one for one in playing if one[0]], "waiting": [one for one in waiting if one], "more": len(waiting),
                "aside": [self.name(one) for one in state.get("aside", []) if not self.vendor or one in self.own],
                "remaining": state.get("remaining", 0.0), "over": state.get("over", self.live.over), "left": self.live.left,
                "age": _since(state["time"], moment) if "time" in state else None}

    def last(self, count=20):
        return [cell for cell in reversed(self.live.ended[-count * 50:]) if self.sees(cell)][:count]


def _since(when, moment):
    """Seconds; 0 for a time that cannot be read."""
    try:
        return max(0.0, (moment - datetime.datetime.fromisoformat(when.replace("Z", "+00:00"))).total_seconds())
    except ValueError:
        return 0.0
