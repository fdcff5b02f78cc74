#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Says what keeps the last commit from being tagged as a release (docs/releasing.md): a line for each fault."""

import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[1]


def git(root, *words):
    return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=True).stdout


def version_faults(root, version):
    """Version and date stand in the files that say them; what they say of the tree is true of the commit."""
    project = re.search(r"^project\(\S+ VERSION (\S+)", (root / "CMakeLists.txt").read_text(), re.MULTILINE)
    if not project or project[1] != version:
        yield f"CMakeLists.txt: its version is {project[1] if project else 'missing'}, not {version}"
    heading, text = (re.split(r"^## ", (root / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:2] or ["none\n"])[0].split("\n", 1)
    found = re.fullmatch(rf"{re.escape(version)} \((\d{{4}}-\d\d-\d\d)\)", heading)
    try:
        if not found or datetime.date.fromisoformat(found[1]) > datetime.date.today():
            raise ValueError
    except ValueError:
        yield f"CHANGELOG.md: its first heading is '{heading}', not '{version} (YYYY-MM-DD)' with a day that has come"
    if not re.search(r"^- ", text, re.MULTILINE):
        yield f"CHANGELOG.md: nothing is said of {version}"
    if git(root, "status", "--porcelain").strip():
        yield "the work tree differs from the last commit"
    if git(root, "tag", "--list", f"v{version}").strip():
        yield f"there is a tag v{version} already; a release is never tagged anew"


def edition_faults(root, program):
    """The newest ledger has every case of the release, with its rules: whoever names it gets what the release judges."""
    ledgers = sorted((root / "suite" / "editions").glob("*.json"), key=lambda path: [int(part) for part in path.stem.split(".")])
    if not ledgers:
        yield "suite/editions: there is no edition; write it with tools/freeze_edition"
        return
    ledger = json.loads(ledgers[-1].read_text())["cases"]
    listed = subprocess.run([program, "list", "--long", "--json"], capture_output=True, text=True, check=True).stdout
    cases = {case["id"]: sorted(case["rules"]) for case in json.loads(listed)}
    differing = [name for name in {*ledger, *cases} if ledger.get(name) != cases.get(name)]
    if differing:
        yield f"{ledgers[-1].relative_to(root)}: {len(differing)} cases are not as the suite has them, {min(differing)} for one; write the next edition, or this one anew if it was never published, with tools/freeze_edition"


def main(argv=None):
    parser = argparse.ArgumentParser(prog="check_release.py", description=__doc__,
                                     epilog="example: tools/check_release.py 0.1.0; exit: 0 it can be tagged, 1 it cannot, 2 usage, 3 git or rnic-suite failed")
    parser.add_argument("version", metavar="VERSION", help="that it is to have")
    parser.add_argument("--suite", metavar="PROGRAM", default=PROJECT / "bin" / "rnic-suite", help="default: bin/rnic-suite")
    parser.add_argument("--root", metavar="DIR", type=pathlib.Path, default=PROJECT, help="default: this tree")
    options = parser.parse_args(argv)
    if not re.fullmatch(r"\d+\.\d+\.\d+", options.version):
        parser.exit(2, f"check_release.py: {options.version!r} is no version; for example 0.1.0\n")
    try:
        faults = [*version_faults(options.root, options.version), *edition_faults(options.root, options.suite)]
    except (OSError, subprocess.CalledProcessError) as error:
        parser.exit(3, f"check_release.py: {error}\n")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
