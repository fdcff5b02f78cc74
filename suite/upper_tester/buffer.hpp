// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Memory that a driver registers.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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
  /// Memory that the process lacks a right to and cannot give to itself (`process_rights` of
  /// RegisterMemory): "read", of a file that it has opened for reading only; "none", beyond the end
  /// of its file. On failure there is no memory, and errno says why.
  Buffer(std::size_t size, std::uint8_t fill, const std::string& process_rights)
      : size_(size), readable_(process_rights == "read"), writable_(false) {
    file_ = ::memfd_create("region", MFD_CLOEXEC);
    const std::vector<std::byte> contents(readable_ ? size : 0, std::byte{fill});
    if (file_ < 0 ||
        ::write(file_, contents.data(), contents.size()) != static_cast<ssize_t>(contents.size()))
      return;
    const std::string path = "/proc/self/fd/" + std::to_string(file_);
    const int reading = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (reading < 0) return;
    void* start = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, reading, 0);
    const int why_not = errno;
    ::close(reading);
    errno = why_not;
    start_ = start == MAP_FAILED ? nullptr : static_cast<std::byte*>(start);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (start_ != nullptr) ::munmap(start_, size_ == 0 ? 1 : size_);
    if (file_ >= 0) ::close(file_);
  }

  /// Gives the process all rights to memory that was made without them.
  [[nodiscard]] bool open_fully() {
    readable_ = writable_ =
        ::ftruncate(file_, static_cast<off_t>(size_)) == 0 &&
        ::mmap(start_, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, 0) == start_;
    return readable_;
  }
  [[nodiscard]] bool readable() const { return readable_; }
  [[nodiscard]] bool writable() const { return writable_; }

  explicit operator bool() const { return start_ != nullptr; }
  [[nodiscard]] std::byte* data() const { return start_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t length) const {
    return offset <= size_ && length <= size_ - offset;
  }

 private:
  std::size_t size_;
  std::byte* start_ = nullptr;
  bool readable_ = true, writable_ = true;
  int file_ = -1;
};

}  // namespace suite::upper_tester
