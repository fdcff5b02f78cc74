// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/worker_messages.hpp"

#include "suite/iut/message_tables.hpp"
#include "suite/jobs/record_message.hpp"
#include "suite/results/record_tables.hpp"

namespace suite::cases {

constexpr auto table_of(const DatAccess*) {
  using base::record::required;
  return base::record::table("dat", required("program", &DatAccess::program),
                             required("ia", &DatAccess::ia),
                             required("address", &DatAccess::address));
}
constexpr auto table_of(const FailedControl*) {
  using base::record::required;
  return base::record::table("failed_control", required("reason", &FailedControl::reason),
                             required("rule", &FailedControl::rule));
}
constexpr auto table_of(const Controls*) {
  using base::record::required;
  return base::record::table("controls", required("read", &Controls::read),
                             required("iut_read", &Controls::iut_read),
                             required("initiator", &Controls::initiator),
                             required("loopback_read", &Controls::loopback_read));
}

}  // namespace suite::cases

namespace suite::runner {

using base::record::required;
using base::record::table;

constexpr auto table_of(const HostSetup*) {
  return table("host", required("namespace", &HostSetup::network_namespace),
               required("ipv4", &HostSetup::ipv4), required("ipv6", &HostSetup::ipv6),
               required("further_ipv4", &HostSetup::further_ipv4),
               required("further_ipv6", &HostSetup::further_ipv6),
               required("max_segment", &HostSetup::max_segment),
               required("spare_ipv4", &HostSetup::spare_ipv4),
               required("spare_count", &HostSetup::spare_count),
               required("zone", &HostSetup::zone));
}
constexpr auto table_of(const WorkerSetup*) {
  return table(
      "setup", required("reach", &WorkerSetup::reach), required("agent", &WorkerSetup::agent),
      required("socket", &WorkerSetup::socket), required("deviations", &WorkerSetup::deviations),
      required("lawful", &WorkerSetup::lawful), required("memory_link", &WorkerSetup::memory_link),
      required("tester", &WorkerSetup::tester), required("iut", &WorkerSetup::iut),
      required("deadline_scale", &WorkerSetup::deadline_scale),
      required("quiet_window", &WorkerSetup::quiet_window),
      required("hello_deadline", &WorkerSetup::hello_deadline),
      required("reply_deadline", &WorkerSetup::reply_deadline),
      required("pics", &WorkerSetup::pics), required("strict", &WorkerSetup::strict),
      required("dat", &WorkerSetup::dat));
}
constexpr auto table_of(const RunMessage*) {
  return table("run", required("id", &RunMessage::id), required("attempt", &RunMessage::attempt),
               required("group", &RunMessage::group),
               required("deadline_scale", &RunMessage::deadline_scale),
               required("controls", &RunMessage::controls));
}
constexpr auto table_of(const ReadyMessage*) {
  return table("ready", required("hello", &ReadyMessage::hello));
}
constexpr auto table_of(const UnreachableMessage*) {
  return table("unreachable", required("why", &UnreachableMessage::why));
}
constexpr auto table_of(const AliveMessage*) { return table("alive"); }
constexpr auto table_of(const OutcomeMessage*) {
  return table("outcome", required("outcome", &OutcomeMessage::outcome),
               required("stderr", &OutcomeMessage::stderr_text));
}
constexpr auto table_of(const DiedMessage*) {
  return table("died", required("signal", &DiedMessage::signal),
               required("in_iut", &DiedMessage::in_iut));
}

using jobs::from_message;
using jobs::to_message;

Message format(const ParentMessage& message) { return to_message(message); }
Message format(const WorkerMessage& message) { return to_message(message); }

std::optional<ParentMessage> parse_parent_message(const Message& message) {
  return from_message<ParentMessage>(message);
}
std::optional<WorkerMessage> parse_worker_message(const Message& message) {
  return from_message<WorkerMessage>(message);
}

}  // namespace suite::runner
