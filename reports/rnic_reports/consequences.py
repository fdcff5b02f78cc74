# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Rules that nobody can keep who breaks some others wherever they are tried."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Fault:
    """Known by rules that are broken in every case that judges them; the first names it."""

    shown_by: tuple
    breaks: frozenset  # what follows from it


FAULTS = (
    # Who takes FPDUs as valid whose CRC does not match (RFC 5044 section 4.4), and notices no such error (8), checks it on no connection (4.4,
    # 7.1.1) and over no part of the FPDU (4.1 to 4.3), passes the FPDU to DDP (6), takes it for a first FPDU (7.1.2), and goes on after it
    # (8). DDP then has no digest below it (RFC 5041 section 3). One who notices the error, but too late, breaks the first rule only.
    Fault(("mpa.crc.mismatch-invalidates-fpdu", "mpa.terminate.crc-error-detected"), frozenset((
        "mpa.crc.support-implemented", "mpa.crc.checked-when-peer-requires", "mpa.crc.checked-when-either-c-one", "mpa.crc.disabled-only-by-both",
        "mpa.framing.pad-checked-by-crc", "mpa.markers.reserved-checked-by-crc", "mpa.markers.between-marker-checked-with-next",
        "mpa.receive.fpdu-verified-before-ddp", "mpa.receive.start-by-chained-lengths-or-marker", "mpa.startup.responder-validates-first-fpdu",
        "mpa.terminate.nothing-passed-after-error", "ddp.llp.strong-digest"))),
)


def faults_of(cases):
    """The faults that the cases show, not only as known issues."""
    return [fault for fault in FAULTS if all(_always_broken(rule, cases) for rule in fault.shown_by)]


def _always_broken(rule, cases):
    judging = [case for case in cases if any(one.rule == rule and one.verdict in ("pass", "fail") for one in case.judgements)]
    return all(any(one.rule == rule and one.verdict == "fail" for one in case.judgements) for case in judging) and any(
        case.is_new_failure for case in judging)


def fault_behind(case, faults):
    """That one of `faults` from which all that the case failed by follows, where it does not show the fault by its first rule itself. Else None."""
    failed = {one.rule for one in case.judgements if one.verdict == "fail"}
    if case.verdict != "fail" or case.kernel_log or not failed:
        return None
    return next((fault for fault in faults if failed <= fault.breaks | {*fault.shown_by} and fault.shown_by[0] not in failed), None)
