#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Makes the hand-made captures of the corpus, each with what a judge must find in it.

Nothing of the project's own code takes part: headers, Markers and CRCs are written here by the RFCs' figures, so that the
analyzer is judged by something else than itself. The files in samples/ are what this writes; test_samples.py keeps them so.
"""
import argparse
import gzip
import json
import pathlib
import struct

import make_faults
from sample_connection import Connection, checksum, crc32c, pattern

SPACING_NS = 300_000  # of frames in time, as on a slow link

# Payloads for 0 to 127 Markers in one FPDU; the largest makes the largest MULPDU that there is.
SIZES = (1, 300, 600, 1100, 2048, 5000, 20000, 64768 - 18)


def plain(capture, port, markers_up=False, markers_down=False, crc=True, sizes=SIZES, cut=1448, **how):
    connection = Connection(capture, port, markers_up, markers_down, crc, **how)
    for index, size in enumerate(sizes):
        connection.up.send(pattern(size, index))
        connection.down.write(0x100 + index, 4096 * index, pattern(size, index + 1))
    connection.begin()
    connection.carry_all(0, cut)
    connection.carry_all(1, cut)
    connection.end()
    return connection


SMALL = (1, 2, 3, 4, 64, 100, 500, 700, 1000, 1400)


def markers_both_ways(capture):
    return [plain(capture, 5445, True, True).expected()]


def markers_to_responder(capture):
    return [plain(capture, 5445, True, False).expected()]


def markers_to_initiator(capture):
    return [plain(capture, 5445, False, True).expected()]


def markers_without_crc(capture):
    return [plain(capture, 5445, True, True, crc=False, sizes=SMALL).expected()]


def without_markers(capture):
    return [plain(capture, 5445).expected()]


def packed(capture):
    """Up to 30 small FPDUs in each segment, Markers among them."""
    return [plain(capture, 5445, True, True, sizes=[1 + i % 90 for i in range(300)]).expected()]


def one_octet_segments(capture):
    return [plain(capture, 5445, True, True, sizes=(1, 40, 600), cut=1).expected()]


def foreign_ports(capture):
    """Ports that other protocols claim."""
    return [plain(capture, port, port == 445, port == 4420, sizes=SMALL, client_port=41000 + port).expected()
            for port in (445, 5445, 4420, 443)]


def ipv6_in_vlans(capture):
    return [plain(capture, 5445, True, True, sizes=SMALL, ipv6=True, vlan=(7, 42)).expected()]


def outer(addresses, protocol, octets):
    """Another IPv4 packet around what a tunnel carries."""
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(octets), 0, 0x4000, 64, protocol, 0, b"\x0a\0\0\1", b"\x0a\0\0\2")
    return addresses + b"\x08\x00" + ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:] + octets


def udp(port, octets):
    return struct.pack(">HHHH", 50000, port, 8 + len(octets), 0) + octets


TUNNELS = {
    # RFC 2003, RFC 2784 with the key of RFC 2890, RFC 7348, RFC 8926 with an option, RFC 3032 with two labels
    "IP in IP": lambda addresses, frame: outer(addresses, 4, frame[14:]),
    "GRE": lambda addresses, frame: outer(addresses, 47, struct.pack(">HHI", 0x2000, 0x0800, 7) + frame[14:]),
    "GRE of Ethernet": lambda addresses, frame: outer(addresses, 47, struct.pack(">HH", 0, 0x6558) + frame),
    "VXLAN": lambda addresses, frame: outer(addresses, 17, udp(4789, struct.pack(">II", 0x08000000, 42 << 8) + frame)),
    "GENEVE": lambda addresses, frame: outer(addresses, 17, udp(6081, struct.pack(">BBHI4s", 1, 0, 0x6558, 42 << 8, b"\1\2\3\0") + frame)),
    "MPLS": lambda addresses, frame: addresses + struct.pack(">HII", 0x8847, 16 << 12 | 64, 17 << 12 | 0x100 | 64) + frame[14:],
}


def tunnels(capture):
    """A connection in each kind of tunnel."""
    return [plain(capture, 5445, True, True, sizes=SMALL, client_port=43000 + number, tunnel=tunnel).expected()
            for number, tunnel in enumerate(TUNNELS.values())]


def reordered(capture):
    """Every pair of segments changes places, and every third comes twice."""
    connection = Connection(capture, 5445, True, True)
    for index, size in enumerate(SMALL * 4):
        connection.up.send(pattern(size, index))
        connection.down.send(pattern(size, index + 9))
    connection.begin()
    for end in (0, 1):
        pieces = connection.pieces(end, 900)
        for at in range(0, len(pieces), 2):
            for octets, offset in reversed(pieces[at:at + 2]):
                connection.carry(end, octets, offset)
                if at % 3 == 0:
                    connection.carry(end, octets, offset)
    connection.end()
    return [connection.expected()]


def lossy(markers):
    def make(capture):
        """One segment of the Initiator's is not in the capture; the Responder acknowledged it."""
        connection = Connection(capture, 5445, markers, markers)
        for index in range(60):
            connection.up.send(pattern(400, index))
        connection.down.send(b"got it")
        connection.begin()
        pieces = connection.pieces(0)
        for number, (octets, offset) in enumerate(pieces):
            if number != 5:
                connection.carry(0, octets, offset)
            else:
                connection.passed[0] += len(octets)
            connection.acknowledge(1)
        connection.carry_all(1)
        connection.end()
        expected = connection.expected(notes=["framing found", "framing lost", "octets missing"])
        # What the missing segment touched is lost, and no more than a few FPDUs to find the frames again.
        expected["first"] = {"fpdus": [connection.up.fpdus - 12, connection.up.fpdus - 3]}
        return [expected]
    return make


