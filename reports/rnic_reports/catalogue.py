# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The rules that cases name: section, level and text of each, read from the rule files through their own reader."""

import csv
import dataclasses
import importlib.util
import pathlib
import re
import urllib.parse

RULES_FOLDER = pathlib.Path(__file__).resolve().parents[2] / "rules"
MAN_PAGES = 1  # of libibverbs and librdmacm
DOCUMENTS = {0: "DAT 2.0", MAN_PAGES: "verbs", 2: "kernel verbs", 3: "kDAPL 2.0"}  # the documents that are no RFC, by what their rules say as `rfc`


@dataclasses.dataclass(frozen=True)
class Rule:
    id: str
    rfc: int = -1  # or one of DOCUMENTS; -1: the catalogue does not have the rule
    section: str = ""
    level: str = ""
    binds: str = ""
    check: str = ""
    text: str = ""
    reason: str = ""
    needs: str = ""
    quote: str = ""  # the RFC's words that it is made of; `[...]` for words left out

    @property
    def known(self):
        return self.rfc >= 0

    @property
    def place(self):
        if not self.known:
            return ""
        if self.rfc == MAN_PAGES:
            return f"man page {self.section}(3)"
        if self.rfc in DOCUMENTS:
            return f"{DOCUMENTS[self.rfc]} {self.section}"
        return f"RFC {self.rfc} " + (f"§{self.section}" if self.section[:1].isdigit() else f"Appendix {self.letter}")

    @property
    def letter(self):
        """Of an appendix, which files name `A` or `Appendix A`."""
        return self.section.removeprefix("Appendix ")

    @property
    def href(self):
        """Where the section can be read; empty where it is no RFC's."""
        if self.rfc < 0 or self.rfc in DOCUMENTS or not self.section:
            return ""
        number = urllib.parse.quote(self.letter)
        return f"https://www.rfc-editor.org/rfc/rfc{self.rfc}#" + (f"section-{number}" if number[:1].isdigit() else f"appendix-{number}")


@dataclasses.dataclass(frozen=True)
class Catalogue:
    rules: dict  # id -> Rule, in the order of the files
    titles: dict  # RFC number, or one of DOCUMENTS -> title
    version: str
    note: str  # why it is not what the run used; empty: it is
    returns: dict = dataclasses.field(default_factory=dict)  # DAT call -> the returns that documents state for it

    def rule(self, rule_id):
        return self.rules.get(rule_id) or Rule(rule_id)


def load(folder, wanted_version):
    """The catalogue of `folder`. A report without rule texts is better than none, so any fault at all becomes the note."""
    folder = pathlib.Path(folder)
    try:
        reader = _reader(folder / "catalogue_files.py")
        paths = reader.files(folder)
        entries, version = reader.load(paths)
        rules = {entry["id"]: _rule(entry) for entry in entries}
        titles = {_document(path): _title(path) for path in paths}
    except Exception as error:
        return Catalogue({}, {}, "", f"the rule catalogue in {folder} cannot be read, so rule texts are missing: {error}")
    returns = _returns(folder / "dat20_returns.csv")
    note = "" if rules else f"there are no rule files in {folder}, so rule texts are missing"
    if rules and wanted_version not in ("", version):
        note = f"rule texts are of catalogue {version}; the run used {wanted_version}"
    return Catalogue(rules, titles, version, note, returns)


def _returns(path):
    """{call: [code]} of a file of stated returns; nothing where there is none."""
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    except OSError:
        return {}
    return {row["call"]: row["returns"].split() for row in csv.DictReader(lines)}


def _reader(path):
    spec = importlib.util.spec_from_file_location("catalogue_files", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _document(path):
    """What the rules of a file say as `rfc`."""
    return int(re.search(r"^rfc: *(\d+)$", path.read_text(encoding="utf-8"), re.MULTILINE)[1])


def _title(path):
    """The title line of a rule file, which the reader leaves out."""
    found = re.search(r"^title: *(.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1].strip("'\" ") if found else ""


def _rule(entry):
    words = {name: " ".join(str(entry.get(name, "")).split()) for name in ("section", "level", "binds", "check", "text", "reason", "needs", "quote")}
    return Rule(id=entry["id"], rfc=int(entry["rfc"]), **words)
