#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The verbs drivers on the kernel's soft-iWARP in the guest, against the reference driver on this side of the wire.

    rnic-lab siw-vm --variant tunable --program .../rnic-agent -- siw_exercise.py .../rnic-agent verbs [TEST...]
    rnic-lab siw-vm --variant tunable --kernel-agent --program .../rnic-agent -- siw_exercise.py .../rnic-agent kverbs
"""
import os
import sys
import time
import unittest

import talk

AGENT, DRIVER = sys.argv.pop(1), sys.argv.pop(1)
GUEST = [os.environ["RNIC_GUEST_AGENT"], os.environ["RNIC_GUEST_CHANNEL"], "/bin/rnic-agent"]
# A fault of siw's user library, which the kernel's own consumers do not use.
fails_for_user_verbs = unittest.expectedFailure if DRIVER == "verbs" else lambda test: test
SIW, TESTER = ("10.77.0.2", "fd77::2"), ("10.77.0.1", "fd77::1")


class Siw(unittest.TestCase):
    """One agent in the guest serves all tests, as it does in a run of the suite."""

    @classmethod
    def start(cls, *argv):
        agent = talk.Agent(argv)
        cls.addClassCleanup(agent.kill)
        return agent

    @classmethod
    def setUpClass(cls):
        cls.siw = cls.start(*GUEST, "--driver", DRIVER, "--device", "siw0", "--configure-script",
                            "/bin/siw-configure", "--address", SIW[0], "--address", SIW[1])
        cls.peer = cls.start(AGENT, "--driver", "reference", "--address", TESTER[0], "--address", TESTER[1])

    @classmethod
    def tearDownClass(cls):
        for agent in (cls.siw, cls.peer):
            if (status := agent.end()) != 0:
                raise AssertionError(f"an agent ended with status {status}")

    def tearDown(self):
        self.siw.ask("reset")
        self.peer.ask("reset")

    def test_hello(self):
        print(self.siw.hello)
        self.assertEqual(self.siw.hello["driver"], DRIVER)
        self.assertIn("siw0", self.siw.hello["implementation"])

    def test_data_moves_with_siw_as_responder(self):
        talk.exercise(self.siw, self.peer, SIW[0])

    def test_data_moves_with_siw_as_initiator(self):
        talk.exercise(self.peer, self.siw, TESTER[0], invalidate=False)

    @fails_for_user_verbs
    def test_send_with_invalidate_from_siw(self):
        """libsiw fills in the STag from a member that verbs do not use: 0 goes over the wire."""
        talk.exercise(self.peer, self.siw, TESTER[0])

    def test_data_moves_over_ipv6(self):
        talk.exercise(self.siw, self.peer, SIW[1], "ipv6")
        talk.exercise(self.peer, self.siw, TESTER[1], "ipv6", invalidate=False)

    def test_refusals_are_told(self):
        talk.refuse(self.siw, self.peer, SIW[0])

    def test_a_violation_ends_the_connection(self):
        talk.break_off(self.siw, self.peer, SIW[0])
        talk.break_off(self.peer, self.siw, TESTER[0])

    def test_a_shared_receive_queue(self):
        talk.shared_queue(self.siw, self.peer, SIW[0])

    def test_configurations(self):
        for members in ({"revision": 1}, {"revision": 2, "crc": True}, {"crc": False}):
            self.siw.ask("configure", **members)
            talk.exercise(self.peer, self.siw, TESTER[0], invalidate=False)
            talk.exercise(self.siw, self.peer, SIW[0])

    def test_what_siw_cannot_be_told_is_refused(self):
        reply = self.siw.wait("reply", command=self.siw.post("configure", markers=True))
        self.assertNotEqual(reply["outcome"], "ok")
        self.assertIn("markers", reply["error"])

    def test_disconnecting(self):
        for passive, active, address in ((self.siw, self.peer, SIW[0]), (self.peer, self.siw, TESTER[0])):
            talk.disconnect_behind_work(passive, active, address)
            talk.disconnect_abortively(passive, active, address)

    def test_private_data(self):
        for size in (0, 1, 251):
            talk.private_data(self.siw, self.peer, SIW[0], size)
            talk.private_data(self.peer, self.siw, TESTER[0], size)
        talk.prepare(self.siw)
        reply = self.siw.wait("reply", command=self.siw.post("connect", endpoint=1, address=TESTER[0], port=9,
                                                             parameters={"private_data": "00" * 256}))
        self.assertIn("at most 255 octets", reply["error"])

    @unittest.expectedFailure
    def test_private_data_of_252_octets_from_siw(self):
        """siw counts the private data with IRD and ORD in eight bits: PD_Length 0 goes over the wire."""
        deadline, self.peer.deadline = self.peer.deadline, 5
        try:
            talk.private_data(self.peer, self.siw, TESTER[0], 252)
        finally:
            self.peer.deadline = deadline

    @unittest.expectedFailure
    def test_private_data_of_253_octets_to_siw(self):
        """siw takes 256 octets at most, IRD and ORD included, where RFC 5044 allows 512."""
        deadline, self.siw.deadline = self.siw.deadline, 5
        try:
            talk.private_data(self.siw, self.peer, SIW[0], 253)
        finally:
            self.siw.deadline = deadline

    def test_cancelling(self):
        talk.prepare(self.siw)
        number = self.siw.post("connect", endpoint=1, address="10.77.0.99", port=9)  # no host has this address
        self.siw.ask("cancel", command=number)
        self.assertEqual(self.siw.wait("reply", command=number)["outcome"], "cancelled")
        self.siw.ask("connect", endpoint=1, address="10.77.0.99", port=9)
        self.assertEqual(self.siw.wait("connect_failed", endpoint=1)["reason"], "unreachable")

    @unittest.skipIf(DRIVER == "kverbs", "it needs the device's address")
    def test_any_address(self):
        self.assertEqual(self.siw.end(), 0)
        type(self).siw = self.start(*GUEST, "--driver", DRIVER, "--configure-script", "/bin/siw-configure")
        talk.exercise(self.siw, self.peer, SIW[0])
        talk.exercise(self.siw, self.peer, SIW[1], "ipv6")

    def test_speed(self):
        start = time.monotonic()
        for _ in range(100):
            self.siw.ask("reset")
        print(f"{10 * (time.monotonic() - start):.1f} ms per command and reply", end=" ")
        start = time.monotonic()
        for _ in range(10):
            talk.prepare(self.siw)
            talk.prepare(self.peer)
            talk.connect(self.siw, self.peer, SIW[0])
        print(f"{100 * (time.monotonic() - start):.0f} ms per connection", end=" ")

    def test_many_connections_one_after_the_other(self):
        for _ in range(30):
            talk.prepare(self.siw)
            talk.prepare(self.peer)
            talk.connect(self.siw, self.peer, SIW[0])
            talk.send(self.peer, self.siw, 1)
            self.siw.ask("reset")

    def test_reset_in_every_state(self):
        """Listening, connecting, with a request that is not answered, connected with work posted."""
        talk.prepare(self.siw)
        self.siw.ask("listen", listener=1)
        self.siw.ask("reset")
        talk.prepare(self.siw)
        talk.prepare(self.peer)
        port = self.siw.ask("listen", listener=1)["port"]
        self.peer.ask("connect", endpoint=1, address=SIW[0], port=port)
        self.siw.wait("connect_request", listener=1)
        self.siw.ask("reset")
        for agent in (self.siw, self.peer):
            talk.prepare(agent)
        port = self.peer.ask("listen", listener=1)["port"]
        self.siw.ask("connect", endpoint=1, address=TESTER[0], port=port)
        self.siw.ask("reset")
        for agent in (self.siw, self.peer):
            talk.prepare(agent)
        talk.connect(self.siw, self.peer, SIW[0])
        for work in range(10):
            self.siw.ask("post_work", endpoint=1, work=work, operation="send",
                         pieces=[{"region": 1, "offset": 0, "length": 64}])
        self.siw.ask("reset")
        talk.exercise(self.siw, self.peer, SIW[0])


if __name__ == "__main__":
    unittest.main()
