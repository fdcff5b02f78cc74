#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Makes of the results of a plugfest what one vendor may see: its own cells, the other participants under their aliases, without their logs
and hardware addresses; with a matrix of its own."""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
try:
    import render_plugfest
    from rnic_reports import bundle, plugfest
except ImportError as error:
    print(f"bundle_plugfest.py: {error}; install python3-jinja2", file=sys.stderr)
    sys.exit(3)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="bundle_plugfest.py", description=__doc__,
                                     epilog="example: bundle_plugfest.py --vendor 'Acme Networks' --to acme fest; exit: 0 written, 2 usage, 3 not")
    parser.add_argument("folder", metavar="OUT_DIR", type=pathlib.Path, help="the --out folder of rnic-plugfest run")
    parser.add_argument("--vendor", required=True, help="as the event file has it")
    parser.add_argument("--to", required=True, type=pathlib.Path, help="the folder to make")
    options = parser.parse_args(argv)
    try:
        count = bundle.make(options.folder, options.vendor, options.to)
    except (bundle.Refused, plugfest.Unreadable) as fault:
        print(f"bundle_plugfest.py: {fault}", file=sys.stderr)
        return 3
    except OSError as error:
        print(f"bundle_plugfest.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 3
    print(f"{count} cells for {options.vendor}: {options.to / 'report.html'}")
    return render_plugfest.main([str(options.to)])


if __name__ == "__main__":
    sys.exit(main())
