// SPDX-License-Identifier: GPL-2.0-or-later
// The FPDUs of one frame in as few octets as possible: a capture may have hundreds of millions of
// them, and what is known of each is kept as long as the file is open.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dissectors/wireshark/fpdu_fact.hpp"

namespace dissectors::wireshark {

/// One pointer; everything else is in the octets that it points to: some 20 to 40 for an FPDU whose
/// ULPDU is in the frame, and one if it continues a row of messages that are alike.
class PackedFpdus {
 public:
  /// Appends FPDUs. `frame` is the number of the frame that this belongs to.
  void add(std::span<const FpduFact> facts, std::uint32_t frame);
  /// All of them, in the order of their addition, with everything but FpduFact::place::time and
  /// FpduFact::joined_in. `octets` are those of the frame.
  [[nodiscard]] std::vector<FpduFact> unpacked(std::uint32_t frame,
                                               std::span<const std::byte> octets) const;
  [[nodiscard]] bool empty() const { return octets_ == nullptr; }

 private:
  void append(std::span<const std::byte> record);

  std::unique_ptr<std::byte[]> octets_;  ///< first how many follow, as 32 bits in host order
};

}  // namespace dissectors::wireshark
