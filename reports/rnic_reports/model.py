# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What a report is made of: a run, its cases with their attempts, and the counts over them; plain values, all text cleaned."""

import collections
import dataclasses
import functools
import re
import typing

VERDICTS = ("pass", "fail", "inconclusive", "error", "not_applicable")
JUDGEMENTS = ("pass", "advisory", "also_seen", "fail", "inconclusive", "error")
GATES = ("as_expected", "known", "new_failure", "stale", "superseded")
ENDINGS = ("running", "finished", "interrupted", "aborted", "killed")
DIRECTIONS = ("to_iut", "from_iut", "none")
PASSED_LIMIT = 60  # steps read of a case in which all went well; the pcap has the others
LAYERS = ("mpa", "ddp", "rdmap")  # bottom up; any other folder of cases follows by name


# A large run has millions of these three: tuples are made in a third of the time that dataclasses take.
class Octets(typing.NamedTuple):
    start: str  # hexadecimal digits of the first ones; the pcap has the others
    total: int

    LIMIT = 1024

    @staticmethod
    def of(node):
        start, total = node.hexadecimal("hex", Octets.LIMIT)
        return Octets(start, total) if total else NO_OCTETS


NO_OCTETS = Octets("", 0)


class Judgement(typing.NamedTuple):
    """What a rule admits against what came."""

    rule: str
    row: str
    admissible: list
    actual: str
    octets: Octets
    verdict: str
    direction: str
    at: float
    frame: int | None

    @staticmethod
    def of(node):
        return Judgement(node.line("rule"), node.line("row"), node.lines("admissible"), node.line("actual"), Octets.of(node),
                         node.choice("verdict", JUDGEMENTS), node.choice("direction", DIRECTIONS), node.number("at"), node.whole_or_none("frame"))


class Step(typing.NamedTuple):
    """One line of the decoded exchange."""

    at: float
    direction: str
    text: str
    octets: Octets
    frame: int | None

    @staticmethod
    def of(node):
        return Step(node.number("at"), node.choice("direction", DIRECTIONS), node.line("text"), Octets.of(node),
                    node.whole_or_none("frame"))


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    name: str
    verdict: str
    reason: str

    @staticmethod
    def of(node):
        return Row(node.line("name"), node.choice("verdict", VERDICTS), node.line("reason"))


@dataclasses.dataclass(frozen=True, slots=True)
class Advisory:
    rule: str
    text: str

    @staticmethod
    def of(node):
        return Advisory(node.line("rule"), node.line("text"))


@dataclasses.dataclass(frozen=True, slots=True)
class Pcap:
    file: str
    sha256: str
    frames: int
    octets: int
    source: str
    note: str

    @staticmethod
    def of(node):
        if node is None:
            return None
        return Pcap(node.line("file"), node.line("sha256"), node.whole("frames"), node.whole("octets"),
                    node.choice("source", ("capture", "tester")), node.line("note"))


@dataclasses.dataclass(frozen=True, slots=True)
class Gate:
    result: str
    entry: str
    reason: str

    @staticmethod
    def of(node):
        return Gate(node.choice("result", GATES), node.line("entry"), node.line("reason"))


