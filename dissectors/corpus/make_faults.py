# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The hand-made captures of faults that no deviation of the reference puts on the wire: each connection breaks one rule in one way.

A fault is a function that makes a connection and says which rules its sender breaks; the captures gather them by the layer at fault. Those
of `KEPT` break none: they do what another sender may get wrong.
"""
import collections
import struct

CRC_FLAG, REVISION = 0x40, 1
WRITE, READ_REQUEST, READ_RESPONSE, SEND, SEND_INVALIDATE, TERMINATE, IMMEDIATE, ATOMIC, ATOMIC_RESPONSE = 0, 1, 2, 3, 4, 7, 8, 10, 11


def untagged(opcode, payload=b"", *, queue=0, msn=1, mo=0, last=True, word=0, version=1, bits=0):
    """RFC 5041 Figure 4 and RFC 5040 Figure 4; `bits` is added to RDMAP's control octet."""
    return struct.pack(">BBIIII", (0x40 if last else 0) | version, 0x40 | opcode | bits, word, queue, msn, mo) + payload


def tagged(opcode, stag, to, payload=b"", *, last=True, bits=0):
    """RFC 5041 Figure 3."""
    return struct.pack(">BBIQ", 0x80 | (0x40 if last else 0) | 1, 0x40 | opcode | bits, stag, to) + payload


def read_request(length=16, **how):
    """RFC 5040 Figure 5: sink STag and TO, size, source STag and TO."""
    return untagged(READ_REQUEST, struct.pack(">IQIIQ", 0x500, 0x2000, length, 0x600, 0x3000), queue=1, **how)


def atomic_request(**how):
    """RFC 7306 Figure 4: FetchAdd, identifier, STag, TO, added, mask, nothing to compare, a mask of ones."""
    return untagged(ATOMIC, struct.pack(">IIIQQQQQ", 0, 77, 0x600, 0x3000, 1, 0, 0, (1 << 64) - 1), queue=1, **how)


def terminate(layer, kind, code, flags=0, rest=b""):
    """RFC 5040 Figure 7: layer, type, code; M, D, R."""
    return untagged(TERMINATE, struct.pack(">BBH", layer << 4 | kind, code, flags) + rest, queue=2)


def mpa(initiator, flags, revision, private=b""):
    return (b"MPA ID Req Frame" if initiator else b"MPA ID Rep Frame") + struct.pack(">BBH", flags, revision, len(private)) + private


def enhanced(first, second):
    """RFC 6581 section 9: flags A, B and IRD; C, D and ORD."""
    return struct.pack(">HH", first, second)


A, B, C, D = 0x8000, 0x4000, 0x8000, 0x4000


def sends(*ulpdus):
    """The Initiator sends these."""
    def make(connection):
        for ulpdu in ulpdus:
            connection.up.fpdu(ulpdu)
    return make


def answered(request, *ulpdus):
    """The Responder sends these after the Initiator's."""
    def make(connection):
        connection.up.fpdu(request)
        for ulpdu in ulpdus:
            connection.down.fpdu(ulpdu)
    return make


def revision_zero(change):
    """Revision 0 requires no DDP version, so that only the change of the version is wrong."""
    def make(connection):
        connection.startup[1] = mpa(False, CRC_FLAG, 0)
        change(connection)
    return make


def another_version(ulpdu):
    return bytes([ulpdu[0] ^ 0x01, ulpdu[1] ^ 0x40]) + ulpdu[2:]


def set_up(request, reply, *ulpdus):
    """Startup of revision 2; the Initiator then sends these."""
    def make(connection):
        connection.startup = [mpa(True, CRC_FLAG | 0x10, 2, request), mpa(False, CRC_FLAG | 0x10, 2, reply)]
        for ulpdu in ulpdus:
            connection.up.fpdu(ulpdu)
    return make


M, D_BIT, R = 0x8000, 0x4000, 0x2000


