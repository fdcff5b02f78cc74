// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The open /dev/rnic_kagent: requests, events and the module's memory.
#pragma once

#include <sys/ioctl.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "suite/upper_tester/kernel/rnic_kagent_uapi.h"

namespace suite::upper_tester::kverbs {

class KernelFile {
 public:
  KernelFile() = default;
  KernelFile(const KernelFile&) = delete;
  KernelFile& operator=(const KernelFile&) = delete;
  ~KernelFile();

  /// 0 or an errno.
  [[nodiscard]] int open();
  [[nodiscard]] int descriptor() const { return fd_; }

  /// One request, by its number in the header; fills in its results. 0 or an errno.
  template <class Argument>
  [[nodiscard]] int call(unsigned long request, Argument& argument) const {
    return ::ioctl(fd_, request, &argument) == 0 ? 0 : errno;
  }
  /// Of a handle of any kind; 0, which is none, is destroyed at once.
  [[nodiscard]] int destroy(std::uint32_t handle) const;

  /// Waits for events for at most this long and appends those that there are. 0 or an errno.
  [[nodiscard]] int read(std::vector<rnic_kagent_event>& events, int wait_ms) const;

 private:
  int fd_ = -1;
};

/// A memory object of the module, mapped here. Unmapped at its end; the object itself is destroyed
/// by its owner, after the regions on it.
class KernelMemory {
 public:
  KernelMemory() = default;
  KernelMemory(KernelMemory&& other) noexcept { *this = std::move(other); }
  KernelMemory& operator=(KernelMemory&& other) noexcept;
  ~KernelMemory();

  /// 0 or an errno; then nothing was made.
  [[nodiscard]] int make(const KernelFile& file, std::size_t size);
  [[nodiscard]] std::uint32_t handle() const { return handle_; }
  [[nodiscard]] std::byte* data() const { return start_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t length) const {
    return offset <= size_ && length <= size_ - offset;
  }

 private:
  std::uint32_t handle_ = 0;
  std::byte* start_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace suite::upper_tester::kverbs
