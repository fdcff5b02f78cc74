// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/cell_messages.hpp"

#include <exception>

#include <fmt/format.h>

#include "suite/jobs/worker_channel.hpp"

namespace plugfest {

namespace {

namespace jobs = suite::jobs;
using nlohmann::json;

/// The run sent what is no order: a fault of the harness.
constexpr int exit_bad_order = 70;

jobs::Message message_of(const json& value) {
  return {.line = value.dump(-1, ' ', false, json::error_handler_t::replace), .attachment = ""};
}

}  // namespace

jobs::Message order_message(const json& order) { return message_of({{"order", order}}); }

std::optional<jobs::WorkerReport> read_report(const jobs::Message& message) {
  json value = json::parse(message.line, nullptr, false);
  if (!value.is_object()) return std::nullopt;
  if (value.contains("ready")) return jobs::Ready{};
  if (const auto why = value.find("failed"); why != value.end() && why->is_string())
    return jobs::Done{
        .result = error_record("the cell's process failed: " + why->get<std::string>()),
        .stderr_text = ""};
  if (const auto record = value.find("record"); record != value.end() && record->is_object())
    return jobs::Done{.result = std::move(*record), .stderr_text = ""};
  return std::nullopt;
}

json record_of(const jobs::WorkerDeath& death, std::chrono::milliseconds allowed) {
  using Cause = jobs::WorkerDeath::Cause;
  const auto error = [&](const std::string& reason) {
    return error_record(reason, std::chrono::duration<double>(death.after).count());
  };
  if (death.cause == Cause::hung)
    return error(fmt::format("the cell hung: no result within {} ms", allowed.count()));
  if (death.cause == Cause::broke_protocol)
    return error("the cell's process said nothing that can be read");
  if (death.how.signal != 0)
    return error(fmt::format("the cell's process was ended by signal {}", death.how.signal));
  return error("the cell's process ended without a result");
}

json error_record(const std::string& reason, double seconds) {
  return {{"verdict", "error"}, {"fault", "unknown"}, {"reason", reason}, {"seconds", seconds}};
}

int serve_cells(const std::function<json(const json& order)>& play) {
  jobs::WorkerChannel parent;
  while (true) {
    parent.send(message_of({{"ready", true}}));
    const auto message = parent.next();
    if (!message) return 0;
    const json value = json::parse(message->line, nullptr, false);
    if (!value.is_object() || !value.contains("order")) return exit_bad_order;
    json answer;
    try {
      answer = {{"record", play(value["order"])}};
    } catch (const std::exception& error) {
      answer = {{"failed", error.what()}};
    }
    parent.send(message_of(answer));
  }
}

}  // namespace plugfest
