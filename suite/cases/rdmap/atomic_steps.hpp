// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Steps that the files of Atomics share: memory to work on, Requests of the IUT, and Responses.
#pragma once

#include "suite/cases/framework/body.hpp"

namespace suite::cases {

/// Its octets are the same in both byte orders, so it can be put in memory whatever the IUT's byte
/// order is.
inline constexpr std::uint64_t symmetric = 0x1122334444332211;
inline constexpr std::uint64_t other_value = 0x0102030405060708;
inline constexpr std::uint32_t fetch_add_code = 0, compare_swap_code = 2;

/// Most significant first, as on the wire.
[[nodiscard]] Octets octets_of(std::uint64_t value);

/// Memory for Atomics that holds `value`, which must be the same in both byte orders.
[[nodiscard]] Region word_of(Body& test, std::uint64_t value = symmetric);
/// The next Atomic Response returns `value`.
void expect_original(Body& test, std::uint64_t value, RuleRef rule);
/// The value that the next Atomic Response returns.
[[nodiscard]] std::uint64_t original_from(Body& test, WireEnd& from, RuleRef rule);

/// Work of the IUT as Requester, with a buffer for the original value.
[[nodiscard]] Work post_atomic(Body& test, const char* kind, std::uint64_t add_or_swap,
                               std::uint64_t compare = 0,
                               std::uint64_t remote_offset = 0x1000000020);
[[nodiscard]] AtomicRequestFields expect_request(Body& test);

}  // namespace suite::cases
