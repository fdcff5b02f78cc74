#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Unmodified verbs programs between the verbs library on this host and soft-iWARP in a guest, in both roles. rnic-lab starts this script
beside the guest, which has the programs. Each pair is captured on this host and judged: nothing of what the library sent is a violation."""

import argparse
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "lab" / "tests"))
from guest import CHANNEL, guest_listens, in_guest, start_in_guest, wait_for_listener  # noqa: E402

HOST, GUEST = "10.77.0.1", "10.77.0.2"
PORTS = {"rping": 7174, "rdma_server": 7471, "rdma_xserver": 7471, "rstream": 7471, "riostream": 7471, "cmtime": 7471, "qperf": 19765,
         "rcopy": 7427}
PERFTEST_PORT = 18515
DEADLINE = 30  # seconds for one program, on a machine that does other things
ATTEMPTS = 5
SOURCE, TARGET = "/tmp/rcopy-source", "/tmp/rcopy-target"


class Pair:
    """What a server and a client say, {} being the server's address; `serves_on`: the server does not end by itself; `roles`: of the library;
    `copies`: the client has the file SOURCE, and TARGET is the same with the server afterwards."""

    def __init__(self, server, client, serves_on=False, roles=("server", "client"), copies=False):
        self.server, self.client, self.serves_on, self.roles, self.copies = server, client, serves_on, roles, copies
        self.port = PORTS.get(server.split()[0], PERFTEST_PORT)


def perftest(program, *options, iterations, roles=("server", "client")):
    words = " ".join([program, "-R", "-F", "-n", str(iterations), *options])
    return Pair(words, words + " {}", roles=roles)


# Not ucmatose, nor ib_write_lat with the library as server: there the server sends first, and siw as the initiator does not ask for the peer-to-peer
# model (RFC 6581 section 9), without which the responder has to wait (RFC 5044 section 7.1.2). No Atomics, which siw does not have. `rping -c -q`
# calls rdma_establish, which the kernel refuses for iWARP. Of qperf only what needs a send queue at both ends: siw makes no queue pair without one.
# Not fi_pingpong: libfabric lists siw and its addresses in the guest, but its rdma_getaddrinfo() fails there.
PAIRS = {
    "rping": Pair("rping -s -a {} -C 5 -v -V", "rping -c -a {} -C 5 -v -V"),
    "rping, odd size": Pair("rping -s -a {} -C 5 -S 12345 -V", "rping -c -a {} -C 5 -S 12345 -V"),
    "rping, own queue pair": Pair("rping -s -q -a {} -C 3 -V", "rping -c -q -a {} -C 3 -V", roles=("client",)),
    "cmtime": Pair("cmtime", "cmtime -s {} -c 5", serves_on=True, roles=("server",)),
    "rdma_client": Pair("rdma_server", "rdma_client -s {}"),
    "rdma_xclient": Pair("rdma_xserver", "rdma_xclient -s {}"),
    "rstream": Pair("rstream -b {} -S 4096 -C 20 -T v", "rstream -s {} -S 4096 -C 20 -T v"),
    "riostream": Pair("riostream -b {} -S 4096 -C 20 -T v", "riostream -s {} -S 4096 -C 20 -T v"),
    "ib_write_bw": perftest("ib_write_bw", iterations=50),
    "ib_write_bw, several": perftest("ib_write_bw", "-q", "3", iterations=20),
    "ib_write_bw, large": perftest("ib_write_bw", "-s", "1000001", iterations=5),
    "ib_write_lat": perftest("ib_write_lat", iterations=20, roles=("client",)),
    "ib_send_bw": perftest("ib_send_bw", iterations=50),
    "ib_send_bw, both ways": perftest("ib_send_bw", "-b", iterations=50),
    "ib_send_bw, shared queue": perftest("ib_send_bw", "--use-srq", iterations=50),
    "ib_send_lat": perftest("ib_send_lat", iterations=20),
    "ib_send_lat, events": perftest("ib_send_lat", "-e", iterations=20),
    "ib_read_bw": perftest("ib_read_bw", iterations=50),
    "ib_read_lat": perftest("ib_read_lat", iterations=20),
    "qperf": Pair("qperf", "qperf -cm 1 -t 1 {} rc_lat", serves_on=True),
    "rcopy": Pair("rcopy", f"rcopy {SOURCE} {{}}:{TARGET}", serves_on=True, copies=True),
}


def interface():
    """That on which this host has its address beside the guest."""
    for line in subprocess.run(["ip", "-o", "addr"], check=True, capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        if words[3].split("/")[0] == HOST:
            return words[1]
    raise SystemExit(f"this host has no address {HOST}: rnic-lab siw-vm has to start this script")


class Guest:
    def start(self, words, output):
        return start_in_guest(words, output)

    def listens(self, port):
        return guest_listens(port)

    def shell(self, command):
        said, status = in_guest(command)
        assert status == 0, f"in the guest: {command}: {said}"
        return said


class Host:
    def __init__(self, launcher):
        self.launcher = launcher

    def start(self, words, output):
        return subprocess.Popen([*self.launcher, *words.split()], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)

    def listens(self, port):
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            for line in pathlib.Path(table).read_text().splitlines()[1:]:
                words = line.split()
                if words[3] == "0A" and int(words[1].split(":")[1], 16) == port:
                    return True
        return False

    def shell(self, command):
        return subprocess.run(["/bin/sh", "-c", command], check=True, stdout=subprocess.PIPE, text=True).stdout


def make_source(calls):
    calls.shell(f"head -c 300001 /dev/urandom >{SOURCE}")


def compare_copy(calls, serves):
    source, target = calls.shell(f"sha256sum <{SOURCE}"), serves.shell(f"sha256sum <{TARGET}; rm {TARGET}")
    assert source == target, "the copy differs from its source"


def end(process):
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.wait(DEADLINE)


def status_of(process):
    try:
        return process.wait(DEADLINE)
    except subprocess.TimeoutExpired:
        return f"nothing within {DEADLINE} s"


def play(pair, serves, calls, address, folder):
    with open(folder / "server.txt", "w+") as server_output, open(folder / "client.txt", "w+") as client_output:
        if pair.copies:
            make_source(calls)
        server = serves.start(pair.server.format(address), server_output)
        client = None
        try:
            wait_for_listener(serves.listens, server, pair.port, DEADLINE)
            client = calls.start(pair.client.format(address), client_output)
            codes = status_of(client), 0 if pair.serves_on else status_of(server)
        finally:
            # siw's end first: what it has not noticed of the connection is then gone when ours goes.
            for process in filter(None, (server, client) if isinstance(serves, Guest) else (client, server)):
                end(process)
            for output in (server_output, client_output):
                output.seek(0)
            said = f"server:\n{server_output.read()[-2000:]}client:\n{client_output.read()[-2000:]}"
    assert codes == (0, 0), f"the client ends with {codes[0]}, the server with {codes[1]}\n{said}"
    if pair.copies:
        compare_copy(calls, serves)


def findings(lint, capture):
    result = subprocess.run([lint, "--json", capture], capture_output=True, text=True)
    return [json.loads(line) for line in result.stdout.splitlines()]


def judge(lines):
    """Violations by the guest are siw's, which the suite's expectations list; there must be none of ours."""
    ours = [line for line in lines if line["type"] == "violation" and line["from"].rsplit(":", 1)[0] == HOST]
    assert not ours, "\n".join(f"{line['rule']} in frame {line['frame']}: {line['came']}" for line in ours)
    assert any(line["type"] == "connection" for line in lines), "the capture has no connection"


def lost_by_siw(lines):
    """siw as the responder sets its callback after it has sent its Reply, and does not look whether there is something already: what comes in
    between waits until the peer's next segment, so for ever if the peer waits for an answer. Here the peer is near and the guest is slow."""
    return any(line["type"] == "connection" and line["second"]["address"].startswith(GUEST) and line["first"]["fpdus"] > 0
               and line["second"]["fpdus"] == 0 for line in lines)


