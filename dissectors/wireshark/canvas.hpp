// SPDX-License-Identifier: GPL-2.0-or-later
// Where the parts of a frame are drawn: Wireshark's tree, and octets that are in the frame or
// elsewhere.
#pragma once

#include <epan/packet.h>

#include <string>

#include "dissectors/wireshark/frame_facts.hpp"

namespace dissectors::wireshark {

/// The current frame.
struct Canvas {
  tvbuff_t* frame = nullptr;
  packet_info* packet = nullptr;
  proto_tree* tree = nullptr;  ///< nullptr: the tree is not shown
};

/// Octets and a subtree about them. Every call adds one field.
class Sketch {
 public:
  Sketch(proto_tree* tree, tvbuff_t* octets, int begin, int length)
      : tree_(tree), octets_(octets), begin_(begin), length_(length) {}
  /// `kept` as a part of the frame, or as octets of their own under the title.
  [[nodiscard]] static Sketch of(const Canvas& canvas, proto_tree* tree, const KeptOctets& kept,
                                 const char* title);

  [[nodiscard]] proto_tree* tree() const { return tree_; }
  [[nodiscard]] int length() const { return length_; }
  [[nodiscard]] bool has(int offset, int count) const { return offset + count <= length_; }
  [[nodiscard]] analyzer::Bytes bytes() const;
  /// The same for another dissector.
  [[nodiscard]] tvbuff_t* buffer() const;
  /// The same octets from `offset` on.
  [[nodiscard]] Sketch from(int offset) const {
    return {tree_, octets_, begin_ + offset, length_ - offset};
  }

  /// This subtree, about another sketch's octets.
  [[nodiscard]] Sketch as_of(const Sketch& other) const {
    return {tree_, other.octets_, other.begin_, other.length_};
  }

  /// The field at its place; nothing if the octets end before it.
  proto_item* field(int id, int offset, int count) const;
  /// A subtree about some of the octets.
  [[nodiscard]] Sketch branch(int id, int tree_type, int offset, int count) const;
  [[nodiscard]] std::uint8_t octet(int offset) const;

 private:
  proto_tree* tree_;
  tvbuff_t* octets_;
  int begin_, length_;
};

/// Facts that are not stated by octets of the frame.
proto_item* state(proto_tree* tree, int id, bool value);
proto_item* state(proto_tree* tree, int id, std::uint32_t value);
proto_item* state(proto_tree* tree, int id, std::uint64_t value);
proto_item* state(proto_tree* tree, int id, const std::string& value);

}  // namespace dissectors::wireshark
