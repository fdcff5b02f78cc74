#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Makes the sample results in tests/samples/, and on demand a run of many cases to look at or to measure."""

import argparse
import hashlib
import json
import pathlib
import random
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
START = "2026-03-04T05:06:{:09.6f}Z"

# ---------------------------------------------------------------- octets, as the wire has them


def crc32c(octets):
    crc = 0xFFFFFFFF
    for octet in octets:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def mpa(kind, flags, revision, private):
    return b"MPA ID %s Frame" % kind + struct.pack(">BBH", flags, revision, len(private)) + private


def fpdu(ulpdu, flip=0):
    body = struct.pack(">H", len(ulpdu)) + ulpdu
    body += bytes(-len(body) % 4)
    return body + struct.pack("<I", crc32c(body) ^ flip)


def tagged(opcode, stag, offset, payload):
    return struct.pack(">BBIQ", 0xC1, 0x40 | opcode, stag, offset) + payload


def untagged(opcode, queue, msn, payload, mo=0, ddp=0x41):
    return struct.pack(">BBIIII", ddp, 0x40 | opcode, 0, queue, msn, mo) + payload


def terminate(layer, kind, code, refused=b""):
    control = struct.pack(">BBH", layer << 4 | kind, code, 0xC000 if refused else 0)
    return untagged(7, 2, 1, control + (struct.pack(">H", len(refused)) + refused if refused else b""))


REQUEST = mpa(b"Req", 0x50, 2, bytes.fromhex("80108010"))
REPLY = mpa(b"Rep", 0x50, 2, bytes.fromhex("80108010"))
SEND = fpdu(untagged(3, 0, 1, b"are you there? "))
ANSWER = fpdu(untagged(3, 0, 1, b"I am."))

# ---------------------------------------------------------------- records


def step(at, direction, text, octets=b"", frame=None):
    return {"at": at, "direction": direction, "text": text, "hex": octets.hex(), "frame": frame}


def judged(rule, admissible, actual, verdict, at, direction="from_iut", octets=b"", frame=None, row=""):
    return {"rule": rule, "row": row, "admissible": admissible, "actual": actual, "hex": octets.hex(), "verdict": verdict,
            "direction": direction, "at": at, "frame": frame}


def startup(iut_connects=True):
    """The first frames of a stream, either way round."""
    one, two = ("from_iut", "to_iut") if iut_connects else ("to_iut", "from_iut")
    return [
        step(0.000212, "none", "IUT connects" if iut_connects else "IUT listens on port 7174"),
        step(0.000871, one, "MPA Request rev 2 [C S] p2p() ird=16 ord=16 pd=4", REQUEST, 4),
        step(0.001404, two, "MPA Reply rev 2 [C S] p2p() ird=16 ord=16 pd=4", REPLY, 6),
        step(0.001733, "none", "IUT event: established"),
    ]


PCAP = {"file": "", "sha256": "", "frames": 14, "octets": 2040, "source": "capture", "note": ""}
WRITE = fpdu(tagged(0, 0x101, 0x1FFA, b"\xa5" * 16))
BOUNDS = "DDP tagged buffer error: base or bounds violation (1/1/0x01)"


def case(case_id, file, rules, verdict="pass", number=0, **members):
    """One attempt that conforms to the schema; `members` replace what a plain pass has."""
    name, _, variant = case_id.partition("@")
    record = {
        "id": case_id, "attempt": 1, "title": name.rpartition(".")[2].replace("-", " "), "layer": file.partition("/")[0],
        "file": f"suite/cases/{file}", "variant": variant, "configuration": "", "rules": rules, "verdict": verdict, "reason": "",
        "advisories": [], "expectations": [], "rows": [],
        "exchange": startup(number % 2 == 0) + [
            step(0.002114, "to_iut", "Send L qn=0 msn=1 mo=0 len=15", SEND, 8),
            step(0.002871, "from_iut", "Send L qn=0 msn=1 mo=0 len=5", ANSWER, 10)],
        "pcap": None, "start": START.format(number % 60), "duration": 0.0034, "worker": number % 6,
        "gate": {"result": "as_expected" if verdict in ("pass", "not_applicable") else "new_failure", "entry": "",
                 "reason": "" if verdict in ("pass", "not_applicable") else "no entry in the expectations file"},
        "rerun": f"./run_suite.sh --iut siw-vm --select {case_id}", "kernel_log": "", "stderr": "",
        "seen_to_fail_by": ["msn_starts_at_zero"],
    }
    if verdict == "pass":
        record["expectations"] = [judged(rules[0], ["Send L qn=0 msn=1 mo=0 len=5"], "Send L qn=0 msn=1 mo=0 len=5", "pass",
                                         0.002871, octets=ANSWER, frame=10)]
    if verdict == "not_applicable":
        record.update(exchange=[], duration=0.0)
    record.update(members)
    if verdict != "not_applicable" and "pcap" not in members:
        file_name = f"pcap/{case_id}.{record['attempt']}.pcap"
        record["pcap"] = {**PCAP, "file": file_name, "sha256": hashlib.sha256(file_name.encode(errors="replace")).hexdigest()}
    return record


