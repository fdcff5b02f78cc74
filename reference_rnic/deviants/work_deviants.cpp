// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of posted work and the Requests of the peer: one deviant for each.
#include "reference_rnic/deviants/stream_tables.hpp"

namespace rnic::deviants {

std::span<const StreamRow> work_deviants() { return {}; }

}  // namespace rnic::deviants
