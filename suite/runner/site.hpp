// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where a run takes place: the network between tester and IUT, and how workers reach the IUT there.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "suite/results/record.hpp"
#include "suite/runner/options.hpp"
#include "suite/runner/worker_words.hpp"

namespace suite::runner {

class Site {
 public:
  virtual ~Site() = default;

  /// What every worker gets; `worker` numbers the seat, from 0.
  [[nodiscard]] virtual WorkerSetup setup(std::uint32_t worker) const = 0;
  [[nodiscard]] virtual const results::LabRecord& record() const = 0;
  /// The IUT's addresses, for the results.
  [[nodiscard]] std::vector<std::string> iut_addresses() const;

  /// Workers at a time where --jobs does not say.
  [[nodiscard]] virtual unsigned usual_jobs() const = 0;
  /// Workers at a time that the IUT can serve at most.
  [[nodiscard]] virtual unsigned most_jobs() const { return 256; }
  /// Whether a configuration command reaches the whole IUT, and not only the worker's own agent.
  [[nodiscard]] virtual bool configuration_is_shared() const { return false; }

  /// Calls `make` where the captured interface is visible.
  virtual void at_tester(const std::function<void()>& make) const { make(); }

  /// Lines of the IUT's kernel log since this was last asked that no healthy kernel writes (BUG,
  /// WARN, oops, ...); empty: none.
  [[nodiscard]] virtual std::string kernel_complaints() { return {}; }
  /// Whether the IUT's host is up.
  [[nodiscard]] virtual bool up() { return true; }
  /// Brings it up again.
  [[nodiscard]] virtual std::expected<void, std::string> bring_up() { return {}; }
};

/// Makes the site that the options ask for; `tell` gets a line about each step that takes long. The
/// error is one line.
[[nodiscard]] std::expected<std::unique_ptr<Site>, std::string> make_site(
    const Options& options, const std::function<void(const std::string&)>& tell);

}  // namespace suite::runner
