// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of the connection manager: one deviant for each.
#include "reference_rnic/deviants/rnic_tables.hpp"

namespace rnic::deviants {

std::span<const ConnectionRow> connection_deviants() { return {}; }

}  // namespace rnic::deviants
