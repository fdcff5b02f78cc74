# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The conformance statement: it counts rules by profile, hides no known issue, and says what was not judged."""

import contextlib
import hashlib
import io
import json
import shutil

import render_statement
from rnic_reports import catalogue, statement
from tests.page import Page
from tests.support import CATALOGUE, SAMPLES, FolderTest, make_samples

KNOWN = {"result": "known", "entry": "e:1", "reason": "r"}


class Statement(FolderTest):
    def rule(self, rfc, level="must"):
        return next(rule.id for rule in CATALOGUE.rules.values() if (rule.rfc, rule.level, rule.check) == (rfc, level, "api" if rfc in catalogue.DOCUMENTS else "active") and not rule.needs)

    def results(self, *cases):
        report = self.loaded(make_samples.document(list(cases)))
        return {one.profile.name: one for one in statement.results(statement.uses_of(report, CATALOGUE))}

    def case(self, rfc, verdict="pass", **members):
        rule = self.rule(rfc)
        judged = [] if verdict == "not_applicable" else [make_samples.judged(rule, ["x"], "x" if verdict == "pass" else "y", verdict, 0.1)]
        return make_samples.case(f"a.b.{rfc}", "mpa/a.cpp", [rule], verdict, expectations=judged, **members)

    def outcomes(self, *cases):
        return {name: one.outcome for name, one in self.results(*cases).items()}

    def test_each_profile_has_its_outcome(self):
        self.assertEqual(self.outcomes(self.case(5044)), {"RFC 5044": "kept", "RFC 5044 with 6581": "unjudged", "RFC 5044 with 7306": "unjudged", "DAT 2.0": "unjudged", "verbs": "unjudged", "kernel verbs": "unjudged"})
        self.assertEqual(self.outcomes(self.case(5044), self.case(6581, "fail"), self.case(7306), self.case(0)),
                         {"RFC 5044": "kept", "RFC 5044 with 6581": "broken", "RFC 5044 with 7306": "kept", "DAT 2.0": "kept", "verbs": "unjudged", "kernel verbs": "unjudged"})

    def test_a_broken_base_breaks_what_is_built_on_it(self):
        self.assertEqual(self.outcomes(self.case(5041, "fail"), self.case(5044), self.case(6581))["RFC 5044 with 6581"], "broken")

    def test_a_known_issue_is_a_broken_rule(self):
        self.assertEqual(self.outcomes(self.case(5044, "fail", gate=KNOWN))["RFC 5044"], "broken")

    def test_what_is_not_applicable_is_not_judged(self):
        one = self.results(self.case(7306, "not_applicable", reason="PICS"))["RFC 5044 with 7306"]
        self.assertEqual((one.outcome, one.must.of("not_applicable"), one.must.judged), ("unjudged", 1, 0))

    def rendered_of(self, sample):
        folder = self.folder / sample
        shutil.copytree(SAMPLES / sample, folder)
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(render_statement.main([str(folder)]), 0)
        return folder, Page((folder / "statement.html").read_text(encoding="utf-8"))

    def test_the_page_names_subject_outcome_and_evidence(self):
        folder, page = self.rendered_of("mixed")
        self.assertEqual((page.faults, page.scripts), ([], []))
        digest = hashlib.sha256((folder / "results.json").read_bytes()).hexdigest()
        for words in ("Linux kernel soft-iWARP", "siw 6.1.106", digest, "mpa.markers.every-512-octets", "known issue", "MUSTs broken", "0.1.0"):
            self.assertIn(words, page.text)

    def test_a_selection_says_so(self):
        folder = self.folder / "part"
        folder.mkdir()
        for select, said in (([], False), (["mpa.*"], True)):
            document = make_samples.document([self.case(5044)])
            document["run"]["options"].update(select=select, rfc=None)
            (folder / "results.json").write_text(json.dumps(document), encoding="utf-8")
            render_statement.main([str(folder)])
            self.assertEqual("A selection of the cases" in (folder / "statement.html").read_text(encoding="utf-8"), said)

    def test_an_incomplete_run_states_nothing(self):
        self.assertIn("This is no statement of conformance", self.rendered_of("torn")[1].text)

    def test_hostile_text_is_only_text(self):
        page = self.rendered_of("hostile")[1]
        self.assertEqual((page.faults, {tag for tag, _ in page.tags} & {"img", "script", "iframe"}), ([], set()))

    def test_what_cannot_be_read_is_one_line(self):
        with contextlib.redirect_stderr(io.StringIO()) as faults:
            self.assertEqual(render_statement.main([str(self.folder)]), 3)
        self.assertEqual(faults.getvalue().count("\n"), 1)
