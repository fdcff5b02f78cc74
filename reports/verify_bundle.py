#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Checks a signed bundle: that its manifest was signed with the organiser's key, and that every file is as it was."""

import pathlib
import sys

sys.dont_write_bytecode = True
from rnic_reports import command, signing  # noqa: E402

NAME = "rnic-plugfest verify"


def main(argv=None):
    parser = command.Parser(prog=NAME, description=__doc__,
                            epilog="example: rnic-plugfest verify acme --public organiser.pem; exit: 0 it is as it was, 1 it is not, 2 usage, 3 not told")
    parser.add_argument("folder", metavar="BUNDLE", type=pathlib.Path, help="the folder that the organiser gave")
    parser.add_argument("--public", metavar="PEM", required=True, type=pathlib.Path, help="the organiser's public key")
    options = parser.parse_args(argv)
    try:
        if not options.folder.is_dir():
            raise signing.Refused(f"{options.folder}: there is no such folder; name the one that the organiser gave")
        signing.check_public(options.public)
    except signing.Unable as fault:
        command.tell(NAME, fault)
        return 3
    except signing.Refused as fault:
        command.tell(NAME, f"{fault}; see --help")
        return 2
    try:
        count = signing.verify(options.folder, options.public)
    except (signing.Refused, OSError, UnicodeDecodeError) as fault:
        command.tell(NAME, fault)
        return 1
    print(f"{options.folder}: {count} files are as they were signed")
    return 0


if __name__ == "__main__":
    sys.exit(command.ended(NAME, main))
