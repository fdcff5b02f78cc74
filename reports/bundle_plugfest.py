#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Makes of the results of a plugfest what one vendor may see: its own cells, the other participants under their aliases, without their logs
and hardware addresses; with a matrix of its own and a page to sign. With --key the manifest of its files is signed."""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
try:
    import render_plugfest
    from rnic_reports import bundle, command, plugfest, signing
except ImportError as error:
    print(f"bundle_plugfest.py: {error}; install python3-jinja2", file=sys.stderr)
    sys.exit(3)

NAME = "rnic-plugfest bundle"
EXAMPLES = """examples:
  rnic-plugfest bundle fest --vendor 'Acme Networks' --to acme
  openssl genpkey -algorithm ed25519 -out organiser.key
  openssl pkey -in organiser.key -pubout -out organiser.pem        to be given to all vendors
  rnic-plugfest bundle fest --vendor 'Acme Networks' --to acme --key organiser.key
  rnic-plugfest verify acme --public organiser.pem

exit: 0 written, 2 usage, 3 not"""


def main(argv=None):
    parser = argparse.ArgumentParser(prog=NAME, description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="OUT_DIR", type=pathlib.Path, help="the --out folder of rnic-plugfest run")
    parser.add_argument("--vendor", required=True, help="as the event file has it")
    parser.add_argument("--to", required=True, type=pathlib.Path, help="the folder to make")
    parser.add_argument("--key", metavar="PEM", type=pathlib.Path, help="the organiser's private Ed25519 key, to sign with")
    options = parser.parse_args(argv)
    try:
        signer = signing.public_key(options.key) if options.key else ""  # before anything is written
        count = bundle.make(options.folder, options.vendor, options.to)
        if render_plugfest.main([str(options.to)]) != 0:
            return 3
        (options.to / "sign-off.html").write_text(bundle.sign_off(options.to, options.vendor, signer), encoding="utf-8")
        signing.write_manifest(options.to)
        if options.key:
            signing.sign(options.to, options.key)
    except (bundle.Refused, signing.Refused, plugfest.Unreadable) as fault:
        command.tell(NAME, fault)
        return 3
    except OSError as error:
        command.tell(NAME, f"{error.filename or options.to}: {error.strerror}")
        return 3
    print(f"{count} cells for {options.vendor}: {options.to / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(command.ended(NAME, main))
