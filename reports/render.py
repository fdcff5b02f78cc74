#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Makes the reports of a run: an HTML page, JUnit XML, and a Markdown summary; where asked, SARIF and a GitHub workflow's annotations."""

import argparse
import gc
import pathlib
import sys

sys.dont_write_bytecode = True
from rnic_reports import catalogue, command, files, github, junit, load, markdown, sarif  # noqa: E402

# Only the page needs more than Python itself: without it CI still gets its JUnit.
try:
    from rnic_reports import html
except ImportError as error:
    html, missing = None, error

NAME = "rnic-suite report"
EXAMPLES = """examples:
  rnic-suite report out                                  out/report.html, out/junit.xml, out/summary.md
  rnic-suite report out --junit ci/junit.xml             JUnit elsewhere, the others beside the results
  rnic-suite report out --html /tmp/siw.html             links to the pcaps lead from there to out/pcap
  rnic-suite report out --sarif out/rnic.sarif --github --location drivers/infiniband/sw/siw/siw_main.c
                                                         findings for code scanning, and annotations on standard output

exit: 0 all reports are written, 2 usage, 3 the results cannot be read or a report cannot be written"""


def arguments_of(argv):
    parser = command.Parser(
        prog=NAME, description=__doc__ + " Reads results.json, or results.ndjson where a run was killed.", epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="OUT_DIR", type=pathlib.Path, help="the folder that the run wrote its results into")
    parser.add_argument("--html", metavar="FILE", type=pathlib.Path, help="default: OUT_DIR/report.html")
    parser.add_argument("--junit", metavar="FILE", type=pathlib.Path, action="append", help="default: OUT_DIR/junit.xml; may be repeated")
    parser.add_argument("--markdown", metavar="FILE", type=pathlib.Path, help="default: OUT_DIR/summary.md")
    parser.add_argument("--sarif", metavar="FILE", type=pathlib.Path, help="write SARIF 2.1.0, too; default: none")
    parser.add_argument("--github", action="store_true", help="print annotations of a GitHub workflow on standard output")
    parser.add_argument("--location", metavar="PATH", default="",
                        help="file of the gated repository that SARIF and annotations point at; default: the source of the case")
    parser.add_argument("--rules", metavar="DIR", type=pathlib.Path, default=catalogue.RULES_FOLDER,
                        help="folder of the rule catalogue; default: the one beside this program")
    return parser.parse_args(argv)


def write_reports(arguments, report, rules):
    """Writes what can be written, the one for machines first; yields one line for each that could not be."""
    html_path = arguments.html or arguments.folder / "report.html"
    makers = (
        *((path, lambda: junit.junit(report)) for path in arguments.junit or [arguments.folder / "junit.xml"]),
        (arguments.markdown or arguments.folder / "summary.md", lambda: markdown.markdown(report, rules)),
        *([(arguments.sarif, lambda: sarif.sarif(report, rules, arguments.location))] if arguments.sarif else []),
        *([(html_path, lambda: html.render(report, rules, arguments.folder, html_path))] if html else []),
    )
    if not html:
        yield f"{html_path}: not made: {missing}; install python3-jinja2 and python3-yaml"
    for path, make in makers:
        try:
            files.write(path, make())
        except OSError as error:
            yield f"{path}: cannot be written: {error.strerror}"


def main(argv=None):
    arguments = arguments_of(argv)
    gc.disable()  # millions of small values and no cycles: looking for them takes a fifth of the time
    try:
        report = load.load(arguments.folder)
    except load.Unreadable as fault:
        command.tell(NAME, fault)
        return 3
    rules = catalogue.load(arguments.rules, report.run.catalogue)
    for note in [*report.notes, *([rules.note] if rules.note else [])]:
        command.tell(NAME, f"note: {note}")
    faults = list(write_reports(arguments, report, rules))
    for fault in faults:
        command.tell(NAME, fault)
    if arguments.github:
        for line in github.annotations(report, rules, arguments.location):
            print(line)
    return 3 if faults else 0


if __name__ == "__main__":
    sys.exit(command.ended(NAME, main))
