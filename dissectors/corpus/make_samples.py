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

SPACING_NS = 300_000  # of frames in time, as on a slow link
SPACING = 512  # RFC 5044 section 4.3: a Marker every 512 octets of the stream


def crc_table():
    table = []
    for octet in range(256):
        for _ in range(8):
            octet = (octet >> 1) ^ (0x82F63B78 if octet & 1 else 0)
        table.append(octet)
    return table


TABLE = crc_table()


def crc32c(octets):
    crc = 0xFFFFFFFF
    for octet in octets:
        crc = (crc >> 8) ^ TABLE[(crc ^ octet) & 0xFF]
    return crc ^ 0xFFFFFFFF


class Stream:
    """What one end sends after its startup frame."""

    def __init__(self, markers, crc=True):
        self.markers, self.crc = markers, crc
        self.origin = 0  # what positions of Markers are counted from lies so many octets before the stream
        self.octets = bytearray()
        self.places = []  # of FPDUs: first octet, and the one after the last
        self.fpdus = self.marker_count = self.payload = 0
        self.msn = 0

    def fpdu(self, ulpdu, pad_octet=0, break_crc=False, leading_of=0, marker_of=lambda pointer: pointer, crc_of=lambda octets: octets):
        """What is wrong with it: the pad, the CRC or what it covers, FPDUPTR right before the FPDU or of the Markers within."""
        body = struct.pack(">H", len(ulpdu)) + ulpdu
        body += bytes([pad_octet]) * (-len(body) % 4)
        start, made = len(self.octets), bytearray()
        length_field = start + (4 if self.marker_due(start) else 0)

        def mark():
            at = start + len(made)
            if self.marker_due(at):
                # FPDUPTR: from ULPDU_Length to the Marker's first octet; 0 right before the FPDU.
                made.extend(struct.pack(">HH", 0, marker_of(at - length_field) if at > start else leading_of))
                self.marker_count += 1

        for i in range(0, len(body), 4):
            mark()
            made.extend(body[i:i + 4])
        mark()
        crc = crc32c(crc_of(made)) if self.crc else 0
        made.extend(struct.pack("<I", crc ^ (0x100 if break_crc else 0)))
        self.octets += made
        self.fpdus += 1
        self.places.append((start, len(self.octets)))
        return start, len(self.octets)

    def marker_due(self, at):
        return self.markers and (self.origin + at) % SPACING == 0

    def send(self, payload, msn=None, **wrong):
        """RFC 5041 Figure 4, RFC 5040 Figure 4: DV 1, L; RV 1, Send; queue 0."""
        self.msn = self.msn + 1 if msn is None else msn
        self.payload += len(payload)
        return self.fpdu(struct.pack(">BBIIII", 0x41, 0x43, 0, 0, self.msn, 0) + payload, **wrong)

    def write(self, stag, offset, payload, **wrong):
        """RFC 5041 Figure 3: T, L, DV 1; RV 1, RDMA Write."""
        self.payload += len(payload)
        return self.fpdu(struct.pack(">BBIQ", 0xC1, 0x40, stag, offset) + payload, **wrong)


def pattern(length, seed=0):
    return bytes((i * 7 + seed) & 0xFF for i in range(length))


