// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Octets that their holder owns. C++17, for the agent's own build.
#pragma once

#include <cstddef>
#include <vector>

namespace base {

using Octets = std::vector<std::byte>;

}  // namespace base
