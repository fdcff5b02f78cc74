#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Configures and builds the agent alone, and runs what it built."""
import argparse
import re
import subprocess


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--launcher", default="")
    parser.add_argument("source")
    parser.add_argument("build")
    options = parser.parse_args()
    configure = [options.cmake, "-S", options.source, "-B", options.build, "-DCMAKE_CXX_COMPILER=" + options.compiler,
                 "-DCMAKE_BUILD_TYPE=Debug"]
    if options.launcher:
        configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=" + options.launcher)
    subprocess.run(configure, check=True)
    subprocess.run([options.cmake, "--build", options.build], check=True)
    shown = subprocess.run([options.build + "/rnic-agent", "--help"], check=True, capture_output=True, text=True)
    assert shown.stdout.startswith("usage: rnic-agent"), shown.stdout
    shown = subprocess.run([options.build + "/rnic-agent", "--version"], check=True, capture_output=True, text=True)
    assert re.fullmatch(r"rnic-agent \d+\.\d+\.\d+ \(commit [0-9a-f]{40}(-dirty)?\)|rnic-agent .* \(commit unknown\)", shown.stdout.strip()), shown.stdout


if __name__ == "__main__":
    main()
