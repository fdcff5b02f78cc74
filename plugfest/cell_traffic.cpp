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

bool CellTraffic::has(const dissectors::capture::Flow& flow) const {
  const auto listened_at = [this](const Endpoint& end) {
    return std::ranges::find(listeners_, end) != listeners_.end();
  };
  if (listened_at(flow.from) || listened_at(flow.to)) return true;
  if (initiator_ && same_address(*initiator_, responder_)) return false;
  return (same_address(flow.from, initiator_) && same_address(flow.to, responder_)) ||
         (same_address(flow.from, responder_) && same_address(flow.to, initiator_));
}

}  // namespace plugfest
