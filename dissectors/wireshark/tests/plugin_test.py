#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The plugin in tshark, as a plain user has it: the same violations as rnic-lint in what the reference RNIC sends, right and wrong;
fields, expert items, statistics, Decode As, ports of others, the profile."""

import argparse
import collections
import functools
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE.parent.parent / "corpus"
FUZZED = HERE / "corpus"
sys.path.insert(0, str(HERE.parent.parent / "lint/tests"))
import program_test as made  # noqa: E402  frames written by hand

PROGRAMS = None  # set by main
SCRATCH = None
GIVEN_UP = 600  # seconds after which a program is taken to hang, however busy the machine
NOBODY = 65534
DEVIATIONS = [[], ["startup_reserved_bits_set"], ["pd_length_one_too_many"], ["request_r_bit_set"], ["marker_pointer_wrong"],
              ["crc_octets_reversed", "pad_not_zero"]]


def plain_user():
    """Wireshark ignores folders of plugins that the superuser names."""
    if PROGRAMS.root:
        return ["chroot", f"--userspec={NOBODY}:{NOBODY}", "--groups=", PROGRAMS.root]
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.getuid() == 0 else []


def seen_by_tshark(word):
    """A path as it is within the other Debian, if tshark is that one's."""
    return str(word).replace(PROGRAMS.root, "", 1) if PROGRAMS.root else str(word)


def tshark(*words, code=0):
    environment = dict(os.environ, HOME=seen_by_tshark(SCRATCH / "home"), LC_ALL="C.UTF-8",
                       WIRESHARK_PLUGIN_DIR=seen_by_tshark(SCRATCH / "plugins"))
    environment.pop("XDG_CONFIG_HOME", None)
    run = subprocess.run([*plain_user(), PROGRAMS.tshark, *map(seen_by_tshark, words)], env=environment, capture_output=True, timeout=GIVEN_UP)
    assert run.returncode == code, (words, run.returncode, run.stderr.decode())
    return run.stdout.decode()


def fields(file, names, *words):
    """Lists of values of the named fields, frame by frame."""
    chosen = [word for name in names for word in ("-e", name)]
    lines = tshark("-n", "-r", file, *words, "-T", "fields", "-E", "separator=/t", "-E", "aggregator=|", *chosen).splitlines()
    return [[cell.split("|") if cell else [] for cell in line.split("\t")] for line in lines]


def lint(file, *words):
    run = subprocess.run([PROGRAMS.lint, "--json", *words, str(file)], capture_output=True, timeout=GIVEN_UP)
    assert run.returncode in (0, 1), run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def lint_violations(file, *words):
    return sorted((line["rule"], line["frame"]) for line in lint(file, *words) if line["type"] == "violation")


@functools.cache
def plugin_violations(file, *words):
    found = []
    for number, rules, frames in fields(file, ["frame.number", "rnic_iwarp.violation.rule", "rnic_iwarp.violation.frame"], *words):
        assert len(rules) == len(frames), (number, rules, frames)
        if "-2" in words:
            assert set(frames) <= set(number), "each stands where it belongs"
        found += zip(rules, map(int, frames))
    return sorted(found)


def joined(parts, file):
    """These captures in one, since starting tshark takes longer than what it has to do."""
    assert parts
    header = parts[0].read_bytes()[:24]
    with open(file, "wb") as out:
        out.write(header)
        for part in parts:
            octets = part.read_bytes()
            assert octets[:4] == header[:4] and octets[20:24] == header[20:24], "one byte order, one link type"
            out.write(octets[24:])
    return file


