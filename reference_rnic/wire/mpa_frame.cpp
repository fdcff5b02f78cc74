// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/mpa_frame.hpp"

#include <fmt/format.h>

#include <cassert>

#include "reference_rnic/wire/flag_list.hpp"

namespace rnic::wire {

namespace {

constexpr MpaKey key_from(const char (&text)[mpa_key_size + 1]) {
  MpaKey key{};
  for (std::size_t i = 0; i < mpa_key_size; ++i) key[i] = static_cast<std::byte>(text[i]);
  return key;
}
constexpr MpaKey request_key = key_from("MPA ID Req Frame");
constexpr MpaKey reply_key = key_from("MPA ID Rep Frame");

constexpr std::uint16_t high_flag = 0x8000, low_flag = 0x4000, depth_mask = 0x3FFF;

constexpr std::uint16_t enhanced_word(bool high, bool low, std::uint16_t depth) {
  return static_cast<std::uint16_t>((high ? high_flag : 0) | (low ? low_flag : 0) |
                                    (depth & depth_mask));
}

}  // namespace

const MpaKey& mpa_key(MpaFrameKind kind) {
  return kind == MpaFrameKind::request ? request_key : reply_key;
}

EnhancedWords EnhancedWords::from(const Values& values) {
  return {.a_b_ird = enhanced_word(values.peer_to_peer, values.rtr_send, values.ird),
          .c_d_ord = enhanced_word(values.rtr_write, values.rtr_read, values.ord)};
}

EnhancedWords::Values EnhancedWords::values() const {
  const unsigned first = a_b_ird.value(), second = c_d_ord.value();
  return {.peer_to_peer = (first & high_flag) != 0,
          .rtr_send = (first & low_flag) != 0,
          .rtr_write = (second & high_flag) != 0,
          .rtr_read = (second & low_flag) != 0,
          .ird = static_cast<std::uint16_t>(first & depth_mask),
          .ord = static_cast<std::uint16_t>(second & depth_mask)};
}

std::optional<EnhancedWords::Values> MpaFrame::enhanced() const {
  if (!flags.enhanced() || revision < 2) return std::nullopt;
  Reader in(private_data);
  const auto words = in.read<EnhancedWords>();
  if (in.truncated()) return std::nullopt;
  return words.values();
}

Bytes MpaFrame::ulp_private_data() const {
  return enhanced() ? private_data.subspan(sizeof(EnhancedWords)) : private_data;
}

std::expected<ParsedMpaFrame, MpaFrameError> parse_mpa_frame(MpaFrameKind expected_kind,
                                                             Bytes input) {
  const Bytes key = mpa_key(expected_kind);
  const std::size_t comparable = std::min(input.size(), key.size());
  if (!std::ranges::equal(input.first(comparable), key.first(comparable)))
    return std::unexpected(MpaFrameError::wrong_key);

  Reader in(input);
  const auto header = in.read<MpaFrameHeader>();
  if (in.truncated()) return std::unexpected(MpaFrameError::incomplete);
  const std::size_t pd_length = header.pd_length.value();
  if (pd_length > mpa_max_private_data)
    return std::unexpected(MpaFrameError::private_data_too_long);
  const Bytes private_data = in.take(pd_length);
  if (in.truncated()) return std::unexpected(MpaFrameError::incomplete);

  return ParsedMpaFrame{.frame = {.kind = expected_kind,
                                  .flags = header.flags,
                                  .revision = header.revision,
                                  .private_data = private_data},
                        .consumed = mpa_frame_header_size + pd_length};
}

void format_mpa_frame(Writer& out, MpaFrameKind kind, MpaFlags flags, std::uint8_t revision,
                      const std::optional<EnhancedWords::Values>& enhanced,
                      Bytes ulp_private_data) {
  const std::size_t pd_length = (enhanced ? sizeof(EnhancedWords) : 0) + ulp_private_data.size();
  assert(pd_length <= 0xFFFF && "PD_Length has 16 bits");
  out.write(MpaFrameHeader{.key = mpa_key(kind),
                           .flags = flags,
                           .revision = revision,
                           .pd_length = static_cast<std::uint16_t>(pd_length)});
  if (enhanced) out.write(EnhancedWords::from(*enhanced));
  out.write(ulp_private_data);
}

namespace {

std::string flag_letters(MpaFlags flags) {
  return flag_list(
      {{flags.markers(), "M"}, {flags.crc(), "C"}, {flags.reject(), "R"}, {flags.enhanced(), "S"}},
      " ");
}

std::string depth_text(std::uint16_t depth) {
  return depth == read_depth_unnegotiated ? "unnegotiated" : fmt::format("{}", depth);
}

std::string enhanced_text(const EnhancedWords::Values& values) {
  const std::string kinds = flag_list(
      {{values.rtr_send, "send"}, {values.rtr_write, "write"}, {values.rtr_read, "read"}}, ",");
  const bool show_kinds = values.peer_to_peer || !kinds.empty();
  return fmt::format(" {}{} ird={} ord={}", values.peer_to_peer ? "p2p" : "client-server",
                     show_kinds ? "(" + kinds + ")" : "", depth_text(values.ird),
                     depth_text(values.ord));
}

}  // namespace

std::string describe(const MpaFrame& frame) {
  std::string text =
      fmt::format("MPA {} rev {} [{}]", frame.kind == MpaFrameKind::request ? "Request" : "Reply",
                  frame.revision, flag_letters(frame.flags));
  const auto enhanced = frame.enhanced();
  if (enhanced) text += enhanced_text(*enhanced);
  text += fmt::format(" pd={}", frame.private_data.size());
  const unsigned reserved = frame.flags.octet & MpaFlags::reserved_mask;
  if (reserved != 0) text += fmt::format(" ! reserved flags {:#04x}", reserved);
  if (frame.flags.enhanced() && !enhanced)
    text += frame.revision < 2 ? " ! S needs revision 2" : " ! S without its four octets";
  return text;
}

}  // namespace rnic::wire
