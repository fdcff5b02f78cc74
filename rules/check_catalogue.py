#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Checks the form of the rule files, and, if the RFCs' texts are at hand, that every section with keyword sentences has its rules and every rule of
an RFC quotes its section."""

import argparse
import collections
import pathlib
import re
import sys

import catalogue_files

TEXTS = pathlib.Path(__file__).resolve().parents[2] / "shared" / "rfc"
KEYWORD = re.compile(r"\b(MUST|SHALL|SHOULD|REQUIRED|RECOMMENDED|MAY|OPTIONAL)\b")
SECTION = re.compile(r"^(\d+(?:\.\d+)*|Appendix [A-Z]|[A-Z](?:\.\d+)+)[.:]?  ?\S")
PAGE_FURNITURE = re.compile(r"^(RFC \d{4} |\S.*\[Page \d+\]|\f)")
BOILERPLATE = "in this document are to be interpreted"
ABOUT_KEYWORDS = re.compile(r"normative (SHOULD )?statements|SHOULD is changed to a MUST")  # says how to read the text, binds nobody


def sections(text):
    """Yields (section number, text without page furniture) of an RFC, table of contents left out."""
    number, lines = None, []
    for line in text.splitlines():
        if PAGE_FURNITURE.match(line):
            continue
        start = SECTION.match(line)
        if start and "...." not in line:
            if number:
                yield number, "\n".join(lines)
            number, lines = start.group(1).removeprefix("Appendix "), []
        lines.append(line)
    if number:
        yield number, "\n".join(lines)


def keyword_sentences(text):
    """The number of sentences in `text` that hold a capitalised requirement word."""
    flat = " ".join(text.split())
    sentences = re.split(r"(?<=[.:;])\s+(?=[A-Z\"*o\d])", flat)
    return sum(1 for sentence in sentences if KEYWORD.search(sentence)
               and BOILERPLATE not in flat and not ABOUT_KEYWORDS.search(sentence))


def coverage(rules, folder):
    """Yields (rfc, section, sentences, rules) for each section that has keyword sentences."""
    having = collections.Counter((rule["rfc"], str(rule["section"]).removeprefix("Appendix ")) for rule in rules)
    for rfc in sorted({rule["rfc"] for rule in rules} - set(catalogue_files.NO_RFCS)):
        for number, text in sections((folder / f"rfc{rfc}.txt").read_text(errors="replace")):
            wanted = keyword_sentences(text)
            if wanted:
                yield rfc, number, wanted, having[(rfc, number)]


def faults_of_quote(rule, text):
    """One line for a quotation that is missing or is not in `text`, the words of the rule's section; `[...]` stands for words left out."""
    where = f"{rule['file']}: {rule['id']}"
    if not rule.get("quote"):
        yield f"{where}: `quote` is missing: the words of the section that the rule is made of"
        return
    at = 0
    for part in (" ".join(part.split()) for part in rule["quote"].split("[...]")):
        found = text.find(part, at)
        if found < 0:
            yield f"{where}: section {rule['section']} has no \"{part}\"" + (" behind the words before it" if part in text else "")
            return
        at = found + len(part)


def faults_of_quotes(rules, folder):
    """The quotations of all rules of RFCs against the texts in `folder`."""
    for rfc in sorted({rule["rfc"] for rule in rules} - set(catalogue_files.NO_RFCS)):
        texts = {number: " ".join(text.split()) for number, text in sections((folder / f"rfc{rfc}.txt").read_text(errors="replace"))}
        for rule in (rule for rule in rules if rule["rfc"] == rfc):
            yield from faults_of_quote(rule, texts.get(str(rule["section"]).removeprefix("Appendix "), ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: check_catalogue.py --rfc-folder ../rfc rules/rfc*.yaml")
    parser.add_argument("--rfc-folder", type=pathlib.Path, default=TEXTS if TEXTS.is_dir() else None,
                        help="folder with rfcNNNN.txt (default: shared/rfc beside the project, if it is there); else only the form is checked")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    rules, version = catalogue_files.load_or_exit(arguments.files)
    found = list(catalogue_files.faults(rules))
    if arguments.rfc_folder:
        for rfc, section, wanted, have in coverage(rules, arguments.rfc_folder):
            if have < wanted:
                found.append(f"RFC {rfc} section {section}: {wanted} keyword sentences, {have} rules")
        found.extend(faults_of_quotes(rules, arguments.rfc_folder))
    for fault in found:
        print(fault, file=sys.stderr)
    levels = collections.Counter(rule["level"] for rule in rules)
    checks = collections.Counter(rule["check"] for rule in rules)
    print(f"{len(rules)} rules, version {version}: {dict(levels)}, {dict(checks)}; {len(found)} faults"
          + ("" if arguments.rfc_folder else "; without the RFCs' texts, only the form is checked"))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
