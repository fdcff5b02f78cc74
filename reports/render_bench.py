#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Makes a page of the figures of rnic-bench: a plot of each scenario."""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
try:
    from rnic_reports import bench, command, files
except ImportError as error:
    print(f"render_bench.py: {error}; install python3-jinja2", file=sys.stderr)
    sys.exit(3)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="render_bench.py", description=__doc__,
                                     epilog="example: render_bench.py bench.json; exit: 0 written, 2 usage, 3 unreadable or not written")
    parser.add_argument("figures", metavar="FILE", type=pathlib.Path, help="what rnic-bench --json has written")
    parser.add_argument("--html", metavar="FILE", type=pathlib.Path, help="default: beside FILE, with the suffix .html")
    arguments = parser.parse_args(argv)
    path = arguments.html or arguments.figures.with_suffix(".html")
    return command.perform(parser.prog, lambda: files.write(path, bench.render(bench.load(arguments.figures))))


if __name__ == "__main__":
    sys.exit(main())
