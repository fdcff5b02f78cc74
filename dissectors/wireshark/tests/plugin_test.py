#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The plugin in tshark, as a plain user has it: the same violations as rnic-lint in what the reference RNIC sends, right and wrong, and
in every capture of the corpus; and all that display_test.py, messages_test.py and statistics_test.py look at."""

import argparse
import collections
import gzip
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest

import plugin
from display_test import Display  # noqa: F401  run by unittest.main
from messages_test import Messages  # noqa: F401
from statistics_test import DecodeAs, Statistics  # noqa: F401

CORPUS = plugin.HERE.parent.parent / "corpus"
FUZZED = plugin.HERE / "corpus"
DEVIATIONS = [[], ["startup_reserved_bits_set"], ["pd_length_one_too_many"], ["request_r_bit_set"], ["marker_pointer_wrong"],
              ["crc_octets_reversed", "pad_not_zero"]]


def joined(parts, file):
    """These captures in one, since starting tshark takes longer than what it has to do."""
    assert parts
    header = parts[0].read_bytes()[:24]
    with open(file, "wb") as out:
        out.write(header)
        for part in parts:
            octets = part.read_bytes()
            assert octets[:4] == header[:4] and octets[20:24] == header[20:24], "one byte order, one link type"
            out.write(octets[24:])
    return file


def reference_run(deviations):
    name = "-".join(deviations) or "clean"
    out = plugin.SCRATCH / f"run-{name}"
    words = [word for deviation in deviations for word in ("--deviation", deviation)]
    patterns = ["mpa.*", "ddp.headers.*"] if deviations else ["mpa.*", "ddp.*", "rdmap.read_ranges.*", "rdmap.message_validation.*", "rdmap.atomic*"]
    selected = [word for pattern in patterns for word in ("--select", pattern)]
    run = subprocess.run([plugin.PROGRAMS.suite, "run", "--link", "memory", *selected, *words, "--out", str(out)], capture_output=True,
                         timeout=plugin.GIVEN_UP)
    assert run.returncode in (0, 1), run.stderr.decode()
    return joined(sorted((out / "pcap").glob("*.pcap")), plugin.SCRATCH / f"{name}.pcap")


def damaged(file, seed):
    """The capture with wrong octets, cut and lost frames; the file itself stays whole."""
    chance = random.Random(seed)
    octets, out, at = file.read_bytes(), plugin.SCRATCH / f"{file.stem}-{seed}.pcap", 24
    with open(out, "wb") as to:
        to.write(octets[:24])
        while at < len(octets):
            header, (kept,) = octets[at:at + 16], struct.unpack_from("<I", octets, at + 8)
            frame = bytearray(octets[at + 16:at + 16 + kept])
            at += 16 + kept
            for _ in range(chance.choice([0, 0, 0, 1, 3])):
                frame[chance.randrange(14, kept)] = chance.randrange(256)
            length = chance.randrange(14, kept + 1) if chance.random() < 0.05 else kept
            if chance.random() < 0.97:
                to.write(header[:8] + struct.pack("<I", length) + header[12:] + frame[:length])
    return out


class Reference(unittest.TestCase):
    """What the reference RNIC and its tester sent each other."""

    @classmethod
    def setUpClass(cls):
        cls.files = [reference_run(deviations) for deviations in DEVIATIONS]

    def test_same_violations_as_lint(self):
        total = 0
        for file in self.files:
            expected = plugin.lint_violations(file)
            total += len(expected)
            with self.subTest(file=file.name):
                self.assertEqual(plugin.plugin_violations(file, "-2"), expected)
        self.assertGreater(total, 100, "there is something to compare")

    def test_damaged_captures_are_judged_as_by_lint(self):
        for seed in range(3):
            with self.subTest(seed=seed):
                file = damaged(self.files[1], seed)
                expected = plugin.lint_violations(file)
                self.assertGreater(len(expected), 100)
                self.assertEqual(plugin.plugin_violations(file, "-2"), expected)
                plugin.tshark("-r", file, "-V")

    def test_one_pass_says_what_the_frames_brought_about(self):
        """All but what is only known after the last frame."""
        for file in self.files:
            with self.subTest(file=file.name):
                once, known = (collections.Counter(plugin.plugin_violations(file, *words)) for words in ([], ["-2"]))
                self.assertFalse(once - known)
                self.assertLess(sum((known - once).values()), 1 + sum(known.values()) // 10)

    def test_expert_counts_by_rule(self):
        for file in self.files[:2]:
            summary = plugin.tshark("-r", file, "-q", "-z", "expert")
            counted = {rule: int(count) for count, rule in re.findall(r"^ +(\d+) +Protocol +RNIC iWARP +(\S+) \(", summary, re.M)}
            expected = collections.Counter(rule for rule, _ in plugin.plugin_violations(file))
            self.assertEqual(counted, dict(expected))

    def test_markers_are_shown_and_stripped(self):
        rows = plugin.fields(self.files[0], ["iwarp_mpa.marker_fpduptr", "rnic_iwarp.marker.expected"], "-Y", "iwarp_mpa.marker_fpduptr")
        self.assertGreater(len(rows), 50)
        self.assertGreater(sum(came == fits for came, fits in rows), len(rows) * 0.8)

    def test_messages_are_those_of_lint(self):
        said = collections.Counter(line["text"] for line in plugin.lint(self.files[0], "--follow") if line["type"] == "message")
        shown = collections.Counter()
        for (summaries,) in plugin.fields(self.files[0], ["rnic_iwarp.summary"], "-2", "-Y", "rnic_iwarp.summary"):
            shown.update("|".join(summaries).split("|"))
        # A summary may hold the bar that parts values.
        parts = collections.Counter(part for text, count in said.items() for part in text.split("|") for _ in range(count))
        self.assertEqual(shown, parts)

    def test_requests_and_responses_point_to_each_other(self):
        rows = plugin.fields(self.files[0], ["frame.number", "rnic_iwarp.request_in", "rnic_iwarp.response_in", "rnic_iwarp.response_time"],
                      "-2", "-Y", "rnic_iwarp.request_in || rnic_iwarp.response_in")
        there = {(request, number) for (number,), requests, _, _ in rows for request in requests}
        back = {(number, response) for (number,), _, responses, _ in rows for response in responses}
        self.assertGreater(len(there), 20)
        self.assertEqual(there, back)
        self.assertTrue(all(len(requests) == len(times) for _, requests, _, times in rows))

    def test_statistics(self):
        # What only the end of the capture brings out (segments after a hole that nothing filled) is counted by a second pass alone.
        table = plugin.tshark("-r", self.files[0], "-2", "-q", "-z", "rnic_iwarp,tree")
        counted = {name.strip(): int(count) for name, count in re.findall(r"^ ?(\S[\w .-]*?) {2,}(\d+) ", table, re.M)}
        expected = collections.Counter()
        for line in plugin.lint(self.files[0]):
            if line["type"] == "connection":
                for end in ("first", "second"):
                    expected.update(line[end]["operations"])
        self.assertEqual(counted["Messages"], sum(expected.values()))
        self.assertIn("Response time in microseconds", counted)


class Corpus(unittest.TestCase):
    """Each capture of the corpus: those in the repository, and those of every deviation."""

    def same_as_lint(self, file):
        expected = plugin.lint_violations(file)
        self.assertEqual(plugin.plugin_violations(file, "-2"), expected)
        return len(expected)

    def each_same_as_lint(self, folder):
        files = sorted(folder.glob("*.pcap.gz"))
        self.assertGreater(len(files), 10)
        for packed in files:
            with self.subTest(file=packed.name):
                file = plugin.SCRATCH / packed.stem
                file.write_bytes(gzip.decompress(packed.read_bytes()))
                self.same_as_lint(file)

    def test_recorded_and_hand_made_captures(self):
        for folder in ("samples", "siw"):
            self.each_same_as_lint(CORPUS / folder)

    def test_what_fuzzing_found_of_use(self):
        self.each_same_as_lint(FUZZED)

    def test_captures_of_deviations(self):
        """Fifty in one file, since starting tshark takes longer than what it has to do; connections of one get their numbers from all.
        With --sample N those of every Nth deviation."""
        folder = plugin.SCRATCH / "deviations"
        run = subprocess.run([plugin.PROGRAMS.self_test, "--link", "memory", "--captures", folder], capture_output=True, timeout=plugin.GIVEN_UP)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        parts = sorted(folder.glob("*.pcap"))
        self.assertGreater(len(parts), 400)
        parts = parts[::plugin.PROGRAMS.sample]
        total = 0
        for begin in range(0, len(parts), 50):
            with self.subTest(first=parts[begin].name):
                total += self.same_as_lint(joined(parts[begin:begin + 50], plugin.SCRATCH / f"deviations-{begin}.pcap"))
        self.assertGreater(total, 1000 // plugin.PROGRAMS.sample, "there is something to compare")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for program in ("module", "suite", "self-test", "lint", "tshark"):
        parser.add_argument(f"--{program}", required=True)
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="compare the captures of every Nth deviation (default: of each)")
    parser.add_argument("--root", default="", help="folder of another Debian, whose tshark is to be used (root only)")
    plugin.PROGRAMS, rest = parser.parse_known_args()
    root = plugin.PROGRAMS.root = plugin.PROGRAMS.root.rstrip("/")
    with tempfile.TemporaryDirectory(dir=f"{root}/tmp" if root else None) as folder:
        plugin.SCRATCH = pathlib.Path(folder)
        plugin.prepare()
        unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
