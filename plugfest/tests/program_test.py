#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The program as an organiser meets it: program_test.py RNIC_PLUGFEST PROJECT_FOLDER.

A virtual event is played, killed and taken up again; its verdicts, its blame and its document are looked at; then events that cannot be
played."""
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

import jsonschema

PROGRAM, PROJECT = sys.argv[1], pathlib.Path(sys.argv[2])
VIRTUAL = PROJECT / "plugfest" / "events" / "virtual-reference.yaml"
SCENARIOS = ("startup.markers", "startup.private_data", "send.solicited", "invalidate.then_write", "startup.revision_2",
             "close.graceful_by_initiator", "error.write_bad_stag_by_initiator")
HELLO = """echo '{"type":"hello","version":1,"driver":"x","implementation":"x","driver_version":"","firmware":"","kernel":"","capabilities":[],"limits":{}}'
"""
ESCAPES = r"printf '\033[2J\033]0;x\007\n'"
TOY = """
event: toy
deadline: 4
patience: 2
capture: lo
participants:
  - {name: good, address: 127.0.0.1, agent: {reference: }}
  - {name: odd, address: 127.0.0.1, agent: {argv: [%s]}}
scenarios: [send.plain]
"""


def run(*words, **options):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=100, check=False, **options)


def document(folder):
    whole = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    schema = json.loads((PROJECT / "reports/schema/plugfest-2.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(whole)
    return whole


class Program(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def event(self, text):
        file = self.folder / "event.yaml"
        file.write_text(text, encoding="utf-8")
        return file

    def script(self, text):
        file = self.folder / f"{len(list(self.folder.glob('*.sh')))}.sh"
        file.write_text(text + "\n", encoding="utf-8")
        return file

    def test_virtual_event(self):
        out = self.folder / "out"
        select = [word for name in SCENARIOS for word in ("--select", f"*/{name}")]
        with subprocess.Popen([PROGRAM, "run", VIRTUAL, "--out", out, *select], stderr=subprocess.PIPE, text=True,
                              stdout=subprocess.DEVNULL) as first:
            for line in first.stderr:  # killed in the midst of it
                if line.startswith("[20/"):
                    break
            first.send_signal(signal.SIGKILL)
        kept = [json.loads(line)["case"]["id"] for line in (out / "results.ndjson").read_text().splitlines()[1:] if line.endswith("}")]
        self.assertGreaterEqual(len(kept), 20)
        done = run("run", VIRTUAL, "--out", out, *select)
        whole = document(out)
        self.assertEqual(whole["summary"]["new_failures"], [], done.stdout)
        self.assertEqual((done.returncode, whole["summary"]["stale"]), (0, []), done.stderr)
        cells = {cell["id"]: cell for cell in whole["cells"]}
        self.assertEqual(len(cells), 20 * len(SCENARIOS))
        self.assertEqual(len(whole["cells"]), len(cells), "a finished cell was played again")
        self.assertEqual([cell["id"] for cell in whole["cells"]][:len(kept)], kept)
        self.look_at(cells, out)
        self.assertIn("untidy", (out / "report.html").read_text(encoding="utf-8"))
        self.assertEqual(len((out / "matrix.csv").read_text(encoding="utf-8").splitlines()), 1 + len(cells))

    def test_lost_output_ends_no_event(self):
        words = ("run", VIRTUAL, "--select", "reference/twin/close.graceful_by_initiator")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, *words, "--out", self.folder / "full"], stdout=full, stderr=full, timeout=200, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(document(self.folder / "full")["summary"]["stale"], [])  # of cells that were not selected
        self.assertTrue(document(self.folder / "full")["cells"])
        with subprocess.Popen([PROGRAM, *words, "--out", self.folder / "hangup"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              start_new_session=True) as event:
            event.stderr.readline()
            event.stderr.close()
            event.stdout.close()
            os.killpg(event.pid, signal.SIGHUP)
            self.assertEqual(event.wait(timeout=200), 0)
        self.assertTrue(document(self.folder / "hangup")["cells"])
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "list"], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"cannot write all of standard output", done.stderr)

    def test_a_run_that_was_interrupted_or_killed(self):
        words = ("run", VIRTUAL, "--jobs", "2", "--out", self.folder / "out")
        for ending in (signal.SIGINT, signal.SIGKILL):
            with subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as event:
                for line in event.stderr:
                    if line.startswith("[3/"):
                        break
                event.send_signal(ending)
                told, _ = event.communicate(timeout=200)
            if ending == signal.SIGINT:
                self.assertEqual(event.returncode, 3)
                self.assertRegex(told, "[0-9]+ cells have no result yet: the same `run` goes on with them")
                before = len(document(self.folder / "out")["cells"])
        done = run("collect", VIRTUAL, "--out", self.folder / "out")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("cells have no result yet", done.stdout)
        self.assertGreater(len(document(self.folder / "out")["cells"]), before)
        refused = run("collect", VIRTUAL, "--out", self.folder / "none")
        self.assertEqual((refused.returncode, refused.stderr.count("\n")), (2, 1))
        self.assertFalse((self.folder / "none").exists())

    def look_at(self, cells, out):
        for scenario in SCENARIOS:
            clean = cells[f"reference/twin/{scenario}#1"]
            self.assertEqual(clean["verdict"], "pass", clean["reason"])
            self.assertIn(f"(commit {clean['suite']['commit']})", run("--version").stdout)
            self.assertTrue((out / clean["pcap"]).stat().st_size > 1000)
        markers = cells["untidy/reference/startup.markers#1"]
        self.assertEqual((markers["verdict"], markers["fault"]), ("fail", "initiator"))
        self.assertIn("mpa.markers.reserved-sent-as-zero", [found["rule"] for found in markers["findings"]])
        self.assertEqual(cells["reference/untidy/startup.markers#1"]["fault"], "responder")
        hidden = cells["reference/curt/startup.private_data#1"]
        self.assertEqual((hidden["verdict"], hidden["fault"]), ("fail", "unknown"))
        silent = cells["reference/curt/error.write_bad_stag_by_initiator#1"]
        self.assertEqual((silent["verdict"], silent["advisory"]), ("pass", True))
        self.assertIn("no Terminate", silent["reason"])
        self.assertEqual(cells["reference/forgetful/invalidate.then_write#1"]["verdict"], "fail")

    def test_a_few_cuts_by_tcp_are_no_advisory_but_a_habit_is(self):
        event = self.event("""
