// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the STags that a peer has been given reveal about the next one (RFC 5042 section 6.1.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace suite::lower_tester {

struct StagGuess {
  /// How many of the STags, or of the steps between them, the guess fits.
  std::size_t hits = 0;
  /// What it adds.
  std::uint32_t difference = 0;
};

/// The next STag as the one before plus a constant: the best such guess.
[[nodiscard]] StagGuess guess_by_step(std::span<const std::uint32_t> stags);
/// The key, which is the low octet of an STag, as one of the octets above it (the index) plus a
/// constant: the best such guess. A key that is often the same adds nothing to the index, and then
/// no relation between the two counts.
[[nodiscard]] StagGuess guess_key_by_index(std::span<const std::uint32_t> stags);

}  // namespace suite::lower_tester
