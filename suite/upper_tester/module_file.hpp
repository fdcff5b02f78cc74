// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The open device file of one of our kernel modules, and memory of the module that is mapped here.
#pragma once

#include <sys/ioctl.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace suite::upper_tester {

/// When it is closed, the module frees all that was made through it.
class ModuleFile {
 public:
  ModuleFile() = default;
  ModuleFile(const ModuleFile&) = delete;
  ModuleFile& operator=(const ModuleFile&) = delete;
  ~ModuleFile();

  /// 0 or an errno.
  [[nodiscard]] int open(const char* device);
  [[nodiscard]] int descriptor() const { return fd_; }

  /// One request, by its number in the header; fills in its results. 0 or an errno.
  template <class Argument>
  [[nodiscard]] int call(unsigned long request, Argument& argument) const {
    return ::ioctl(fd_, request, &argument) == 0 ? 0 : errno;
  }

 private:
  int fd_ = -1;
};

/// A memory object of the module, mapped here. Unmapped at its end; the object itself is freed by
/// its owner, after the regions on it.
class ModuleMemory {
 public:
  ModuleMemory() = default;
  ModuleMemory(ModuleMemory&& other) noexcept { *this = std::move(other); }
  ModuleMemory& operator=(ModuleMemory&& other) noexcept;
  ~ModuleMemory();

  /// The object of this handle, which has this many octets. 0 or an errno.
  [[nodiscard]] int map(const ModuleFile& file, std::uint32_t handle, std::size_t size);
  [[nodiscard]] std::uint32_t handle() const { return handle_; }
  [[nodiscard]] std::byte* data() const { return start_; }

 private:
  std::uint32_t handle_ = 0;
  std::byte* start_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace suite::upper_tester
