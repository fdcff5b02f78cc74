// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/verbs/memory_rights.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace rnic::verbs {

namespace {

/// A library in user space shares the rights of its consumer, so it asks the one that grants them.
/// Access on trial would end the process with a signal.
bool populate(std::uintptr_t begin, std::size_t length, int advice) {
  return ::madvise(reinterpret_cast<void*>(begin), length, advice) == 0;
}

bool host_can_tell(std::uintptr_t page_size) {
  const char on_the_stack = 0;
  const auto page = reinterpret_cast<std::uintptr_t>(&on_the_stack) & ~(page_size - 1);
  return populate(page, page_size, MADV_POPULATE_READ);
}

}  // namespace

bool process_may_access(wire::Bytes memory, const Access& access) {
  if (memory.empty()) return true;
  const auto page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t begin = first & ~(page_size - 1);
  return populate(begin, first + memory.size() - begin,
                  is_written(access) ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) ||
         !host_can_tell(page_size);
}

}  // namespace rnic::verbs
