#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A run whose frames carry a VLAN tag where they are captured, as at the mirrored trunk port of a switch, with frames of the usual size and with jumbo
frames: vlan_test.py RNIC_SUITE RNIC_AGENT. Two access ports, of the tester and of the IUT, are joined by a trunk; a relay here is both switches."""

import json
import os
import pathlib
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

PROGRAM, AGENT = sys.argv[1:3]
TAG = struct.pack(">HH", 0x8100, 7)
LONGEST, OUTGOING = 10_000, 4
PCAP_HEADER, RECORD_HEADER = 24, struct.Struct("<IIII")


def call(*words):
    subprocess.run(words, check=True, capture_output=True, text=True)


def make_network():
    call("mount", "-t", "tmpfs", "tmpfs", "/run")
    call("ip", "netns", "add", "iut")
    call("ip", "link", "add", "tester0", "type", "veth", "peer", "name", "access1")
    call("ip", "link", "add", "trunk1", "type", "veth", "peer", "name", "trunk2")
    call("ip", "link", "add", "access2", "type", "veth", "peer", "name", "iut0", "netns", "iut")
    inside = ("ip", "netns", "exec", "iut")
    for number, (where, name) in enumerate((((), "tester0"), (inside, "iut0")), 1):
        call(*where, "ip", "address", "add", f"10.9.7.{number}/24", "dev", name)
        call(*where, "ip", "address", "add", f"fd09:7::{number}/64", "dev", name, "nodad")
        # The relay moves frames as they are, so the checksums have to be in them.
        call(*where, "ethtool", "-K", name, "tso", "off", "gso", "off", "gro", "off", "tx", "off")
        call(*where, "ip", "link", "set", "lo", "up")
        call(*where, "ip", "link", "set", name, "up")
    for name in ("access1", "trunk1", "trunk2", "access2"):
        # Nobody but the relay takes part in what passes there.
        pathlib.Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1", encoding="ascii")
        call("ip", "link", "set", name, "up")


def set_mtu(mtu):
    for name in ("tester0", "access1", "trunk1", "trunk2", "access2"):
        call("ip", "link", "set", name, "mtu", str(mtu))
    call("ip", "netns", "exec", "iut", "ip", "link", "set", "iut0", "mtu", str(mtu))


class Relay(threading.Thread):
    """access1 <-> trunk1 and trunk2 <-> access2: what enters the trunk gets the tag. The kernel takes it off what is received from there."""

    def __init__(self):
        super().__init__(daemon=True)
        ports = {}
        for name in ("access1", "trunk1", "trunk2", "access2"):
            ports[name] = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            ports[name].bind((name, 0))
            ports[name].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.ways = {ports["access1"]: (ports["trunk1"], TAG), ports["trunk1"]: (ports["access1"], b""),
                     ports["trunk2"]: (ports["access2"], b""), ports["access2"]: (ports["trunk2"], TAG)}

    def run(self):
        while True:
            for port in select.select(list(self.ways), [], [])[0]:
                frame, (_, _, kind, *_) = port.recvfrom(LONGEST)
                if kind != OUTGOING:
                    to, tag = self.ways[port]
                    to.send(frame[:12] + tag + frame[12:])


def frames_of(pcap):
    octets, at = pcap.read_bytes(), PCAP_HEADER
    while at < len(octets):
        _, _, kept, _ = RECORD_HEADER.unpack_from(octets, at)
        at += RECORD_HEADER.size
        yield octets[at:at + kept]
        at += kept


class Vlan(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.out = pathlib.Path(scratch.name) / "out"

    def call_suite(self, *words):
        iut = f"agent:ip netns exec iut {AGENT} --driver reference --address 10.9.7.2 --address fd09:7::2"
        return subprocess.run([PROGRAM, words[0], "--iut", iut, "--address", "10.9.7.2", "--address", "fd09:7::2", "--capture-interface", "trunk1",
                               *words[1:]], capture_output=True, text=True, timeout=250, check=False)

    def run_at(self, mtu):
        """The longest frame of the run."""
        set_mtu(mtu)
        said = self.call_suite("doctor").stdout
        # A firewall's rules cannot be read by everyone.
        self.assertEqual([line for line in said.splitlines() if line.startswith(("FAIL", "warn")) and line.split()[1] != "firewall"], [], said)
        self.assertIn(f"tester0 has MTU {mtu}", said)
        ran = self.call_suite("run", "--select", "mpa.crc.*", "--select", "rdmap.transfer_integrity.*", "--out", self.out)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        results = json.loads((self.out / "results.json").read_text(encoding="utf-8"))
        self.assertGreater(len(results["cases"]), 10)
        self.assertEqual({case["verdict"] for case in results["cases"]} - {"pass", "not_applicable"}, set())
        capture = results["run"]["capture"]
        self.assertEqual((capture["mode"], capture["dropped"], capture["closing_seen"]), ("live", 0, True))
        judged = [case for case in results["cases"] if case["judged_in_frames"]]
        self.assertGreater(len(judged), 10)
        frames = [frame for case in judged for frame in frames_of(self.out / case["pcap"]["file"])]
        self.assertTrue(frames)
        self.assertEqual({frame[12:16] for frame in frames}, {TAG})
        return max(map(len, frames))

    def test_frames_of_the_usual_size(self):
        self.assertEqual(self.run_at(1500), 1500 + 14 + len(TAG))

    def test_jumbo_frames(self):
        self.assertEqual(self.run_at(9000), 9000 + 14 + len(TAG))


if __name__ == "__main__":
    if "RNIC_IN_NAMESPACES" not in os.environ:
        os.environ["RNIC_IN_NAMESPACES"] = "yes"
        os.execvp("unshare", ["unshare", "--user", "--map-root-user", "--net", "--mount", sys.executable, *sys.argv])
    make_network()
    Relay().start()
    unittest.main(argv=sys.argv[:1])
