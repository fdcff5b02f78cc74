# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Which returns each DAT call gave in this run: those that documents state, and any other, with outcome and cases."""

import collections
import dataclasses
import re

from . import coverage

# In the order of dat_error.h.
CODES = ("SUCCESS", "ABORT", "CONN_QUAL_IN_USE", "INSUFFICIENT_RESOURCES", "INTERNAL_ERROR", "INVALID_HANDLE", "INVALID_PARAMETER",
         "INVALID_STATE", "LENGTH_ERROR", "MODEL_NOT_SUPPORTED", "PROVIDER_NOT_FOUND", "PRIVILEGES_VIOLATION", "PROTECTION_VIOLATION",
         "QUEUE_EMPTY", "QUEUE_FULL", "TIMEOUT_EXPIRED", "PROVIDER_ALREADY_REGISTERED", "PROVIDER_IN_USE", "INVALID_ADDRESS",
         "INTERRUPTED_CALL", "CONN_QUAL_UNAVAILABLE", "PORT_IN_USE", "COMM_NOT_SUPPORTED", "NOT_IMPLEMENTED")
ORDER = tuple("DAT_" + code for code in CODES)
# How a case writes a return: the call, if it is known, and the code, followed by a subtype.
RETURNED = re.compile(r"(?:(?P<call>dat_\w+|ia_ha_related): )?(?P<code>DAT_[A-Z_]+)\b")


@dataclasses.dataclass
class Return:
    code: str
    stated: bool  # by a document
    uses: list  # (case, state) where it came, or had to

    @property
    def state(self):
        return min((state for _, state in self.uses), key=coverage.STATES.index, default="unjudged")

    @property
    def cases(self):
        return list({case.id: case for case, _ in self.uses}.values())


@dataclasses.dataclass
class Call:
    name: str
    returns: list


@dataclasses.dataclass
class Table:
    calls: list

    def count(self, stated, came):
        return sum(1 for call in self.calls for one in call.returns if one.stated == stated and bool(one.uses) == came)


def table_of(report, catalogue):
    """A Call for each call in documents or cases of this run, by name, its returns in the order of CODES."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for name, codes in catalogue.returns.items():
        found[name].update((code, []) for code in codes)
    known = coverage.known_findings(report)
    for case in report.cases:
        for judgement in case.judgements:
            for name, code in _returns(judgement, catalogue):
                found[name][code].append((case, coverage.state_of(judgement, case, known)))
    return Table([Call(name, [Return(code, code in catalogue.returns.get(name, ()), returns[code]) for code in ORDER if code in returns])
                  for name, returns in sorted(found.items())])


def _returns(judgement, catalogue):
    """(call, code) of an expectation about a return: what came, or, where that was wrong, what should have."""
    came = RETURNED.match(judgement.actual)
    if not came:
        return
    name = came["call"] or catalogue.rule(judgement.rule).section
    right = judgement.verdict in ("pass", "advisory")
    for code in [came["code"]] if right else judgement.admissible:
        if name and code in ORDER:
            yield name, code