def terminated_wrongly(case_id, **members):
    came = fpdu(terminate(1, 1, 0, WRITE[2:16]))
    wanted, actual = f"Terminate {BOUNDS}", "Terminate DDP tagged buffer error: invalid STag (1/1/0x00)"
    rule = "ddp.terminate.tagged-base-or-bounds"
    return case(
        case_id, "ddp/tagged_validation.cpp", [rule, "ddp.terminate.report-has-header"], "fail",
        reason="the Terminate names the wrong error", duration=0.241,
        expectations=[
            judged(rule, [wanted, "Terminate RDMAP remote protection error: base or bounds violation (0/1/0x01)"], actual, "fail",
                   0.003120, octets=came, frame=10, row="last octet beyond"),
            judged("ddp.terminate.report-has-header", ["D set, 14 octets of DDP header"], "D set, 14 octets of DDP header", "pass",
                   0.003120, octets=came, frame=10, row="last octet beyond"),
            judged(rule, [wanted], wanted, "pass", 0.235, octets=fpdu(terminate(1, 1, 1, WRITE[2:16])), frame=24, row="all beyond")],
        rows=[{"name": "last octet beyond", "verdict": "fail", "reason": "the Terminate names the wrong error"},
              {"name": "all beyond", "verdict": "pass", "reason": ""}],
        exchange=startup() + [
            step(0.001911, "none", "region stag=0x00000101 base=0x1000 len=4096, remote write"),
            step(0.002204, "to_iut", "RDMA Write L stag=0x00000101 to=0x1ffa len=16", WRITE, 8),
            step(0.003120, "from_iut", actual, came, 10), step(0.003340, "from_iut", "FIN", frame=11),
            step(0.003702, "none", "region unchanged (4096 octets compared)"),
            step(0.235, "from_iut", wanted, fpdu(terminate(1, 1, 1, WRITE[2:16])), 24)],
        seen_to_fail_by=["wrong_terminate_code", "accepts_write_beyond_bounds"], **members)


def silent(case_id, **members):
    bad = fpdu(untagged(3, 0, 1, b"spoilt on the way"), flip=1)
    rule = "mpa.crc.mismatch-invalidates-fpdu"
    return case(
        case_id, "mpa/crc.cpp", [rule, "mpa.close.mpa-keeps-tcp-after-error"], "fail", configuration="crc=on",
        reason="a message with a bad CRC was delivered", duration=0.31,
        expectations=[judged(rule, ["Terminate MPA: CRC error (2/0/0x02)", "connection closed without Terminate",
                                    "nothing delivered, segment not acknowledged"],
                             "completion: receive, 17 octets, success", "fail", 0.003001, "none"),
                      judged("mpa.close.mpa-keeps-tcp-after-error", ["connection closed within 250 ms"], "nothing within 250 ms",
                             "inconclusive", 0.253, "none")],
        exchange=startup(False) + [step(0.002604, "to_iut", "Send L qn=0 msn=1 mo=0 len=17 ! octet 40: f4 in place of f5", bad, 9),
                                   step(0.003001, "none", "completion: receive, 17 octets, success")],
        seen_to_fail_by=["accepts_bad_crc"], **members)


def crashed(case_id):
    return case(
        case_id, "rdmap/read.cpp", ["rdmap.read.zero-length-answered"], "fail", reason="the guest's kernel reported a BUG",
        expectations=[], kernel_log="[   31.204411] BUG: kernel NULL pointer dereference, address: 0000000000000018\n"
        "[   31.204498] #PF: supervisor read access in kernel mode\n[   31.205120] Oops: 0000 [#1] PREEMPT SMP\n"
        "[   31.205988] CPU: 1 PID: 212 Comm: siw_tx/1\n[   31.206410] Call Trace:\n[   31.206822]  ? __die_body+0x1a/0x60\n"
        "[   31.207130]  ? page_fault_oops+0x15c/0x2a0", stderr="agent: lost the device\nagent: exit", seen_to_fail_by=[])


