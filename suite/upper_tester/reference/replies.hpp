// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Answers that many commands of the reference driver share.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>

#include "reference_rnic/verbs/rnic.hpp"
#include "suite/iut/messages.hpp"

namespace suite::upper_tester::reference {

inline constexpr std::uint64_t max_region_octets = std::uint64_t{1} << 30;
inline constexpr std::uint32_t max_inline_octets = 512;

[[nodiscard]] iut::Reply failed(int code, std::string why);
[[nodiscard]] iut::Reply failed(rnic::verbs::Error error, const std::string& what);
/// A removal that cannot be refused, since the driver destroys objects in the right order.
template <typename Result>
void must(const Result& result) {
  assert(result.has_value());
  static_cast<void>(result);
}
/// The handle is 0, taken already, or names nothing.
[[nodiscard]] iut::Reply bad_handle(const std::string& kind, iut::Handle handle);

}  // namespace suite::upper_tester::reference
