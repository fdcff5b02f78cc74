#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A large event: some cells are played, and copies of their records in the journal stand for the others.

  event_size.py RNIC_PLUGFEST                           the test: memory may not grow with the number of cells as it did, no verdict is lost
  event_size.py RNIC_PLUGFEST --cells 50000 --out DIR   measures an event of that size, and prints it

Both kill the run with SIGKILL when some of its last cells are played, go on, interrupt it as Ctrl-C does, and go on to the end."""
import argparse
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

REPORTS = pathlib.Path(__file__).resolve().parents[2] / "reports"
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPORTS))
from rnic_reports import json_stream  # noqa: E402

HOSTS = 20
DEVIANTS = {"untidy": "[marker_reserved_not_zero, rtr_not_zero_length]", "curt": "[private_data_truncated, terminate_not_sent]"}
EXPECTED = """expectations:
  - {cells: "*/untidy/startup.markers", verdict: fail, reason: sets a reserved bit of Markers}
  - {cells: "*/curt/startup.*private_data", verdict: fail, reason: cuts private data}
  - {cells: "*/curt/many.*connect*", verdict: fail, reason: cuts private data}
"""
FEW = ["startup.markers", "startup.private_data", "send.plain", "send.solicited", "write.sizes", "read.sizes", "error.write_bad_stag_by_initiator",
       "many.connect_storm", "many.mixed_traffic", "many.thousand_connections", "close.graceful_by_initiator"]
LEFT = 16  # cells that are played at the end


class Size:
    """An event in a folder, and what its programs need."""

    def __init__(self, program, folder, scenarios, repeats=1):
        self.program, self.folder, self.out = program, folder, folder / "fest"
        self.event = folder / "event.yaml"
        plain = [f"h{at}" for at in range(1, HOSTS - len(DEVIANTS) + 1)]
        hosts = [(name, "") for name in plain] + [(name, f"{{deviations: {said}}}") for name, said in DEVIANTS.items()]
        self.event.write_text("event: size\ndeadline: 120\npatience: 20\n" + f"repeats: {repeats}\nscenarios: {json.dumps(scenarios)}\nparticipants:\n"
                              + "".join(f"  - {{name: {name}, vendor: Vendor {name}, parallel: 4, agent: {{reference: {said}}}}}\n" for name, said in hosts)
                              + EXPECTED, encoding="utf-8")
        self.ids = subprocess.run([program, "list", self.event], check=True, capture_output=True, text=True).stdout.split()

    def words(self, command, *more):
        return [self.program, command, str(self.event), "--out", str(self.out), *more]

    def play(self, globs):
        """Some cells: the others get their records."""
        done = subprocess.run(self.words("run", *(word for glob in globs for word in ("--select", glob))), capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr[-2000:]
        self.head, self.records, self.played = None, {}, {}
        with (self.out / "results.ndjson").open(encoding="utf-8") as journal:
            for line in journal:
                made = json.loads(line)
                self.head = self.head or line
                if "case" in made:
                    cell = made["case"]
                    self.played[cell["id"]] = line
                    self.records.setdefault((*map(kind, (cell["initiator"], cell["responder"])), cell["scenario"]), cell)

    def replicate(self, count):
        """A journal of `count` cells: those that were played, and copies."""
        written = 0
        with (self.out / "results.ndjson").open("w", encoding="utf-8") as journal:
            journal.write(self.head)
            for cell in self.ids[:count]:
                journal.write(self.played.get(cell) or json.dumps({"case": self.copy(cell)}, separators=(",", ":")) + "\n")
                written += 1
        (self.out / "results.json").unlink(missing_ok=True)
        return written

    def copy(self, cell):
        initiator, responder, rest = cell.split("/", 2)
        scenario, repeat = rest.rsplit("#", 1)
        record = self.records.get((kind(initiator), kind(responder), scenario)) or self.records["h", "h", scenario]
        return {**record, "id": cell, "initiator": initiator, "responder": responder, "repeat": int(repeat),
                "pcap": f"pcap/{initiator}--{responder}--{scenario}.{repeat}.1.pcap"}

    def collect(self):
        """(exit code, seconds, MB of the program, MB of the program or of what makes the page, whichever has more)"""
        begun = time.monotonic()
        process = subprocess.Popen(self.words("collect"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        with Peak(process.pid) as own:
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said = process.stderr.read()
        assert process.returncode in (0, 1, 3) and "no matrix" not in said, said
        return process.returncode, time.monotonic() - begun, own.megabytes, usage.ru_maxrss / 1000

    def resume(self, ending=None):
        """Goes on with the run, and sends it that signal when two of its cells have ended: (exit code, seconds until it plays, MB, what it said)."""
        begun, ready = time.monotonic(), None
        with tempfile.TemporaryFile("w+") as told, subprocess.Popen(self.words("run", "--jobs", "2"), stdout=told, stderr=subprocess.PIPE, text=True) as run, \
                Peak(run.pid) as own:
            for line in run.stderr:
                if ready is None and (found := re.search(r"cells, (\d+) of them to play", line)):
                    ready = time.monotonic() - begun
                if ending and line.startswith("[2/"):
                    run.send_signal(ending)
            run.wait()
            told.seek(0)
            return run.returncode, ready, own.megabytes, told.read()

    def size(self, name):
        return (self.out / name).stat().st_size / 1e6

    def verdicts(self):
        """id -> verdict of the attempt that counts, and how many attempts there are, as the results have it."""
        found, attempts = {}, collections.Counter()
        with (self.out / "results.json").open("rb") as file:
            for name, value in json_stream.Stream(file).members({"cells"}):
                for cell in value if name == "cells" else ():
                    attempts[cell["id"]] += 1
                    if cell["gate"]["result"] != "superseded":
                        found[cell["id"]] = cell["verdict"]
        return found, attempts


def kind(name):
    return name if name in DEVIANTS else "h"


class Peak:
    """The most memory that a process had, as long as it can be asked."""

    def __init__(self, pid):
        self._status, self._over, self.megabytes = pathlib.Path(f"/proc/{pid}/status"), threading.Event(), 0
        self._looker = threading.Thread(target=self._look)

    def _look(self):
        while not self._over.wait(0.02):
            try:
                found = re.search(r"VmHWM:\s+(\d+)", self._status.read_text())
            except OSError:
                return
            self.megabytes = int(found[1]) / 1000 if found else self.megabytes

    def __enter__(self):
        self._looker.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._looker.join()


def through_its_end(event):
    """The last cells with a kill and an interruption: [(what, exit code, seconds until it plays, MB)]."""
    event.replicate(len(event.ids) - LEFT)
    found = []
    for what, ending in (("run, killed", signal.SIGKILL), ("run again, interrupted", signal.SIGINT), ("run again, to the end", None)):
        code, ready, memory, told = event.resume(ending)
        found.append((what, code, ready, memory))
        assert code in {signal.SIGKILL: (-9,), signal.SIGINT: (3,), None: (0, 1)}[ending], (what, code, told[-2000:])
        assert ending != signal.SIGINT or "the same `run` goes on with them" in told, told[-2000:]
    verdicts, attempts = event.verdicts()
    assert set(verdicts) == set(event.ids) and set(attempts.values()) == {1}, "a cell was lost, or a finished one played again"
    for cell in event.ids[:-LEFT]:
        was = json.loads(event.played[cell])["case"] if cell in event.played else event.copy(cell)
        assert verdicts[cell] == was["verdict"], cell
    return found


def test(program):
    with tempfile.TemporaryDirectory() as scratch:
        event = Size(program, pathlib.Path(scratch), FEW)
        others = ",".join(name for name in FEW if name != "many.thousand_connections")
        event.play(["h1/h2/*", *(f"{pair}/{name}" for pair in ("h1/untidy", "h1/curt") for name in others.split(","))])
        thousand = event.records["h", "h", "many.thousand_connections"]
        checks = sum(check.get("times", 1) for check in thousand["checks"])
        assert checks > 12_000 and len(thousand["checks"]) < 100, (checks, len(thousand["checks"]))
        assert all(record["steps"] for record in event.records.values())
        small, large = 1000, len(event.ids)
        peaks = {}
        for count in (small, large):
            event.replicate(count)
            code, _, own, both = event.collect()
            assert code == (3 if count < large else 0), code
            peaks[count] = own, both
            print(f"{count} cells: {event.size('results.ndjson'):.0f} MB of journal, {own:.0f} MB of memory, with the page {both:.0f} MB, "
                  f"report.html {event.size('report.html'):.1f} MB")
        for before, after in zip(peaks[small], peaks[large]):
            assert after < 1.5 * before, f"{large / small:.1f} times the cells need {after / before:.1f} times the memory"
        for line in through_its_end(event):
            print(*line)


def measure(program, cells, played, folder):
    folder.mkdir(parents=True, exist_ok=True)
    scenarios = [line.split()[0] for line in subprocess.run([program, "list"], check=True, capture_output=True, text=True).stdout.splitlines()
                 if "--long" not in line]
    pairs = HOSTS * (HOSTS - 1)
    repeats = -(-cells // (pairs * len(scenarios)))
    event = Size(program, folder, scenarios[:-(-cells // (pairs * repeats))], repeats)
    names = [*(f"h{at}" for at in range(1, HOSTS - len(DEVIANTS) + 1)), *DEVIANTS]
    some = sorted(names, key=lambda name: (kind(name) == "h", names.index(name)))  # the deviants first
    count = next(count for count in range(4, HOSTS + 1) if count == HOSTS or count * (count - 1) * len(event.ids) >= played * pairs * repeats)
    begun = time.monotonic()
    event.play([f"{one}/{other}/*#1" for one in some[:count] for other in some[:count] if one != other])
    print(f"{len(event.played)} cells played in {time.monotonic() - begun:.0f} s; the event has {len(event.ids)}", flush=True)
    event.replicate(len(event.ids))
    code, seconds, own, _ = event.collect()
    print(f"journal {event.size('results.ndjson'):.0f} MB, results.json {event.size('results.json'):.0f} MB, report.html {event.size('report.html'):.1f} MB, "
          f"junit.xml {event.size('junit.xml'):.1f} MB\ncollect: exit {code}, {seconds:.0f} s with the page, {own:.0f} MB", flush=True)
    begun = time.monotonic()
    renderer = subprocess.Popen([sys.executable, str(REPORTS / "render_plugfest.py"), str(event.out)])
    _, status, usage = os.wait4(renderer.pid, 0)
    renderer.returncode = os.waitstatus_to_exitcode(status)
    print(f"the page: exit {renderer.returncode}, {time.monotonic() - begun:.0f} s, {usage.ru_maxrss / 1000:.0f} MB", flush=True)
    for what, code, ready, memory in through_its_end(event):
        print(f"{what}: exit {code}, plays after {ready:.0f} s, {memory:.0f} MB", flush=True)
    watch(event)


def watch(event):
    begun = time.monotonic()
    with subprocess.Popen([event.program, "serve", str(event.out), "--listen", "0"], stdout=subprocess.PIPE, text=True) as server, Peak(server.pid) as own:
        address = server.stdout.readline().strip()
        ready, times = time.monotonic() - begun, []
        for path in ("", "", "pair?initiator=0&responder=1", "state.json"):
            asked = time.monotonic()
            with urllib.request.urlopen(address + path, timeout=60) as page:
                length = len(page.read())
            times.append(f"/{path.split('?')[0]} {time.monotonic() - asked:.2f} s ({length / 1e6:.2f} MB)")
        server.send_signal(signal.SIGINT)
    print(f"serve: ready after {ready:.0f} s, {own.megabytes:.0f} MB; {', '.join(times)}", flush=True)


def main():
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=8"  # else it keeps what was freed
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="RNIC_PLUGFEST")
    parser.add_argument("--cells", type=int, help="at least so many")
    parser.add_argument("--played", type=int, default=2000, help="at least so many of them are played, if it has them")
    parser.add_argument("--out", type=pathlib.Path, help="where to leave everything")
    options = parser.parse_args()
    if not options.cells:
        test(options.program)
    else:
        measure(options.program, options.cells, options.played, options.out or pathlib.Path("event-size"))


if __name__ == "__main__":
    main()
