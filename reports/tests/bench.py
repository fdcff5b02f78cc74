#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Measures the report of a run, and of one of many cases that is made by replicating it: time and memory to make the page, its
size, and in a headless Chromium its elements and the time until it is loaded."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tests import browser  # noqa: E402

RENDER = pathlib.Path(__file__).resolve().parents[1] / "render.py"
LOADED = "performance.timing.loadEventEnd - performance.timing.navigationStart"


def replicate(source, count, target):
    """Writes results of `count` cases: those of `source` again and again, under names of their own."""
    document = json.loads(source.read_text(encoding="utf-8"))
    cases = document.pop("cases")
    document["run"]["selected"] = count
    with target.open("w", encoding="utf-8") as file:
        file.write(json.dumps(document)[:-1] + ', "cases": [')
        for number in range(count):
            case, turn = cases[number % len(cases)], number // len(cases)
            case = {**case, "id": f"{case['id']}@{turn}"} if turn else case
            file.write(("," if number else "") + json.dumps(case, separators=(",", ":")))
        file.write("]}")


def measure(folder):
    process = subprocess.Popen([sys.executable, RENDER, folder])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    page = folder / "report.html"
    seconds = usage.ru_utime + usage.ru_stime
    print(f"made in {seconds:.1f} s of processor time and {usage.ru_maxrss / 1000:.0f} MB; {page.stat().st_size / 1e6:.2f} MB")
    if process.returncode:
        sys.exit(f"{RENDER.name} failed")
    if not browser.program():
        return print("no chromium: not loaded")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        shown = browser.Browser(profile)
        try:
            shown.open(page.as_uri())
            elements = shown.value("document.querySelectorAll('*').length")
            print(f"loaded in {shown.value(LOADED) / 1000:.2f} s, {elements:,} elements")
        finally:
            shown.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: tests/bench.py out --cases 10000")
    parser.add_argument("folder", metavar="OUT_DIR", type=pathlib.Path, help="of a run")
    parser.add_argument("--cases", type=int, default=10_000, help="of the replicated run; default: 10000")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for count in (0, arguments.cases):
            folder = pathlib.Path(scratch) / str(count)
            folder.mkdir()
            results = folder / "results.json"
            if count:
                replicate(arguments.folder / "results.json", count, results)
            else:
                results.symlink_to((arguments.folder / "results.json").resolve())
            print(f"{count or 'as it is'}: ", end="", flush=True)
            measure(folder)


if __name__ == "__main__":
    main()
