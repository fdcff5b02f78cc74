// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissectors/wireshark/canvas.hpp"

namespace dissectors::wireshark {

Sketch Sketch::of(const Canvas& canvas, proto_tree* tree, const KeptOctets& kept,
                  const char* title) {
  const int length = static_cast<int>(kept.length);
  if (kept.in_frame) return {tree, canvas.frame, static_cast<int>(kept.offset), length};
  if (length == 0) return {tree, canvas.frame, 0, 0};
  // Wireshark may show it for longer than the facts are kept.
  const auto* copy = static_cast<const std::uint8_t*>(
      wmem_memdup(canvas.packet->pool, kept.copy.data(), kept.copy.size()));
  tvbuff_t* own = tvb_new_child_real_data(canvas.frame, copy, kept.length, length);
  add_new_data_source(canvas.packet, own, title);
  return {tree, own, 0, length};
}

analyzer::Bytes Sketch::bytes() const {
  if (length_ <= 0) return {};
  return std::as_bytes(
      std::span(tvb_get_ptr(octets_, begin_, length_), static_cast<std::size_t>(length_)));
}

tvbuff_t* Sketch::buffer() const { return tvb_new_subset_length(octets_, begin_, length_); }

proto_item* Sketch::field(int id, int offset, int count) const {
  if (count < 0 || !has(offset, count)) return nullptr;
  return proto_tree_add_item(tree_, id, octets_, begin_ + offset, count, ENC_BIG_ENDIAN);
}

Sketch Sketch::branch(int id, int tree_type, int offset, int count) const {
  proto_item* item = field(id, offset, count);
  return {proto_item_add_subtree(item, tree_type), octets_, begin_ + offset, count};
}

std::uint8_t Sketch::octet(int offset) const {
  return has(offset, 1) ? *tvb_get_ptr(octets_, begin_ + offset, 1) : std::uint8_t{0};
}

namespace {

proto_item* generated(proto_item* item) {
  proto_item_set_generated(item);
  return item;
}

}  // namespace

proto_item* state(proto_tree* tree, int id, bool value) {
  return generated(proto_tree_add_boolean(tree, id, nullptr, 0, 0, value));
}
proto_item* state(proto_tree* tree, int id, std::uint32_t value) {
  return generated(proto_tree_add_uint(tree, id, nullptr, 0, 0, value));
}
proto_item* state(proto_tree* tree, int id, std::uint64_t value) {
  return generated(proto_tree_add_uint64(tree, id, nullptr, 0, 0, value));
}
proto_item* state(proto_tree* tree, int id, const std::string& value) {
  return generated(proto_tree_add_string(tree, id, nullptr, 0, 0, value.c_str()));
}

}  // namespace dissectors::wireshark