def blaming(ulpdu, layer, kind, code, flags=M | D_BIT, rdma=b"", header=slice(0, 18)):
    """The Initiator sends the ULPDU, and the Responder's Terminate copies this of its header."""
    return answered(ulpdu, terminate(layer, kind, code, flags, struct.pack(">H", len(ulpdu)) + ulpdu[header] + rdma))


def rdma_header(sink_to=0x2000, length=200, source=0x600, source_to=0x3000):
    """That of read_request(200), or changed."""
    return struct.pack(">IQIIQ", 0x500, sink_to, length, source, source_to)


def read_cut_short(connection):
    """A Terminate in the middle of a Read Response says that more is left than there is."""
    request = read_request(200)
    connection.up.fpdu(request)
    connection.down.fpdu(tagged(READ_RESPONSE, 0x500, 0x2000, payload(100), last=False))
    connection.down.fpdu(terminate(0, 1, 1, M | D_BIT | R, struct.pack(">H", len(request)) + request[:18] +
                                   rdma_header(sink_to=0x2064, length=150, source_to=0x3064)))


def rejected(connection):
    """The Responder rejects, and the Initiator sends an FPDU all the same."""
    connection.startup[1] = mpa(False, CRC_FLAG | 0x20, REVISION)
    connection.up.fpdu(untagged(SEND))


def payload(length):
    return bytes((i * 5 + 1) & 0xFF for i in range(length))


def piece(mo, last, length=9, msn=1, **how):
    return untagged(SEND, payload(length), mo=mo, last=last, msn=msn, **how)


def write_piece(to, last, length=9, **how):
    return tagged(WRITE, 0x100, to, payload(length), last=last, **how)


DDP = {
    "version_changes": (("ddp.header.dv-constant-on-stream", "mpa.startup.revision-one-sent"),
                        revision_zero(sends(untagged(SEND), another_version(untagged(SEND, msn=2))))),
    "version_differs": (("mpa.startup.same-ddp-version-both-ways", "mpa.startup.revision-one-sent"),
                        revision_zero(answered(untagged(SEND), another_version(untagged(SEND))))),
    "segment_behind_the_last": (("ddp.header.l-segment-sent-last",), sends(piece(0, False), piece(18, True), piece(9, False))),
    "last_is_not_highest": (("ddp.untagged.l-segment-highest-mo",), sends(piece(0, False), piece(18, False), piece(9, True))),
    "tagged_rsvdulp_changes": (("ddp.tagged.rsvdulp-same-in-segments",), sends(write_piece(0, False), write_piece(9, True, bits=2))),
    "invalidated_stag_changes": (("ddp.untagged.rsvdulp-same-in-segments",),
                                 sends(untagged(SEND_INVALIDATE, payload(9), last=False, word=5),
                                       untagged(SEND_INVALIDATE, payload(9), mo=9, word=6))),
    "sink_stag_changes": (("ddp.tagged.stag-same-in-segments",),
                          answered(read_request(), tagged(READ_RESPONSE, 0x500, 0x2000, payload(10), last=False),
                                   tagged(READ_RESPONSE, 0x501, 0x200A, payload(6)))),
    "queue_changes": (("ddp.untagged.qn-same-in-segments", "rdmap.send.queue-zero"), sends(piece(0, False), piece(9, True, queue=1))),
    "mo_falls": (("ddp.segmentation.increasing-mo",), sends(piece(9, False), piece(0, False), piece(18, True))),
    "to_falls": (("ddp.segmentation.increasing-to",), sends(write_piece(9, False), write_piece(0, False), write_piece(18, True))),
    "messages_interleaved": (("ddp.delivery.messages-sent-in-order",), sends(piece(0, False), write_piece(0, True), piece(9, True))),
    "empty_message_in_two": (("ddp.segmentation.zero-length-one-segment",), sends(piece(0, False, 0), piece(0, True, 0))),
}

