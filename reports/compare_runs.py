#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Compares a run with an earlier one, the baseline: what fails newly or in another way, what is fixed. Prints Markdown."""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
from rnic_reports import command, history, load, markdown  # noqa: E402

NAME = "rnic-suite diff"
EXAMPLES = """examples:
  rnic-suite diff base out                        a gate without a list of known issues: only what got worse fails
  rnic-suite diff base out >> $GITHUB_STEP_SUMMARY

exit: 0 nothing got worse, 1 a case fails that did not fail in the baseline, or fails in another way, 2 usage,
3 results cannot be read, or one of the runs is not complete"""
LIST_LIMIT = 50


def lines_of(before, after, changes):
    """The comparison as Markdown."""
    yield f"## {', '.join(history.in_words(changes)) or 'no change'} since the baseline"
    yield ""
    for words, run in (("baseline", before), ("run", after)):
        yield f"- {words}: {markdown.code(run.iut)}, {markdown.code(run.version)}, suite {markdown.code(run.suite)}, {markdown.code(run.start)}"
        if not run.complete:
            yield "  **incomplete**"
    for kind in history.KINDS:
        found = [one for one in changes if one.kind == kind]
        if not found:
            continue
        yield from ("", f"### {history.KIND_WORDS[kind].capitalize()} ({len(found)})", "")
        yield from (_line(one) for one in found[:LIST_LIMIT])
        if len(found) > LIST_LIMIT:
            yield f"- and {len(found) - LIST_LIMIT} more"


def _line(change):
    before, after = (f"{one.verdict.replace('_', ' ')}" if one else "absent" for one in (change.before, change.after))
    why = f": {markdown.code(change.after.why)}" if change.after and change.after.why else ""
    return f"- {markdown.code(change.case)}: {before} → {after}{why}"


def main(argv=None):
    parser = command.Parser(prog=NAME, description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("baseline", metavar="BASELINE", type=pathlib.Path, help="the folder of the earlier run")
    parser.add_argument("run", metavar="OUT_DIR", type=pathlib.Path, help="the folder of the run to judge")
    arguments = parser.parse_args(argv)
    try:
        before, after = history.read(arguments.baseline), history.read(arguments.run)
    except load.Unreadable as fault:
        command.tell(NAME, fault)
        return 3
    changes = history.compare(before, after)
    print("\n".join(lines_of(before, after, changes)))
    if not (before.complete and after.complete):
        return 3
    return 1 if any(change.worse for change in changes) else 0


if __name__ == "__main__":
    sys.exit(command.ended(NAME, main))
