// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The rules that deviations break besides the one that each is listed with.
#pragma once

#include "reference_rnic/deviants/deviation.hpp"

namespace rnic::deviants {

struct AlsoBreaks {
  Deviation deviation;
  std::string_view rule;  ///< not the one of its line in deviations.def
};

/// All lines of also_breaks.def.
[[nodiscard]] std::span<const AlsoBreaks> also_breaks();

}  // namespace rnic::deviants
