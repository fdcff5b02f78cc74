#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Checks that every source is in a component, and that every #include points to the same component or to one that it may use
(docs/architecture.md)."""

import argparse
import pathlib
import re
import sys

# Component -> components whose headers it may include, besides its own and base. A file belongs to the longest listed folder that contains it.
ALLOWED = {
    "base": [],
    "rules": [],
    "reference_rnic/wire": [],
    "reference_rnic/stream": ["reference_rnic/wire", "rules"],
    "reference_rnic/deviants": ["reference_rnic/access", "reference_rnic/verbs", "reference_rnic/stream", "reference_rnic/llp",
                                "reference_rnic/wire", "rules"],
    "reference_rnic/lawful": ["reference_rnic/access", "reference_rnic/verbs", "reference_rnic/stream", "reference_rnic/wire", "rules"],
    "reference_rnic/lawful/tests": ["reference_rnic/lawful", "reference_rnic/deviants", "reference_rnic/access", "reference_rnic/verbs",
                                    "reference_rnic/stream", "reference_rnic/wire", "rules"],
    "reference_rnic/bench": ["reference_rnic/access", "reference_rnic/verbs", "reference_rnic/stream", "reference_rnic/llp",
                             "reference_rnic/wire"],
    "reference_rnic/llp": ["reference_rnic/wire"],
    "reference_rnic/verbs": ["reference_rnic/stream", "reference_rnic/wire"],
    "reference_rnic/verbs/tests": ["reference_rnic/verbs", "reference_rnic/stream", "reference_rnic/wire"],
    "reference_rnic/access/tests": ["reference_rnic/access", "reference_rnic/verbs", "reference_rnic/stream", "reference_rnic/llp",
                                    "reference_rnic/wire"],
    "reference_rnic/access": ["reference_rnic/verbs", "reference_rnic/stream", "reference_rnic/llp", "reference_rnic/wire"],
    "reference_rnic/kdat": [],
    "reference_rnic/dat": ["reference_rnic/access", "reference_rnic/verbs", "reference_rnic/stream", "reference_rnic/llp",
                           "reference_rnic/wire"],
    # The deviations and lawful variants that its user names.
    "reference_rnic/rdma_core": ["reference_rnic/access", "reference_rnic/verbs", "reference_rnic/stream", "reference_rnic/llp",
                                 "reference_rnic/deviants", "reference_rnic/lawful", "reference_rnic/wire"],
    "dissectors/capture": ["reference_rnic/wire", "rules"],
    "dissectors/analyzer": ["dissectors/capture", "reference_rnic/wire", "rules"],
    "dissectors/lint": ["dissectors/analyzer", "dissectors/capture", "reference_rnic/wire", "rules"],
    "dissectors/scrub": ["dissectors/lint", "dissectors/analyzer", "dissectors/capture", "reference_rnic/wire", "rules"],
    "dissectors/bench": ["dissectors/capture", "reference_rnic/wire"],
    "dissectors/wireshark": ["dissectors/analyzer", "dissectors/capture", "reference_rnic/wire", "rules"],
    "suite/iut": [],
    # The agent's program links its drivers.
    "suite/upper_tester": ["suite/iut", "suite/upper_tester", "reference_rnic/llp", "reference_rnic/deviants", "reference_rnic/lawful"],
    "suite/upper_tester/verbs": ["suite/upper_tester", "suite/iut"],
    "suite/upper_tester/kverbs": ["suite/upper_tester", "suite/upper_tester/kernel", "suite/upper_tester/verbs", "suite/iut"],
    "suite/upper_tester/kernel": [],
    "suite/upper_tester/kdat": ["suite/upper_tester", "suite/upper_tester/dat", "suite/cases/kdat/kernel", "suite/iut"],
    "suite/upper_tester/dat": ["suite/upper_tester", "suite/iut"],
    "suite/upper_tester/reference": ["suite/upper_tester", "suite/iut", "reference_rnic/access", "reference_rnic/verbs",
                                     "reference_rnic/stream", "reference_rnic/llp", "reference_rnic/wire", "reference_rnic/deviants",
                                     "reference_rnic/lawful"],
    "suite/lower_tester": ["suite/results", "reference_rnic/wire", "reference_rnic/stream", "reference_rnic/deviants", "reference_rnic/llp",
                           "dissectors/analyzer", "rules"],
    "suite/lab": [],
    "suite/doctor": ["suite/lab", "suite/results"],
    "suite/results": [],
    "suite/expectations": ["suite/results"],
    "suite/model": ["suite/iut", "reference_rnic/wire", "rules"],
    "suite/sessions": ["suite/model", "suite/lower_tester", "suite/results", "suite/iut", "reference_rnic/llp", "reference_rnic/wire", "rules"],
    "suite/sessions/dat": ["suite/sessions", "suite/cases", "suite/iut", "rules"],
    "suite/sessions/tests": ["suite/sessions", "suite/model", "suite/lower_tester", "suite/upper_tester", "suite/iut", "reference_rnic/deviants",
                             "reference_rnic/lawful", "reference_rnic/llp", "rules"],
    "suite/jobs": ["suite/iut", "dissectors/capture"],
    "suite/cases": ["suite/lower_tester", "suite/results", "suite/iut", "rules", "reference_rnic/wire", "reference_rnic/llp",
                    "reference_rnic/stream", "reference_rnic/deviants", "suite/cases/framework"],
    "suite/cases/kdat": ["suite/cases", "suite/results", "suite/iut", "rules"],
    "suite/cases/kdat/kernel": ["reference_rnic/kdat"],
    "suite/cases/framework": ["suite/lower_tester", "suite/results", "suite/iut", "rules", "reference_rnic/wire", "reference_rnic/llp",
                              "reference_rnic/stream", "reference_rnic/deviants"],
    "suite/cases/tests": ["suite/cases", "suite/lower_tester", "suite/results", "suite/upper_tester", "suite/iut", "rules", "reference_rnic"],
    "suite/runner": ["suite", "dissectors/analyzer", "dissectors/capture", "reference_rnic/llp", "reference_rnic/deviants", "reference_rnic/lawful",
                     "reference_rnic/wire", "rules"],
    "suite/second_decoder": ["reference_rnic/wire", "reference_rnic/stream"],
    "suite/self_test": ["suite", "dissectors/capture", "reference_rnic/deviants", "reference_rnic/lawful", "rules"],
    "suite/verbs_run": ["reference_rnic/rdma_core", "reference_rnic/deviants", "reference_rnic/lawful", "dissectors/capture"],
    # From the suite: what runs jobs, drives an agent or examines a host.
    "plugfest": ["suite/cases/framework", "suite/expectations", "suite/results", "suite/jobs", "suite/iut", "suite/lab", "suite/doctor", "dissectors/capture", "dissectors/analyzer", "rules",
                 "reference_rnic/llp", "reference_rnic/wire"],
    "tools": [],
}
GENERATED = ("rules/", "base/commit.hpp")  # made by the build
# By the kernel's build, in a copy of the folder; with the headers of these besides.
COMPILED_ELSEWHERE = {"suite/upper_tester/kernel": [], "reference_rnic/kdat": [], "suite/cases/kdat/kernel": ["reference_rnic/kdat"]}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
SOURCES = {".cpp", ".hpp", ".h", ".c", ".def"}


def room_of(path, rooms):
    return max((room for room in rooms if path == room or path.startswith(room + "/")), key=len, default=None)


def may_include(source, target):
    return target in (source, "base") or any(target == room or target.startswith(room + "/") for room in ALLOWED[source])


def faults(root):
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root).as_posix()
        if path.suffix not in SOURCES or relative.startswith(("build/", "out/", "out.")):
            continue
        source = room_of(relative, ALLOWED)
        if source is None:
            yield f"{relative}: is in no component; give its folder a row here and in docs/architecture.md"
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            if source in COMPILED_ELSEWHERE and any((root / folder / found[1]).exists() for folder in (source, *COMPILED_ELSEWHERE[source])):
                continue
            if "/" not in found[1] or not ((root / found[1]).exists() or found[1].startswith(GENERATED)):
                yield f'{relative}:{number}: "{found[1]}" is not a path from the top folder'
                continue
            target = room_of(found[1], ALLOWED)
            if target and not may_include(source, target):
                yield f"{relative}:{number}: {source} may not include {target} (docs/architecture.md)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: tools/check_includes.py .")
    parser.add_argument("root", type=pathlib.Path, nargs="?", default=pathlib.Path(__file__).resolve().parent.parent)
    found = list(faults(parser.parse_args().root.resolve()))
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
