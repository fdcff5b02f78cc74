#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The same perftest programs on soft-iWARP and on the verbs library of the reference RNIC, both ends in the siw guest, which rnic-lab has
started beside this script.

Each round gives every contender its turn; a ratio is of two figures of one round. Medians are printed. The guest's processor is emulated, its
instructions for CRCs too: only what is without CRC compares the two implementations. siw asks for none by default.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lab" / "tests"))
from guest import guest_listens, start_in_guest, wait_for_listener  # noqa: E402

ADDRESS, PORT, DEADLINE = "10.77.0.2", 18515, 600  # seconds for one program
ATTEMPTS = 8
LIBRARY = "LD_PRELOAD=/bin/librnic_rdma_core.so"
CONTENDERS = {"siw": "env", "reference": f"env {LIBRARY} RNIC_CRC=off", "reference with CRC": f"env {LIBRARY}"}
PROGRAMS = {
    "write 1 MiB": "ib_write_bw -s 1048576 -n 100",
    "read 1 MiB": "ib_read_bw -s 1048576 -n 100",
    "send 64 KiB": "ib_send_bw -s 65536 -n 1000",
    "write 64 octets": "ib_write_bw -s 64 -n 5000",
    "send latency": "ib_send_lat -s 64 -n 1000",
}


def figure(words, said):
    """Of the line of results. ib_*_bw: size, iterations, peak, average (MB/s). ib_*_lat: size, iterations, least, most, typical, average (us)."""
    lines = [line.split() for line in said.splitlines() if re.match(r"\s*\d+\s+\d+\s+[\d.]+\s+[\d.]+", line)]
    assert lines, f"no line of results\n{said[-2000:]}"
    return float(lines[-1][5 if "_lat " in words else 3])


def play(words, environment):
    """Perftest measures the processor's clock first. Where the guest waits for the host meanwhile it finds none, says so ("Correlation
    coefficient") and shows 0: that is no figure."""
    for _ in range(ATTEMPTS):
        if shown := play_once(words, environment):
            return shown
    raise AssertionError(f"'{words}' found no clock in {ATTEMPTS} attempts: the host is too busy")


def play_once(words, environment):
    command = f"{environment} {words} -R -F"
    with tempfile.TemporaryFile("w+") as server_output, tempfile.TemporaryFile("w+") as client_output:
        server = start_in_guest(command, server_output, 1)
        wait_for_listener(guest_listens, server, PORT, DEADLINE)
        client = start_in_guest(f"{command} {ADDRESS}", client_output, 3)
        codes = client.wait(DEADLINE), server.wait(DEADLINE)
        client_output.seek(0), server_output.seek(0)
        said = client_output.read()
        assert codes == (0, 0), f"'{command}' ended with {codes}\n{server_output.read()[-1000:]}{said[-1000:]}"
    return figure(words, said)


def play_round(names, what):
    played = {}
    for name in names:
        played[name] = {contender: play(PROGRAMS[name], environment) for contender, environment in CONTENDERS.items()}
        print(f"{what}, {name}: {played[name]}", file=sys.stderr, flush=True)
    return played


def summary(rounds):
    """For each program and contender the median, and that of the ratio to siw; above 1 is better than siw."""
    result = {}
    for name, words in PROGRAMS.items():
        played = [one[name] for one in rounds if name in one]
        if not played:
            continue
        result[name] = {"unit": "us" if "_lat " in words else "MB/s"}
        for contender in CONTENDERS:
            ratios = [one["siw"] / one[contender] if "_lat " in words else one[contender] / one["siw"] for one in played]
            result[name][contender] = {"median": statistics.median(one[contender] for one in played), "ratio": statistics.median(ratios)}
    return result


def show(result):
    print(f"{'':18}" + "".join(f"{contender:>28}" for contender in CONTENDERS))
    for name, of in result.items():
        print(f"{name:18}" + "".join(f"{of[one]['median']:>15.1f} {of['unit']:4} ({of[one]['ratio']:4.2f})" for one in CONTENDERS))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: rnic-lab siw-vm --program .../librnic_rdma_core.so --program /usr/bin/ib_write_bw ... -- guest_perftest.py --rounds 7\n"
               "exit: 0 measured, 1 a program failed, 130 interrupted; what complete rounds have shown is printed all the same")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", choices=PROGRAMS, action="append", help="this program; may be repeated")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures of all rounds, and the medians, to this file")
    arguments = parser.parse_args()
    rounds, code = [], 0
    try:
        while len(rounds) < arguments.rounds:
            rounds.append(play_round(arguments.only or PROGRAMS, f"round {len(rounds) + 1} of {arguments.rounds}"))
    except (AssertionError, subprocess.TimeoutExpired) as problem:
        print(f"guest_perftest.py: {problem}", file=sys.stderr)
        code = 1
    except KeyboardInterrupt:
        print("guest_perftest.py: interrupted", file=sys.stderr)
        code = 130
    result = summary(rounds)  # of the rounds that are complete
    show(result)
    if arguments.json:
        arguments.json.write_text(json.dumps({"rounds": rounds, "medians": result}, indent=1) + "\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
