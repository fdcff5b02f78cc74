#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Makes the constexpr rule table for C++ from the rule files."""

import argparse
import json
import pathlib

import catalogue_files

HEAD = """// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Made from rules/*.yaml by rules/generate_table.py; do not edit.
#pragma once

#include <array>

#include "rules/catalogue.hpp"

namespace rules {

inline constexpr std::string_view table_version = %s;
inline constexpr std::array<Rule, %d> table{{
"""


def cpp_string(text):
    return json.dumps(" ".join(str(text).split()), ensure_ascii=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: generate_table.py --output t.hpp rules/rfc*.yaml")
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    rules, version = catalogue_files.load_or_exit(arguments.files)
    lines = [HEAD % (cpp_string(version), len(rules))]
    for rule in sorted(rules, key=lambda rule: rule["id"]):
        lines.append(
            f"    Rule{{{cpp_string(rule['id'])}, {rule['rfc']}, {cpp_string(rule['section'])}, Level::{rule['level']}, "
            f"Check::{rule['check']}, {cpp_string(rule['binds'])}, {cpp_string(rule['text'])}, "
            f"{cpp_string(rule.get('needs', ''))}, {cpp_string(rule.get('reason', ''))}}},\n"
        )
    lines.append("}};\n\n}  // namespace rules\n")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text("".join(lines))


if __name__ == "__main__":
    main()
