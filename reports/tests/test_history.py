# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Several runs: what changed, what is unstable, the page, and the gate against a baseline."""

import contextlib
import copy
import io
import json
import unittest

import compare_runs
import render_history
from rnic_reports import history, renamed
from tests import browser
from tests.page import Page
from tests.support import FolderTest, make_samples


def failing(case_id, rule="r", **members):
    return make_samples.case(case_id, "mpa/a.cpp", [rule], "fail", reason=f"{rule} broken",
                             expectations=[make_samples.judged(rule, ["x"], "y", "fail", 0.1)], **members)


def passing(case_id, **members):
    return make_samples.case(case_id, "mpa/a.cpp", ["r"], **members)


class Runs(FolderTest):
    def run_of(self, name, cases, **members):
        folder = self.folder / name
        folder.mkdir()
        (folder / "results.json").write_text(json.dumps(make_samples.document(cases, **members)), encoding="utf-8")
        return folder

    def two(self):
        before = self.run_of("before", [passing("a.same"), passing("a.breaks"), failing("a.mended"), failing("a.other"), failing("a.still"),
                                        passing("a.dropped")], start="2026-03-01T00:00:00Z")
        after = self.run_of("after", [passing("a.same"), failing("a.breaks"), passing("a.mended"), failing("a.other", "s"), failing("a.still"),
                                      passing("a.more"), failing("a.worse")], start="2026-03-02T00:00:00Z")
        return before, after


class Changes(Runs):
    def test_each_kind_of_change(self):
        found = history.compare(*map(history.read, self.two()))
        self.assertEqual([(change.kind, change.case) for change in found], [
            ("new", "a.breaks"), ("new", "a.worse"), ("changed", "a.other"), ("fixed", "a.mended"), ("added", "a.more"), ("gone", "a.dropped")])
        self.assertEqual(history.in_words(found), ["2 new failures", "1 fails differently", "1 fixed", "1 added", "1 not run again"])

    def test_a_renamed_case_is_the_same_case(self):
        old, new = next(iter(renamed.table().items()))
        before = self.run_of("before", [failing(f"{old}@initiator"), failing(old)])
        after = self.run_of("after", [failing(f"{new}@initiator"), passing(new)])
        found = history.compare(history.read(before), history.read(after))
        self.assertEqual([(change.kind, change.case) for change in found], [("fixed", new)])

    def test_without_the_table_of_renamed_cases_ids_are_as_they_are(self):
        self.assertEqual(renamed.table(self.folder / "none.def"), {})
        self.assertEqual(renamed.current_id("a.b@ipv6"), "a.b@ipv6")

    def test_not_applicable_is_no_failure(self):
        none = make_samples.case("a.b", "mpa/a.cpp", ["r"], "not_applicable", reason="PICS")
        runs = [history.read(self.run_of(name, [case])) for name, case in (("1", passing("a.b")), ("2", none), ("3", failing("a.b")))]
        self.assertEqual([[one.kind for one in history.compare(*pair)] for pair in (runs[:2], runs[1:])], [[], ["new"]])

    def test_unstable_is_what_differs_in_runs_of_one_thing(self):
        other_driver = copy.deepcopy(make_samples.run_record(1)["iut"])
        other_driver["driver_version"] = "7"
        runs = [history.read(self.run_of(name, [case, passing("a.c")], **members)) for name, case, members in (
            ("1", passing("a.b"), {}), ("2", failing("a.b"), {}), ("3", failing("a.c2"), {"iut": other_driver}))]
        self.assertEqual([(case, [run.folder.name for run in found]) for case, found in history.unstable(runs)], [("a.b", ["1", "2"])])
        self.assertEqual(history.unstable(runs[1:]), [])

    def test_attempts_that_differ_are_unstable(self):
        first = failing("a.b", attempt=1, gate={"result": "superseded", "entry": "", "reason": ""})
        runs = [history.read(self.run_of("1", [first, passing("a.b", attempt=2)]))]
        self.assertEqual([case for case, _ in history.unstable(runs)], ["a.b"])


class Gate(Runs):
    def compare(self, *folders):
        with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()) as faults:
            code = compare_runs.main([str(folder) for folder in folders])
        return code, said.getvalue() + faults.getvalue()

    def test_only_what_got_worse_fails(self):
        before, after = self.two()
        code, said = self.compare(before, after)
        self.assertEqual(code, 1)
        self.assertTrue(said.startswith("## 2 new failures, 1 fails differently, 1 fixed, 1 added, 1 not run again since the baseline\n"))
        self.assertIn("- `a.breaks`: pass → fail: `r broken`", said)
        self.assertEqual(self.compare(before, before), (0, self.compare(before, before)[1]))
        better = self.run_of("better", [passing(f"a.{name}") for name in ("same", "breaks", "mended", "other", "still", "dropped")])
        self.assertEqual(self.compare(before, better)[0], 0)

    def test_a_run_that_is_not_complete_decides_nothing(self):
        before, _ = self.two()
        torn = self.run_of("torn", [passing("a.same")], complete=False, ending="interrupted")
        self.assertEqual(self.compare(before, torn)[0], 3)

    def test_what_cannot_be_read_is_one_line(self):
        before, _ = self.two()
        code, said = self.compare(before, self.folder / "none")
        self.assertEqual((code, said.count("\n")), (3, 1))

    def test_peers_text_stays_in_code_spans(self):
        before = self.run_of("1", [passing("a.b")])
        code, said = self.compare(before, self.run_of("2", [{**failing("a.b"), "reason": "<img src=x> `@all` [x](y)"}]))
        self.assertEqual(code, 1)
        self.assertIn("`` <img src=x> `@all` [x](y) ``", said)


