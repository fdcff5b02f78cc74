// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A worker's test bed: its event loop, the tester's network and the IUT, made according to the
// parent's setup.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "suite/runner/suite_parts.hpp"
#include "suite/runner/worker_messages.hpp"

namespace suite::runner {

class TestBed {
 public:
  virtual ~TestBed() = default;
  /// Makes sure that the IUT answers; starts or restarts its agent if necessary. The error is one
  /// line.
  [[nodiscard]] virtual std::expected<void, std::string> revive() = 0;
  /// Only after a revive() that succeeded.
  [[nodiscard]] virtual cases::Environment& environment() = 0;
  /// What the agent wrote to its stderr since the last call.
  [[nodiscard]] virtual std::string take_diagnostics() { return {}; }
};

/// Applies deadlines, PICS and strictness of the setup.
void apply(const WorkerSetup& setup, cases::Environment& environment);

/// The error is one line.
[[nodiscard]] std::expected<std::unique_ptr<TestBed>, std::string> make_test_bed(
    const WorkerSetup& setup, const SuiteParts& parts);

}  // namespace suite::runner
