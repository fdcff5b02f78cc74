// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/cell_messages.hpp"

#include <exception>

#include <fmt/format.h>

#include "plugfest/record_tables.hpp"
#include "suite/jobs/record_message.hpp"
#include "suite/jobs/worker_channel.hpp"

namespace plugfest {

namespace jobs = suite::jobs;

constexpr auto table_of(const ParticipantSide*) {
  return table("side", required("command", &ParticipantSide::command),
               required("claims", &ParticipantSide::claims),
               required("namespace", &ParticipantSide::network_namespace),
               required("address", &ParticipantSide::address));
}
constexpr auto table_of(const CapturePlace*) {
  return table("place", required("interface", &CapturePlace::interface),
               required("host", &CapturePlace::host),
               required("namespace", &CapturePlace::network_namespace));
}
constexpr auto table_of(const CellOrder*) {
  return table(
      "cell", required("scenario", &CellOrder::scenario),
      required("initiator", &CellOrder::initiator), required("responder", &CellOrder::responder),
      required("captures", &CellOrder::captures), required("deadline", &CellOrder::deadline),
      required("step_timeout", &CellOrder::step_timeout), required("folder", &CellOrder::folder),
      required("pcap", &CellOrder::pcap));
}
constexpr auto table_of(const SlurmOrder*) {
  return table("slurm", required("submission", &SlurmOrder::submission),
               required("record", &SlurmOrder::record), required("log", &SlurmOrder::log),
               required("time_limit", &SlurmOrder::time_limit));
}
constexpr auto table_of(const Unplayable*) {
  return table("unplayable", required("why", &Unplayable::why));
}

namespace {

struct Ready {};
struct Played {
  Outcome outcome;
};
struct Failed {
  std::string why;
};
using WorkerMessage = std::variant<Ready, Played, Failed>;

constexpr auto table_of(const Ready*) { return table("ready"); }
constexpr auto table_of(const Played*) {
  return table("outcome", required("outcome", &Played::outcome));
}
constexpr auto table_of(const Failed*) { return table("failed", required("why", &Failed::why)); }

/// The run sent something that is not a task: a fault of the harness.
constexpr int exit_bad_task = 70;

struct Reader {
  jobs::WorkerReport operator()(const Ready&) const { return jobs::Ready{}; }
  jobs::WorkerReport operator()(Played& played) const {
    return jobs::Done{.result = std::move(played.outcome), .stderr_text = ""};
  }
  jobs::WorkerReport operator()(const Failed& failed) const {
    return jobs::Done{.result = error_outcome("the cell's process failed: " + failed.why),
                      .stderr_text = ""};
  }
};

WorkerMessage result_of(const std::function<Outcome(const Task& task)>& play, const Task& task) {
  try {
    return Played{play(task)};
  } catch (const std::exception& error) {
    return Failed{error.what()};
  }
}

}  // namespace

jobs::Message message_of(const Task& task) { return jobs::to_message(task); }

std::optional<jobs::WorkerReport> read_report(const jobs::Message& message) {
  auto said = jobs::from_message<WorkerMessage>(message);
  if (!said) return std::nullopt;
  return std::visit(Reader{}, *said);
}

Outcome outcome_of(const jobs::WorkerDeath& death, std::chrono::milliseconds allowed) {
  using Cause = jobs::WorkerDeath::Cause;
  const auto error = [&](std::string reason) {
    return error_outcome(std::move(reason), std::chrono::duration<double>(death.after).count());
  };
  if (death.cause == Cause::hung)
    return error(fmt::format("the cell hung: no result within {} ms", allowed.count()));
  if (death.cause == Cause::broke_protocol)
    return error("the cell's process said nothing that can be read");
  if (death.how.signal != 0)
    return error(fmt::format("the cell's process was ended by signal {}", death.how.signal));
  return error("the cell's process ended without a result");
}

int serve_cells(const std::function<Outcome(const Task& task)>& play) {
  jobs::WorkerChannel parent;
  while (true) {
    parent.send(jobs::to_message(WorkerMessage(Ready{})));
    const auto message = parent.next();
    if (!message) return 0;
    const auto task = jobs::from_message<Task>(*message);
    if (!task) return exit_bad_task;
    parent.send(jobs::to_message(result_of(play, *task)));
  }
}

}  // namespace plugfest
