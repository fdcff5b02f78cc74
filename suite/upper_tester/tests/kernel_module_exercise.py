#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What becomes of the objects of rnic_kagent when its user, the device or the module goes, in the siw guest.

    rnic-lab siw-vm --kernel-agent --watch-kernel --program .../rnic-agent --program .../rnic-kernel-refusals -- \\
        kernel_module_exercise.py .../rnic-agent [TEST...]

rnic-lab fails if the guest's kernel complains; on one with checks, lost memory fails the test after which it is found.
"""
import pathlib
import subprocess
import sys
import unittest

import talk

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "lab" / "tests"))
from guest import CHANNEL, PROGRAM, in_guest, lost_memory, objects_of, start_in_guest  # noqa: E402

AGENT = sys.argv.pop(1)
SIW, TESTER = "10.77.0.2", "10.77.0.1"
KAGENT = ("--driver", "kverbs", "--device", "siw0", "--address", SIW)


class Module(unittest.TestCase):
    maxDiff = None  # all that kmemleak says

    def setUp(self):
        self.siw = self.start(PROGRAM, CHANNEL, "/bin/rnic-agent", *KAGENT)
        self.peer = self.start(AGENT, "--driver", "reference", "--address", TESTER)

    def start(self, *argv):
        agent = talk.Agent(argv)
        self.addCleanup(agent.kill)
        return agent

    def connect_with_work(self):
        talk.prepare(self.siw)
        talk.prepare(self.peer, receives=30)
        talk.connect(self.siw, self.peer, SIW)
        for work in range(20):
            self.siw.ask("post_receive", endpoint=1, work=100 + work, pieces=[{"region": 1, "offset": 0, "length": 64}])
            self.siw.ask("post_work", endpoint=1, work=work, operation="send",
                         pieces=[{"region": 1, "offset": 0, "length": 16}])

    def check_nothing_is_left(self):
        self.assertEqual(objects_of("rnic_kagent"), [])
        self.assertEqual(lost_memory(), "")
        _, status = in_guest("rmmod rnic_kagent")
        self.assertEqual(status, 0, "the module is still in use")
        self.assertEqual(lost_memory(), "", "after the module was unloaded")
        self.assertEqual(in_guest("insmod /lib/siw/more/rnic_kagent*.ko"), ("", 0))

    def test_the_kernel_knows_its_objects(self):
        self.connect_with_work()
        kinds = objects_of("rnic_kagent")
        for kind in ("pd", "cq", "qp", "mr", "cm_id"):
            self.assertIn(kind, kinds)
        self.assertEqual(self.siw.end(), 0)
        self.check_nothing_is_left()

    def test_reset_leaves_only_the_way_to_register(self):
        self.connect_with_work()
        self.siw.ask("reset")
        self.assertEqual(sorted(objects_of("rnic_kagent")), ["cm_id", "cm_id", "cq", "pd", "qp", "qp"])

    def test_a_killed_process_leaves_nothing(self):
        self.connect_with_work()
        in_guest("killall -9 rnic-agent")
        self.siw.process.wait(60)
        self.check_nothing_is_left()

    def test_the_module_stays_while_it_is_open(self):
        self.connect_with_work()
        said, status = in_guest("rmmod rnic_kagent")
        self.assertNotEqual(status, 0, said)
        talk.send(self.siw, self.peer, 1000)

    def test_what_is_wrong_is_refused(self):
        said, status = in_guest("rnic-kernel-refusals")
        self.assertEqual((said, status), ("", 0))

    def go_under_load(self, command):
        self.connect_with_work()
        return talk.go_under_load(self.siw, self.peer, lambda: start_in_guest(command, subprocess.PIPE))

    def check_the_agent_of_a_removed_device(self):
        self.assertEqual(objects_of("rnic_kagent"), [])
        self.assertEqual(self.siw.wait("reply", command=self.siw.post("register_memory", region=7, length=64))["outcome"],
                         "failed")
        self.siw.ask("reset")
        self.assertEqual(self.siw.end(), 0)

    def check_the_device_works_again(self):
        self.check_nothing_is_left()
        self.siw = self.start(PROGRAM, CHANNEL, "/bin/rnic-agent", *KAGENT)
        self.peer.ask("reset")
        talk.exercise(self.siw, self.peer, SIW)

    def test_the_device_goes_under_load(self):
        said, status = self.go_under_load("rdma link del siw0")
        self.assertEqual(status, 0, said)
        self.check_the_agent_of_a_removed_device()
        said, status = in_guest("rdma link add siw0 type siw netdev eth0")
        self.assertEqual(status, 0, said)
        self.check_the_device_works_again()

    def test_the_driver_is_unloaded_in_use(self):
        """It may refuse that as long as somebody uses it; then nothing has changed. Nothing is being sent: what a driver does with that is its own."""
        self.connect_with_work()
        for work in range(20):
            self.siw.wait("completion", work=work, status="success")
        said, status = in_guest("rmmod siw")
        if status == 0:
            self.siw.wait("asynchronous", kind="device_fatal")
            self.check_the_agent_of_a_removed_device()
            said, status = in_guest("siw-variant tunable")
            self.assertEqual(status, 0, said)
        else:
            talk.send(self.siw, self.peer, 1000)
            self.siw.ask("reset")
            self.assertEqual(self.siw.end(), 0)
        self.check_the_device_works_again()


if __name__ == "__main__":
    unittest.main()
