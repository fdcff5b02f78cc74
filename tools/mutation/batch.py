# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A batch of semantic mutants: its folder, how it is applied to a tree, how its records are counted and shown."""

import dataclasses
import json
import math
import pathlib
import re
import shutil
import subprocess
import tempfile

import yaml

HERE = pathlib.Path(__file__).resolve().parent
HEADER, TESTER = HERE / "schemata/mutant.hpp", HERE / "schemata/tester.patch"
MEMBERS = {"id": int, "where": str, "what": str, "breaks": bool, "rule": str, "text": str, "shows": str}
SHOWS = ("wire", "consumer", "dat")
FOUND_BY = ("cases", "dat", "soak")


class Unusable(Exception):
    """Said to the user as it is."""


@dataclasses.dataclass(frozen=True)
class Batch:
    folder: pathlib.Path
    entries: dict  # by id
    readings: dict  # by id: what a reader has decided after the first run

    @property
    def patch(self):
        return self.folder / "mutants.patch"


def load(folder):
    folder = pathlib.Path(folder)
    for name in ("mutants.patch", "batch.yaml"):
        if not (folder / name).is_file():
            raise Unusable(f"{folder}: there is no {name}; a batch is a folder with mutants.patch and batch.yaml")
    entries = {}
    for entry in read_yaml(folder / "batch.yaml") or []:
        name = f"{folder / 'batch.yaml'}: mutant {entry.get('id', '?')}"
        for member, kind in MEMBERS.items():
            if not isinstance(entry.get(member), kind):
                raise Unusable(f"{name}: `{member}` has to be there, as {kind.__name__}")
        if entry["shows"] not in SHOWS:
            raise Unusable(f"{name}: `shows` is one of {', '.join(SHOWS)}")
        if entry["id"] in entries:
            raise Unusable(f"{name}: there are two of this number")
        entries[entry["id"]] = entry
    if not entries:
        raise Unusable(f"{folder / 'batch.yaml'}: there is no mutant in it")
    return Batch(folder, entries, readings_of(folder, entries))


def readings_of(folder, entries):
    path = folder / "reading.yaml"
    readings = read_yaml(path) or {} if path.exists() else {}
    for number in readings:
        if number not in entries:
            raise Unusable(f"{path}: batch.yaml has no mutant {number}")
    return readings


def read_yaml(path):
    try:
        return yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise Unusable(f"{path}: {error}") from error


def applied(batch, root):
    """The contents of all files that the batch changes in this tree, by name."""
    names = sorted({name for patch in (batch.patch, TESTER) for name in re.findall(r"^(?:---|\+\+\+) [ab]/(.+)$", patch.read_text(), re.MULTILINE)})
    with tempfile.TemporaryDirectory() as scratch:
        stage = pathlib.Path(scratch)
        git(stage, "init", "--quiet")
        objects = git(root, "rev-parse", "--path-format=absolute", "--git-path", "objects").stdout.strip()
        (stage / ".git/objects/info/alternates").write_text(objects + "\n")
        for name in names:
            if (root / name).is_file():
                (stage / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(root / name, stage / name)
        git(stage, "add", "--all")
        for patch in (batch.patch, TESTER):
            # By merging, so that what was changed in other lines since does not matter.
            done = git(stage, "apply", "--3way", str(patch.resolve()))
            if done.returncode:
                files = {found[1] or found[2] for found in re.finditer(r"patch failed: (.+):\d+$|^U (.+)$", done.stderr + done.stdout, re.MULTILINE)}
                raise Unusable(f"{patch} does not apply to this tree: {', '.join(sorted(files)) or done.stderr.strip()}; "
                               "check out a commit to which it applies, or bring the patch up to date")
        return {name: (stage / name).read_bytes() for name in names if (stage / name).is_file()} | {"base/mutant.hpp": HEADER.read_bytes()}


def git(folder, *words):
    return subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True)


# ---------------------------------------------------------------- the rule that is blamed

def catalogue(root):
    """The place of each rule in its document: (RFC, section) by id. DAT has RFC 0, and its sections are calls."""
    places = {}
    for path in sorted((root / "rules").glob("*.yaml")):
        document = yaml.safe_load(path.read_text())
        for rule in document["rules"]:
            places[rule["id"]] = (document["rfc"], str(rule["section"]))
    return places


