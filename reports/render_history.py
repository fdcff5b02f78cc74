#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Makes a page of several runs: the trend, what changed from run to run, unstable cases, and any two runs side by side."""

import pathlib
import sys

sys.dont_write_bytecode = True
try:
    from rnic_reports import command, files, history, history_page
except ImportError as error:
    print(f"rnic-suite history: {error}; install python3-jinja2", file=sys.stderr)
    sys.exit(3)


def main(argv=None):
    parser = command.Parser(
        prog="rnic-suite history", description=__doc__,
        epilog="example: rnic-suite history out out.2 out.3 --html history.html; exit: 0 written, 2 usage, 3 unreadable or not written")
    parser.add_argument("folders", metavar="OUT_DIR", nargs="+", type=pathlib.Path, help="the folder of a run; in any order")
    parser.add_argument("--html", metavar="FILE", type=pathlib.Path, default=pathlib.Path("history.html"), help="default: history.html")
    arguments = parser.parse_args(argv)

    def render():
        runs = sorted((history.read(folder) for folder in arguments.folders), key=lambda run: run.start)
        files.write(arguments.html, history_page.render(runs, arguments.html))

    return command.perform(parser.prog, render)


if __name__ == "__main__":
    sys.exit(main())
