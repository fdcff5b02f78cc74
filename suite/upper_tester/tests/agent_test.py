#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The agent's program as a person or a client meets it: options, errors, exit statuses."""
import glob
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import talk

AGENT = sys.argv.pop(1)


def run(*arguments, said=""):
    return subprocess.run([AGENT, *arguments], input=said, capture_output=True, text=True, timeout=60, check=False)


class Program(unittest.TestCase):
    def test_help_has_examples(self):
        shown = run("--help")
        self.assertEqual(shown.returncode, 0)
        self.assertIn("Examples:", shown.stdout)

    def assert_refused(self, ran, status, text):
        self.assertEqual(ran.returncode, status, ran.stderr)
        self.assertEqual(ran.stdout, "")
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        self.assertIn(text, ran.stderr)

    def test_wrong_usage_is_one_line_and_status_2(self):
        self.assert_refused(run(), 2, "--driver")
        self.assert_refused(run("--driver", "verbs", "extra"), 2, "unexpected argument extra")
        self.assert_refused(run("--driver", "verbs", "--resume", "77"), 2, "own use")

    def test_an_unknown_driver_is_status_2(self):
        self.assert_refused(run("--driver", "soap"), 2, "no driver 'soap'")

    def test_a_configure_script_that_is_not_there(self):
        self.assert_refused(run("--driver", "verbs", "--configure-script", "/nowhere/script"), 3,
                            "cannot run /nowhere/script")

    @unittest.skipIf(glob.glob("/sys/class/infiniband/*"), "this host has an RDMA device")
    def test_no_device_is_said_clearly(self):
        if "left out of this build" in run("--driver", "verbs").stderr:
            self.skipTest("the verbs driver was left out")
        self.assert_refused(run("--driver", "verbs"), 3, "no RDMA device")
        self.assert_refused(run("--driver", "verbs", "--device", "siw9"), 3, "no RDMA device")
        self.assert_refused(run("--driver", "verbs", "--address", "dut"), 2, "no IPv4 or IPv6 literal")

    def test_an_unknown_deviation_is_status_2(self):
        self.assert_refused(run("--driver", "reference", "--deviation", "be_nice"), 2, "no deviation 'be_nice'")

    def test_a_startup_timeout_is_for_the_reference_and_a_number(self):
        self.assert_refused(run("--driver", "verbs", "--startup-timeout", "5"), 2, "goes with --driver reference")
        for value in ("0", "86401", "soon", "5s", ""):
            self.assert_refused(run("--driver", "reference", f"--startup-timeout={value}"), 2, "--startup-timeout")


class Reference(unittest.TestCase):
    """Two agents with the reference driver, over loopback."""

    def setUp(self):
        self.passive, self.active = (talk.Agent([AGENT, "--driver", "reference"]) for _ in range(2))
        for agent in (self.passive, self.active):
            self.addCleanup(agent.kill)

    def tearDown(self):
        self.assertEqual(self.passive.end(), 0)
        self.assertEqual(self.active.end(), 0)

    def test_data_moves_over_ipv4(self):
        talk.exercise(self.passive, self.active, "127.0.0.1")

    def test_data_moves_over_ipv6(self):
        talk.exercise(self.passive, self.active, "::1", "ipv6")

    def test_refusals_are_told(self):
        talk.refuse(self.passive, self.active, "127.0.0.1")

    def test_a_shared_receive_queue(self):
        talk.shared_queue(self.passive, self.active, "127.0.0.1")

    def test_access_and_signals(self):
        talk.access_and_signals(self.passive, self.active, "127.0.0.1")

    def test_disconnecting(self):
        talk.disconnect_behind_work(self.passive, self.active, "127.0.0.1")
        talk.disconnect_abortively(self.passive, self.active, "127.0.0.1")

    def test_private_data(self):
        for size in (0, 1, 255):
            talk.private_data(self.passive, self.active, "127.0.0.1", size)

    def test_a_violation_ends_the_connection(self):
        talk.break_off(self.passive, self.active, "127.0.0.1")


class StartupTimeout(unittest.TestCase):
    def test_it_waits_as_long_for_a_silent_peer_as_it_was_told(self):
        asked = 4  # a second more than it waits by itself
        agent = talk.Agent([AGENT, "--driver", "reference", "--startup-timeout", str(asked)])
        self.addCleanup(agent.kill)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            agent.ask("create_endpoint", endpoint=1)
            begun = time.monotonic()
            agent.ask("connect", endpoint=1, address="127.0.0.1", port=silent.getsockname()[1])
            self.assertEqual(agent.wait("connect_failed", endpoint=1)["reason"], "timeout")
            self.assertGreaterEqual(time.monotonic() - begun, asked - 0.5)
        self.assertEqual(agent.end(), 0)


class Commands(unittest.TestCase):
    def test_commands_from_a_person(self):
        ran = run("--driver", "reference", said='{"number":1,"type":"reset"}\n{"number":2,"type":"fly"}\n')
        self.assertEqual(ran.returncode, 0, ran.stderr)
        lines = ran.stdout.splitlines()
        self.assertEqual(len(lines), 3, lines)
        self.assertIn('"type":"hello"', lines[0])
        self.assertIn('"outcome":"ok"', lines[1])
        self.assertIn('"outcome":"unsupported"', lines[2])

    def test_nonsense_is_status_1_and_one_line(self):
        ran = run("--driver", "reference", said="hello\n")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("rnic-agent: not a command: the line is not JSON", ran.stderr)
        self.assertEqual(ran.stderr.count("\n"), 1)

    def test_a_configure_script_is_run_without_losing_a_word(self):
        with tempfile.TemporaryDirectory() as folder:
            script, seen = pathlib.Path(folder, "configure script"), pathlib.Path(folder, "seen")
            script.write_text("#!/bin/sh\n"
                              'if [ "$1" = capabilities ]; then echo configure.crc; exit 0; fi\n'
                              f'echo "$@" >>{seen}\n'
                              'case "$*" in *markers=on*) echo no markers here; exit 2;; *revision=1*) exit 7;; esac\n',
                              encoding="utf-8")
            script.chmod(0o755)
            agent = talk.Agent([AGENT, "--driver", "reference", "--configure-script", str(script)])
            numbers = [agent.post("configure", crc=True, rtr=["read", "write"]),
                       agent.post("create_domain", domain=1), agent.post("configure", markers=True),
                       agent.post("configure", revision=1), agent.post("reset")]
            replies = [agent.wait("reply", command=number) for number in numbers]
            self.assertEqual([reply["outcome"] for reply in replies], ["ok", "ok", "unsupported", "failed", "ok"])
            self.assertIn("no markers here", replies[2]["error"])
            self.assertEqual(replies[3]["code"], 7)
            self.assertEqual(seen.read_text(encoding="utf-8"),
                             "crc=on rtr=read,write\nmarkers=on\nrevision=1\n")
            self.assertFalse(any(event["type"] == "hello" for event in agent.events))
            self.assertEqual(agent.end(), 0)


if __name__ == "__main__":
    unittest.main()