class HistoryPage(Runs):
    def render(self, *folders):
        page = self.folder / "history.html"
        with contextlib.redirect_stderr(io.StringIO()) as faults:
            code = render_history.main([*map(str, folders), "--html", str(page)])
        return code, page, faults.getvalue()

    def test_the_page_is_sound_and_in_order_of_time(self):
        before, after = self.two()
        (before / "report.html").write_text("x", encoding="utf-8")
        code, path, _ = self.render(after, before)
        self.assertEqual(code, 0)
        page = Page(path.read_text(encoding="utf-8"))
        self.assertEqual((page.faults, len(page.scripts)), ([], 1))
        self.assertIn("2 runs: 2 new failures, 1 fails differently, 1 fixed, 1 added, 1 not run again in the last one", page.text)
        self.assertEqual({link for link in page.links if link.startswith("./")}, {"./before/report.html"})
        self.assertEqual(page.blocks[0]["cases"][0], "a.breaks")

    def test_one_run_has_no_changes(self):
        code, path, _ = self.render(self.two()[0])
        self.assertEqual(code, 0)
        self.assertIn("There is one run only", Page(path.read_text(encoding="utf-8")).text)

    def test_hostile_runs_are_only_text(self):
        folder = self.folder / "hostile"
        folder.mkdir()
        (folder / "results.json").write_text(json.dumps(make_samples.hostile_document()), encoding="utf-8")
        code, path, _ = self.render(folder, folder)
        page = Page(path.read_text(encoding="utf-8"))
        self.assertEqual((code, page.faults), (0, []))
        self.assertEqual({tag for tag, _ in page.tags} & {"img", "iframe"}, set())

    def test_what_cannot_be_read_is_one_line(self):
        code, path, faults = self.render(self.folder / "none")
        self.assertEqual((code, path.exists(), faults.count("\n")), (3, False, 1))

    @unittest.skipUnless(browser.program(), "no chromium: tools/install_packages.sh long")
    def test_the_script_finds_the_same_changes_and_keeps_the_choice_in_the_address(self):
        before, after = self.two()
        _, path, _ = self.render(before, after)
        shown = browser.Browser(self.folder / "profile")
        self.addCleanup(shown.close)
        rows = "[...document.querySelectorAll('#compared tbody tr')].map((row) => [...row.cells].slice(0, 2).map((cell) => cell.textContent))"
        shown.open(path.as_uri())
        shown.wait_for("document.querySelectorAll('#compared tbody tr').length")
        self.assertEqual(shown.value(rows), [[history.KIND_WORDS[one.kind], one.case] for one in history.compare(*map(history.read, (before, after)))])
        self.assertIn("2 new failures, 1 fails differently", shown.value("document.getElementById('shown').textContent"))
        shown.open(path.as_uri() + "#?a=1&b=0&q=breaks")
        shown.wait_for("document.querySelectorAll('#compared tbody tr').length")
        self.assertEqual(shown.value(rows), [["fixed", "a.breaks"]])
        shown.value("(() => { const field = document.getElementById('text'); field.value = 'mended'; field.dispatchEvent(new Event('input')); })()")
        self.assertEqual((shown.value(rows), shown.value("location.hash")), ([["new failure", "a.mended"]], "#?a=1&b=0&q=mended"))

    @unittest.skipUnless(browser.program(), "no chromium: tools/install_packages.sh long")
    def test_nothing_is_out_of_sight_on_a_phone(self):
        before, after = self.two()
        _, path, _ = self.render(before, after)
        shown = browser.Browser(self.folder / "profile")
        self.addCleanup(shown.close)
        shown.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
        shown.open(path.as_uri())
        shown.wait_for("document.querySelectorAll('#compared tbody tr').length")
        self.assertEqual(shown.value("[...document.querySelectorAll('td, th, section, select')].filter((one) => one.getBoundingClientRect().right > 390).length"), 0)
        self.assertIn("new ", shown.value("getComputedStyle(document.querySelector('.trend td[data-label=new]'), '::before').content"))


if __name__ == "__main__":
    unittest.main()
