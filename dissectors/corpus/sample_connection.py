# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A connection of the hand-made captures: what each end sends, cut into TCP segments and frames.

Headers, Markers and CRCs are written here by the RFCs' figures, without the project's own code.
"""
import struct

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
        self.origin = 0  # the origin of Marker positions is so many octets before the stream
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
