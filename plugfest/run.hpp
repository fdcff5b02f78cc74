// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `rnic-plugfest run`: the cells of an event, from the journal of earlier runs to the complete
// document.
#pragma once

#include <optional>
#include <vector>

#include "plugfest/cell.hpp"
#include "plugfest/event.hpp"
#include "plugfest/latecomers.hpp"
#include "plugfest/options.hpp"
#include "plugfest/test_network.hpp"
#include "suite/jobs/exit_code.hpp"

namespace plugfest {

/// Nothing: participants have come, so that the rest is to be played with them; `options.rerun` then
/// has what is left of it.
[[nodiscard]] std::optional<suite::jobs::ExitCode> run(const Event& event,
                                                       const std::vector<Cell>& cells,
                                                       Options& options, Latecomers& latecomers);

/// `rnic-plugfest collect`: plays nothing, and makes the results of what has been played.
[[nodiscard]] suite::jobs::ExitCode collect(const Event& event, const std::vector<Cell>& cells,
                                            const Options& options);

/// Serves as a worker of a run (suite/jobs/worker_pool.hpp).
[[nodiscard]] int run_worker();
/// `rnic-plugfest cell`: plays one cell and leaves its record where a run on Slurm looks for it.
[[nodiscard]] suite::jobs::ExitCode play_one(const Event& event, const std::vector<Cell>& cells,
                                             const Options& options);
/// Becomes a program of reports/, by its name and its words. Returns if that cannot be started.
[[nodiscard]] suite::jobs::ExitCode run_report(const std::string& program,
                                               const std::vector<std::string>& words);

/// The rnic-agent of this machine's references and guests.
[[nodiscard]] std::string own_agent(const Options& options);
/// How a participant's agent is started in its host.
[[nodiscard]] std::vector<std::string> command_of(const Event& event, const TestNetwork& network,
                                                  const std::string& agent, std::size_t participant,
                                                  const Host& host);

}  // namespace plugfest
