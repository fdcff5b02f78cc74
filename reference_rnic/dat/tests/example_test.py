#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The C of docs/dat-provider.md and docs/dat-1.2.md, compiled and run as it is printed there; and the extension's header, from C."""

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

# Behind the calls of DAT 1.2 that docs/dat-1.2.md prints: a region of an IA, and what a null handle is answered with.
USES_OLD_CALLS = """
int main(void) {
  static char memory[4096];
  char name[] = "rnic0";
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia;
  DAT_PZ_HANDLE pz;
  DAT_LMR_HANDLE lmr;
  DAT_LMR_CONTEXT local;
  DAT_RMR_CONTEXT remote;
  DAT_REGION_DESCRIPTION region = {.for_va = memory};
  DAT_RMR_COOKIE cookie = {0};
  if (dat_ia_open(name, 8, &async, &ia) != DAT_SUCCESS || dat_pz_create(ia, &pz) != DAT_SUCCESS) return 1;
  if (lmr_create_12(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof memory, pz, DAT_MEM_PRIV_ALL_FLAG, &lmr, &local, &remote, NULL,
                    NULL) != DAT_SUCCESS) return 2;
  DAT_LMR_TRIPLET whole = {.virtual_address = (DAT_VADDR)memory, .segment_length = sizeof memory, .lmr_context = local};
  if (DAT_GET_TYPE(rmr_bind_12(DAT_HANDLE_NULL, lmr, &whole, DAT_MEM_PRIV_ALL_FLAG, DAT_HANDLE_NULL, cookie,
                               DAT_COMPLETION_DEFAULT_FLAG, &remote)) != DAT_INVALID_HANDLE) return 3;
  if (DAT_GET_TYPE(cr_reject_12(DAT_HANDLE_NULL)) != DAT_INVALID_HANDLE) return 4;
  if (DAT_GET_TYPE(dat_ia_openv(name, 8, &async, &ia, 1, 2, DAT_FALSE)) != DAT_PROVIDER_NOT_FOUND) return 5;
  return 0;
}
"""


def printed_in(page):
    """The C that a page shows."""
    return re.search(r"```c\n(.*?)```", page.read_text(), re.S)[1]


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
    parser.add_argument("old", type=pathlib.Path, help="docs/dat-1.2.md")
    parser.add_argument("headers", help="folder of rnic_dat_extensions.h")
    arguments = parser.parse_args()
    private_host.enter()
    expected = re.search(r"prints `(.*?)`", arguments.page.read_text())
    with tempfile.TemporaryDirectory() as folder:
        environment = private_host.write_dat_conf(folder, arguments.library)
        program = compiled(printed_in(arguments.page), folder, "example")
        ran = subprocess.run([str(program)], env=environment, capture_output=True, text=True, timeout=60)
        print(ran.stdout + ran.stderr, end="")
        if ran.returncode != 0 or ran.stdout.strip() != expected[1]:
            print(f"expected '{expected[1]}' and exit code 0, not {ran.returncode}")
            return 1
        for name, source in (("old", printed_in(arguments.old) + USES_OLD_CALLS), ("header", USES_HEADER)):
            program = compiled(source, folder, name, f"-I{arguments.headers}")
            code = subprocess.run([str(program)], env=environment, timeout=60).returncode
            if code != 0:
                print(f"{name}.c ends with {code}")
                return 1
        return 0


if __name__ == "__main__":
    sys.exit(main())