def mixed_cases():
    """One case of each kind that a report must distinguish."""
    known = {"result": "known", "entry": "suite/expectations/siw.yaml:14",
             "reason": "siw does not look at the markers that it asked for: RFC 5044 section 4.3 demands them"}
    marker = judged("mpa.markers.every-512-octets", ["Marker at octet 512"], "no Marker in 1,460 octets", "fail", 0.0029, frame=10,
                    octets=ANSWER)
    first = case("rdmap.write.large-write-arrives", "rdmap/write.cpp", ["rdmap.write.tagged-buffer"], "error", number=1,
                 reason="the worker was lost", expectations=[], exchange=startup()[:2], stderr="worker: broken pipe",
                 gate={"result": "superseded", "entry": "", "reason": ""})
    second = case("rdmap.write.large-write-arrives", "rdmap/write.cpp", ["rdmap.write.tagged-buffer"], number=2, attempt=2)
    second["pcap"].update(source="tester", note="no capture rights: made of the tester's own octets")
    advisory = case("ddp.untagged.segments-in-order", "ddp/untagged.cpp", ["ddp.segmentation.increasing-to"], number=3,
                    advisories=[{"rule": "ddp.segmentation.increasing-to", "text": "segments came in the order 1, 3, 2"}])
    advisory["expectations"][0]["verdict"] = "advisory"
    return [
        case("mpa.startup.request-accepted", "mpa/startup.cpp", ["mpa.startup.reserved-bits-ignored"], number=4),
        case("mpa.startup.request-accepted@ipv6", "mpa/startup.cpp", ["mpa.startup.reserved-bits-ignored"], number=5),
        case("mpa.startup.no-reply-to-garbage", "mpa/startup.cpp", ["mpa.startup.responder-checks-key"], number=6,
             gate={"result": "stale", "entry": "suite/expectations/siw.yaml:30", "reason": "the case passes"}),
        case("mpa.markers.asked-for-and-sent", "mpa/markers.cpp", ["mpa.markers.every-512-octets"], "fail", number=7,
             reason="no Marker", expectations=[marker], gate=known),
        case("mpa.markers.pointer-is-right", "mpa/markers.cpp", ["mpa.markers.pointer-distance-to-header"], "not_applicable",
             reason="PICS: the implementation does not send Markers"),
        silent("mpa.crc.bad-crc-delivers-nothing"),
        terminated_wrongly("ddp.tagged.write-beyond-bounds-is-terminated"),
        terminated_wrongly("ddp.tagged.write-beyond-bounds-is-terminated@ipv6"),
        advisory,
        first, second,
        case("rdmap.write.cut-reached-the-wire", "rdmap/write.cpp", ["rdmap.write.tagged-buffer"], "inconclusive", number=8,
             reason="the wanted segment cut did not reach the wire", expectations=[
                 judged("rdmap.write.tagged-buffer", ["payload placed"], "segments of 1460 octets, 3 wanted", "inconclusive", 0.0028,
                        "to_iut", frame=8)]),
        crashed("rdmap.read.zero-length-read-is-answered"),
        case("rdmap.read.hung-agent", "rdmap/read.cpp", ["rdmap.read.response-length-matches-request"], "error", number=9,
             reason="the agent answered nothing within 2 s and was restarted", expectations=[], stderr="agent: started"),
    ]


# ---------------------------------------------------------------- documents


def run_record(selected, **members):
    record = {
        "id": "20260304T050607Z-5eed0001", "start": START.format(7.25), "end": START.format(31.75), "complete": True,
        "ending": "finished", "ending_reason": "", "exit_code": 1,
        "suite": {"version": "0.1.0", "commit": "0123456789abcdef" * 2 + "01234567"},
        "catalogue": "", "command": ["rnic-suite", "run", "--iut", "siw-vm", "--out", "out"], "host": "testbed",
        "machine": {"system": "Debian GNU/Linux 12", "kernel": "6.1.0-25-amd64", "architecture": "x86_64", "processors": 2,
                    "memory": 8_000_000_000},
        "options": {"strict": False, "jobs": 6, "select": ["*"], "link": "tcp"},
        "iut": {"kind": "siw-vm", "driver": "siw", "driver_version": "6.1.106", "firmware": "", "kernel": "6.1.0-25-amd64",
                "implementation": "Linux kernel soft-iWARP", "capabilities": ["mpa-rev-2", "srq", "send-with-invalidate"],
                "limits": {"max_qp": 1024, "max_sge": 6}, "addresses": ["10.77.0.2", "fd77::2"], "deviations": [],
                "ports": [{"number": 1, "state": "4: ACTIVE", "rate": "100 Gb/sec (4X EDR)", "interface": "eth2", "driver": "acme", "driver_version": "6.1",
                           "firmware": "1.27", "speed": 100000, "mtu": 9000, "offloads": ["rx", "tso"], "gids": ["0207:4328:9e10::"]}]},
        "lab": {"kind": "guest", "interface": "tap0", "mtu": 1500, "tester_addresses": ["10.77.0.1", "fd77::1"], "note": ""},
        "capture": {"mode": "live", "note": "", "received": 9120, "dropped": 0, "interface_dropped": 0, "closing_seen": True},
        "timings": {"setup": 12.5, "cases": 11.2, "teardown": 0.8, "total": 24.5}, "seeds": {"order": 7},
        "selected": selected, "expectations_file": "suite/expectations/siw.yaml",
    }
    record.update(members)
    return record