event: cuts
participants:
  - {name: reference, agent: {reference: }}
  - {name: careless, agent: {reference: {deviations: [segments_cut_anywhere, segments_half_full]}}}
scenarios: [write.mebibyte, read.mebibyte]
""")
        out = self.folder / "out"
        done = run("run", event, "--out", out)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for cell in document(out)["cells"]:
            self.assertEqual((cell["verdict"], cell["advisory"]), ("pass", True), cell)
            self.assertEqual([found["rule"] for found in cell["findings"]], ["mpa.segmentation.segments-begin-with-fpdu"])
            careless = "initiator" if cell["initiator"] == "careless" else "responder"
            self.assertEqual(cell["findings"][0]["side"], careless)
            cuts = {each["side"]: each for each in cell["cuts"]}
            self.assertEqual(len(cuts), 2)
            for side, each in cuts.items():
                self.assertGreaterEqual(each["segments"], 100, side)  # those that a window cut do not count
                share = each["within"] / each["segments"]
                self.assertTrue(share > 7 / 8 if side == careless else share < 1 / 2, each)

    def test_rerun_of_a_row(self):
        out = self.folder / "out"
        words = ("run", VIRTUAL, "--out", out, "--select", "*/close.graceful_by_*")
        run(*words)
        again = run(*words, "--rerun", "twin/*")
        self.assertIn("8 of them to play", again.stderr)
        attempts = [cell["attempt"] for cell in document(out)["cells"] if cell["initiator"] == "twin" and cell["gate"]["result"] != "superseded"]
        self.assertEqual(attempts, [2] * 8)

    def test_a_race_is_tried_until_it_shows(self):
        """An agent that starts twice and then no more."""
        agent = pathlib.Path(PROGRAM).parents[1] / "suite" / "upper_tester" / "rnic-agent"
        starts = self.folder / "starts"
        racy = self.script(f'echo >> {starts}; test $(wc -l < {starts}) -gt 2 && exit 1; exec {agent} --driver reference --address 127.0.0.1')
        text = TOY.replace("send.plain", "close.graceful_by_initiator") % f"sh, {racy}"
        expected = """
