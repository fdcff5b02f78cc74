# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Turns the results of a run into reports; of the suite it uses only the schema in reports/schema/ and the rule files."""
