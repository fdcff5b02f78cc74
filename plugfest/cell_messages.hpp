// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A cell as a job of the worker pool: the messages between the run and its workers, a JSON object a
// line.
//
// worker: {"ready": true}       whenever it can take a cell
// parent: {"order": {...}}      what to play, in words that the worker understands
// worker: {"record": {...}}     the cell's record; then ready again
//         {"failed": "..."}     there is none, since an exception came out of it; then ready again
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>

#include "suite/jobs/worker_pool.hpp"

namespace plugfest {

[[nodiscard]] suite::jobs::Message order_message(const nlohmann::json& order);
/// The result of a Done is the cell's record. Nothing: no worker says that.
[[nodiscard]] std::optional<suite::jobs::WorkerReport> read_report(
    const suite::jobs::Message& message);
/// The record of a cell whose worker did not survive it; `allowed`: the time that it was given.
[[nodiscard]] nlohmann::json record_of(const suite::jobs::WorkerDeath& death,
                                       std::chrono::milliseconds allowed);
/// A record that says no more than that there is no verdict, and why.
[[nodiscard]] nlohmann::json error_record(const std::string& reason, double seconds = 0);

/// Serves as a worker until the parent hangs up: has each order played, and sends its record.
[[nodiscard]] int serve_cells(
    const std::function<nlohmann::json(const nlohmann::json& order)>& play);

}  // namespace plugfest