def mid_stream(markers):
    def make(capture):
        """The capture begins after the startup frames, within an FPDU."""
        connection = Connection(capture, 5445, markers, markers)
        for index in range(80):
            connection.up.send(pattern(300, index))
            connection.down.write(0x77, 300 * index, pattern(300, index))
        for end in (0, 1):
            for octets, offset in connection.pieces(end, 1000)[3:]:
                connection.carry(end, octets, offset)
        connection.end()
        expected = connection.expected(notes=["framing found", "startup not seen"])
        for end, stream in (("first", connection.up), ("second", connection.down)):
            expected[end] = {"fpdus": [stream.fpdus - 20, stream.fpdus - 9]}
        return [expected]
    return make


def mid_stream_without_crc(capture):
    """As above, and only Markers and headers show where FPDUs begin."""
    frames = []
    connection = plain(frames, 5445, True, True, crc=False, sizes=SMALL)
    capture += frames[6:]
    expected = connection.expected(notes=["framing found", "framing lost", "startup not seen"])
    for end, stream in (("first", connection.up), ("second", connection.down)):
        expected[end] = {"fpdus": [1, stream.fpdus]}
    return [expected]


def cut_frames(capture):
    """Of each frame no more than 200 octets were captured; many FPDUs end in what is missing."""
    frames = []
    connection = plain(frames, 5445, True, True, sizes=[1 + i % 90 for i in range(300)])
    capture += [(len(frame), frame[:200]) for frame in frames]
    expected = connection.expected(notes=["frame cut", "framing found", "framing lost"])
    for end, stream in (("first", connection.up), ("second", connection.down)):
        expected[end] = {"fpdus": [10, stream.fpdus]}
    return [expected]


def fpdu_without_a_reply(capture):
    """The Initiator sends an FPDU right after its Request; the Responder sends nothing, and resets."""
    connection = Connection(capture, 5445)
    connection.up.send(pattern(300))
    connection.frame(0, connection.first[0] - 1, 0x02)
    connection.frame(1, connection.first[1] - 1, 0x12, ack=connection.first[0])
    connection.frame(0, connection.first[0], 0x18, connection.startup[0], connection.first[1])
    connection.passed[0] = len(connection.startup[0])
    connection.carry_all(0)
    connection.frame(1, connection.first[1], 0x14, ack=connection.next(0))
    return [connection.expected(violations={"mpa.startup.no-fpdu-before-both-frames": 1}, notes=["framing found", "startup not seen"])]


