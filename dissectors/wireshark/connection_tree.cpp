// SPDX-License-Identifier: GPL-2.0-or-later
#include <utility>

#include "dissectors/wireshark/fields.hpp"
#include "dissectors/wireshark/tree.hpp"

namespace dissectors::wireshark {

namespace {

void show(proto_tree* tree, int id, const std::optional<bool>& value) {
  if (value) state(tree, id, *value);
}

void show_depths(proto_tree* tree, int ird, int ord,
                 const std::optional<rnic::wire::EnhancedWords::Values>& values) {
  if (!values) return;
  state(tree, ird, std::uint32_t{values->ird});
  state(tree, ord, std::uint32_t{values->ord});
}

}  // namespace

void show_connection(const Canvas& canvas, const FrameFacts& facts) {
  const ConnectionFacts& known = *facts.connection;
  proto_item* item = state(canvas.tree, fields.connection, known.connection.number);
  proto_tree* tree = proto_item_add_subtree(item, trees.connection);
  const auto& settled = known.negotiated;
  const bool from_first = facts.direction == analyzer::Direction::from_first;
  state(tree, fields.role,
        std::uint32_t{std::to_underlying(known.connection.role(facts.direction))});
  if (settled.revision) state(tree, fields.revision, std::uint32_t{*settled.revision});
  show(tree, fields.crc_in_use, settled.crc);
  show(tree, fields.markers_in_use,
       from_first ? settled.markers_from_first : settled.markers_from_second);
  show(tree, fields.markers_back,
       from_first ? settled.markers_from_second : settled.markers_from_first);
  if (!settled.revision) return;  // no negotiation was seen
  state(tree, fields.enhanced, settled.enhanced);
  state(tree, fields.peer_to_peer, settled.peer_to_peer);
  state(tree, fields.rejected, settled.rejected);
  show_depths(tree, fields.request_ird, fields.request_ord, settled.request);
  show_depths(tree, fields.reply_ird, fields.reply_ord, settled.reply);
}

}  // namespace dissectors::wireshark
