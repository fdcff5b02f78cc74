#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Each exported symbol and version of the host's libibverbs and librdmacm is answered by the verbs library, or listed here with
the reason why the library behind it answers."""

import argparse
import fnmatch
import re
import subprocess
import sys

# Of libibverbs: pattern of NAME@VERSION, and the reason.
LEFT = {
    "*@IBVERBS_1.0": "the ABI of before 2006; its calls reach only real devices",
    "*@IBVERBS_PRIVATE_*": "between libibverbs and the drivers of real devices",
    "ibv_register_driver@IBVERBS_1.1": "for drivers of real devices",
    "ibv_copy_*": "converts structs; knows no device",
    "*ibv_rate*": "arithmetic",
    "mult_to_ibv_rate@*": "arithmetic",
    "ibv_*_str@*": "texts",
    "ibv_get_sysfs_path@*": "the host's",
    "ibv_read_sysfs_file@*": "the host's",
    "ibv_*fork*": "advice for memory that a device reads behind the kernel's back; ours does not",
    "ibv_import_device@*": "by a descriptor of a real device; ours has none",
    "ibv_destroy_ah@*": "there is no address handle of ours",
    "ibv_unimport_*": "nothing of ours can be imported",
}


def exported(library):
    """NAME@VERSION of each symbol that programs can link."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout.splitlines()
    words = (line.split()[1:] for line in lines)
    return {re.sub("@+", "@", name) for kind, name in words if kind in "TWBD" and "@" in name}


def wanted(library):
    """NAME@VERSION of each symbol that the library needs from others."""
    lines = subprocess.run(["nm", "-D", "--undefined-only", library], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[-1] for line in lines if "@" in line}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ours")
    parser.add_argument("ibverbs")
    parser.add_argument("rdmacm")
    arguments = parser.parse_args()
    ours, theirs = exported(arguments.ours), exported(arguments.ibverbs)
    faults = []
    for symbol in sorted(theirs - ours):
        if not any(fnmatch.fnmatchcase(symbol, pattern) for pattern in LEFT):
            faults.append(f"{symbol} is neither answered nor listed")
    for symbol in sorted(ours - theirs):
        if "IBVERBS" in symbol:
            faults.append(f"{symbol} is answered, but libibverbs does not have it")
    for pattern in LEFT:
        if not any(fnmatch.fnmatchcase(symbol, pattern) for symbol in theirs - ours):
            faults.append(f"{pattern} is listed, but names nothing that is left")
    # librdmacm itself stays. What it asks of the kernel goes through these, by the version that it is linked with.
    for name in ("open", "write", "fstat", "close"):
        asked = {symbol for symbol in wanted(arguments.rdmacm) if symbol.split("@")[0] == name}
        if not asked or not asked <= ours:
            faults.append(f"librdmacm calls {sorted(asked) or name}, which is not answered")
    print("\n".join(faults) or f"{len(ours & theirs)} symbols are answered, {len(theirs - ours)} left with a reason")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
