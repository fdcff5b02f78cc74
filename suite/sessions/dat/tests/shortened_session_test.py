#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What is left of a session that finds something is written, and finds the same again; with a provider that is right it finds nothing."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "cases" / "dat" / "shim"))
import dat_self_test  # noqa: E402
import dat_sessions  # noqa: E402

FAULT = "call=dat_lmr_sync_rdma_read,kind=returns"


def words_of_file(bed, text, fault):
    """What is written when the session of a file is played."""
    environment = bed.environment | ({"LD_PRELOAD": bed.shim, "RNIC_DAT_FAULT": fault} if fault else {})
    file = json.loads(text)
    line = json.dumps({"seed": file["seed"], "steps": file["steps"]}) + "\n"
    done = subprocess.run([bed.program, "--play", "soak.script.left.json", "--session", "--ia", dat_self_test.IA], env=environment,
                          input=line, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
    return dat_self_test.words_of(done.stdout)


def first_finding(bed):
    """What the first session that meets the fault writes."""
    for seed in range(1, 40):
        words = bed.words("--run", f"soak.dat.{seed}", FAULT, timeout=150)
        if dat_sessions.findings(words):
            return words
    return []


def problems(bed):
    words = first_finding(bed)
    found = dat_sessions.findings(words)
    files = [word["session"] for word in words if "session" in word]
    if not found or len(files) != 1:
        yield f"found {found}, wrote {len(files)} files"
        return
    file, rule = json.loads(files[0]), found[0][0]
    print(files[0])
    if (file["version"], file["api"], file["rules"]) != (1, "dat", [rule]):
        yield f"the file is not one of {rule}"
    if [step["action"] for step in file["steps"]] != ["make_zone", "make_region", "sync_memory"]:
        yield "it has more steps than it needs, or fewer"
    # A region has 64 octets or more where it is drawn.
    if any((step["number"], step["flags"]) != (8, 0x33) for step in file["steps"] if step["action"] == "make_region"):
        yield "a value that is not needed is not its default"
    again = dat_sessions.findings(words_of_file(bed, files[0], FAULT))
    if not again or again[0][0] != rule:
        yield f"played again it finds {again}"
    if right := dat_sessions.findings(words_of_file(bed, files[0], None)):
        yield f"without the fault it finds {right}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", required=True, help="the program rnic-dat-cases")
    parser.add_argument("--provider", required=True, help="the provider's library")
    parser.add_argument("--shim", required=True, help="librnic_dat_shim.so")
    arguments = parser.parse_args()
    dat_self_test.enter_private_network()
    with tempfile.TemporaryDirectory() as folder:
        found = list(problems(dat_self_test.TestBed(arguments, folder)))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
