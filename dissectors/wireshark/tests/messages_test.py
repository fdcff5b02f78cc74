# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Messages that the plugin joins from their FPDUs, and how the dissectors of the layers above decode them."""

import collections
import struct
import unittest

import plugin
from plugin import made


def untagged(opcode, queue, number, offset, last, payload):
    return struct.pack(">BBIIII", 0x41 if last else 0x01, 0x40 | opcode, 0, queue, number, offset) + payload


def tagged(opcode, stag, offset, last, payload):
    return struct.pack(">BBIQ", 0xC1 if last else 0x81, 0x40 | opcode, stag, offset) + payload


WRITE, READ_REQUEST, READ_RESPONSE, SEND = range(4)


class Talk(made.Connection):
    """Messages of both ends, each FPDU in a segment of its own."""

    def __init__(self, port, private_data=b""):
        super().__init__(port)
        self.segment(True, flags=0x02)
        self.segment(False, flags=0x12)
        self.segment(True, flags=0x10)
        self.segment(True, b"MPA ID Req Frame" + b"\x40\x01" + struct.pack(">H", len(private_data)) + private_data)
        self.segment(False, b"MPA ID Rep Frame" + b"\x40\x01\0\0")
        self.number = collections.Counter()

    def send(self, from_client, payload, parts=1):
        self.number[from_client, 0] += 1
        for begin, part, last in self.cut(payload, parts):
            self.segment(from_client, made.fpdu(untagged(SEND, 0, self.number[from_client, 0], begin, last, part)))
        return self

    def read_request(self, from_client, sink, source, length):
        self.number[from_client, 1] += 1
        payload = struct.pack(">IQIIQ", *sink, length, *source)
        self.segment(from_client, made.fpdu(untagged(READ_REQUEST, 1, self.number[from_client, 1], 0, True, payload)))
        return self

    def place(self, from_client, opcode, stag, offset, payload, parts=1):
        for begin, part, last in self.cut(payload, parts):
            self.segment(from_client, made.fpdu(tagged(opcode, stag, offset + begin, last, part)))
        return self

    @staticmethod
    def cut(payload, parts):
        size = -(-len(payload) // parts)
        for begin in range(0, len(payload), size):
            yield begin, payload[begin:begin + size], begin + size >= len(payload)


class Messages(unittest.TestCase):
    """Joined from their FPDUs, and as the dissectors of the layers above decode them."""

    NAMES = ["rnic_iwarp.joined", "rnic_iwarp.joined.frame", "rnic_iwarp.joined_in"]

    def shown(self, talk, *words):
        """The same in one pass and in two, but for what only comes to be known later."""
        file = plugin.hand_made(f"{self.id().rsplit('.', 1)[1]}.pcap", talk.closed().frames)
        self.assertEqual(plugin.plugin_violations(file, "-2"), plugin.lint_violations(file))
        names = [word for word in words if not word.startswith("-") and ":" not in word]
        options = [word for word in words if word not in names]
        once, twice = (plugin.fields(file, ["frame.number", *names], *options, *passes) for passes in ([], ["-2"]))
        for name, index in ((name, names.index(name) + 1) for name in names):
            if name != "rnic_iwarp.joined_in":
                self.assertEqual([row[index] for row in once], [row[index] for row in twice], name)
        self.assertEqual(plugin.tshark("-r", file, "-Y", "_ws.malformed"), "")
        return [{name: values for name, values in zip(["frame", *names], row) if values} for row in twice if any(row[1:])]

    def test_writes_and_reads_are_joined(self):
        text = bytes(range(200)) * 5
        talk = Talk(4100)
        talk.place(True, WRITE, 0x11, 0x7000, text, parts=3)                             # frames 6 to 8
        talk.read_request(True, (0x22, 0x100), (0x33, 0x200), len(text))                 # 9
        talk.place(False, READ_RESPONSE, 0x22, 0x100, text[::-1], parts=2)               # 10, 11
        talk.send(True, text, parts=4)                                                   # 12 to 15
        talk.send(False, text)
        rows = {int(row["frame"][0]): row for row in self.shown(talk, *self.NAMES)}
        for first, last, octets in ((6, 8, text), (10, 11, text[::-1]), (12, 15, text)):
            with self.subTest(first=first):
                self.assertEqual(rows[last]["rnic_iwarp.joined"], [octets.hex()])
                self.assertEqual(list(map(int, rows[last]["rnic_iwarp.joined.frame"])), list(range(first, last + 1)))
                self.assertEqual([rows[frame]["rnic_iwarp.joined_in"] for frame in range(first, last)],
                                 [[str(last)]] * (last - first))
        self.assertEqual(sorted(rows), [6, 7, 8, 10, 11, 12, 13, 14, 15], "what came in one FPDU is there already")

    def test_a_message_with_a_hole_is_not_joined(self):
        talk = Talk(4101)
        talk.place(True, WRITE, 0x11, 0x7000, b"a" * 900, parts=3)
        del talk.frames[6]
        talk.segment(False, flags=0x10)
        talk.time += 10_000_000  # nanoseconds: an acknowledgement comes at most 5 ms before its data
        talk.place(True, WRITE, 0x11, 0x8000, b"b" * 900, parts=3)
        self.assertEqual([row["rnic_iwarp.joined"] for row in self.shown(talk, "rnic_iwarp.joined")], [[(b"b" * 900).hex()]])

    def test_smb_direct(self):
        talk = Talk(4102)
        talk.send(True, struct.pack("<HHHHIII", 0x100, 0x100, 0, 10, 1364, 8192, 1048576))
        talk.send(False, struct.pack("<HHHHHHIIIII", 0x100, 0x100, 0x100, 0, 10, 10, 0, 8388608, 1364, 8192, 1048576))
        smb2 = b"\xfeSMB" + struct.pack("<HHIHHIIQIIQ16s", 64, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, b"")
        negotiate = smb2 + struct.pack("<HHHHI16sQH", 36, 1, 1, 0, 0, bytes(16), 0, 0x0210)
        talk.send(True, struct.pack("<HHHHIIII", 10, 0, 0, 0, 0, 24, len(negotiate), 0) + negotiate, parts=2)
        rows = self.shown(talk, "smb_direct.credits.requested", "smb_direct.max_read_write_size", "smb2.cmd")
        self.assertEqual([(row["frame"][0], row["smb_direct.credits.requested"]) for row in rows if "smb_direct.credits.requested" in row],
                         [("6", ["10"]), ("7", ["10"]), ("9", ["10"])])
        (last,) = (row for row in rows if row["frame"] == ["9"])
        self.assertEqual(last["smb2.cmd"], ["0"])
        listed = plugin.tshark("-r", plugin.SCRATCH / "test_smb_direct.pcap").splitlines()[8]
        self.assertRegex(listed, r"^ +9 .* SMB2 \d+ Send L .* \| Negotiate Protocol Request")

    def test_rpc_over_rdma(self):
        """A call, and its reply in a chunk that an RDMA Write fills."""
        call = struct.pack(">IIIIIIIIII", 0x1234, 0, 2, 100003, 3, 0, 0, 0, 0, 0)
        reply = struct.pack(">IIIIII", 0x1234, 1, 0, 0, 0, 0)
        message, no_message = 0, 1
        chunk = struct.pack(">IIIIQ", 1, 1, 0x77, len(reply), 0x9000)  # present, of one segment: STag, length, offset
        talk = Talk(4103)
        talk.send(True, struct.pack(">IIIIII", 0x1234, 1, 32, message, 0, 0) + chunk + call, parts=2)
        talk.place(False, WRITE, 0x77, 0x9000, reply, parts=2)
        talk.send(False, struct.pack(">IIIIII", 0x1234, 1, 32, no_message, 0, 0) + chunk)
        rows = self.shown(talk, "rpcordma.xid", "rpc.xid", "rpc.msgtyp", "nfs.procedure_v3")
        self.assertEqual([(row["frame"], row["rpcordma.xid"], row["rpc.msgtyp"]) for row in rows],
                         [(["7"], ["0x00001234"], ["0"]), (["10"], ["0x00001234"], ["1"])])

    def test_nvme(self):
        """Read, by a command with a keyed buffer that an RDMA Write fills, and its completion."""
        command = struct.pack("<BBHI8xQQQIB3sBIIII", 0x02, 0x40, 7, 1, 0, 0, 0, 0, 0, b"", 0, 0, 0, 0, 0)[:24]
        command += struct.pack("<Q", 0x9000) + (512).to_bytes(3, "little") + struct.pack("<IB", 0x77, 0x40)
        command += struct.pack("<QIIII", 0, 0, 0, 0, 0)
        self.assertEqual(len(command), 64)
        talk = Talk(4104, struct.pack("<HHHHH22x", 0, 1, 128, 127, 0))
        talk.send(True, command)
        talk.place(False, WRITE, 0x77, 0x9000, bytes(512), parts=2)
        talk.send(False, struct.pack("<QHHHH", 0, 1, 1, 7, 0))
        rows = self.shown(talk, "nvme.cmd.opc", "nvme.cqe.cid", "nvme-rdma.cmd.qid", "nvme.fabrics.cmd_pkt", "-o",
                          "nvme-rdma.subsystem_ports:5000")
        found = {row.pop("frame")[0]: row for row in rows}
        self.assertEqual(found["6"]["nvme.cmd.opc"], ["0x02"])
        self.assertEqual(found["6"]["nvme-rdma.cmd.qid"], ["0x0001"], "which the private data of startup say")
        self.assertEqual(found["8"]["nvme.fabrics.cmd_pkt"], ["6"])
        self.assertEqual(found["9"]["nvme.cqe.cid"], ["0x0007"])

    def test_iser(self):
        nop = struct.pack(">BBHIQIIII16x", 0x40, 0x80, 0, 0, 0, 5, 0xFFFFFFFF, 1, 1)
        self.assertEqual(len(nop), 48)
        talk = Talk(4105)
        talk.send(True, struct.pack(">B3xIQIQ", 0x18, 0x55, 0x1000, 0, 0) + nop)
        words = ["iser.write_stag", "iscsi.opcode", "iscsi.cmdsn"]
        (row,) = self.shown(talk, *words, "-o", "iser.target_ports:5000")
        self.assertEqual(row, {"frame": ["6"], "iser.write_stag": ["0x00000055"], "iscsi.opcode": ["0x00"],
                               "iscsi.cmdsn": ["1"]})

    def test_nothing_is_handed_on_if_not_wanted(self):
        talk = Talk(4106).send(True, struct.pack("<HHHHIII", 0x100, 0x100, 0, 10, 1364, 8192, 1048576))
        self.assertEqual(self.shown(talk, "smb_direct.credits.requested", "-o", "rnic_iwarp.hand_on:FALSE"), [])