@dataclasses.dataclass(slots=True)
class Case:
    """One attempt at one case; in a report it is the last one, the others being its `earlier` attempts."""

    id: str
    attempt: int
    title: str
    layer: str
    file: str
    variant: str
    configuration: str
    rules: list
    verdict: str
    reason: str
    advisories: list
    judgements: list
    rows: list
    exchange: list  # the first steps of it
    steps_unread: int
    pcap: Pcap | None
    start: str
    duration: float
    worker: int
    gate: Gate
    rerun: str
    kernel_log: str
    stderr: str
    seen_to_fail_by: list
    seen_to_fail_at: dict  # by rule: the deviations that made an expectation of it fail in this case
    judged_in_frames: list  # rules that the judge evaluated on what the IUT sent
    earlier: list = dataclasses.field(default_factory=list)

    @staticmethod
    def of(node):
        case_id = node.line("id")
        judgements = [Judgement.of(item) for item in node.nodes("expectations")]
        steps = node.nodes("exchange")
        verdict = node.choice("verdict", VERDICTS)
        all_well = verdict == "pass" and all(item.verdict == "pass" for item in judgements)
        read = steps[:PASSED_LIMIT] if all_well else steps
        return Case(
            id=case_id, attempt=node.whole("attempt"), title=node.line("title"), layer=node.line("layer"),
            file=node.line("file"), variant=node.line("variant"), configuration=node.line("configuration"),
            rules=node.lines("rules"), verdict=verdict, reason=node.line("reason"),
            advisories=[Advisory.of(item) for item in node.nodes("advisories")], judgements=judgements,
            rows=[Row.of(item) for item in node.nodes("rows")], exchange=[Step.of(item) for item in read],
            steps_unread=len(steps) - len(read), pcap=Pcap.of(node.node_or_none("pcap")), start=node.line("start"),
            duration=node.number("duration"), worker=node.whole("worker"), gate=Gate.of(node.node("gate")), rerun=node.line("rerun"),
            kernel_log=node.log("kernel_log", "head"), stderr=node.log("stderr", "tail"),
            seen_to_fail_by=node.lines("seen_to_fail_by"), seen_to_fail_at=node.lists_since("seen_to_fail_at"),
            judged_in_frames=node.lines_since("judged_in_frames"),
        )

    @property
    def source(self):
        """The file without the line that may follow it."""
        return re.sub(r":\d+$", "", self.file)

    @property
    def line(self):
        """Of the file; 1 where it is not said."""
        found = re.search(r":(\d+)$", self.file)
        return max(1, int(found[1])) if found else 1

    @property
    def is_new_failure(self):
        return self.gate.result == "new_failure"

    @property
    def is_known(self):
        return self.gate.result == "known"

    @property
    def decisive(self):
        """The judgement that made the verdict: the first of the verdict's own kind, or None."""
        return next((item for item in self.judgements if item.verdict == self.verdict and item.verdict != "pass"), None)

    @property
    def why(self):
        """One line on why it is not a plain pass; empty for a plain pass."""
        found = self.decisive
        return self.reason or (f"{found.rule}: {found.actual}" if found else "")


@dataclasses.dataclass(frozen=True)
class Port:
    number: int
    speed: int  # of the interface, in Mb/s; 0: not known
    mtu: int  # 0: not known
    state: str
    rate: str
    interface: str
    driver: str
    driver_version: str
    firmware: str
    offloads: list
    gids: list

    @staticmethod
    def of(node):
        numbers, words = ("number", "speed", "mtu"), ("state", "rate", "interface", "driver", "driver_version", "firmware")
        return Port(*(node.whole(name) for name in numbers), *(node.line(name) for name in words), node.lines("offloads"), node.lines("gids"))


@dataclasses.dataclass(frozen=True)
class Iut:
    kind: str
    driver: str
    driver_version: str
    firmware: str
    kernel: str
    implementation: str
    capabilities: list
    limits: list
    addresses: list
    deviations: list
    ports: list

    @staticmethod
    def of(node):
        words = ("kind", "driver", "driver_version", "firmware", "kernel", "implementation")
        return Iut(*(node.line(name) for name in words), node.lines("capabilities"), node.pairs("limits"),
                   node.lines("addresses"), node.lines("deviations"), [Port.of(port) for port in node.nodes_since("ports")])


@dataclasses.dataclass(frozen=True)
class Capture:
    mode: str
    note: str
    received: int
    dropped: int
    interface_dropped: int
    closing_seen: bool

    @staticmethod
    def of(node):
        return Capture(node.choice("mode", ("live", "tester", "none")), node.line("note"), node.whole("received"),
                       node.whole("dropped"), node.whole("interface_dropped"), node.flag("closing_seen"))


@dataclasses.dataclass(frozen=True)
class Lab:
    kind: str
    interface: str
    mtu: int
    tester_addresses: list
    note: str

    @staticmethod
    def of(node):
        return Lab(node.line("kind"), node.line("interface"), node.whole("mtu"), node.lines("tester_addresses"), node.line("note"))


@dataclasses.dataclass(frozen=True)
class Session:
    """One start of the program for the run."""

    start: str
    command: list
    ending: str
    ending_reason: str

    @staticmethod
    def of(node):
        return Session(node.line("start"), node.lines("command"), node.choice("ending", ENDINGS), node.line("ending_reason"))


