# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The matrix of a plugfest in a real browser: one click leads from a red square to its evidence, and the address leads back there."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import render_plugfest
from tests import browser, test_plugfest

VISIBLE = "[...document.querySelectorAll('section.cell')].filter((one) => one.checkVisibility()).map((one) => one.id)"
ROWS = "[...document.querySelectorAll('.matrix tbody tr')].filter((one) => one.checkVisibility()).length"


@unittest.skipUnless(browser.program(), "no chromium: tools/install_packages.sh long")
class Click(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        document = test_plugfest.document()
        finding = document["cells"][1]["findings"][0]
        document["cells"][1].update(pcap="pcap/a.pcap", reason="a CRC that is none", findings=[finding],
                                    said=[{"side": "responder", "text": "the agent's own words"}],
                                    wire=[{"frame": 7, "side": "responder", "text": "Send L qn=0"}])
        (cls.folder / "pcap").mkdir()
        (cls.folder / "pcap" / "a.pcap").write_bytes(b"x")
        (cls.folder / "results.json").write_text(json.dumps(document), encoding="utf-8")
        with contextlib.redirect_stderr(io.StringIO()):
            assert render_plugfest.main([str(cls.folder)]) == 0
        cls.url = (cls.folder / "report.html").as_uri()
        cls.browser = browser.Browser(cls.folder / "profile")
        cls.addClassCleanup(cls.browser.close)

    def test_one_click_leads_to_the_evidence(self):
        self.browser.open(self.url)
        self.assertEqual(self.browser.value(VISIBLE), [])
        self.browser.click(".matrix a.m-fail")
        self.browser.wait_for(f"{VISIBLE}.length === 1")
        self.assertEqual(self.browser.value(VISIBLE), ["cell-0"])
        seen = self.browser.value("document.getElementById('cell-0').innerText")
        for words in ("a CRC that is none", "mpa.crc.field-holds-crc32c", "the agent's own words", "Send L qn=0", "fault: responder"):
            self.assertIn(words, seen)
        self.assertTrue(self.browser.value("document.querySelector('#cell-0 a[href]').href").endswith("/pcap/a.pcap"))
        self.assertEqual(self.browser.value("document.querySelector('.matrix a[aria-current]').hash"), "#cell-0")
        self.assertIn("cell=cell-0", self.browser.value("location.hash"))
        self.browser.click(".matrix a.m-pass")
        self.browser.wait_for(f"{VISIBLE}[0] === 'cell-1'")
        self.assertEqual(self.browser.value(VISIBLE), ["cell-1"])

    def test_the_address_leads_back(self):
        self.browser.open(self.url)
        self.browser.value("(() => { const field = document.getElementById('verdict'); field.value = 'fail';"
                           "field.dispatchEvent(new Event('input', {bubbles: true})); })()")
        self.assertEqual(self.browser.value(ROWS), 1)
        self.browser.click(".matrix a.m-fail")
        self.browser.wait_for(f"{VISIBLE}.length === 1")
        address = self.browser.value("location.href")
        self.browser.open(address)
        self.browser.wait_for(f"{VISIBLE}.length === 1")
        self.assertEqual(self.browser.value(VISIBLE), ["cell-0"])
        self.assertEqual(self.browser.value(ROWS), 1)
        self.assertEqual(self.browser.value("document.getElementById('verdict').value"), "fail")
        self.browser.open(self.url + "#?scenario=nothing-of-the-kind")
        self.browser.wait_for(f"{ROWS} === 0")


if __name__ == "__main__":
    unittest.main()
