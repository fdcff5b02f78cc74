#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Cells that are captured at several places: captures_test.py RNIC_PLUGFEST RNIC_AGENT. Two hosts, namespaces here, are joined by a switch, and its
ports are captured."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "reports"))
from tests import page  # noqa: E402

PROGRAM, AGENT = sys.argv[1:3]
EVENT = """event: captures
scenarios: [write.sizes]
pairs: [[one, other]]
participants:
  - {{name: one, address: 10.9.0.1, agent: {{argv: [ip, netns, exec, one, {agent}, --driver, reference, --address, 10.9.0.1]}}}}
  - {{name: other, address: 10.9.0.2, agent: {{argv: [ip, netns, exec, other, {agent}, --driver, reference, --address, 10.9.0.2]}}}}
"""
# A host that is this one, and one that is down.
SSH = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
[ "$2" = mirror ] || { echo "ssh: connect to host $2 port 22: No route to host" >&2; exit 255; }
shift 2
exec sh -c "$*"
"""


def call(*words):
    subprocess.run(words, check=True, capture_output=True, text=True)


def make_network():
    call("mount", "-t", "tmpfs", "tmpfs", "/run")
    call("ip", "link", "set", "lo", "up")
    call("ip", "link", "add", "switch", "type", "bridge")
    call("ip", "link", "set", "switch", "up")
    for number, name in enumerate(("one", "other"), 1):
        call("ip", "netns", "add", name)
        call("ip", "link", "add", f"port{number}", "type", "veth", "peer", "name", "eth0", "netns", name)
        call("ip", "link", "set", f"port{number}", "master", "switch", "up")
        for words in (("ip", "address", "add", f"10.9.0.{number}/24", "dev", "eth0"), ("ip", "link", "set", "eth0", "up"),
                      ("ip", "link", "set", "lo", "up"), ("ethtool", "-K", "eth0", "tso", "off", "gso", "off", "gro", "off")):
            call("ip", "netns", "exec", name, *words)
    call("ip", "link", "add", "idle", "type", "veth", "peer", "name", "nobody")
    call("ip", "link", "set", "idle", "up")
    call("ip", "link", "set", "nobody", "up")


class Captures(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        ssh = self.folder / "ssh"
        ssh.write_text(SSH, encoding="utf-8")
        ssh.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{self.folder}:{pathlib.Path(PROGRAM).parent}:{os.environ['PATH']}"}

    def command(self, name, places):
        event = self.folder / "event.yaml"
        event.write_text(EVENT.format(agent=AGENT) + f"capture: {places}\n", encoding="utf-8")
        more = ["--out", self.folder / "out"] if name == "run" else []
        return subprocess.run([PROGRAM, name, event, "--trust-event", *more], capture_output=True, text=True, timeout=120, check=False,
                              env=self.environment)

    def play(self, places):
        """The two cells of a run, and its exit code."""
        ran = self.command("run", places)
        cells = json.loads((self.folder / "out" / "results.json").read_text(encoding="utf-8"))["cells"]
        self.assertEqual(len(cells), 2, ran.stderr)
        return cells, ran

    def test_two_ports_of_a_switch_show_the_same(self):
        cells, ran = self.play("[port1, port2]")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        for cell in cells:
            first, second = cell["captures"]
            self.assertEqual([(one["place"], one["judged"], one["trouble"]) for one in cell["captures"]], [("port1", True, ""), ("port2", False, "")])
            self.assertEqual((cell["pcap"], cell["pcap_sha256"], cell["frames"]), (first["pcap"], first["pcap_sha256"], first["frames"]))
            for one in (first, second):
                self.assertGreater((self.folder / "out" / one["pcap"]).stat().st_size, 1000)
            self.assertNotEqual(first["pcap"], second["pcap"])
        shown = page.Page((self.folder / "out" / "report.html").read_text(encoding="utf-8")).blocks[0]["captures"]
        self.assertEqual([(one["place"], bool(one.get("judged"))) for one in shown], [("port1", True), ("port2", False)])
        self.assertIn(cells[0]["captures"][1]["pcap"].rpartition("/")[2], json.dumps(shown))

    def test_a_place_that_lacks_what_another_shows_is_told(self):
        cells, ran = self.play("[port1, idle]")
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        for cell in cells:
            self.assertEqual(cell["verdict"], "inconclusive")
            self.assertRegex(cell["reason"], r"idle lacks \d+ octets of 10\.9\.0\.[12]:\d+ > 10\.9\.0\.[12]:\d+")

    def test_another_host_captures(self):
        cells, ran = self.play("[{host: mirror, interface: port2}, port1]")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        for cell in cells:
            self.assertEqual([(one["place"], one["judged"], one["trouble"]) for one in cell["captures"]],
                             [("mirror:port2", True, ""), ("port1", False, "")])
            self.assertEqual(*(one["frames"] for one in cell["captures"]))

    def test_the_next_place_is_judged_where_the_first_fails(self):
        cells, ran = self.play("[{host: lost, interface: eth1}, port1]")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        for cell in cells:
            self.assertEqual([one["judged"] for one in cell["captures"]], [False, True])
            self.assertIn("No route to host", cell["captures"][0]["trouble"])

    def test_nothing_is_played_where_no_place_can_be_captured(self):
        cells, _ = self.play("[nothing, {host: mirror, interface: nowhere}]")
        for cell in cells:
            self.assertEqual(cell["verdict"], "error")
            self.assertIn("no capture: cannot capture on nothing", cell["reason"])

    def test_each_place_is_examined_before(self):
        said = self.command("preflight", "[port1, {host: mirror, interface: port2}, {host: mirror, interface: nowhere}]").stdout
        self.assertIn("port1 is captured", said)
        self.assertIn("mirror:port2 is captured", said)
        self.assertRegex(said, r"FAIL +capture +mirror:nowhere: .*nowhere")


if __name__ == "__main__":
    if "RNIC_IN_NAMESPACES" not in os.environ:
        os.environ["RNIC_IN_NAMESPACES"] = "yes"
        os.execvp("unshare", ["unshare", "--user", "--map-root-user", "--net", "--mount", sys.executable, *sys.argv])
    make_network()
    unittest.main(argv=sys.argv[:1])
