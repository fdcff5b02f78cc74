#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""rnic-lint as its user meets it: exit codes, one clear line for what is wrong, and files that hold what was asked for."""

import gzip
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

LINT = None  # the program, set by main


def lint(*words, stdin=b""):
    return subprocess.run([LINT, *map(str, words)], input=stdin, capture_output=True, timeout=60)


def checksum(octets):
    """CRC32c (RFC 3720 appendix B.4), bit by bit."""
    crc = 0xFFFFFFFF
    for octet in octets:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


def fpdu(ulpdu, good_crc=True):
    framed = struct.pack(">H", len(ulpdu)) + ulpdu
    framed += b"\0" * (-len(framed) % 4)
    return framed + (checksum(framed) if good_crc else b"\xde\xad\xbe\xef")


def send(number, text):
    """A Send of one untagged DDP segment (RFC 5041 Figure 5, RFC 5040 section 4.3)."""
    return struct.pack(">BBIIII", 0x41, 0x43, 0, 0, number, 0) + text


class Connection:
    """Frames of one TCP connection on Ethernet."""

    def __init__(self, port, start=1):
        self.frames, self.port, self.time = [], port, start
        self.sequence = {True: 1000, False: 9000}

    def segment(self, from_client, payload=b"", flags=0x18):
        ports = (self.port, 5000) if from_client else (5000, self.port)
        hosts = (b"\x0a\0\0\1", b"\x0a\0\0\2") if from_client else (b"\x0a\0\0\2", b"\x0a\0\0\1")
        tcp = struct.pack(">HHIIBBHHH", *ports, self.sequence[from_client], self.sequence[not from_client], 0x50, flags, 65535,
                          0, 0)
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + len(payload), 0, 0x4000, 64, 6, 0) + hosts[0] + hosts[1]
        self.frames.append((self.time, b"\2\0\0\0\0\2\2\0\0\0\0\1\x08\0" + ip + tcp + payload))
        self.sequence[from_client] += len(payload) + (1 if flags & 0x03 else 0)
        self.time += 1000

    def established(self):
        self.segment(True, flags=0x02)
        self.segment(False, flags=0x12)
        self.segment(True, flags=0x10)
        self.segment(True, b"MPA ID Req Frame" + b"\x40\x01\0\0")
        self.segment(False, b"MPA ID Rep Frame" + b"\x40\x01\0\0")
        return self

    def closed(self):
        self.segment(True, flags=0x11)
        self.segment(False, flags=0x11)
        self.segment(True, flags=0x10)
        return self


def reads_signals(pid):
    folder = pathlib.Path(f"/proc/{pid}/fd")
    try:
        return any("signalfd" in os.readlink(fd) for fd in folder.iterdir())
    except FileNotFoundError:  # one of them has been closed
        return False


def pcap(frames):
    parts = [struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)]
    for moment, frame in frames:
        parts.append(struct.pack("<IIII", 1, moment, len(frame), len(frame)) + frame)
    return b"".join(parts)


def pcapng_block(kind, body, order="<"):
    body += b"\0" * (-len(body) % 4)
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + length + body + length


def pcapng_section(order="<"):
    return pcapng_block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def pcapng_interface(link, order="<", snapshot=262144):
    return pcapng_block(1, struct.pack(order + "HHI", link, 0, snapshot), order)


def pcapng_frame(octets, interface=0):
    return pcapng_block(6, struct.pack("<IIIII", interface, 0, 1, len(octets), len(octets)) + octets)


def clean(port=4000):
    connection = Connection(port).established()
    connection.segment(True, fpdu(send(1, b"hello")))
    connection.segment(False, fpdu(send(1, b"world")))
    return connection.closed()


def broken(port=4001):
    connection = Connection(port).established()
    connection.segment(True, fpdu(send(1, b"hello")))
    connection.segment(True, fpdu(send(2, b"again"), good_crc=False))
    return connection.closed()