def summary_of(cases, stale):
    """The counts over the last attempts, written out on their own so that the reports are checked against them."""
    last = [record for record in cases if record["gate"]["result"] != "superseded"]
    counts = {"cases": len(last), "attempts": len(cases), "verdicts": {}, "gate": {}, "layers": {},
              "advisories": sum(len(record["advisories"]) for record in last),
              "tester_pcaps": sum(1 for record in last if record["pcap"] and record["pcap"]["source"] == "tester"),
              "without_pcap": sum(1 for record in last if not record["pcap"]), "stale_entries": stale}
    for record in last:
        layer = counts["layers"].setdefault(record["layer"], {})
        for table, key in ((counts["verdicts"], record["verdict"]), (counts["gate"], record["gate"]["result"]), (layer, record["verdict"])):
            table[key] = table.get(key, 0) + 1
    return counts


def document(cases, stale=(), **members):
    selected = len({record["id"] for record in cases})
    return {"schema": "rnic-results-1", "run": run_record(selected, **members), "cases": cases,
            "summary": summary_of(cases, list(stale))}


def journal(cases, **members):
    run = run_record(20, complete=False, ending="running", end=None, exit_code=None, **members)
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in [{"run": run}, *({"case": record} for record in cases)])


HOSTILE = ["</script><img src=x onerror=alert(1)>", "{{7*7}}{% raw %}<!--", "\x1b[31mred\x00\x07\x7f\u009b", "\u202egnp.exe\u2066",
           "]]>&lt;\ufffe", "`code` **bold** [link](http://example.invalid) @everyone | cell", "\ud800 alone", "a\r\nb\u2028c", "'\" onmouseover=\"alert(1)"]


def hostile_document():
    """Every free text of a record is an attack on the program that shows it; the tests add the long one."""
    cases = []
    for number, word in enumerate(HOSTILE):
        record = case(f"mpa.hostile.{number}{word}", "mpa/hostile.cpp", [f"mpa.no-such.rule{word}"], "fail", number=number, reason=word,
                      title=word, variant=word, configuration=word, rerun=word, kernel_log=word, stderr=word, seen_to_fail_by=[word],
                      advisories=[{"rule": word, "text": word}], rows=[{"name": word, "verdict": "fail", "reason": word}],
                      gate={"result": ("new_failure", "known", "stale")[number % 3], "entry": word, "reason": word},
                      expectations=[judged(word, [word, "x"], word, "fail", 0.002, octets=word.encode(errors="replace"), row=word)],
                      exchange=[step(0.002, "from_iut", word), step(0.5, "none", word, b"<script>")])
        record["file"] = f"suite/cases/mpa/{word}.cpp"
        record["pcap"].update(file=("javascript:alert(1)", "../../etc/passwd", "/etc/passwd", f"pcap/{word}")[number % 4], note=word)
        cases.append(record)
    odd = dict(ending_reason=HOSTILE[0], command=HOSTILE, host=HOSTILE[0], options={word: word for word in HOSTILE},
               expectations_file=HOSTILE[0], seeds={HOSTILE[0]: 1}, timings={HOSTILE[0]: 0.5})
    made = document(cases, HOSTILE, **odd)
    made["run"]["iut"].update({key: HOSTILE[0] for key in ("kind", "driver", "driver_version", "firmware", "kernel", "implementation")},
                              capabilities=HOSTILE, addresses=HOSTILE, deviations=HOSTILE,
                              ports=[{"number": 1, "speed": 1, "mtu": 1, "offloads": HOSTILE, "gids": HOSTILE,
                                      **{key: HOSTILE[0] for key in ("state", "rate", "interface", "driver", "driver_version", "firmware")}}])
    made["run"]["capture"]["note"] = made["run"]["lab"]["note"] = HOSTILE[0]
    return made


