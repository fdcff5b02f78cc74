#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The shipped PICS and PIXIT files satisfy their schemas, and the schemas refuse what the loaders refuse."""
import json
import pathlib
import sys

import jsonschema
import yaml

FOLDER = pathlib.Path(sys.argv[1])


def validator(name):
    schema = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def main():
    pics, pixit = validator("pics.schema.json"), validator("pixit.schema.json")
    for name in ("proforma.yaml", "reference.yaml", "siw.yaml"):
        document = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
        if document["capabilities"] is None:  # all its questions are open
            document["capabilities"] = {}
        pics.validate(document)
    pixit.validate(yaml.safe_load((FOLDER / "pixit.yaml").read_text(encoding="utf-8")))
    for bad in ({"pics": 1}, {"pics": 1, "implementation": "x", "capabilities": {"remote_invalidate": False}},
                {"pics": 1, "implementation": "x", "limits": {"max_ird": -1}}):
        assert not pics.is_valid(bad), bad
    for bad in ({}, {"pixit": 1, "agent": []}, {"pixit": 1, "quiet_window_ms": 0}):
        assert not pixit.is_valid(bad), bad


if __name__ == "__main__":
    main()
