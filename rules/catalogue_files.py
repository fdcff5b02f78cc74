# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Reads the rule files: the one place in Python that knows their form."""

import hashlib
import pathlib
import re
import sys

import yaml

LEVELS = ("must", "should", "may")
CHECKS = ("active", "passive", "api", "none")
BINDS = ("sender", "receiver", "initiator", "responder", "both", "data-source", "data-sink", "ulp", "implementation", "provider", "registry")
NEEDS = ("sctp",)  # what no link of this suite has
REQUIRED = ("id", "section", "level", "binds", "check", "text")
OPTIONAL = ("quote", "reason", "restates", "needs", "note", "without_deviation")
ID = re.compile(r"^(mpa|ddp|rdmap|sec|sctp|dat|kdat|verbs|kmem)(\.[a-z0-9]+(-[a-z0-9]+)*){2}$")


NO_RFCS = (0, 1, 2, 3)  # what `rfc` says of the rules of the DAT API, of the verbs, of the kernel's verbs and of kDAPL
FILES = ("rfc*.yaml", "dat*.yaml", "kdat*.yaml", "verbs.yaml", "kernel_verbs.yaml")


class CatalogueError(Exception):
    """A rule file that breaks the form; the text says where and what to do."""


def files(folder):
    """The rule files of a folder."""
    return sorted(path for pattern in FILES for path in pathlib.Path(folder).glob(pattern))


def load(paths):
    """Returns (rules, version): rules as dicts with `rfc` added, in file order; version as 16 hex digits."""
    rules, digest = [], hashlib.sha256()
    for path in sorted(map(pathlib.Path, paths)):
        content = path.read_bytes()
        digest.update(content)
        try:
            document = yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except yaml.YAMLError as error:
            raise CatalogueError(f"{path}: not valid YAML: {error}") from error
        for rule in document["rules"]:
            rules.append({**rule, "rfc": document["rfc"], "file": str(path)})
    return rules, digest.hexdigest()[:16]


def faults(rules):
    """One line for each rule that breaks the form of the catalogue."""
    seen = {}
    for rule in rules:
        where = f"{rule['file']}: {rule.get('id', '(no id)')}"
        for key in REQUIRED:
            if not str(rule.get(key, "")).strip():
                yield f"{where}: `{key}` is missing"
        for key in rule:
            if key not in REQUIRED + OPTIONAL + ("rfc", "file"):
                yield f"{where}: unknown key `{key}`"
        for key, allowed in (("level", LEVELS), ("check", CHECKS), ("binds", BINDS), ("needs", NEEDS)):
            if key in rule and rule[key] not in allowed:
                yield f"{where}: `{key}: {rule[key]}` is none of {', '.join(allowed)}"
        if not ID.match(str(rule.get("id", ""))):
            yield f"{where}: the id is not layer.area.slug in lower case"
        if rule.get("check") == "none" and not rule.get("reason"):
            yield f"{where}: `check: none` needs a `reason`"
        if str(rule.get("id")).startswith("sctp.") and rule.get("check") != "none" and rule.get("needs") != "sctp":
            yield f"{where}: a rule of SCTP needs `needs: sctp`, or `check: none`"
        if rule.get("id") in seen:
            yield f"{where}: the id stands in {seen[rule['id']]} too"
        seen[rule.get("id")] = rule["file"]
    for rule in rules:
        if "restates" in rule and rule["restates"] not in seen:
            yield f"{rule['file']}: {rule['id']}: restates unknown rule {rule['restates']}"


def load_or_exit(paths):
    """`load` for programs: prints one line and exits with 2 when a file cannot be used."""
    try:
        return load(paths)
    except (OSError, CatalogueError, KeyError, TypeError) as error:
        print(f"rule catalogue: {error}", file=sys.stderr)
        sys.exit(2)
