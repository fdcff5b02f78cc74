// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/kverbs/kernel_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace suite::upper_tester::kverbs {

KernelFile::~KernelFile() {
  if (fd_ >= 0) ::close(fd_);
}

int KernelFile::open() {
  fd_ = ::open(RNIC_KAGENT_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  return fd_ < 0 ? errno : 0;
}

int KernelFile::destroy(std::uint32_t handle) const {
  if (handle == 0) return 0;
  rnic_kagent_object object{};
  object.handle = handle;
  return call(RNIC_KAGENT_DESTROY, object);
}

int KernelFile::read(std::vector<rnic_kagent_event>& events, int wait_ms) const {
  if (wait_ms != 0) {
    pollfd readable{fd_, POLLIN, 0};
    if (::poll(&readable, 1, wait_ms) < 0 && errno != EINTR) return errno;
  }
  std::array<rnic_kagent_event, 16> chunk;
  ssize_t count = 0;
  while ((count = ::read(fd_, chunk.data(), sizeof chunk)) > 0)
    events.insert(events.end(), chunk.begin(),
                  chunk.begin() + count / static_cast<ssize_t>(sizeof(rnic_kagent_event)));
  return count < 0 && errno != EAGAIN && errno != EINTR ? errno : 0;
}

KernelMemory& KernelMemory::operator=(KernelMemory&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(start_, other.start_);
  std::swap(size_, other.size_);
  return *this;
}

KernelMemory::~KernelMemory() {
  if (start_ != nullptr) ::munmap(start_, size_);
}

int KernelMemory::make(const KernelFile& file, std::size_t size) {
  rnic_kagent_memory memory{};
  memory.length = size;
  if (const int error = file.call(RNIC_KAGENT_ALLOC_MEMORY, memory); error != 0) return error;
  const auto place = static_cast<off_t>(memory.handle) * ::sysconf(_SC_PAGESIZE);
  void* start =
      ::mmap(nullptr, memory.length, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), place);
  if (start == MAP_FAILED) {
    const int error = errno;
    static_cast<void>(file.destroy(memory.handle));
    return error;
  }
  handle_ = memory.handle;
  start_ = static_cast<std::byte*>(start);
  size_ = memory.length;
  return 0;
}

}  // namespace suite::upper_tester::kverbs
