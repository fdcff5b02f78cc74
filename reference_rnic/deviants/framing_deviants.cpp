// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of MPA framing: one deviant for each.
#include "reference_rnic/deviants/stream_tables.hpp"

namespace rnic::deviants {

std::span<const StreamRow> framing_deviants() { return {}; }

}  // namespace rnic::deviants
