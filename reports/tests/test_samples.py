# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The samples are what their generator makes, and valid by the schema; the reports count as the samples' own summary does."""

import json
import unittest

import jsonschema

from tests.support import CATALOGUE, SAMPLES, SCHEMA, load, make_samples


class Samples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(cls.schema)

    def valid(self, value, part=None):
        schema = {**self.schema, "$ref": f"#/$defs/{part}"} if part else self.schema
        if part:
            schema = {"$defs": self.schema["$defs"], "$ref": f"#/$defs/{part}"}
        faults = [fault.message[:200] for fault in jsonschema.Draft202012Validator(schema).iter_errors(value)]
        self.assertEqual(faults, [])

    def test_files_are_what_the_generator_makes(self):
        made = make_samples.samples()
        found = {path.relative_to(SAMPLES).as_posix(): path.read_text(encoding="utf-8") for path in SAMPLES.rglob("results.*")}
        self.assertEqual(sorted(made), sorted(found))
        for name, content in made.items():
            self.assertTrue(content == found[name], f"{name} differs: run reports/tests/make_samples.py")

    def test_documents_are_valid_by_the_schema(self):
        documents = list(SAMPLES.glob("*/results.json"))
        self.assertGreaterEqual(len(documents), 4)
        for path in documents:
            with self.subTest(path.parent.name):
                self.valid(json.loads(path.read_text(encoding="utf-8")))

    def test_whole_lines_of_journals_are_valid_by_the_schema(self):
        for path in SAMPLES.glob("*/results.ndjson"):
            whole = path.read_text(encoding="utf-8").split("\n")[:-1]
            self.assertGreater(len(whole), 2)
            for line in whole:
                (kind, value), = json.loads(line).items()
                self.valid(value, kind)

    def test_a_large_run_is_valid_by_the_schema(self):
        self.valid(make_samples.large(40))

    def test_rules_of_the_mixed_sample_exist(self):
        for case in load.load(SAMPLES / "mixed").cases:
            for rule in case.rules + [judgement.rule for judgement in case.judgements]:
                self.assertTrue(CATALOGUE.rule(rule).known, rule)

    def test_counts_agree_with_the_summary_in_the_file(self):
        for name in ("mixed", "clean", "hostile"):
            summary = json.loads((SAMPLES / name / "results.json").read_text(encoding="utf-8"))["summary"]
            report = load.load(SAMPLES / name)
            self.assertEqual(len(report.cases), summary["cases"])
            self.assertEqual(report.advisories, summary["advisories"])
            for verdict, count in summary["verdicts"].items():
                self.assertEqual(report.count(verdict), count)
            for layer, verdicts in summary["layers"].items():
                for verdict, count in verdicts.items():
                    self.assertEqual(report.count(verdict, layer), count)
            for gate, count in summary["gate"].items():
                self.assertEqual(report.count(gate=gate), count)


if __name__ == "__main__":
    unittest.main()
