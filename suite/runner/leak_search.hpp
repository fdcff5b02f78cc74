// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The look for memory that the kernel of a guest has lost: a command that takes a minute, beside
// the event loop.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/epoll_loop.hpp"
#include "base/file_descriptor.hpp"
#include "base/process.hpp"
#include "suite/runner/test_network.hpp"

namespace suite::runner {

class LeakSearch {
 public:
  LeakSearch() = default;
  LeakSearch(const LeakSearch&) = delete;
  LeakSearch& operator=(const LeakSearch&) = delete;
  ~LeakSearch();

  using Done = std::function<void(const TestNetwork::Leaks&)>;
  /// Runs the command, and calls `done` from the event loop with what it has printed. An error is
  /// one line. One search at a time.
  void start(base::EpollLoop& loop, const std::vector<std::string>& command, Done done);

 private:
  void ended();
  void forget();

  base::EpollLoop* loop_ = nullptr;  ///< null: no search is under way
  std::optional<base::Process> process_;
  base::FileDescriptor printed_;
  std::optional<base::TimerId> patience_;
  Done done_;
};

}  // namespace suite::runner
