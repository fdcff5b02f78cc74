# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Ids that cases had in earlier versions, so that a run of such a version is compared case by case."""

import pathlib
import re

FILE = pathlib.Path(__file__).resolve().parents[2] / "suite" / "cases" / "renamed_cases.def"
ROW = re.compile(r'^RNIC_RENAMED_CASE\(\s*"([^"]+)",\s*"([^"]+)"\)', re.MULTILINE)


def load(file=FILE):
    """{old id: present id}, both without a variant; nothing if there is no such file."""
    try:
        return dict(ROW.findall(file.read_text(encoding="utf-8")))
    except OSError:
        return {}


def current(case_id, renamed):
    """The id that the case has today, with its variant."""
    plain, mark, variant = case_id.partition("@")
    return renamed.get(plain, plain) + mark + variant
