#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The C program of docs/dat-provider.md, compiled and run as it is printed there; and the extension's header, from C."""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import private_host

USES_HEADER = """
#include <dat2/udat.h>
#include "rnic_dat_extensions.h"
int main(void) {
  DAT_IW_SSP_PARAM param;
  return dat_iw_ssp_query(DAT_HANDLE_NULL, DAT_IW_SSP_FIELD_ALL, &param) == DAT_SUCCESS;
}
"""


def compiled(source, folder, name, *options):
    path = pathlib.Path(folder) / f"{name}.c"
    path.write_text(source)
    program = path.with_suffix("")
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", *options, str(path), "-o", str(program), "-ldat2"], check=True)
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("page", type=pathlib.Path, help="docs/dat-provider.md")
    parser.add_argument("headers", help="folder of rnic_dat_extensions.h")
    arguments = parser.parse_args()
    private_host.enter()
    example = re.search(r"```c\n(.*?)```", arguments.page.read_text(), re.S)
    expected = re.search(r"prints `(.*?)`", arguments.page.read_text())
    with tempfile.TemporaryDirectory() as folder:
        environment = private_host.write_dat_conf(folder, arguments.library)
        program = compiled(example[1], folder, "example")
        ran = subprocess.run([str(program)], env=environment, capture_output=True, text=True, timeout=60)
        print(ran.stdout + ran.stderr, end="")
        if ran.returncode != 0 or ran.stdout.strip() != expected[1]:
            print(f"expected '{expected[1]}' and exit code 0, not {ran.returncode}")
            return 1
        header = compiled(USES_HEADER, folder, "header", f"-I{arguments.headers}")
        return subprocess.run([str(header)], env=environment, timeout=60).returncode


if __name__ == "__main__":
    sys.exit(main())
