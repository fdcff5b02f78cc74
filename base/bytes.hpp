// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Octets by reference.
#pragma once

#include <cstddef>
#include <span>

namespace base {

/// Whoever is handed one must not outlive the memory behind it.
using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

}  // namespace base
