# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Shows a plugfest while it is played, over HTTP, and changes nothing. A vendor's token shows that vendor's cells."""

import hmac
import http.server
import ipaddress
import json
import os
import re
import socket
import stat
import threading
import time
import urllib.parse

from . import live, page, plugfest

FRESH = 1.0  # seconds for which the journal is not looked at again
COOKIE = "rnic_token"


class Tokens:
    """Who may see what. Without a file everybody on this host sees everything."""

    def __init__(self, path=None):
        self.vendors = {}  # token -> vendor; empty: everything
        self.wanted = path is not None
        if path is None:
            return
        try:
            with path.open(encoding="utf-8") as file:
                others = stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077
                made = json.load(file)
            pairs = [(made["organiser"], ""), *((token, vendor) for vendor, token in made.get("vendors", {}).items())]
        except OSError as error:
            raise plugfest.Unreadable(f"{path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise plugfest.Unreadable(f'{path}: must be like {{"organiser": "TOKEN", "vendors": {{"Acme Networks": "TOKEN"}}}}') from error
        if others:
            raise plugfest.Unreadable(f"{path}: others than its owner may use it; chmod 600 it, and make new tokens if others have read these")
        for token, vendor in pairs:
            if not isinstance(token, str) or len(token) < 16 or token in self.vendors:
                raise plugfest.Unreadable(f"{path}: each token must have 16 characters or more, and be given once; `openssl rand -hex 16` makes one")
            self.vendors[token] = vendor

    def vendor(self, token):
        """The vendor that the token belongs to, "" for the organiser; None: nobody."""
        if not self.wanted:
            return ""
        found = None
        for known, vendor in self.vendors.items():  # all of them, so that the time tells nothing
            if hmac.compare_digest(known.encode(), token.encode(errors="replace")):
                found = vendor
        return found


def address(words):
    """(host, port) of `HOST:PORT`, `PORT`, `[V6]:PORT`. Raises ValueError."""
    host, _, port = words.rpartition(":")
    if not 0 <= int(port) < 1 << 16:
        raise ValueError(port)
    return (host.strip("[]") or "127.0.0.1"), int(port)


def is_loopback(host):
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def named_host(header):
    """The host of a Host header, without its port; empty if it names none."""
    made = re.fullmatch(r"(?:\[([^\[\]]*)\]|([^:\[\]]*))(?::\d*)?", header.strip())
    return (made[1] or made[2]) if made else ""


class Pages:
    """The pages by their paths."""

    def __init__(self, folder):
        self.live = live.Live(folder)
        self._environment = page.environment()
        self._environment.filters["span"] = _span
        self._assets = page.assets(["report.css", "plugfest.css", "hosts.css", "live.css"], ["live.js"])
        self._read, self._lock = time.monotonic(), threading.Lock()

    def make(self, path, query, vendor):
        """(content type, text), or None if there is no such page for this reader."""
        with self._lock:
            if time.monotonic() - self._read > FRESH:
                self.live.refresh()
                self._read = time.monotonic()
            view = live.View(self.live, vendor)
            if path == "/":
                return "text/html", self._render("live.html.j2", view, now=view.now(), squares=view.squares(), last=view.last())
            if path == "/pair":
                ends = view.pair_of(query)
                tries = view.pair(*ends) if ends else None
                return ("text/html", self._render("live_pair.html.j2", view, initiator=ends[0], responder=ends[1], tries=tries)) if tries else None
            if path == "/state.json":
                return "application/json", json.dumps({"counts": view.counts, **view.now()})
            return None

    def _render(self, name, view, **values):
        return self._environment.get_template(name).render(view=view, event=self.live.event, **values, **self._assets)


def _span(seconds):
    """`12 s`, `3 min`, `2 h 05 min`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


class Handler(http.server.BaseHTTPRequestHandler):
    """GET and HEAD; nothing else is understood."""

    server_version, sys_version, protocol_version = "rnic-plugfest", "", "HTTP/1.1"
    timeout = 30

    def do_GET(self):
        if not self.server.tokens.wanted and not is_loopback(named_host(self.headers.get("Host", "localhost"))):
            # A page of elsewhere may have given its own name this host's loopback address, to read what only this host may.
            return self._send(403, "text/plain", "Without tokens only localhost is served, by that name.\n")
        try:
            parts = urllib.parse.urlsplit(self.path)
        except ValueError:
            return self._send(400, "text/plain", "This is no address.\n")
        query = urllib.parse.parse_qs(parts.query)
        given = query.pop("token", [""])[0]
        vendor = self.server.tokens.vendor(given or self._token())
        if vendor is None:
            return self._send(401, "text/plain", "A token is needed: open the address that you were given, which ends in ?token=...\n")
        if given:  # not to stay in the address, in logs and in what is sent on
            where = parts.path + ("?" + urllib.parse.urlencode(query, doseq=True) if query else "")
            return self._send(303, "text/plain", "", {"Location": "/" + where.lstrip("/\\"),
                                                      "Set-Cookie": f"{COOKIE}={urllib.parse.quote(given)}; HttpOnly; SameSite=Strict; Path=/"})
        try:
            made = self.server.pages.make(parts.path, query, vendor)
        except plugfest.Unreadable as fault:
            return self._send(503, "text/plain", f"{fault}\n")
        return self._send(200, *made) if made else self._send(404, "text/plain", "There is no such page.\n")

    do_HEAD = do_GET

    def _token(self):
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return token.strip()
        for one in self.headers.get("Cookie", "").split(";"):
            name, _, value = one.strip().partition("=")
            if name == COOKIE:
                return urllib.parse.unquote(value)
        return ""

    def _send(self, code, kind, words, more=None):
        content = words.encode("utf-8")
        self.send_response(code)
        for name, value in {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(content)), "Cache-Control": "no-store",
                            "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", **(more or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_):
        """Requests are not logged: they would show tokens."""


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, where, folder, tokens):
        self.address_family = socket.AF_INET6 if ":" in where[0] else socket.AF_INET
        self.pages, self.tokens = Pages(folder), tokens
        super().__init__(where, Handler)

    def handle_error(self, request, client_address):
        """A reader that goes away is no fault."""
