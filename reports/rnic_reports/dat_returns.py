# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Which return code of which DAT call this run judged, with what outcome, and by which cases."""

import dataclasses

from . import coverage

# A rule's id is dat.CALL.ASPECT; an aspect that is a return code, or begins with one, is about that return.
CODES = ("success", "insufficient-resources", "invalid-handle", "invalid-parameter", "invalid-state", "invalid-address",
         "length-error", "model-not-supported", "protection-violation", "privileges-violation", "conn-qual-in-use",
         "conn-qual-unavailable", "queue-empty", "queue-full", "timeout-expired", "abort", "interrupted-call",
         "provider-not-found", "provider-in-use", "provider-already-registered", "internal-error", "srq-in-use",
         "comm-not-supported", "port-in-use", "not-implemented")
OTHER = "behaviour"


@dataclasses.dataclass
class Return:
    code: str  # DAT_INVALID_STATE, or OTHER for rules that are about no return
    uses: list  # of coverage.RuleUse, worst first

    @property
    def state(self):
        return min((use.state for use in self.uses), key=coverage.STATES.index)

    @property
    def cases(self):
        return list({case.id: case for use in self.uses for case, _ in use.uses}.values())


@dataclasses.dataclass
class Call:
    name: str
    returns: list


def code_of(rule):
    aspect = rule.id.split(".", 2)[-1]
    for code in CODES:
        if aspect == code or aspect.startswith(code + "-") or aspect.startswith(code + "."):
            return "DAT_" + code.upper().replace("-", "_")
    return OTHER


def returns_of(found):
    """A Call for each section of the DAT rules in this coverage, its returns in the order of CODES."""
    calls = []
    for section in (section for rfc in found if rfc.number == 0 for section in rfc.sections):
        by_code = {}
        for use in section.uses:
            by_code.setdefault(code_of(use.rule), []).append(use)
        order = ["DAT_" + code.upper().replace("-", "_") for code in CODES] + [OTHER]
        calls.append(Call(section.number, [Return(code, by_code[code]) for code in order if code in by_code]))
    return calls
