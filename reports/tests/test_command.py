# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A verdict that cannot be written is not told by the exit code either: 1 says that something is worse, or was changed."""

import errno
import pathlib
import subprocess
import sys
import tempfile
import unittest

from rnic_reports import files
from tests import test_signing

REPORTS = pathlib.Path(__file__).resolve().parents[1]
SAMPLES = REPORTS / "tests" / "samples"


def ended(*words, **streams):
    done = subprocess.run([sys.executable, "-B", *map(str, words)], cwd=REPORTS, text=True, timeout=60, check=False, **streams)
    return done.returncode, done.stderr


class Ending(unittest.TestCase):
    setUp, call, make = test_signing.Signing.setUp, test_signing.Signing.call, test_signing.Signing.make

    def commands(self):
        """Each with the code that it ends with where its output is read."""
        self.make("--key", self.key)
        made = self.folder / "made"
        made.mkdir()
        return ((0, ("compare_runs.py", SAMPLES / "clean", SAMPLES / "clean")),
                (0, ("verify_bundle.py", self.bundle, "--public", self.public)),
                (0, ("compare_plugfests.py", self.folder / "fest", self.folder / "fest", "--html", made / "both.html")),
                (0, ("render.py", SAMPLES / "mixed", "--github", "--html", made / "h", "--junit", made / "j", "--markdown", made / "m")))

    def test_a_full_disk_is_no_verdict(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for code, words in self.commands():
                self.assertEqual(ended(*words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)[0], code, words)
                status, said = ended(*words, stdout=full, stderr=subprocess.PIPE)
                self.assertEqual((status, said.splitlines()[-1].partition(": ")[2]), (3, "standard output: No space left on device"), said)
                self.assertNotIn("Traceback", said)
                self.assertEqual(ended(*words, stdout=full, stderr=full)[0], 3, words)

    def test_who_goes_on_does_so_without_a_reader(self):
        """As the server of an event."""
        with open("/dev/full", "w", encoding="utf-8") as full:
            script = "import sys; from rnic_reports import command; command.say('here'); command.tell('a', 'b'); sys.exit(7)"
            self.assertEqual(ended("-c", script, stdout=full, stderr=full)[0], 7)


class Writing(unittest.TestCase):
    def test_a_full_disk_has_a_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "none" / "report.html"
            with self.assertRaises(OSError) as raised:
                files.write(path, "x")
            self.assertEqual((raised.exception.errno, raised.exception.filename), (errno.ENOENT, str(path)))


if __name__ == "__main__":
    unittest.main()
