// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/cell_order.hpp"

namespace plugfest {

namespace {

using nlohmann::json;

json side_json(const ParticipantSide& side) {
  return {{"command", side.command},
          {"claims", side.claims},
          {"namespace", side.network_namespace},
          {"address", side.address}};
}

ParticipantSide side_of(const json& value) {
  return {.command = value.at("command"),
          .claims = value.at("claims"),
          .network_namespace = value.at("namespace"),
          .address = value.at("address")};
}

}  // namespace

json to_json(const CellOrder& order) {
  return {{"scenario", order.scenario},
          {"initiator", side_json(order.initiator)},
          {"responder", side_json(order.responder)},
          {"capture_interface", order.capture_interface},
          {"capture_namespace", order.capture_namespace},
          {"deadline", order.deadline.count()},
          {"step_timeout", order.step_timeout.count()},
          {"folder", order.folder.string()},
          {"pcap", order.pcap}};
}

CellOrder cell_order(const json& value) {
  return {.scenario = value.at("scenario"),
          .initiator = side_of(value.at("initiator")),
          .responder = side_of(value.at("responder")),
          .capture_interface = value.at("capture_interface"),
          .capture_namespace = value.at("capture_namespace"),
          .deadline = std::chrono::milliseconds(value.at("deadline").get<std::int64_t>()),
          .step_timeout = std::chrono::milliseconds(value.at("step_timeout").get<std::int64_t>()),
          .folder = value.at("folder").get<std::string>(),
          .pcap = value.at("pcap")};
}

}  // namespace plugfest
