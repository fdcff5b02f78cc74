// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The rule that something unexpected breaks, where it shows by itself which one.
#pragma once

#include "reference_rnic/wire/ddp.hpp"
#include "suite/cases/framework/rule_ref.hpp"
#include "suite/lower_tester/arrival.hpp"

namespace suite::cases {

/// `awaited`: the rule of the expectation, which is the one broken unless `came` shows another.
[[nodiscard]] inline RuleRef rule_broken_by(const lower_tester::Arrival& came,
                                            const RuleRef& awaited) {
  namespace wire = rnic::wire;
  const auto terminate = came.terminate();
  const bool blames_empty_segment = terminate && terminate->cause.layer == wire::layer::ddp &&
                                    terminate->cause.type == wire::error_type::ddp_tagged &&
                                    terminate->cause != wire::cause::ddp_tagged_invalid_version &&
                                    terminate->segment_length == wire::tagged_header_size;
  // RFC 5041 section 5.2: STag and TO of an empty segment are not checked.
  return blames_empty_segment ? RuleRef("ddp.tagged.zero-length-unchecked") : awaited;
}

}  // namespace suite::cases
