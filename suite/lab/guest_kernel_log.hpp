// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The faults that the kernel of a guest reports between one look at its log and the next.
#pragma once

#include <cstdint>
#include <string>

#include "suite/lab/siw_guest.hpp"

namespace suite::lab {

class GuestKernelLog {
 public:
  /// The guest outlives it.
  explicit GuestKernelLog(Guest& guest) : guest_(guest) {}

  /// The guest has been started: ignores what its kernel has written so far.
  void begin();

  struct Look {
    /// The report that the kernel wrote, or how the guest ended; empty: neither. An end is reported
    /// once.
    std::string complaint;
    /// All that the kernel has written since the last look.
    std::string log;
    /// The guest has confirmed that all of its log has arrived.
    bool answers = false;
  };
  /// After an oops, waits until the guest has ended: what the kernel writes until then belongs to
  /// the same report, and nothing else may begin before.
  [[nodiscard]] Look look();

 private:
  void read(std::string& log);

  Guest& guest_;
  std::uint64_t position_ = 0;  ///< after the lines that were looked at
  bool death_told_ = false;
};

}  // namespace suite::lab
