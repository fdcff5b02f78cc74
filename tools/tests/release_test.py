# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""tools/check_release.py: each thing that keeps a commit from being tagged is told, and nothing of one that is ready."""

import json
import pathlib
import subprocess
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[1] / "check_release.py"
LISTED = [{"id": "a.b.c", "rules": ["x.y.z", "a.b.r"]}, {"id": "a.b.d", "rules": []}]
LEDGER = {"a.b.c": ["a.b.r", "x.y.z"], "a.b.d": []}


class Release(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name) / "tree"
        (self.root / "suite" / "editions").mkdir(parents=True)
        self.suite = pathlib.Path(scratch.name) / "rnic-suite"
        self.suite.write_text(f"#!/bin/sh\ncat <<'LISTED'\n{json.dumps(LISTED)}\nLISTED\n")
        self.suite.chmod(0o755)
        self.git("init", "-q")
        self.ready()

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=self.root, check=True, capture_output=True)

    def ready(self):
        self.write("CMakeLists.txt", "project(p VERSION 1.2.3 LANGUAGES CXX)\n")
        self.write("CHANGELOG.md", "# Changes\n\n## 1.2.3 (2026-01-31)\n\n- something\n\n## 1.2.2 (2025-01-31)\n\n- more\n")
        self.ledger("2026.1", {})
        self.ledger("2026.10", LEDGER)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "all")

    def write(self, name, text):
        (self.root / name).write_text(text)

    def ledger(self, name, cases):
        self.write(f"suite/editions/{name}.json", json.dumps({"edition": name, "rules": [], "cases": cases}))

    def check(self, version="1.2.3"):
        done = subprocess.run([CHECK, version, "--root", self.root, "--suite", self.suite], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1 if done.stderr else 0, ""))
        return done.stderr

    def told(self, words, count=1, version="1.2.3"):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "changed")
        said = self.check(version)
        self.assertIn(words, said)
        self.assertEqual(said.count("\n"), count, said)
        self.ready()
        self.assertEqual(self.check(), "")

    def test_what_is_ready(self):
        self.assertEqual(self.check(), "")

    def test_the_version_and_the_changelog(self):
        self.write("CMakeLists.txt", "project(p VERSION 1.2.2 LANGUAGES CXX)\n")
        self.told("CMakeLists.txt: its version is 1.2.2, not 1.2.3")
        for heading in ("1.2.3 (not published yet)", "1.2.4 (2026-01-31)", "1.2.3 (2026-02-31)", "1.2.3 (9999-12-31)"):
            self.write("CHANGELOG.md", f"# Changes\n\n## {heading}\n\n- something\n")
            self.told(f"its first heading is '{heading}'")
        self.write("CHANGELOG.md", "# Changes\n\n## 1.2.3 (2026-01-31)\n\n## 1.2.2 (2025-01-31)\n\n- more\n")
        self.told("nothing is said of 1.2.3")

    def test_the_edition(self):
        self.ledger("2026.10", {**LEDGER, "a.b.d": ["a.b.r"]})
        self.told("2026.10.json: 1 cases are not as the suite has them, a.b.d for one")
        self.ledger("2027.1", {"a.b.c": ["a.b.r"]})
        self.git("add", "-A")
        self.assertIn("2027.1.json: 2 cases", self.check())

    def test_the_tree_and_the_tag(self):
        self.write("more", "")
        self.assertIn("the work tree differs", self.check())
        (self.root / "more").unlink()
        self.git("tag", "v1.2.3")
        self.assertIn("there is a tag v1.2.3 already", self.check())

    def test_usage(self):
        for words, code in ((["1.2"], 2), ([], 2), (["--help"], 0), (["1.2.3", "--root", self.root, "--suite", "/no/such"], 3)):
            done = subprocess.run([CHECK, *words], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr.count("Traceback")), (code, 0), done.stderr)


if __name__ == "__main__":
    unittest.main()