def reply_before_the_request(capture):
    """The Responder sends its Reply though nothing has come; it arrives before the Request is sent."""
    connection = Connection(capture, 5445)
    connection.frame(0, connection.first[0] - 1, 0x02)
    connection.frame(1, connection.first[1] - 1, 0x12, ack=connection.first[0])
    for end in (1, 0):
        connection.frame(end, connection.first[end], 0x18, connection.startup[end], connection.next(1 - end))
        connection.passed[end] = len(connection.startup[end])
    connection.up.send(pattern(300))
    connection.carry_all(0)
    connection.end()
    return [connection.expected(violations={"mpa.startup.responder-waits-for-request": 1})]


def reply_in_place_of_the_request(capture):
    """Both ends send a Reply, and nobody a Request."""
    connection = Connection(capture, 5445)
    connection.startup[0] = connection.startup[1]
    connection.begin()
    connection.end()
    expected = connection.expected(violations={"mpa.startup.responder-waits-for-request": 1}, notes=["not judged"])
    expected["first"]["role"], expected["second"]["role"] = "responder", "initiator"
    return [expected]


def acknowledged_early(capture):
    """Merged taps: each acknowledgement is before the segment that it acknowledges."""
    connection = Connection(capture, 5445, True, True)
    for index in range(20):
        connection.up.send(pattern(400, index))
    connection.begin()
    for octets, offset in connection.pieces(0):
        connection.passed[0] += len(octets)
        connection.acknowledge(1)
        connection.carry(0, octets, offset)
    connection.end()
    return [connection.expected()]


def begins_with_the_reply(capture):
    """The capture begins after the Request: the Reply is the first frame of its connection."""
    frames = []
    connection = plain(frames, 5445, True, True, sizes=SMALL)
    capture += frames[4:]
    return [connection.expected(first=1, notes=["framing found", "startup not seen"])]


def damaged_on_its_way(capture):
    """Two segments with a wrong TCP checksum, which their receiver drops, and both once more as they were sent."""
    connection = Connection(capture, 5445, True, False)
    for index in range(12):
        connection.up.send(pattern(900, index))
    connection.begin()
    for number, (octets, offset) in enumerate(connection.pieces(0, 1000)):
        connection.carry(0, octets, offset)
        if number in (3, 7):
            frame = bytearray(capture.pop())
            frame[-200] ^= 0x04
            capture.append(bytes(frame))
            connection.acknowledge(1)
            connection.carry(0, octets, offset)
    connection.end()
    return [connection.expected(notes=["segment ignored"])]


def mid_stream_of_small_sends(capture):
    """The capture begins after the startup frames; with Markers, without CRCs, and nothing but headers repeats."""
    frames = []
    connection = plain(frames, 5445, True, True, crc=False, sizes=[64] * 300)
    capture += frames[8:]
    expected = connection.expected(notes=["framing found", "framing lost", "startup not seen"])
    for end, stream in (("first", connection.up), ("second", connection.down)):
        expected[end] = {"fpdus": [stream.fpdus - 60, stream.fpdus]}
    return [expected]


def far_segment(capture):
    """A foreign segment 2^30 octets ahead, far outside the receiver's window."""
    connection = Connection(capture, 5445)
    for index in range(12):
        connection.up.send(pattern(900, index))
    connection.begin()
    pieces = connection.pieces(0)
    for number, (octets, offset) in enumerate(pieces):
        if number == 2:
            connection.frame(0, connection.next(0) + (1 << 30) - 5000, 0x18, b"spoofed", connection.next(1))
        connection.carry(0, octets, offset)
    connection.end()
    return [connection.expected(notes=["segment ignored"])]


def cut_to_96_octets(capture):
    """Headers were captured, payloads were not: one FPDU in each segment."""
    frames = []
    connection = Connection(frames, 5445)
    for index in range(10):
        connection.up.write(0x77, 1200 * index, pattern(1200, index))
    connection.begin()
    for begin, end in connection.up.places:
        connection.carry(0, connection.up.octets[begin:end], begin)
    connection.end()
    capture += [(len(frame), frame[:96]) for frame in frames]
    expected = connection.expected(notes=["frame cut"])
    expected["first"] = {"fpdus": 10}
    return [expected]


