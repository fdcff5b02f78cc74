# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The RFC's own words beside ours: on a card, in a case, at its rule, in SARIF and in a plugfest's cell; and nothing where a rule quotes none."""

import dataclasses
import json
import pathlib
import tempfile
import unittest

from rnic_reports import catalogue, html, load, plugfest, sarif
from tests import browser, page, test_plugfest
from tests.support import CATALOGUE, SAMPLES

BROKEN, OTHER = "ddp.terminate.tagged-base-or-bounds", "mpa.crc.field-holds-crc32c"
WORDS = "the words of [...] <b>the RFC</b> *as they stand*"
QUOTING = dataclasses.replace(CATALOGUE, rules={name: dataclasses.replace(rule, quote=WORDS if name in (BROKEN, OTHER) else "")
                                                for name, rule in CATALOGUE.rules.items()})
HREF = "https://www.rfc-editor.org/rfc/rfc5041#section-7.2"


def of_run():
    folder = SAMPLES / "mixed"
    return html.render(load.load(folder), QUOTING, folder, folder / "report.html")


class Quotes(unittest.TestCase):
    def test_a_file_of_rules_may_quote(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            reader = catalogue.RULES_FOLDER / "catalogue_files.py"
            (folder / reader.name).write_bytes(reader.read_bytes())
            (folder / "rfc5041.yaml").write_text(
                "rfc: 5041\ntitle: t\nrules:\n- {id: a.b.c, section: Appendix A, level: must, binds: sender, check: active, text: t, quote: 'two\n  lines'}\n",
                encoding="utf-8")
            rule = catalogue.load(folder, "").rule("a.b.c")
        self.assertEqual((rule.quote, rule.place, rule.href), ("two lines", "RFC 5041 Appendix A", "https://www.rfc-editor.org/rfc/rfc5041#appendix-A"))

    def test_a_card_quotes_the_section_and_links_to_it(self):
        seen = page.Page(of_run())
        quoted, = seen.with_class("quote")
        self.assertEqual(quoted["cite"], HREF)
        self.assertIn(f"{WORDS}RFC 5041 §7.2", seen.text)

    def test_the_page_holds_a_quotation_once_for_all_cases(self):
        seen = page.Page(of_run())
        self.assertEqual([rule for rule, said in seen.blocks[0]["rules"].items() if said["quote"]], [BROKEN, OTHER])
        self.assertNotIn("as they stand", json.dumps([seen.cases, seen.rules]))

    def test_sarif_explains_a_rule_in_both_words(self):
        rules = {rule["id"]: rule for rule in json.loads(sarif.sarif(load.load(SAMPLES / "mixed"), QUOTING))["runs"][0]["tool"]["driver"]["rules"]}
        self.assertEqual([name for name, rule in rules.items() if "help" in rule], [BROKEN])
        said = rules[BROKEN]["help"]
        self.assertEqual(said["text"], f'{QUOTING.rule(BROKEN).text}\n\nRFC 5041 §7.2: "{WORDS}"')
        self.assertIn(f"> the words of \\[...\\] \\<b\\>the RFC\\</b\\> \\*as they stand\\*\n>\n> [RFC 5041 §7.2]({HREF})", said["markdown"])

    def test_a_plugfest_has_the_words_of_each_broken_rule_once(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            document = test_plugfest.document()
            document["cells"][2].update(verdict="fail", findings=document["cells"][1]["findings"])
            (folder / "results.json").write_text(json.dumps(document), encoding="utf-8")
            text = plugfest.html(plugfest.load(folder), folder, folder / "report.html", QUOTING)
        seen = page.Page(text)
        self.assertEqual(seen.faults, [])
        self.assertEqual([finding["rule"] for cell in seen.blocks for finding in cell["findings"]].count(OTHER), 2)
        self.assertEqual((len(seen.with_class("quote")), seen.ids.count(f"rule-{OTHER}")), (1, 1))


@unittest.skipUnless(browser.program(), "no chromium: tools/install_packages.sh long")
class Seen(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        (cls.folder / "report.html").write_text(of_run(), encoding="utf-8")
        cls.browser = browser.Browser(cls.folder / "profile")
        cls.addClassCleanup(cls.browser.close)

    def quoted(self, selector):
        self.browser.wait_for(f"document.querySelector(`{selector} .quote`)")
        return self.browser.value(f"[...document.querySelectorAll(`{selector} .quote`)].map((one) => [one.textContent, one.querySelector('a').href])")

    def test_a_case_and_a_rule_quote(self):
        case = "case-ddp.tagged.write-beyond-bounds-is-terminated"
        for anchor in (case, f"rule-{BROKEN}"):
            self.browser.open((self.folder / "report.html").as_uri() + f"#{anchor}")
            self.assertEqual(self.quoted(f'[id="{anchor}"]'), [[f"{WORDS}RFC 5041 §7.2", HREF]])

    def test_a_cell_shows_the_words_of_a_rule_and_hides_them_again(self):
        (self.folder / "results.json").write_text(json.dumps(test_plugfest.document()), encoding="utf-8")
        (self.folder / "fest.html").write_text(plugfest.html(plugfest.load(self.folder), self.folder, self.folder / "fest.html", QUOTING), encoding="utf-8")
        self.browser.open((self.folder / "fest.html").as_uri() + "#cell-0")
        self.browser.wait_for("document.querySelector('#cell-0 a.says-what')")
        for count in (1, 0):
            self.browser.click("#cell-0 a.says-what")
            self.assertEqual(self.browser.value("document.querySelectorAll('#cell-0 .words-row .quote').length"), count)
        self.assertEqual(self.browser.value("document.getElementById('cell-0').checkVisibility()"), True)


if __name__ == "__main__":
    unittest.main()
