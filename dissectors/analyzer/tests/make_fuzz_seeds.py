#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Makes the seeds of fuzz_analyzer and fuzz_reassembly, out of the streams of the hand-made corpus."""
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "corpus"))
import make_samples  # noqa: E402

NEXT, MISSING, OVER, FLAG, SYN, FIN, RST, ACK = 0, 2, 4, 6, 0, 8, 16, 24


def step(end, what, payload=b"", length=None):
    return bytes([end | what, len(payload) if length is None else length]) + payload


def segments(end, octets, size=200, what=NEXT):
    return b"".join(step(end, what, bytes(octets[at:at + size])) for at in range(0, len(octets), size))


def conversation(markers=False, crc=True, seen=True, loss=False, ending=FIN):
    connection = make_samples.Connection([], 5445, markers, markers, crc)
    connection.up.send(b"hello")
    connection.up.write(0x100, 8, bytes(300))
    connection.down.send(b"answer", pad_octet=1)
    request = struct.pack(">BBIIIIIQIIQ", 0x41, 0x41, 0, 1, 1, 0, 0x200, 0, 4, 0x300, 16)
    connection.up.fpdu(request)
    connection.down.fpdu(struct.pack(">BBIQ", 0xC1, 0x42, 0x200, 0) + b"four")
    out = b"\x01"
    if seen:
        out += step(0, FLAG | SYN) + step(1, FLAG | SYN)
        out += segments(0, connection.startup[0]) + segments(1, connection.startup[1])
    out += segments(0, connection.up.octets)
    if loss:
        out += step(1, MISSING, length=7) + step(0, FLAG | ACK)
    out += segments(1, connection.down.octets, 50, OVER if loss else NEXT)
    return out + step(0, FLAG | ending) + step(1, FLAG | ending)


def late_markers(into, size):
    """Markers that were not asked for begin in the middle of a direction, so many octets into an interval."""
    connection = make_samples.Connection([], 5445)
    for _ in range(3):
        connection.up.send(bytes(60))
    connection.up.markers, connection.up.origin = True, into - len(connection.up.octets)
    for _ in range(3):
        connection.up.send(bytes(330))
    out = b"\x01" + step(0, FLAG | SYN) + step(1, FLAG | SYN)
    out += segments(0, connection.startup[0]) + segments(1, connection.startup[1])
    return out + segments(0, connection.up.octets, size) + step(0, FLAG | FIN)


def segment_input(flags, offset, length, cut=0):
    return struct.pack(">BBHH", flags, cut, offset, length)


def main():
    seeds = {
        "analyzer/plain": conversation(),
        "analyzer/markers": conversation(markers=True),
        "analyzer/no_crc": conversation(crc=False, ending=RST),
        "analyzer/mid_stream": conversation(markers=True, seen=False),
        "analyzer/lossy": conversation(loss=True),
        "analyzer/late_markers": late_markers(200, 100),
        "analyzer/late_marker_at_the_front": late_markers(0, 70),
        "reassembly/in_order": segment_input(1, 0, 0) + segment_input(0, 1, 100) + segment_input(0, 101, 1400) + segment_input(2, 1501, 10),
        "reassembly/reordered": segment_input(1, 0, 0) + segment_input(0, 701, 700) + segment_input(0, 1, 700) + segment_input(0, 1, 1400),
        "reassembly/wrapping": segment_input(1, 4000, 0) + segment_input(0, 4001, 1000) + segment_input(0, 5001, 1000),
        "reassembly/hole": segment_input(0, 0, 100) + segment_input(0, 300, 50, 20) + segment_input(16, 400, 0) + segment_input(12, 500, 0),
        "reassembly/too_much": b"".join(segment_input(0, 2000 * i, 1500) for i in range(1, 6)) + segment_input(32, 9, 4),
    }
    for name, octets in seeds.items():
        path = HERE / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(octets)


if __name__ == "__main__":
    main()
