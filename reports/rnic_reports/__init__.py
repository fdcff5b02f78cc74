# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Turns the results of a run into reports; knows of the suite only the schema in reports/schema/ and the rule files."""
