#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The shipped events satisfy their schema, and the schema refuses what the loader refuses: schema_test.py PLUGFEST_FOLDER."""
import copy
import json
import pathlib
import sys

import jsonschema
import yaml

FOLDER = pathlib.Path(sys.argv[1])


def main():
    schema = json.loads((FOLDER / "schema" / "event.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    events = sorted((FOLDER / "events").glob("*.yaml"))
    assert events
    for event in events:
        validator.validate(yaml.safe_load(event.read_text(encoding="utf-8")))
    good = yaml.safe_load(events[0].read_text(encoding="utf-8"))
    for member, bad in (("event", "a/b"), ("repeats", 0), ("pairs", "some"), ("participants", []), ("scenarios", "all"),
                        ("deadline", "soon"), ("except", "all"), ("unknown", 1)):
        changed = dict(copy.deepcopy(good), **{member: bad})
        assert not validator.is_valid(changed), member
    for name in ("$(reboot)", "-rf", "a b", "../up", ""):
        changed = copy.deepcopy(good)
        changed["participants"][0]["name"] = name
        assert not validator.is_valid(changed), name
    two_kinds = copy.deepcopy(good)
    two_kinds["participants"][0]["agent"] = {"reference": None, "argv": ["x"]}
    assert not validator.is_valid(two_kinds)
    over_tls = dict(copy.deepcopy(good), tls={"certificate": "t.pem", "key": "t.key", "ca": "ca.pem"})
    over_tls["participants"][0]["agent"] = {"tls": {"name": "dut", "listen": "192.0.2.1:7470"}}
    assert validator.is_valid(over_tls)
    del over_tls["tls"]["key"]
    assert not validator.is_valid(over_tls)
    nobody_yet = copy.deepcopy(good)
    del nobody_yet["participants"]
    assert not validator.is_valid(nobody_yet)
    assert validator.is_valid(dict(nobody_yet, join="joined"))


if __name__ == "__main__":
    main()
