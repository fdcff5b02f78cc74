# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""tools/build.sh where its output is no terminal, with a stand-in for cmake: it shows that it is alive, and what went wrong."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(__file__).resolve().parents[1] / "build.sh"
# A build goes on until somebody writes `end` into the pipe: its exit code.
CMAKE = """#!/bin/sh
case "$1" in
  --preset) echo "configured $*" >>../configured; mkdir -p build/dev; touch build/dev/CMakeCache.txt ;;
  --build) echo "[1/2] Building one.o"; read -r code <../end; echo "error: said at last"; exit "$code" ;;
esac
"""
# Half a minute passes at once, and the line is still only written if the build lives.
TIMEOUT = """#!/bin/sh
shift
exec %s 0.2 "$@"
"""


class Build(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "tree" / "tools").mkdir(parents=True)
        shutil.copy(BUILD, self.folder / "tree" / "tools")
        (self.folder / "bin").mkdir()
        for name, text in (("cmake", CMAKE), ("timeout", TIMEOUT % shutil.which("timeout"))):
            (self.folder / "bin" / name).write_text(text, encoding="utf-8")
            (self.folder / "bin" / name).chmod(0o755)
        os.mkfifo(self.folder / "end")

    def start(self):
        process = subprocess.Popen([self.folder / "tree" / "tools" / "build.sh", "dev", "one"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}, start_new_session=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def end(self, code):
        (self.folder / "end").write_text(f"{code}\n", encoding="utf-8")

    def test_it_shows_where_it_is_until_it_ends(self):
        process = self.start()
        for _ in range(2):
            self.assertEqual(process.stderr.readline(), "build.sh: [1/2] Building one.o\n")
        self.end(0)
        out, rest = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (0, ""))
        self.assertLessEqual(set(rest.splitlines()), {"build.sh: [1/2] Building one.o", "build.sh: error: said at last"})

    def test_of_a_build_that_fails_the_last_lines_are_shown(self):
        process = self.start()
        process.stderr.readline()
        self.end(1)
        _, rest = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(rest.splitlines()[-2:], ["error: said at last", "build.sh: the build failed; the whole log is build/dev/build.log"])

    def test_a_build_that_is_ended_leaves_no_process(self):
        process = self.start()
        process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        with self.assertRaises(ProcessLookupError):  # of its session
            os.killpg(process.pid, signal.SIGKILL)

    def test_it_configures_once_and_anew_when_packages_were_installed(self):
        installed = pathlib.Path("/var/lib/dpkg/status").stat().st_mtime
        cache = self.folder / "tree" / "build" / "dev" / "CMakeCache.txt"
        for age, times in ((None, 1), (1, 1), (-1, 2), (1, 2)):
            if age:
                os.utime(cache, (installed + age, installed + age))
            process = self.start()
            self.end(0)
            process.communicate(timeout=60)
            self.assertEqual(len((self.folder / "configured").read_text(encoding="utf-8").splitlines()), times, age)


if __name__ == "__main__":
    unittest.main()
