#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Makes the conformance statement of a run: one page, by profile (RFC 5044; with 6581; with 7306; DAT 2.0)."""

import pathlib
import sys

sys.dont_write_bytecode = True
try:
    from rnic_reports import catalogue, command, files, load, statement
except ImportError as error:
    print(f"rnic-suite statement: {error}; install python3-jinja2 and python3-yaml", file=sys.stderr)
    sys.exit(3)


def main(argv=None):
    parser = command.Parser(prog="rnic-suite statement", description=__doc__,
                                     epilog="example: rnic-suite statement out; exit: 0 written, 2 usage, 3 unreadable or not written")
    parser.add_argument("folder", metavar="OUT_DIR", type=pathlib.Path, help="the folder of the run")
    parser.add_argument("--html", metavar="FILE", type=pathlib.Path, help="default: OUT_DIR/statement.html")
    arguments = parser.parse_args(argv)
    path = arguments.html or arguments.folder / "statement.html"

    def render():
        report = load.load(arguments.folder)
        rules = catalogue.load(catalogue.RULES_FOLDER, report.run.catalogue)
        files.write(path, statement.render(report, rules, arguments.folder, path))

    return command.perform(parser.prog, render)


if __name__ == "__main__":
    sys.exit(main())
