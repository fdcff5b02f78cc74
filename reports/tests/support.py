# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What the tests share: a folder of their own, results in it, and the program run on it."""

import contextlib
import functools
import io
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

REPORTS = pathlib.Path(__file__).resolve().parents[1]
SAMPLES = REPORTS / "tests" / "samples"
SCHEMA = REPORTS / "schema" / "results-1.schema.json"
sys.path.insert(0, str(REPORTS))

import render  # noqa: E402
from rnic_reports import catalogue, load  # noqa: E402
from tests import make_samples  # noqa: E402,F401

catalogue.load = functools.cache(catalogue.load)  # the rule files do not change while the tests run
CATALOGUE = catalogue.load(catalogue.RULES_FOLDER, "")


class FolderTest(unittest.TestCase):
    """Gives each test an empty folder."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="reports."))
        self.addCleanup(shutil.rmtree, self.folder)

    def put(self, document):
        (self.folder / "results.json").write_text(json.dumps(document), encoding="utf-8")
        return self.folder

    def copy_of(self, sample):
        shutil.copytree(SAMPLES / sample, self.folder / sample)
        return self.folder / sample

    def loaded(self, document):
        return load.load(self.put(document))

    def render(self, *arguments):
        """(exit code, lines on stderr)."""
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            try:
                code = render.main([str(argument) for argument in arguments])
            except SystemExit as ending:
                code = ending.code
        return code, errors.getvalue().splitlines()

    def rendered(self, document):
        """The three reports as text: HTML, JUnit, Markdown."""
        self.put(document)
        code, errors = self.render(self.folder)
        self.assertEqual((code, [line for line in errors if "note:" not in line]), (0, []))
        return tuple((self.folder / name).read_text(encoding="utf-8") for name in ("report.html", "junit.xml", "summary.md"))
