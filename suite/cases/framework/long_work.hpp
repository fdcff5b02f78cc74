// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Work on whole regions, for cases that keep the IUT busy: long enough to be interrupted, or posted
// again and again.
#pragma once

#include "suite/cases/framework/body.hpp"

namespace suite::cases {

/// Work on all octets of a region; the case sets the other members that its operation needs.
[[nodiscard]] inline iut::PostWork work_on(const Region& region, const char* operation,
                                           iut::Handle endpoint = 0) {
  iut::PostWork work;
  work.endpoint = endpoint;
  work.operation = operation;
  work.pieces = {{region.handle, 0, static_cast<std::uint32_t>(region.length)}};
  return work;
}

/// A Send of much_data().
[[nodiscard]] inline Work post_much(Consumer& iut) {
  return iut.post(work_on(iut.register_memory(much_data().size()), iut::operation::send));
}

}  // namespace suite::cases
