# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Why a judgement counts as it does: the effect of the rule's level."""


def of(judgement, rule, strict):
    """A sentence where the verdict does not follow from a MUST alone; else empty."""
    if judgement.verdict == "advisory":
        return advises(rule)
    if judgement.verdict == "also_seen":
        return "The case is about something else: the run reports it once, as a finding."
    if judgement.verdict == "fail" and rule.level == "should" and strict:
        return "A SHOULD that is not kept fails, since the run is --strict."
    if judgement.verdict == "inconclusive":
        return "The case could not get to its point, so nothing is said of the rule."
    return ""


def advises(rule):
    if rule.level == "should":
        return "A SHOULD that is not kept is an advisory; with --strict it fails."
    if rule.level == "may":
        return "A MAY: what came is lawful, and worth knowing."
    return "Lawful, and worth knowing."
