#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Reads the jobs of docs/ci/. As a program it writes the script lines of each job to a file FILE.JOB.sh, to be run by a shell in the
folder of a checkout, as the CI system would: it has the job's variables, those of its environment first."""

import argparse
import pathlib
import shlex

import yaml

CI = pathlib.Path(__file__).resolve().parents[2] / "docs" / "ci"


def jobs():
    """(file, job, its variables, its lines)."""
    for path in sorted(CI.glob("*.yml")):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        for name, job in (document.get("jobs") or document).items():
            if not isinstance(job, dict) or not {"script", "steps"} & set(job):
                continue
            variables = {**document.get("env", {}), **document.get("variables", {}), **job.get("env", {})}
            yield path.name, name, variables, job.get("script") or [step["run"] for step in job["steps"] if "run" in step]


def script(variables, lines, more):
    text = ["set -e"]
    # An expression of GitHub's is not known here: the environment has to have it.
    text += [f'export {name}="${{{name}-{value}}}"' for name, value in variables.items() if "${{" not in value]
    return "\n".join(text + [f"{line} {more}" if "gate.sh" in line else line for line in lines]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: tools/tests/ci_jobs.py --more \"--select 'ddp.*'\" /tmp/jobs")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--more", default="", help="options that the line of the gate gets in addition")
    arguments = parser.parse_args()
    more = shlex.join(shlex.split(arguments.more))
    for file, name, variables, lines in jobs():
        (arguments.folder / f"{pathlib.Path(file).stem}.{name}.sh").write_text(script(variables, lines, more), encoding="utf-8")


if __name__ == "__main__":
    main()
