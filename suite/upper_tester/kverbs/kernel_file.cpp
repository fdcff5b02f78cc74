// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/kverbs/kernel_file.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>

namespace suite::upper_tester::kverbs {

int KernelFile::destroy(std::uint32_t handle) const {
  if (handle == 0) return 0;
  rnic_kagent_object object{};
  object.handle = handle;
  return call(RNIC_KAGENT_DESTROY, object);
}

int KernelFile::read(std::vector<rnic_kagent_event>& events, int wait_ms) const {
  if (wait_ms != 0) {
    pollfd readable{descriptor(), POLLIN, 0};
    if (::poll(&readable, 1, wait_ms) < 0 && errno != EINTR) return errno;
  }
  std::array<rnic_kagent_event, 16> chunk;
  ssize_t count = 0;
  while ((count = ::read(descriptor(), chunk.data(), sizeof chunk)) > 0)
    events.insert(events.end(), chunk.begin(),
                  chunk.begin() + count / static_cast<ssize_t>(sizeof(rnic_kagent_event)));
  return count < 0 && errno != EAGAIN && errno != EINTR ? errno : 0;
}

int KernelFile::make(ModuleMemory& memory, std::size_t size) const {
  rnic_kagent_memory made{};
  made.length = size;
  if (const int error = call(RNIC_KAGENT_ALLOC_MEMORY, made); error != 0) return error;
  const int error = memory.map(*this, made.handle, made.length);
  if (error != 0) static_cast<void>(destroy(made.handle));
  return error;
}

}  // namespace suite::upper_tester::kverbs
