// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/model/startup.hpp"

#include <algorithm>

namespace suite::model {

namespace {

/// All ones leave a depth to the consumers (RFC 6581 section 9.1).
bool is_number(std::uint16_t depth) { return depth != wire::read_depth_unnegotiated; }

/// A side whose ORD is limited by the other side's IRD may use even less.
void lower_ord(Depths& depths, std::uint32_t most) {
  if (depths.ord <= most) return;
  depths.ord = most;
  depths.ord_due = std::min<std::uint32_t>(most, 1);
}

}  // namespace

Depths depths_of_responder(const Depths& own, const std::optional<EnhancedWords>& request,
                           const std::optional<EnhancedWords>& reply) {
  Depths depths = own;
  if (!request || !reply) return depths;
  if (is_number(reply->ird)) depths.ird = reply->ird;
  if (is_number(reply->ord)) depths.ord = depths.ord_due = reply->ord;
  if (is_number(request->ird))
    depths.rules.push_back("mpa.enhanced.responder-ord-within-initiator-ird");
  else
    depths.rules.push_back("mpa.enhanced.ird-all-ones-keeps-responder-ord");
  if (is_number(request->ird)) lower_ord(depths, request->ird);
  return depths;
}

Depths depths_of_initiator(const Depths& own, const std::optional<EnhancedWords>& request,
                           const std::optional<EnhancedWords>& reply) {
  Depths depths = own;
  if (!request || !reply) return depths;
  if (is_number(request->ird)) depths.ird = request->ird;
  if (is_number(request->ord)) depths.ord = depths.ord_due = request->ord;
  // It may be lowered to what the Responder uses.
  if (is_number(reply->ord)) depths.ird = reply->ord;
  if (is_number(reply->ird))
    depths.rules.push_back("mpa.enhanced.initiator-ord-at-most-responder-ird");
  else
    depths.rules.push_back("mpa.enhanced.reply-ird-all-ones-keeps-ord");
  if (is_number(reply->ird)) lower_ord(depths, reply->ird);
  return depths;
}

std::vector<wire::Opcode> common_rtr_kinds(const EnhancedWords& request,
                                           const EnhancedWords& reply) {
  std::vector<wire::Opcode> kinds;
  if (request.rtr_send && reply.rtr_send) kinds.push_back(wire::Opcode::send);
  if (request.rtr_write && reply.rtr_write) kinds.push_back(wire::Opcode::rdma_write);
  if (request.rtr_read && reply.rtr_read) kinds.push_back(wire::Opcode::read_request);
  return kinds;
}

}  // namespace suite::model