RDMAP = {
    "atomic_request_short": (("rdmap.atomic.request-header-52-octets",), sends(atomic_request()[:-1])),
    "atomic_request_long": (("rdmap.atomic.no-ulp-payload",), sends(atomic_request() + b"\1")),
    "atomic_response_short": (("rdmap.atomic.response-header-format",),
                              answered(atomic_request(), untagged(ATOMIC_RESPONSE, struct.pack(">II", 77, 0), queue=3))),
    "atomic_response_long": (("rdmap.atomic.no-ulp-payload",),
                             answered(atomic_request(), untagged(ATOMIC_RESPONSE, struct.pack(">IQI", 77, 0, 1), queue=3))),
    "atomic_reserved_bits": (("rdmap.atomic.other-control-fields",), sends(atomic_request(bits=0x10))),
    "atomic_request_tagged": (("rdmap.atomic.request-untagged",), sends(tagged(ATOMIC, 0x100, 0, payload(40)))),
    "atomic_response_tagged": (("rdmap.atomic.response-marked-untagged",), sends(tagged(ATOMIC_RESPONSE, 0x100, 0, payload(12)))),
    "immediate_reserved_bits": (("rdmap.immediate.other-control-fields",), sends(untagged(IMMEDIATE, payload(8), bits=0x30))),
    "read_response_untagged": (("rdmap.read.response-tagged",), sends(untagged(READ_RESPONSE, payload(16)))),
    "read_request_short": (("rdmap.read.request-header-format",), sends(read_request()[:-1])),
    "terminate_with_payload": (("rdmap.terminate.carries-no-payload",),
                               answered(piece(0, True), terminate(1, 2, 2, 0xC000, struct.pack(">H", 27) + piece(0, True)[:18] + b"12345"))),
    "nothing_to_invalidate_protection": (("rdmap.terminate.code-cannot-invalidate-protection",), blaming(untagged(SEND), 0, 1, 9)),
    "nothing_to_invalidate_operation": (("rdmap.terminate.code-cannot-invalidate-operation",), blaming(untagged(SEND), 0, 2, 9)),
    "half_a_ddp_header": (("rdmap.terminate.ddp-header-size",), blaming(untagged(SEND), 1, 2, 2, header=slice(0, 9))),
    "rdma_header_announced": (("rdmap.terminate.rdma-header-present-with-r",), blaming(read_request(), 0, 1, 0, M | D_BIT | R)),
    "half_an_rdma_header": (("rdmap.terminate.rdma-header-size",), blaming(read_request(), 0, 1, 0, M | D_BIT | R, payload(10))),
    "rdma_header_of_nothing": (("rdmap.terminate.operation-error-no-rdma-header",), sends(terminate(0, 2, 0xFF, R, bytes(28)))),
    "rdma_header_of_another_read": (("rdmap.terminate.read-header-original",),
                                    blaming(read_request(200), 0, 1, 0, M | D_BIT | R, rdma_header(source=0x601))),
    "more_left_than_there_is": (("rdmap.terminate.read-header-size-remaining",), read_cut_short),
    "ddp_local_with_code": (("ddp.terminate.local-catastrophic",), sends(terminate(1, 0, 1))),
}

STARTUP = {
    "enhanced_without_need": (("mpa.enhanced.not-used-without-need",), set_up(enhanced(0x3FFF, 0x3FFF), enhanced(0x3FFF, 0x3FFF),
                                                                             untagged(SEND))),
    "data_without_a_common_rtr_kind": (("mpa.enhanced.no-rtr-match-sends-term",), set_up(enhanced(A | B | 8, 8), enhanced(A | 8, C | 8),
                                                                                        untagged(SEND))),
    "data_after_a_reject": (("mpa.startup.rejected-initiator-exits-mpa",), rejected, {"notes": ["framing found"]}),
    "no_match_blamed_on_rdmap": (("mpa.enhanced.error-layer-two-type-zero",),
                                 set_up(enhanced(A | B | 8, 8), enhanced(A | 8, C | 8), terminate(0, 0, 0))),
    "local_error_with_another_code": (("mpa.enhanced.initiator-local-error-code-five",),
                                      set_up(enhanced(A | B | 8, C | D | 8), enhanced(A | B | 8, C | D | 8), terminate(2, 0, 3))),
}


