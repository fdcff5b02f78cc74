#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Installs the agent by tools/install_agent.sh, as on another host, where `ssh` is a shell of this one, and runs what it has built."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess


def run(words, environment, status=0):
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--launcher", default="")
    parser.add_argument("script", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path, help="for what is installed; it is made anew")
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir()
    shell = options.folder / "ssh"
    shell.write_text('#!/bin/sh\n[ "$1 $2 $3 $4" = "-o BatchMode=yes -- root@dut" ] || { echo "ssh: no route to $4" >&2; exit 255; }\nexec sh -c "$5"\n')
    shell.chmod(0o755)
    environment = {**os.environ, "PATH": f"{options.folder}:{os.environ['PATH']}", "CXX": options.compiler, "CMAKE_BUILD_TYPE": "Debug"}
    if options.launcher:
        environment["CMAKE_CXX_COMPILER_LAUNCHER"] = options.launcher
    said = run([options.script, "--host", "root@dut", "--prefix", options.folder / "installed"], environment)
    assert re.fullmatch(r"rnic-agent \d+\.\d+\.\d+ \(commit [0-9a-f]{40}(-dirty)?\)|rnic-agent .* \(commit unknown\)", said.stdout.strip()), said.stdout
    assert "is not in the PATH of a command that ssh runs there" in said.stderr, said.stderr
    shown = run([options.folder / "installed/bin/rnic-agent", "--help"], environment)
    assert shown.stdout.startswith("usage: rnic-agent"), shown.stdout
    tls = [word for option in ("peer", "certificate", "key", "ca") for word in (f"--{option}", "x")]
    refused = run([options.folder / "installed/bin/rnic-agent", "--driver", "verbs", "--connect", "1", *tls], environment, status=2)
    assert "is not HOST:PORT" in refused.stderr, refused.stderr  # it was not left out
    lost = run([options.script, "--host", "root@other"], environment, status=1)
    assert "the agent cannot be built on root@other" in lost.stderr, lost.stderr
    for bad in (["--prefix", "here"], ["--host", "-oProxyCommand=x"], ["--build-here"], ["--no-such-option"]):
        run([options.script, *bad], environment, status=2)


if __name__ == "__main__":
    main()
