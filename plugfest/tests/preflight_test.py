#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The preflight of two hosts (network namespaces, reached by a stand-in for ssh) on one switch, without faults and then with one fault each:
preflight_test.py RNIC_PLUGFEST RNIC_AGENT. Everything happens in namespaces of the test's own."""
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

PROGRAM, AGENT = sys.argv[1:3]
EVENT = """
event: small
capture: switch0
participants:
  - {name: acme, agent: {ssh: {host: a, program: %s}}, driver: reference, address: 10.88.0.1}
  - {name: zeta, agent: {ssh: {host: b, program: %s}}, driver: reference, address: 10.88.0.2}
scenarios: [send.plain]
"""
SSH = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
export FEST_HOST=$2
shift 2
exec ip netns exec "$FEST_HOST" sh -c "$*"
"""
DATE = """#!/bin/sh
[ "$FEST_HOST" = b ] && [ -n "$FEST_LATE" ] && { echo $(($(/bin/date +%s) - 100)).5; exit; }
exec /bin/date "$@"
"""
MAPPER = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mapper:
    mapper.bind(("10.88.0.2", 3935))
    print("up", flush=True)
    while True:
        octets, who = mapper.recvfrom(512)
        mapper.sendto(bytes([octets[0] | 0x30]) + octets[1:48], who)
"""
STRANGER = """#!/bin/sh
echo '{"type":"hello","version":99,"driver":"x","implementation":"x","driver_version":"","firmware":"","kernel":"","capabilities":[],"limits":{}}'
cat >/dev/null
"""


def sh(*lines):
    for line in lines:
        subprocess.run(line.split(), check=True, stdout=subprocess.DEVNULL)


class Preflight(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        for name, text in (("ssh", SSH), ("date", DATE), ("stranger", STRANGER)):
            file = cls.folder / name
            file.write_text(text, encoding="utf-8")
            file.chmod(file.stat().st_mode | stat.S_IXUSR)
        sh("mount -t tmpfs none /run", "ip link set lo up", "ip link add switch0 type bridge stp_state 0 forward_delay 0")
        for name, address in (("a", "10.88.0.1"), ("b", "10.88.0.2")):
            sh(f"ip netns add {name}", f"ip link add to-{name} type veth peer name eth0 netns {name}",
               f"ip link set to-{name} master switch0 up", f"ip -n {name} link set lo up", f"ip -n {name} link set eth0 up",
               f"ip -n {name} addr add {address}/24 dev eth0")
        sh("ip addr add 10.88.0.254/24 dev switch0", "ip link set switch0 up")

    def preflight(self, status, text=None, **environment):
        event = self.folder / "event.yaml"
        event.write_text(text or EVENT % (AGENT, AGENT), encoding="utf-8")
        done = subprocess.run([PROGRAM, "preflight", str(event)], capture_output=True, text=True, timeout=100, check=False,
                              env={**os.environ, **environment, "PATH": f"{self.folder}:{os.environ['PATH']}:/usr/sbin:/sbin"})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def test_all_is_well(self):
        said = self.preflight(0)
        for words in ("speaks version 1, driver reference", "it listens, on port", "connects to this host without asking",
                      "it is reached, and runs", "1500 octets pass to zeta", "1500 octets pass to acme", "10.88.0.2 is at",
                      "it agrees with this host's", "switch0 is captured", "no iwpmd at 10.88.0.1 port 3935"):
            self.assertIn(words, said)
        self.assertNotIn("FAIL", said)

    def test_a_port_mapper_is_found(self):
        with subprocess.Popen(["ip", "netns", "exec", "b", sys.executable, "-c", MAPPER], stdout=subprocess.PIPE, text=True) as mapper:
            self.assertEqual(mapper.stdout.readline(), "up\n")
            try:
                said = self.preflight(0)
            finally:
                mapper.kill()
        self.assertIn("iwpmd answers", said)
        self.assertIn("no iwpmd at 10.88.0.1", said)

    def test_a_smaller_mtu_on_the_way(self):
        sh("ip link set to-b mtu 1200")
        try:
            said = self.preflight(3)
        finally:
            sh("ip link set to-b mtu 1500")
        self.assertIn("MTU of 1500 do not pass to zeta", said)
        self.assertIn("-> give both hosts and every switch between them one MTU", said)

    def test_somebody_else_answers(self):
        sh("ip -n a neigh replace 10.88.0.2 lladdr 02:00:00:00:00:99 dev eth0 nud permanent")
        try:
            said = self.preflight(3)
        finally:
            sh("ip -n a neigh del 10.88.0.2 dev eth0")
        self.assertIn("answers for zeta as 02:00:00:00:00:99", said)

    def test_a_clock_that_is_late(self):
        said = self.preflight(0, FEST_LATE="1")
        self.assertRegex(said, r"it is (99|100)\.\d s behind this host's")
        self.assertIn("-> synchronise it", said)

    def test_agents_that_cannot_play(self):
        said = self.preflight(3, EVENT % (AGENT, self.folder / "stranger"))
        self.assertRegex(said, "FAIL.*agent.*version")
        self.assertIn("FAIL", self.preflight(3, EVENT % (AGENT, "/nowhere/agent")))
        elsewhere = (EVENT % (AGENT, AGENT)).replace("10.88.0.2", "10.88.0.77")  # its host does not have it
        said = self.preflight(3, elsewhere)
        self.assertIn("does not answer a ping", said)
        self.assertIn("-> see that 10.88.0.77 is an address of its RNIC", said)

    def test_a_host_that_is_not_reached(self):
        said = self.preflight(3, (EVENT % (AGENT, AGENT)).replace("host: b", "host: c"))
        self.assertIn("-> make `ssh HOST true` work without a password", said)

    def test_a_lab(self):
        text = "event: e\nparticipants: [{name: a, agent: {reference: }}, {name: b, agent: {reference: }}]\nscenarios: ['*']\n"
        said = self.preflight(0, text)
        self.assertIn("tester0 is captured", said)
        self.assertIn("speaks version 1", said)


if __name__ == "__main__":
    if "FEST_PRIVATE" not in os.environ:
        unshare = ["unshare", "-nm"] if os.geteuid() == 0 else ["unshare", "-Urnm"]
        os.execvpe(unshare[0], [*unshare, sys.executable, *sys.argv], {**os.environ, "FEST_PRIVATE": "1", "LC_ALL": "C"})
    unittest.main(argv=sys.argv[:1], verbosity=2)
