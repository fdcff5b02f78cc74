# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Ids that cases had before: an earlier run is compared under those of today."""

import functools
import pathlib
import re

TABLE = pathlib.Path(__file__).resolve().parents[2] / "suite" / "cases" / "renamed_cases.def"
ENTRY = re.compile(r'^RNIC_RENAMED_CASE\(\s*"([^"]+)",\s*"([^"]+)"\s*\)', re.MULTILINE)


@functools.cache
def table(path=TABLE):
    """Old id -> new id, both without a variant; empty where there is no table."""
    try:
        return dict(ENTRY.findall(path.read_text(encoding="utf-8")))
    except OSError:
        return {}


def current_id(case):
    """The id that the case has today, with its variant."""
    plain, sign, variant = case.partition("@")
    return table().get(plain, plain) + sign + variant
