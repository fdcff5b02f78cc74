#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Measures tshark with the plugin against tshark with its own dissectors, on one core.

Both read the file and count expert items, and so decode every frame. Runs are interleaved; what is printed are medians of processor time.
Each kind of traffic goes to a port that Wireshark gives to another dissector, which collects octets for ever, and to one where it finds
iWARP itself.
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile

import bench_lint

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "wireshark/tests"))
import plugin  # noqa: E402  tshark as a plain user has it

PORTS = {5445: "another dissector's", 20001: "iWARP for Wireshark, too"}


def measure(arguments, kind, port, folder):
    file = folder / f"{kind}.pcap"
    bench_lint.seconds([arguments.traffic, "make", kind, str(file), "--size", str(arguments.size), "--port", str(port)])
    file.chmod(0o644)
    words = [arguments.tshark, "-r", str(file), "-q", "-z", "expert"]
    environment = ["env", f"HOME={plugin.SCRATCH / 'home'}", "LC_ALL=C.UTF-8"]
    with_plugin = [*environment, f"WIRESHARK_PLUGIN_DIR={plugin.SCRATCH / 'plugins'}", *words]
    without = [*environment, f"WIRESHARK_PLUGIN_DIR={plugin.SCRATCH / 'none'}", *words]
    user = plugin.plain_user()
    medians = bench_lint.measure({"own dissectors": [*user, *without], "the plugin": [*user, *with_plugin]}, arguments.rounds)
    file.unlink()
    print(f"{bench_lint.KINDS[kind]}, port {port} ({PORTS[port]}): {arguments.size} MiB")
    for name, median in medians.items():
        print(f"  {name:<22} {median:8.3f} s")
    ratio = medians["the plugin"] / medians["own dissectors"]
    print(f"  the plugin takes {ratio:.2f} times as long", flush=True)
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                     epilog="example: bench_plugin.py build/release/dissectors/bench/rnic-lint-traffic "
                                            "build/release/dissectors/wireshark/plugins/4.0/epan/rnic_iwarp.so; "
                                            "exit: 0 within --most, 1 slower")
    parser.add_argument("traffic", help="rnic-lint-traffic")
    parser.add_argument("module", help="rnic_iwarp.so")
    parser.add_argument("--tshark", default="tshark")
    parser.add_argument("--size", type=int, default=64, help="MiB of each file (default 64)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each on each file (default 5)")
    parser.add_argument("--most", type=float, default=1.3, help="how many times as long the plugin may take (default 1.3)")
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
        ratios = [measure(arguments, kind, port, plugin.SCRATCH) for kind in bench_lint.KINDS
                  for port in PORTS]
    sys.exit(1 if max(ratios) > arguments.most else 0)


if __name__ == "__main__":
    main()
