#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Compares, field by field, how the second decoder and reference_rnic/wire read the same octets: the corpus, and what two reference
streams send to each other with and without Markers and CRCs. Then changes octets and requires that the difference shows."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import second_decoder

ATOMIC_REQUEST_BEHIND = 24  # what the 52 octets of an Atomic Request have more than the 28 of a Read Request
MAX_PRIVATE_DATA = 512


# ---- how the codec sees the same reading: it refuses what the second decoder only reports ----


def header_as_codec(header, opcode):
    if "short" in header:
        return {"error": "truncated"}
    return terminate_as_codec(header) if opcode == second_decoder.TERMINATE else header


def terminate_as_codec(found):
    if "short" in found:
        return {"error": "truncated"}
    found = dict(found)
    beyond = bytes.fromhex(found.pop("beyond"))
    atomic = found["r"] and found.get("ddp_header", {}).get("opcode") == second_decoder.ATOMIC_REQUEST
    if atomic and len(beyond) >= ATOMIC_REQUEST_BEHIND:  # the codec takes all of the longer header, if it is complete
        taken, beyond = beyond[:ATOMIC_REQUEST_BEHIND], beyond[ATOMIC_REQUEST_BEHIND:]
    else:
        taken = b""
    if beyond:
        return {"error": "trailing_octets"}
    if found["r"]:
        found["rdma_header"] = found["rdma_header"] | {"beyond": taken.hex()}
    return found


def segment_as_codec(found):
    if "short" in found:
        return {"error": "truncated"}
    found = dict(found)
    if "header" in found:
        found["header"] = header_as_codec(found["header"], found["opcode"])
    return found


def mpa_frame_as_codec(data):
    found = second_decoder.mpa_frame(data)
    if not any(key.startswith(data[:16]) for key in second_decoder.KEYS):
        return {"error": "wrong_key"}
    if len(data) >= 20 and int.from_bytes(data[18:20], "big") > MAX_PRIVATE_DATA:
        return {"error": "private_data_too_long"}
    if "short" in found:
        return {"error": "incomplete"}
    words = found.pop("negotiation", None)
    if words and "short" not in words and found["revision"] >= 2:
        words.pop("beyond")
        found["negotiation"] = words
    return found


def fpdu_as_codec(line):
    if line["item"] == "incomplete":
        return line
    pad = bytes.fromhex(line.pop("pad"))
    right = line.pop("crc_right", True)
    bad_marker = not all(marker["right"] for marker in line["markers"])
    if not right or bad_marker:
        return {"item": "fpdu", "at": line["at"], "markers": [], "crc": line["crc"], "error": "bad_marker" if right else "bad_crc"}
    return line | {"pad_is_zero": not any(pad), "segment": segment_as_codec(line["segment"])}


def second_reading(kind, data, at=0, markers=False, crc=False):
    if kind == "segment":
        return [segment_as_codec(second_decoder.segment(data))]
    if kind == "terminate":
        return [terminate_as_codec(second_decoder.whole(second_decoder.terminate_header, data))]
    if kind == "mpa_frame":
        return [mpa_frame_as_codec(data)]
    return [fpdu_as_codec(line) for line in second_decoder.Stream(data, at, markers, crc).lines()]


# ---- the comparison ----


class Comparison:
    def __init__(self, wire_lines, folder):
        self.wire_lines = wire_lines
        self.folder = folder
        self.items = 0
        self.faults = []

    def codec_reading(self, kind, path, at, markers, crc):
        command = [str(self.wire_lines), kind, "--at", str(at), *(["--markers"] if markers else []), *(["--crc"] if crc else []), str(path)]
        printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        return [json.loads(line) for line in printed.splitlines()]

    def differences(self, kind, path, second_data, at=0, markers=False, crc=False):
        """How the codec's reading of the file differs from the second decoder's of `second_data`; and the latter."""
        ours = second_reading(kind, second_data, at, markers, crc)
        theirs = self.codec_reading(kind, path, at, markers, crc)
        found = [f"item {i}: second decoder {a}, wire {b}" for i, (a, b) in enumerate(zip(ours, theirs)) if a != b]
        if len(ours) != len(theirs):
            found.append(f"the second decoder finds {len(ours)} items, wire {len(theirs)}")
        return found, ours

    def agree(self, kind, path, **options):
        found, ours = self.differences(kind, path, path.read_bytes(), **options)
        self.items += len(ours)
        self.faults += [f"{path.name} {options}: {one}" for one in found[:3]]
        return ours

    def notices_each_octet(self, kind, path, **options):
        """With each octet changed in turn, for the second decoder first and then for the codec, the readings must differ."""
        data = path.read_bytes()
        changed_file = self.folder / "changed.bin"
        for index in range(len(data)):
            changed = bytearray(data)
            changed[index] ^= 0x80 >> (index % 8)
            changed_file.write_bytes(changed)
            for file, for_second in ((path, changed), (changed_file, data)):
                if not self.differences(kind, file, bytes(for_second), **options)[0]:
                    self.faults.append(f"{path.name}: a change of octet {index} went unnoticed")


