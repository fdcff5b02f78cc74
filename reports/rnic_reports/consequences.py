# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Rules that nobody can keep who breaks another one wherever it is tried."""

CONSEQUENCES = {
    # To take an FPDU as valid whose CRC does not match (RFC 5044 section 4.4) is to check it on no connection (4.4, 7.1.1), over no part of
    # the FPDU (4.1 to 4.3), to pass it to DDP (6) and to take it for a first FPDU (7.1.2); no such error is noticed, and none ends the
    # stream (8). DDP then has no digest below it (RFC 5041 section 3).
    "mpa.crc.mismatch-invalidates-fpdu": frozenset((
        "mpa.crc.support-implemented", "mpa.crc.checked-when-peer-requires", "mpa.crc.checked-when-either-c-one", "mpa.crc.disabled-only-by-both",
        "mpa.framing.pad-checked-by-crc", "mpa.markers.reserved-checked-by-crc", "mpa.markers.between-marker-checked-with-next",
        "mpa.receive.fpdu-verified-before-ddp", "mpa.receive.start-by-chained-lengths-or-marker", "mpa.startup.responder-validates-first-fpdu",
        "mpa.terminate.crc-error-detected", "mpa.terminate.nothing-passed-after-error", "ddp.llp.strong-digest")),
}


def never_kept(cases):
    """The rules of the table that every case which judges them has failed by, and not only as a known issue."""
    judged, new = {rule: [] for rule in CONSEQUENCES}, set()
    for case in cases:
        for rule in {one.rule for one in case.judgements if one.verdict in ("pass", "fail")} & set(judged):
            failed = any(one.rule == rule and one.verdict == "fail" for one in case.judgements)
            judged[rule].append(failed)
            if failed and case.verdict == "fail" and case.is_new_failure:
                new.add(rule)
    return [rule for rule, failed in judged.items() if all(failed) and rule in new]


def cause_of(case, rules):
    """That one of `rules`, which are never kept, that all failures of the case follow from. Else None."""
    failed = {one.rule for one in case.judgements if one.verdict == "fail"}
    if case.verdict != "fail" or case.kernel_log or not failed:
        return None
    return next((rule for rule in rules if failed <= CONSEQUENCES[rule] | {rule} and failed != {rule}), None)
