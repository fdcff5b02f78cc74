#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Shows a plugfest while it is played, on a page that a browser looks at: the matrix, what is played now, what waits, which host is down. It
changes nothing."""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
try:
    from rnic_reports import command, live_server, plugfest
except ImportError as error:
    print(f"rnic-plugfest serve: {error}; install python3-jinja2", file=sys.stderr)
    sys.exit(3)

NAME = "rnic-plugfest serve"
EXAMPLES = """examples:
  rnic-plugfest serve fest                                       http://localhost:8088, for this host only
  rnic-plugfest serve fest --listen 0.0.0.0:8088 --tokens tokens.json
                                                                 for the room; tokens.json (mode 600) is like
                                                                 {"organiser": "TOKEN", "vendors": {"Acme Networks": "TOKEN"}}
  a vendor opens http://HOST:8088/?token=TOKEN and sees its own cells, the others under their aliases

HTTP is not encrypted: in a network that you do not trust, put a proxy with TLS before it.
exit: 0 ended by Ctrl-C, 2 usage, 3 the folder or the address cannot be used"""


def main(argv=None):
    parser = argparse.ArgumentParser(prog=NAME, description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="OUT_DIR", type=pathlib.Path, help="the --out folder of rnic-plugfest run")
    parser.add_argument("--listen", metavar="[HOST:]PORT", default="127.0.0.1:8088", help="default: 127.0.0.1:8088")
    parser.add_argument("--tokens", metavar="FILE", type=pathlib.Path, help="who may see what; needed unless only this host is served")
    options = parser.parse_args(argv)
    try:
        where = live_server.address(options.listen)
    except ValueError:
        parser.exit(2, f"rnic-plugfest serve: --listen: {options.listen!r} is no address and port, such as 127.0.0.1:8088\n")
    if not options.tokens and not live_server.is_loopback(where[0]):
        parser.exit(2, "rnic-plugfest serve: --listen: other hosts could read everything; give --tokens, too\n")
    try:
        server = live_server.Server(where, options.folder, live_server.Tokens(options.tokens))
    except plugfest.Unreadable as fault:
        command.tell(NAME, fault)
        return 3
    except OSError as error:
        command.tell(NAME, f"{options.listen}: {error.strerror or error}")
        return 3
    for vendor in sorted(set(server.tokens.vendors.values()) - {""} - {one["vendor"] for one in server.pages.live.event["participants"]}):
        command.tell(NAME, f"{options.tokens}: no participant is of the vendor {vendor!r}, so far")
    host, port = server.server_address[:2]
    command.say(f"http://{f'[{host}]' if ':' in host else host}:{port}/")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    server.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(command.ended(NAME, main))
