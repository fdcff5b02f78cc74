// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissectors/wireshark/fields.hpp"
#include "dissectors/wireshark/tree.hpp"
#include "reference_rnic/wire/mpa_frame.hpp"

namespace dissectors::wireshark {

using rnic::wire::MpaFlags;
using rnic::wire::MpaFrameKind;

namespace {

// The words of RFC 6581 at the front of the private data.
void show_enhanced(const Sketch& words) {
  for (const int id : {fields.flag_a, fields.flag_b, fields.mpa_ird}) words.field(id, 0, 2);
  for (const int id : {fields.flag_c, fields.flag_d, fields.mpa_ord}) words.field(id, 2, 2);
}

/// The faults that the built-in dissector sees in a startup frame, for filters with their names. It
/// regards RFC 6581's flag and revision as wrong.
void show_faults_of_old(const Sketch& frame, bool request) {
  const auto mark = [&](bool found, int id, int offset) {
    if (!found) return;
    if (proto_item* item = frame.field(id, offset, 1)) proto_item_set_hidden(item);
  };
  constexpr std::uint8_t reserved = 0x1F;
  mark((frame.octet(16) & reserved) != 0, fields.reserved_not_zero, 16);
  mark(frame.octet(17) != 1, fields.revision_not_one, 17);
  mark(request && MpaFlags{frame.octet(16)}.reject(), fields.reject_by_initiator, 16);
}

}  // namespace

std::string summary_of(analyzer::Bytes octets, const MpaFrameFact& fact) {
  constexpr std::size_t header = rnic::wire::mpa_frame_header_size;
  const std::size_t length = fact.private_data;
  return rnic::wire::describe(rnic::wire::MpaFrame{
      .kind = fact.kind,
      .flags = fact.flags,
      .revision = fact.revision,
      .private_data =
          octets.size() < header + length ? analyzer::Bytes{} : octets.subspan(header, length)});
}

void show_mpa_frame(const Canvas& canvas, const MpaFrameFact& fact) {
  const Sketch whole = Sketch::of(canvas, canvas.tree, fact.octets, "MPA startup frame");
  const bool request = fact.kind == MpaFrameKind::request;
  const Sketch frame = whole.branch(request ? fields.mpa_request : fields.mpa_reply,
                                    trees.mpa_frame, 0, whole.length());
  if (proto_field_is_referenced(frame.tree(), fields.summary)) {
    const std::string summary = summary_of(whole.bytes(), fact);
    proto_item_append_text(proto_tree_get_parent(frame.tree()), ": %s", summary.c_str());
    state(frame.tree(), fields.summary, summary);
  }
  frame.field(request ? fields.key_request : fields.key_reply, 0, 16);
  for (const int id : {fields.marker_flag, fields.crc_flag, fields.reject_flag,
                       fields.enhanced_flag, fields.mpa_reserved})
    frame.field(id, 16, 1);
  // The built-in dissector regards RFC 6581's flag as reserved; here only filters see it this way.
  if (proto_item* old = frame.field(fields.mpa_reserved_old, 16, 1)) proto_item_set_hidden(old);
  show_faults_of_old(frame, request);
  frame.field(fields.mpa_revision, 17, 1);
  frame.field(fields.pd_length, 18, 2);
  constexpr int header = rnic::wire::mpa_frame_header_size;
  if (frame.length() <= header) return;
  const bool enhanced = MpaFlags{frame.octet(16)}.enhanced() && frame.octet(17) >= 2 &&
                        frame.has(header, sizeof(rnic::wire::EnhancedWords));
  if (enhanced) show_enhanced(frame.from(header));
  const int data = header + (enhanced ? static_cast<int>(sizeof(rnic::wire::EnhancedWords)) : 0);
  if (frame.length() > data) frame.field(fields.private_data, data, frame.length() - data);
}

}  // namespace dissectors::wireshark