def marked_places(rule):
    """(RFC, section) of each place that an entry's `rule` names."""
    places, rfc = set(), None
    for found in re.finditer(r"\b(?:RFC ?(\d{4})|DAT|(dat_\w+)|(\d+(?:\.\d+)*))\b", rule):
        if found[1]:
            rfc = int(found[1])
        elif found[2]:
            places.add((0, found[2]))
        elif found[3] is None:
            rfc = None
        elif rfc:
            places.add((rfc, found[3]))
    return places


def is_within(one, other):
    """Whether one section contains the other."""
    parts = one.split("."), other.split(".")
    shorter = min(map(len, parts))
    return parts[0][:shorter] == parts[1][:shorter]


def matches(blamed, rule):
    """Whether one of the places that are blamed is, contains or lies in a place that is marked."""
    return any(rfc == marked_rfc and is_within(section, marked) for rfc, section in blamed for marked_rfc, marked in marked_places(rule))


# ---------------------------------------------------------------- figures

def wilson(hits, of):
    """The 95 % interval of a share."""
    if of == 0:
        return 0.0, 1.0
    z = 1.959964
    share, square = hits / of, z * z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def share(hits, of):
    low, high = wilson(hits, of)
    return f"{hits} of {of}" + (f" ({100 * hits / of:.0f} %, 95 % interval {low:.2f} to {high:.2f})" if of else "")


def breaks(batch, number):
    """As marked, unless a reader has decided otherwise."""
    return batch.readings.get(number, {}).get("breaks", batch.entries[number]["breaks"])


def on_the_right_rule(batch, record):
    return batch.readings.get(record["id"], {}).get("right", record["right_section"])


def is_caught(record):
    return any(record[by]["caught"] for by in FOUND_BY)


def counts(batch, records):
    """Over the mutants that break a rule."""
    judged = [record for record in records if breaks(batch, record["id"])]
    caught = [record for record in judged if is_caught(record)]
    return {
        "mutants": len(records),
        "break a rule": len(judged),
        "caught": len(caught),
        **{f"caught by {by}": sum(record[by]["caught"] for record in judged) for by in FOUND_BY},
        "shown without a failure": sum(not is_caught(record) and any(record[by]["doubtful"] for by in FOUND_BY) for record in judged),
        "blamed on the right rule": sum(on_the_right_rule(batch, record) for record in caught),
        "caught, but break no rule": sum(is_caught(record) for record in records if not breaks(batch, record["id"])),
    }


def figures(batch, records):
    """The counts in words."""
    sums = counts(batch, records)
    of = sums["break a rule"]
    yield f"{sums['mutants']} mutants, of which {of} break a rule that shows outside"
    yield f"caught: {share(sums['caught'], of)}"
    yield "; ".join(f"by {by}: {sums[f'caught by {by}']}" for by in FOUND_BY)
    yield f"blamed on the right rule: {share(sums['blamed on the right rule'], sums['caught'])}"
    yield f"not caught, but inconclusive or an error: {sums['shown without a failure']}"
    yield f"caught, but break no rule: {sums['caught, but break no rule']}"


def table(batch, records):
    """Markdown: the figures and a line for each mutant."""
    lines = [f"# Batch {batch.folder.name}", ""] + [f"- {one}" for one in figures(batch, records)]
    lines += ["", "| id | breaks | caught by | what | marked | blamed | right rule | cases |", "|---|---|---|---|---|---|---|---|"]
    for record in records:
        entry = batch.entries[record["id"]]
        by = [name for name in FOUND_BY if record[name]["caught"]]
        doubtful = sorted({case for name in FOUND_BY for case in record[name]["doubtful"]})
        cell = ", ".join(by) or (f"none; not a pass: {shown(doubtful)}" if doubtful else "none")
        right = "yes" if on_the_right_rule(batch, record) else "no"
        lines.append("| " + " | ".join(str(one).replace("|", "\\|").replace("\n", " ") for one in (
            record["id"], "yes" if breaks(batch, record["id"]) else "no", cell, f"{entry['where']}: {entry['what']}", entry["rule"],
            shown([f"{rule} ({place})" for rule, place in record["blamed"].items()]), right if by else "",
            shown([case for name in ("cases", "dat") for case in record[name]["failed"]]))) + " |")
    return "\n".join(lines) + "\n"


def shown(names, most=4):
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def write_json(path, value):
    """All or nothing, so that an interruption leaves no half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(value, indent=1) + "\n")
    temporary.replace(path)
