#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""An agent that connects to the tester over TLS, and peers that are not what they should be: tls_test.py RNIC_AGENT RNIC_AWAIT_AGENT."""
import contextlib
import os
import pathlib
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

from certificates import Certificates, free_port

AGENT, AWAIT = sys.argv[1:3]
PATIENCE = 60  # seconds, for what is certain to come
RESET = '{"number":1,"type":"reset"}\n'


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.known = Certificates(cls.folder)
        cls.known.sign("tester")
        cls.known.sign("dut")
        cls.known.sign("other")
        cls.known.sign_expired("dut", "expired")
        cls.strangers = Certificates(cls.folder, "strangers")
        cls.strangers.sign("dut", "stranger")

    def setUp(self):
        self.port = free_port()

    # ---------------------------------------------------------------- both ends

    def agent(self, own="dut", peer="tester", *more):
        process = subprocess.Popen(
            [AGENT, "--driver", "reference", "--address", "127.0.0.1", "--connect", f"localhost:{self.port}",
             *self.known.options(own, peer), *more], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait, PATIENCE)
        self.addCleanup(process.kill)
        self.addCleanup(process.stderr.close)
        return process

    def awaiting(self, own="tester", peer="dut", wait=PATIENCE, listen=None):
        process = subprocess.Popen(
            [AWAIT, "--listen", listen or str(self.port), *self.known.options(own, peer), "--wait", str(wait)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for stream in (process.stdin, process.stdout, process.stderr):
            self.addCleanup(stream.close)
        self.addCleanup(process.wait, PATIENCE)
        self.addCleanup(process.kill)
        return process

    def reach(self):
        """A TCP connection to whoever awaits an agent."""
        while True:
            with contextlib.suppress(ConnectionRefusedError):
                one = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
                self.addCleanup(one.close)
                return one

    def reach_as(self, own):
        """The same with a certificate of ours, whatever the other end thinks of it."""
        context = ssl.create_default_context(cafile=self.folder / "ca.pem")
        if own:
            context.load_cert_chain(self.folder / f"{own}.pem", self.folder / f"{own}.key")
        one = context.wrap_socket(self.reach(), server_hostname="tester")
        self.addCleanup(one.close)
        return one

    def assert_serves(self, awaiting):
        self.assertIn('"type":"hello"', awaiting.stdout.readline())
        awaiting.stdin.write(RESET)
        awaiting.stdin.flush()
        self.assertIn('"type":"reply"', awaiting.stdout.readline())

    def assert_one_line(self, process, status, *texts):
        self.assertEqual(process.wait(PATIENCE), status)
        # An agent may have called before somebody listened.
        said = [line for line in process.stderr.read().splitlines() if "Connection refused" not in line]
        self.assertEqual(len(said), 1, said)
        for text in texts:
            self.assertIn(text, said[0])

    def assert_refuses(self, awaiting, text):
        """It says why, and goes on waiting."""
        self.assertIn("a connection is refused: ", said := awaiting.stderr.readline())
        self.assertIn(text, said)
        self.assertIsNone(awaiting.poll())

    # ---------------------------------------------------------------- what is right

    def test_an_agent_is_served_again_and_again(self):
        self.agent()
        for _ in range(2):
            one = self.awaiting()
            self.assert_serves(one)
            one.stdin.close()
            self.assertEqual(one.wait(PATIENCE), 0)
            self.assertEqual(one.stderr.read(), "")

    def test_several_at_a_time_at_one_port(self):
        self.agent()
        for one in [self.awaiting() for _ in range(4)]:
            self.assert_serves(one)

    def test_how_an_agent_ends_is_told(self):
        self.agent()
        one = self.awaiting()
        one.stdout.readline()
        with contextlib.suppress(BrokenPipeError):
            one.stdin.write("nonsense\n" + RESET * 10000)  # what comes after it is lost, but not the agent's last words
            one.stdin.flush()
        self.assertEqual(one.wait(PATIENCE), 1)
        self.assertIn("not a command", one.stderr.read())

    def test_a_crash_is_told_as_a_shell_does(self):
        caller = self.agent()
        one = self.awaiting()
        self.assert_serves(one)
        session, = children(caller.pid)
        agent, = children(session)
        os.kill(agent, signal.SIGSEGV)
        self.assertEqual(one.wait(PATIENCE), 128 + signal.SIGSEGV)

    def test_much_goes_both_ways(self):
        self.agent()
        one = self.awaiting()
        one.stdout.readline()
        size = 1 << 20
        one.stdin.write('{"number":1,"type":"reset"}\n{"number":2,"type":"register_memory","region":1,"domain":0,"length":%d,'
                        '"access":["local_write"],"zero_based":false,"fill":0}\n' % size)
        one.stdin.write('{"number":3,"type":"write_memory","region":1,"offset":0,"octets":"%s"}\n' % ("5a" * size))
        one.stdin.write('{"number":4,"type":"read_memory","region":1,"offset":0,"length":%d}\n' % size)
        one.stdin.flush()
        replies = [one.stdout.readline() for _ in range(4)]
        self.assertGreater(replies[3].count("5a"), size - 1, replies[:3])

    def test_nothing_listens_longer_than_needed(self):
        self.agent()
        one = self.awaiting()
        self.assert_serves(one)
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def test_it_listens_at_loopback_alone(self):
        self.awaiting()
        self.reach()
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", self.port), PATIENCE)

    # ---------------------------------------------------------------- certificates that are wrong

    def test_faults_of_ones_own_files_are_found_before_anything_else(self):
        shutil.copy(self.folder / "dut.key", self.folder / "open.key")
        shutil.copy(self.folder / "dut.pem", self.folder / "open.pem")
        (self.folder / "open.key").chmod(0o644)
        shutil.copy(self.folder / "dut.pem", self.folder / "mixed.pem")
        shutil.copy(self.folder / "other.key", self.folder / "mixed.key")
        for own, text in (("expired", "certificate has expired"), ("absent", "No such file"), ("open", "chmod 600"),
                          ("stranger", "unable to get local issuer"), ("mixed", "is not the key of")):
            with self.subTest(own):
                self.assert_one_line(self.awaiting(own), 255, text)
                self.assert_one_line(self.agent(own), 3, text)

    def test_an_agent_with_another_name(self):
        one = self.awaiting(peer="other")
        caller = self.agent()
        self.assert_refuses(one, "is not for the name 'other'")
        self.assert_one_line(caller, 3, "the other end refuses: bad certificate")

    def test_a_tester_with_another_name(self):
        self.awaiting()
        self.assert_one_line(self.agent("dut", "another"), 3, "is not for the name 'another'")

    def test_an_agent_whose_certificate_is_wrong(self):
        for own, text in (("expired", "certificate has expired"), ("stranger", "unable to get local issuer certificate"),
                          (None, "peer did not return a certificate")):
            with self.subTest(own):
                one = self.awaiting()
                with self.assertRaises((ssl.SSLError, ConnectionError)):
                    self.reach_as(own).recv(1)
                self.assert_refuses(one, text)
                one.kill()
                one.wait(PATIENCE)

    def test_an_older_version_of_tls(self):
        one = self.awaiting()
        context = ssl.create_default_context(cafile=self.folder / "ca.pem")
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            context.wrap_socket(self.reach(), server_hostname="tester")
        self.assert_refuses(one, "unsupported protocol")

    # ---------------------------------------------------------------- peers that misbehave

    def test_strangers_do_not_keep_the_agent_out(self):
        one = self.awaiting()
        for _ in range(10):
            self.reach()  # and says nothing
        garbage = self.reach()
        with contextlib.suppress(ConnectionError):
            garbage.sendall(os.urandom(1 << 20))
        self.agent()
        self.assert_serves(one)

    def test_a_stranger_that_stalls_is_not_waited_for(self):
        one = self.awaiting(wait=1)
        self.reach()
        self.assert_one_line(one, 255, "no agent 'dut' has connected", "within 1 s")

    def test_frames_that_are_none(self):
        for octets, text in ((b"o\xff\xff\xff\xff", "a frame of 4294967295 octets"),
                             (b"s\0\0\0\0", "does not speak as rnic-agent does"),
                             (b"x\0\0\0\x03999", "does not speak as rnic-agent does"),
                             (b"o\0\0", "the connection to the agent was lost")):
            with self.subTest(octets):
                one = self.awaiting()
                peer = self.reach_as("dut")
                self.assertEqual(peer.recv(100), b"s\0\0\0\x011")
                peer.sendall(octets)
                peer.close()
                self.assert_one_line(one, 255, text)

    def test_an_agent_that_dies(self):
        caller = self.agent()
        one = self.awaiting()
        self.assert_serves(one)
        caller.kill()
        self.assert_one_line(one, 255, "the connection to the agent was lost")

    def test_a_tester_that_dies_leaves_no_agent(self):
        caller = self.agent()
        one = self.awaiting()
        self.assert_serves(one)
        session, = children(caller.pid)
        ended = os.pidfd_open(session)
        self.addCleanup(os.close, ended)
        one.kill()
        self.assertTrue(select.select([ended], [], [], PATIENCE)[0])
        self.assert_serves(self.awaiting())  # the next one has an agent of its own

    def test_wrong_usage_is_one_line(self):
        own = self.known.options("tester", "dut")
        agent = [AGENT, "--driver", "reference"]
        for words, text in (([AWAIT, "--listen", "x", *own], "is not [ADDRESS:]PORT"),
                            ([AWAIT, "--listen", "1", *self.known.options("tester", "a b")], "is no DNS name"),
                            ([AWAIT, *own], "--listen"),
                            ([*agent, "--connect", "tester:1"], "--peer is missing"),
                            ([*agent, "--ca", "x"], "--ca goes with --connect"),
                            ([*agent, "--connect", "1", *own], "is not HOST:PORT")):
            with self.subTest(text):
                ran = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
                self.assertEqual((ran.returncode, ran.stderr.count("\n")), (2, 1))
                self.assertIn(text, ran.stderr)


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
