#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The agent's program as a person or a client meets it: options, errors, exit statuses."""
import glob
import subprocess
import sys
import unittest

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

    def test_an_unknown_driver_is_status_3(self):
        self.assert_refused(run("--driver", "soap"), 3, "driver soap is unknown")

    def test_a_configure_script_that_is_not_there(self):
        self.assert_refused(run("--driver", "verbs", "--configure-script", "/nowhere/script"), 3,
                            "cannot run /nowhere/script")

    @unittest.skipIf(glob.glob("/sys/class/infiniband/*"), "this host has an RDMA device")
    def test_no_device_is_said_clearly(self):
        if "left out of this build" in run("--driver", "verbs").stderr:
            self.skipTest("the verbs driver was left out")
        self.assert_refused(run("--driver", "verbs"), 3, "no RDMA device")
        self.assert_refused(run("--driver", "verbs", "--device", "siw9"), 3, "no RDMA device")
        self.assert_refused(run("--driver", "verbs", "--address", "dut"), 3, "no IPv4 or IPv6 literal")


if __name__ == "__main__":
    unittest.main()
