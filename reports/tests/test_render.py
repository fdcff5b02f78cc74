# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The program: its options, its exit codes, one line for each fault, and files that are whole or not there."""

import os
import resource
import shutil
import signal
import subprocess
import sys

from tests.support import REPORTS, FolderTest, make_samples


class Program(FolderTest):
    def names(self, folder):
        return sorted(path.name for path in folder.iterdir())

    def test_three_reports_beside_the_results(self):
        folder = self.copy_of("mixed")
        self.assertEqual(self.render(folder), (0, []))
        self.assertEqual(self.names(folder), ["junit.xml", "report.html", "results.json", "summary.md"])

    def test_without_jinja2_or_yaml_the_other_reports_are_made(self):
        for module in ("jinja2", "yaml"):
            folder = self.copy_of("mixed")
            modules = self.folder / f"without_{module}"
            modules.mkdir()
            (modules / f"{module}.py").write_text("raise ImportError('there is no such module')")
            done = subprocess.run([sys.executable, "-B", REPORTS / "render.py", folder], capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": str(modules)})
            self.assertEqual(done.returncode, 3)
            self.assertIn("report.html: not made: there is no such module; install python3-jinja2", done.stderr)
            self.assertEqual(self.names(folder), ["junit.xml", "results.json", "summary.md"])
            shutil.rmtree(folder)

    def test_each_report_goes_where_it_is_told(self):
        folder = self.copy_of("clean")
        paths = [self.folder / name for name in ("a.html", "b.xml", "c.md")]
        self.assertEqual(self.render(folder, "--html", paths[0], "--junit", paths[1], "--markdown", paths[2])[0], 0)
        self.assertTrue(all(path.stat().st_size for path in paths))
        self.assertEqual(self.names(folder), ["results.json"])

    def test_usage(self):
        self.assertEqual(self.render()[0], 2)
        self.assertEqual(self.render(self.folder, "--no-such-option")[0], 2)
        self.assertEqual(self.render("--help")[0], 0)

    def test_unreadable_results_leave_nothing_behind(self):
        for content in (None, b"{", b'{"schema": "rnic-results-1"}'):
            if content is not None:
                (self.folder / "results.json").write_bytes(content)
            code, errors = self.render(self.folder)
            self.assertEqual((code, len(errors)), (3, 1))
            self.assertTrue(errors[0].startswith("rnic-suite report: "), errors)
            self.assertLessEqual(self.names(self.folder), ["results.json"])

    def test_a_torn_journal_is_rendered_and_the_notes_are_told(self):
        code, errors = self.render(self.copy_of("torn"))
        self.assertEqual(code, 0)
        self.assertEqual([line.startswith("rnic-suite report: note: ") for line in errors], [True, True])

    def test_a_report_that_cannot_be_written_does_not_stop_the_others(self):
        folder = self.copy_of("mixed")
        (folder / "taken").mkdir()
        code, errors = self.render(folder, "--junit", self.folder / "absent" / "j.xml", "--markdown", folder / "taken")
        self.assertEqual((code, len(errors)), (3, 2))
        self.assertIn("absent/j.xml: cannot be written: No such file or directory", errors[0])
        self.assertEqual(self.names(folder), ["report.html", "results.json", "taken"])

    def test_a_full_disk_keeps_the_old_report_and_leaves_no_temporary(self):
        folder = self.copy_of("mixed")
        (folder / "report.html").write_text("old", encoding="utf-8")

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

        ended = subprocess.run([sys.executable, REPORTS / "render.py", folder], preexec_fn=small_files, capture_output=True, text=True,
                               check=False)
        self.assertEqual(ended.returncode, 3)
        self.assertRegex(ended.stderr, r"^rnic-suite report: \S+/report\.html: cannot be written: File too large\n$")
        self.assertEqual((folder / "report.html").read_text(encoding="utf-8"), "old")
        self.assertEqual(self.names(folder), ["junit.xml", "report.html", "results.json", "summary.md"])

    def test_without_memory_it_says_so_in_one_line_and_keeps_the_old_report(self):
        """With what is enough for the reports of a few cases and up to what is enough for many."""
        def ended(folder, limit):
            return subprocess.run([sys.executable, "-B", REPORTS / "render.py", folder], capture_output=True, text=True, check=False,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

        few, step = self.copy_of("mixed"), 8 << 20
        least = next(limit for limit in range(step, 1 << 30, step) if ended(few, limit).returncode == 0)
        many = self.put(make_samples.large(2000))
        (many / "report.html").write_text("old", encoding="utf-8")
        failed = 0
        for limit in range(least, 1 << 30, 2 * step):
            done = ended(many, limit)
            if done.returncode == 0:
                break
            failed += 1
            self.assertEqual((done.returncode, done.stderr), (3, "rnic-suite report: out of memory\n"), limit)
            self.assertEqual((many / "report.html").read_text(encoding="utf-8"), "old")
        self.assertGreater(failed, 0)
        self.assertEqual(self.names(many), ["junit.xml", "mixed", "report.html", "results.json", "summary.md"])

    def test_the_same_results_give_the_same_reports(self):
        folder = self.copy_of("mixed")
        contents = []
        for _ in range(2):
            self.render(folder)
            contents.append([(folder / name).read_bytes() for name in ("report.html", "junit.xml", "summary.md")])
        self.assertEqual(*contents)
