// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Brings memory into the cache before it is read.
#pragma once

#include <algorithm>

#include "base/bytes.hpp"

namespace base {

/// Returns at once, and changes nothing but the time that it takes to read these octets soon. Of many,
/// the processor fetches the rest by itself once they are read in order; a usual frame is fetched whole.
[[gnu::always_inline]] inline void fetch_ahead(Bytes octets) {
  // Inline always: GCC takes a function that does nothing else for one without effect, and removes the calls.
  constexpr std::size_t cache_line = 64, most = 2048;
  for (std::size_t at = 0; at < std::min(octets.size(), most); at += cache_line)
    __builtin_prefetch(octets.data() + at);
}

}  // namespace base
