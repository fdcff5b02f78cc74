// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Streams, RNICs and connection managers that use permissions: the decisions of lawful variants.
#pragma once

#include <span>

#include "reference_rnic/access/decisions.hpp"
#include "reference_rnic/lawful/lawful.hpp"
#include "reference_rnic/verbs/decisions.hpp"

namespace rnic::lawful {

/// None chosen: an empty chain.
[[nodiscard]] stream::StreamDecisions stream_decisions(std::span<const Lawful> chosen);
[[nodiscard]] verbs::RnicDecisions rnic_decisions(std::span<const Lawful> chosen);
[[nodiscard]] access::ConnectionDecisions connection_decisions(std::span<const Lawful> chosen);

}  // namespace rnic::lawful
