# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Certificates as docs/first-run-on-two-hosts.md makes them, and a port, for tests."""
import contextlib
import pathlib
import random
import socket
import subprocess


def free_port():
    """Not one that a connection may have at its own end."""
    while True:
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", random.randrange(20000, 32000)))
            return one.getsockname()[1]


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


class Certificates:
    """In a folder: of an authority (`ca`), and those that it signs."""

    def __init__(self, folder, authority="ca"):
        self.folder, self.authority = pathlib.Path(folder), authority
        openssl("req", "-x509", "-newkey", "ed25519", "-noenc", "-days", 30, "-subj", f"/CN={authority}",
                "-keyout", self.folder / f"{authority}.key", "-out", self.folder / f"{authority}.pem")

    def sign(self, name, file=None):
        """A certificate for a name, in FILE.pem and FILE.key."""
        place = self.folder / (file or name)
        openssl("req", "-x509", "-newkey", "ed25519", "-noenc", "-days", 30, "-subj", f"/CN={name}",
                "-addext", f"subjectAltName=DNS:{name}", "-addext", "basicConstraints=critical,CA:FALSE",
                "-CA", self.folder / f"{self.authority}.pem", "-CAkey", self.folder / f"{self.authority}.key",
                "-keyout", f"{place}.key", "-out", f"{place}.pem")

    def sign_expired(self, name, file):
        place = self.folder / file
        openssl("req", "-new", "-newkey", "ed25519", "-noenc", "-subj", f"/CN={name}", "-keyout", f"{place}.key",
                "-out", f"{place}.csr")
        openssl("x509", "-req", "-in", f"{place}.csr", "-CA", self.folder / f"{self.authority}.pem",
                "-CAkey", self.folder / f"{self.authority}.key", "-days", -1, "-out", f"{place}.pem")

    def options(self, own, peer):
        """The options of rnic-agent and of rnic-await-agent, one for each word."""
        return ["--peer", peer, "--certificate", str(self.folder / f"{own}.pem"), "--key", str(self.folder / f"{own}.key"),
                "--ca", str(self.folder / f"{self.authority}.pem")]
