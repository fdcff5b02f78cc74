#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The stock DAT tools of Debian's dapl2-utils on this provider, over loopback. Their exit codes say nothing: dtest and its kin
return 0 after a failure, so it is their output that is judged."""

import argparse
import shutil
import sys
import tempfile
import time

import private_host

DTEST_PASSED = "DAPL Test Complete. PASSED"
DTESTCM_PASSED = "DAPL Connection Test Complete."
DTESTSRQ_PASSED = "Test Complete"
# What no good run prints.
BAD = ("FAILED", "Error", "ERR:", "failed in file", "fails:", "mismatch", "syntax error", "Segmentation", "Aborted")


def dtest_pair(program, *options, passed=DTEST_PASSED, ready="waiting for client"):
    server = [program, "-P", private_host.IA, "-s", *options]
    client = [program, "-P", private_host.IA, "-h", "127.0.0.1", *options]
    return server, client, ready, passed, passed


def dapltest(*options):
    """The server serves until it is asked to quit, so only the client is judged."""
    server = ["dapltest", "-T", "S", "-D", private_host.IA]
    client = ["dapltest", "-T", options[0], "-s", "127.0.0.1", "-D", private_host.IA, *options[1:]]
    return server, client, "Service Point Ready", None, "End of Work"


def limits(*tests):
    """dapltest's limit tests make as many objects as they are told, alone. Those of service points begin with conn_qual 0, which
    names none."""
    return None, ["dapltest", "-T", "L", "-D", private_host.IA, "-m", "100", *tests], None, None, "Test max size of LMRs"


def functions(feature, *cases):
    """dapltest's undocumented function tests, alone. They say PASS whatever happens; what counts is that nothing 'failed in file'."""
    return None, ["dapltest", "-T", "F", "-D", private_host.IA, "-f", feature, *cases], None, None, "Result: PASS"


# dtestcm's server takes connection events without a look at what they say. If the client has begun to disconnect before the server
# has seen all connections come up, it frees endpoints that are still connected, and waits for ever for ends that were cut off so.
# Only another try distinguishes this from an end that the provider has lost.
TRIES = {"dtestcm": 4}
SECONDS_PER_TRY = {"dtestcm": 20}
# dtest's server sends its address to the client before it makes the service point (dtest.c, connect_ep: send_server_params precedes
# dat_psp_create). A client that is faster than the server is refused, by nobody's fault but the tool's: another pair may meet.
REFUSED_BEFORE_LISTENING = "NON_PEER_REJECTED"
PAIRS = 4

# Left out for faults of the tools themselves: dtest -p compares a return code with a bare DAT_QUEUE_EMPTY, dtestx wants InfiniBand.
RUNS = {
    "dtest": dtest_pair("dtest"),
    "dtest -b": dtest_pair("dtest", "-b", "8192"),
    "dtest -c": dtest_pair("dtest", "-c"),
    "dtest -w": dtest_pair("dtest", "-w"),
    "dtest -W": dtest_pair("dtest", "-W"),
    "dtestcm": dtest_pair("dtestcm", "-w", passed=DTESTCM_PASSED),
    "dtestsrq": dtest_pair("dtestsrq", "-b", "1024", passed=DTESTSRQ_PASSED, ready="server ready"),
    "dapltest T SR": dapltest("T", "-i", "100", "-t", "1", "-w", "1", "client", "SR", "4096", "2", "server", "SR", "4096", "2"),
    "dapltest T RW RR": dapltest("T", "-i", "100", "-t", "1", "-w", "1", "client", "RW", "4096", "1", "server", "RR", "4096", "1",
                                 "client", "SR", "64", "1", "server", "SR", "64", "1"),
    "dapltest T threads": dapltest("T", "-i", "50", "-t", "3", "-w", "4", "-V", "client", "SR", "2048", "1", "server", "SR", "2048",
                                   "1"),
    "dapltest T polling": dapltest("T", "-i", "50", "-t", "1", "-w", "2", "-P", "client", "SR", "256", "1", "server", "SR", "256",
                                   "1"),
    "dapltest P": dapltest("P", "-i", "200", "RW", "4096", "1"),
    "dapltest L": limits("limit_ia", "limit_pz", "limit_cno", "limit_evd", "limit_ep", "limit_lmr", "limit_rpost",
                         "limit_size_lmr"),
    "dapltest Q": dapltest("Q"),
    **{f"dapltest F {feature}": functions(feature) for feature in ("hwconn", "endpoint", "pz", "mem")},
    # Its cases 13 and 15 give an IA handle to calls on other objects, which ends the process inside libdat2.
    "dapltest F queryinfo": functions("queryinfo", *(f"case{i}" for i in (*range(13), 14, 16, 17))),
}


def judge(name, program, finished, expected):
    found = [word for word in BAD if word in program.output]
    faults = []
    if not finished:
        faults.append("did not end in time")
    if expected is not None and expected not in program.output:
        faults.append(f"never said '{expected}'")
    faults += [f"said '{word}'" for word in found]
    if program.child.returncode and program.child.returncode < 0 and finished:
        faults.append(f"died of signal {-program.child.returncode}")
    if faults:
        print(f"{name}: {program.command}: {'; '.join(faults)}\n" + "".join(
            f"    {line}\n" for line in program.output.splitlines()[-25:]))
    return not faults


def run(name, environment, seconds, pairs=PAIRS):
    server_command, client_command, ready, server_passed, client_passed = RUNS[name]
    deadline = time.monotonic() + seconds
    server = client = None
    try:
        if server_command is not None:
            server = private_host.Program(server_command, environment)
            if not server.read_until(ready, deadline):
                print(f"{name}: the server was never ready\n{server.output}")
                return False
        while True:
            client = private_host.Program(client_command, environment)
            finished = client.read_until(None, deadline)
            client.end()
            # dtest says that it waits for clients before it listens for them.
            if "Couldn't connect" not in client.output or time.monotonic() > deadline:
                break
        if name.startswith("dtest") and REFUSED_BEFORE_LISTENING in client.output and pairs > 1:
            server.end()
            return run(name, environment, seconds, pairs - 1)
        good = judge(name, client, finished, client_passed)
        if server_passed is not None:
            finished = server.read_until(None, deadline)
            server.end()
            good = judge(name, server, finished, server_passed) and good
        return good
    finally:
        for program in (server, client):
            if program is not None:
                program.end()


def passes(name, environment, seconds):
    seconds = min(seconds, SECONDS_PER_TRY.get(name, seconds))
    return any(run(name, environment, seconds) for _ in range(TRIES.get(name, 1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: stock_tools_test.py librnic_dat.so --only 'dtest -c'")
    parser.add_argument("library")
    parser.add_argument("--only", choices=RUNS, help="one run instead of all")
    parser.add_argument("--seconds", type=float, default=60, help="for each run")
    arguments = parser.parse_args()
    missing = [tool for tool in ("dtest", "dtestcm", "dtestsrq", "dapltest") if shutil.which(tool) is None]
    if missing:
        sys.exit(f"stock_tools_test.py: no {', '.join(missing)}: install dapl2-utils")
    private_host.enter()
    with tempfile.TemporaryDirectory() as folder:
        environment = private_host.write_dat_conf(folder, arguments.library)
        failed = [name for name in ([arguments.only] if arguments.only else RUNS) if not passes(name, environment, arguments.seconds)]
    print(f"{len(failed)} failed: {', '.join(failed)}" if failed else "all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
