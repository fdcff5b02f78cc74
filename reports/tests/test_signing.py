# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A bundle is signed, and every change to it afterwards is noticed."""

import contextlib
import io
import json
import pathlib
import subprocess
import tempfile
import unittest

import bundle_plugfest
import verify_bundle
from rnic_reports import signing
from tests import page, test_bundle


def made_key(path, *words):
    subprocess.run(["openssl", "genpkey", *(words or ("-algorithm", "ed25519")), "-out", path], check=True, capture_output=True)
    public = path.with_suffix(".pem")
    public.write_text(signing.public_key(path))
    return public


class Signing(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.key = self.folder / "organiser.key"
        self.public = made_key(self.key)
        (self.folder / "fest" / "pcap").mkdir(parents=True)
        (self.folder / "fest" / "results.json").write_text(json.dumps(test_bundle.document()))
        (self.folder / "fest" / "pcap" / "acme--zeta--x.1.1.pcap").write_bytes(test_bundle.pcap(test_bundle.frame(0x0800)))
        self.bundle = self.folder / "acme"

    def call(self, main, *words):
        said, told = io.StringIO(), io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(told):
            return main([str(word) for word in words]), said.getvalue(), told.getvalue()

    def make(self, *words):
        return self.call(bundle_plugfest.main, self.folder / "fest", "--vendor", "Acme Networks", "--to", self.bundle, *words)

    def verify(self, public=None):
        return self.call(verify_bundle.main, self.bundle, "--public", public or self.public)

    def test_a_bundle_is_as_it_was_signed(self):
        self.assertEqual(self.make("--key", self.key)[0], 0)
        status, said, told = self.verify()
        self.assertEqual((status, said), (0, ""))
        files = [path for path in self.bundle.rglob("*") if path.is_file()]
        self.assertIn(f"{len(files) - 2} files are as they were signed", told)
        # Anybody can check the digests without this program.
        self.assertEqual(subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "MANIFEST"], cwd=self.bundle, check=False).returncode, 0)

    def test_any_change_is_noticed(self):
        self.make("--key", self.key)
        manifest, results = self.bundle / "MANIFEST", self.bundle / "results.json"
        pcap = next((self.bundle / "pcap").iterdir())
        extra, hidden = self.bundle / "extra", self.bundle / "pcap" / ".hidden"
        for path, change, words in ((results, lambda: results.write_text(results.read_text().replace('"fail"', '"pass"')), "results.json was changed"),
                                    (pcap, lambda: pcap.write_bytes(pcap.read_bytes() + b"x"), "was changed"), (pcap, pcap.unlink, "is missing"),
                                    (extra, lambda: extra.write_text(""), "extra was added"), (hidden, lambda: hidden.write_text(""), "was added"),
                                    (manifest, lambda: manifest.write_text(manifest.read_text()[1:]), "is not the signature")):
            before = path.read_bytes() if path.exists() else None
            change()
            status, said, _ = self.verify()
            self.assertEqual(status, 1)
            self.assertIn(words, said)
            self.assertEqual(len(said.splitlines()), 1)
            path.write_bytes(before) if before is not None else path.unlink()
        self.assertEqual(self.verify()[0], 0)

    def test_the_signature_of_another_is_refused(self):
        self.make("--key", self.key)
        self.assertEqual(self.verify(made_key(self.folder / "other.key"))[0], 1)

    def test_what_names_no_bundle_or_no_key_is_bad_input(self):
        self.make("--key", self.key)
        no_key = self.folder / "no.pem"
        no_key.write_text("no key")
        for public, words in ((self.folder / "none.pem", "none.pem: there is no such file"), (no_key, "no.pem: is no public key"),
                              (self.folder, "there is no such file")):
            status, said, _ = self.verify(public)
            self.assertEqual((status, len(said.splitlines())), (2, 1), said)
            self.assertIn(words, said)
        self.bundle.rename(self.folder / "elsewhere")
        status, said, _ = self.verify()
        self.assertEqual((status, len(said.splitlines())), (2, 1), said)
        self.assertIn("there is no such folder", said)

    def test_an_unsigned_bundle_is_no_signed_one(self):
        self.assertEqual(self.make()[0], 0)
        self.assertTrue((self.bundle / "MANIFEST").is_file())
        status, said, _ = self.verify()
        self.assertEqual(status, 1)
        self.assertIn("MANIFEST.sig: is missing", said)

    def test_a_key_that_does_not_do_is_refused_before_anything_is_written(self):
        self.assertEqual(self.make("--key", self.folder / "none.key")[0], 3)
        self.assertFalse(self.bundle.exists())

    def test_a_key_of_another_kind_is_refused(self):
        rsa = self.folder / "rsa.key"
        made_key(rsa, "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
        status, said, _ = self.make("--key", rsa)
        self.assertEqual(status, 3)
        self.assertIn("is no Ed25519 key", said)

    def test_the_page_to_sign(self):
        self.make("--key", self.key)
        text = (self.bundle / "sign-off.html").read_text()
        seen = page.Page(text)
        self.assertEqual(seen.faults, [])
        digest = subprocess.run(["sha256sum", self.bundle / "results.json"], capture_output=True, text=True, check=True).stdout.split()[0]
        self.assertIn(digest, seen.text)
        self.assertIn("vendor Z", seen.text)
        for secret in test_bundle.SECRETS:
            self.assertNotIn(secret, seen.text)

    def test_what_the_hosts_of_others_said_of_themselves_is_left_out(self):
        made = test_bundle.document()
        made["cells"][0]["hosts"] = [{"side": side, "implementation": name, "driver": "", "driver_version": "", "firmware": "", "kernel": ""}
                                     for side, name in (("initiator", "acme0"), ("responder", "secret0"))]
        made["cells"][0]["pcap_sha256"] = "0" * 64
        (self.folder / "fest" / "results.json").write_text(json.dumps(made))
        self.make()
        kept = json.loads((self.bundle / "results.json").read_text())["cells"][0]
        self.assertEqual([host["implementation"] for host in kept["hosts"]], ["acme0"])
        self.assertNotIn("pcap_sha256", kept)
        self.assertNotIn("secret0", "".join(path.read_text(errors="replace") for path in self.bundle.rglob("*") if path.is_file()))
