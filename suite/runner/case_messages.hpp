// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A case as a job of the worker pool: the order that starts it, the meaning of its worker's
// messages, and the outcome if the worker crashed.
#pragma once

#include <chrono>
#include <optional>

#include "suite/cases/framework/case.hpp"
#include "suite/jobs/worker_pool.hpp"
#include "suite/runner/worker_messages.hpp"

namespace suite::runner {

/// How long a worker that runs this case may give no sign of life.
[[nodiscard]] std::chrono::nanoseconds tolerated_silence(const cases::Case& one,
                                                         double deadline_scale);

/// The case's deadlines are multiplied by `deadline_scale`, those of other cases by
/// `usual_scale`.
[[nodiscard]] jobs::Order order_of(const cases::Case& one, const jobs::Job& job,
                                   double deadline_scale, double usual_scale,
                                   const cases::Controls& controls);

/// The result of a Done is a cases::CaseOutcome.
[[nodiscard]] jobs::WorkerReport report_of(WorkerMessage message);

/// The verdict of a case whose worker did not survive it.
[[nodiscard]] cases::CaseOutcome outcome_of(const jobs::WorkerDeath& death);

}  // namespace suite::runner
