# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The page of a run in a real browser: a case is made when it is opened, peers' text stays text, the address keeps the state, and
the page can be used by keyboard and printed."""

import contextlib
import io
import pathlib
import shutil
import tempfile
import unittest

from tests import browser
from tests.support import SAMPLES, render

BOUNDS = "case-ddp.tagged.write-beyond-bounds-is-terminated"
OPEN = "[...document.querySelectorAll('.case')].filter((one) => one.open).map((one) => one.id)"
SHOWN = "[...document.querySelectorAll('.case')].filter((one) => !one.hidden).length"


@unittest.skipUnless(browser.program(), "no chromium: tools/install_packages.sh long")
class CaseView(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        for sample in ("mixed", "hostile"):
            shutil.copytree(SAMPLES / sample, cls.folder / sample)
            with contextlib.redirect_stderr(io.StringIO()):
                assert render.main([str(cls.folder / sample)]) == 0
        cls.browser = browser.Browser(cls.folder / "profile")
        cls.addClassCleanup(cls.browser.close)

    def open(self, sample="mixed", fragment=""):
        self.browser.open((self.folder / sample / "report.html").as_uri() + fragment)

    def inside(self, anchor):
        """The text of a case, once it is made."""
        self.browser.wait_for(f"document.querySelector('[id=\"{anchor}\"] .body')")
        return self.browser.value(f"document.getElementById('{anchor}').textContent")

    def press(self, key):
        self.browser.value(f"(document.activeElement || document.body).dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))")

    def test_a_case_that_passed_is_made_when_it_is_opened(self):
        self.open()
        anchor = "case-mpa.startup.request-accepted"
        self.assertFalse(self.browser.value(f"!!document.querySelector('[id=\"{anchor}\"] .body')"))
        self.browser.value(f"document.querySelector('[id=\"{anchor}\"] > summary').click()")
        seen = self.inside(anchor)
        for words in ("Rules judged", "Send L qn=0 msn=1 mo=0 len=5", "MPA Request rev 2", "msn_starts_at_zero", "Run again"):
            self.assertIn(words, seen)

    def test_the_rules_of_a_section_are_made_when_it_is_opened(self):
        self.open()
        self.assertEqual(self.browser.value("document.querySelectorAll('.rule-list').length"), 0)
        self.browser.value("document.querySelector('#rfc-5044-7\\\\.1\\\\.1 > summary').click()")
        self.browser.wait_for("document.querySelector('#rfc-5044-7\\\\.1\\\\.1 .rule-list li')")
        seen = self.browser.value("document.querySelector('.rule-list').textContent")
        for words in ("mpa.", "must", "binds ", "Broken on purpose by "):
            self.assertIn(words, seen)
        self.assertEqual(self.browser.value("document.querySelectorAll('.rule-list').length"), 1)

    def test_a_link_to_a_rule_opens_its_section(self):
        self.open("hostile")  # the names of its rules are mark-up
        self.browser.value("document.querySelector('a[href^=\"#rule-\"]').click()")
        self.browser.wait_for("document.querySelector('.sec[open] .rule-list > li.pointed-at')")
        self.assertEqual(self.browser.value("document.querySelectorAll('.rule-list img').length"), 0)
        self.open("mixed", "#rule-ddp.tagged.check-end-in-range")
        self.browser.wait_for("document.getElementById('rule-ddp.tagged.check-end-in-range')")

    def test_the_failing_frame_is_marked_in_the_ladder(self):
        self.open(fragment=f"#{BOUNDS}")
        self.inside(BOUNDS)
        self.assertEqual(self.browser.value(f"[...document.querySelectorAll('[id=\"{BOUNDS}\"] .ladder .w-fail')].map((one) => one.className)"),
                         ["from_iut w-fail"])

    def test_the_provocation_is_marked_in_ladder_and_octets(self):
        anchor = "case-mpa.crc.bad-crc-delivers-nothing"
        self.open(fragment=f"#{anchor}")
        seen = self.inside(anchor)
        self.assertIn("wrong on purpose octet 40: f4 in place of f5", seen)
        rung = f"[id='{anchor}'] .ladder .is-provoked"
        self.assertEqual(self.browser.value(f'document.querySelectorAll("{rung}").length'), 1)
        self.assertEqual(self.browser.value(f'[...document.querySelectorAll("{rung} pre mark")].map((one) => one.textContent)'), ["f4"])

    def test_octets_are_shown_with_offset_and_ascii(self):
        self.open(fragment="#case-mpa.startup.request-accepted")
        self.inside("case-mpa.startup.request-accepted")
        self.assertIn("0000  4d 50 41 20 49 44 20 52  65 71 20 46 72 61 6d 65  MPA ID Req Frame\n",
                      self.browser.value("document.querySelector('[id=\"case-mpa.startup.request-accepted\"] .ladder pre').textContent"))

    def test_a_link_into_a_case_that_is_not_made_yet_leads_there(self):
        self.open(fragment=f"#{BOUNDS}@ipv6.j0")
        self.inside(BOUNDS + "@ipv6")
        self.browser.wait_for("document.querySelector('.pointed-at')")
        self.assertEqual(self.browser.value("document.querySelector('.pointed-at').id"), f"{BOUNDS}@ipv6.j0")
        self.assertEqual(self.browser.value(OPEN), [BOUNDS + "@ipv6"])

    def test_an_earlier_attempt_is_in_its_case(self):
        self.open(fragment="#case-rdmap.write.large-write-arrives.attempt-1")
        self.assertIn("earlier attempt 1, which does not count", self.inside("case-rdmap.write.large-write-arrives"))

    def test_the_address_keeps_filter_and_case(self):
        self.open()
        self.browser.click(".chip[data-value='new_failure']")
        self.browser.click(f"[id='{BOUNDS}'] > summary")
        self.inside(BOUNDS)
        self.browser.wait_for("location.hash.includes('c=')")
        address, shown = self.browser.value("location.href"), self.browser.value(SHOWN)
        self.assertEqual(shown, 6)
        self.browser.open(address)
        self.inside(BOUNDS)
        self.assertEqual((self.browser.value(SHOWN), self.browser.value(OPEN)), (6, [BOUNDS]))

    def test_the_filter_knows_rules_that_the_line_does_not_show(self):
        self.open(fragment="#?q=mpa.close.mpa-keeps-tcp-after-error")
        self.assertEqual(self.browser.value(SHOWN), 1)

    def test_keys_move_through_the_cases(self):
        self.open()
        self.press("n")
        self.press("n")
        self.assertEqual(self.browser.value("document.activeElement.parentElement.id"),
                         self.browser.value("document.querySelectorAll('.case')[1].id"))
        self.press("p")
        self.assertEqual(self.browser.value("document.activeElement.parentElement.id"),
                         self.browser.value("document.querySelectorAll('.case')[0].id"))
        self.press("/")
        self.assertEqual(self.browser.value("document.activeElement.id"), "text")

    def test_what_peers_wrote_is_text_and_never_runs(self):
        self.browser.call("Page.addScriptToEvaluateOnNewDocument", source="window.ran = 0; window.alert = () => { window.ran += 1; };")
        self.open("hostile")
        self.browser.value("(() => { for (const one of document.querySelectorAll('.case')) one.open = true; })()")
        self.browser.wait_for("[...document.querySelectorAll('.case')].every((one) => one.querySelector('.body'))")
        self.assertEqual(self.browser.value("document.querySelectorAll('img, iframe, [onmouseover], [onerror], main script').length"), 0)
        self.assertEqual(self.browser.value("window.ran"), 0)
        links = self.browser.value("[...document.querySelectorAll('a[href]')].map((one) => one.protocol)")
        self.assertLessEqual(set(links), {"file:", "https:"})
        self.assertIn("</script><img src=x onerror=alert(1)>", self.browser.value("document.getElementById('cases').textContent"))

    def test_no_table_is_cut_off_on_paper(self):
        self.open()
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        self.browser.call("Emulation.setDeviceMetricsOverride", width=718, height=1000, deviceScaleFactor=1, mobile=False)  # A4 less its margins
        wide = self.browser.value("[...document.querySelectorAll('table')].filter((one) => one.getBoundingClientRect().right > 718).length")
        self.browser.call("Emulation.setEmulatedMedia", media="")
        self.browser.call("Emulation.clearDeviceMetricsOverride")
        self.assertEqual(wide, 0)

    def test_new_failures_are_printed_with_their_inside(self):
        self.open()
        self.browser.wait_for("document.querySelectorAll('.case[data-g=new_failure] .body').length === 6")
        self.browser.value("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(len(self.browser.value(OPEN)), 6)


if __name__ == "__main__":
    unittest.main()
