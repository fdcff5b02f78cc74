# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Who breaks a rule: the deviations that do on purpose, and the implementations that are known to."""

import collections
import dataclasses
import pathlib
import re

import yaml

PROJECT = pathlib.Path(__file__).resolve().parents[2]
DEVIATIONS = PROJECT / "reference_rnic" / "deviants" / "deviations.def"
EXPECTATIONS = PROJECT / "suite" / "expectations"
ENTRY = re.compile(r'^RNIC_DEVIATION\(\s*(\w+),\s*"([^"]+)",\s*((?:"[^"]*"\s*)+)\)', re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Deviation:
    name: str
    text: str


@dataclasses.dataclass(frozen=True)
class Offender:
    iut: str
    versions: str
    case: str
    reason: str


@dataclasses.dataclass
class Breakers:
    deviations: dict  # rule id -> [Deviation]
    offenders: dict  # rule id -> [Offender]


def load(deviations=DEVIATIONS, expectations=EXPECTATIONS):
    """What there is of it: a report without it is better than none."""
    return Breakers(_deviations(deviations), _offenders(expectations))


def _deviations(path):
    found = collections.defaultdict(list)
    try:
        source = path.read_text(encoding="utf-8")
    except OSError:
        return found
    for name, rule, text in ENTRY.findall(source):
        found[rule].append(Deviation(name, "".join(re.findall(r'"([^"]*)"', text))))
    return found


def _offenders(folder):
    found = collections.defaultdict(list)
    for path in sorted(folder.glob("*.yaml")):
        try:
            document = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
            for entry in document.get("entries") or []:
                offender = Offender(*(" ".join(str(entry[key]).split()) for key in ("iut", "versions", "case", "reason")))
                for rule in dict.fromkeys([entry["rule"], *entry.get("also", [])]):
                    found[rule].append(offender)
        except (OSError, yaml.YAMLError, AttributeError, KeyError, TypeError):
            continue
    return found
