#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Makes C++ of the rule files: a header with the ids, and a source file with everything else.

The header is written only if it changes, so that a new wording of a rule compiles one file again."""

import argparse
import json
import pathlib

import catalogue_files

NOTICE = """// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Made from rules/*.yaml by rules/generate_table.py; do not edit.
"""

IDS = (
    NOTICE
    + """#pragma once

#include <array>
#include <string_view>

namespace rules {

/// The ids of all rules, sorted.
inline constexpr std::array<std::string_view, %d> ids{{
%s}};

}  // namespace rules
"""
)

TABLE = (
    NOTICE
    + """#include <array>

#include "rules/catalogue.hpp"

namespace rules {

static constexpr std::array<Rule, %d> table{{
%s}};

std::span<const Rule> all() { return table; }

std::string_view version() { return %s; }

}  // namespace rules
"""
)


def cpp_string(text):
    return json.dumps(" ".join(str(text).split()), ensure_ascii=True)


def row(rule):
    return (
        f"    Rule{{{cpp_string(rule['id'])}, {rule['rfc']}, {cpp_string(rule['section'])}, Level::{rule['level']}, "
        f"Check::{rule['check']}, {cpp_string(rule['binds'])}, {cpp_string(rule['text'])}, "
        f"{cpp_string(rule.get('needs', ''))}, {cpp_string(rule.get('reason', ''))}, "
        f"{cpp_string(rule.get('quote', ''))}}},\n"
    )


def write_if_changed(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="example: generate_table.py --ids rule_ids.hpp --table catalogue_table.cpp rules/rfc*.yaml"
    )
    parser.add_argument("--ids", required=True, type=pathlib.Path)
    parser.add_argument("--table", required=True, type=pathlib.Path)
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    rules, version = catalogue_files.load_or_exit(arguments.files)
    rules.sort(key=lambda rule: rule["id"])
    ids = "".join(f"    {cpp_string(rule['id'])},\n" for rule in rules)
    write_if_changed(arguments.ids, IDS % (len(rules), ids))
    write_if_changed(arguments.table, TABLE % (len(rules), "".join(map(row, rules)), cpp_string(version)))


if __name__ == "__main__":
    main()
