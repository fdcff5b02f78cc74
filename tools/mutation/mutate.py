#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Draws one-line mutants of the reference RNIC and asks whether the suite's verdicts notice them.

Each mutant changes one line of reference_rnic/stream or reference_rnic/verbs in a private copy of the tree, is built, and is judged by
every case over the in-memory link; what they let pass meets the unit tests of the RNIC. A mutant is caught when the run shows a new failure
or does not end in order; who caught it is told apart. The draw depends on --seed and the sources only.
"""

import argparse
import concurrent.futures
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys

UNIT_TESTS = ("reference_rnic/stream/tests/stream_test", "reference_rnic/verbs/tests/verbs_test", "reference_rnic/access/tests/access_test")
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
SKIP = re.compile(r"^\s*(//|#|static_assert|assert|using|namespace|template|return \"|case .*return \")|Deviation::|^\s*\"|describe|detail")


def deviating(lines):
    """The numbers of the lines that only a deviation reaches: a statement that asks for one, and the block or statement it guards."""
    numbers, statement, depth, guarded = set(), [], 0, None
    for number, line in enumerate(lines):
        code = line.split("//")[0].rstrip()
        statement.append(number)
        depth += code.count("{") - code.count("}")
        if guarded is not None:
            numbers.add(number)
            guarded = None if depth < guarded else guarded
        if not code or code[-1] not in ";{}:":
            continue
        if any("deviates" in lines[one] for one in statement):
            numbers.update(statement)
            if code[-1] == "{" and guarded is None:
                guarded = depth
        statement = []
    return numbers


def candidates(root):
    """All (file, line number, operator, column, mutated line), in a fixed order."""
    for room in ROOMS:
        for path in sorted((root / room).glob("*.cpp")):
            lines = path.read_text().splitlines()
            only_deviating = deviating(lines)
            for number, line in enumerate(lines):
                if SKIP.search(line) or number in only_deviating:
                    continue
                code = line.split("//")[0].rstrip()
                for name, pattern, replacement in OPERATORS:
                    for match in re.finditer(pattern, code):
                        mutated = code[: match.start()] + match.expand(replacement) + code[match.end():]
                        yield path.relative_to(root).as_posix(), number, name, match.start(), mutated


class Workshop:
    """One private copy of the tree with its own build folder."""

    def __init__(self, root, folder, preset, judge):
        # The preset's own place for it, so that a compiler cache knows the files of other trees.
        self.tree, self.build, self.judge = folder / "tree", folder / "tree/build" / preset, judge
        shutil.rmtree(self.tree, ignore_errors=True)
        self.tree.mkdir(parents=True)
        files = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=True).stdout
        subprocess.run(["tar", "-C", root, "--null", "-T", "-", "-cf", folder / "tree.tar"], input=files, check=True)
        subprocess.run(["tar", "-C", self.tree, "-xf", folder / "tree.tar"], check=True)
        subprocess.run(["cmake", "-S", self.tree, "--preset", preset], check=True, stdout=subprocess.DEVNULL)

    def compile(self, *targets):
        return subprocess.run(["ninja", "-C", self.build, *targets], capture_output=True, text=True)

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

    def run(self, timeout):
        out = self.build / "mutant-run"
        shutil.rmtree(out, ignore_errors=True)
        command = [self.build / "suite/runner/rnic-suite", "run", *self.judge, "--out", out]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            return "hung", []
        failed = []
        results = out / "results.json"
        if results.exists():
            document = json.loads(results.read_text())
            failed = sorted({case["id"] for case in document["cases"] if case["verdict"] in ("fail", "error", "inconclusive")})
        return done.returncode, failed

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
            code, failed = self.run(timeout)
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
    parser.add_argument("--again", type=pathlib.Path, metavar="FILE", help="only the survivors of this earlier result, as far as their lines stand")
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
    judge = ["--iut", "reference", "--link", "memory", "--no-capture", "--strict"]
    queue = list(candidates(root))
    random.Random(arguments.seed).shuffle(queue)
    queue.reverse()
    if arguments.again:
        before = {(one["file"], one["before"], one["after"]) for one in json.loads(arguments.again.read_text())["mutants"] if one["outcome"] == "survived"}
        queue = [one for one in queue if (one[0], (root / one[0]).read_text().splitlines()[one[1]].strip(), one[4].strip()) in before]
        arguments.count = len(queue)
    print(f"{len(queue)} candidate mutants, drawing {arguments.count} with seed {arguments.seed}")
    work = arguments.work.resolve()
    workshops = [Workshop(root, work / str(index), arguments.preset, judge) for index in range(arguments.jobs)]
    for workshop in workshops:
        built = workshop.compile("rnic-suite", *UNIT_TESTS)
        code, failed = (None, []) if built.returncode else workshop.run(arguments.timeout)
        if built.returncode or code != 0:
            print(f"mutate.py: the unchanged tree must build and pass first (exit {code}, failing: {failed[:5]})\n{built.stdout[-2000:]}", file=sys.stderr)
            return 3
    results, wanted = [], list(range(arguments.count))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for done in [pool.submit(draw, workshop, queue, wanted, results, arguments) for workshop in workshops]:
            done.result()
    counts = write(results, arguments)
    print(f"{counts}; details in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
