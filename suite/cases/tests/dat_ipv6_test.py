#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The cases of the DAT API that connect, on an IA whose address is of IPv6: each has to pass there as it does over IPv4."""

import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile

IA, ADDRESS = "rnic0", "::1"
CASES = ["dat.psp.*", "dat.rsp.*", "dat.csp.*", "dat.cr.*", "dat.ep_connect.*", "dat.ep_post.*", "dat.ep.query*", "dat.iwarp.*",
         "dat.process.*"]


def enter_private_network():
    """Runs this script again in a namespace whose only interface is lo; ports are free there."""
    if os.environ.get("RNIC_DAT_IPV6_TEST") == "1":
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    os.execvpe("unshare", ["unshare", "-rn", sys.executable, *sys.argv], os.environ | {"RNIC_DAT_IPV6_TEST": "1"})


def last_word(program, case, environment):
    ran = subprocess.run([program, "--run", case, "--ia", IA, "--deadline-scale", "4"], env=environment, text=True,
                         stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    try:
        return json.loads(ran.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"died": ran.stdout + ran.stderr}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", help="the program rnic-dat-cases")
    parser.add_argument("provider", help="the provider's library")
    arguments = parser.parse_args()
    enter_private_network()
    listed = subprocess.run([arguments.cases, "--list"], check=True, capture_output=True, text=True).stdout.splitlines()
    names = [name for name in (line.split()[0] for line in listed) if any(fnmatch.fnmatch(name, glob) for glob in CASES)]
    with tempfile.TemporaryDirectory() as folder:
        conf = pathlib.Path(folder) / "dat.conf"
        conf.write_text("".join(f'{IA} u2.0 {safety} default {arguments.provider} rnic.1.0 "lo {ADDRESS}" ""\n'
                                for safety in ("nonthreadsafe", "threadsafe")))
        environment = os.environ | {"DAT_OVERRIDE": str(conf)}
        with concurrent.futures.ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
            words = list(pool.map(lambda name: last_word(arguments.cases, name, environment), names))
    # What crashes libdat2 is no verdict on the provider, over IPv4 as over IPv6.
    bad = [(name, word) for name, word in zip(names, words)
           if word.get("end", {}).get("verdict") not in ("pass", "not_applicable") and "libdat2" not in json.dumps(word)]
    for name, word in bad:
        print(name, json.dumps(word))
    print(f"{len(names)} cases over {ADDRESS}, {len(bad)} did not pass")
    return 1 if bad or len(names) < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