def reference_run(deviations):
    name = "-".join(deviations) or "clean"
    out = SCRATCH / f"run-{name}"
    words = [word for deviation in deviations for word in ("--deviation", deviation)]
    patterns = ["mpa.*", "ddp.headers.*"] if deviations else ["mpa.*", "ddp.*", "rdmap.read_ranges.*", "rdmap.message_validation.*", "rdmap.atomic*"]
    selected = [word for pattern in patterns for word in ("--select", pattern)]
    run = subprocess.run([PROGRAMS.suite, "run", "--link", "memory", *selected, *words, "--out", str(out)], capture_output=True,
                         timeout=GIVEN_UP)
    assert run.returncode in (0, 1), run.stderr.decode()
    return joined(sorted((out / "pcap").glob("*.pcap")), SCRATCH / f"{name}.pcap")


def prepare():
    SCRATCH.chmod(0o755)
    module = pathlib.Path(PROGRAMS.module)
    folder = SCRATCH / "plugins" / module.parent.parent.name / "epan"
    folder.mkdir(parents=True)
    shutil.copy(module, folder)
    shutil.copytree(HERE.parent / "profile", SCRATCH / "home/.config/wireshark/profiles/iWARP")
    for path in [SCRATCH / "home", *(SCRATCH / "home").rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o666)


def hand_made(name, frames):
    file = SCRATCH / name
    file.write_bytes(made.pcap(frames))
    return file


def damaged(file, seed):
    """The capture with wrong octets, cut and lost frames; the file itself stays whole."""
    chance = random.Random(seed)
    octets, out, at = file.read_bytes(), SCRATCH / f"{file.stem}-{seed}.pcap", 24
    with open(out, "wb") as to:
        to.write(octets[:24])
        while at < len(octets):
            header, (kept,) = octets[at:at + 16], struct.unpack_from("<I", octets, at + 8)
            frame = bytearray(octets[at + 16:at + 16 + kept])
            at += 16 + kept
            for _ in range(chance.choice([0, 0, 0, 1, 3])):
                frame[chance.randrange(14, kept)] = chance.randrange(256)
            length = chance.randrange(14, kept + 1) if chance.random() < 0.05 else kept
            if chance.random() < 0.97:
                to.write(header[:8] + struct.pack("<I", length) + header[12:] + frame[:length])
    return out