class Exit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, octets):
        path = self.folder / name
        path.write_bytes(octets)
        return path

    def stops(self, code, part, *words, stdin=b""):
        result = lint(*words, stdin=stdin)
        error = result.stderr.decode()
        self.assertEqual(result.returncode, code, error)
        self.assertIn(part, error)
        self.assertEqual(error.count("\n"), 1, error)
        self.assertTrue(error.startswith("rnic-lint: "), error)
        return error

    def test_clean_is_0(self):
        result = lint(self.file("a.pcap", pcap(clean().frames)))
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn(b"no violation", result.stdout)
        self.assertIn(b"revision 1", result.stdout)

    def test_violations_are_1_and_named(self):
        path = self.file("a.pcap", pcap(broken().frames))
        result = lint(path)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(b"RFC 5044 section", result.stdout)
        self.assertIn(b"frame 7, connection 1, 10.0.0.1:4001 > 10.0.0.2:5000 (initiator)", result.stdout)
        self.assertIn(b"of the stream: 41 43 00 00", result.stdout)
        self.assertNotIn(b"\x1b", result.stdout)  # no colour but on a terminal

    def test_wrong_usage_is_2(self):
        path = self.file("a.pcap", pcap(clean().frames))
        self.stops(2, "name one capture")
        self.stops(2, "no rule of the catalogue", "--rule", "nothing.*", path)
        self.stops(2, "--json", "--json", "--sarif", path)
        self.stops(2, "1 TCP connections", "--connection", "2", path)
        self.stops(2, "the capture itself", "--write-violations", path, path)
        self.assertEqual(path.read_bytes(), pcap(clean().frames))

    def test_unreadable_is_3(self):
        self.stops(3, "No such file", self.folder / "missing.pcap")
        self.stops(3, "it is a folder", self.folder)
        self.stops(3, "it is empty", self.file("empty", b""))
        self.stops(3, "it is empty", "-")
        self.stops(3, "not a pcap or pcapng", self.file("text", b"hello, world, this is no capture"))
        self.stops(3, "ends too early", self.file("cut.gz", gzip.compress(pcap(clean().frames))[:20]))
        self.stops(3, "802_11 is not supported; ethernet, raw IP, loopback and Linux cooked are. Convert it", self.file("wlan", pcap([])[:20] + struct.pack("<I", 105)))
        self.stops(3, "cannot write /nowhere", "--write-violations", "/nowhere/x.pcapng",
                   self.file("a.pcap", pcap(clean().frames)))
        self.stops(3, "no such", "-i", "no-such-interface0")

    def test_the_commands_that_convert_do(self):
        if not shutil.which("tshark") or not shutil.which("editcap"):
            self.skipTest("tshark or editcap is not installed")
        frames = [octets for _, octets in clean().frames]
        whole, other = b"".join(pcapng_frame(each) for each in frames), pcapng_frame(frames[0][14:], 1)
        ethernet, raw, short = pcapng_interface(1), pcapng_interface(101), pcapng_interface(1, snapshot=96)
        for name, octets in {"link types": pcapng_section() + ethernet + raw + whole + other,
                             "snapshot lengths": pcapng_section() + ethernet + short + whole,
                             "byte orders": pcapng_section() + ethernet + whole + pcapng_section(">") + pcapng_interface(1, ">")}.items():
            with self.subTest(name):
                refused = self.stops(3, "; ", self.file("refused.pcapng", octets))
                command = refused.rsplit(": ", 1)[1].replace("FILE", "refused.pcapng").strip()
                subprocess.run(command, shell=True, cwd=self.folder, check=True, capture_output=True)
                judged = lint("--json", self.folder / command.split()[-1])
                self.assertEqual(judged.returncode, 0, judged.stderr)
                self.assertEqual(json.loads(judged.stdout.splitlines()[-1])["frames"], len(frames))

    def test_a_name_full_of_control_sequences_is_harmless(self):
        result = lint(self.folder / "\x1b[2J.pcap")
        self.assertEqual(result.returncode, 3)
        self.assertNotIn(b"\x1b", result.stderr)

    def test_a_torn_file_is_judged_up_to_the_tear(self):
        whole = pcap(broken().frames)
        result = lint("--json", self.file("a.pcap", whole[:-10]))
        self.assertEqual(result.returncode, 1)
        summary = json.loads(result.stdout.splitlines()[-1])
        self.assertEqual(summary["torn"]["frames"], len(broken().frames) - 1)
        self.assertEqual(lint(self.file("b.pcap", pcap(clean().frames)[:-10])).returncode, 0)
        self.stops(3, "octet 24 of the file", self.file("c.pcap", whole[:50]))

    def test_packed_and_piped(self):
        frames = pcap(broken().frames)
        expected = lint(self.file("a.pcap", frames)).stdout
        self.assertEqual(lint(self.file("a.gz", gzip.compress(frames))).stdout, expected)
        self.assertEqual(lint("-", stdin=frames).stdout, expected)
        self.assertEqual(lint("-", stdin=gzip.compress(frames)).stdout, expected)

    def test_jobs_change_nothing(self):
        frames = []
        for port in range(4000, 4040):
            frames += (broken if port % 3 == 0 else clean)(port).frames
        path = self.file("a.pcap", pcap(frames))
        one = lint("--json", "--follow", "--jobs", "1", path)
        self.assertEqual(one.returncode, 1)
        for jobs in (2, 5):
            self.assertEqual(lint("--json", "--follow", "--jobs", jobs, path).stdout, one.stdout)

    def test_rules_and_connections_choose(self):
        path = self.file("a.pcap", pcap(clean().frames + broken().frames))
        self.assertEqual(lint("--connection", "1", path).returncode, 0)
        self.assertEqual(lint("--connection", "2", path).returncode, 1)
        self.assertEqual(lint("--rule", "rdmap.*", path).returncode, 0)
        self.assertEqual(lint("--rule", "mpa.*", path).returncode, 1)

    def test_follow_decodes(self):
        result = lint("--follow", self.file("a.pcap", pcap(clean().frames)))
        self.assertIn(b"MPA Request rev 1", result.stdout)
        self.assertIn(b"#1 frame 6 > Send L qn=0 msn=1 mo=0 len=5", result.stdout)
        self.assertIn(b"#1 frame 7 < Send L qn=0 msn=1", result.stdout)

    def test_json_and_sarif_agree(self):
        path = self.file("a.pcap", pcap(broken().frames))
        lines = [json.loads(line) for line in lint("--json", path).stdout.splitlines()]
        rules = [line["rule"] for line in lines if line["type"] == "violation"]
        results = json.loads(lint("--sarif", path).stdout)["runs"][0]["results"]
        self.assertEqual([result["ruleId"] for result in results], rules)
        self.assertEqual(lines[-1]["violations"], len(rules))

    def test_the_annotated_capture_holds_every_frame_and_the_comment(self):
        frames = broken().frames
        for source in (self.file("a.pcap", pcap(frames)), "-"):
            out = self.folder / "out.pcapng"
            result = lint("--write-violations", out, source, stdin=pcap(frames))
            self.assertEqual(result.returncode, 1, result.stderr)
            written = out.read_bytes()
            for _, frame in frames:
                self.assertIn(frame, written)
            self.assertIn(b"; admissible: ", written)
            again = lint(out)
            self.assertEqual(again.stdout, lint(self.file("b.pcap", pcap(frames))).stdout)

    def test_split(self):
        folder = self.folder / "parts"
        path = self.file("a.pcap", pcap(clean().frames + broken().frames))
        self.assertEqual(lint("--split", folder, path).returncode, 1)
        self.assertEqual(sorted(part.name for part in folder.iterdir()), ["connection-000001.pcap", "connection-000002.pcap"])
        self.assertEqual(lint(folder / "connection-000001.pcap").returncode, 0)
        self.assertEqual(lint(folder / "connection-000002.pcap").returncode, 1)

    def test_no_iwarp_is_4(self):
        connection = Connection(80)
        connection.segment(True, flags=0x02)
        connection.segment(False, flags=0x12)
        connection.segment(True, b"GET / HTTP/1.1\r\n\r\n")
        unread = {  # what carries iWARP here is not read
            "five VLAN tags": lambda frame: frame[:12] + b"\x81\0\0\1" * 5 + frame[12:],
            "PPPoE": lambda frame: frame[:12] + struct.pack(">HBBHHH", 0x8864, 0x11, 0, 1, len(frame) - 12, 0x21) + frame[14:],
            "LLC/SNAP": lambda frame: frame[:12] + struct.pack(">H", len(frame) - 6) + b"\xaa\xaa\3\0\0\0" + frame[12:],
            "ERSPAN": lambda frame: frame[:14] + struct.pack(">BBHHHBBH", 0x45, 0, 36 + len(frame), 0, 0x4000, 64, 47, 0) + bytes(8)
                      + struct.pack(">HHIII", 0x1000, 0x88BE, 1, 0x10010000, 0) + frame,
        }
        carried = [[(time, wrap(frame)) for time, frame in clean().frames] for wrap in unread.values()]
        for frames in ([], connection.closed().frames, [(1, b"\xff" * 60)], *carried):
            result = lint(self.file("a.pcap", pcap(frames)))
            self.assertEqual(result.returncode, 4, result.stdout)
            self.assertTrue(result.stdout.endswith(b"\nno iWARP in this capture: nothing was judged\n"), result.stdout)

    def test_levels_choose_and_decide_the_exit_code(self):
        connection = Connection(4002).established()
        # A Terminate (local catastrophic error) and a reset where a graceful close should follow (RFC 5040 section 5.4).
        connection.segment(True, fpdu(struct.pack(">BBIIII", 0x41, 0x47, 0, 2, 1, 0) + bytes(4)))
        connection.segment(True, flags=0x14)
        path = self.file("a.pcap", pcap(connection.frames))
        levels = {line["level"] for line in map(json.loads, lint("--json", path).stdout.splitlines()) if line["type"] == "violation"}
        self.assertEqual(levels, {"should"})
        for level, code in (("may", 1), ("should", 1), ("must", 0)):
            self.assertEqual(lint("--level", level, path).returncode, code, level)
        self.assertEqual(lint("--level", "must", self.file("b.pcap", pcap(broken().frames))).returncode, 1)
        self.stops(2, "--level", "--level", "perhaps", path)

    def test_full_output_is_an_error(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([LINT, self.file("a.pcap", pcap(clean().frames))], stdout=full, stderr=subprocess.PIPE,
                                    timeout=60)
        self.assertEqual(result.returncode, 3)
        self.assertIn(b"standard output", result.stderr)

    def test_a_reader_that_goes_away_ends_it(self):
        file = self.file("a.pcap", pcap(broken().frames))
        for words in ((), ("--json",), ("--sarif",), ("--help",)):
            reading, writing = os.pipe()
            os.close(reading)
            done = subprocess.run([LINT, *words, file], stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False)
            os.close(writing)
            self.assertEqual(done.returncode, 3, words)
            self.assertRegex(done.stderr, rb"\Arnic-lint: cannot write all of standard output.*\n\Z", words)

    @unittest.skipUnless(os.geteuid() == 0, "live capture needs rights")
    def test_a_live_capture_ends_at_an_interrupt_with_its_totals(self):
        program = subprocess.Popen([LINT, "-i", "lo", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # The capture is open before the signals are read, and those that come before are kept.
        deadline = time.monotonic() + 30
        while not reads_signals(program.pid):
            self.assertIsNone(program.poll(), "it ended by itself")
            self.assertLess(time.monotonic(), deadline, "it does not begin")
        program.send_signal(signal.SIGINT)
        out, error = program.communicate(timeout=60)
        summary = json.loads(out.splitlines()[-1])
        self.assertEqual(summary["type"], "summary")
        # lo may have any traffic of other programs.
        self.assertEqual(program.returncode, 4 if summary["iwarp_connections"] == 0 else int(summary["violations"] > 0), error)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: program_test.py PROGRAM\nexample: program_test.py build/dev/dissectors/lint/rnic-lint")
    LINT = sys.argv.pop()
    unittest.main()
