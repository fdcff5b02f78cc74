# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Wireshark's own kinds of statistics over RDMAP: conversations, endpoints, service response times, Follow; and Decode As for the layers above."""

import re
import struct
import unittest

import plugin
from messages_test import READ_RESPONSE, Talk, WRITE, untagged
from plugin import made

CLIENT, SERVER = "10.0.0.1", "10.0.0.2"


def atomic(connection, identifier):
    """A FetchAdd and its answer (RFC 7306 section 5.2)."""
    request = struct.pack(">IIIQQQQQ", 0, identifier, 0x33, 0x200, 1, 0, 0, 0)
    connection.segment(True, made.fpdu(untagged(10, 1, 2, 0, True, request)))
    connection.time += 4_000_000
    connection.segment(False, made.fpdu(untagged(11, 3, 1, 0, True, struct.pack(">IQ", identifier, 41))))


class Statistics(unittest.TestCase):
    def setUp(self):
        talk = Talk(4200)
        talk.send(True, b"from the client")                                 # frame 6
        talk.send(False, b"from the server", parts=3)                       # 7 to 9
        talk.read_request(True, (0x22, 0x100), (0x33, 0x200), 600)          # 10
        talk.time += 2_000_000  # nanoseconds
        talk.place(False, READ_RESPONSE, 0x22, 0x100, b"r" * 600, parts=2)  # 11, 12
        atomic(talk, 7)                                                     # 13, 14
        talk.place(True, WRITE, 0x11, 0x7000, b"w" * 100)                   # 15
        self.file = plugin.hand_made(f"{self.id().rsplit('.', 1)[1]}.pcap", talk.closed().frames)

    def test_conversations(self):
        for passes in ([], ["-2"]):
            table = plugin.tshark("-r", self.file, "-n", *passes, "-q", "-z", "conv,rnic_iwarp")
            (row,) = re.findall(rf"^({CLIENT}|{SERVER}) +<-> +\S+ +(\d+) (\d+) bytes +(\d+) (\d+) bytes ", table, re.M)
            to_first, from_first = (int(row[1]), int(row[2])), (int(row[3]), int(row[4]))
            client, server = (from_first, to_first) if row[0] == CLIENT else (to_first, from_first)
            self.assertEqual(client, (4, 15 + 28 + 52 + 100), "DDP segments of the client, and their octets")
            self.assertEqual(server, (3 + 2 + 1, 15 + 600 + 12))

    def test_endpoints(self):
        table = plugin.tshark("-r", self.file, "-n", "-q", "-z", "endpoints,rnic_iwarp")
        rows = {host: [int(cell) for cell in row.split()] for host, row in re.findall(r"^([\d.]+)((?: +\d+){6}) *$", table, re.M)}
        self.assertEqual(rows, {CLIENT: [10, 822, 4, 195, 6, 627], SERVER: [10, 822, 6, 627, 4, 195]})

    def test_service_response_times(self):
        for passes in ([], ["-2"]):
            table = plugin.tshark("-r", self.file, *passes, "-q", "-z", "rnic_iwarp,srt")
            rows = re.findall(r"^ *\d+ +(RDMA Read|Atomic Operation) +(\d+) +([\d.]+) +([\d.]+)", table, re.M)
            (read, reads, shortest, _), (operation, count, quick, _) = rows
            self.assertEqual([(read, reads), (operation, count)], [("RDMA Read", "1"), ("Atomic Operation", "1")])
            self.assertGreater(float(shortest), 0.002)
            self.assertGreater(float(quick), 0.004)

    def test_follow(self):
        text = plugin.tshark("-r", self.file, "-q", "-z", "follow,rnic_iwarp,ascii,1")
        self.assertIn("rnic_iwarp.connection == 1", text)
        octets = "".join(line.strip() for line in text.splitlines())
        self.assertIn("from the client", octets)
        self.assertIn("r" * 300, octets)
        self.assertIn("w" * 100, octets)
        sent = plugin.tshark("-r", self.file, "-q", "-z", "follow,rnic_iwarp,raw,1")
        server = bytes.fromhex("".join(line.strip() for line in sent.splitlines() if line.startswith("\t")))
        self.assertEqual(server, b"from the server" + b"r" * 600, "and nothing of what RDMAP says itself")
        by_ends = plugin.tshark("-r", self.file, "-q", "-z", f"follow,rnic_iwarp,ascii,{CLIENT}:4200,{SERVER}:5000")
        self.assertIn("from the client", by_ends)


class DecodeAs(unittest.TestCase):
    """Which dissector gets the messages of a responder's port."""

    def test_iser_on_a_port_that_is_not_its_own(self):
        nop = struct.pack(">BBHIQIIII16x", 0x40, 0x80, 0, 0, 0, 5, 0xFFFFFFFF, 1, 1)
        talk = Talk(4201)
        talk.send(True, struct.pack(">B3xIQIQ", 0x18, 0x55, 0x1000, 0, 0) + nop)
        file = plugin.hand_made("decode_as_iser.pcap", talk.closed().frames)
        self.assertEqual(plugin.fields(file, ["iscsi.cmdsn"], "-Y", "iscsi"), [])
        chosen = ["-Y", "iscsi", "-d", "rnic_iwarp.port==5000,iser"]
        self.assertEqual(plugin.fields(file, ["frame.number", "iscsi.cmdsn"], *chosen), [[["6"], ["1"]]])
        # The list itself: from 4.2 on, the field of a column has what was there before any postdissector.
        self.assertRegex(plugin.tshark("-r", file, *chosen), r"^ +6 .* Send .*\| NOP Out", "our line, then that of the layer above")

    def test_nobody_else_is_asked_then(self):
        talk = Talk(4202).send(True, struct.pack("<HHHHIII", 0x100, 0x100, 0, 10, 1364, 8192, 1048576))
        file = plugin.hand_made("decode_as_other.pcap", talk.closed().frames)
        shown = ["smb_direct.credits.requested"]
        self.assertEqual(len(plugin.fields(file, shown, "-Y", "smb_direct")), 1)
        self.assertEqual(len(plugin.fields(file, shown, "-Y", "smb_direct", "-d", "rnic_iwarp.port==5000,smb_direct")), 1)
        self.assertEqual(plugin.fields(file, shown, "-Y", "smb_direct", "-d", "rnic_iwarp.port==5000,rpcordma"), [])
