# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The Markdown summary: its counts and lists, and peers' text that cannot leave its code span."""

import re

from rnic_reports.markdown import LIST_LIMIT, code, markdown
from tests.support import CATALOGUE, SAMPLES, FolderTest, load, make_samples


class Markdown(FolderTest):
    def of(self, sample):
        return markdown(load.load(SAMPLES / sample), CATALOGUE)

    def test_the_table_has_each_layer_and_the_sum(self):
        lines = self.of("mixed").splitlines()
        self.assertEqual(lines[0], "## RNIC conformance: 6 new failures, 1 stale known issue")
        self.assertIn("| `mpa` | 6 | 3 | 2 |  |  | 1 |", lines)
        self.assertIn("| **all** | 13 | 5 | 5 | 1 | 1 | 1 |", lines)
        self.assertIn("1 known issue · 1 advisory", lines)

    def test_new_failures_stand_by_cause(self):
        text = self.of("mixed")
        self.assertIn("### New failures (6, 5 causes)", text)
        self.assertEqual(len(re.findall(r"^- \*\*(fail|error|inconclusive)\*\* ", text, re.MULTILINE)), 5)
        self.assertIn("`mpa.crc.mismatch-invalidates-fpdu` ([RFC 5044 §4.4](https://www.rfc-editor.org/rfc/rfc5044#section-4.4), MUST): "
                      "admissible `Terminate MPA: CRC error (2/0/0x02)` or ", text)
        self.assertIn("  2 cases: `ddp.tagged.write-beyond-bounds-is-terminated`, `ddp.tagged.write-beyond-bounds-is-terminated@ipv6`\n", text)
        self.assertIn("### Stale known issues (1)\n\n- `suite/expectations/siw.yaml:30 mpa.startup.no-reply-to-garbage`", text)

    def test_advisories_are_listed(self):
        self.assertIn("### Advisories (1)\n\n- `ddp.segmentation.increasing-to` ([RFC 5041 §5.3](https://www.rfc-editor.org/rfc/rfc5041#section-5.3), SHOULD): "
                      "`segments came in the order 1, 3, 2`\n  1 case: `ddp.untagged.segments-in-order`", self.of("mixed"))

    def test_a_clean_run_lists_nothing(self):
        text = self.of("clean")
        self.assertTrue(text.startswith("## RNIC conformance: no new failure\n"))
        self.assertEqual(re.findall("^### (\\w+)", text, re.MULTILINE), ["Advisories"])

    def test_an_incomplete_run_says_so(self):
        self.assertIn("**Incomplete** (killed): 5 of 20 selected cases have a verdict", self.of("torn"))
        self.assertIn("no case matches", self.of("empty"))

    def test_a_run_after_which_the_iut_is_dead_says_so_first(self):
        document = make_samples.document([make_samples.case("ddp.tagged.one", "ddp/a.cpp", ["r1"], "pass")])
        document["run"]["ending_reason"] = "the IUT did not answer at the end of the run"
        head = markdown(self.loaded(document), CATALOGUE).splitlines()[:8]
        self.assertTrue(any("the IUT did not answer at the end of the run" in line for line in head), head)

    def test_lists_end(self):
        cases = [make_samples.case(f"ddp.tagged.number-{number}", "ddp/a.cpp", [f"r{number}"], "fail", reason=f"no. {number}", expectations=[])
                 for number in range(LIST_LIMIT + 7)]
        text = markdown(self.loaded(make_samples.document(cases)), CATALOGUE)
        self.assertIn("- and 7 more", text)
        self.assertEqual(text.count("- **fail**"), LIST_LIMIT)

    def test_a_code_span_holds_whatever_it_is_given(self):
        self.assertEqual(code("plain"), "`plain`")
        self.assertEqual(code("a `b` ``c``"), "``` a `b` ``c`` ```")
        self.assertEqual(code("x" * 300), "`" + "x" * 200 + "...`")
        self.assertEqual(code(""), "")

    def test_hostile_text_stays_in_code_spans(self):
        for line in self.of("hostile").splitlines():
            outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
            for sign in ("<", "[", "@", "](", "{", "onerror"):
                self.assertNotIn(sign, outside, line)

    def test_a_layer_with_a_pipe_keeps_the_table_whole(self):
        case = make_samples.case("x.y.z", "mpa/a.cpp", ["r"], layer="a|b")
        rows = [line for line in markdown(self.loaded(make_samples.document([case])), CATALOGUE).splitlines() if line.startswith("|")]
        self.assertEqual({len(re.findall(r"(?<!\\)\|", row)) for row in rows}, {8})
