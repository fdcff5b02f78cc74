#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Makes a page of two plugfests, or of two runs of one: what is fixed, what fails newly, who got better."""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
try:
    from rnic_reports import command, files, plugfest, two_events
except ImportError as error:
    print(f"rnic-plugfest compare: {error}; install python3-jinja2", file=sys.stderr)
    sys.exit(3)


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="rnic-plugfest compare", description=__doc__,
        epilog="example: rnic-plugfest compare spring autumn --html both.html; exit: 0 nothing got worse, 1 a cell fails that did not, or in another "
               "way, 2 usage, 3 unreadable or not written")
    parser.add_argument("before", metavar="BEFORE", type=pathlib.Path, help="the --out folder of the earlier event")
    parser.add_argument("after", metavar="AFTER", type=pathlib.Path, help="that of the later one")
    parser.add_argument("--html", metavar="FILE", type=pathlib.Path, default=pathlib.Path("comparison.html"), help="default: comparison.html")
    options = parser.parse_args(argv)

    def compare():
        before, after = plugfest.load(options.before), plugfest.load(options.after)
        files.write(options.html, two_events.html(before, after))
        print(options.html)
        return 1 if any(one.kind in ("new", "changed") for one in two_events.changes(before, after)) else 0

    return command.perform(parser.prog, compare)


if __name__ == "__main__":
    sys.exit(command.ended("rnic-plugfest compare", main))