expectations:
  - {cells: "*odd*", verdict: error, observed: ["nothing", "*exit status 1*"], tries: 5, reason: known}
"""
        out = self.folder / "out"
        done = run("run", self.event(text + expected), "--out", out, "--trust-event")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        attempts = [(cell["initiator"], cell["attempt"], cell["verdict"], cell["varies"]) for cell in document(out)["cells"]]
        self.assertEqual(sorted(attempts), [(who, at, verdict, True) for who in ("good", "odd") for at, verdict in ((1, "pass"), (2, "error"))])
        self.assertIn("[4/4]", done.stderr)
        self.assertIn(", 0 of them to play", run("run", self.event(text + expected), "--out", out, "--trust-event").stderr)
        # As if it had not shown: then it is looked for again.
        text_of = (out / "results.ndjson").read_text(encoding="utf-8").splitlines(keepends=True)
        (out / "results.ndjson").write_text("".join(text_of[:3]), encoding="utf-8")
        self.assertIn(", 2 of them to play", run("run", self.event(text + expected), "--out", out, "--trust-event").stderr)

    def test_two_runs_are_compared(self):
        outs = [self.folder / name for name in ("one", "other")]
        for out in outs:
            run("run", VIRTUAL, "--out", out, "--select", "reference/*/close.graceful_by_initiator")
        same = run("diff", *outs)
        self.assertEqual((same.returncode, same.stdout), (0, "0 of 4 cells differ\n"), same.stderr)
        results = outs[1] / "results.json"
        changed = json.loads(results.read_text(encoding="utf-8"))
        changed["cells"][0].update(verdict="fail", gate={"result": "new_failure", "entry": "", "reason": ""})
        results.write_text(json.dumps(changed), encoding="utf-8")
        differ = run("diff", *outs)
        self.assertEqual(differ.returncode, 1)
        self.assertRegex(differ.stdout, r"\Areference/\w+/close\.graceful_by_initiator#1: pass -> fail \(new\)\n1 of 4 cells differ\n\Z")
        for wrong in ("", "[]", '{"plugfest": 1}', '{"plugfest": 2, "cells": [{}]}', '{"plugfest": 2, "cells": 7}'):
            results.write_text(wrong, encoding="utf-8")
            refused = run("diff", *outs)
            self.assertEqual(refused.returncode, 2, wrong)
            self.assertEqual(len(refused.stderr.splitlines()), 1)
        self.assertEqual(run("diff", outs[0], "/nowhere").returncode, 2)

    def test_events_that_are_refused(self):
        made_up = self.event(VIRTUAL.read_text(encoding="utf-8").replace('scenarios: ["*"]', "scenarios: [send.quickly]"))
        done = run("check", made_up)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"event\.yaml:\d+: there is no scenario \"send\.quickly\"")
        untrusted = run("run", self.event(TOY % "/bin/true"), "--out", self.folder / "out")
        self.assertEqual(untrusted.returncode, 2)
        self.assertIn("--trust-event", untrusted.stderr)
        self.assertFalse((self.folder / "out").exists())
        self.assertEqual(run("run", "/nowhere.yaml").returncode, 2)
        self.assertIn("larger than", run("check", "/dev/zero").stderr)
        self.assertEqual(run("run", VIRTUAL, "--engine", "none").returncode, 2)
        self.assertEqual(run("run", VIRTUAL, "--out", self.folder / "o", "--select", "nobody/*").returncode, 2)
        self.assertEqual(run("list").returncode, 0)
        self.assertIn("780 cells", run("check", VIRTUAL).stdout)
        long_one = VIRTUAL.read_text(encoding="utf-8").replace('scenarios: ["*"]', "scenarios: [write.gibibyte]")
        self.assertEqual(run("check", self.event(long_one)).returncode, 2)
        self.assertIn("20 cells", run("check", self.event(long_one), "--long").stdout)

    def test_how_many_cells_an_event_may_have(self):
        def event(hosts, repeats, more=""):
            names = "".join(f"  - {{name: h{at}, agent: {{reference: }}}}\n" for at in range(hosts))
            return self.event(f"event: large\nrepeats: {repeats}\nscenarios: [send.plain]\nparticipants:\n{names}{more}")

        self.assertEqual(len(run("list", event(15, 952)).stdout.splitlines()), 210 * 952)  # 199,920
        for count, words in ((210 * 953, (15, 953)), (88 * 87 * 1000, (88, 1000, 'except: ["h0/*"]\n'))):
            refused = run("list", event(*words))
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertRegex(refused.stderr, rf"\Arnic-plugfest: .*the event has {count} cells, and at most 200000 are played: choose pairs: ring, fewer "
                             r"scenarios, or fewer repeats\n\Z")
        fewer = event(15, 953, 'except: ["h0/h1/*"]\n')  # 953 less
        self.assertEqual(len(run("list", fewer).stdout.splitlines()), 209 * 953)

    def test_what_was_probably_meant(self):
        for words, told in ((["rnu", VIRTUAL], "(did you mean 'run'?)"), (["run", VIRTUAL, "--selct", "x"], "(did you mean '--select'?)"),
                            (["check", "virtuel"], "(did you mean 'virtual'?)"), ([], "A subcommand is required"), (["run"], "event is required"),
                            (["check", ("reference: ", "referense: ")], "(did you mean 'reference'?)"),
                            (["check", ("send.plain", "sent.plain")], "(did you mean 'send.plain'?)")):
            refused = run(*(self.event((TOY % "x").replace(*word)) if isinstance(word, tuple) else word for word in words))
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), words)
            self.assertIn(told, refused.stderr)
            for line in refused.stderr.splitlines():
                self.assertTrue(line.startswith("rnic-plugfest: "), line)

    def test_each_command_of_reports_has_the_version(self):
        version = run("--version").stdout
        self.assertRegex(version, r"\Arnic-plugfest [0-9.]+ \(commit ")
        for command in ("serve", "bundle", "verify", "compare"):
            shown = run(command, "--version")
            self.assertEqual((shown.returncode, shown.stdout, shown.stderr), (0, version, ""))

    def test_agents_that_are_none(self):
        """Each costs its cells, as error, and the run continues to its end."""
        odd = {"garbage": "echo, nonsense", "gone": "/bin/false", "missing": "/nowhere/agent", "endless": "yes",
               "nothing": "sleep, 1000", "one line of gigabytes": "head, -c, 4G, /dev/zero", "binary": "cat, /bin/true",
               "errors of gigabytes": f"sh, {self.script('head -c 2G /dev/zero >&2; exit 1')}",
               "hello, then gigabytes": f"sh, {self.script(HELLO + 'head -c 4G /dev/zero')}",
               "hello, then garbage": f"sh, {self.script(HELLO + 'yes nonsense')}",
               "escape sequences": f"sh, {self.script(ESCAPES)}",
               "a hello of another version": f"sh, {self.script(HELLO.replace(':1,', ':99,', 1))}"}
        for name, argv in odd.items():
            with self.subTest(name):
                out = self.folder / name
                done = run("run", self.event(TOY % argv), "--out", out, "--trust-event")
                self.assertEqual(done.returncode, 1, done.stderr)
                cells = document(out)["cells"]
                # A cell is played again if its host was met before and is not there now.
                self.assertEqual({(cell["initiator"], cell["responder"]) for cell in cells}, {("good", "odd"), ("odd", "good")})
                self.assertEqual({cell["verdict"] for cell in cells}, {"error"})
                self.assertRegex(document(out)["cells"][0]["reason"], "agent does not start|agent is gone|no reply of the (initiator|responder)")
                self.assertNotIn("\033", done.stderr + done.stdout)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 600_000, "KiB: what an agent says must not be kept")

    def test_shell_signs_are_words(self):
        mark = self.folder / "mark"
        run("run", self.event(TOY % f"/bin/echo, '; touch {mark}', '$(touch {mark})'"), "--out", self.folder / "out", "--trust-event")
        self.assertFalse(mark.exists())


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"
    unittest.main(argv=sys.argv[:1], verbosity=2)
