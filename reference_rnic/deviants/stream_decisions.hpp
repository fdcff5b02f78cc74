// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Streams that are wrong: the decisions of deviations for one stream.
#pragma once

#include <span>

#include "reference_rnic/deviants/deviation.hpp"
#include "reference_rnic/stream/decisions.hpp"

namespace rnic::deviants {

/// The decisions of one stream. With no deviation it conforms.
[[nodiscard]] stream::StreamDecisions stream_decisions(std::span<const Deviation> chosen);

/// Turns one deviation of a stream on or off while it runs.
void choose(stream::StreamDecisions& decisions, Deviation deviation, bool on);

}  // namespace rnic::deviants
