#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Compares how the second decoder and reference_rnic/wire read what a run of the suite put on the wire: plays the wire cases against the
reference RNIC and reads both directions of each connection of each case's pcap with both. The analyzer judges these octets by the
codecs of wire alone, so a second reading of them keeps a codec's mistake from hiding in its own judgement."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import compare
import second_decoder

# The second decoder's CRC takes one bit at a time. After so many octets of a direction, the rest is more of the same.
MOST_OCTETS = 16 * 1024
LONGEST_STARTUP = 20 + 65535
ETHERNET, IPV4, IPV6, TCP = 1, 0x0800, 0x86DD, 6
SYN = 0x02


# ---- the octets of each direction of a capture ----


def frames(data):
    """The frames of a pcap file of Ethernet."""
    magic = data[:4]
    order = {b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\xa1\xb2\x3c\x4d": ">"}[magic]
    (link,) = struct.unpack(order + "I", data[20:24])
    if link != ETHERNET:
        raise ValueError(f"link type {link}, not Ethernet")
    at = 24
    while at + 16 <= len(data):
        kept, whole = struct.unpack(order + "II", data[at + 8 : at + 16])
        if kept != whole:
            raise ValueError("the capture cut a frame")
        yield data[at + 16 : at + 16 + kept]
        at += 16 + kept


def segment(frame):
    """Flow, sequence number, flags and payload of the TCP segment in the frame, or None."""
    kind, packet = int.from_bytes(frame[12:14], "big"), frame[14:]
    if kind == IPV4:
        header, whole, protocol, addresses = (packet[0] & 0xF) * 4, int.from_bytes(packet[2:4], "big"), packet[9], packet[12:20]
    elif kind == IPV6:
        header, whole, protocol, addresses = 40, 40 + int.from_bytes(packet[4:6], "big"), packet[6], packet[8:40]
    else:
        return None
    if protocol != TCP:
        return None
    tcp = packet[header:whole]
    half = len(addresses) // 2
    flow = (addresses[:half] + tcp[:2], addresses[half:] + tcp[2:4])
    return flow, int.from_bytes(tcp[4:8], "big"), tcp[13], tcp[(tcp[12] >> 4) * 4 :]


def joined(pieces):
    """The octets from the stream's first one on, up to the first gap. If octets came twice, the first ones count."""
    stream = bytearray()
    waiting = dict(pieces)
    for offset in sorted(waiting):
        if offset > len(stream):
            break
        stream += waiting[offset][len(stream) - offset :]
    return bytes(stream)


def connections(data):
    """The two directions of each connection whose SYN was captured."""
    begun, pieces = {}, collections.defaultdict(dict)
    for frame in frames(data):
        found = segment(frame)
        if not found:
            continue
        flow, number, flags, payload = found
        if flags & SYN:
            begun[flow] = (flow, number)
            pieces[begun[flow]] = {}
        if payload and flow in begun:
            offset = (number - begun[flow][1] - 1) % 2**32
            if len(payload) > len(pieces[begun[flow]].get(offset, b"")):
                pieces[begun[flow]][offset] = payload
    done = set()
    for flow in begun:
        back = flow[::-1]
        if back in begun and back not in done:
            done.add(flow)
            yield joined(pieces[begun[flow]]), joined(pieces[begun[back]])


# ---- the comparison ----


def whole_frame(stream):
    """The startup frame at the front of the stream, as the second decoder reads it, and its octets."""
    found = second_decoder.mpa_frame(stream[:LONGEST_STARTUP])
    if "short" in found or found["key"] == "wrong":
        return None, b""
    return found, stream[: 20 + found["pd_length"]]


def read_twice(comparison, name, both):
    """Startup frames and FPDUs of the two directions of one connection, by both readers."""
    found = [whole_frame(stream) for stream in both]
    for direction, (stream, (_, startup)) in enumerate(zip(both, found)):
        path = comparison.folder / f"{name}.{direction}.frame"
        path.write_bytes(startup or stream[:64])
        if stream:
            comparison.agree("mpa_frame", path)
        path.unlink()
    if not all(frame for frame, _ in found) or any(frame["rejected"] for frame, _ in found):
        return
    crc = any(frame["crc"] for frame, _ in found)
    for direction, (stream, (_, startup)) in enumerate(zip(both, found)):
        path = comparison.folder / f"{name}.{direction}.stream"
        path.write_bytes(stream[len(startup) :][:MOST_OCTETS])
        comparison.agree("stream", path, markers=found[1 - direction][0]["markers"], crc=crc)
        path.unlink()


def read_capture(wire_lines, folder, path):
    comparison = compare.Comparison(wire_lines, folder)
    count = 0
    try:
        for count, both in enumerate(connections(path.read_bytes()), 1):
            read_twice(comparison, f"{path.stem}.{count}", both)
    except ValueError as error:
        comparison.faults.append(f"{path.name}: {error}")
    return count, comparison.items, comparison.faults


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: compare_run.py --wire-lines BUILD/wire_lines --suite BUILD/rnic-suite",
    )
    parser.add_argument("--wire-lines", type=pathlib.Path, required=True)
    parser.add_argument("--suite", type=pathlib.Path, help="rnic-suite: a run of it is read")
    parser.add_argument("--run", type=pathlib.Path, help="the folder of an existing run")
    asked = parser.parse_args()
    if (asked.suite is None) == (asked.run is None):
        parser.error("give either --suite or --run")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        run = asked.run or folder / "out"
        if asked.suite:
            # Other tests judge the verdicts; this one only needs the captures.
            subprocess.run([str(asked.suite), "run", "--out", str(run)], stdout=subprocess.DEVNULL, check=False)
        captures = sorted(run.rglob("*.pcap"))
        with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
            count = len(captures)
            read = list(pool.map(read_capture, [asked.wire_lines] * count, [folder] * count, captures, chunksize=8))
    faults = [fault for _, _, some in read for fault in some]
    if not any(items for _, items, _ in read):
        faults.append(f"nothing to read in {len(captures)} captures: can the run capture here?")
    for fault in faults:
        print(fault, file=sys.stderr)
    seen, items = sum(one[0] for one in read), sum(one[1] for one in read)
    print(f"{len(captures)} captures, {seen} connections, {items} items compared, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