class Reference(unittest.TestCase):
    """What the reference RNIC and its tester sent each other."""

    @classmethod
    def setUpClass(cls):
        cls.files = [reference_run(deviations) for deviations in DEVIATIONS]

    def test_same_violations_as_lint(self):
        total = 0
        for file in self.files:
            expected = lint_violations(file)
            total += len(expected)
            with self.subTest(file=file.name):
                self.assertEqual(plugin_violations(file, "-2"), expected)
        self.assertGreater(total, 100, "there is something to compare")

    def test_damaged_captures_are_judged_as_by_lint(self):
        for seed in range(3):
            with self.subTest(seed=seed):
                file = damaged(self.files[1], seed)
                expected = lint_violations(file)
                self.assertGreater(len(expected), 100)
                self.assertEqual(plugin_violations(file, "-2"), expected)
                tshark("-r", file, "-V")

    def test_one_pass_says_what_the_frames_brought_about(self):
        """All but what is only known behind the last frame."""
        for file in self.files:
            with self.subTest(file=file.name):
                once, known = (collections.Counter(plugin_violations(file, *words)) for words in ([], ["-2"]))
                self.assertFalse(once - known)
                self.assertLess(sum((known - once).values()), 1 + sum(known.values()) // 10)

    def test_expert_counts_by_rule(self):
        for file in self.files[:2]:
            summary = tshark("-r", file, "-q", "-z", "expert")
            counted = {rule: int(count) for count, rule in re.findall(r"^ +(\d+) +Protocol +RNIC iWARP +(\S+) \(", summary, re.M)}
            expected = collections.Counter(rule for rule, _ in plugin_violations(file))
            self.assertEqual(counted, dict(expected))

    def test_markers_are_shown_and_stripped(self):
        rows = fields(self.files[0], ["iwarp_mpa.marker_fpduptr", "rnic_iwarp.marker.expected"], "-Y", "iwarp_mpa.marker_fpduptr")
        self.assertGreater(len(rows), 50)
        self.assertGreater(sum(came == fits for came, fits in rows), len(rows) * 0.8)

    def test_messages_are_those_of_lint(self):
        said = collections.Counter(line["text"] for line in lint(self.files[0], "--follow") if line["type"] == "message")
        shown = collections.Counter()
        for (summaries,) in fields(self.files[0], ["rnic_iwarp.summary"], "-2", "-Y", "rnic_iwarp.summary"):
            shown.update("|".join(summaries).split("|"))
        # A summary may hold the bar that parts values.
        parts = collections.Counter(part for text, count in said.items() for part in text.split("|") for _ in range(count))
        self.assertEqual(shown, parts)

    def test_requests_and_responses_point_to_each_other(self):
        rows = fields(self.files[0], ["frame.number", "rnic_iwarp.request_in", "rnic_iwarp.response_in", "rnic_iwarp.response_time"],
                      "-2", "-Y", "rnic_iwarp.request_in || rnic_iwarp.response_in")
        there = {(request, number) for (number,), requests, _, _ in rows for request in requests}
        back = {(number, response) for (number,), _, responses, _ in rows for response in responses}
        self.assertGreater(len(there), 20)
        self.assertEqual(there, back)
        self.assertTrue(all(len(requests) == len(times) for _, requests, _, times in rows))

    def test_statistics(self):
        # What only the end of the capture brings out (segments behind a hole that nothing filled) is counted by a second pass alone.
        table = tshark("-r", self.files[0], "-2", "-q", "-z", "rnic_iwarp,tree")
        counted = {name.strip(): int(count) for name, count in re.findall(r"^ ?(\S[\w .-]*?) {2,}(\d+) ", table, re.M)}
        expected = collections.Counter()
        for line in lint(self.files[0]):
            if line["type"] == "connection":
                for end in ("first", "second"):
                    expected.update(line[end]["operations"])
        self.assertEqual(counted["Messages"], sum(expected.values()))
        self.assertIn("Response time in microseconds", counted)


class Corpus(unittest.TestCase):
    """Each capture of the corpus: those that lie there, and those of every deviation."""

    def same_as_lint(self, file):
        expected = lint_violations(file)
        self.assertEqual(plugin_violations(file, "-2"), expected)
        return len(expected)

    def each_same_as_lint(self, folder):
        files = sorted(folder.glob("*.pcap.gz"))
        self.assertGreater(len(files), 10)
        for packed in files:
            with self.subTest(file=packed.name):
                file = SCRATCH / packed.stem
                file.write_bytes(gzip.decompress(packed.read_bytes()))
                self.same_as_lint(file)

    def test_recorded_and_hand_made_captures(self):
        for folder in ("samples", "siw"):
            self.each_same_as_lint(CORPUS / folder)

    def test_what_fuzzing_found_of_use(self):
        self.each_same_as_lint(FUZZED)

    def test_captures_of_deviations(self):
        """Fifty in one file, since starting tshark takes longer than what it has to do; connections of one get their numbers from all."""
        folder = SCRATCH / "deviations"
        run = subprocess.run([PROGRAMS.self_test, "--link", "memory", "--captures", folder], capture_output=True, timeout=GIVEN_UP)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        parts = sorted(folder.glob("*.pcap"))
        self.assertGreater(len(parts), 400)
        total = 0
        for begin in range(0, len(parts), 50):
            with self.subTest(first=parts[begin].name):
                total += self.same_as_lint(joined(parts[begin:begin + 50], SCRATCH / f"deviations-{begin}.pcap"))
        self.assertGreater(total, 1000, "there is something to compare")


class ByHand(unittest.TestCase):
    def test_it_is_loaded(self):
        self.assertIn("rnic_iwarp.so", tshark("-G", "plugins"))

    def test_fields_of_an_fpdu(self):
        connection = made.Connection(4000).established()
        connection.segment(True, made.fpdu(made.send(1, b"hello")))
        connection.segment(True, made.fpdu(made.send(2, b"world"), good_crc=False))
        file = hand_made("fields.pcap", connection.closed().frames)
        names = ["rnic_iwarp.role", "rnic_iwarp.revision", "rnic_iwarp.crc_in_use", "iwarp_mpa.ulpdulength", "iwarp_ddp.tagged_flag",
                 "iwarp_ddp.qn", "iwarp_ddp.msn", "iwarp_rdma.opcode", "rnic_iwarp.payload", "rnic_iwarp.crc.status"]
        rows = [[cell[0] for cell in row] for row in fields(file, names, "-Y", "iwarp_mpa.fpdu")]
        role, revision, length = "1", "1", str(18 + 5)
        self.assertEqual([[*row[:2], *row[3:4], *row[5:6], *row[6:]] for row in rows],
                         [[role, revision, length, "0", "1", "0x03", b"hello".hex(), "0"],
                          [role, revision, length, "0", "2", "0x03", b"world".hex(), "1"]])
        self.assertEqual(plugin_violations(file, "-2"), lint_violations(file))

    def test_reordered(self):
        connection = made.Connection(4001).established()
        for number in range(1, 7):
            connection.segment(True, made.fpdu(made.send(number, b"x" * 40)))
        frames = connection.frames
        frames[6], frames[7] = frames[7], frames[6]
        rows = fields(hand_made("reordered.pcap", frames), ["iwarp_ddp.msn"], "-Y", "iwarp_ddp.msn")
        self.assertEqual([number for (numbers,) in rows for number in numbers], ["1", "2", "3", "4", "5", "6"])

    def test_ports_of_others(self):
        for port in (445, 5445, 4420, 443):
            connection = made.Connection(port).established()
            for number in range(1, 4):
                connection.segment(True, made.fpdu(made.send(number, b"\xfeSMB" + b"y" * 60)))
            file = hand_made(f"port{port}.pcap", connection.closed().frames)
            with self.subTest(port=port):
                rows = fields(file, ["iwarp_ddp.msn", "_ws.col.Protocol"], "-Y", "iwarp_ddp.msn")
                self.assertEqual(rows, [[["1"], ["iWARP"]], [["2"], ["iWARP"]], [["3"], ["iWARP"]]])
                for words in ([], ["-2"]):
                    self.assertEqual(tshark("-r", file, *words, "-Y", "tcp.segment_data || tcp.reassembled_in"), "",
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
        file = hand_made("http.pcap", connection.closed().frames)
        names = ["frame.protocols", "http.request.method", "http.response.code", "_ws.col.Protocol"]
        for words in ([], ["-2"]):
            rows = fields(file, names, *words, "-Y", "tcp.len > 0")
            self.assertEqual(rows, [[["eth:ethertype:ip:tcp:http"], ["GET"], [], ["HTTP"]],
                                    [["eth:ethertype:ip:tcp:http"], [], ["404"], ["HTTP"]]] * 2)

    def test_decode_as(self):
        connection = made.Connection(4002)
        for _ in range(300):  # longer than anybody looks unasked
            connection.segment(True, b"\x21" * 1000)
        for number in range(1, 21):
            connection.segment(True, made.fpdu(made.send(number, b"z" * 100)))
        file = hand_made("middle.pcap", connection.frames)
        for words, count in (([], 0), (["-o", "rnic_iwarp.ports:5000"], 20), (["-d", "tcp.port==5000,rnic_iwarp"], 20)):
            with self.subTest(words=words):
                rows = fields(file, ["iwarp_ddp.msn"], *words, "-2", "-Y", "iwarp_mpa.fpdu")
                self.assertEqual(sum(len(numbers) for (numbers,) in rows), count)

    def test_builtin_dissectors_only_beside_us_if_wanted(self):
        file = hand_made("both.pcap", made.Connection(4003).established().closed().frames)
        for replace, times in (("TRUE", 1), ("FALSE", 2)):
            rows = fields(file, ["iwarp_mpa.rev"], "-o", f"rnic_iwarp.replace_builtin:{replace}", "-Y", "iwarp_mpa.req")
            self.assertEqual(rows, [[["1"] * times]])

    def test_profile(self):
        file = hand_made("profile.pcap", made.Connection(4004).established().closed().frames)
        colours = (HERE.parent / "profile/colorfilters").read_text().splitlines()
        filters = [line.split("@")[2] for line in colours if line.startswith("@")]
        self.assertGreater(len(filters), 5)
        for each in filters:
            tshark("-r", file, "-Y", each)  # fails if a field is not there
        first = tshark("-C", "iWARP", "-r", file, "-Y", "iwarp_mpa.req")
        self.assertRegex(first, r"1 +initiator +iWARP +.*MPA Request")

    def test_cut_frames(self):
        connection = made.Connection(4005).established()
        connection.segment(True, made.fpdu(made.send(1, b"w" * 400)))
        moment, last = connection.frames.pop()
        file = SCRATCH / "cut.pcap"
        file.write_bytes(made.pcap(connection.frames) + struct.pack("<IIII", 1, moment, 200, len(last)) + last[:200])
        self.assertEqual(plugin_violations(file, "-2"), lint_violations(file))
        (row,) = fields(file, ["rnic_iwarp.note.kind", "rnic_iwarp.crc.status"], "-2", "-Y", "iwarp_mpa.fpdu")
        self.assertIn("frame cut", row[0])
        self.assertEqual(row[1], ["3"])


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
    """Joined out of their FPDUs, and as the dissectors of what lies above understand them."""

    NAMES = ["rnic_iwarp.joined", "rnic_iwarp.joined.frame", "rnic_iwarp.joined_in"]

    def shown(self, talk, *words):
        """The same in one pass and in two, but for what only comes to be known later."""
        file = hand_made(f"{self.id().rsplit('.', 1)[1]}.pcap", talk.closed().frames)
        self.assertEqual(plugin_violations(file, "-2"), lint_violations(file))
        names = [word for word in words if not word.startswith("-") and ":" not in word]
        options = [word for word in words if word not in names]
        once, twice = (fields(file, ["frame.number", *names], *options, *passes) for passes in ([], ["-2"]))
        for name, index in ((name, names.index(name) + 1) for name in names):
            if name != "rnic_iwarp.joined_in":
                self.assertEqual([row[index] for row in once], [row[index] for row in twice], name)
        self.assertEqual(tshark("-r", file, "-Y", "_ws.malformed"), "")
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
        talk.place(True, WRITE, 0x11, 0x8000, b"b" * 900, parts=3)
        # That the octets are lost is known some time after their acknowledgement, which one pass does not go back from.
        file = hand_made("a_message_with_a_hole.pcap", talk.closed().frames)
        self.assertEqual(plugin_violations(file, "-2"), lint_violations(file))
        self.assertEqual([values for _, *values in fields(file, ["frame.number", "rnic_iwarp.joined"], "-2") if any(values)],
                         [[[(b"b" * 900).hex()]]])

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
        listed = tshark("-r", SCRATCH / "test_smb_direct.pcap").splitlines()[8]
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for program in ("module", "suite", "self-test", "lint", "tshark"):
        parser.add_argument(f"--{program}", required=True)
    parser.add_argument("--root", default="", help="folder of another Debian, whose tshark is to be used (root only)")
    PROGRAMS, rest = parser.parse_known_args()
    PROGRAMS.root = PROGRAMS.root.rstrip("/")
    with tempfile.TemporaryDirectory(dir=f"{PROGRAMS.root}/tmp" if PROGRAMS.root else None) as folder:
        SCRATCH = pathlib.Path(folder)
        prepare()
        unittest.main(argv=[sys.argv[0], *rest])
