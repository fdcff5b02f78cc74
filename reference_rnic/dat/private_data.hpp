// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Private data as the connection calls take it: a size and a pointer.
#pragma once

#include <cstddef>
#include <expected>
#include <span>

#include "reference_rnic/dat/ia.hpp"

namespace rnic::dat {

/// `position` is the parameter of the size; the pointer follows it.
[[nodiscard]] inline std::expected<std::span<const std::byte>, DAT_RETURN> read_private_data(
    DAT_COUNT size, const void* data, int position) {
  if (size < 0 || size > limits::private_data) return std::unexpected(invalid_parameter(position));
  if (size > 0 && data == nullptr) return std::unexpected(invalid_parameter(position + 1));
  return std::span(static_cast<const std::byte*>(data), static_cast<std::size_t>(size));
}

}  // namespace rnic::dat
