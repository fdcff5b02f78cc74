#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What becomes of the objects of kdat when its consumer, the device or the module goes, in the siw guest.

    rnic-lab siw-vm --kdat --watch-kernel --program .../rnic-dat-cases --program .../librnic_kdat_shim.so \\
        --program .../rnic-kdat-memory --program .../rnic-agent -- module_exercise.py .../rnic-agent [TEST...]

rnic-lab fails if the guest's kernel complains; on one with checks, lost memory fails the test after which it is found.
"""
import pathlib
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).parents[3] / folder / "tests") for folder in ("lab", "upper_tester")]
import talk  # noqa: E402
from guest import CHANNEL, PROGRAM, in_guest, lost_memory, objects_of, start_in_guest  # noqa: E402

AGENT = sys.argv.pop(1)
SIW, TESTER = "10.77.0.2", "10.77.0.1"

# A case whose last event the shim keeps from it: it has a connection, regions and a posted Read, and waits.
HOLDING = ("/bin/env", "LD_PRELOAD=/bin/librnic_kdat_shim.so", "RNIC_DAT_FAULT=kind=event_drop,nth=4", "/bin/rnic-dat-cases",
           "--run", "kdat.post.read_brings_the_octets", "--ia", "siw0", "--deadline-scale", "1000")


class Kernel(unittest.TestCase):
    maxDiff = None  # all that kmemleak says

    def check_nothing_is_left(self):
        self.assertEqual(objects_of("[kdat]"), [])
        self.assertEqual(lost_memory(), "")
        said, status = in_guest("rmmod rnic_kdat_agent kdat")
        self.assertEqual(status, 0, f"a module is still in use: {said}")
        self.assertEqual(lost_memory(), "", "after the modules were unloaded")
        said, status = in_guest("insmod /lib/siw/more/kdat-*.ko && insmod /lib/siw/more/rnic_kdat_agent-*.ko")
        self.assertEqual(status, 0, said)


class WaitingConsumer(Kernel):
    def setUp(self):
        """A consumer with a connection, memory and work, which stays."""
        self.consumer = subprocess.Popen([PROGRAM, CHANNEL, *HOLDING], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        while "expectation" not in (line := self.consumer.stdout.readline()):
            self.assertTrue(line, "the consumer has ended")

    def end(self):
        self.consumer.kill()
        self.consumer.wait()
        self.consumer.stdout.close()

    def test_the_kernel_knows_its_objects(self):
        kinds = objects_of("[kdat]")
        for kind in ("pd", "cq", "qp", "mr", "cm_id"):
            self.assertIn(kind, kinds)

    def test_a_killed_process_leaves_nothing(self):
        in_guest("killall -9 rnic-dat-cases")
        self.consumer.wait(60)
        self.check_nothing_is_left()

    def test_memory_is_freed_when_nothing_names_it(self):
        said, status = in_guest("rnic-kdat-memory")
        self.assertEqual((said, status), ("", 0))

    def test_the_modules_stay_while_they_are_used(self):
        for module in ("rnic_kdat_agent", "kdat"):
            said, status = in_guest(f"rmmod {module}")
            self.assertNotEqual(status, 0, said)

    def test_the_device_goes(self):
        said, status = in_guest("rdma link del siw0")
        self.assertEqual(status, 0, said)
        self.assertEqual(objects_of("[kdat]"), [])
        said, status = in_guest("rdma link add siw0 type siw netdev eth0")
        self.assertEqual(status, 0, said)
        in_guest("killall -9 rnic-dat-cases")
        self.consumer.wait(60)
        self.check_nothing_is_left()


class ConnectedConsumer(Kernel):
    """One that the reference on the tester's side is the peer of."""

    def setUp(self):
        self.siw = self.start(PROGRAM, CHANNEL, "/bin/rnic-agent", "--driver", "kdat", "--device", "siw0", "--address", SIW)
        self.peer = self.start(AGENT, "--driver", "reference", "--address", TESTER)

    def start(self, *argv):
        agent = talk.Agent(argv)
        self.addCleanup(agent.kill)
        return agent

    def connect(self):
        for agent in (self.siw, self.peer):
            talk.prepare(agent)
        talk.connect(self.siw, self.peer, SIW)

    def go_under_load(self, command):
        self.connect()
        return talk.go_under_load(self.siw, self.peer, lambda: start_in_guest(command, subprocess.PIPE))

    def check_the_device_works_again(self):
        self.check_nothing_is_left()
        self.siw = self.start(PROGRAM, CHANNEL, "/bin/rnic-agent", "--driver", "kdat", "--device", "siw0", "--address", SIW)
        self.connect()
        talk.send(self.peer, self.siw, 1)
        talk.send(self.siw, self.peer, 2)

    def test_the_device_goes_under_load(self):
        said, status = self.go_under_load("rdma link del siw0")
        self.assertEqual(status, 0, said)
        self.siw.kill()
        self.assertEqual(objects_of("[kdat]"), [])
        said, status = in_guest("rdma link add siw0 type siw netdev eth0")
        self.assertEqual(status, 0, said)
        self.check_the_device_works_again()


if __name__ == "__main__":
    unittest.main()
