// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Memory that a driver registers.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace suite::upper_tester {

/// No test needs more, and a mistyped length must not use up the host's memory.
constexpr std::uint64_t max_region = std::uint64_t{1} << 30;

/// Page-aligned memory of its own, so that a registration shares no page with anything else.
class Buffer {
 public:
  explicit Buffer(std::size_t size) : size_(size) {
    void* start = ::mmap(nullptr, size == 0 ? 1 : size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start_ = start == MAP_FAILED ? nullptr : static_cast<std::byte*>(start);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (start_ != nullptr) ::munmap(start_, size_ == 0 ? 1 : size_);
  }

  explicit operator bool() const { return start_ != nullptr; }
  [[nodiscard]] std::byte* data() const { return start_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t length) const {
    return offset <= size_ && length <= size_ - offset;
  }

 private:
  std::size_t size_;
  std::byte* start_ = nullptr;
};

}  // namespace suite::upper_tester