def wrong(rule, *, markers=False, notes=(), **fault):
    def make(capture):
        """One FPDU of the Responder's is wrong in one way, and the Initiator closes."""
        connection = Connection(capture, 5445, markers, markers)
        for index in range(3):
            connection.up.send(pattern(600, index))
        connection.down.send(pattern(600))
        connection.down.send(pattern(601), **fault)
        connection.down.send(pattern(600))
        connection.begin()
        connection.carry_all(0)
        connection.carry_all(1)
        connection.end()
        return [connection.expected(violations={rule: 1}, notes=list(notes))]
    return make


def torn_down(capture):
    """Connections that end in midstream: within a message, by a reset; and one that was done before its reset."""
    expected = []
    for number, (last, closes, resets, notes) in enumerate(((False, True, False, ["no Terminate"]), (True, False, True, ["no Terminate"]),
                                                            (True, True, True, []))):
        connection = Connection(capture, 5445, client_port=44000 + number)
        connection.up.fpdu(make_faults.untagged(make_faults.SEND, pattern(300), last=last))
        connection.up.payload += 300
        connection.begin()
        connection.carry_all(0)
        if closes:
            connection.frame(0, connection.next(0), 0x11, ack=connection.next(1))
            connection.passed[0] += 1
        if resets:
            connection.frame(1, connection.next(1), 0x14, ack=connection.next(0))
        else:
            connection.frame(1, connection.next(1), 0x11, ack=connection.next(0))
        expected.append(connection.expected(notes=notes))
    return expected


SAMPLES = {
    "markers_both_ways": markers_both_ways,
    "markers_to_responder": markers_to_responder,
    "markers_to_initiator": markers_to_initiator,
    "markers_without_crc": markers_without_crc,
    "without_markers": without_markers,
    "packed": packed,
    "one_octet_segments": one_octet_segments,
    "foreign_ports": foreign_ports,
    "ipv6_in_vlans": ipv6_in_vlans,
    "tunnels": tunnels,
    "reordered": reordered,
    "lossy": lossy(False),
    "lossy_with_markers": lossy(True),
    "mid_stream": mid_stream(False),
    "mid_stream_with_markers": mid_stream(True),
    "mid_stream_without_crc": mid_stream_without_crc,
    "cut_frames": cut_frames,
    "fpdu_without_a_reply": fpdu_without_a_reply,
    "reply_before_the_request": reply_before_the_request,
    "reply_in_place_of_the_request": reply_in_place_of_the_request,
    "acknowledged_early": acknowledged_early,
    "begins_with_the_reply": begins_with_the_reply,
    "damaged_on_its_way": damaged_on_its_way,
    "far_segment": far_segment,
    "mid_stream_of_small_sends": mid_stream_of_small_sends,
    "cut_to_96_octets": cut_to_96_octets,
    "torn_down": torn_down,
    "wrong_pad": wrong("mpa.framing.pad-sent-as-zero", pad_octet=1),
    "wrong_crc": wrong("mpa.crc.crc32c-as-in-iscsi", notes=["no Terminate"], break_crc=True),
    "wrong_marker": wrong("mpa.markers.pointer-counts-from-length-field", markers=True, marker_of=lambda pointer: pointer + 4),
    "wrong_msn": wrong("ddp.untagged.msn-increments-per-message", notes=["no Terminate"], msn=7),
    **make_faults.captures(Connection),
}


def pcap(frames):
    """Of frames, or pairs of a length on the wire and what was captured."""
    file = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
    for number, frame in enumerate(frames):
        seconds, nanoseconds = divmod(number * SPACING_NS, 1_000_000_000)
        length, frame = frame if isinstance(frame, tuple) else (len(frame), frame)
        file += struct.pack("<IIII", 1000000000 + seconds, nanoseconds, len(frame), length) + frame
    return file


def make(name):
    frames = []
    expected = SAMPLES[name](frames)
    return pcap(frames), expected


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="example: make_samples.py dissectors/corpus/samples")
    parser.add_argument("folder", type=pathlib.Path, help="where the captures and expected.json go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {}
    for name in SAMPLES:
        octets, expected = make(name)
        (folder / f"{name}.pcap.gz").write_bytes(gzip.compress(octets, 9, mtime=0))
        manifest[name] = expected
    (folder / "expected.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
