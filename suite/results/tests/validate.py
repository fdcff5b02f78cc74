#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Validates a JSON document against a JSON Schema: validate.py SCHEMA DOCUMENT. Exit 0 if valid, else 1 and the fault."""

import json
import sys

import jsonschema


def main():
    with open(sys.argv[1], encoding="utf-8") as schema, open(sys.argv[2], encoding="utf-8") as document:
        checker = jsonschema.Draft202012Validator(json.load(schema))
        faults = list(checker.iter_errors(json.load(document)))
    for fault in faults:
        print(f"{'/'.join(map(str, fault.absolute_path))}: {fault.message}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
