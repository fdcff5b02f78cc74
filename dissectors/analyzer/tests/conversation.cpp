// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/tests/conversation.hpp"

namespace dissectors::analyzer::tests {

namespace {

constexpr std::size_t room = 70'000;
constexpr std::uint64_t frame_time = 1000;  ///< nanoseconds from one frame to the next

template <typename Header>
Octets joined(const Header& header, const Octets& payload) {
  Octets all = payload_of(header);
  all.insert(all.end(), payload.begin(), payload.end());
  return all;
}

}  // namespace

Octets octets(std::size_t count) {
  Octets made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<std::byte>(i + 1);
  return made;
}

Octets ulpdu(const Untagged& fields) {
  const wire::UntaggedHeader header{.ddp = wire::DdpControl::make(false, fields.last),
                                    .rdmap = wire::RdmapControl::make(fields.opcode),
                                    .ulp_word = fields.ulp_word,
                                    .queue_number = fields.queue,
                                    .message_sequence_number = fields.msn,
                                    .message_offset = fields.mo};
  return joined(header, fields.payload);
}

Octets ulpdu(const Tagged& fields) {
  const wire::TaggedHeader header{.ddp = wire::DdpControl::make(true, fields.last),
                                  .rdmap = wire::RdmapControl::make(fields.opcode),
                                  .stag = fields.stag,
                                  .tagged_offset = fields.to};
  return joined(header, fields.payload);
}

wire::ReadRequestHeader header(const Read& read) {
  return {.sink_stag = read.sink,
          .sink_offset = read.sink_to,
          .length = read.length,
          .source_stag = read.source,
          .source_offset = read.source_to};
}

Octets read_request(std::uint32_t msn, const Read& read) {
  return ulpdu(Untagged{
      .opcode = Opcode::read_request, .queue = 1, .msn = msn, .payload = payload_of(header(read))});
}

Octets read_response(const Read& read) {
  return ulpdu(Tagged{.opcode = Opcode::read_response,
                      .stag = read.sink,
                      .to = read.sink_to,
                      .payload = octets(read.length)});
}

wire::AtomicRequestHeader fetch_add(std::uint32_t identifier) {
  return {.operation = 0U,
          .request_id = identifier,
          .remote_stag = 0x700U,
          .remote_offset = std::uint64_t{0x4000},
          .add_or_swap_data = std::uint64_t{5},
          .add_or_swap_mask = std::uint64_t{0},
          .compare_data = std::uint64_t{0},
          .compare_mask = ~std::uint64_t{0}};
}

Octets atomic_request(std::uint32_t msn, const wire::AtomicRequestHeader& header) {
  return ulpdu(Untagged{
      .opcode = Opcode::atomic_request, .queue = 1, .msn = msn, .payload = payload_of(header)});
}

Octets atomic_response(std::uint32_t msn, std::uint32_t identifier) {
  const wire::AtomicResponseHeader header{.original_request_id = identifier,
                                          .original_data = std::uint64_t{7}};
  return ulpdu(Untagged{
      .opcode = Opcode::atomic_response, .queue = 3, .msn = msn, .payload = payload_of(header)});
}

Octets terminate(const wire::Terminate& contents, std::uint32_t msn) {
  Octets payload(wire::max_terminate_size);
  wire::Writer out(payload);
  wire::format_terminate(out, contents);
  payload.resize(out.size());
  return ulpdu(Untagged{.opcode = Opcode::terminate, .queue = 2, .msn = msn, .payload = payload});
}

wire::Terminate because(wire::TerminateCause cause) {
  wire::Terminate contents;
  contents.cause = cause;
  return contents;
}

wire::Terminate blame(wire::TerminateCause cause, wire::Bytes blamed) {
  const auto segment = wire::parse_segment(blamed);
  wire::Terminate contents = because(cause);
  contents.m = contents.d = true;
  contents.segment_length = static_cast<std::uint16_t>(blamed.size());
  contents.ddp_header = blamed.first(segment->header().size());
  contents.r =
      segment->rdmap().opcode() == Opcode::read_request && cause.layer == wire::layer::rdmap;
  if (contents.r) contents.rdmap_header = blamed.subspan(contents.ddp_header.size(), 28);
  return contents;
}

Place Conversation::place(Direction direction, std::size_t length) {
  ++frame_;
  std::uint64_t& offset = offset_[direction == initiator ? 0 : 1];
  const Place made{.direction = direction,
                   .offset = offset,
                   .length = length,
                   .first_frame = frame_,
                   .last_frame = frame_,
                   .time = frame_ * frame_time};
  offset += length;
  return made;
}

void Conversation::frame(wire::MpaFrameKind kind, std::uint8_t flags, std::uint8_t revision,
                         const std::optional<Values>& values, std::size_t ulp_octets) {
  Octets data;
  if (values) data = payload_of(wire::EnhancedWords::from(*values));
  const Octets rest = octets(ulp_octets);
  data.insert(data.end(), rest.begin(), rest.end());
  const Direction direction = kind == wire::MpaFrameKind::request ? initiator : responder;
  negotiated = tracker_.startup(
      {.place = place(direction, 20 + data.size()),
       .frame = {.kind = kind, .flags = {flags}, .revision = revision, .private_data = data},
       .octets = {}});
  certainty_ = Certainty::certain;
}

void Conversation::request(std::uint8_t flags, std::uint8_t revision,
                           const std::optional<Values>& values, std::size_t ulp_octets) {
  frame(wire::MpaFrameKind::request, flags, revision, values, ulp_octets);
}

void Conversation::reply(std::uint8_t flags, std::uint8_t revision,
                         const std::optional<Values>& values, std::size_t ulp_octets) {
  frame(wire::MpaFrameKind::reply, flags, revision, values, ulp_octets);
}

void Conversation::start() {
  request(wire::MpaFlags::c);
  reply(wire::MpaFlags::c);
}

void Conversation::start(const Values& asked, const Values& answered) {
  request(wire::MpaFlags::c | wire::MpaFlags::s, 2, asked);
  reply(wire::MpaFlags::c | wire::MpaFlags::s, 2, answered);
}

void Conversation::send(Direction direction, const Octets& sent, Crc crc) {
  FpduSeen fpdu;
  fpdu.place = place(direction, sent.size() + 6);
  fpdu.ulpdu_length = static_cast<std::uint16_t>(sent.size());
  fpdu.ulpdu = sent;
  fpdu.crc = crc;
  fpdu.certainty = certainty_;
  fpdu.received = received_;
  if (const auto segment = wire::parse_segment(sent)) fpdu.segment = *segment;
  tracker_.fpdu(fpdu);
}

void Conversation::send_cut(Direction direction, const Octets& sent, std::uint16_t length) {
  FpduSeen fpdu;
  fpdu.place = place(direction, std::size_t{length} + 6);
  fpdu.ulpdu_length = length;
  fpdu.ulpdu = sent;
  fpdu.certainty = certainty_;
  fpdu.received = received_;
  if (const auto segment = wire::parse_segment(sent)) fpdu.segment = *segment;
  tracker_.fpdu(fpdu);
}

void Conversation::hole(Direction direction) { tracker_.hole(direction, place(direction, room)); }

void Conversation::reset(Direction direction) {
  tracker_.ended(direction, Ending::reset, place(direction, 0));
}

void Conversation::message(const MessageSeen& it) {
  messages.push_back({it.first_segment, it.last_segment, it.message, it.message_octets,
                      it.request_frame, it.response_time,
                      describe_ulpdu(it.fpdu->ulpdu, it.fpdu->ulpdu_length)});
}

}  // namespace dissectors::analyzer::tests
