# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What the plugin shows of frames made by hand: fields, ports of others, Decode As, the profile."""

import gzip
import re
import struct
import unittest

import plugin
from plugin import made


class Display(unittest.TestCase):
    def test_it_is_loaded(self):
        self.assertIn("rnic_iwarp.so", plugin.tshark("-G", "plugins"))

    def test_every_field_of_the_builtin_dissectors_is_there(self):
        """Under its name and of its type, so that users' filters keep working."""
        rows = [line.split("\t") for line in plugin.tshark("-G", "fields").splitlines()]
        builtin = {(row[2], row[3]) for row in rows if row[0] == "F" and row[4].startswith("iwarp_")}
        self.assertGreater(len(builtin), 80)
        # Of fields with one name tshark lists the first that was registered, so ours are taken from where they are.
        source = (plugin.HERE.parent / "fields.cpp").read_text()
        ours = re.findall(r'field\(fields\.\w+,\s*"[^"]*",\s*"([^"]+)",\s*(FT_\w+)', source)
        self.assertEqual(builtin - set(ours), set())

    def test_a_terminate_and_what_it_blames(self):
        connection = made.Connection(4006).established()
        write = struct.pack(">BBIQ", 0xC1, 0x40, 0x77, 0x9000) + b"v" * 40
        connection.segment(True, made.fpdu(write))
        blamed = struct.pack(">H", len(write)) + write[:14]  # DDP tagged buffer error, base or bounds violation; M and D
        connection.segment(False, made.fpdu(struct.pack(">BBIIIIBBH", 0x41, 0x47, 0, 2, 1, 0, 0x11, 0x01, 0xC000) + blamed))
        file = plugin.hand_made("terminate.pcap", connection.closed().frames)
        names = ["rnic_iwarp.terminate.blames", "iwarp_rdma.term_layer", "iwarp_rdma.term_etype_ddp", "iwarp_rdma.term_errcode_ddp_tagged",
                 "iwarp_rdma.term_hdrct_m", "iwarp_ddp.stag", "iwarp_ddp.tagged_offset"]
        (terminate,) = plugin.fields(file, names, "-2", "-Y", "iwarp_rdma.terminate")
        yes = terminate.pop(4)
        self.assertIn(yes, (["1"], ["True"]), "as Wireshark writes it up to 4.0, and later")
        self.assertEqual(terminate, [["6"], ["0x01"], ["0x01"], ["0x01"], ["0x00000077"], ["0x0000000000009000"]])
        (write,) = plugin.fields(file, ["frame.number", "rnic_iwarp.terminate.blamed_in"], "-2", "-Y", "rnic_iwarp.terminate.blamed_in")
        self.assertEqual(write, [["6"], ["7"]])

    def test_fields_of_an_fpdu(self):
        connection = made.Connection(4000).established()
        connection.segment(True, made.fpdu(made.send(1, b"hello")))
        connection.segment(True, made.fpdu(made.send(2, b"world"), good_crc=False))
        file = plugin.hand_made("fields.pcap", connection.closed().frames)
        names = ["rnic_iwarp.role", "rnic_iwarp.revision", "rnic_iwarp.crc_in_use", "iwarp_mpa.ulpdulength", "iwarp_ddp.tagged_flag",
                 "iwarp_ddp.qn", "iwarp_ddp.msn", "iwarp_rdma.opcode", "rnic_iwarp.payload", "rnic_iwarp.crc.status"]
        rows = [[cell[0] for cell in row] for row in plugin.fields(file, names, "-Y", "iwarp_mpa.fpdu")]
        role, revision, length = "1", "1", str(18 + 5)
        self.assertEqual([[*row[:2], *row[3:4], *row[5:6], *row[6:]] for row in rows],
                         [[role, revision, length, "0", "1", "0x03", b"hello".hex(), "0"],
                          [role, revision, length, "0", "2", "0x03", b"world".hex(), "1"]])
        self.assertEqual(plugin.plugin_violations(file, "-2"), plugin.lint_violations(file))

    def test_reordered(self):
        connection = made.Connection(4001).established()
        for number in range(1, 7):
            connection.segment(True, made.fpdu(made.send(number, b"x" * 40)))
        frames = connection.frames
        frames[6], frames[7] = frames[7], frames[6]
        rows = plugin.fields(plugin.hand_made("reordered.pcap", frames), ["iwarp_ddp.msn"], "-Y", "iwarp_ddp.msn")
        self.assertEqual([number for (numbers,) in rows for number in numbers], ["1", "2", "3", "4", "5", "6"])

    def test_ports_of_others(self):
        for port in (445, 5445, 4420, 443):
            connection = made.Connection(port).established()
            for number in range(1, 4):
                connection.segment(True, made.fpdu(made.send(number, b"\xfeSMB" + b"y" * 60)))
            file = plugin.hand_made(f"port{port}.pcap", connection.closed().frames)
            with self.subTest(port=port):
                rows = plugin.fields(file, ["iwarp_ddp.msn", "_ws.col.Protocol"], "-Y", "iwarp_ddp.msn")
                self.assertEqual(rows, [[["1"], ["iWARP"]], [["2"], ["iWARP"]], [["3"], ["iWARP"]]])
                for words in ([], ["-2"]):
                    self.assertEqual(plugin.tshark("-r", file, *words, "-Y", "tcp.segment_data || tcp.reassembled_in"), "",
                                     "no other dissector waits for more of it")

    def test_what_is_no_iwarp_stays_with_its_dissector(self):
        """Though its first payload is looked at."""
        connection = made.Connection(80)
        connection.segment(True, flags=0x02)
        connection.segment(False, flags=0x12)
        connection.segment(True, flags=0x10)
        for _ in range(2):
            connection.segment(True, b"GET /MPA HTTP/1.1\r\nHost: h\r\n\r\n")
            connection.segment(False, b"HTTP/1.1 404 MPA ID Req Frame\r\nContent-Length: 0\r\n\r\n")
        file = plugin.hand_made("http.pcap", connection.closed().frames)
        names = ["frame.protocols", "http.request.method", "http.response.code", "_ws.col.Protocol"]
        for words in ([], ["-2"]):
            rows = plugin.fields(file, names, *words, "-Y", "tcp.len > 0")
            self.assertEqual(rows, [[["eth:ethertype:ip:tcp:http"], ["GET"], [], ["HTTP"]],
                                    [["eth:ethertype:ip:tcp:http"], [], ["404"], ["HTTP"]]] * 2)

    def test_decode_as(self):
        connection = made.Connection(4002)
        for _ in range(300):  # longer than Wireshark looks by itself
            connection.segment(True, b"\x21" * 1000)
        for number in range(1, 21):
            connection.segment(True, made.fpdu(made.send(number, b"z" * 100)))
        file = plugin.hand_made("middle.pcap", connection.frames)
        for words, count in (([], 0), (["-o", "rnic_iwarp.ports:5000"], 20), (["-d", "tcp.port==5000,rnic_iwarp"], 20)):
            with self.subTest(words=words):
                rows = plugin.fields(file, ["iwarp_ddp.msn"], *words, "-2", "-Y", "iwarp_mpa.fpdu")
                self.assertEqual(sum(len(numbers) for (numbers,) in rows), count)

    def test_builtin_dissectors_only_beside_us_if_wanted(self):
        file = plugin.hand_made("both.pcap", made.Connection(4003).established().closed().frames)
        for replace, times in (("TRUE", 1), ("FALSE", 2)):
            rows = plugin.fields(file, ["iwarp_mpa.rev"], "-o", f"rnic_iwarp.replace_builtin:{replace}", "-Y", "iwarp_mpa.req")
            self.assertEqual(rows, [[["1"] * times]])

    def test_what_the_analyzer_does_not_read_stays_with_the_builtin_dissectors(self):
        connection = made.Connection(4007).established()
        connection.segment(True, made.fpdu(made.send(1, b"hello")))
        frames = [(moment, frame[:12] + b"\x81\0\0\x07" * 5 + frame[12:]) for moment, frame in connection.closed().frames]
        file = plugin.hand_made("five_tags.pcap", frames)
        self.assertEqual(plugin.fields(file, ["rnic_iwarp.connection"], "-Y", "rnic_iwarp"), [])
        rows = plugin.fields(file, ["iwarp_mpa.rev", "_ws.col.Protocol"], "-Y", "iwarp_mpa.req || iwarp_mpa.rep")
        self.assertEqual(rows, [[["1"], ["MPA"]]] * 2)
        self.assertEqual(plugin.fields(file, ["iwarp_ddp.msn"], "-Y", "iwarp_mpa.fpdu"), [[["1"]]])

    def test_profile(self):
        file = plugin.hand_made("profile.pcap", made.Connection(4004).established().closed().frames)
        colours = (plugin.HERE.parent / "profile/colorfilters").read_text().splitlines()
        filters = [line.split("@")[2] for line in colours if line.startswith("@")]
        self.assertGreater(len(filters), 5)
        for each in filters:
            plugin.tshark("-r", file, "-Y", each)  # fails if a field is not there
        first = plugin.tshark("-C", "iWARP", "-r", file, "-Y", "iwarp_mpa.req")
        self.assertRegex(first, r"1 +initiator +iWARP +.*MPA Request")

    def test_what_is_kept_of_an_fpdu_is_what_was_seen(self):
        """One pass shows it as the analyzer reports it, two passes as it is kept."""
        corpus = plugin.HERE.parent.parent / "corpus"
        names = ["frame.number", "iwarp_mpa.ulpdulength", "iwarp_mpa.crc", "iwarp_mpa.pad", "iwarp_mpa.marker_fpduptr", "iwarp_ddp.msn",
                 "iwarp_rdma.opcode", "rnic_iwarp.crc.status", "rnic_iwarp.payload", "rnic_iwarp.summary", "rnic_iwarp.fpdu.offset",
                 "rnic_iwarp.fpdu.octets", "rnic_iwarp.fpdu.first_frame", "rnic_iwarp.fpdu.begins_segment", "rnic_iwarp.fpdu.ends_segment",
                 "rnic_iwarp.message", "rnic_iwarp.message.octets"]
        rows = made.Connection(4009).established()  # of which an FPDU with a wrong CRC breaks one
        rows.segment(True, b"".join(made.fpdu(made.send(number, b"alike"), good_crc=number != 5) for number in range(1, 10)))
        plugin.hand_made("rows.pcap", rows.closed().frames)
        for name in ("packed", "markers_both_ways", "kept", "rows"):
            file = plugin.SCRATCH / f"{name}.pcap"
            if name != "rows":
                file.write_bytes(gzip.decompress((corpus / f"samples/{name}.pcap.gz").read_bytes()))
            once, twice = (plugin.fields(file, names, *passes) for passes in ([], ["-2"]))
            with self.subTest(name=name):
                self.assertGreater(sum(len(row[1]) for row in once), 5)
                self.assertEqual(twice, once)

    def test_buttons_of_the_profile(self):
        file = plugin.hand_made("buttons.pcap", made.Connection(4008).established().closed().frames)
        buttons = (plugin.HERE.parent / "profile/dfilter_buttons").read_text().splitlines()
        filters = [line.split('","')[2].replace("\\x22", '"') for line in buttons if line.startswith('"')]
        self.assertGreater(len(filters), 5)
        for each in filters:
            plugin.tshark("-r", file, "-Y", each)

    def test_cut_frames(self):
        connection = made.Connection(4005).established()
        connection.segment(True, made.fpdu(made.send(1, b"w" * 400)))
        moment, last = connection.frames.pop()
        file = plugin.SCRATCH / "cut.pcap"
        file.write_bytes(made.pcap(connection.frames) + struct.pack("<IIII", 1, moment, 200, len(last)) + last[:200])
        self.assertEqual(plugin.plugin_violations(file, "-2"), plugin.lint_violations(file))
        (row,) = plugin.fields(file, ["rnic_iwarp.note.kind", "rnic_iwarp.crc.status"], "-2", "-Y", "iwarp_mpa.fpdu")
        self.assertIn("frame cut", row[0])
        self.assertEqual(row[1], ["3"])
