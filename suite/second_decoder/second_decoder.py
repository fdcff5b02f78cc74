#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A second decoder of MPA, DDP and RDMAP, for tests only: written from the RFCs alone, independently of reference_rnic/wire, so that
the two can be compared. It reads octets of one direction and writes one JSON object per line.

Each function follows one figure: RFC 5044 (MPA), 5041 (DDP), 5040 and 7306 (RDMAP), 6581 (the enhanced octets). Values are as on the
wire; the decoder does not say what a receiver should do with them."""

import argparse
import json
import pathlib
import sys

MARKER_INTERVAL = 512
KEYS = {b"MPA ID Req Frame": "request", b"MPA ID Rep Frame": "reply"}
READ_REQUEST, TERMINATE, IMMEDIATE, IMMEDIATE_SE, ATOMIC_REQUEST, ATOMIC_RESPONSE = 1, 7, 8, 9, 10, 11


class Short(Exception):
    """The octets end before the named field does."""


class Octets:
    """Network order, front to back."""

    def __init__(self, data):
        self.rest = bytes(data)

    def take(self, count, field):
        if len(self.rest) < count:
            raise Short(field)
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def number(self, octets, field):
        return int.from_bytes(self.take(octets, field), "big")


def crc32c(data):
    """One bit at a time, by the polynomial 0x11EDC6F41 in reflected order (RFC 5044 4.4, which refers to iSCSI's digests); in the order
    of the wire, the octet of the lowest bits first."""
    register = 0xFFFFFFFF
    for octet in data:
        register ^= octet
        for _ in range(8):
            register = (register >> 1) ^ (0x82F63B78 if register & 1 else 0)
    return (register ^ 0xFFFFFFFF).to_bytes(4, "little")


def bits(value, high, low):
    return (value >> low) & ((1 << (high - low + 1)) - 1)


def read_request_header(octets):
    """RFC 5040 Figure 6."""
    return {
        "sink_stag": octets.number(4, "sink_stag"),
        "sink_to": octets.number(8, "sink_to"),
        "size": octets.number(4, "size"),
        "source_stag": octets.number(4, "source_stag"),
        "source_to": octets.number(8, "source_to"),
    }


def atomic_request_header(octets):
    """RFC 7306 Figure 4."""
    first = octets.number(4, "atomic_opcode")
    return {
        "reserved": bits(first, 31, 4),
        "atomic_opcode": bits(first, 3, 0),
        "request_id": octets.number(4, "request_id"),
        "remote_stag": octets.number(4, "remote_stag"),
        "remote_to": octets.number(8, "remote_to"),
        "data": octets.number(8, "data"),
        "mask": octets.number(8, "mask"),
        "compare_data": octets.number(8, "compare_data"),
        "compare_mask": octets.number(8, "compare_mask"),
    }


def atomic_response_header(octets):
    """RFC 7306 Figure 6."""
    return {"request_id": octets.number(4, "request_id"), "original_value": octets.number(8, "original_value")}


def immediate_header(octets):
    """RFC 7306 Figure 7."""
    return {"immediate": octets.number(8, "immediate")}


def ddp_header(octets):
    """RFC 5041 Figures 3 to 5; the ULP's octet as RFC 5040 Figure 3 divides it."""
    control = octets.number(1, "ddp_control")
    header = {
        "tagged": bool(bits(control, 7, 7)),
        "last": bool(bits(control, 6, 6)),
        "ddp_reserved": bits(control, 5, 2),
        "ddp_version": bits(control, 1, 0),
    }
    ulp = octets.number(1, "rdmap_control")
    header |= {"rdmap_version": bits(ulp, 7, 6), "rdmap_reserved": bits(ulp, 5, 4), "opcode": bits(ulp, 3, 0)}
    if header["tagged"]:
        header |= {"stag": octets.number(4, "stag"), "to": octets.number(8, "to")}
    else:
        for field in ("invalidate_stag", "qn", "msn", "mo"):
            header[field] = octets.number(4, field)
    return header


def terminate_header(octets):
    """RFC 5040 Figures 7 and 8. D says that the segment length is present, M that it is valid. The T flag of the copied DDP header says
    which of the two kinds it is."""
    control = octets.number(4, "terminate_control")
    header = {
        "layer": bits(control, 31, 28),
        "type": bits(control, 27, 24),
        "code": bits(control, 23, 16),
        "m": bool(bits(control, 15, 15)),
        "d": bool(bits(control, 14, 14)),
        "r": bool(bits(control, 13, 13)),
        "reserved": bits(control, 12, 0),
    }
    if header["m"] or header["d"]:
        header["segment_length"] = octets.number(2, "segment_length")
    if header["d"]:
        header["ddp_header"] = ddp_header(octets)
    if header["r"]:
        header["rdma_header"] = read_request_header(octets)
    return header


HEADERS = {
    READ_REQUEST: read_request_header,
    TERMINATE: terminate_header,
    IMMEDIATE: immediate_header,
    IMMEDIATE_SE: immediate_header,
    ATOMIC_REQUEST: atomic_request_header,
    ATOMIC_RESPONSE: atomic_response_header,
}


def whole(read, data):
    """What `read` finds, or what it misses, and the octets after it."""
    octets = Octets(data)
    try:
        found = read(octets)
    except Short as short:
        return {"short": str(short)}
    return found | {"beyond": octets.rest.hex()}


def segment(data):
    """RFC 5041 Figure 6: a header and the rest; an RDMAP header if the opcode has one and the segment starts its message."""
    found = whole(ddp_header, data)
    if "short" in found:
        return found
    found["payload"] = found.pop("beyond")
    if not found["tagged"] and found["mo"] == 0 and found["opcode"] in HEADERS:
        found["header"] = whole(HEADERS[found["opcode"]], bytes.fromhex(found["payload"]))
    return found


def enhanced_octets(octets):
    """The figure of RFC 6581 section 9: A, B and IRD, C, D and ORD."""
    inbound, outbound = octets.number(2, "negotiation"), octets.number(2, "negotiation")
    return {
        "peer_to_peer": bool(bits(inbound, 15, 15)),
        "rtr_send": bool(bits(inbound, 14, 14)),
        "ird": bits(inbound, 13, 0),
        "rtr_write": bool(bits(outbound, 15, 15)),
        "rtr_read": bool(bits(outbound, 14, 14)),
        "ord": bits(outbound, 13, 0),
    }


def mpa_frame(data):
    """RFC 5044 Figure 8, with RFC 6581's S flag (section 6) and the 32 bits that it announces (section 9)."""
    octets = Octets(data)
    try:
        key = octets.take(16, "key")
        flags = octets.number(1, "flags")
        frame = {
            "key": KEYS.get(key, "wrong"),
            "markers": bool(bits(flags, 7, 7)),
            "crc": bool(bits(flags, 6, 6)),
            "rejected": bool(bits(flags, 5, 5)),
            "enhanced": bool(bits(flags, 4, 4)),
            "reserved": bits(flags, 3, 0),
            "revision": octets.number(1, "revision"),
        }
        length = octets.number(2, "pd_length")
        frame["pd_length"] = length
        frame["private_data"] = octets.take(length, "private_data").hex()
        frame["beyond"] = octets.rest.hex()
        if frame["enhanced"]:
            frame["negotiation"] = whole(enhanced_octets, bytes.fromhex(frame["private_data"]))
    except Short as short:
        return {"short": str(short)}
    return frame


class Stream:
    """FPDUs of one direction of full operation (RFC 5044 4.1 to 4.4). Positions count from the first octet of full operation, where
    the first Marker is."""

    def __init__(self, data, first_position, markers, crc):
        self.data = data
        self.first = first_position
        self.markers = markers
        self.crc = crc
        self.at = 0

    def position(self):
        return self.first + self.at

    def raw(self, count):
        if len(self.data) - self.at < count:
            raise Short("fpdu")
        taken = self.data[self.at : self.at + count]
        self.at += count
        return taken

    def take(self, count, found, start):
        """`count` octets that are no Marker. Markers on the way go into `found` with the FPDU's start that they should point to."""
        taken = b""
        while True:
            behind = self.position() % MARKER_INTERVAL
            if self.markers and behind == 0 and len(taken) < count:
                self.marker(found, start)
                behind = 4
            room = MARKER_INTERVAL - behind if self.markers else count
            taken += self.raw(min(room, count - len(taken)))
            if len(taken) == count:
                return taken

    def marker(self, found, start):
        here = self.position()
        octets = Octets(self.raw(4))
        reserved, pointer = octets.number(2, "reserved"), octets.number(2, "fpduptr")
        should = 0 if start is None else here - start
        found.append({"at": here, "reserved": reserved, "fpduptr": pointer, "right": pointer & 0xFFFC == should})

    def fpdu(self):
        begin, found = self.at, []
        # A Marker between two FPDUs belongs to the one after it and has the value zero.
        if self.markers and self.position() % MARKER_INTERVAL == 0:
            self.marker(found, None)
        start = self.position()
        length = int.from_bytes(self.take(2, found, start), "big")
        ulpdu = self.take(length, found, start)
        pad = self.take(-(2 + length) % 4, found, start)
        # There may be a Marker after the pad, which the CRC covers; no Marker cuts the CRC itself, as all lengths are multiples of four.
        if self.markers and self.position() % MARKER_INTERVAL == 0:
            self.marker(found, start)
        covered = self.data[begin : self.at]
        crc = self.raw(4)
        line = {"item": "fpdu", "at": start, "length": length, "markers": found, "pad": pad.hex(), "crc": crc.hex()}
        if self.crc:
            line["crc_right"] = crc == crc32c(covered)
        return line | {"segment": segment(ulpdu)}

    def lines(self):
        while self.at < len(self.data):
            begin = self.at
            try:
                yield self.fpdu()
            except Short:
                yield {"item": "incomplete", "at": self.first + begin, "octets": len(self.data) - begin}
                return


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: suite/second_decoder/second_decoder.py stream --markers --crc octets.bin",
    )
    parser.add_argument("kind", choices=["stream", "segment", "terminate", "mpa_frame"], help="what the file holds")
    parser.add_argument("--at", type=int, default=0, help="position in full operation of the file's first octet (stream)")
    parser.add_argument("--markers", action="store_true", help="this direction carries Markers (stream)")
    parser.add_argument("--crc", action="store_true", help="check CRCs (stream)")
    parser.add_argument("file", type=pathlib.Path)
    asked = parser.parse_args()
    data = asked.file.read_bytes()
    if asked.kind == "stream":
        lines = Stream(data, asked.at, asked.markers, asked.crc).lines()
    else:
        lines = [{"segment": segment, "mpa_frame": mpa_frame, "terminate": lambda d: whole(terminate_header, d)}[asked.kind](data)]
    for line in lines:
        print(json.dumps(line, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
