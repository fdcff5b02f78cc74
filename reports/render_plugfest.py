#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Makes the matrix of a plugfest: OUT_DIR/report.html, OUT_DIR/matrix.md, OUT_DIR/matrix.csv, OUT_DIR/junit.xml."""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
try:
    from rnic_reports import catalogue, command, files, plugfest, plugfest_junit
except ImportError as error:
    print(f"render_plugfest.py: {error}; install python3-jinja2", file=sys.stderr)
    sys.exit(3)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="render_plugfest.py", description=__doc__,
                                     epilog="example: render_plugfest.py fest; exit: 0 written, 2 usage, 3 unreadable or not written")
    parser.add_argument("folder", metavar="OUT_DIR", type=pathlib.Path, help="the --out folder of rnic-plugfest run")
    folder = parser.parse_args(argv).folder

    def render():
        matrix = plugfest.load(folder)
        page, rules = folder / "report.html", catalogue.load(catalogue.RULES_FOLDER, "")
        for path, content in ((page, plugfest.html(matrix, folder, page, rules)), (folder / "matrix.md", plugfest.markdown(matrix)),
                              (folder / "matrix.csv", plugfest.table(matrix)), (folder / "junit.xml", plugfest_junit.xml(matrix))):
            files.write(path, content)

    return command.perform(parser.prog, render)


if __name__ == "__main__":
    sys.exit(main())
