// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The scratch memory for octets from the LLP about which nothing is known yet.
#pragma once

#include <cstring>
#include <vector>

#include "reference_rnic/wire/bytes.hpp"

namespace rnic::stream {

/// A linear buffer: octets are committed at the tail and consumed from the front.
class InboundBuffer {
 public:
  /// Makes room for `length` octets in all, including those that are here already, and moves these
  /// to the front if that helps.
  void reserve(std::size_t length) {
    if (memory_.size() - begin_ >= length) return;
    if (memory_.size() < length) {
      std::vector<std::byte> larger(length);
      if (end_ != begin_) std::memcpy(larger.data(), memory_.data() + begin_, end_ - begin_);
      memory_ = std::move(larger);
    } else if (end_ != begin_) {
      std::memmove(memory_.data(), memory_.data() + begin_, end_ - begin_);
    }
    end_ -= begin_;
    begin_ = 0;
  }
  [[nodiscard]] wire::MutableBytes tail() { return wire::MutableBytes(memory_).subspan(end_); }
  void commit(std::size_t count) { end_ += count; }
  [[nodiscard]] wire::Bytes view() const {
    return wire::Bytes(memory_).subspan(begin_, end_ - begin_);
  }
  void consume(std::size_t count) {
    begin_ += count;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  void clear() { begin_ = end_ = 0; }

 private:
  std::vector<std::byte> memory_;
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace rnic::stream