def without_crc_field(connection):
    """CRCs are off, and the sender leaves the field out altogether."""
    for number in range(4):
        begin, _ = connection.up.send(payload(50), number + 1)
        del connection.up.octets[-4:]
        assert len(connection.up.octets) > begin


def crc_over_less(connection):
    """The Marker between pad and CRC is not counted; the FPDU is made so that there is one."""
    made = connection.up.fpdu(untagged(SEND, payload(488)), crc_of=lambda octets: octets[:-4])
    assert made == (0, 520)
    connection.up.send(payload(20), 2)


def marker_octets_exchanged(connection):
    connection.up.fpdu(untagged(SEND, payload(600)), marker_of=lambda pointer: pointer >> 8 | (pointer & 0xFF) << 8)


def pointer_between_fpdus(connection):
    """The first FPDU ends where a Marker is due, which belongs to neither and must be zero."""
    assert connection.up.fpdu(untagged(SEND, payload(508 - 2 - 4 - 18))) == (0, 512)
    connection.up.fpdu(untagged(SEND, payload(600), msn=2), leading_of=508)


def pointer_to_the_fpdu_before(connection):
    connection.up.send(payload(100), 1)
    begin, _ = connection.up.fpdu(untagged(SEND, payload(500), msn=2), marker_of=lambda pointer: pointer + second[0] - 4)
    assert begin == second[0]


second = (4 + 2 + 18 + 100 + 4,)  # where the second FPDU begins: after a Marker, a length, a header, the payload, a CRC


def markers_by_sequence_numbers(connection):
    """Where the TCP sequence number is a multiple of 512, and not from the first FPDU on."""
    connection.startup[0] = mpa(True, CRC_FLAG, REVISION, payload(8))  # Markers are at multiples of four
    connection.up.origin = connection.first[0] + len(connection.startup[0])
    assert connection.up.origin % 4 == 0 and connection.up.origin % 512
    for number in range(3):
        connection.up.send(payload(700), number + 1)


def too_long(connection):
    connection.up.send(payload(65000 - 18), 1)


FRAMING = {
    "without_crc_field": (("mpa.crc.field-always-included",) * 4, without_crc_field, {"crc": False}),
    "crc_without_marker_behind_pad": (("mpa.crc.covers-marker-after-pad",), crc_over_less, {"markers_up": True}),
    "marker_octets_exchanged": (("mpa.markers.field-layout",), marker_octets_exchanged, {"markers_up": True}),
    "pointer_between_fpdus": (("mpa.markers.zero-pointer-between-fpdus",), pointer_between_fpdus, {"markers_up": True}),
    "pointer_to_the_fpdu_before": (("mpa.markers.small-fpdus-point-to-container",), pointer_to_the_fpdu_before, {"markers_up": True}),
    "markers_by_sequence_numbers": (("mpa.markers.interval-from-first-marker",), markers_by_sequence_numbers, {"markers_up": True}),
    "ulpdu_too_long": (("mpa.segmentation.ulpdu-never-over-64768",), too_long, {}),
}

MSS = 1460


def segments(*lengths):
    """Cuts what the Initiator sends into TCP segments of these lengths."""
    def carry(connection):
        at = 0
        for length in lengths:
            connection.carry(0, connection.up.octets[at:at + length], at)
            at += length
        assert at == len(connection.up.octets), (at, len(connection.up.octets))
    return carry


def fpdu_size(length):
    return (2 + 18 + length + 3) // 4 * 4 + 4


