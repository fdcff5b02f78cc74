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
needs_kernel_verbs = unittest.skipUnless(DRIVER == "kverbs", "libsiw has no such work request")
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

    def write_to(self, region, offset=0, octets=16):
        """The peer's Write of 0x11 to a region of siw, as the last thing before a Read or the end of the connection."""
        self.peer.ask("post_work", endpoint=1, work=70, operation="write", signaled=False, remote_stag=region["stag"],
                      remote_offset=region["base"] + offset, pieces=[{"region": 1, "offset": 0, "length": octets}])

    def check_refused(self, region):
        """A Write to it ends the connection and changes nothing."""
        before = self.siw.ask("read_memory", region=5, offset=0, length=64)["octets"]
        self.write_to(region)
        for agent in (self.siw, self.peer):
            agent.wait("disconnected", endpoint=1)
        self.assertEqual(self.siw.ask("read_memory", region=5, offset=0, length=64)["octets"], before)

    @needs_kernel_verbs
    def test_local_invalidate_takes_the_stag_from_the_peer(self):
        talk.prepare(self.siw)
        talk.prepare(self.peer)
        region = self.siw.ask("register_memory", region=5, length=64, access=talk.ALL)
        talk.connect(self.siw, self.peer, SIW[0])
        self.write_to(region)
        talk.send(self.peer, self.siw, 71)
        self.assertEqual(self.siw.ask("read_memory", region=5, offset=0, length=16)["octets"], "11" * 16)
        self.siw.ask("post_work", endpoint=1, work=72, operation="local_invalidate", invalidate_stag=region["stag"])
        self.assertEqual(self.siw.wait("completion", endpoint=1, work=72)["status"], "success")
        self.check_refused(region)

    @needs_kernel_verbs
    def test_read_with_invalidate_takes_the_sink_from_the_peer(self):
        talk.prepare(self.siw)
        source = talk.prepare(self.peer)
        sink = self.siw.ask("register_memory", region=5, length=64, access=talk.ALL)
        talk.connect(self.peer, self.siw, TESTER[0])
        self.siw.ask("post_work", endpoint=1, work=73, operation="read_invalidate", remote_stag=source["stag"],
                     remote_offset=source["base"], pieces=[{"region": 5, "offset": 0, "length": 32}])
        self.assertEqual(self.siw.wait("completion", endpoint=1, work=73)["status"], "success")
        self.assertEqual(self.siw.ask("read_memory", region=5, offset=0, length=32)["octets"], "11" * 32)
        self.check_refused(sink)

    @needs_kernel_verbs
    def test_a_registration_begins_where_its_consumer_says(self):
        talk.prepare(self.siw)
        talk.prepare(self.peer)
        places = [{"zero_based": True}, {"base": 0x1234567890123}, {"base": 0x7FFFFFFFF000}]
        regions = [self.siw.ask("register_memory", region=5 + i, length=9000, access=talk.ALL, **place)
                   for i, place in enumerate(places)]
        self.assertEqual([region["base"] for region in regions], [0, 0x1234567890123, 0x7FFFFFFFF000])
        talk.connect(self.siw, self.peer, SIW[0])
        for region in regions:
            self.write_to(region, 4090)
        talk.send(self.peer, self.siw, 74)
        for i in range(len(regions)):
            self.assertEqual(self.siw.ask("read_memory", region=5 + i, offset=4088, length=20)["octets"],
                             "0000" + "11" * 16 + "0000")

    @needs_kernel_verbs
    def test_what_a_fast_registration_cannot_hold_is_refused(self):
        talk.prepare(self.siw)
        most = self.siw.hello["limits"]["max_region"]
        self.siw.ask("register_memory", region=5, length=most, access=talk.ALL)
        for length, why in ((most + 1, "at most"), (0, "at least one octet")):
            reply = self.siw.wait("reply", command=self.siw.post("register_memory", region=6, length=length, access=talk.ALL))
            self.assertEqual(reply["outcome"], "failed")
            self.assertIn(why, reply["error"])

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
