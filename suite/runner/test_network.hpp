// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where a run takes place: the network between tester and IUT, and how workers reach the IUT there.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/epoll_loop.hpp"
#include "suite/results/record.hpp"
#include "suite/runner/options.hpp"
#include "suite/runner/worker_messages.hpp"

namespace suite::runner {

class TestNetwork {
 public:
  virtual ~TestNetwork() = default;

  /// What every worker gets; `worker` numbers the slot, from 0.
  [[nodiscard]] virtual WorkerSetup setup(std::uint32_t worker) const = 0;
  [[nodiscard]] virtual const results::LabRecord& record() const = 0;
  /// The IUT's addresses, for the results.
  [[nodiscard]] std::vector<std::string> iut_addresses() const;

  /// The number of workers if --jobs is not given.
  [[nodiscard]] virtual unsigned usual_jobs() const = 0;
  /// The highest number of workers that the IUT can serve.
  [[nodiscard]] virtual unsigned most_jobs() const { return 256; }
  /// Whether a configuration command affects the whole IUT, and not only the worker's own agent.
  [[nodiscard]] virtual bool configuration_is_shared() const { return false; }

  /// Whether the IUT's host may disappear and come back for reasons outside the run.
  [[nodiscard]] virtual bool may_go_away() const { return false; }

  /// The deadline_scale for a case that is known to hang: it may be given up sooner.
  [[nodiscard]] virtual double scale_of_known_hang() const { return setup(0).deadline_scale; }

  /// Calls `make` where the captured interface is visible.
  virtual void at_tester(const std::function<void()>& make) const { make(); }

  /// Lines of the IUT's kernel log since the last call that a healthy kernel does not write (BUG,
  /// WARN, oops, ...); empty: none.
  [[nodiscard]] virtual std::string kernel_complaints() { return {}; }
  /// Whether the IUT's kernel can look for memory that it has lost (kmemleak).
  [[nodiscard]] virtual bool finds_leaks() { return false; }
  using Leaks = std::expected<std::string, std::string>;
  /// Starts to look; calls `done` from the event loop with what was found, as the kernel describes
  /// it, or with the reason why it could not look.
  virtual void look_for_leaks(base::EpollLoop&, std::function<void(Leaks)>) {}
  /// Whether the IUT's host is up; a host that the network itself starts is not up at first.
  [[nodiscard]] virtual bool up() { return true; }
  /// Starts to reset the IUT's host, which has stopped answering or whose kernel has crashed;
  /// false: no command for that is known. The record notes it.
  virtual bool reset(base::EpollLoop&) { return false; }
  /// Whether that command still runs.
  [[nodiscard]] virtual bool resetting() const { return false; }
  using BroughtUp = std::function<void(std::expected<void, std::string>)>;
  /// Starts or restarts the host; calls `done` from the event loop. Until then only the constant
  /// properties of the network may be queried.
  virtual void bring_up(base::EpollLoop& loop, BroughtUp done) {
    loop.defer([done = std::move(done)] { done({}); });
  }
};

using TestNetworkOr = std::expected<std::unique_ptr<TestNetwork>, std::string>;
using TestNetworksOr = std::expected<std::vector<std::unique_ptr<TestNetwork>>, std::string>;
using Tell = std::function<void(const std::string&)>;

/// How many networks the options allow at the same time: more than one if the run itself makes the
/// IUT's host.
[[nodiscard]] std::size_t most_networks(const Options& options);
/// Makes this many networks of the kind that the options ask for; `tell` gets a line about each
/// step that takes long. The error is one line.
[[nodiscard]] TestNetworksOr make_networks(const Options& options, std::size_t count,
                                           const Tell& tell);
/// Makes one network, and brings it up.
[[nodiscard]] TestNetworkOr make_network(const Options& options, const Tell& tell);

}  // namespace suite::runner
