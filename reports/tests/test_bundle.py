# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A vendor's bundle holds its own cells and nothing that names another."""

import contextlib
import io
import json
import pathlib
import struct
import tempfile
import unittest

import jsonschema

import bundle_plugfest
from rnic_reports import bundle
from tests import test_plugfest

SECRETS = ("zeta", "Zeta Silicon", "gamma", "Gamma Systems", "zeta_gen9")
ZETA_MAC, ACME_MAC = bytes.fromhex("0010ca000001"), bytes.fromhex("0050c2000002")


def frame(kind, protocol=6):
    body = bytearray(60)
    body[0:6], body[6:12], body[12:14] = ZETA_MAC, ACME_MAC, struct.pack(">H", kind)
    body[23 if kind == 0x0800 else 20] = protocol
    return bytes(body)


def pcap(*frames):
    out = bundle.PCAP_HEADER.pack(0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    return out + b"".join(bundle.RECORD_HEADER.pack(1, at, len(each), len(each)) + each for at, each in enumerate(frames))


def frames_of(octets):
    at, found = bundle.PCAP_HEADER.size, []
    while at < len(octets):
        _, _, kept, _ = bundle.RECORD_HEADER.unpack_from(octets, at)
        found.append(octets[at + 16:at + 16 + kept])
        at += 16 + kept
    return found


def participant(name, vendor, alias=""):
    return {"name": name, "vendor": vendor, "alias": alias, "agent": "reference", "deviations": [f"{name}_gen9"]}


def capture(place, file, judged=False):
    return {"place": place, "pcap": file, "pcap_sha256": "0" * 64, "frames": 4, "dropped": 0, "trouble": "" if file else "zeta is down", "judged": judged}


def document():
    made = test_plugfest.document()
    made["event"]["participants"] = [participant("acme", "Acme Networks"), participant("zeta", "Zeta Silicon", "vendor Z"),
                                     participant("gamma", "Gamma Systems")]
    said = [{"side": "initiator", "text": "acme: mine"}, {"side": "responder", "text": "zeta_gen9 firmware: secret"}]
    made["cells"] = [
        test_plugfest.cell("acme", "zeta", "fail", reason="ZETA of Zeta Silicon said no", said=said, pcap="pcap/acme--zeta--x.1.1.pcap",
                           captures=[capture("zeta-mirror:eth1", "pcap/acme--zeta--x.1.1.2.pcap"), capture("eth2", "pcap/acme--zeta--x.1.1.pcap", True),
                                     capture("eth3", "")],
                           steps=[{"at": 0.1, "side": "responder", "text": "connect to zeta"}]),
        test_plugfest.cell("gamma", "acme", "pass", pcap="../secret.pcap"),
        test_plugfest.cell("zeta", "gamma", "fail", reason="none of your business", pcap="pcap/zeta--gamma--x.1.1.pcap")]
    made["left_out"] = [{"id": f"{one}/{other}/read.sizes#1", "initiator": one, "responder": other, "scenario": "read.sizes",
                         "reason": "zeta of Zeta Silicon cannot"} for one, other in (("acme", "zeta"), ("zeta", "gamma"))]
    made["summary"] = {"cells": 3, "played": 3, "verdicts": {"fail": 2, "pass": 1}, "advisories": 0,
                       "new_failures": ["acme/zeta/send.plain#1", "zeta/gamma/send.plain#1"], "stale": ["line 3: no cell of zeta/*"]}
    return made


class Bundle(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name) / "fest"
        self.to = pathlib.Path(scratch.name) / "bundle"
        (self.folder / "pcap").mkdir(parents=True)
        (self.folder / "results.json").write_text(json.dumps(document()), encoding="utf-8")
        for name in ("acme--zeta--x.1.1.pcap", "acme--zeta--x.1.1.2.pcap", "zeta--gamma--x.1.1.pcap"):
            (self.folder / "pcap" / name).write_bytes(pcap(frame(0x0806), frame(0x0800), frame(0x86DD), frame(0x0800, 17)))
        (self.folder.parent / "secret.pcap").write_bytes(pcap(frame(0x0800)))

    def make(self, vendor="Acme Networks"):
        with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()):
            status = bundle_plugfest.main(["--vendor", vendor, "--to", str(self.to), str(self.folder)])
        return status, errors.getvalue()

    def test_only_what_is_its_own(self):
        status, errors = self.make()
        self.assertEqual(status, 0, errors)
        whole = json.loads((self.to / "results.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(json.loads(test_plugfest.SCHEMA.read_text(encoding="utf-8"))).validate(whole)
        self.assertEqual([cell["id"] for cell in whole["cells"]], ["acme/peer-1/send.plain#1", "peer-2/acme/send.plain#1"])
        self.assertEqual([one["alias"] for one in whole["event"]["participants"]], ["", "vendor Z", "peer-2"])
        self.assertEqual(whole["cells"][0]["reason"], "vendor Z of vendor Z said no")
        self.assertEqual([said["text"] for said in whole["cells"][0]["said"]], ["acme: mine"])
        self.assertEqual([cell["pcap"] for cell in whole["cells"]], ["pcap/acme--peer-1--send.plain.1.1.pcap", ""])
        self.assertEqual([(one["place"], one["pcap"], one["pcap_sha256"], one["judged"]) for one in whole["cells"][0]["captures"]],
                         [("place 1", "pcap/acme--peer-1--send.plain.1.1.1.pcap", "", False),
                          ("place 2", "pcap/acme--peer-1--send.plain.1.1.pcap", "", True), ("place 3", "", "", False)])
        self.assertEqual([(one["id"], one["reason"]) for one in whole["left_out"]], [("acme/peer-1/read.sizes#1", "vendor Z of vendor Z cannot")])
        self.assertEqual(whole["summary"]["new_failures"], ["acme/peer-1/send.plain#1"])
        self.assertIn("vendor Z", (self.to / "report.html").read_text(encoding="utf-8"))

    def test_a_name_that_is_a_word_of_ours(self):
        made = document()
        for name in ("initiator", "responder"):
            made["event"]["participants"].append(participant(name, {"initiator": "A", "responder": "fail"}[name]))
        (self.folder / "results.json").write_text(json.dumps(made), encoding="utf-8")
        status, errors = self.make()
        self.assertEqual(status, 0, errors)
        whole = json.loads((self.to / "results.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(json.loads(test_plugfest.SCHEMA.read_text(encoding="utf-8"))).validate(whole)
        self.assertEqual([cell["verdict"] for cell in whole["cells"]], ["fail", "pass"])
        self.assertEqual([said["side"] for said in whole["cells"][0]["said"]], ["initiator"])
        self.assertEqual(whole["cells"][0]["reason"], "vendor Z of vendor Z said no")

    def test_nothing_names_another(self):
        self.make()
        files = [path for path in self.to.rglob("*") if path.is_file()]
        self.assertGreaterEqual(len(files), 5)
        for path in files:
            text = path.name + path.read_bytes().decode("latin-1")
            for secret in SECRETS:
                self.assertNotIn(secret.casefold(), text.casefold(), path)
            self.assertNotIn(ZETA_MAC.decode("latin-1"), text, path)

    def test_frames_keep_their_numbers(self):
        self.make()
        kept = sorted((self.to / "pcap").iterdir())
        self.assertEqual([path.name for path in kept], ["acme--peer-1--send.plain.1.1.1.pcap", "acme--peer-1--send.plain.1.1.pcap"])
        self.assertEqual(kept[0].read_bytes(), kept[1].read_bytes())
        frames = frames_of(kept[0].read_bytes())
        self.assertEqual([len(each) for each in frames], [14, 60, 60, 14])
        self.assertEqual(frames[1][:12], frames[2][:12])
        self.assertEqual(frames[1][12:], frame(0x0800)[12:])

    def test_a_frame_of_a_vlan_is_kept_as_any(self):
        for tags in (bytes.fromhex("81000064"), bytes.fromhex("88a8000581000064")):
            tagged = frame(0x0800)[:12] + tags + frame(0x0800)[12:]
            kept, = frames_of(bundle.without_addresses(pcap(tagged)))
            self.assertEqual(kept[12:], tagged[12:])
            self.assertNotIn(ZETA_MAC, kept)
        self.assertEqual(frames_of(bundle.without_addresses(pcap(frame(0x8100))))[0], bundle.NOTHING)

    def test_what_is_refused(self):
        status, errors = self.make("Nobody")
        self.assertEqual(status, 3)
        self.assertIn("Acme Networks, Gamma Systems, Zeta Silicon", errors)
        self.assertEqual(self.make()[0], 0)
        self.assertIn("not empty", self.make()[1])

    def test_hostile_captures(self):
        good = pcap(frame(0x0800), frame(0x0800))
        for octets in (b"", b"x" * 10, b"\0" * 100, good[:-10], good[:30], good[:24] + bundle.RECORD_HEADER.pack(1, 1, 2**32 - 1, 0)):
            made = bundle.without_addresses(octets)
            self.assertLessEqual(len(made), len(octets))
            self.assertNotIn(ZETA_MAC, made)


if __name__ == "__main__":
    unittest.main()
