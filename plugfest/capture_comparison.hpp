// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether captures of one cell at several places show the same octets.
#pragma once

#include <string>

#include "plugfest/capture_point.hpp"

namespace plugfest {

/// The two ends of the cell: literals.
struct CellAddresses {
  std::string initiator, responder;
};

/// What two captures show differently of the TCP streams between these addresses, in one line; empty:
/// nothing. What a capture lacks is no difference if it has trouble, which explains it.
[[nodiscard]] std::string difference(const Captured& one, const Captured& other,
                                     const CellAddresses& addresses);

}  // namespace plugfest
