// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/case_messages.hpp"

#include <fmt/format.h>

#include "suite/runner/case_record.hpp"

namespace suite::runner {

namespace {

// In addition to twice a case's deadline: time for its reset, which has its own timeout, and for
// its report.
constexpr auto grace = std::chrono::seconds(14);
// Each data row of a case has its own deadline.
constexpr int most_rows = 64;

struct Reader {
  jobs::WorkerReport operator()(const ReadyMessage&) const { return jobs::Ready{}; }
  jobs::WorkerReport operator()(UnreachableMessage& message) const {
    return jobs::Unreachable{std::move(message.why)};
  }
  jobs::WorkerReport operator()(const AliveMessage&) const { return jobs::Alive{}; }
  jobs::WorkerReport operator()(const DiedMessage& message) const {
    return jobs::Dying{.in_iut = message.in_iut};
  }
  jobs::WorkerReport operator()(OutcomeMessage& message) const {
    return jobs::Done{.result = std::move(message.outcome),
                      .stderr_text = std::move(message.stderr_text)};
  }
};

// What a worker that ended by itself or by a signal says of the case.
cases::CaseOutcome outcome_of_end(const jobs::WorkerDeath& death) {
  const std::string name = base::text(death.how);
  if (death.in_iut)
    return outcome_without_evidence(cases::Verdict::fail,
                                    fmt::format("{} in the IUT's code", name));
  return outcome_without_evidence(
      cases::Verdict::error, fmt::format("the worker ended by {} outside the IUT's code", name));
}

cases::CaseOutcome outcome_of_hang(const jobs::WorkerDeath& death) {
  return outcome_without_evidence(
      death.in_iut ? cases::Verdict::fail : cases::Verdict::error,
      fmt::format("no verdict within {:.1f} s{}",
                  std::chrono::duration<double>(death.after).count(),
                  death.in_iut ? ": the IUT's code did not return" : "; the worker was ended"));
}

}  // namespace

std::chrono::nanoseconds tolerated_silence(const cases::Case& one, double deadline_scale) {
  const auto twice = one.deadline * (2 * deadline_scale);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(twice) + grace;
}

jobs::Order order_of(const cases::Case& one, const jobs::Job& job, double deadline_scale,
                     double usual_scale, const cases::Controls& controls) {
  const auto silence = tolerated_silence(one, usual_scale);
  return {.message = format(RunMessage{one.id, job.attempt, job.group, deadline_scale, controls}),
          .silence = silence,
          .total = silence * most_rows};
}

jobs::WorkerReport report_of(WorkerMessage message) { return std::visit(Reader{}, message); }

cases::CaseOutcome outcome_of(const jobs::WorkerDeath& death) {
  using Cause = jobs::WorkerDeath::Cause;
  cases::CaseOutcome outcome;
  switch (death.cause) {
    case Cause::hung:
      outcome = outcome_of_hang(death);
      break;
    case Cause::unreachable:
      outcome = outcome_without_evidence(cases::Verdict::error,
                                         "the IUT cannot be reached: " + death.why);
      outcome.silence = cases::Silence::no_agent;
      break;
    case Cause::broke_protocol:
      outcome = outcome_without_evidence(cases::Verdict::error,
                                         "the worker sent something that is not a message");
      break;
    case Cause::ended:
      outcome = outcome_of_end(death);
      break;
  }
  outcome.duration = death.after;
  return outcome;
}

}  // namespace suite::runner
