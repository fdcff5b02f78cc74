#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""guest_perftest.py in the siw guest: each contender is measured in each round, and the ratios are those of the figures."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "guest_perftest.py"
CONTENDERS = {"siw", "reference", "reference with CRC"}
PLAYED = {"write 1 MiB": "MB/s", "send latency": "us"}


class Measured(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "figures.json"
            only = [word for name in PLAYED for word in ("--only", name)]
            done = subprocess.run([sys.executable, "-B", PROGRAM, "--rounds", "2", *only, "--json", file], stdout=subprocess.PIPE, text=True, check=True)
            cls.said, cls.document = done.stdout, json.loads(file.read_text(encoding="utf-8"))

    def test_each_round_has_a_figure_of_each_contender(self):
        self.assertEqual(set(self.document), {"rounds", "medians"})
        self.assertEqual(len(self.document["rounds"]), 2)
        for played in self.document["rounds"]:
            self.assertEqual(set(played), set(PLAYED))
            for name, figures in played.items():
                self.assertEqual(set(figures), CONTENDERS)
                self.assertTrue(all(figure > 0 for figure in figures.values()), f"{name}: {figures}")

    def test_the_ratios_are_those_of_the_rounds(self):
        medians = self.document["medians"]
        self.assertEqual({name: of["unit"] for name, of in medians.items()}, PLAYED)
        for name, of in medians.items():
            rounds = [played[name] for played in self.document["rounds"]]
            for contender in CONTENDERS:
                # Above 1 is better than siw: of a latency, the lesser one.
                ratios = [one["siw"] / one[contender] if of["unit"] == "us" else one[contender] / one["siw"] for one in rounds]
                self.assertAlmostEqual(of[contender]["ratio"], sum(ratios) / 2)
                self.assertAlmostEqual(of[contender]["median"], sum(one[contender] for one in rounds) / 2)
            self.assertEqual(of["siw"]["ratio"], 1)

    def test_what_is_printed_has_a_line_of_each(self):
        lines = self.said.splitlines()
        self.assertEqual([line[:18].strip() for line in lines], ["", *PLAYED])
        for line, name in zip(lines[1:], PLAYED):
            self.assertIn(f"({self.document['medians'][name]['reference']['ratio']:.2f})", line.replace("( ", "("))


if __name__ == "__main__":
    unittest.main()
