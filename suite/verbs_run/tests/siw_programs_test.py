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
from guest import DEADLINE, guest_listens, start_in_guest, wait_for_listener  # noqa: E402

HOST, GUEST = "10.77.0.1", "10.77.0.2"
PORTS = {"rping": 7174, "rdma_server": 7471, "rstream": 7471, "riostream": 7471}
PERFTEST_PORT = 18515

# What a server and a client say, {} being the server's address. Not ucmatose: its server sends first, and siw as the initiator does not ask for
# the peer-to-peer model (RFC 6581 section 9), without which the responder has to wait (RFC 5044 section 7.1.2).
PAIRS = {
    "rping": ("rping -s -a {} -C 5 -v -V", "rping -c -a {} -C 5 -v -V"),
    "rping, odd size": ("rping -s -a {} -C 5 -S 12345 -V", "rping -c -a {} -C 5 -S 12345 -V"),
    "rdma_client": ("rdma_server", "rdma_client -s {}"),
    "rstream": ("rstream -b {} -S 4096 -C 20 -T v", "rstream -s {} -S 4096 -C 20 -T v"),
    "riostream": ("riostream -b {} -S 4096 -C 20 -T v", "riostream -s {} -S 4096 -C 20 -T v"),
    "ib_write_bw": ("ib_write_bw -R -F -n 50", "ib_write_bw -R -F -n 50 {}"),
    "ib_write_lat": ("ib_write_lat -R -F -n 20", "ib_write_lat -R -F -n 20 {}"),
    "ib_send_bw": ("ib_send_bw -R -F -n 50", "ib_send_bw -R -F -n 50 {}"),
    "ib_send_lat": ("ib_send_lat -R -F -n 20", "ib_send_lat -R -F -n 20 {}"),
    "ib_read_bw": ("ib_read_bw -R -F -n 50", "ib_read_bw -R -F -n 50 {}"),
    "ib_read_lat": ("ib_read_lat -R -F -n 20", "ib_read_lat -R -F -n 20 {}"),
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


def end(process):
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.wait(DEADLINE)


def play(name, serves, calls, address, folder):
    server_words, client_words = PAIRS[name]
    with open(folder / "server.txt", "w+") as server_output, open(folder / "client.txt", "w+") as client_output:
        server = serves.start(server_words.format(address), server_output)
        client = None
        try:
            wait_for_listener(serves.listens, server, PORTS.get(server_words.split()[0], PERFTEST_PORT), DEADLINE)
            client = calls.start(client_words.format(address), client_output)
            codes = client.wait(DEADLINE), server.wait(DEADLINE)
        finally:
            for process in filter(None, (client, server)):
                end(process)
            for output in (server_output, client_output):
                output.seek(0)
            said = f"server:\n{server_output.read()[-2000:]}client:\n{client_output.read()[-2000:]}"
    assert codes == (0, 0), f"the client ends with {codes[0]}, the server with {codes[1]}\n{said}"


def judge(lint, capture):
    """Violations by the guest are siw's, which the suite's expectations list; there must be none of ours."""
    result = subprocess.run([lint, "--json", capture], capture_output=True, text=True)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    ours = [line for line in lines if line["type"] == "violation" and line["from"].rsplit(":", 1)[0] == HOST]
    assert not ours, "\n".join(f"{line['rule']} in frame {line['frame']}: {line['came']}" for line in ours)
    assert any(line["type"] == "connection" for line in lines), f"the capture has no connection\n{result.stdout}{result.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("launcher", help="rnic-run")
    parser.add_argument("lint", help="rnic-lint")
    parser.add_argument("--only", choices=PAIRS, help="one of the pairs")
    arguments = parser.parse_args()
    guest, failed = Guest(), 0
    for name in [arguments.only] if arguments.only else PAIRS:
        for role in ("server", "client"):
            began = time.monotonic()
            with tempfile.TemporaryDirectory() as place:
                folder = pathlib.Path(place)
                capture = folder / "capture.pcapng"
                host = Host([arguments.launcher, "--capture", str(capture), "--interface", interface()])
                try:
                    if role == "server":
                        play(name, host, guest, HOST, folder)
                    else:
                        play(name, guest, host, GUEST, folder)
                    judge(arguments.lint, capture)
                    print(f"{name}, the library as {role}: passed in {time.monotonic() - began:.1f} s", flush=True)
                except (AssertionError, subprocess.TimeoutExpired) as problem:
                    failed += 1
                    print(f"{name}, the library as {role}: {problem}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
