#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Installs a build into a prefix, moves the prefix, hides the sources and the build, and uses what is installed."""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "reports"))
from tests.page import Page  # noqa: E402

PROGRAMS = ("rnic-suite", "rnic-plugfest", "rnic-lint", "rnic-self-test", "rnic-lab", "rnic-await-agent", "rnic-agent")


class Installed(unittest.TestCase):
    source: pathlib.Path
    build: pathlib.Path

    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="rnic-install."))
        cls.root.chmod(0o755)
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        first = cls.root / "first"
        subprocess.run(["cmake", "--install", cls.build, "--prefix", first, "--strip"], check=True, stdout=subprocess.DEVNULL)
        cls.conf = (first / "share/rnic-suite/examples/dat.conf").read_text() if cls.has_provider(first) else ""
        cls.first = first
        cls.prefix = cls.root / "moved" / "prefix"
        cls.prefix.parent.mkdir()
        first.rename(cls.prefix)
        cls.work = cls.root / "work"
        cls.work.mkdir()
        cls.home = cls.root / "home"
        cls.home.mkdir()
        (cls.root / "empty").mkdir()
        # Taken before the sources are hidden.
        shutil.copy(cls.source / "dissectors/corpus/samples/wrong_crc.pcap.gz", cls.work / "trace.pcap.gz")
        cls.commit = re.search(r'"(unknown|[0-9a-f]{40}(?:-dirty)?)"', (cls.build / "generated/base/commit.hpp").read_text())[1]

    @staticmethod
    def has_provider(prefix):
        return (prefix / "lib/rnic-suite/librnic_dat.so").exists()

    @staticmethod
    def plain_user():
        """Wireshark ignores folders of plugins that the superuser names."""
        return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []

    def use(self, *words, status=0, environment=()):
        """Runs a command as a user would who has neither the sources nor the build."""
        hide = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-Urm"]
        script = 'for folder in "$1" "$2"; do mount --bind "$0" "$folder" || exit 99; done; shift 2; exec "$@"'
        # The build first: it may be in the sources.
        command = [*hide, "sh", "-c", script, self.root / "empty", self.build, self.source, *words]
        path = f"{self.prefix / 'bin'}:{os.environ['PATH']}"
        setting = {"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8", **dict(environment)}
        done = subprocess.run(command, cwd=self.work, env=setting, capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done

    def test_the_sources_are_hidden(self):
        self.use("sh", "-c", f"test -z \"$(ls -A '{self.source}')\"")

    def test_each_program_says_release_and_commit(self):
        for program in PROGRAMS:
            text = self.use(program, "--version").stdout.strip()
            self.assertRegex(text, rf"^{program} \d+\.\d+\.\d+ \(commit {self.commit}\)$")

    def test_a_run_leaves_a_report_whose_commands_can_be_typed(self):
        done = self.use("rnic-suite", "run", "--select", "mpa.crc.*", "--out", "first")
        self.assertNotIn("rnic-suite report", done.stderr)  # which would say what it lacks
        self.assertTrue((self.work / "first/report.html").exists())
        results = json.loads((self.work / "first/results.json").read_text())
        cases = [case for case in results["cases"] if case["id"].startswith("mpa.crc.")]
        self.assertTrue(cases)
        self.assertTrue(all(case["rerun"].startswith("rnic-suite run --select mpa.crc.") for case in cases))
        self.assertTrue(any(case["seen_to_fail_by"] for case in cases))
        page = Page((self.work / "first/report.html").read_text())
        rules = next(block["rules"] for block in page.blocks if "rules" in block)
        text = self.use("rnic-suite", "explain", "mpa.crc.crc32c-as-in-iscsi").stdout.split("\n\n")[1].split(".")[0]
        self.assertIn(text, rules["mpa.crc.crc32c-as-in-iscsi"]["text"])

    def test_a_run_through_the_agent(self):
        self.use("rnic-suite", "run", "--iut", "agent:reference", "--select", "mpa.crc.*", "--out", "agent")

    def test_a_run_of_the_dat_provider(self):
        if not self.has_provider(self.prefix):
            self.skipTest("this build has no DAT provider")
        self.use("rnic-suite", "run", "--iut", "dat:reference", "--select", "dat.pz.*", "--out", "dat")

    def test_the_dat_conf_names_the_provider_where_it_was_installed(self):
        if not self.conf:
            self.skipTest("this build has no DAT provider")
        self.assertEqual(self.conf.count(f" {self.first}/lib/rnic-suite/librnic_dat.so "), 2)

    def test_known_issues_and_who_has_them(self):
        listed = (self.prefix / "share/rnic-suite/suite/expectations/siw-vm.yaml").read_text()
        rule = re.search(r"rule: ([a-z0-9.-]+)", listed)[1]
        self.assertIn("siw-vm", self.use("rnic-suite", "explain", rule).stdout)

    def test_doctor_finds_the_files(self):
        self.assertRegex(self.use("rnic-suite", "doctor").stdout, r"ok +suite files")

    def test_remedies_can_be_typed(self):
        said = self.use("sh", "-c", "rnic-suite doctor --iut siw-vm || true", environment={"XDG_CACHE_HOME": str(self.work)}).stdout
        if "not in the cache yet" in said:
            self.assertIn("-> rnic-lab siw-vm --prepare-only", said)

    def test_a_capture_is_judged(self):
        self.assertIn("violation", self.use("rnic-lint", "trace.pcap.gz", status=1).stdout)

    def test_the_events_that_the_suite_has(self):
        self.use("rnic-plugfest", "check", "virtual-reference")

    def test_the_plugin_is_loaded(self):
        folders = list(self.prefix.glob("lib/*/wireshark/plugins"))
        if not folders or not shutil.which("tshark"):
            self.skipTest("no plugin, or no tshark")
        listed = self.use(*self.plain_user(), "tshark", "-G", "plugins", environment={"WIRESHARK_PLUGIN_DIR": str(folders[0])}).stdout
        self.assertIn("rnic_iwarp", listed)

    def test_bash_completes_what_is_typed(self):
        lines = {"rnic-suite do": "doctor", "rnic-suite run --sel": "--select", "rnic-suite run --select mpa.no_such": "",
                 "rnic-suite run --select mpa.crc.crcs_are_sent_if_either": "mpa.crc.crcs_are_sent_if_either_side_asks", "rnic-suite run --lawful revision_one": "revision_one_only",
                 "rnic-suite explain mpa.crc.crc32c-as": "mpa.crc.crc32c-as-in-iscsi", "rnic-plugfest bun": "bundle", "rnic-lint --sar": "--sarif",
                 "rnic-suite run --iut kverbs:r": "kverbs:rxe-vm", "rnic-run --rso": "--rsocket"}
        for line, wanted in lines.items():
            with self.subTest(line):
                program = line.split()[0]
                script = f"source '{self.prefix}/share/bash-completion/completions/{program}'; complete -p {program} >/dev/null || exit; " \
                         "compopt() { :; }; " \
                         "COMP_WORDS=($1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); " \
                         "_rnic_complete $0 ${COMP_WORDS[COMP_CWORD]} ${COMP_WORDS[COMP_CWORD-1]}; echo \"${COMPREPLY[*]}\""
                self.assertEqual(self.use("bash", "-c", script, program, line).stdout.strip(), wanted)

    def test_a_program_alone_says_what_it_lacks(self):
        alone = self.root / "alone" / "bin" / "rnic-suite"
        alone.parent.mkdir(parents=True)
        shutil.copy(self.prefix / "bin/rnic-suite", alone)
        for command in ("run", "explain"):
            words = ["mpa.crc.crc32c-as-in-iscsi"] if command == "explain" else []
            done = self.use(alone, command, *words, status=3)
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertIn(str(alone.parent.parent / "share/rnic-suite"), done.stderr)
        self.assertRegex(self.use(alone, "doctor", status=3).stdout, r"FAIL +suite files")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: install_test.py . build/dev")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    arguments, rest = parser.parse_known_args()
    Installed.source, Installed.build = arguments.source.resolve(), arguments.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
