// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Finds in a kernel's log the reports that no correct driver causes: BUG, WARNING, oops, lockdep,
// KASAN, hung tasks, panic.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace suite::lab {

enum class KernelFaultKind {
  panic,
  bug,        ///< BUG at, oops, general protection, bad access
  warning,    ///< WARN_ON and similar
  lockdep,    ///< lock order, unbalanced or inconsistent locking
  sanitizer,  ///< KASAN, KFENCE, KCSAN, UBSAN, KMSAN
  memory,     ///< the slab checks, corrupted lists, reference counts, leaks, out of memory
  stall,      ///< soft or hard lockup, RCU stall, hung task
};
[[nodiscard]] std::string_view name_of(KernelFaultKind kind);

struct KernelFault {
  KernelFaultKind kind;
  std::size_t offset;  ///< of its line in the text
  std::string line;    ///< without time stamp
};

/// Every line of the log that begins such a report, in order.
/// A last line without its end counts too.
[[nodiscard]] std::vector<KernelFault> find_kernel_faults(std::string_view log);

/// Whether it has a panic or an oops, after which what the kernel does says nothing about the
/// implementation any more.
[[nodiscard]] bool tells_of_crash(std::string_view log);

/// The report that begins at `offset`, for people: that line and the next ones, at most `lines`.
[[nodiscard]] std::string kernel_log_excerpt(std::string_view log, std::size_t offset,
                                             std::size_t lines = 40);

}  // namespace suite::lab
