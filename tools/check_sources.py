#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Checks each source file: licence line, a sentence on top of headers, no fixed sleeps, names of arguments that each CLI11 takes, clang-format
where it is installed; and that the first version of CHANGELOG.md is the project's."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

LICENCE = "SPDX-License-Identifier: GPL-2.0-or-later"
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|time\.sleep|(?<![\w.])sleep)\s*\(|^\s*sleep\s+[\d.]")
# The name of a positional argument, which begins with a letter: later versions than CLI11 2.3 refuse these characters at run time.
ARGUMENT = re.compile(r"add_option\w*(?:<[^>]*>)?\(\s*\"([A-Za-z][^\"]*)\"")
REFUSED_IN_ARGUMENT = set(" ,:={}")
CODE = {".cpp", ".hpp", ".h", ".c", ".def"}
TEXT = CODE | {".py", ".sh", ".cmake"}


def tracked(root):
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, check=True, text=True)
    return [root / name for name in listed.stdout.split("\0") if name and (root / name).is_file()]


def faults_of(path, root):
    relative = path.relative_to(root)
    lines = path.read_text(errors="replace").splitlines()
    if path.suffix in TEXT or path.name == "CMakeLists.txt":
        if not any(LICENCE in line for line in lines[:3]):
            yield f"{relative}: no licence line at the top"
        if path.suffix == ".hpp" and not (len(lines) > 1 and lines[1].startswith("// ")):
            yield f"{relative}: the second line does not say what the file is the interface for"
        for number, line in enumerate(lines, 1):
            if SLEEP.search(line) and path.name != pathlib.Path(__file__).name:
                yield f"{relative}:{number}: a fixed sleep; wait for an event with a deadline"
    if path.suffix == ".cpp":
        for name in ARGUMENT.findall("\n".join(lines)):
            if REFUSED_IN_ARGUMENT & set(name):
                yield f"{relative}: the argument '{name}' has a character that later versions of CLI11 refuse in a name"


def version_faults(root):
    """A release is tagged at a commit where both say the same."""
    project = re.search(r"^project\(\S+ VERSION (\S+)", (root / "CMakeLists.txt").read_text(), re.MULTILINE)
    change = re.search(r"^## (\S+)", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    if not project or not change or project[1] != change[1]:
        yield f"CHANGELOG.md: its first heading has {change[1] if change else 'no version'}, CMakeLists.txt has {project[1] if project else 'none'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: tools/check_sources.py .")
    parser.add_argument("root", type=pathlib.Path, nargs="?", default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root.resolve()
    files = tracked(root)
    found = [fault for path in files for fault in faults_of(path, root)] + list(version_faults(root))
    for fault in found:
        print(fault, file=sys.stderr)
    formatter = shutil.which("clang-format-19")
    code = [str(path) for path in files if path.suffix in CODE]
    if formatter and subprocess.run([formatter, "--dry-run", "--Werror", *code]).returncode:
        found.append("clang-format")
    if not formatter:
        print("clang-format-19 is not installed: the layout of the sources was not checked")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