def samples():
    """Path under tests/samples/ -> text."""
    mixed = mixed_cases()
    passes = [record for record in mixed
              if (record["verdict"], record["gate"]["result"], record["attempt"]) == ("pass", "as_expected", 1)]
    torn = journal(mixed[:6])
    pretty = lambda value: json.dumps(value, indent=1) + "\n"  # noqa: E731
    return {
        "mixed/results.json": pretty(document(mixed, ["suite/expectations/siw.yaml:30 mpa.startup.no-reply-to-garbage"])),
        "clean/results.json": pretty(document(passes, exit_code=0)),
        "empty/results.json": pretty(document([], complete=False, ending="aborted", exit_code=3,
                                              ending_reason="no case matches --select 'nothing*'")),
        "hostile/results.json": pretty(hostile_document()),
        "torn/results.ndjson": torn[:-700],
        "torn_whole_lines/results.ndjson": torn,
    }


# ---------------------------------------------------------------- many cases

def large(count):
    """A run like a real one in size and mixture, over the rules of the catalogue."""
    sys.path.insert(0, str(HERE.parent))
    from rnic_reports import catalogue  # pylint: disable=import-outside-toplevel

    draw = random.Random(count)
    rules = catalogue.load(catalogue.RULES_FOLDER, "")
    able = [rule for rule in rules.rules.values() if rule.check == "active" and rule.id.split(".")[0] in ("mpa", "ddp", "rdmap")]
    cases = []
    for number in range(count):
        rule = able[number * 7919 % len(able)]
        layer, area, slug = rule.id.split(".")
        turn = number // len(able)
        variant = ("", "@ipv6", "@initiator", "@initiator-ipv6")[turn % 4]
        cases.append(one_of_many(f"{layer}.{area}.{slug}{variant}", layer, area, rule.id, number, draw))
    stale = ["suite/expectations/siw.yaml:30 mpa.startup.no-such-case"]
    return document(cases, stale, catalogue=rules.version)


def one_of_many(case_id, layer, area, rule, number, draw):
    file, kind = f"{layer}/{area}.cpp", draw.random()
    if kind < 0.80:
        record = case(case_id, file, [rule], number=number, duration=draw.uniform(0.002, 0.3))
        busy = [step(0.003 + 0.0004 * turn, ("to_iut", "from_iut")[turn % 2], f"RDMA Write L stag=0x{0x100 + turn:08x} to=0x1000 len=64",
                     fpdu(tagged(0, 0x100 + turn, 0x1000, draw.randbytes(64))), 12 + turn) for turn in range(draw.randrange(12))]
        record["exchange"] += busy
        if draw.random() < 0.03:
            record["advisories"] = [{"rule": rule, "text": "the Reply came in two TCP segments"}]
        return record
    if kind < 0.94:
        return case(case_id, file, [rule], "not_applicable", number=number,
                    reason=draw.choice(["PICS: no Markers", "PICS: no atomic operations", "PICS: no Immediate Data",
                                        "siw-vm: no variant for crc=off"]))
    if kind < 0.975:
        record = terminated_wrongly(case_id) if number % 2 else silent(case_id)
        record.update(gate={"result": "known", "entry": f"suite/expectations/siw.yaml:{number}",
                            "reason": draw.choice(["siw sends Invalid STag where Base or Bounds is demanded (RFC 5041 section 7.2)",
                                                   "siw delivers before it has checked the CRC (RFC 5044 section 6)"])})
    elif kind < 0.99:
        record = terminated_wrongly(case_id) if number % 3 else silent(case_id)
    else:
        record = crashed(case_id) if number % 2 else case(
            case_id, file, [rule], "inconclusive", number=number, reason="the wanted segment cut did not reach the wire", expectations=[])
    rules = {"ddp.terminate.tagged-base-or-bounds": rule}
    for judgement in record["expectations"]:
        judgement["rule"] = rules.get(judgement["rule"], judgement["rule"])
    return {**record, "layer": layer, "file": f"suite/cases/{file}", "rules": [rule]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="examples: make_samples.py; make_samples.py --cases 600 --out /tmp/large")
    parser.add_argument("--cases", type=int, help="make one run of so many cases instead of the samples")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "samples")
    arguments = parser.parse_args()
    made = samples() if not arguments.cases else {"results.json": json.dumps(large(arguments.cases))}
    for name, content in made.items():
        path = arguments.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
