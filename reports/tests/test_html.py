# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The HTML page: sound, self-contained, proof against what peers write, and complete in what it shows."""

import base64
import copy
import hashlib
import json
import os
import pathlib
import re
import unittest

from rnic_reports import case_data, catalogue
from tests.page import Page
from tests.support import CATALOGUE, SAMPLES, FolderTest, make_samples


class Html(FolderTest):
    pages = {}  # sample -> (page, its text), made once

    def page(self, document):
        return Page(self.rendered(document)[0])

    def of_sample(self, name):
        if name not in self.pages:
            raw = self.rendered(self.sample(name))[0]
            self.pages[name] = Page(raw), raw
        return self.pages[name]

    def sample(self, name):
        return json.loads((SAMPLES / name / "results.json").read_text(encoding="utf-8"))

    def check_sound(self, page, raw):
        self.assertEqual(page.faults, [])
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertEqual(len(page.scripts), 1)
        digest = base64.b64encode(hashlib.sha256(page.scripts[0].encode()).digest()).decode()
        self.assertTrue(f"script-src 'sha256-{digest}'" in raw)
        self.assertEqual([link for link in page.links if not link.startswith(("#", "./", "data:image/svg+xml,", "https://www.rfc-editor.org/rfc/rfc"))], [])
        self.assertEqual({link[1:] for link in page.links if link.startswith("#")} - page.targets, set())
        self.assertLessEqual({tag for tag, _ in page.tags} & {"img", "iframe", "object", "embed", "form", "base", "svg"}, set())

    def test_every_sample_is_sound(self):
        for name in ("mixed", "clean", "empty", "hostile"):
            with self.subTest(name):
                self.check_sound(*self.of_sample(name))

    def test_each_port_of_the_device_is_described(self):
        words = self.of_sample("mixed")[1]
        self.assertIn("4: ACTIVE, 100 Gb/sec (4X EDR); interface eth2, 100000 Mb/s, MTU 9000, driver acme 6.1, firmware 1.27, "
                      "offloads rx, tso; GIDs 0207:4328:9e10::", words)
        older = self.sample("mixed")
        del older["run"]["iut"]["ports"]
        self.assertNotIn("<dt>Port 1</dt>", self.rendered(older)[0])

    def test_a_torn_run_is_sound_and_says_that_it_is_incomplete(self):
        folder = self.copy_of("torn")
        self.assertEqual(self.render(folder)[0], 0)
        raw = (folder / "report.html").read_text(encoding="utf-8")
        page = Page(raw)
        self.check_sound(page, raw)
        self.assertTrue("Incomplete. 5 of 20 selected cases have a verdict; the run was killed" in page.text)
        self.assertTrue("left out of results.ndjson: the last line is torn" in page.text)

    def test_a_run_of_several_sessions_shows_each_of_them(self):
        document = make_samples.document(make_samples.mixed_cases())
        session = {"start": document["run"]["start"], "end": None, "command": ["rnic-suite", "--rerun-failed", "<b>"], "asked": {},
                   "ending": "killed", "ending_reason": "killed"}
        document["run"]["sessions"] = [session]
        self.assertNotIn("Sessions", self.rendered(document)[0])
        document["run"]["sessions"] = [session, {**session, "ending": "finished", "ending_reason": ""}]
        raw, _, summary = self.rendered(document)
        self.check_sound(Page(raw), raw)
        self.assertEqual(raw.count("rnic-suite --rerun-failed &#39;&lt;b&gt;&#39;"), 2)
        self.assertIn("2 sessions: the last attempt at each case counts", summary)

    def test_a_case_shows_what_an_expert_asks_for(self):
        page = self.of_sample("mixed")[0]
        for words in (
            "Linux kernel soft-iWARP", "siw 6.1.106", "6.1.0-25-amd64", "0.1.0 at 0123456789ab", "6 new failures", "exit code 1",
            "RFC 5041 §7.2", "A TO, or TO plus length, outside the registered range is reported as type 0x1 code 0x01.",
            "Terminate DDP tagged buffer error: base or bounds violation (1/1/0x01)", "live, by libpcap", "1 written by the tester",
            "rnic-suite run --iut siw-vm --out out", "PICS: the implementation does not send Markers",
        ):
            self.assertTrue(words in page.text, words)
        inside = json.dumps(page.cases)
        for words in (
            "RDMA Write L stag=0x00000101 to=0x1ffa len=16", "last octet beyond", b"MPA ID Req Frame".hex(), "231 ms",
            "8d2d58f47ae795e2949557d9efb7adc1a1688cd7d852164c59b60275e5c3a3d0", "wireshark -g 10 -r pcap/ddp.tagged",
            "./run_suite.sh --iut siw-vm --select ddp.tagged.write-beyond-bounds-is-terminated", "wrong_terminate_code",
            "BUG: kernel NULL pointer dereference", "agent: lost the device", "siw does not look at the markers",
            "suite/expectations/siw.yaml:14", "segments came in the order 1, 3, 2",
        ):
            self.assertTrue(words in inside, words)

    def test_each_case_has_its_values(self):
        page = self.of_sample("mixed")[0]
        numbered = {int(tag["data-n"]): tag["id"] for tag in page.with_class("case")}
        self.assertEqual([page.cases[number]["id"] for number in sorted(numbered)],
                         [numbered[number].removeprefix("case-") for number in sorted(numbered)])
        self.assertEqual([attempt["verdict"] for case in page.cases for attempt in case["earlier"]], ["error"])

    def test_a_rule_leads_to_its_section(self):
        links = self.of_sample("mixed")[0].links
        self.assertIn("https://www.rfc-editor.org/rfc/rfc5041#section-7.2", links)
        self.assertEqual([catalogue.Rule("r", rfc, section).href for rfc, section in ((5044, "A.4"), (0, "dat_ep_create"), (-1, ""))],
                         ["https://www.rfc-editor.org/rfc/rfc5044#appendix-A.4", "", ""])

    def test_known_failures_look_unlike_new_ones(self):
        page = self.of_sample("mixed")[0]
        self.assertTrue(page.with_class("v-known"))
        self.assertEqual([a["data-g"] for a in page.with_class("case") if a["id"] == "case-mpa.markers.asked-for-and-sent"], ["known"])

    def test_hostile_text_is_only_text(self):
        page, raw = self.of_sample("hostile")
        self.assertGreater(page.text.count("</script><img src=x onerror=alert(1)>"), 10)
        self.assertGreater(json.dumps(page.cases).count("</script><img src=x onerror=alert(1)>"), 10)
        self.assertIsNone(re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", raw))
        self.assertTrue(r"\x1b[31mred\x00\x07\x7f\x9b" in page.text)
        self.assertTrue("{{7*7}}{% raw %}<!--" in page.text)
        self.assertFalse("49{%" in page.text)

    def test_a_pcap_link_never_leaves_the_folder(self):
        links = [case["pcap"]["href"] for case in self.of_sample("hostile")[0].cases if case["pcap"]["href"]]
        self.assertTrue(links)
        for link in links:
            self.assertNotIn("..", link)
            self.assertTrue(link.startswith(("./javascript%3A", "./pcap/")), link)

    def test_a_pcap_that_is_there_is_linked_without_a_word(self):
        document = self.sample("clean")
        pcap = document["cases"][0]["pcap"]
        (self.folder / "pcap").mkdir()
        (self.folder / pcap["file"]).write_bytes(bytes(pcap["octets"]))
        page = self.page(document)
        there = {case["pcap"]["href"]: case["pcap"]["trouble"] for case in page.cases}
        self.assertEqual(there["./" + pcap["file"].replace("@", "%40")], "")
        self.assertEqual(list(there.values()).count("the file is not there"), len(document["cases"]) - 1)
        (self.folder / pcap["file"]).write_bytes(b"short")
        self.assertIn("the file has 5 octets, recorded were 2,040", [case["pcap"]["trouble"] for case in self.page(document).cases])

    def test_links_to_pcaps_lead_from_where_the_page_lies(self):
        self.put(self.sample("clean"))
        elsewhere = self.folder / "a" / "b"
        elsewhere.mkdir(parents=True)
        self.assertEqual(self.render(self.folder, "--html", elsewhere / "siw.html")[0], 0)
        links = [case["pcap"]["href"] for case in Page((elsewhere / "siw.html").read_text(encoding="utf-8")).cases]
        self.assertEqual(links[0], "./../../pcap/mpa.startup.request-accepted.1.pcap")
        self.assertEqual(os.path.normpath(elsewhere / links[0]), str(pathlib.Path(self.folder / "pcap/mpa.startup.request-accepted.1.pcap")))

    def test_enormous_text_is_cut_with_a_note(self):
        document = self.sample("clean")
        case = copy.deepcopy(document["cases"][0])
        for name in ("title", "reason", "configuration", "rerun", "kernel_log", "stderr"):
            case[name] = "<b>" * 333_334
        case["expectations"][0].update(actual="y" * 1_000_000, admissible=["z" * 1_000_000], hex="a5" * 1_000_000)
        case["exchange"][0].update(text="w" * 1_000_000, hex="00" * 1_000_000)
        document["cases"][0] = case
        raw, xml, summary = self.rendered(document)
        page = Page(raw)
        self.check_sound(page, raw)
        self.assertLess(len(raw), 1_500_000)
        self.assertLess(len(xml) + len(summary), 300_000)
        self.assertTrue("[998,002 more characters not shown]" in page.text)
        shown = next(case for case in page.cases if case["reason"].startswith("<b>"))
        self.assertTrue(shown["rerun"].endswith("[998,002 more characters not shown]"), shown["rerun"][-80:])
        self.assertEqual((shown["rungs"][0]["total"], len(shown["rungs"][0]["hex"])), (1_000_000, 2 * case_data.OCTETS_OF_PASS))

    def test_two_cases_whose_ids_look_alike_have_two_anchors(self):
        cases = [make_samples.case(name, "mpa/a.cpp", ["r"]) for name in ("mpa.a b", "mpa.a-b", "mpa.a/b")]
        raw = self.rendered(make_samples.document(cases))[0]
        self.check_sound(Page(raw), raw)

    def test_an_advisory_that_a_judgement_tells_is_not_told_twice(self):
        case = make_samples.case("mpa.a.b", "mpa/a.cpp", ["r"], advisories=[{"rule": "r", "text": "in two segments"}, {"rule": "", "text": "odd"}],
                                 expectations=[make_samples.judged("r", ["in one segment"], "in two segments", "advisory", 0.1)])
        shown, = self.page(make_samples.document([case])).cases
        self.assertEqual([text for _, text, _ in shown["advisories"]], ["odd"])

    def test_a_passed_expectation_does_not_say_how_it_fails(self):
        case = make_samples.case("mpa.a.b", "mpa/a.cpp", ["r"], expectations=[
            make_samples.judged("r", ["a completion within 5 s"], "4999 ms without one", "pass", 0.1, direction="none")])
        shown, = self.page(make_samples.document([case])).cases
        self.assertEqual(shown["judgements"][0]["actual"], "a completion within 5 s")

    def test_what_the_level_of_a_rule_makes_of_a_judgement(self):
        rule = next(rule.id for rule in CATALOGUE.rules.values() if rule.level == "should")
        for strict, verdict, words in ((False, "advisory", "with --strict it fails"), (True, "fail", "since the run is --strict")):
            case = make_samples.case("mpa.a.b", "mpa/a.cpp", [rule], verdict if verdict == "fail" else "pass", expectations=[
                make_samples.judged(rule, ["x"], "y", verdict, 0.1)])
            document = make_samples.document([case])
            document["run"]["options"]["strict"] = strict
            self.assertIn(words, self.page(document).cases[0]["judgements"][0]["why"])

    def test_cases_stand_in_their_file_whatever_their_line(self):
        cases = [make_samples.case(f"mpa.a.{line}", f"mpa/a.cpp:{line}", ["r"]) for line in (47, 103)]
        self.assertEqual(len(self.page(make_samples.document(cases)).with_class("file")), 1)

    def test_lost_frames_are_told(self):
        document = self.sample("clean")
        document["run"]["capture"].update(dropped=3, closing_seen=False)
        text = self.page(document).text
        self.assertIn("frames are missing from the pcaps", text)
        self.assertIn("the closing sentinel frame was not seen", text)

    def test_the_matrix_leads_to_rules_sections_and_documents(self):
        page = self.page(self.sample("mixed"))
        self.assertEqual(len(page.with_class("matrix")), 12)  # all documents, and the sections of each
        targets = {link[1:] for link in page.links if link.startswith(("#rfc-", "#rule-"))}
        self.assertEqual(targets - page.targets, set())
        self.assertIn("rfc-5044-7.1.1", targets)

    def test_a_section_has_its_rules(self):
        page = self.page(self.sample("mixed"))
        self.assertEqual(len(page.rules), len(page.with_class("sec")))
        rules = {rule["id"]: rule for section in page.rules for rule in section}
        self.assertIn("revision_zero_sent", [name for rule in rules.values() for name, _ in rule["deviations"]])
        judged = [rule for rule in rules.values() if rule["cases"]]
        self.assertTrue(judged)
        for rule in judged:
            self.assertTrue({anchor for anchor, _ in rule["cases"]} <= set(page.ids))
            self.assertEqual(rule["untestable"], "")

    def test_many_cases(self):
        document = make_samples.large(120)
        raw = self.rendered(document)[0]
        page = Page(raw)
        self.check_sound(page, raw)
        self.assertEqual(len(page.with_class("case")), 120)

    def test_without_a_catalogue_the_page_still_stands(self):
        self.put(self.sample("mixed"))
        code, errors = self.render(self.folder, "--rules", self.folder / "none")
        self.assertEqual((code, len(errors)), (0, 1))
        self.assertIn("not in the catalogue", Page((self.folder / "report.html").read_text(encoding="utf-8")).text)


if __name__ == "__main__":
    unittest.main()
