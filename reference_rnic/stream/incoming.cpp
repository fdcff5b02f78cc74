// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/incoming.hpp"

#include <utility>

namespace rnic::stream {

Fault Incoming::found(wire::TerminateCause cause, const char* detail,
                      std::span<const wire::TerminateCause> also) const {
  // rdmap.terminate.llp-error-no-headers: no header is copied for an error of MPA.
  if (cause.layer == wire::layer::mpa) return {cause, detail, std::nullopt, std::nullopt};
  Fault found = fault(cause, detail);
  found.also = also;
  found.request = read_request();
  return found;
}

/// The Read Request in the segment, if it is one and its header has arrived.
std::optional<wire::ReadRequestHeader> Incoming::read_request() const {
  if (segment.tagged || segment.rdmap().opcode() != wire::Opcode::read_request ||
      segment.payload.size() != sizeof(wire::ReadRequestHeader))
    return std::nullopt;
  return wire::Reader(segment.payload).read<wire::ReadRequestHeader>();
}

bool Incoming::is_made(rules::RuleId permission) const {
  return context.decisions.decide(Choice<bool>{permission, true, either}, &Decisions::checks,
                                  *this);
}

std::optional<Fault> Incoming::judge(rules::RuleId rule, bool good, wire::TerminateCause cause,
                                     const char* detail,
                                     std::span<const wire::TerminateCause> also) const {
  std::optional<Fault> fault;
  if (!good) fault = found(cause, detail, also);
  context.decisions.ask(&Decisions::checked, rule, *this, fault);
  return fault;
}

}  // namespace rnic::stream
