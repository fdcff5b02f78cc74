// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The network to an IUT on a host of its own, the DUT: its kernel's log is followed if that is
// permitted, and it is reset if the PIXIT says how.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "suite/lab/host_kernel_log.hpp"
#include "suite/runner/test_network.hpp"

namespace suite::runner {

class DutNetwork final : public TestNetwork {
 public:
  struct Access {
    std::optional<lab::HostKernelLog::Reach> kernel_log;  ///< nothing: it cannot be reached
    std::filesystem::path log_file;                       ///< what is followed goes there
    std::vector<std::string> reset_command;               ///< empty: there is none
  };
  DutNetwork(WorkerSetup setup, results::LabRecord record, Access access, Tell tell);
  ~DutNetwork() override;

  WorkerSetup setup(std::uint32_t) const override { return setup_; }
  const results::LabRecord& record() const override { return record_; }
  unsigned usual_jobs() const override { return 4; }
  bool configuration_is_shared() const override { return true; }
  bool may_go_away() const override { return true; }
  std::string kernel_complaints() override;
  /// Waits until the kernel's log is followed, or cannot be.
  void bring_up(base::EpollLoop& loop, BroughtUp done) override;
  bool reset(base::EpollLoop& loop) override;
  bool resetting() const override { return reset_.has_value(); }

 private:
  void await_log();
  void log_is_settled();
  void note(const std::string& text);

  WorkerSetup setup_;
  results::LabRecord record_;
  Access access_;
  Tell tell_;
  std::optional<lab::HostKernelLog> kernel_log_;
  bool follows_ = false;  ///< when it was last looked at
  base::EpollLoop* loop_ = nullptr;
  BroughtUp brought_up_;
  std::optional<base::TimerId> patience_;  ///< of the wait until the log is followed
  std::optional<base::Process> reset_;
};

/// How the log of the IUT's kernel is reached; nothing: it is not known on which host the agent runs.
[[nodiscard]] std::optional<lab::HostKernelLog::Reach> kernel_log_of(const Options& options);

}  // namespace suite::runner
