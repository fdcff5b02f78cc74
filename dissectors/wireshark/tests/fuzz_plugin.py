#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Fuzzes the plugin through tshark: captures with frames changed, cut, lost, doubled and out of order, in one pass and in two.

A capture that reaches an edge of the plugin that none before reached is changed further, and goes into --keep: what is worth it goes into
corpus/ beside this file, with which fuzzing begins and which plugin_test.py replays. It needs the plugin of a build
for fuzzing, which counts its edges; what kills tshark, or what it blames a dissector for, lies in --finds.
"""
import argparse
import gzip
import hashlib
import os
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import messages_test  # noqa: E402  messages of upper layers
import plugin  # noqa: E402  tshark as a plain user has it
import plugin_test  # noqa: E402  the captures of the corpus

INTERESTING = [0, 1, 2, 3, 4, 7, 8, 0x0F, 0x10, 0x1F, 0x3F, 0x40, 0x41, 0x43, 0x7F, 0x80, 0xC1, 0xFE, 0xFF]
# What it reassembles in a second pass is gone by then; tshark says so of such captures without the plugin as well.
OF_WIRESHARK = b"Dissector bug, protocol RPCoRDMA: ./epan/tvbuff.c"
LAYERS_ABOVE_IP = 34  # octets of Ethernet and IPv4: wrong ones only make another conversation of a frame


def frames_of(octets):
    """The file's header, and (record header, octets) of each frame."""
    found, at = [], 24
    while at + 16 <= len(octets):
        (kept,) = struct.unpack_from("<I", octets, at + 8)
        found.append((octets[at:at + 16], octets[at + 16:at + 16 + kept]))
        at += 16 + kept
    return octets[:24], found


def pcap_of(header, frames):
    return header + b"".join(record[:8] + struct.pack("<I", len(octets)) + record[12:16] + octets for record, octets in frames)


def reseal(frame):
    """Puts the right CRC after what looks like one FPDU, so that what is in it is believed."""
    payload = 54
    if len(frame) < payload + 10:
        return frame
    (length,) = struct.unpack_from(">H", frame, payload)
    end = payload + (2 + length + 3) // 4 * 4
    if end + 4 != len(frame):
        return frame
    return frame[:end] + plugin.made.checksum(frame[payload:end])


def changed_frame(chance, frame):
    octets = bytearray(frame)
    begin = min(LAYERS_ABOVE_IP, len(octets) - 1)
    for _ in range(chance.choice([1, 1, 1, 2, 4, 12])):
        # Headers of MPA, DDP and RDMAP come first.
        end = len(octets) if chance.random() < 0.3 else min(len(octets), 54 + 64)
        octets[chance.randrange(begin, max(end, begin + 1))] = chance.choice(INTERESTING) if chance.random() < 0.5 else chance.randrange(256)
    return reseal(bytes(octets)) if chance.random() < 0.8 else bytes(octets)


def mutated(chance, pool):
    header, frames = frames_of(chance.choice(pool))
    frames = list(frames)
    for _ in range(chance.choice([1, 2, 4, 8, 32])):
        if not frames:
            break
        at, what = chance.randrange(len(frames)), chance.random()
        record, octets = frames[at]
        if what < 0.6:
            frames[at] = (record, changed_frame(chance, octets))
        elif what < 0.7:
            frames[at] = (record, octets[:chance.randrange(14, len(octets) + 1)])
        elif what < 0.8:
            del frames[at]
        elif what < 0.9:
            frames.insert(chance.randrange(len(frames) + 1), frames[at])
        else:
            other = chance.randrange(len(frames))
            frames[at], frames[other] = frames[other], frames[at]
    return pcap_of(header, frames)


def seeds(suite):
    paths = [*sorted(plugin_test.CORPUS.rglob("*.pcap.gz")), *sorted(plugin_test.FUZZED.glob("*.pcap.gz"))]
    found = [gzip.decompress(path.read_bytes()) for path in paths]
    for deviations in plugin_test.DEVIATIONS[:2] if suite else []:
        out = plugin_test.reference_run(deviations)
        header, frames = frames_of(out.read_bytes())
        found += [pcap_of(header, frames[begin:begin + 200]) for begin in range(0, min(len(frames), 6000), 200)]
    for name in ("test_writes_and_reads_are_joined", "test_smb_direct", "test_rpc_over_rdma", "test_nvme", "test_iser"):
        case = messages_test.Messages(name)
        case.shown = lambda talk, *_: found.append(plugin.made.pcap(talk.closed().frames)) or []
        try:
            getattr(case, name)()
        except (AssertionError, IndexError, KeyError, ValueError, TypeError):
            pass  # what it wants to see was not made, only its frames
    return found


