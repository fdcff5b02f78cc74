# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""tools/gate.sh with a stand-in for the suite, and the jobs in docs/ci/ that call it."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

import ci_jobs

ROOT = pathlib.Path(__file__).resolve().parents[2]
GATE = ROOT / "tools" / "gate.sh"
SAMPLES = ROOT / "reports" / "tests" / "samples"
# Stands in for `rnic-suite run`: leaves the results of a sample in the folder of --out.
STAND_IN = """#!/bin/sh
sample=$1 code=$2
shift 2
echo "$@" >"$0.said"
while [ "$1" != --out ]; do shift; done
[ "$sample" = none ] || { mkdir -p "$2" && cp "%s/$sample/results.json" "$2"; }
exit "$code"
"""


class Gate(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.program = self.folder / "suite"
        self.program.write_text(STAND_IN % SAMPLES, encoding="utf-8")
        self.program.chmod(0o755)

    def gate(self, sample, code, *options, out="out", **environment):
        command = [GATE, "--run", f"{self.program} {sample} {code}", "--out", out, *options]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, env={**kept, **environment}, check=False)

    def test_the_exit_code_is_that_of_the_run_and_the_reports_are_there(self):
        for number, code in enumerate((0, 1, 3, 4)):
            out = f"out{number}"
            done = self.gate("mixed", code, "--iut", "siw-vm", "--select", "mpa.*", out=out)
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
            self.assertEqual((self.folder / "suite.said").read_text(encoding="utf-8").split(), ["--fresh", "--out", out, "--iut", "siw-vm", "--select", "mpa.*"])
            self.assertLessEqual({"report.html", "junit.xml", "summary.md", "rnic.sarif"}, {path.name for path in (self.folder / out).iterdir()})

    def test_in_a_github_workflow_it_annotates_and_adds_to_the_summary(self):
        done = self.gate("mixed", 1, "--location", "drivers/x.c", GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(self.folder / "step.md"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(re.findall(r"^::error title=[^,]*,file=drivers/x\.c::", done.stdout, re.MULTILINE)), 5)
        self.assertIn("## RNIC conformance: 6 new failures", (self.folder / "step.md").read_text(encoding="utf-8"))
        sarif = json.loads((self.folder / "out" / "rnic.sarif").read_text(encoding="utf-8"))
        self.assertEqual({result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in sarif["runs"][0]["results"]}, {"drivers/x.c"})

    def test_with_a_baseline_only_what_got_worse_fails(self):
        for sample, baseline, code, words in (("mixed", "mixed", 0, "## no change since the baseline"), ("mixed", "clean", 1, "new failures"),
                                              ("empty", "clean", 3, "**incomplete**")):
            done = self.gate(sample, 1, "--baseline", SAMPLES / baseline, out=f"{sample}-{baseline}")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(words, done.stdout)

    def test_a_run_without_results_is_never_green(self):
        for code in (0, 2, 3):
            done = self.gate("none", code, out=f"out{code}")
            self.assertEqual((done.returncode, "left no results" in done.stderr), (code or 3, True))

    def test_usage(self):
        (self.folder / "used").mkdir()
        (self.folder / "used" / "results.json").write_text("{}", encoding="utf-8")
        for options, words in ((["--out"], "--out needs a value"), (["--out", "used"], "there is something in used already"),
                               (["--baseline", "none"], "there is no none/results.json"), (["--siw-source", "none"], "there is no siw_main.c in none")):
            done = self.gate("mixed", 0, *options)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(words, done.stderr)
        self.assertEqual(subprocess.run([GATE, "--help"], capture_output=True, check=False).returncode, 0)


class Jobs(unittest.TestCase):
    @staticmethod
    def lines():
        """(file, shell line) of each job."""
        return [(file, line) for file, _, _, lines in ci_jobs.jobs() for line in lines]

    def test_each_file_has_a_gate(self):
        self.assertEqual(sorted({name for name, line in self.lines() if "gate.sh" in line}), ["github-driver.yml", "github-siw.yml", "gitlab-ci.yml"])

    def test_each_line_is_shell(self):
        for name, line in self.lines():
            done = subprocess.run(["bash", "-n", "-c", line], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"{name}: {line}")

    def test_the_gates_options_exist(self):
        options = (ROOT / "suite" / "runner" / "options.cpp").read_text(encoding="utf-8")
        known = subprocess.run([GATE, "--help"], capture_output=True, text=True, check=True).stdout
        for name, line in self.lines():
            if "gate.sh" in line or "rnic-suite doctor" in line:
                for option in [word for word in shlex.split(line) if re.fullmatch("--[a-z-]+", word)]:
                    self.assertTrue(f" {option} " in known or f'"{option}"' in options, f"{name}: {option}")


if __name__ == "__main__":
    unittest.main()