def corpus_agrees(comparison, corpus):
    for kind in ("segment", "terminate", "mpa_frame"):
        for path in sorted((corpus / kind).glob("*.bin")):
            comparison.agree(kind, path)
    for path in sorted((corpus / "fpdu").glob("*.bin")):
        for crc in (False, True):
            comparison.agree("stream", path, crc=crc)
            for at in (0, 4, 492, 504, 508):
                comparison.agree("stream", path, at=at, markers=True, crc=crc)


def streams_agree(comparison, folder):
    """Compares every stream and checks that they are the streams wanted: each opcode, each place of a Marker, many Terminates."""
    opcodes, places, terminates = set(), set(), set()
    for path in sorted(folder.glob("*.frame")):
        comparison.agree("mpa_frame", path)
    for path in sorted(folder.glob("*.stream")):
        markers, crc = ".markers" in path.name, ".crc" in path.name
        for line in comparison.agree("stream", path, markers=markers, crc=crc):
            if "segment" not in line:
                comparison.faults.append(f"{path.name}: the reference sent {line}")
                continue
            segment = line["segment"]
            opcodes.add(segment["opcode"])
            places |= {marker["fpduptr"] for marker in line["markers"]}
            if segment["opcode"] == second_decoder.TERMINATE:
                terminates.add(tuple(segment["header"][field] for field in ("layer", "type", "code", "m", "d", "r")))
    wanted = [
        (opcodes == set(range(12)), f"the streams hold the opcodes {sorted(opcodes)} only"),
        (places >= set(range(0, 512, 4)), f"Markers stood at {len(places)} places of an FPDU only"),
        (len(terminates) >= 20, f"the streams hold {len(terminates)} different Terminates only"),
    ]
    comparison.faults += [text for holds, text in wanted if not holds]


def changes_show(comparison, corpus, folder):
    segments = corpus / "segment"
    for name in ("write_last", "read_request", "atomic_compare_swap", "atomic_response", "immediate", "terminate_crc"):
        comparison.notices_each_octet("segment", segments / f"{name}.bin")
    comparison.notices_each_octet("stream", corpus / "fpdu" / "rfc5044_figure_5_marker_first.bin", markers=True, crc=True)
    comparison.notices_each_octet("stream", corpus / "fpdu" / "rfc5044_figure_6_marker_inside.bin", at=492, markers=True, crc=True)
    comparison.notices_each_octet("stream", folder / "terminate_read_invalid_stag.markers.crc.stream", markers=True, crc=True)
    comparison.notices_each_octet("mpa_frame", corpus / "mpa_frame" / "request_rev2_peer_to_peer.bin")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: compare.py --wire-lines BUILD/wire_lines --reference-streams BUILD/reference_streams --corpus CORPUS",
    )
    parser.add_argument("--wire-lines", type=pathlib.Path, required=True)
    parser.add_argument("--reference-streams", type=pathlib.Path, required=True)
    parser.add_argument("--corpus", type=pathlib.Path, required=True)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        subprocess.run([str(asked.reference_streams), scratch], check=True)
        comparison = Comparison(asked.wire_lines, folder)
        corpus_agrees(comparison, asked.corpus)
        streams_agree(comparison, folder)
        changes_show(comparison, asked.corpus, folder)
    for fault in comparison.faults:
        print(fault, file=sys.stderr)
    print(f"{comparison.items} items compared, {len(comparison.faults)} faults")
    return 1 if comparison.faults else 0


if __name__ == "__main__":
    sys.exit(main())
