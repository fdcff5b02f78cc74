#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""check_docs.py finds what is wrong in a page, and nothing in a right one."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKER = pathlib.Path(__file__).resolve().parents[1] / "check_docs.py"

# A program of ours, with one command and one option.
PROGRAM = """#!/bin/sh
case "$*" in
  *--help*) echo "usage: rnic-suite run [--out DIR] [--select GLOB] -v" ;;
  "list --select good."*) exit 0 ;;
  list*) echo "matches no case" >&2; exit 2 ;;
  *) echo "$@" >>ran; [ ! -e fail ] ;;
esac
"""


class Pages(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name) / "tree"
        self.build = pathlib.Path(scratch.name) / "build"
        (self.root / "docs").mkdir(parents=True)
        self.build.mkdir()
        (self.root / "CONTRIBUTING.md").write_text("")
        (self.build / "programs.txt").write_text("rnic-suite\n")
        (self.build / "build.ninja").write_text("build all: phony\n")
        (self.build / "rnic-suite").write_text(PROGRAM)
        (self.build / "rnic-suite").chmod(0o755)

    def check(self, text, *options):
        (self.root / "README.md").write_text(text)
        done = subprocess.run([sys.executable, "-B", CHECKER, self.root, self.build, *options], capture_output=True, text=True, check=False,
                              env={**os.environ, "NO_COLOR": "1"})
        self.assertEqual(done.returncode, 1 if done.stderr else 0, done.stderr)
        return done.stderr

    def block(self, command, tag=""):
        return f"```sh {tag}\n{command}\n```\n"

    def test_what_is_right(self):
        right = self.block("bin/rnic-suite run --out x --select 'good.*' | head  # a comment --with\nX=1 bin/rnic-suite run -v", "hardware")
        self.assertEqual(self.check(right + "See `rnic-suite run --out DIR`, `run --other`, [this](docs)."), "")

    def test_an_option_that_does_not_exist(self):
        for text in (self.block("bin/rnic-suite run --uot x"), self.block("bin/rnic-suite run --uot x", "hardware"),
                     "`rnic-suite run --uot x`", "| a | `bin/rnic-suite run --uot=x` |", self.block("true && ssh a@b rnic-suite run --uot", "long")):
            self.assertIn("README.md:", self.check(text))
            self.assertIn("has no option --uot", self.check(text))

    def test_a_selection_of_nothing(self):
        self.assertIn("matches no case", self.check(self.block("bin/rnic-suite run --select 'bad.*'", "hardware")))

    def test_a_command_outside_of_a_block(self):
        for text in ("    bin/rnic-suite run\n", "```\nbin/rnic-suite run\n```\n"):
            self.assertIn("a block marked `sh`", self.check(text))

    def test_targets_links_tags_and_tools(self):
        self.assertIn("no target none", self.check(self.block("cmake --build build/dev --target none", "hardware")))
        self.assertIn("there is no other.md", self.check("[other](other.md)"))
        self.assertIn("there is no tag 'lnog'", self.check(self.block("true", "lnog")))
        self.assertIn("there is no tools/none.sh", self.check(self.block("tools/none.sh --help", "hardware")))

    def test_blocks_are_run_in_order_but_for_those_that_a_test_cannot_run(self):
        page = (self.block("bin/rnic-suite one\nbin/rnic-suite two") + self.block("bin/rnic-suite never", "hardware")
                + self.block('test "$(cat ran)" = "$(printf "one\\ntwo")"'))
        self.assertEqual(self.check(page, "--run"), "")
        self.assertIn("ends with 1, not 0", self.check(self.block("touch fail; bin/rnic-suite one; true"), "--run"))
        self.assertEqual(self.check("<!-- first: touch fail -->\n<!-- exit: 1 -->\n" + self.block("bin/rnic-suite one"), "--run"), "")
        self.assertIn("ends with 0, not 1", self.check("<!-- exit: 1 -->\n" + self.block("true"), "--run"))


if __name__ == "__main__":
    unittest.main()