def checksum(octets):
    octets += b"\0" * (len(octets) % 2)
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Connection:
    """Two ends, the client being Initiator; collects the frames of a capture."""

    def __init__(self, capture, port, markers_up=False, markers_down=False, crc=True, client_port=40000, ipv6=False, vlan=(), mss=None,
                 tunnel=None):
        self.capture, self.ipv6, self.vlan, self.tunnel = capture, ipv6, vlan, tunnel
        self.options = struct.pack(">BBH", 2, 4, mss) if mss else b""  # of SYNs: Maximum Segment Size (RFC 9293 section 3.2)
        self.ports = [client_port, port]
        self.addresses = [b"\xfd" + b"\0" * 14 + bytes([n]) if ipv6 else bytes([192, 0, 2, n]) for n in (1, 2)]
        self.up, self.down = Stream(markers_up, crc), Stream(markers_down, crc)
        self.first = [1000, 0xFFFFF000]  # the second's sequence numbers wrap
        flags = 0x40 if crc else 0
        # M asks the other end for Markers.
        self.startup = [self.mpa(b"MPA ID Req Frame", flags | (0x80 if markers_down else 0), b"corpus"),
                        self.mpa(b"MPA ID Rep Frame", flags | (0x80 if markers_up else 0), b"")]
        self.passed = [0, 0]

    @staticmethod
    def mpa(key, flags, private):
        return key + struct.pack(">BBH", flags, 1, len(private)) + private

    def frame(self, end, sequence, flags, payload=b"", ack=0):
        options = self.options if flags & 0x02 else b""
        tcp = struct.pack(">HHIIBBHHH", self.ports[end], self.ports[1 - end], sequence & 0xFFFFFFFF, ack & 0xFFFFFFFF,
                          (20 + len(options)) // 4 << 4, flags, 65535, 0, 0) + options
        pseudo = self.addresses[end] + self.addresses[1 - end] + struct.pack(">II", len(tcp) + len(payload), 6)
        tcp = tcp[:16] + struct.pack(">H", checksum(pseudo + tcp + payload)) + tcp[18:]
        if self.ipv6:
            ip = struct.pack(">IHBB", 6 << 28, len(tcp) + len(payload), 6, 64)
        else:
            ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp) + len(payload), 0, 0x4000, 64, 6, 0)
            ip = ip[:10] + struct.pack(">H", checksum(ip + self.addresses[end] + self.addresses[1 - end]))
        ip += self.addresses[end] + self.addresses[1 - end]
        kind = 0x86DD if self.ipv6 else 0x0800
        tags = b"".join(struct.pack(">HH", 0x8100, tag) for tag in self.vlan)
        addresses = bytes([2, 0, 0, 0, 0, 2 - end, 2, 0, 0, 0, 0, 1 + end])
        frame = addresses + tags + struct.pack(">H", kind) + ip + tcp + payload
        self.capture.append(self.tunnel(addresses, frame) if self.tunnel else frame)

    def begin(self):
        self.frame(0, self.first[0] - 1, 0x02)
        self.frame(1, self.first[1] - 1, 0x12, ack=self.first[0])
        self.frame(0, self.first[0], 0x10, ack=self.first[1])
        for end in (0, 1):
            self.frame(end, self.first[end], 0x18, self.startup[end], self.next(1 - end))
            self.passed[end] = len(self.startup[end])

    def next(self, end):
        return self.first[end] + self.passed[end]

    def carry(self, end, octets, offset):
        """Octets of the stream after the startup frame."""
        sequence = self.first[end] + len(self.startup[end]) + offset
        self.frame(end, sequence, 0x18, bytes(octets), self.next(1 - end))
        self.passed[end] = max(self.passed[end], len(self.startup[end]) + offset + len(octets))

    def pieces(self, end, size=1448):
        octets = (self.up, self.down)[end].octets
        return [(octets[at:at + size], at) for at in range(0, len(octets), size)]

    def carry_all(self, end, size=1448):
        for octets, at in self.pieces(end, size):
            self.carry(end, octets, at)

    def acknowledge(self, end):
        self.frame(end, self.next(end), 0x10, ack=self.next(1 - end))

    def end(self):
        for end in (0, 1):
            self.frame(end, self.next(end), 0x11, ack=self.next(1 - end))
            self.passed[end] += 1
        self.acknowledge(0)

    def expected(self, first=0, **more):
        """`first`: the end whose octets come first in the capture."""
        ends = [{"role": role, "fpdus": stream.fpdus, "markers": stream.marker_count, "octets": stream.payload}
                for role, stream in (("initiator", self.up), ("responder", self.down))]
        return {"ports": [self.ports[first], self.ports[1 - first]], "first": ends[first], "second": ends[1 - first],
                "violations": {}, "notes": [], **more}


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
    """As above, and nothing but Markers and headers tells where FPDUs begin."""
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


def acknowledged_early(capture):
    """Taps that were merged: each acknowledgement stands before the segment that it acknowledges."""
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
    """A segment of nobody's 2^30 octets ahead, far outside the receiver's window."""
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


def wrong(rule, *, markers=False, **fault):
    def make(capture):
        """One FPDU of the Responder's is wrong in one way."""
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
        return [connection.expected(violations={rule: 1})]
    return make


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
    "acknowledged_early": acknowledged_early,
    "begins_with_the_reply": begins_with_the_reply,
    "damaged_on_its_way": damaged_on_its_way,
    "far_segment": far_segment,
    "mid_stream_of_small_sends": mid_stream_of_small_sends,
    "cut_to_96_octets": cut_to_96_octets,
    "wrong_pad": wrong("mpa.framing.pad-sent-as-zero", pad_octet=1),
    "wrong_crc": wrong("mpa.crc.crc32c-as-in-iscsi", break_crc=True),
    "wrong_marker": wrong("mpa.markers.pointer-counts-from-length-field", markers=True, marker_of=lambda pointer: pointer + 4),
    "wrong_msn": wrong("ddp.untagged.msn-increments-per-message", msn=7),
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
