// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Octets that Linux soft-iWARP (kernel 6.1) sent to another of its kind in rping sessions: TCP
// payloads, one each.
#pragma once

namespace rnic::wire::test::siw {

// Revision 1, CRC asked for; then without.
inline constexpr char request_rev1_crc[] = "4d504120494420526571204672616d65 40 01 0000";
inline constexpr char reply_rev1_crc[] = "4d504120494420526570204672616d65 40 01 0000";
inline constexpr char request_rev1[] = "4d504120494420526571204672616d65 00 01 0000";

// Revision 2: client-server; peer-to-peer with two kinds of RTR offered, one chosen; with Read as
// RTR and CRC.
inline constexpr char request_rev2[] = "4d504120494420526571204672616d65 10 02 0004 00010001";
inline constexpr char request_rev2_two_rtr[] =
    "4d504120494420526571204672616d65 10 02 0004 8001c001";
inline constexpr char reply_rev2_rtr_write[] =
    "4d504120494420526570204672616d65 10 02 0004 80018001";
inline constexpr char reply_rev2_crc_rtr_read[] =
    "4d504120494420526570204672616d65 50 02 0004 80014001";

// FPDUs with a CRC: the zero-length Read that is the RTR, its Response, a Send, the Sends' second,
// a Read Request, and the last segment of a Read Response (159 octets of ULPDU, so three of pad).
inline constexpr char rtr_read_request[] =
    "002e 4141 00000000 00000001 00000001 00000000"
    "00000000 0000000000000000 00000000 00000001 0000000000000000 ba10e3c9";
inline constexpr char rtr_read_response[] = "000e c142 00000000 0000000000000000 6975d6ca";
inline constexpr char send_1[] =
    "0022 4143 00000000 00000000 00000001 00000000 00005600f39b52d0aa4f560000000bb9 1db3cdaa";
inline constexpr char send_2[] =
    "0022 4143 00000000 00000000 00000002 00000000 00005600f39b46c025dcbe0000000bb9 71f1adcc";
inline constexpr char read_request[] =
    "002e 4141 00000000 00000001 00000001 00000000"
    "be751a00 00007fb970000e00 00000bb9 aa4f5600 00005600f39b52d0 519d08fd";
inline constexpr char read_response_padded[] =
    "009f c142 be751a00 00007fb970001928"
    "42434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f60616263646566676869"
    "6a6b6c6d6e6f707172737475767778797a4142434445464748494a4b4c4d4e4f5051525354555657"
    "58595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a4142434445"
    "464748494a4b4c4d4e4f505152535455565758595a5b5c5d00 000000 908a921c";

// FPDUs of a stream without CRC: the zero-length RDMA Write that is the RTR, and a Send.
inline constexpr char rtr_write[] = "000e c140 00000001 0000000000000000 00000000";
inline constexpr char send_without_crc[] =
    "0022 4143 00000000 00000000 00000001 00000000 00005575f35e7af04e486300000003e8 00000000";

// The Terminate for a Read Response beyond the bounds of its sink. It departs from RFC 5040 Figure
// 8: M and D are in the two low bits of their octet (0x0300 where 0xc000 is meant). Its DDP
// Segment Length of 1000 is the payload without the DDP header.
inline constexpr char terminate_base_or_bounds[] =
    "0026 4147 00000000 00000002 00000001 00000000"
    "1101 0300 03e8 c142 207aa200 00007f4c3c000e00 00000000";

}  // namespace rnic::wire::test::siw
