// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissectors/wireshark/message_assembly.hpp"

#include <utility>

namespace dissectors::wireshark {

namespace wire = rnic::wire;
using wire::Opcode;

bool is_send(Opcode opcode) {
  return opcode == Opcode::send || opcode == Opcode::send_invalidate ||
         opcode == Opcode::send_solicited || opcode == Opcode::send_solicited_invalidate;
}

bool concerns_upper_layers(Opcode opcode) {
  return is_send(opcode) || wire::is_tagged(opcode) || opcode == Opcode::read_request;
}

MessageHead head_of(const analyzer::MessageSeen& seen) {
  return head_of(*seen.fpdu->segment, seen.message);
}

MessageHead head_of(const wire::Segment& segment, std::uint64_t number) {
  MessageHead head{.number = number, .opcode = segment.rdmap().opcode(), .tagged = segment.tagged};
  if (segment.tagged) {
    head.stag = segment.tagged_header.stag.value();
    head.tagged_offset = segment.tagged_header.tagged_offset.value();
  } else {
    head.queue = segment.untagged_header.queue_number.value();
    head.msn = segment.untagged_header.message_sequence_number.value();
  }
  return head;
}

std::optional<wire::ReadRequestHeader> read_request_in(const MessageHead& head,
                                                       analyzer::Bytes payload) {
  if (head.opcode != Opcode::read_request || payload.size() != sizeof(wire::ReadRequestHeader))
    return std::nullopt;
  return wire::Reader(payload).read<wire::ReadRequestHeader>();
}

namespace {

// The octets of the message before this segment, according to its header.
std::uint64_t position(const wire::Segment& segment, const MessageHead& head) {
  return segment.tagged ? segment.tagged_header.tagged_offset.value() - head.tagged_offset
                        : segment.untagged_header.message_offset.value();
}

}  // namespace

std::optional<JoinedMessage> MessageAssembly::take(const analyzer::MessageSeen& seen,
                                                   std::uint32_t frame) {
  const wire::Segment& segment = *seen.fpdu->segment;
  if (seen.first_segment) {
    open_[seen.message] = {.head = head_of(seen), .payload = {}, .frames = {}};
    if (open_.size() > most_open) open_.erase(open_.begin());
  }
  const auto found = open_.find(seen.message);
  if (found == open_.end()) return std::nullopt;
  JoinedMessage& message = found->second;
  const bool whole = seen.fpdu->ulpdu.size() == seen.fpdu->ulpdu_length;
  const bool continues = position(segment, message.head) == message.payload.size() &&
                         segment.tagged == message.head.tagged &&
                         segment.rdmap().opcode() == message.head.opcode;
  if (!whole || !continues || message.payload.size() + segment.payload.size() > longest) {
    open_.erase(found);
    return std::nullopt;
  }
  message.payload.insert(message.payload.end(), segment.payload.begin(), segment.payload.end());
  message.frames.push_back(frame);
  if (!seen.last_segment) return std::nullopt;
  JoinedMessage done = std::move(message);
  open_.erase(found);
  return done;
}

}  // namespace dissectors::wireshark