SEGMENTATION = {
    "over_mulpdu": (("mpa.segmentation.mulpdu-formula-without-markers",), sends(untagged(SEND, payload(1440))), {},
                    segments(1460, fpdu_size(1440) - 1460)),
    "over_mulpdu_with_markers": (("mpa.segmentation.mulpdu-formula-with-markers",), sends(untagged(SEND, payload(1440))),
                                 {"markers_up": True}, segments(1460, fpdu_size(1440) + 3 * 4 - 1460)),
    "remainder_filled": (("mpa.segmentation.packed-remainder-keeps-floor",),
                         sends(untagged(SEND, payload(1320)), piece(0, False, 80, msn=2), piece(80, True, 900, msn=2)), {},
                         segments(fpdu_size(1320) + fpdu_size(80), fpdu_size(900))),
    "half_full": (("mpa.segmentation.ulpdus-as-large-as-possible",), sends(piece(0, False, 400), piece(400, True, 400)), {},
                  segments(fpdu_size(400), fpdu_size(400))),
    "segment_within_fpdu": (("mpa.segmentation.segments-begin-with-fpdu",), sends(untagged(SEND, payload(600))), {},
                            segments(300, fpdu_size(600) - 300)),
    "packed_in_part": (("mpa.segmentation.segments-begin-with-fpdu",), sends(untagged(SEND, payload(600)), untagged(SEND, payload(600), msn=2)),
                       {}, segments(fpdu_size(600) + 200, fpdu_size(600) - 200)),
}


def full(markers):
    """A message of three segments: two that fill the TCP segment, Markers counted, and the rest."""
    room = MSS - (4 * (MSS // 512 + 1) if markers else 0)
    length = (room - 2 - 18 - 4) // 4 * 4 - 2

    def make(connection):
        for number in range(3):
            connection.up.fpdu(piece(number * length, number == 2, length if number < 2 else 90))
    return make


def by_fpdus(connection):
    """Cuts where FPDUs begin: the two large ones alone, then the rest."""
    ends = [end for _, end in connection.up.places]
    segments(*(end - begin for begin, end in zip([0] + ends, ends)))(connection)


KEPT = {
    "write_after_an_invalidation": ((), sends(untagged(SEND_INVALIDATE, word=5), write_piece(0, True))),
    "nothing_to_invalidate_it_says": ((), blaming(untagged(SEND_INVALIDATE, word=5), 0, 2, 9)),
    "full_segments": ((), full(False), {}, by_fpdus),
    "full_segments_with_markers": ((), full(True), {"markers_up": True}, by_fpdus),
    "packed_segments": ((), sends(untagged(SEND, payload(700)), piece(0, False, 600, msn=2), piece(600, True, 900, msn=2)), {},
                        segments(fpdu_size(700) + fpdu_size(600), fpdu_size(900))),
}


# These break a rule for certain before the other end closes, which takes it for an error and sends no Terminate.
WITHOUT_TERMINATE = {name for name, (rules, *_) in (DDP | RDMAP).items() if not any("terminate" in rule or ".code-" in rule for rule in rules)}
WITHOUT_TERMINATE = WITHOUT_TERMINATE - {"version_differs", "mo_falls", "to_falls"} | {"without_crc_field", "crc_without_marker_behind_pad"}


def gathered(connect, faults, mss=None):
    """A capture of these faults, each in a connection of its own."""
    def make(capture):
        """Each connection breaks one rule in one way."""
        expected = []
        for number, (name, (rules, fill, *rest)) in enumerate(faults.items()):
            how = dict(rest[0]) if rest else {}
            notes = how.pop("notes", []) + ["no Terminate"] * (name in WITHOUT_TERMINATE)
            connection = connect(capture, 5445, client_port=42000 + number, mss=mss, **how)
            fill(connection)
            connection.begin()
            if len(rest) > 1:
                rest[1](connection)
            else:
                connection.carry_all(0)
            connection.carry_all(1)
            connection.end()
            expected.append({"ports": [42000 + number, 5445], "first": {}, "second": {}, "violations": dict(collections.Counter(rules)), "notes": notes})
        return expected
    return make


def captures(connect):
    return {"faults_of_ddp": gathered(connect, DDP), "faults_of_rdmap": gathered(connect, RDMAP),
            "faults_of_startup": gathered(connect, STARTUP), "faults_of_framing": gathered(connect, FRAMING),
            "faults_of_segmentation": gathered(connect, SEGMENTATION, MSS), "kept": gathered(connect, KEPT, MSS)}
