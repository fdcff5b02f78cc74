# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The server of a plugfest: what is on the disk as it grows, to each reader what it may see, and nothing else."""

import contextlib
import http.client
import io
import json
import pathlib
import socket
import tempfile
import threading
import time
import unittest

import serve_plugfest
from rnic_reports import live, live_server, plugfest
from tests import page
from tests.test_plugfest import HOSTILE

ORGANISER, ACME = "o" * 16, "a" * 16
EVENT = {"name": "spring", "digest": "0", "repeats": 1, "scenarios": [{"name": "send.plain", "title": "t"}],
         "participants": [{"name": "acme", "vendor": "Acme Networks", "alias": "", "agent": "ssh"},
                          {"name": "zeta", "vendor": "Zeta Silicon", "alias": "vendor Z", "agent": "ssh"},
                          {"name": "gamma", "vendor": "Gamma Systems", "alias": "", "agent": "ssh"}]}
SECRETS = ("zeta", "gamma", "Zeta", "Gamma", "zetadrv")


def cell(initiator, responder, verdict, attempt=1, **members):
    hosts = [{"side": side, "implementation": f"{name}0", "driver": f"{name}drv", "driver_version": str(attempt), "firmware": "", "kernel": "6.1"}
             for side, name in (("initiator", initiator), ("responder", responder))]
    return {"case": {"id": f"{initiator}/{responder}/send.plain#1", "initiator": initiator, "responder": responder, "scenario": "send.plain",
                     "repeat": 1, "attempt": attempt, "verdict": verdict, "fault": "none", "reason": "", "seconds": 0.5,
                     "start": "2026-11-23T09:00:00Z", "suite": {"version": "0.1.0", "commit": f"{attempt:040x}"}, "hosts": hosts, **members}}


class LiveTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.write({"run": EVENT}, cell("acme", "zeta", "fail", reason="zeta of Zeta Silicon said no"), cell("zeta", "gamma", "fail", reason="private"),
                   cell("gamma", "acme", "pass", advisory=True))

    def write(self, *records, torn=""):
        with (self.folder / "results.ndjson").open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(record) + "\n" for record in records) + torn)

    def say(self, **members):
        state = {"time": "2026-11-23T10:00:00Z", "playing": [], "waiting": [], "aside": [], "remaining": 0.0, "over": False, **members}
        (self.folder / "state.json").write_text(json.dumps(state), encoding="utf-8")


class Reading(LiveTest):
    def test_only_what_is_new_is_read_and_a_torn_line_waits(self):
        seen = live.Live(self.folder)
        self.assertEqual(live.View(seen).counts, {"fail": 2, "advisory": 1})
        whole = json.dumps(cell("zeta", "acme", "pass"))
        self.write(torn=whole[:40])
        self.assertEqual(len(live.View(seen.refresh()).cells), 3)
        self.write(torn=whole[40:] + "\n")
        self.assertEqual(len(live.View(seen.refresh()).cells), 4)
        self.assertEqual(len(live.View(seen.refresh()).cells), 4)

    def test_a_new_attempt_takes_the_place_of_the_one_before_and_both_are_shown(self):
        self.write(cell("acme", "zeta", "pass", attempt=2))
        view = live.View(live.Live(self.folder))
        self.assertEqual(view.counts, {"pass": 1, "advisory": 1, "fail": 1})
        [(scenario, tries)] = view.pair("acme", "zeta")
        self.assertEqual((scenario, [one["verdict"] for one in tries]), ("send.plain", ["fail", "pass"]))
        self.assertEqual([one["suite"]["commit"][-1] for one in tries], ["1", "2"])
        self.assertEqual(view.squares()["acme", "zeta"], ("pass", 1, 1))

    def test_another_journal_in_its_place_is_read_from_its_beginning(self):
        seen = live.Live(self.folder)
        (self.folder / "results.ndjson").unlink()
        self.write({"run": {**EVENT, "name": "autumn"}}, cell("acme", "zeta", "pass"))
        seen.refresh()
        self.assertEqual((seen.event["name"], live.View(seen).counts), ("autumn", {"pass": 1}))

    def test_what_is_no_plugfest_is_refused(self):
        with self.assertRaises(plugfest.Unreadable):
            live.Live(self.folder / "none")
        (self.folder / "results.ndjson").write_text("rubbish\n")
        with self.assertRaises(plugfest.Unreadable):
            live.Live(self.folder)

    def test_a_vendor_sees_its_own_cells_only(self):
        view = live.View(live.Live(self.folder), "Acme Networks")
        self.assertEqual(view.counts, {"fail": 1, "advisory": 1})
        self.assertIsNone(view.pair("zeta", "gamma"))
        self.assertEqual([view.name(one) for one in view.participants], ["acme", "vendor Z", "peer-2"])
        self.say(playing=[{"cell": "zeta/gamma/x#1", "since": "2026-11-23T10:00:00Z"}, {"cell": "acme/zeta/x#1", "since": "2026-11-23T10:00:00Z"}],
                 aside=["zeta"])
        now = view.now()
        self.assertEqual(([one for one, _ in now["playing"]], now["aside"]), (["acme → vendor Z, x"], []))


