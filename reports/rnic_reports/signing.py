# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A folder that is given away: a manifest of the digests of its files, signed with an Ed25519 key by openssl."""

import hashlib
import pathlib
import subprocess

MANIFEST, SIGNATURE = "MANIFEST", "MANIFEST.sig"


class Refused(Exception):
    """One line that says what is wrong."""


class Unable(Refused):
    """Nothing can be told, since a program is missing."""


def write_manifest(folder):
    """Writes MANIFEST: a line `SHA-256  path` for each file, in the form of sha256sum. Returns the number of files."""
    folder = pathlib.Path(folder)
    lines = [f"{_digest(folder / name)}  {name}\n" for name in _files(folder)]
    (folder / MANIFEST).write_text("".join(lines), encoding="utf-8")
    return len(lines)


def sign(folder, key):
    """Writes MANIFEST.sig with the private key in this PEM file."""
    if "ED25519" not in _openssl("pkey", "-in", key, "-noout", "-text", what=f"{key}: the key").upper():
        raise Refused(f"{key}: is no Ed25519 key; `openssl genpkey -algorithm ed25519 -out key.pem` makes one")
    _openssl("pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", folder / MANIFEST, "-out", folder / SIGNATURE, what="the signature")


def public_key(key):
    """The public key of a private one, as PEM."""
    return _openssl("pkey", "-in", key, "-pubout", what=f"{key}: the key")


def check_public(public):
    """Raises Refused for what is no public key."""
    if not pathlib.Path(public).is_file():
        raise Refused(f"{public}: there is no such file; --public names the organiser's public key")
    _openssl("pkey", "-pubin", "-in", public, "-noout", what=f"{public}: is no public key")


def verify(folder, public):
    """Returns the number of files. Raises Refused for a signature of another key, and for each file that is changed, missing or added."""
    folder = pathlib.Path(folder)
    for name in (MANIFEST, SIGNATURE):
        if not (folder / name).is_file():
            raise Refused(f"{folder / name}: is missing: this is no signed bundle")
    _openssl("pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", public, "-in", folder / MANIFEST, "-sigfile", folder / SIGNATURE,
             what=f"{folder / SIGNATURE}: is not the signature of this manifest by {public}")
    listed = {}
    for line in (folder / MANIFEST).read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        listed[name] = digest
    there = set(_files(folder))
    faults = [*(f"{name} is missing" for name in sorted(listed.keys() - there)), *(f"{name} was added" for name in sorted(there - listed.keys())),
              *(f"{name} was changed" for name in sorted(there & listed.keys()) if _digest(folder / name) != listed[name])]
    if faults:
        more = f" and {len(faults) - 5} more" if len(faults) > 5 else ""
        raise Refused(f"{folder}: {'; '.join(faults[:5])}{more}")
    return len(listed)


def _files(folder):
    """Names of all files but the manifest and its signature, sorted."""
    found = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or "\n" in name:
            raise Refused(f"{path}: a link, or a name of several lines, cannot be in a bundle")
        if path.is_file() and name not in (MANIFEST, SIGNATURE):
            found.append(name)
    return sorted(found)


def _digest(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _openssl(*words, what):
    try:
        done = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise Unable("openssl cannot be started; install the package openssl") from error
    if done.returncode != 0:
        raise Refused(" ".join(f"{what}: {(done.stderr or done.stdout).strip()}".split())[:300])
    return done.stdout
