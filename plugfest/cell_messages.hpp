// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A cell as a job of the worker pool: the messages between the run and its workers, a JSON object a
// line.
//
// worker: {"type":"ready"}                  whenever it can take a cell
// run:    {"type":"cell", ...}              to be played by the worker itself,
//         {"type":"slurm", ...}             as a job of the cluster,
//         {"type":"unplayable","why":"..."} or not at all
// worker: {"type":"outcome","outcome":...}  what came of it; then ready again
//         {"type":"failed","why":"..."}     nothing did, since an exception came out of it; then
//                                           ready again
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "plugfest/cell_order.hpp"
#include "plugfest/slurm_order.hpp"
#include "plugfest/verdict.hpp"
#include "suite/jobs/worker_pool.hpp"

namespace plugfest {

/// What the cell needs is not there.
struct Unplayable {
  std::string why;
};
using Task = std::variant<CellOrder, SlurmOrder, Unplayable>;

[[nodiscard]] suite::jobs::Message message_of(const Task& task);
/// The result of a Done is the cell's Outcome. Nothing: no worker says that.
[[nodiscard]] std::optional<suite::jobs::WorkerReport> read_report(
    const suite::jobs::Message& message);
/// Of a cell whose worker did not survive it; `allowed`: the time that it was given.
[[nodiscard]] Outcome outcome_of(const suite::jobs::WorkerDeath& death,
                                 std::chrono::milliseconds allowed);

/// Serves as a worker until the parent hangs up: has each task done, and sends its outcome.
[[nodiscard]] int serve_cells(const std::function<Outcome(const Task& task)>& play);

}  // namespace plugfest
