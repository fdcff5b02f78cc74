#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""tshark with the plugin, as a plain user has it, and rnic-lint beside it: what the tests of the plugin run."""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "lint/tests"))
import program_test as made  # noqa: E402  frames written by hand

PROGRAMS = None  # set by main
SCRATCH = None
GIVEN_UP = 600  # seconds after which a program is taken to hang, however busy the machine
NOBODY = 65534


def plain_user():
    """Wireshark ignores folders of plugins that the superuser names."""
    if PROGRAMS.root:
        return ["chroot", f"--userspec={NOBODY}:{NOBODY}", "--groups=", PROGRAMS.root]
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.getuid() == 0 else []


def seen_by_tshark(word):
    """A path as it is within the other Debian, if tshark is that one's."""
    return str(word).replace(PROGRAMS.root, "", 1) if PROGRAMS.root else str(word)


def tshark(*words, code=0):
    environment = dict(os.environ, HOME=seen_by_tshark(SCRATCH / "home"), LC_ALL="C.UTF-8",
                       WIRESHARK_PLUGIN_DIR=seen_by_tshark(SCRATCH / "plugins"))
    environment.pop("XDG_CONFIG_HOME", None)
    run = subprocess.run([*plain_user(), PROGRAMS.tshark, *map(seen_by_tshark, words)], env=environment, capture_output=True, timeout=GIVEN_UP)
    assert run.returncode == code, (words, run.returncode, run.stderr.decode())
    return run.stdout.decode()


def fields(file, names, *words):
    """Lists of values of the named fields, frame by frame."""
    chosen = [word for name in names for word in ("-e", name)]
    lines = tshark("-n", "-r", file, *words, "-T", "fields", "-E", "separator=/t", "-E", "aggregator=|", *chosen).splitlines()
    return [[cell.split("|") if cell else [] for cell in line.split("\t")] for line in lines]


def lint(file, *words):
    run = subprocess.run([PROGRAMS.lint, "--json", *words, str(file)], capture_output=True, timeout=GIVEN_UP)
    assert run.returncode in (0, 1, 4), run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def lint_violations(file, *words):
    return sorted((line["rule"], line["frame"]) for line in lint(file, *words) if line["type"] == "violation")


@functools.cache
def plugin_violations(file, *words):
    found = []
    for number, rules, frames in fields(file, ["frame.number", "rnic_iwarp.violation.rule", "rnic_iwarp.violation.frame"], *words):
        assert len(rules) == len(frames), (number, rules, frames)
        if "-2" in words:
            assert set(frames) <= set(number), "each stands where it belongs"
        found += zip(rules, map(int, frames))
    return sorted(found)


def prepare():
    SCRATCH.chmod(0o755)
    module = pathlib.Path(PROGRAMS.module)
    folder = SCRATCH / "plugins" / module.parent.parent.name / "epan"
    folder.mkdir(parents=True)
    shutil.copy(module, folder)
    shutil.copytree(HERE.parent / "profile", SCRATCH / "home/.config/wireshark/profiles/iWARP")
    for path in [SCRATCH / "home", *(SCRATCH / "home").rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o666)


def hand_made(name, frames):
    file = SCRATCH / name
    file.write_bytes(made.pcap(frames))
    return file