class Serving(LiveTest):
    def serve(self, tokens=None):
        path = None
        if tokens:
            path = self.folder / "tokens.json"
            path.touch(0o600)
            path.write_text(json.dumps(tokens))
        server = live_server.Server(("127.0.0.1", 0), self.folder, live_server.Tokens(path))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.server_address[1]

    def get(self, port, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        self.addCleanup(connection.close)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers

    def test_pages(self):
        self.write(cell("zeta", "acme", "fail", reason=HOSTILE))
        self.say(playing=[{"cell": "acme/gamma/send.plain#1", "since": "2026-11-23T10:00:00Z"}], waiting=["gamma/zeta/send.plain#1"], aside=["gamma"])
        port = self.serve()
        for path in ("/", "/pair?initiator=1&responder=0"):
            status, text, headers = self.get(port, path)
            self.assertEqual((status, headers["Cache-Control"]), (200, "no-store"))
            seen = page.Page(text)
            self.assertEqual(seen.faults, [])
            self.assertNotIn("\u202e", text)
            self.assertNotIn("<script>alert", text)
        home = self.get(port, "/")[1]
        self.assertIn("acme → gamma, send.plain", home)
        self.assertIn("gamma is set aside", home)
        self.assertEqual(json.loads(self.get(port, "/state.json")[1])["counts"], {"advisory": 1, "fail": 3})

    def test_a_run_that_was_interrupted_is_not_all_of_it(self):
        self.write({"end": {"cells": 6, "played": 3}})
        home = self.get(self.serve(), "/")[1]
        self.assertIn("3 cells have a verdict; 3 of the event have none, which the same run plays.", home)
        self.say(playing=[{"cell": "acme/gamma/send.plain#1", "since": "2026-11-23T10:00:00Z"}])
        self.assertNotIn("Over.", self.get(self.serve(), "/")[1])
        self.say(over=True)
        self.write({"end": {"cells": 3, "played": 3}})
        self.assertIn("3 cells have a verdict.", self.get(self.serve(), "/")[1])

    def test_a_run_goes_on_after_its_end(self):
        self.write({"end": {"cells": 6, "played": 3}}, cell("acme", "zeta", "pass", attempt=2))
        self.assertFalse(live.View(live.Live(self.folder)).now()["over"])

    def test_what_is_played_next_shows_by_itself(self):
        port = self.serve()
        self.get(port, "/")
        self.write(cell("zeta", "acme", "error"))
        deadline = time.monotonic() + 20
        while json.loads(self.get(port, "/state.json")[1])["counts"].get("error") != 1:
            self.assertLess(time.monotonic(), deadline)

    def test_nothing_else_is_served(self):
        port = self.serve()
        for path in ("/results.ndjson", "/../results.ndjson", "/pair", "/pair?initiator=acme&responder=zeta", "/pair?initiator=0&responder=9", "/pair?initiator=-1&responder=0", "/%2e%2e/state.json"):
            self.assertEqual(self.get(port, path)[0], 404, path)
        for method in ("POST", "PUT", "DELETE"):
            self.assertEqual(self.get(port, "/", method)[0], 501)
        self.assertEqual(self.get(port, "/", "HEAD")[:2], (200, ""))

    def test_tokens(self):
        port = self.serve({"organiser": ORGANISER, "vendors": {"Acme Networks": ACME}})
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": "rnic_token=%ff"}):
            self.assertEqual(self.get(port, "/", **headers)[0], 401)
        self.assertEqual(json.loads(self.get(port, "/state.json", Authorization=f"Bearer {ORGANISER}")[1])["counts"], {"advisory": 1, "fail": 2})
        status, _, headers = self.get(port, f"/?token={ACME}")
        self.assertEqual((status, headers["Location"]), (303, "/"))
        self.assertIn("HttpOnly", headers["Set-Cookie"])
        cookie = {"Cookie": headers["Set-Cookie"].split(";")[0]}
        pages = [self.get(port, path, **cookie)[1] for path in ("/", "/pair?initiator=0&responder=1", "/state.json")]
        self.assertIn("acme → vendor Z", pages[0])
        for text in pages:
            for secret in SECRETS:
                self.assertNotIn(secret, text)
        self.assertEqual(self.get(port, "/pair?initiator=1&responder=2", **cookie)[0], 404)
        self.assertEqual(self.get(port, f"//evil.example/?token={ACME}")[2]["Location"][:2], "/e")

    def test_bad_tokens_are_refused(self):
        path = self.folder / "tokens.json"
        path.touch(0o600)
        for made in ("", "[]", "{}", '{"organiser": "short"}', json.dumps({"organiser": ACME, "vendors": {"x": ACME}})):
            path.write_text(made)
            with self.assertRaises(plugfest.Unreadable, msg=made):
                live_server.Tokens(path)
        path.write_text(json.dumps({"organiser": ORGANISER}))
        live_server.Tokens(path)
        path.chmod(0o640)
        with self.assertRaises(plugfest.Unreadable):
            live_server.Tokens(path)

    def test_a_page_of_elsewhere_reads_nothing(self):
        port = self.serve()
        for host in ("localhost", f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "[::1]"):
            self.assertEqual(self.get(port, "/", Host=host)[0], 200, host)
        for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example", "", "[::1", "[2001:db8::1]:80", "[::1].evil.example"):
            self.assertEqual(self.get(port, "/state.json", Host=host)[0], 403, host)
        port = self.serve({"organiser": ORGANISER})  # behind a proxy, whose name it does not know
        self.assertEqual(self.get(port, "/", Host="fest.example", Authorization=f"Bearer {ORGANISER}")[0], 200)

    def test_an_address_that_is_none(self):
        with socket.create_connection(("127.0.0.1", self.serve()), timeout=20) as connection:
            connection.sendall(b"GET http://[ HTTP/1.0\r\n\r\n")
            self.assertTrue(connection.recv(100).startswith(b"HTTP/1.1 400 "))


class Command(LiveTest):
    def run_with(self, *words):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            try:
                return serve_plugfest.main([str(word) for word in words]), said.getvalue()
            except SystemExit as ended:
                return ended.code, said.getvalue()

    def test_other_hosts_need_tokens(self):
        for where in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:0"):
            code, said = self.run_with(self.folder, "--listen", where)
            self.assertEqual((code, len(said.splitlines())), (2, 1), said)

    def test_bad_input_is_one_line(self):
        cases = self.folder / "cases"
        cases.mkdir()
        (cases / "results.ndjson").write_text('{"run":{"id":"20261123T090000Z"}}\n')
        for words, code in (((self.folder / "none",), 3), ((cases,), 3), ((self.folder, "--tokens", self.folder / "none"), 3),
                            *(((self.folder, "--listen", where), 2) for where in ("here", "127.0.0.1:65536", "127.0.0.1:-1", ":"))):
            ended, said = self.run_with(*words)
            self.assertEqual((ended, len(said.splitlines())), (code, 1), said)
