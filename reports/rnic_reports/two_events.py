# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Two plugfests, or two runs of one: what each pair came to in both, what is fixed and what is new."""

import dataclasses

from . import page, plugfest

GOOD = ("pass", "advisory", "not_applicable")
KINDS = ("new", "changed", "fixed", "added", "gone")
WORDS = {"new": "new failure", "changed": "bad in another way", "fixed": "fixed", "added": "not in the first", "gone": "not in the second"}


@dataclasses.dataclass(frozen=True)
class Change:
    kind: str  # of KINDS
    initiator: str
    responder: str
    scenario: str
    before: dict | None  # the cell
    after: dict | None


def changes(before, after):
    """Of two Matrix, by the names of participants and scenarios; the worst first. A cell that varies is the same in both."""
    was, now = _cells(before), _cells(after)
    found = [Change(kind, *key, was.get(key), now.get(key)) for key in dict.fromkeys([*was, *now]) if (kind := _kind(was.get(key), now.get(key)))]
    return sorted(found, key=lambda one: (KINDS.index(one.kind), one.initiator, one.responder, one.scenario))


def _cells(matrix):
    return {(cell["initiator"], cell["responder"], cell["scenario"]): cell for cell in matrix.cells}


def _kind(was, now):
    if was is None or now is None:
        return "added" if was is None else "gone"
    if was.get("varies") or now.get("varies"):
        return ""
    good = was["verdict"] in GOOD, now["verdict"] in GOOD
    if all(good):
        return ""
    if any(good):
        return "new" if good[0] else "fixed"
    return "changed" if (was["verdict"], was["fault"], was["rules"]) != (now["verdict"], now["fault"], now["rules"]) else ""


def by_participant(found):
    """participant -> {kind: how many}, of those with any new or fixed cell."""
    counts = {}
    for one in found:
        for name in {one.initiator, one.responder}:
            counts.setdefault(name, dict.fromkeys(KINDS, 0))[one.kind] += 1
    return {name: kinds for name, kinds in sorted(counts.items()) if kinds["new"] or kinds["fixed"] or kinds["changed"]}


def html(before, after):
    """The page as text."""
    found = changes(before, after)
    shown = {**before.shown, **after.shown}
    return page.environment().get_template("two_events.html.j2").render(
        before=before, after=after, changes=found, people=by_participant(found), shown=shown, KINDS=KINDS, KIND_WORDS=WORDS,
        counts={kind: sum(one.kind == kind for one in found) for kind in KINDS}, VERDICT_ORDER=list(plugfest.GLYPHS),
        **page.assets(["report.css", "plugfest.css"], []))
