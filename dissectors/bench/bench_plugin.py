#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Measures tshark with the plugin against tshark with its own dissectors, on one core: time, and memory.

Both read the file and count expert items, and so decode every frame. Runs are interleaved; what is printed are medians of processor time
and of the largest resident set.
Each kind of traffic goes to a port that Wireshark gives to another dissector, which collects octets for ever, and to one where it finds
iWARP itself.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import bench_lint

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "wireshark/tests"))
import plugin  # noqa: E402  tshark as a plain user has it

PORT_OF_IWARP = 20001
PORTS = {5445: "another dissector's", PORT_OF_IWARP: "iWARP for Wireshark, too"}


def run(words):
    """Processor time in seconds, and the largest resident set in octets."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{words[0]} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def medians(arguments, kind, port, size, folder):
    """FPDUs in a file of so many MiB; by program, the medians of its seconds and of its octets."""
    file = folder / f"{kind}.pcap"
    bench_lint.seconds([arguments.traffic, "make", kind, str(file), "--size", str(size), "--port", str(port)])
    counted = subprocess.run([arguments.traffic, "count", str(file)], capture_output=True, text=True, check=True).stdout
    file.chmod(0o644)
    words = [arguments.tshark, "-r", str(file), "-q", "-z", "expert"]
    environment = ["env", f"HOME={plugin.SCRATCH / 'home'}", "LC_ALL=C.UTF-8"]
    folders = {"own dissectors": "none", "the plugin": "plugins"}
    programs = {name: [*plugin.plain_user(), *environment, f"WIRESHARK_PLUGIN_DIR={plugin.SCRATCH / of}", *words] for name, of in folders.items()}
    results = {name: [] for name in programs}
    for _ in range(arguments.rounds):
        for name, program in programs.items():
            results[name].append(run(program))
    file.unlink()
    return int(re.search(r"(\d+) FPDUs", counted)[1]), {name: [statistics.median(column) for column in zip(*rounds)]
                                                         for name, rounds in results.items()}


def measure(arguments, kind, port, folder):
    """Memory for each FPDU is by what a file of twice the size takes more: some is taken once in each file."""
    few, half = medians(arguments, kind, port, arguments.size // 2, folder)
    fpdus, whole = medians(arguments, kind, port, arguments.size, folder)
    print(f"{bench_lint.KINDS[kind]}, port {port} ({PORTS[port]}): {arguments.size} MiB, {fpdus} FPDUs")
    each = {name: (whole[name][1] - half[name][1]) / (fpdus - few) for name in whole}
    for name, (seconds, octets) in whole.items():
        print(f"  {name:<16} {seconds:8.3f} s {octets / 2**20:8.0f} MiB {each[name]:8.0f} octets for each FPDU")
    ratio = whole["the plugin"][0] / whole["own dissectors"][0]
    more = each["the plugin"] - each["own dissectors"]
    print(f"  the plugin takes {ratio:.2f} times as long, and {more:+.0f} octets for each FPDU", flush=True)
    return ratio, more


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                     epilog="example: bench_plugin.py build/release/dissectors/bench/rnic-lint-traffic "
                                            "build/release/dissectors/wireshark/plugins/4.0/epan/rnic_iwarp.so; "
                                            "exit: 0 within --most and --most-memory, 1 not")
    parser.add_argument("traffic", help="rnic-lint-traffic")
    parser.add_argument("module", help="rnic_iwarp.so")
    parser.add_argument("--tshark", default="tshark")
    parser.add_argument("--size", type=int, default=64, help="MiB of each file (default 64)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each on each file (default 5)")
    parser.add_argument("--most", type=float, default=1.3, help="how many times as long the plugin may take where both find iWARP (default 1.3)")
    parser.add_argument("--most-memory", type=float, default=128,
                        help="octets for each FPDU that it may need more than Wireshark's own dissectors (default 128)")
    arguments = parser.parse_args()
    arguments.root = ""
    plugin.PROGRAMS = arguments
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        plugin.SCRATCH = pathlib.Path(folder)
        plugin.prepare()
        (plugin.SCRATCH / "none").mkdir()
        if "rnic_iwarp" not in plugin.tshark("-G", "plugins"):
            raise SystemExit(f"{arguments.module}: tshark does not load it; name it as it is built, in VERSION/epan")
        figures = {(kind, port): measure(arguments, kind, port, plugin.SCRATCH) for kind in bench_lint.KINDS for port in PORTS}
    # On the other port Wireshark's own dissectors find no iWARP: what takes no time is not compared.
    slow = max(ratio for (_, port), (ratio, _) in figures.items() if port == PORT_OF_IWARP) > arguments.most
    large = max(more for _, more in figures.values()) > arguments.most_memory
    sys.exit(1 if slow or large else 0)


if __name__ == "__main__":
    main()