class Runner:
    def __init__(self, arguments, runtime):
        self.arguments, self.edges = arguments, b""
        self.environment = {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1", "UBSAN_OPTIONS": "halt_on_error=1",
                            "RNIC_EDGES": str(plugin.SCRATCH / "edges")}

    def run(self, capture, words):
        """The output of tshark if it crashed or found a dissector at fault, and whether an edge was new."""
        file = plugin.SCRATCH / "input.pcap"
        file.write_bytes(capture)
        edges = plugin.SCRATCH / "edges"
        edges.write_bytes(b"")
        edges.chmod(0o666)
        environment = dict(os.environ, HOME=str(plugin.SCRATCH / "home"), WIRESHARK_PLUGIN_DIR=str(plugin.SCRATCH / "plugins"),
                           LC_ALL="C.UTF-8")
        preload = ["env", *(f"{name}={value}" for name, value in self.environment.items())]
        run = subprocess.run([*plugin.plain_user(), *preload, self.arguments.tshark, *words, "-r", str(file)], env=environment,
                             capture_output=True, timeout=300)
        hit = edges.read_bytes()
        merged = bytes(map(max, self.edges.ljust(len(hit), b"\0"), hit))
        new, self.edges = merged != self.edges, merged or self.edges
        if run.returncode != 0:
            return run.stderr or b"it ended with %d" % run.returncode, new
        bugs = [line for line in run.stdout.splitlines() if b"Dissector bug" in line and OF_WIRESHARK not in line]
        return b"\n".join(bugs), new


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for program in ("module", "tshark"):
        parser.add_argument(f"--{program}", required=True)
    parser.add_argument("--suite", help="rnic-suite, for more to begin with")
    parser.add_argument("--runtime", default="", help="library of the sanitizer that the module was built with")
    parser.add_argument("--seconds", type=int, default=60, help="of processor time (default 60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for captures that reach new edges")
    parser.add_argument("--finds", type=pathlib.Path, default=pathlib.Path("."), help="folder for the captures of finds")
    arguments = parser.parse_args()
    arguments.root = arguments.lint = ""
    plugin.PROGRAMS = arguments
    with tempfile.TemporaryDirectory() as folder:
        plugin.SCRATCH = pathlib.Path(folder)
        plugin.prepare()
        pool, chance = seeds(arguments.suite), random.Random(arguments.seed)
        runner, runs, finds, begun = Runner(arguments, arguments.runtime), 0, 0, len(pool)
        queue = list(pool)
        while True:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            if used.ru_utime + used.ru_stime > arguments.seconds and not queue:
                break
            capture = queue.pop() if queue else mutated(chance, pool)
            words = chance.choice([["-V"], ["-2", "-V"], ["-2", "-q", "-z", "rnic_iwarp,tree", "-z", "expert"]])
            said, new = runner.run(capture, words)
            runs += 1
            if said:
                finds += 1
                (arguments.finds / f"plugin-{arguments.seed}-{runs}.pcap").write_bytes(capture)
                print(f"run {runs}, a find with {' '.join(words)}:\n{said.decode(errors='replace')[-2000:]}", flush=True)
            elif new and capture not in pool:
                pool.append(capture)
                if arguments.keep:
                    packed = gzip.compress(capture, 9, mtime=0)
                    (arguments.keep / f"{hashlib.sha1(capture).hexdigest()}.pcap.gz").write_bytes(packed)
    hit = sum(1 for counter in runner.edges if counter)
    print(f"{runs} runs, {len(pool)} captures ({begun} to begin with), {hit} of {len(runner.edges)} edges of the plugin, {finds} finds")
    if not runner.edges:
        print("the module counts no edges: it is not of a build for fuzzing")
    return 1 if finds or not runner.edges else 0


if __name__ == "__main__":
    sys.exit(main())
