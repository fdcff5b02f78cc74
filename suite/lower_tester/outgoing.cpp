// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Encoding of what a scripted peer sends.
#include "suite/lower_tester/outgoing.hpp"

#include <algorithm>
#include <cassert>

#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/notation.hpp"

namespace suite::lower_tester {

Octets payload(std::size_t size, std::uint8_t seed) {
  Octets data(size);
  for (std::size_t i = 0; i < size; ++i)
    data[i] = static_cast<std::byte>(seed + i * 7 + (i >> 8) * 13);
  return data;
}

Octets part_of(const Octets& all, std::size_t from, std::size_t length) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(length)};
}

Octets octets(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Octets octets(std::initializer_list<int> values) {
  Octets data;
  for (const int value : values) data.push_back(static_cast<std::byte>(value));
  return data;
}

namespace {

void append(Octets& out, wire::Bytes more) { out.insert(out.end(), more.begin(), more.end()); }

/// A changed copy: the pattern of every `with_...`.
template <typename T, typename Change>
T changed(const T& value, Change change) {
  T copy = value;
  change(copy);
  return copy;
}

template <typename Header>
std::function<void(std::size_t, Header&)> after(std::function<void(std::size_t, Header&)> first,
                                                std::function<void(std::size_t, Header&)> second) {
  if (!first) return second;
  return [first = std::move(first), second = std::move(second)](std::size_t index, Header& header) {
    first(index, header);
    second(index, header);
  };
}

/// Changes the two control octets, which both header forms have in the same place.
Outgoing with_control(const Outgoing& message,
                      const std::function<void(wire::DdpControl&, wire::RdmapControl&)>& change) {
  return message
      .with_tagged(
          [change](std::size_t, wire::TaggedHeader& header) { change(header.ddp, header.rdmap); })
      .with_untagged([change](std::size_t, wire::UntaggedHeader& header) {
        change(header.ddp, header.rdmap);
      });
}

std::uint8_t replace_bits(std::uint8_t octet, std::uint8_t mask, std::uint8_t value) {
  return static_cast<std::uint8_t>((octet & ~mask) | (value & mask));
}

}  // namespace

// ---------------------------------------------------------------- MPA startup

StartupFrame StartupFrame::with_key(std::string_view sixteen_octets) const {
  assert(sixteen_octets.size() == wire::mpa_key_size);
  return changed(*this, [&](StartupFrame& f) {
    std::ranges::copy(std::as_bytes(std::span(sixteen_octets)), f.key.begin());
  });
}
StartupFrame StartupFrame::with_flags(std::uint8_t octet) const {
  return changed(*this, [&](StartupFrame& f) { f.flags.octet = octet; });
}
StartupFrame StartupFrame::with_flag(std::uint8_t bits, bool on) const {
  return with_flags(replace_bits(flags.octet, bits, on ? 0xFF : 0));
}
StartupFrame StartupFrame::with_revision(std::uint8_t value) const {
  return changed(*this, [&](StartupFrame& f) { f.revision = value; });
}
StartupFrame StartupFrame::with_enhanced(const wire::EnhancedWords::Values& words) const {
  return changed(with_flag(wire::MpaFlags::s), [&](StartupFrame& f) {
    f.enhanced = words;
    f.revision = std::max<std::uint8_t>(f.revision, 2);
  });
}
StartupFrame StartupFrame::with_private_data(Octets data) const {
  return changed(*this, [&](StartupFrame& f) { f.private_data = std::move(data); });
}
StartupFrame StartupFrame::with_pd_length(std::uint16_t value) const {
  return changed(*this, [&](StartupFrame& f) { f.pd_length = value; });
}

Octets StartupFrame::encode() const {
  Octets out;
  const std::size_t length = private_data.size() + (enhanced ? sizeof(wire::EnhancedWords) : 0);
  wire::MpaFrameHeader header{.key = key, .flags = flags, .revision = revision, .pd_length = {}};
  header.pd_length = pd_length.value_or(static_cast<std::uint16_t>(length));
  append(out, wire::octets_of(header));
  if (enhanced) append(out, wire::octets_of(wire::EnhancedWords::from(*enhanced)));
  append(out, private_data);
  return out;
}

std::string StartupFrame::text() const {
  const auto parsed = wire::parse_mpa_frame(kind, encode());
  return parsed ? wire::describe(parsed->frame) : "a malformed startup frame";
}

StartupFrame mpa_request() {
  StartupFrame frame;
  frame.key = wire::mpa_key(frame.kind);
  return frame;
}

StartupFrame mpa_reply() {
  StartupFrame frame;
  frame.kind = wire::MpaFrameKind::reply;
  frame.key = wire::mpa_key(frame.kind);
  return frame;
}

StartupFrame mpa_reply_to(const wire::MpaFrame& request) {
  // No RFC defines revision 0, even if the Request has it: the tester's own frames conform.
  StartupFrame reply = mpa_reply().with_revision(std::max<std::uint8_t>(request.revision, 1));
  const auto asked = request.enhanced();
  if (!asked) return reply;
  wire::EnhancedWords::Values words = *asked;  // A echoed, the RTR kinds as offered
  words.ird = asked->ord;
  words.ord = asked->ird;
  return reply.with_enhanced(words);
}

// ---------------------------------------------------------------- FPDUs

Fpdu Fpdu::with_crc(CrcChoice choice) const {
  return changed(*this, [&](Fpdu& f) { f.crc = choice; });
}
Fpdu Fpdu::with_length_field(std::uint16_t value) const {
  return changed(*this, [&](Fpdu& f) { f.length_field = value; });
}
Fpdu Fpdu::with_pad(Octets value) const {
  return changed(*this, [&](Fpdu& f) { f.pad = std::move(value); });
}

Octets encode(const Fpdu& fpdu, const Framing& framing) {
  Octets plain;
  append(plain, wire::octets_of(wire::be16(
                    fpdu.length_field.value_or(static_cast<std::uint16_t>(fpdu.ulpdu.size())))));
  append(plain, fpdu.ulpdu);
  append(plain, fpdu.pad.value_or(Octets(wire::pad_length(fpdu.ulpdu.size()))));
  plain.resize(plain.size() + wire::fpdu_crc_size);

  Octets out = plain;
  if (framing.markers) {
    out.resize(wire::length_with_markers(framing.position, plain.size()));
    wire::Writer writer(out);
    wire::insert_markers(writer, framing.position, plain);
  }
  if (fpdu.change_before_crc) fpdu.change_before_crc(out);
  const bool in_use =
      fpdu.crc == CrcChoice::as_negotiated ? framing.crc : fpdu.crc != CrcChoice::zero;
  if (in_use) {
    // The CRC field is the last four octets, and covers what comes before it (RFC 5044 section
    // 4.4).
    const auto covered = wire::Bytes(out).first(out.size() - wire::fpdu_crc_size);
    std::ranges::copy(wire::crc32c_trailer(covered), out.end() - wire::fpdu_crc_size);
    if (fpdu.crc == CrcChoice::wrong) out.back() ^= std::byte{1};
  }
  if (fpdu.change_after_crc) fpdu.change_after_crc(out);
  return out;
}

// ---------------------------------------------------------------- RDMAP messages

Outgoing Outgoing::with_queue(std::uint32_t value) const {
  return changed(*this, [&](Outgoing& m) { m.queue = value; });
}
Outgoing Outgoing::with_msn(std::uint32_t value) const {
  return changed(*this, [&](Outgoing& m) { m.msn = value; });
}
Outgoing Outgoing::with_opcode(std::uint8_t four_bits) const {
  return with_control(*this, [four_bits](wire::DdpControl&, wire::RdmapControl& rdmap) {
    rdmap.octet = replace_bits(rdmap.octet, wire::RdmapControl::opcode_mask, four_bits);
  });
}
Outgoing Outgoing::with_rdmap_version(std::uint8_t two_bits) const {
  return with_control(*this, [two_bits](wire::DdpControl&, wire::RdmapControl& rdmap) {
    rdmap.octet = replace_bits(rdmap.octet, 0xC0, static_cast<std::uint8_t>(two_bits << 6));
  });
}
Outgoing Outgoing::with_ddp_version(std::uint8_t two_bits) const {
  return with_control(*this, [two_bits](wire::DdpControl& ddp, wire::RdmapControl&) {
    ddp.octet = replace_bits(ddp.octet, wire::DdpControl::version_mask, two_bits);
  });
}
Outgoing Outgoing::with_ddp_reserved(std::uint8_t mask) const {
  return with_control(*this,
                      [mask](wire::DdpControl& ddp, wire::RdmapControl&) { ddp.octet |= mask; });
}
Outgoing Outgoing::with_rdmap_reserved(std::uint8_t mask) const {
  return with_control(
      *this, [mask](wire::DdpControl&, wire::RdmapControl& rdmap) { rdmap.octet |= mask; });
}
Outgoing Outgoing::with_ulp_word(std::uint32_t value) const {
  return changed(*this, [&](Outgoing& m) { m.ulp_word = value; });
}
Outgoing Outgoing::with_segments_of(std::size_t payload_octets) const {
  return changed(*this, [&](Outgoing& m) { m.segment_payload = payload_octets; });
}
Outgoing Outgoing::with_crc(CrcChoice choice) const {
  return changed(*this, [&](Outgoing& m) { m.crc = choice; });
}
Outgoing Outgoing::with_tagged(std::function<void(std::size_t, wire::TaggedHeader&)> change) const {
  return changed(*this,
                 [&](Outgoing& m) { m.change_tagged = after(m.change_tagged, std::move(change)); });
}
Outgoing Outgoing::with_untagged(
    std::function<void(std::size_t, wire::UntaggedHeader&)> change) const {
  return changed(
      *this, [&](Outgoing& m) { m.change_untagged = after(m.change_untagged, std::move(change)); });
}

std::uint32_t Outgoing::queue_number() const {
  return queue.value_or(static_cast<std::uint32_t>(wire::queue_of(opcode)));
}

std::vector<Fpdu> Outgoing::segments(std::size_t max_ulpdu, std::uint32_t next_msn) const {
  const std::size_t header = tagged ? wire::tagged_header_size : wire::untagged_header_size;
  const std::size_t most = segment_payload.value_or(max_ulpdu - header);
  assert(most > 0);
  std::vector<Fpdu> list;
  std::size_t offset = 0;
  do {
    const wire::Bytes part =
        wire::Bytes(payload).subspan(offset, std::min(most, payload.size() - offset));
    const bool last = offset + part.size() == payload.size();
    Fpdu fpdu{.ulpdu = {},
              .crc = crc,
              .length_field = {},
              .pad = {},
              .change_before_crc = {},
              .change_after_crc = {}};
    if (tagged) {
      wire::TaggedHeader h{wire::DdpControl::make(true, last), wire::RdmapControl::make(opcode),
                           stag, tagged_offset + offset};
      if (change_tagged) change_tagged(list.size(), h);
      append(fpdu.ulpdu, wire::octets_of(h));
    } else {
      wire::UntaggedHeader h{wire::DdpControl::make(false, last),
                             wire::RdmapControl::make(opcode),
                             ulp_word,
                             queue_number(),
                             msn.value_or(next_msn),
                             static_cast<std::uint32_t>(offset)};
      if (change_untagged) change_untagged(list.size(), h);
      append(fpdu.ulpdu, wire::octets_of(h));
    }
    append(fpdu.ulpdu, part);
    list.push_back(std::move(fpdu));
    offset += part.size();
  } while (offset < payload.size());
  return list;
}

namespace {

Outgoing message_of(wire::Opcode opcode, Octets data) {
  Outgoing message;
  message.opcode = opcode;
  message.tagged = wire::is_tagged(opcode);
  message.payload = std::move(data);
  return message;
}

template <wire::WireStruct Header>
Outgoing header_message(wire::Opcode opcode, const Header& header) {
  const auto bytes = wire::octets_of(header);
  return message_of(opcode, {bytes.begin(), bytes.end()});
}

Outgoing tagged_message(wire::Opcode opcode, std::uint32_t stag, std::uint64_t offset,
                        Octets data) {
  Outgoing message = message_of(opcode, std::move(data));
  message.stag = stag;
  message.tagged_offset = offset;
  return message;
}

}  // namespace

Outgoing send_message(Octets data) { return message_of(wire::Opcode::send, std::move(data)); }
Outgoing send_solicited(Octets data) {
  return message_of(wire::Opcode::send_solicited, std::move(data));
}
Outgoing send_invalidate(std::uint32_t stag, Octets data) {
  return message_of(wire::Opcode::send_invalidate, std::move(data)).with_ulp_word(stag);
}
Outgoing send_solicited_invalidate(std::uint32_t stag, Octets data) {
  return message_of(wire::Opcode::send_solicited_invalidate, std::move(data)).with_ulp_word(stag);
}
Outgoing rdma_write(std::uint32_t stag, std::uint64_t offset, Octets data) {
  return tagged_message(wire::Opcode::rdma_write, stag, offset, std::move(data));
}
Outgoing read_response(std::uint32_t sink_stag, std::uint64_t sink_offset, Octets data) {
  return tagged_message(wire::Opcode::read_response, sink_stag, sink_offset, std::move(data));
}
Outgoing read_request(const ReadRequestFields& f) {
  return header_message(wire::Opcode::read_request,
                        wire::ReadRequestHeader{f.sink_stag, f.sink_offset, f.length, f.source_stag,
                                                f.source_offset});
}

Outgoing read_of(std::uint32_t source_stag, std::uint64_t source_offset, std::uint32_t length) {
  return read_request({.sink_stag = 0xCAFE,
                       .sink_offset = 0x1000,
                       .length = length,
                       .source_stag = source_stag,
                       .source_offset = source_offset});
}
Outgoing atomic_request(const AtomicRequestFields& f) {
  return header_message(
      wire::Opcode::atomic_request,
      wire::AtomicRequestHeader{f.operation, f.request_id, f.stag, f.offset, f.add_or_swap,
                                f.add_or_swap_mask, f.compare, f.compare_mask});
}
Outgoing fetch_add(std::uint32_t id, std::uint32_t stag, std::uint64_t offset,
                   std::uint64_t addend) {
  AtomicRequestFields fields;
  fields.operation = static_cast<std::uint32_t>(wire::AtomicOperation::fetch_add);
  fields.request_id = id;
  fields.stag = stag;
  fields.offset = offset;
  fields.add_or_swap = addend;
  fields.add_or_swap_mask = 0;  // one 64-bit sum: no bit stops a carry (RFC 7306 section 5.2.1)
  return atomic_request(fields);
}
Outgoing atomic_response(std::uint32_t request_id, std::uint64_t original) {
  return header_message(wire::Opcode::atomic_response,
                        wire::AtomicResponseHeader{request_id, original});
}
Outgoing immediate_data(Octets eight, bool solicited) {
  return message_of(solicited ? wire::Opcode::immediate_solicited : wire::Opcode::immediate,
                    std::move(eight));
}
Outgoing terminate_message(wire::TerminateCause cause) {
  Octets data(sizeof(wire::TerminateControl));
  wire::Writer out(data);
  wire::Terminate terminate;
  terminate.cause = cause;
  wire::format_terminate(out, terminate);
  return message_of(wire::Opcode::terminate, std::move(data));
}

}  // namespace suite::lower_tester
