#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A header that changes reaches all objects, with a compiler cache and a precompiled header, whatever was built before.

compiler_cache_test.py SOURCE_TREE
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(cached CXX)
include("{source}/tools/cmake/RnicCompilerCache.cmake")
add_executable(shown shown.cpp)
target_precompile_headers(shown PRIVATE value.hpp)
"""


class Tree:
    def __init__(self, source, folder):
        self.folder = folder
        self.environment = {**os.environ, "CCACHE_DIR": str(folder / "cache")}
        (folder / "cached").mkdir()
        (folder / "cached/CMakeLists.txt").write_text(PROJECT.format(source=source))
        (folder / "cached/shown.cpp").write_text('#include <cstdio>\nint main() { std::printf("%d", value); }\n')

    def run(self, *words):
        done = subprocess.run(words, cwd=self.folder / "cached", env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout

    def value_shown(self, value):
        """Builds with this value in the header, and says what the program shows."""
        (self.folder / "cached/value.hpp").write_text(f"#include <string>\nconstexpr int value = {value};\n")
        self.run("cmake", "-S", ".", "-B", "build", "-G", "Ninja")
        self.run("cmake", "--build", "build")
        return int(self.run("build/shown"))

    def begin_anew(self):
        shutil.rmtree(self.folder / "cached/build")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
        shown = [tree.value_shown(value) for value in (1, 2)]
        tree.begin_anew()
        shown += [tree.value_shown(value) for value in (1, 3)]
    assert shown == [1, 2, 1, 3], f"values 1, 2, and then in a new build folder 1, 3: shown are {shown}"
    print("each change of the header was seen")


if __name__ == "__main__":
    main()