def play_and_judge(pair, role, arguments, folder):
    """Whether there is a result: not if siw has lost what it was sent."""
    capture = folder / "capture.pcapng"
    # For the model for which siw itself asks.
    guest, host = Guest(), Host([arguments.launcher, "--no-peer-to-peer", "--capture", str(capture), "--interface", interface()])
    try:
        if role == "server":
            play(pair, host, guest, HOST, folder)
        else:
            play(pair, guest, host, GUEST, folder)
    except (AssertionError, subprocess.TimeoutExpired):
        if lost_by_siw(findings(arguments.lint, capture)):
            return False
        raise
    judge(findings(arguments.lint, capture))
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("launcher", help="rnic-run")
    parser.add_argument("lint", help="rnic-lint")
    parser.add_argument("--only", choices=PAIRS, help="one of the pairs")
    arguments = parser.parse_args()
    failed = 0
    for name in [arguments.only] if arguments.only else PAIRS:
        for role in PAIRS[name].roles:
            began = time.monotonic()
            what = f"{name}, the library as {role}"
            for attempt in range(1, ATTEMPTS + 1):
                with tempfile.TemporaryDirectory() as place:
                    try:
                        if play_and_judge(PAIRS[name], role, arguments, pathlib.Path(place)):
                            print(f"{what}: passed in {time.monotonic() - began:.1f} s", flush=True)
                            break
                        print(f"{what}: siw has lost what came before its callback was set, {attempt} of {ATTEMPTS}", flush=True)
                    except (AssertionError, subprocess.TimeoutExpired) as problem:
                        failed += 1
                        print(f"{what}: {problem}", flush=True)
                        if not pathlib.Path(CHANNEL).exists():
                            sys.exit("the guest has gone; the rest was not played")
                        break
            else:
                failed += 1
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
