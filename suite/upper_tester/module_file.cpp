// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/module_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace suite::upper_tester {

ModuleFile::~ModuleFile() {
  if (fd_ >= 0) ::close(fd_);
}

int ModuleFile::open(const char* device) {
  fd_ = ::open(device, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  return fd_ < 0 ? errno : 0;
}

ModuleMemory& ModuleMemory::operator=(ModuleMemory&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(start_, other.start_);
  std::swap(size_, other.size_);
  return *this;
}

ModuleMemory::~ModuleMemory() {
  if (start_ != nullptr) ::munmap(start_, size_);
}

int ModuleMemory::map(const ModuleFile& file, std::uint32_t handle, std::size_t size) {
  const auto place = static_cast<off_t>(handle) * ::sysconf(_SC_PAGESIZE);
  void* start = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), place);
  if (start == MAP_FAILED) return errno;
  handle_ = handle;
  start_ = static_cast<std::byte*>(start);
  size_ = size;
  return 0;
}

}  // namespace suite::upper_tester
