// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/startup_faults.hpp"

#include <algorithm>

namespace suite::sessions {

namespace {

using Fault = StartupFault;

const std::vector<StartupFaultInfo>& faults() {
  static const std::vector<StartupFaultInfo> list{
      {Fault::nothing, StartupEnd::up, {}, {}},
      {Fault::reserved_bits,
       StartupEnd::up,
       {"mpa.startup.reserved-bits-ignored", "mpa.enhanced.reserved-bits-ignored"},
       {"mpa.startup.reserved-bits-ignored", "mpa.enhanced.reserved-bits-ignored"}},
      {Fault::reserved_s_bit, StartupEnd::up, {"mpa.startup.reserved-bits-ignored"}, {}},
      {Fault::rejection_bit, StartupEnd::refused, {"mpa.startup.request-r-ignored"}, {}},
      {Fault::rtr_flags_without_a,
       StartupEnd::up,
       {"mpa.enhanced.rtr-flags-ignored-without-a"},
       {"mpa.enhanced.rtr-flags-ignored-without-a"}},
      {Fault::in_pieces,
       StartupEnd::up,
       {"mpa.startup.responder-waits-for-request"},
       {"mpa.startup.initiator-validates-reply"}},
      {Fault::longest_private_data,
       StartupEnd::up,
       {"mpa.private-data.accepts-up-to-512", "mpa.private-data.buffer-large-enough"},
       {"mpa.private-data.accepts-up-to-512", "mpa.private-data.buffer-large-enough"}},
      {Fault::beside_half_open, StartupEnd::up, {"mpa.startup.acceptable-request-accepted"}, {}},
      {Fault::beside_malformed,
       StartupEnd::up,
       {"mpa.startup.bad-request-closes-tcp", "mpa.startup.acceptable-request-accepted"},
       {}},
      {Fault::wrong_key,
       StartupEnd::closed,
       {"mpa.startup.responder-checks-key", "mpa.startup.bad-request-closes-tcp",
        "mpa.startup.key-mismatch-closes", "mpa.startup.responder-reports-bad-key"},
       {"mpa.startup.initiator-checks-key", "mpa.startup.bad-reply-closes-tcp",
        "mpa.startup.key-mismatch-closes", "mpa.startup.initiator-reports-bad-key"}},
      {Fault::key_of_other_side,
       StartupEnd::closed,
       {"mpa.startup.responder-checks-key", "mpa.startup.bad-request-closes-tcp"},
       {"mpa.startup.double-initiator-detected", "mpa.startup.initiator-checks-key",
        "mpa.startup.bad-reply-closes-tcp"}},
      {Fault::revision_zero,
       StartupEnd::closed_or_advisory,
       {"mpa.startup.revision-checked", "mpa.startup.unsupported-revision-closes"},
       {"mpa.startup.revision-checked", "mpa.startup.unsupported-revision-closes",
        "mpa.startup.unsupported-revision-reported"}},
      {Fault::later_revision,
       StartupEnd::closed_or_advisory,
       {"mpa.startup.revision-checked", "mpa.startup.unsupported-revision-closes"},
       {"mpa.startup.revision-checked", "mpa.startup.unsupported-revision-closes",
        "mpa.startup.unsupported-revision-reported"}},
      {Fault::oversize_private_data,
       StartupEnd::closed,
       {"mpa.private-data.oversize-closes", "mpa.private-data.failed-check-is-bad-frame",
        "mpa.startup.bad-request-closes-tcp"},
       {"mpa.private-data.oversize-closes", "mpa.private-data.failed-check-is-bad-frame",
        "mpa.startup.bad-reply-closes-tcp", "mpa.private-data.oversize-reported"}},
      {Fault::short_enhanced_data,
       StartupEnd::closed_or_advisory,
       {"mpa.enhanced.short-private-data-is-bad-frame"},
       {"mpa.enhanced.short-private-data-is-bad-frame"}},
      {Fault::enhanced_for_revision_one,
       StartupEnd::closed,
       {"mpa.enhanced.unenhanced-responder-closes"},
       {}},
      {Fault::octets_after_frame,
       StartupEnd::closed_or_advisory,
       {"mpa.private-data.length-mismatch-closes"},
       {}},
      {Fault::cut_short,
       StartupEnd::closed,
       {"mpa.private-data.length-field-validated", "mpa.private-data.length-mismatch-closes"},
       {"mpa.private-data.length-mismatch-reported", "mpa.private-data.length-field-validated"}},
      {Fault::closed_at_once,
       StartupEnd::closed,
       {"mpa.terminate.tcp-loss-detected"},
       {"mpa.enhanced.unsupported-reported-locally", "mpa.terminate.tcp-loss-detected"}},
      {Fault::no_frame,
       StartupEnd::closed_or_advisory,
       {"mpa.startup.responder-times-out", "mpa.startup.frames-time-out"},
       {"mpa.startup.frames-time-out"}},
      {Fault::half_a_frame,
       StartupEnd::closed_or_advisory,
       {"mpa.startup.frames-time-out"},
       {"mpa.startup.frames-time-out"}},
      {Fault::rejected,
       StartupEnd::refused,
       {"mpa.startup.reply-r-tells-rejection", "mpa.startup.rejecting-responder-exits-mpa",
        "mpa.startup.rejecting-responder-keeps-tcp"},
       {"mpa.startup.reply-r-tells-rejection", "mpa.startup.rejected-initiator-exits-mpa"}},
      {Fault::gone_before_accept, StartupEnd::refused, {"mpa.terminate.tcp-loss-detected"}, {}},
      {Fault::insufficient_ird,
       StartupEnd::refused,
       {},
       {"mpa.enhanced.insufficient-ird-sends-term", "mpa.enhanced.insufficient-ird-code-six",
        "mpa.enhanced.error-codes-five-six-seven",
        "mpa.enhanced.insufficient-ird-ends-connection"}},
      {Fault::no_common_rtr,
       StartupEnd::refused,
       {},
       {"mpa.enhanced.no-rtr-match-sends-term", "mpa.enhanced.no-rtr-match-code-seven",
        "mpa.enhanced.error-codes-five-six-seven", "mpa.enhanced.no-rtr-match-ends-connection"}},
      {Fault::no_rtr_stated,
       StartupEnd::refused,
       {},
       {"mpa.enhanced.no-rtr-match-sends-term", "mpa.enhanced.no-rtr-match-code-seven",
        "mpa.enhanced.no-rtr-match-ends-connection"}}};
  return list;
}

}  // namespace

const StartupFaultInfo& info_of(StartupFault fault) {
  return *std::ranges::find(faults(), fault, &StartupFaultInfo::fault);
}

const std::vector<std::string>& rules_of(StartupFault fault, bool iut_initiates) {
  const StartupFaultInfo& info = info_of(fault);
  return iut_initiates ? info.as_initiator : info.as_responder;
}

bool exists(StartupFault fault, bool iut_initiates) {
  return fault == StartupFault::nothing || !rules_of(fault, iut_initiates).empty();
}

}  // namespace suite::sessions
