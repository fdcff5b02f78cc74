# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What a vendor reads in place of the names of others."""

import unittest

from rnic_reports import hiding


def participant(name, vendor="", alias=""):
    return {"name": name, "vendor": vendor, "alias": alias}


class Hiding(unittest.TestCase):
    def test_who_has_no_alias_has_a_number(self):
        self.assertEqual(hiding.aliases([participant("zeta", alias="vendor Z"), participant("gamma")]), {"zeta": "vendor Z", "gamma": "peer-2"})

    def test_names_and_vendors_in_any_case_and_within_words(self):
        hide = hiding.hider([participant("zeta", "Zeta Silicon", "vendor Z"), participant("n1"), participant("n12")])
        self.assertEqual(hide("ZETA, zetadrv of ZETA SILICON"), "vendor Z, vendor Zdrv of vendor Z")
        self.assertEqual(hide("n12 to n1"), "peer-3 to peer-2")

    def test_a_short_name_is_no_part_of_a_word(self):
        hide = hiding.hider([participant("a"), participant("hp", "HP")])
        self.assertEqual(hide("a graph of HP: a_1, hp-gen9"), "peer-1 graph of peer-2: peer-1_1, peer-2-gen9")

    def test_a_device_of_a_short_name_is_hidden_and_octets_are_not(self):
        hide = hiding.hider([participant("a"), participant("hp", "HP"), participant("n1"), participant("amd", "AMD")])
        self.assertEqual(hide("HP0, hp12_1, hpx, php, a5 a5, n12, n1, AMD0, 6.1.0-25-amd64"),
                         "peer-2-0, peer-2-12_1, hpx, php, a5 a5, n12, peer-3, peer-4-0, 6.1.0-25-amd64")

    def test_a_replacement_is_not_replaced_again(self):
        hide = hiding.hider([participant("alpha", alias="beta's friend"), participant("beta", alias="vendor 2")])
        self.assertEqual(hide("alpha, beta"), "beta's friend, vendor 2")

    def test_nobody_to_hide(self):
        self.assertEqual(hiding.hider([])("zeta"), "zeta")
