// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/cell_traffic.hpp"

#include <algorithm>

namespace plugfest {

namespace {

using dissectors::capture::Endpoint;

bool same_address(const Endpoint& one, const std::optional<Endpoint>& other) {
  return other && one.ipv6 == other->ipv6 && one.address == other->address;
}

}  // namespace

CellTraffic::CellTraffic(const std::string& initiator, const std::string& responder,
                         const std::vector<std::uint16_t>& listened)
    : initiator_(Endpoint::parse(initiator, 0)), responder_(Endpoint::parse(responder, 0)) {
  for (const std::string& end : {initiator, responder})
    for (const std::uint16_t port : listened)
      if (const auto listener = Endpoint::parse(end, port)) listeners_.push_back(*listener);
}

std::optional<Side> CellTraffic::side_at(const Endpoint& end) const {
  const bool of_initiator = same_address(end, initiator_);
  if (of_initiator == same_address(end, responder_)) return std::nullopt;
  return of_initiator ? Side::initiator : Side::responder;
}

bool CellTraffic::has(const dissectors::capture::Flow& flow) const {
  const auto listened_at = [this](const Endpoint& end) {
    return std::ranges::find(listeners_, end) != listeners_.end();
  };
  if (listened_at(flow.from) || listened_at(flow.to)) return true;
  const auto from = side_at(flow.from), to = side_at(flow.to);
  return from && to && from != to;
}

std::optional<Side> CellTraffic::sender_of(const dissectors::capture::Flow& flow) const {
  if (const auto sender = side_at(flow.from)) return sender;
  // One that uses another of its addresses is not the one at the other end.
  const auto receiver = side_at(flow.to);
  if (!receiver) return std::nullopt;
  return *receiver == Side::initiator ? Side::responder : Side::initiator;
}

}  // namespace plugfest
