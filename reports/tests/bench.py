#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Measures the report of a run, and of one of many cases that is made by replicating it: time and memory to make the page, its
size, and in a headless Chromium its elements and the time until it is loaded. With --check it fails if these are beyond what
reports/README.md promises: of time only that many cases take no more of it, each, than few."""

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
PAGE_OF_1000, MEMORY_OF_10000 = 3.0, 500  # MB
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
    """(seconds of processor time, MB of memory, MB of the page)."""
    process = subprocess.Popen([sys.executable, RENDER, folder])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{RENDER.name} failed")
    page = folder / "report.html"
    measured = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000, page.stat().st_size / 1e6
    print("made in {:.1f} s of processor time and {:.0f} MB; {:.2f} MB".format(*measured))
    return measured


def load(page):
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


def measure_run(source, count, scratch):
    """Of `count` cases, or of the run as it is."""
    folder = scratch / str(count)
    folder.mkdir()
    if count:
        replicate(source, count, folder / "results.json")
    else:
        (folder / "results.json").symlink_to(source.resolve())
    print(f"{count or 'as it is'}: ", end="", flush=True)
    return measure(folder)


def check(source, scratch):
    """The faults."""
    few, many = (measure_run(source, count, scratch) for count in (1000, 10_000))
    if few[2] > PAGE_OF_1000:
        yield f"the page of 1,000 cases has {few[2]:.2f} MB, more than {PAGE_OF_1000}"
    if many[1] > MEMORY_OF_10000:
        yield f"the page of 10,000 cases takes {many[1]:.0f} MB of memory, more than {MEMORY_OF_10000}"
    if many[0] > 2 * 10 * few[0]:
        yield f"the page of 10,000 cases takes {many[0] / few[0]:.0f} times as long as that of 1,000"


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: tests/bench.py out --cases 10000")
    parser.add_argument("folder", metavar="OUT_DIR", type=pathlib.Path, help="of a run")
    parser.add_argument("--cases", type=int, default=10_000, help="of the replicated run; default: 10000")
    parser.add_argument("--check", action="store_true", help="make pages of 1,000 and of 10,000 cases, and compare with what is promised")
    arguments = parser.parse_args()
    source = arguments.folder / "results.json"
    with tempfile.TemporaryDirectory() as scratch:
        if arguments.check:
            sys.exit("\n".join(check(source, pathlib.Path(scratch))) or None)
        for count in (0, arguments.cases):
            measure_run(source, count, pathlib.Path(scratch))
            load(pathlib.Path(scratch) / str(count) / "report.html")


if __name__ == "__main__":
    main()