@dataclasses.dataclass(frozen=True)
class Run:
    id: str
    start: str
    end: str
    complete: bool
    ending: str
    ending_reason: str
    exit_code: int | None
    suite_version: str
    suite_commit: str
    catalogue: str
    command: list
    host: str
    machine: list
    options: list
    iut: Iut
    lab: Lab
    capture: Capture
    timings: list
    seeds: list
    selected: int
    expectations_file: str
    sessions: list

    @staticmethod
    def of(node):
        suite = node.node("suite")
        return Run(
            id=node.line("id"), start=node.line("start"), end=node.line_or_empty("end"),
            complete=node.flag("complete"), ending=node.choice("ending", ENDINGS), ending_reason=node.line("ending_reason"),
            exit_code=node.whole_or_none("exit_code"), suite_version=suite.line("version"), suite_commit=suite.line("commit"),
            catalogue=node.line("catalogue"), command=node.lines("command"), host=node.line("host"),
            machine=node.pairs("machine"), options=node.pairs("options"), iut=Iut.of(node.node("iut")),
            lab=Lab.of(node.node("lab")), capture=Capture.of(node.node("capture")), timings=node.pairs("timings"),
            seeds=node.pairs("seeds"), selected=node.whole("selected"), expectations_file=node.line("expectations_file"),
            sessions=[Session.of(each) for each in node.nodes_since("sessions")],
        )

    def killed(self):
        """The same run, known to have ended without a word."""
        return dataclasses.replace(self, complete=False, ending="killed", exit_code=None)


@dataclasses.dataclass(frozen=True)
class RunFinding:
    """A rule that was broken in cases that are about something else: one item of the run."""

    rule: str
    cases: int
    first_case: str
    observed: list
    admissible: list
    gate: Gate
    rerun: str

    @staticmethod
    def of(node):
        return RunFinding(node.line("rule"), node.whole("cases"), node.line("first_case"), node.lines("observed"),
                          node.lines("admissible"), Gate.of(node.node("gate")), node.line("rerun"))

    @property
    def id(self):
        return f"finding:{self.rule}"

    @property
    def is_new_failure(self):
        return self.gate.result == "new_failure"


@dataclasses.dataclass(frozen=True)
class Report:
    """A run, the attempts that count, and the notes from reading the results."""

    run: Run
    cases: list  # in order of layer, file, id
    stale_entries: list
    notes: list  # one line each: what was wrong with the results as found
    findings: list

    @staticmethod
    def of(run, attempts, stale_entries, notes, findings):
        return Report(run, counting(attempts), stale_entries, notes, findings)

    @property
    def complete(self):
        """True only if the run says so, nothing puts it in doubt (an IUT that is dead at its end) and nothing of it was lost; a run of no
        case is never complete."""
        return self.run.complete and not self.run.ending_reason and bool(self.cases) and not self.notes

    @property
    def new_failures(self):
        return [case for case in self.cases if case.is_new_failure]

    @property
    def new_findings(self):
        return [finding for finding in self.findings if finding.is_new_failure]

    @property
    def flaky(self):
        """Passed at last, after an attempt that did not."""
        return [case for case in self.cases if case.verdict == "pass"
                and any(attempt.verdict not in ("pass", "not_applicable") for attempt in case.earlier)]

    @property
    def known(self):
        return [case for case in self.cases if case.is_known]

    @property
    def advisories(self):
        return sum(len(case.advisories) for case in self.cases)

    def count(self, verdict=None, layer=None, gate=None):
        return sum(count for kind, count in self._kinds.items()
                   if all(wanted in (None, found) for wanted, found in zip((verdict, layer, gate), kind)))

    @functools.cached_property
    def _kinds(self):
        return collections.Counter((case.verdict, case.layer, case.gate.result) for case in self.cases)

    @property
    def layers(self):
        return sorted({case.layer for case in self.cases}, key=layer_order)

    @property
    def headline(self):
        """The outcome in a few phrases."""
        words = []
        if not self.cases:
            words.append("no case was run")
        elif not self.complete:
            words.append("run incomplete")
        new = len(self.new_failures)
        so_far = "" if self.complete else " so far"
        words.append((f"{new} new failure{'s' if new > 1 else ''}" if new else "no new failure") + so_far)
        if self.new_findings:
            words.append(f"{len(self.new_findings)} new finding{'s' if len(self.new_findings) > 1 else ''}")
        if self.stale_entries:
            words.append(f"{len(self.stale_entries)} stale known issue{'s' if len(self.stale_entries) > 1 else ''}")
        return words


def layer_order(layer):
    return (LAYERS.index(layer), "") if layer in LAYERS else (len(LAYERS), layer)


def counting(attempts):
    """The last attempt of each case with the earlier ones inside it, in order of layer, file and id."""
    by_id = collections.defaultdict(list)
    for case in attempts:
        by_id[case.id].append(case)
    last = []
    for same in by_id.values():
        same.sort(key=lambda case: case.attempt)
        last.append(same[-1])
        same[-1].earlier = same[:-1]
    return sorted(last, key=lambda case: (layer_order(case.layer), case.source, case.id))
