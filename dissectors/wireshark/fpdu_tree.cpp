// SPDX-License-Identifier: GPL-2.0-or-later
#include <utility>

#include "dissectors/wireshark/fields.hpp"
#include "dissectors/wireshark/tree.hpp"
#include "reference_rnic/wire/notation.hpp"

namespace dissectors::wireshark {

namespace {

void show_markers(proto_tree* tree, const FpduFact& fact) {
  for (const analyzer::MarkerSeen& marker : fact.markers) {
    proto_item* item = proto_tree_add_item(tree, fields.markers, nullptr, 0, 0, ENC_NA);
    proto_item_append_text(item, ": FPDUPTR %u%s", marker.fpdu_pointer,
                           marker.fpdu_pointer == marker.expected ? "" : ", wrong");
    proto_tree* branch = proto_item_add_subtree(item, trees.markers);
    state(branch, fields.marker_reserved, std::uint32_t{marker.reserved});
    state(branch, fields.marker_pointer, std::uint32_t{marker.fpdu_pointer});
    state(branch, fields.marker_expected, std::uint32_t{marker.expected});
    state(branch, fields.marker_offset, marker.offset);
  }
}

void show_place(proto_tree* tree, const FpduFact& fact) {
  state(tree, fields.fpdu_offset, fact.place.offset);
  state(tree, fields.fpdu_octets, fact.place.length);
  if (fact.place.first_frame != 0 && fact.place.first_frame != fact.place.last_frame)
    state(tree, fields.fpdu_first_frame, fact.place.first_frame);
  state(tree, fields.fpdu_aligned, fact.begins_segment);
  state(tree, fields.fpdu_ends, fact.ends_segment);
  state(tree, fields.fpdu_whole, fact.in_one_segment);
  if (fact.certainty == analyzer::Certainty::likely) state(tree, fields.fpdu_likely, true);
}

void show_message(proto_tree* tree, const FpduFact& fact) {
  if (fact.message == 0) return;
  state(tree, fields.message, fact.message);
  state(tree, fields.message_first, fact.first_segment);
  state(tree, fields.message_octets, fact.message_octets);
  if (fact.joined_in != 0) {
    state(tree, fields.joined_in, fact.joined_in);
    if (is_send(fact.opcode))
      proto_item_set_hidden(state(tree, fields.send_joined_in, fact.joined_in));
  }
  if (fact.blamed_frame != 0) state(tree, fields.blames, fact.blamed_frame);
  if (fact.request_frame == 0) return;
  state(tree, fields.request_in, fact.request_frame);
  constexpr std::uint64_t second = 1'000'000'000;
  nstime_t time;
  time.secs = static_cast<decltype(time.secs)>(fact.response_time / second);
  time.nsecs = static_cast<int>(fact.response_time % second);
  proto_item_set_generated(proto_tree_add_time(tree, fields.response_time, nullptr, 0, 0, &time));
}

void show_trailer(proto_tree* tree, const FpduFact& fact) {
  if (!fact.pad.empty())
    proto_tree_add_bytes_with_length(tree, fields.pad, nullptr, 0, 0,
                                     reinterpret_cast<const guint8*>(fact.pad.data()),
                                     static_cast<gint>(fact.pad.size()));
  if (fact.crc == analyzer::Crc::right || fact.crc == analyzer::Crc::wrong || fact.crc_value != 0)
    proto_tree_add_uint(tree, fields.crc, nullptr, 0, 0, fact.crc_value);
  if (fact.crc == analyzer::Crc::wrong) state(tree, fields.crc_expected, fact.crc_expected);
  if (fact.crc == analyzer::Crc::right || fact.crc == analyzer::Crc::wrong)
    proto_item_set_hidden(state(tree, fields.crc_check, fact.crc_expected));
  state(tree, fields.crc_status, std::uint32_t{std::to_underlying(fact.crc)});
}

/// A ULPDU of which no DDP header can be read.
void show_unreadable(const Sketch& ulpdu) {
  ulpdu.field(fields.ulpdu, 0, ulpdu.length());
  proto_item_set_hidden(
      proto_tree_add_item(ulpdu.tree(), fields.bad_length, nullptr, 0, 0, ENC_NA));
}

/// A Send with the fields that the built-in dissector has for one.
void show_joined_send(const Sketch& message, proto_tree* tree, const MessageFact& fact) {
  const auto hide = [](proto_item* item) { proto_item_set_hidden(item); };
  hide(message.field(fields.send_fragments, 0, message.length()));
  for (const std::uint32_t frame : fact.frames) hide(state(tree, fields.send_fragment, frame));
  hide(state(tree, fields.send_count, static_cast<std::uint32_t>(fact.frames.size())));
  hide(state(tree, fields.send_length, static_cast<std::uint32_t>(message.length())));
  hide(message.field(fields.send_data, 0, message.length()));
}

}  // namespace

void show_fpdu(const Canvas& canvas, const FpduFact& fact) {
  const Sketch octets = Sketch::of(canvas, canvas.tree, fact.ulpdu, "ULPDU");
  const Sketch fpdu = octets.branch(fields.fpdu, trees.fpdu, 0, octets.length());
  proto_tree* tree = fpdu.tree();
  if (proto_field_is_referenced(tree, fields.summary)) {
    const std::string summary = analyzer::describe_ulpdu(octets.bytes(), fact.ulpdu_length);
    proto_item_append_text(proto_tree_get_parent(tree), ": %s", summary.c_str());
    state(tree, fields.summary, summary);
  }
  proto_tree_add_uint(tree, fields.ulpdu_length, nullptr, 0, 0, fact.ulpdu_length);
  show_markers(tree, fact);
  if (fact.has_segment)
    show_ulpdu(fpdu);
  else
    show_unreadable(fpdu);
  show_trailer(tree, fact);
  show_message(tree, fact);
  show_place(tree, fact);
}

void show_joined(const Sketch& payload, const MessageFact& fact) {
  const Sketch message = payload.branch(fields.joined, trees.joined, 0, payload.length());
  proto_tree* tree = message.tree();
  proto_item_append_text(proto_tree_get_parent(tree), " (%s%s)", rnic::wire::name(fact.head.opcode),
                         fact.payload.length == 0 ? "; its octets are not kept" : "");
  state(tree, fields.message, fact.head.number);
  state(tree, fields.joined_segments, static_cast<std::uint32_t>(fact.frames.size()));
  for (const std::uint32_t frame : fact.frames) state(tree, fields.joined_frame, frame);
  if (is_send(fact.head.opcode)) show_joined_send(message, tree, fact);
}

}  // namespace dissectors::wireshark
