#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Draws one-line mutants of the reference RNIC and checks whether the suite's verdicts notice them.

Each mutant changes one line of reference_rnic/stream or reference_rnic/verbs in a private copy of the tree, is built, and is judged by
every case over the in-memory link; a mutant that passes the cases runs the unit tests of the RNIC. A mutant is caught if the run shows a new
failure or does not end normally; the result says which of the two caught it. The draw depends on --seed and the sources only.
"""

import argparse
import concurrent.futures
import json
import pathlib
import random
import re
import subprocess
import sys

from workshop import Workshop

UNIT_TESTS = ("reference_rnic/stream/tests/stream_test", "reference_rnic/verbs/tests/verbs_test", "reference_rnic/access/tests/access_test")
# A few cases of each kind, run before all of them: most mutants fail here already, and that saves the rest of the run.
FIRST = ("rdmap.transfer_integrity.*", "rdmap.read.*", "rdmap.close.*", "rdmap.completions.*", "mpa.framing.*", "mpa.enhanced_*")
JUDGE = ("--iut", "reference", "--link", "memory", "--no-capture", "--strict")
ROOMS = ("reference_rnic/stream", "reference_rnic/verbs")
# (name, pattern, replacement): applied at one match in one line.
OPERATORS = [
    ("equal", r"==", "!="),
    ("not-equal", r"!=", "=="),
    ("less", r"(?<=[\w\])] )<(?= [\w(])", "<="),
    ("less-equal", r"(?<= )<=(?= )", "<"),
    ("greater", r"(?<=[\w\])] )>(?= [\w(])", ">="),
    ("greater-equal", r"(?<= )>=(?= )", ">"),
    ("and", r"&&", "||"),
    ("or", r"\|\|", "&&"),
    ("plus", r"(?<=[\w\])] )\+(?= [\w(])", "-"),
    ("minus", r"(?<=[\w\])] )-(?= [\w(])", "+"),
    ("increment", r"\+\+(?=\w)", "--"),
    ("plus-assign", r"\+=", "-="),
    ("true", r"\btrue\b", "false"),
    ("false", r"\bfalse\b", "true"),
    ("zero", r"(?<=[=( ])0(?=[;,)])", "1"),
    ("one", r"(?<=[=( ])1(?=[;,)])", "2"),
    ("negate", r"(?<=if \()(?=[a-z])", "!"),
    ("drop-call", r"^(\s+)[a-z_][\w.>-]*\(.*\);$", r"\1;"),
    ("drop-assignment", r"^(\s+)[a-z_][\w.>\[\]-]* = .*;$", r"\1;"),
]
SKIP = re.compile(r"^\s*(//|#|static_assert|assert|using|namespace|template|return \"|case .*return \")|^\s*\"|describe|detail")


def candidates(root):
    """All (file, line number, operator, column, mutated line), in a fixed order."""
    for room in ROOMS:
        for path in sorted((root / room).glob("*.cpp")):
            for number, line in enumerate(path.read_text().splitlines()):
                if SKIP.search(line):
                    continue
                code = line.split("//")[0].rstrip()
                for name, pattern, replacement in OPERATORS:
                    for match in re.finditer(pattern, code):
                        mutated = code[: match.start()] + match.expand(replacement) + code[match.end():]
                        yield path.relative_to(root).as_posix(), number, name, match.start(), mutated


class Judge(Workshop):
    """A workshop in which one line at a time is changed, built and judged."""

    def failing_unit_test(self, timeout):
        """The first unit test of the RNIC that fails; None if all pass."""
        for test in UNIT_TESTS:
            try:
                failed = subprocess.run([self.build / test], capture_output=True, timeout=timeout).returncode
            except subprocess.TimeoutExpired:
                failed = True
            if failed:
                return test.rpartition("/")[2]
        return None

    def cases(self, timeout, *select):
        """The exit code of a run of these cases, or of all, and the cases that it does not pass."""
        code, document = self.run(*JUDGE, *(word for one in select for word in ("--select", one)), timeout=timeout)
        return code, sorted({case["id"] for case in document["cases"] if case["verdict"] in ("fail", "error", "inconclusive")}) if document else []

    def judge_mutant(self, mutant, timeout):
        file, number, operator, _, mutated = mutant
        path = self.tree / file
        original = path.read_text()
        lines = original.splitlines()
        record = {"file": file, "line": number + 1, "operator": operator, "before": lines[number].strip(), "after": mutated.strip()}
        lines[number] = mutated
        path.write_text("\n".join(lines) + "\n")
        try:
            built = self.compile("rnic-suite")
            if built.returncode:
                return {**record, "outcome": "does not compile"}
            code, failed = self.cases(timeout, *FIRST)
            if code in (0, 4):
                code, failed = self.cases(timeout)
            if code not in (0, 4):
                return {**record, "outcome": "caught", "by": "cases", "exit": code, "failed": failed[:8], "failures": len(failed)}
            unit = "the compiler" if self.compile(*UNIT_TESTS).returncode else self.failing_unit_test(timeout)
            return {**record, "outcome": "caught", "by": unit} if unit else {**record, "outcome": "survived"}
        finally:
            path.write_text(original)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="example: tools/mutation/mutate.py --seed 1 --count 100 --out out/mutants.json")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100, help="mutants that compile and run (default 100)")
    parser.add_argument("--jobs", type=int, default=2, help="private copies that work side by side (default 2)")
    parser.add_argument("--again", type=pathlib.Path, metavar="FILE", 
                        help="only the survivors of this earlier result, as far as their lines stand; --out gets its other mutants as they are")
    parser.add_argument("--resume", action="store_true", help="go on with the draw that --out has the beginning of")
    parser.add_argument("--preset", default="dev")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run (default 120)")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/mutants"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/mutants.json"))
    return parser.parse_args()


def draw(workshop, queue, wanted, results, arguments):
    while len(wanted) and queue:
        try:
            wanted.pop()
            while True:
                result = workshop.judge_mutant(queue.pop(), arguments.timeout)
                results.append(result)
                write(results, arguments)
                print(f"{result['outcome']:>16}  {result['file']}:{result['line']}  {result['before']}  ->  {result['after']}", flush=True)
                if result["outcome"] != "does not compile":
                    break
        except IndexError:
            return


def judged_already(document, queue, seed):
    """The results of an earlier run that belong to this draw, and the queue without them."""
    key = {(one["file"], one["line"], one["operator"], one["after"]): one for one in document["mutants"]} if document["seed"] == seed else {}
    left, results = [], []
    for mutant in queue:
        known = key.pop((mutant[0], mutant[1] + 1, mutant[2], mutant[4].strip()), None)
        results.append(known) if known else left.append(mutant)
    return results, left


def survivors_again(document, queue, root):
    """The results of an earlier run without its survivors, and the survivors as a queue. A survivor whose line has moved is found by its text."""
    texts = {name: (root / name).read_text().splitlines() for name in {one[0] for one in queue}}
    def key(mutant):
        return mutant[0], texts[mutant[0]][mutant[1]].strip(), mutant[4].strip()
    survived = {(one["file"], one["before"], one["after"], one["line"]) for one in document["mutants"] if one["outcome"] == "survived"}
    here = {(*key(one), one[1] + 1) for one in queue}
    moved = {one[:3] for one in survived - here}
    others = [one for one in document["mutants"] if one["outcome"] != "survived"]
    return others, [one for one in queue if (*key(one), one[1] + 1) in survived or key(one) in moved]


def write(results, arguments):
    """What is known so far, so that an interrupted draw is not lost; returns the counts."""
    counts = {outcome: sum(1 for result in results if result["outcome"] == outcome) for outcome in ("caught", "survived", "does not compile")}
    counts["caught by cases"] = sum(1 for result in results if result.get("by") == "cases")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps({"seed": arguments.seed, "counts": counts, "mutants": results}, indent=1) + "\n")
    return counts


def main():
    arguments = parse_arguments()
    root = pathlib.Path(__file__).resolve().parents[2]
    queue = list(candidates(root))
    random.Random(arguments.seed).shuffle(queue)
    queue.reverse()
    results = []
    if arguments.again:
        results, queue = survivors_again(json.loads(arguments.again.read_text()), queue, root)
        arguments.count = len(queue)
    print(f"{len(queue)} candidate mutants, drawing {arguments.count} with seed {arguments.seed}")
    if arguments.resume and arguments.out.exists():
        results, queue = judged_already(json.loads(arguments.out.read_text()), queue, arguments.seed)
        arguments.count -= sum(1 for one in results if one["outcome"] != "does not compile")
        print(f"{len(results)} of them are judged already")
    work = arguments.work.resolve()
    workshops = [Judge(root, work / str(index), arguments.preset) for index in range(arguments.jobs)]
    for workshop in workshops:
        built = workshop.compile("rnic-suite", *UNIT_TESTS)
        code, failed = (None, []) if built.returncode else workshop.cases(arguments.timeout)
        if built.returncode or code != 0:
            print(f"mutate.py: the unchanged tree must build and pass first (exit {code}, failing: {failed[:5]})\n{built.stdout[-2000:]}", file=sys.stderr)
            return 3
    wanted = list(range(arguments.count))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for done in [pool.submit(draw, workshop, queue, wanted, results, arguments) for workshop in workshops]:
            done.result()
    counts = write(results, arguments)
    print(f"{counts}; details in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
