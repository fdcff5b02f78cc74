// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the kernel of a guest complains of between one look at its log and the next.
#pragma once

#include <cstdint>
#include <string>

#include "suite/lab/guest.hpp"

namespace suite::lab {

class GuestKernelLog {
 public:
  /// The guest outlives it.
  explicit GuestKernelLog(Guest& guest) : guest_(guest) {}

  /// The guest has been started: what its kernel has written so far is not looked at.
  void begin();

  struct Look {
    /// The report that the kernel wrote, or how the guest died; empty: neither. A death is told once.
    std::string complaint;
    /// All that the kernel has written since the last look.
    std::string log;
    /// The guest has said that its log is out.
    bool answers = false;
  };
  /// After an oops it waits until the guest is dead: what the kernel writes until then belongs to
  /// the same complaint, and nothing else is to begin meanwhile.
  [[nodiscard]] Look look();

 private:
  void read(std::string& log);

  Guest& guest_;
  std::uint64_t position_ = 0;  ///< after what was looked at
  bool death_told_ = false;
};

}  // namespace suite::lab
