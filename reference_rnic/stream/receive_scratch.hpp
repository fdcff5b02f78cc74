// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Memory for octets on their way in, lent to one stream after another: a stream that has received
// nothing in part needs none of its own, however many there are.
#pragma once

#include <vector>

#include "reference_rnic/wire/bytes.hpp"

namespace rnic::stream {

class InboundBuffer;

class ReceiveScratch {
 public:
  /// For an FPDU without its Markers. Valid until the next call.
  [[nodiscard]] wire::MutableBytes stripped(std::size_t length) {
    if (stripped_.size() < length) stripped_.resize(length);
    return wire::MutableBytes(stripped_).first(length);
  }

 private:
  friend class InboundBuffer;
  std::vector<std::byte> memory_, stripped_;
  InboundBuffer* borrower_ = nullptr;
};

}  // namespace rnic::stream
