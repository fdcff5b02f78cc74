// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/deviants/also_breaks.hpp"

#include "rules/rule_id.hpp"

namespace rnic::deviants {
namespace {

constexpr AlsoBreaks table[] = {
#define RNIC_ALSO_BREAKS(deviation, rule) {Deviation::deviation, rules::RuleId(rule).id},
#include "reference_rnic/deviants/also_breaks.def"
#undef RNIC_ALSO_BREAKS
};

}  // namespace

std::span<const AlsoBreaks> also_breaks() { return table; }

}  // namespace rnic::deviants
