// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The open /dev/rnic_kagent: requests, events and the module's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "suite/upper_tester/kernel/rnic_kagent_uapi.h"
#include "suite/upper_tester/module_file.hpp"

namespace suite::upper_tester::kverbs {

class KernelFile : public ModuleFile {
 public:
  /// 0 or an errno.
  [[nodiscard]] int open() { return ModuleFile::open(RNIC_KAGENT_DEVICE); }

  /// Of a handle of any kind; 0, which is none, is destroyed at once.
  [[nodiscard]] int destroy(std::uint32_t handle) const;
  /// New memory, mapped. 0 or an errno; then nothing was made.
  [[nodiscard]] int make(ModuleMemory& memory, std::size_t size) const;

  /// Waits for events for at most this long and appends those that there are. 0 or an errno.
  [[nodiscard]] int read(std::vector<rnic_kagent_event>& events, int wait_ms) const;
};

}  // namespace suite::upper_tester::kverbs
