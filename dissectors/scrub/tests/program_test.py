#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""rnic-scrub on the corpus: the judge finds the same, and nothing private is left. Usage: program_test.py RNIC_SCRUB RNIC_LINT"""

import gzip
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

SCRUB, LINT = sys.argv[1:3]
CORPUS = pathlib.Path(__file__).resolve().parents[2] / "corpus"
CAPTURES = sorted([*(CORPUS / "samples").glob("*.pcap.gz"), *(CORPUS / "siw").glob("*.pcap.gz")])
# What the judge says there depends on octets of the payload: which octets a wrong CRC covers, and where FPDUs begin after a hole.
REFUSED = {"faults_of_framing.pcap.gz", "lossy.pcap.gz", "lossy_with_markers.pcap.gz"}


def scrub(*words):
    return subprocess.run([SCRUB, *map(str, words)], capture_output=True, text=True, check=False)


def judged(file):
    """What rnic-lint says of each connection, without its addresses."""
    ended = subprocess.run([LINT, "--json", str(file)], capture_output=True, text=True, check=False)
    records = [json.loads(line) for line in ended.stdout.splitlines()]
    return ended.returncode, [(one["by_rule"], *(one[end][what] for end in ("first", "second") for what in ("role", "operations")))
                              for one in records if one["type"] == "connection"]


def frames(octets):
    at, found = 24, []
    while at < len(octets):
        kept = struct.unpack_from("<I", octets, at + 8)[0]
        found.append(octets[at + 16:at + 16 + kept])
        at += 16 + kept
    return found


class Scrub(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def test_the_judge_finds_the_same_in_every_capture_or_none_is_written(self):
        refused = set()
        for capture in CAPTURES:
            target = self.folder / (capture.name + ".pcap")
            done = scrub(capture, target)
            if done.returncode != 0:
                refused.add(capture.name)
                self.assertIn("so nothing is written", done.stderr)
                self.assertFalse(target.exists())
                continue
            self.assertEqual(judged(target), judged(capture), capture.name)
        self.assertEqual(refused, REFUSED)
        self.assertGreater(len(CAPTURES), 45)

    def test_nothing_private_is_left(self):
        capture = CORPUS / "siw" / "rping-6.1-to-6.12.pcap.gz"
        before = gzip.decompress(capture.read_bytes())
        self.assertIn(b"rdma-ping", before)
        scrub(capture, self.folder / "shown.pcap")
        after = (self.folder / "shown.pcap").read_bytes()
        self.assertNotIn(b"rdma-ping", after)
        old, new = frames(before), frames(after)
        self.assertEqual(len(old), len(new))
        private = {frame[at:at + length] for frame in old if frame[12:14] == b"\x08\x00" for at, length in ((0, 6), (6, 6), (26, 4), (30, 4))}
        for frame in new:
            self.assertFalse({frame[at:at + length] for at, length in ((0, 6), (6, 6), (26, 4), (30, 4))} & private)
            if frame[12:14] == b"\x08\x00":
                self.assertEqual((frame[26:29], frame[30:33]), (b"\xc0\x00\x02", b"\xc0\x00\x02"))
        # What stays: ports, sequence numbers, flags.
        tcp = [(a, b) for a, b in zip(old, new) if b[12:14] == b"\x08\x00"]
        self.assertGreater(len(tcp), 20)
        for was, now in tcp:
            self.assertEqual(was[34:46], now[34:46])

    def test_private_data_of_startup_is_zero_and_enhanced_words_stay(self):
        capture = CORPUS / "siw" / "rping-6.1-to-6.12.pcap.gz"
        scrub(capture, self.folder / "shown.pcap")
        request = next(frame for frame in frames((self.folder / "shown.pcap").read_bytes()) if b"MPA ID Req Frame" in frame)
        was = next(frame for frame in frames(gzip.decompress(capture.read_bytes())) if b"MPA ID Req Frame" in frame)
        at, before = request.index(b"MPA ID"), was.index(b"MPA ID")
        self.assertEqual(request[at:at + 24], was[before:before + 24])
        self.assertEqual(set(request[at + 24:]) | {0}, {0})

    def test_a_file_that_is_there_is_kept(self):
        there = self.folder / "there.pcap"
        there.write_bytes(b"mine")
        done = scrub(CAPTURES[0], there)
        self.assertEqual((done.returncode, there.read_bytes()), (2, b"mine"))

    def test_bad_input_is_one_line(self):
        empty = self.folder / "empty"
        empty.write_bytes(b"")
        torn = self.folder / "torn"
        torn.write_bytes(gzip.decompress(CAPTURES[0].read_bytes())[:-3])
        for words, code in (((), 2), ((CAPTURES[0],), 2), (("-", self.folder / "x"), 2), ((self.folder / "none", self.folder / "x"), 3),
                            ((empty, self.folder / "x"), 3), ((torn, self.folder / "x"), 3), ((CAPTURES[0], self.folder / "no" / "x"), 3)):
            done = scrub(*words)
            self.assertEqual((done.returncode, len(done.stderr.splitlines()), done.stdout), (code, 1, ""), words)
        self.assertFalse((self.folder / "x").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
