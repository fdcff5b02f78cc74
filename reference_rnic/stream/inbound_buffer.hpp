// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The octets of one stream from the LLP about which nothing is known yet.
#pragma once

#include <cassert>
#include <cstring>
#include <vector>

#include "reference_rnic/stream/receive_scratch.hpp"

namespace rnic::stream {

/// A linear buffer: octets are committed at the tail and consumed from the front. It lies in the
/// scratch from reserve() on, until another stream needs that.
class InboundBuffer {
 public:
  explicit InboundBuffer(ReceiveScratch& scratch) : scratch_(scratch) {}
  ~InboundBuffer() {
    if (borrows()) scratch_.borrower_ = nullptr;
  }
  InboundBuffer(const InboundBuffer&) = delete;
  InboundBuffer& operator=(const InboundBuffer&) = delete;

  /// Makes room for `length` octets in all, including those that are here already, and moves these
  /// to the front if that helps.
  void reserve(std::size_t length) {
    borrow();
    std::vector<std::byte>& memory = scratch_.memory_;
    if (memory.size() - begin_ >= length) return;
    if (memory.size() < length) {
      std::vector<std::byte> larger(length);
      copy(larger, memory);
      memory = std::move(larger);
    } else if (end_ != begin_) {
      std::memmove(memory.data(), memory.data() + begin_, end_ - begin_);
    }
    end_ -= begin_;
    begin_ = 0;
  }
  /// After reserve(), and until another stream calls that.
  [[nodiscard]] wire::MutableBytes tail() {
    return wire::MutableBytes(scratch_.memory_).subspan(end_);
  }
  void commit(std::size_t count) {
    assert(count == 0 || borrows());
    end_ += count;
  }
  [[nodiscard]] wire::Bytes view() const {
    return wire::Bytes(borrows() ? scratch_.memory_ : kept_).subspan(begin_, end_ - begin_);
  }
  void consume(std::size_t count) {
    begin_ += count;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  void clear() { begin_ = end_ = 0; }

 private:
  [[nodiscard]] bool borrows() const { return scratch_.borrower_ == this; }
  void borrow() {
    if (borrows()) return;
    if (scratch_.borrower_ != nullptr) scratch_.borrower_->give_back();
    const wire::Bytes waiting = view();
    if (scratch_.memory_.size() < waiting.size()) scratch_.memory_.resize(waiting.size());
    copy(scratch_.memory_, kept_);
    kept_ = {};
    end_ -= begin_;
    begin_ = 0;
    scratch_.borrower_ = this;
  }
  void give_back() {
    const wire::Bytes waiting = view();
    kept_.assign(waiting.begin(), waiting.end());
    end_ -= begin_;
    begin_ = 0;
    scratch_.borrower_ = nullptr;
  }
  void copy(std::vector<std::byte>& to, const std::vector<std::byte>& from) const {
    if (end_ != begin_) std::memcpy(to.data(), from.data() + begin_, end_ - begin_);
  }

  ReceiveScratch& scratch_;
  std::vector<std::byte> kept_;  ///< what waits while another stream has the scratch
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace rnic::stream
