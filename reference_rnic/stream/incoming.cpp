// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/incoming.hpp"

#include <utility>

namespace rnic::stream {

Fault Incoming::found(wire::TerminateCause cause, const char* detail,
                      std::span<const wire::TerminateCause> also) const {
  // rdmap.terminate.llp-error-no-headers: no segment is sent back for an error of MPA.
  if (cause.layer == wire::layer::mpa) return {cause, detail, std::nullopt, std::nullopt};
  Fault found = fault(cause, detail);
  found.also = also;
  return found;
}

bool Incoming::is_made(rules::RuleId permission) const {
  return context.decisions.decide(Choice<bool>{permission, true, either}, &Decisions::checks,
                                  *this);
}

std::optional<Fault> Incoming::ask(rules::RuleId rule, std::optional<Fault> fault) const {
  context.decisions.ask(&Decisions::checked, rule, *this, fault);
  return fault;
}

}  // namespace rnic::stream
