// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RNICs and connection managers that are wrong: the decisions of deviations.
#pragma once

#include <span>

#include "reference_rnic/access/decisions.hpp"
#include "reference_rnic/deviants/deviation.hpp"
#include "reference_rnic/verbs/decisions.hpp"

namespace rnic::deviants {

/// The decisions of an RNIC and of each of its streams. With no deviation it conforms.
[[nodiscard]] verbs::RnicDecisions rnic_decisions(std::span<const Deviation> chosen);
[[nodiscard]] access::ConnectionDecisions connection_decisions(std::span<const Deviation> chosen);

}  // namespace rnic::deviants
