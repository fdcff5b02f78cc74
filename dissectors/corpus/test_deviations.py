#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Judges captures of every deviation of the reference RNIC, made by rnic-self-test for the purpose.

A deviation from a rule that the analyzer checks must be flagged by that rule, unless deviations.json says why the capture cannot show
it; every other finding against the reference is listed there with its cause; and the conforming reference has none. Every deviation has a
capture, or a reason why it has none.

Each rule that the analyzer can name, and each that the catalogue calls visible to a passive observer, is found broken in some capture: one
of these, or a hand-made one. And in some capture in which nobody breaks it, the analyzer says that it has judged it: a finding that can
never come, and a check that calls a rule judged where it is broken only, both fail.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).resolve().parent
MANIFEST = HERE / "deviations.json"


def checked_rules():
    """The rules of the analyzer's tables."""
    text = "".join(file.read_text() for file in sorted((HERE.parent / "analyzer").glob("*.def")))
    text = re.sub(r"//.*", "", text)
    return {rule for entry in re.findall(r"ANALYZER_CHECK\((.*?)\)", text, re.S) for rule in re.findall(r'"([^"]+)"', entry)}


def passive_rules():
    """Those of the catalogue that a trace shows broken on a link that there is."""
    for file in sorted((HERE.parent.parent / "rules").glob("rfc*.yaml")):
        for rule in yaml.safe_load(file.read_text())["rules"]:
            if rule["check"] == "passive" and not rule.get("needs"):
                yield rule["id"]


def deviations():
    """All deviations of the reference."""
    text = (HERE.parent.parent / "reference_rnic/deviants/deviations.def").read_text()
    return re.findall(r"^RNIC_DEVIATION\((\w+),", text, re.M)


def against(addresses, address):
    return any(address.startswith((f"{one}:", f"[{one}]:")) for one in addresses)


def records_of(lint, file):
    ended = subprocess.run([lint, "--json", str(file)], capture_output=True, text=True, check=False)
    if ended.returncode not in (0, 1, 4):
        raise SystemExit(f"{file}: {ended.stderr.strip()}")
    return list(map(json.loads, ended.stdout.splitlines()))


def violations(records):
    return [record for record in records if record["type"] == "violation"]


def judged_and_kept(records):
    """The rules that the analyzer has judged in a capture, and found kept by all."""
    return set(records[-1]["judged"]) - rules_of(violations(records))


def rules_of(records):
    return {rule for record in records for rule in (record["rule"], *record["also"])}


def judge(entry, lint, folder, checked):
    """What came of one deviation: whether its rule flags it (null: the analyzer has no check of it), and the rules besides; `seen` are all
    rules that anybody broke in its capture, `kept` those that were judged and that nobody broke."""
    all_records = records_of(lint, folder / entry["file"])
    records = violations(all_records)
    found = {}  # of each rule that the reference broke: those that it breaks besides
    for record in records:
        if against(entry["iut"], record["from"]):
            found.setdefault(record["rule"], set()).update(record["also"])
    own = {rule for rule, also in found.items() if entry["rule"] == rule or entry["rule"] in also}
    flagged = bool(own) if entry["rule"] in checked else None
    return entry["deviation"], {"flagged": flagged, "others": sorted(set(found) - own), "seen": rules_of(records), "kept": judged_and_kept(all_records)}


def differences(name, came, listed):
    if came["flagged"] is False and "unseen" not in listed:
        yield f"{name}: is not flagged by its rule"
    if came["flagged"] and "unseen" in listed:
        yield f"{name}: is flagged now: take its 'unseen' out"
    if came["others"] != sorted(listed.get("others", [])):
        yield f"{name}: other findings {came['others']} in place of {listed.get('others', [])}"
    if listed.get("others") and not listed.get("cause"):
        yield f"{name}: other findings without a cause"
    if listed.get("unseen") == "":
        yield f"{name}: 'unseen' without a reason"


def faults(results, manifest):
    conforming = results.pop("conforming", None)
    if conforming is None or conforming["others"]:
        yield f"the conforming reference: {conforming}"
    for name, came in results.items():
        yield from differences(name, came, manifest.get(name, {}))
    uncaptured = {name for name, listed in manifest.items() if listed.get("uncaptured")}
    for name in sorted(set(manifest) - uncaptured - set(results)):
        yield f"{name}: is in the manifest and has no capture"
    for name in sorted(set(deviations()) - uncaptured - set(results)):
        yield f"{name}: has no capture, and no reason for it"
    for name in sorted(uncaptured & set(results)):
        yield f"{name}: has a capture now: take its 'uncaptured' out"


def rewritten(results, manifest):
    """The manifest as the results need it; existing reasons are kept, the others have to be written."""
    fresh = {}
    for name, came in results.items():
        listed = manifest.get(name, {})
        entry = {}
        if came["flagged"] is False:
            entry["unseen"] = listed.get("unseen", "")
        if came["others"]:
            entry["others"] = came["others"]
            entry["cause"] = listed.get("cause", "")
        if entry and name != "conforming":
            fresh[name] = entry
    return fresh | {name: listed for name, listed in manifest.items() if listed.get("uncaptured")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                     epilog="example: test_deviations.py SELF_TEST LINT --captures out/deviations")
    parser.add_argument("self_test", help="rnic-self-test")
    parser.add_argument("lint", help="rnic-lint")
    parser.add_argument("--captures", type=pathlib.Path, help="keep the captures in this folder")
    parser.add_argument("--write", action="store_true", help="write what came into deviations.json; reasons are yours to add")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.captures or pathlib.Path(scratch)
        made = subprocess.run([arguments.self_test, "--link", "memory", "--captures", str(folder)], capture_output=True, text=True,
                              check=False)
        if made.returncode not in (0, 1):  # 1: some deviation goes unnoticed, which is another test's business
            raise SystemExit(made.stderr.strip())
        index, checked = json.loads((folder / "index.json").read_text()), checked_rules()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            results = dict(workers.map(lambda entry: judge(entry, arguments.lint, folder, checked), index))
    manifest = json.loads(MANIFEST.read_text()) if MANIFEST.exists() else {}
    if arguments.write:
        manifest = rewritten(results, manifest)
        MANIFEST.write_text(json.dumps(manifest, indent=1) + "\n")
    broken = set().union(*(came["seen"] for came in results.values()))
    kept = set().union(*(came["kept"] for came in results.values()))
    for file in sorted((HERE / "samples").glob("*.pcap.gz")):
        records = records_of(arguments.lint, file)
        broken |= rules_of(violations(records))
        kept |= judged_and_kept(records)
    seen = sum(1 for came in results.values() if came["flagged"])
    visible = sum(1 for came in results.values() if came["flagged"] is not None)
    found = list(faults(results, manifest))
    found += [f"{rule}: no capture is flagged by it" for rule in sorted((set(passive_rules()) | checked) - broken)]
    found += [f"{rule}: is judged in no capture that keeps it" for rule in sorted(checked - kept)]
    for fault in found:
        print(fault)
    print(f"{len(results)} deviations have captures; of {visible} from checked rules {seen} are flagged by their rule; {len(found)} faults")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
