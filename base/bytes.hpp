// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Octets by reference.
#pragma once

#include <cstddef>
#include <span>

namespace base {

/// A view: it must not be used after the end of the memory that it refers to.
using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

}  // namespace base
