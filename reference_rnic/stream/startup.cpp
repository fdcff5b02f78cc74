// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/startup.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "reference_rnic/wire/crc32c.hpp"

namespace rnic::stream {
namespace {

using Values = wire::EnhancedWords::Values;
using wire::MpaFlags;
using wire::MpaFrameKind;
using wire::read_depth_unnegotiated;

std::vector<std::byte> copy(wire::Bytes octets) { return {octets.begin(), octets.end()}; }

constexpr std::size_t flags_at = 16, revision_at = 17, pd_length_at = 18, enhanced_at = 20;

void add_flag(std::vector<std::byte>& octets, std::uint8_t flag) {
  octets[flags_at] |= static_cast<std::byte>(flag);
}

/// M and C as the configuration wants them.
MpaFlags preferences(const Config& config, const StreamDecisions& decisions) {
  const bool crc = config.crc && !decisions.deviates(Deviation::crc_not_requested_by_default);
  return {static_cast<std::uint8_t>((config.markers ? MpaFlags::m : 0) | (crc ? MpaFlags::c : 0))};
}

/// Ways of getting the octets of a frame wrong that do not depend on its meaning.
void spoil_header(std::vector<std::byte>& octets, const StartupFrame& frame,
                  const StreamDecisions& decisions) {
  const bool request = frame.kind == MpaFrameKind::request;
  if (decisions.deviates(request ? Deviation::request_key_wrong : Deviation::reply_key_wrong))
    octets[wire::mpa_key_size - 1] ^= std::byte{0x20};
  if (decisions.deviates(Deviation::startup_reserved_bits_set))
    add_flag(octets, frame.revision >= 2 ? MpaFlags::reserved_mask : 0x1F);
  if (request && decisions.deviates(Deviation::request_r_bit_set)) add_flag(octets, MpaFlags::r);
  if (decisions.deviates(Deviation::revision_zero_sent)) octets[revision_at] = std::byte{0};
  if (decisions.deviates(Deviation::pd_length_one_too_many))
    octets[pd_length_at + 1] ^= std::byte{1};
  if (decisions.deviates(Deviation::pd_length_little_endian))
    std::swap(octets[pd_length_at], octets[pd_length_at + 1]);
}

/// Ways of getting the enhanced words wrong.
void spoil_enhanced(std::vector<std::byte>& octets, const StartupFrame& frame,
                    const StreamDecisions& decisions) {
  if (!frame.enhanced) return;
  if (decisions.deviates(Deviation::enhanced_words_little_endian)) {
    std::swap(octets[enhanced_at], octets[enhanced_at + 1]);
    std::swap(octets[enhanced_at + 2], octets[enhanced_at + 3]);
  }
  if (decisions.deviates(Deviation::revision_one_with_enhanced_data))
    octets[revision_at] = std::byte{1};
  if (decisions.deviates(Deviation::enhanced_data_missing)) {
    octets.erase(octets.begin() + enhanced_at, octets.begin() + enhanced_at + 4);
    const auto length = static_cast<std::uint16_t>(octets.size() - wire::mpa_frame_header_size);
    octets[pd_length_at] = static_cast<std::byte>(length >> 8);
    octets[pd_length_at + 1] = static_cast<std::byte>(length & 0xFF);
  }
  if (decisions.deviates(Deviation::pd_length_without_enhanced_data)) {
    const auto length = static_cast<std::uint16_t>(frame.private_data.size());
    octets[pd_length_at] = static_cast<std::byte>(length >> 8);
    octets[pd_length_at + 1] = static_cast<std::byte>(length & 0xFF);
  }
}

/// The words as they go out: the deviations that state other values than those negotiated.
std::optional<Values> stated(const StartupFrame& frame, const StreamDecisions& decisions) {
  std::optional<Values> values = frame.enhanced;
  if (!values) return values;
  if (decisions.deviates(Deviation::ird_and_ord_exchanged)) std::swap(values->ird, values->ord);
  if (decisions.deviates(Deviation::rtr_flags_without_flag_a) && !values->peer_to_peer)
    values->rtr_send = values->rtr_write = values->rtr_read = true;
  return values;
}

RtrKinds kinds_of(const Values& values) {
  return {values.rtr_send, values.rtr_write, values.rtr_read};
}

RtrKinds both(const RtrKinds& a, const RtrKinds& b) {
  return {a.send && b.send, a.write && b.write, a.read && b.read};
}

bool any(const RtrKinds& kinds) { return kinds.send || kinds.write || kinds.read; }

/// The RTR flags of the Reply: of the kinds asked for those we can take, else all we can take (RFC
/// 6581 9.2).
RtrKinds offered_rtr(const Values& asked, const Config& config, const StreamDecisions& decisions) {
  if (decisions.deviates(Deviation::reply_without_rtr_flag)) return {false, false, false};
  RtrKinds common = both(kinds_of(asked), config.rtr);
  if (decisions.deviates(Deviation::reply_with_one_rtr_flag_only) && common.write)
    common.read = false;
  if (decisions.deviates(Deviation::reply_with_unmatched_rtr_flag))
    return {!asked.rtr_send, !asked.rtr_write, !asked.rtr_read};
  return any(common) ? common : config.rtr;
}

/// Whether the Request (or Reply) puts the connection under the peer-to-peer model.
bool peer_to_peer(const Values& values, const StreamDecisions& decisions) {
  if (decisions.deviates(Deviation::heeds_rtr_flags_without_flag_a) && any(kinds_of(values)))
    return true;
  if (decisions.deviates(Deviation::flag_a_sought_in_wrong_octet)) return (values.ird & 0x80) != 0;
  return values.peer_to_peer;
}

/// The responder's side of RFC 6581 9.1: `reply` gets what is stated, `negotiated` what is used.
void negotiate_depths(const Values& asked, std::uint16_t ird, std::uint16_t ord,
                      const StreamDecisions& decisions, Values& reply, Negotiated& negotiated) {
  negotiated.peer_ird = asked.ird;
  negotiated.peer_ord = asked.ord;
  // A Read as RTR needs room for one, even if the Initiator wants none (9.1).
  negotiated.ird = reply.rtr_read ? std::max<std::uint16_t>(ird, 1) : ird;
  if (asked.ord == read_depth_unnegotiated &&
      decisions.deviates(Deviation::takes_all_ones_ord_as_depth))
    negotiated.ird = asked.ord;
  reply.ird = negotiated.ird;
  if (asked.ord == read_depth_unnegotiated &&
      !decisions.deviates(Deviation::all_ones_ord_answered_with_depth))
    reply.ird = read_depth_unnegotiated;
  if (decisions.deviates(Deviation::reply_ird_one_too_many)) ++reply.ird;

  const bool bounded = asked.ird != read_depth_unnegotiated;
  const std::uint16_t bound =
      decisions.deviates(Deviation::peer_depths_not_swapped) ? asked.ord : asked.ird;
  negotiated.ord = bounded && !decisions.deviates(Deviation::responder_ignores_initiator_ird)
                       ? std::min(ord, bound)
                       : ord;
  if (!bounded && decisions.deviates(Deviation::takes_all_ones_ird_as_depth))
    negotiated.ord = asked.ird;
  reply.ord = bounded ? std::min(ord, asked.ird) : negotiated.ord;
  if (bounded && decisions.deviates(Deviation::reply_ord_above_initiator_ird))
    reply.ord = static_cast<std::uint16_t>(std::min<unsigned>(asked.ird + 1U, 0x3FFEU));
  if (bounded && reply.ord != 0 && decisions.deviates(Deviation::reply_ord_one_too_few))
    --reply.ord;
  if (!bounded && !decisions.deviates(Deviation::all_ones_ird_answered_with_depth))
    reply.ord = read_depth_unnegotiated;
}

/// Markers and CRC as both frames say (RFC 5044 7.1.1).
void negotiate_framing(MpaFlags peer, const Config& config, const StreamDecisions& decisions,
                       Negotiated& negotiated) {
  const bool mine = preferences(config, decisions).crc();
  negotiated.crc = peer.crc() || mine;
  if (decisions.deviates(Deviation::crc_only_if_both_ask)) negotiated.crc = peer.crc() && mine;
  negotiated.send_markers = peer.markers();
  if (decisions.deviates(Deviation::markers_not_sent)) negotiated.send_markers = false;
  if (decisions.deviates(Deviation::markers_sent_unasked)) negotiated.send_markers = true;
  negotiated.receive_markers = config.markers;
}

bool speaks_enhanced(const Config& config) { return config.revision >= 2; }

/// Whether the frame's own words call for the enhanced procedure.
bool is_enhanced(const wire::MpaFrame& frame) {
  return frame.revision >= 2 && frame.flags.enhanced();
}

/// The kind of RTR to send, of those that both name.
std::optional<RtrKind> choose_rtr(const Values& reply, const Config& config,
                                  const StreamDecisions& decisions) {
  RtrKinds common = both(kinds_of(reply), config.rtr);
  if (decisions.deviates(Deviation::rtr_of_unnegotiated_kind))
    common = {!reply.rtr_send, !reply.rtr_write, !reply.rtr_read};
  if (common.send) return RtrKind::send;
  if (common.write) return RtrKind::write;
  if (common.read) return RtrKind::read;
  return std::nullopt;
}

/// The initiator's side of RFC 6581 9.1. False: the Responder's ORD needs more IRD than we have.
bool adopt_depths(const Values& reply, const Config& config, const StreamDecisions& decisions,
                  Negotiated& negotiated) {
  negotiated.peer_ird = reply.ird;
  negotiated.peer_ord = reply.ord;
  if (decisions.deviates(Deviation::initiator_hides_peer_depths))
    negotiated.peer_ird = negotiated.peer_ord = 0;
  const bool keeps_ord = reply.ird == read_depth_unnegotiated ||
                         decisions.deviates(Deviation::initiator_ignores_reply_ird);
  negotiated.ord = keeps_ord ? config.ord : std::min(config.ord, reply.ird);
  if (reply.ird == read_depth_unnegotiated &&
      decisions.deviates(Deviation::takes_all_ones_reply_ird_as_depth))
    negotiated.ord = reply.ird;
  if (reply.ord != 0 && reply.ord != read_depth_unnegotiated &&
      decisions.deviates(Deviation::initiator_ird_not_raised))
    negotiated.ird = static_cast<std::uint16_t>(reply.ord - 1);
  const bool no_depth = reply.ord == read_depth_unnegotiated &&
                        !decisions.deviates(Deviation::takes_all_ones_reply_ord_as_depth);
  return no_depth || reply.ord <= config.ird;
}

/// The part of a verdict that the enhanced words decide.
void judge_enhanced(const Values& reply, const Config& config, const StreamDecisions& decisions,
                    ReplyVerdict& verdict) {
  using Kind = ReplyVerdict::Kind;
  verdict.negotiated.enhanced = true;
  if (!adopt_depths(reply, config, decisions, verdict.negotiated) &&
      !decisions.deviates(Deviation::insufficient_ird_ignored)) {
    verdict.kind = Kind::insufficient_ird;
    return;
  }
  verdict.negotiated.peer_to_peer = peer_to_peer(reply, decisions);
  if (!verdict.negotiated.peer_to_peer) return;
  verdict.rtr = choose_rtr(reply, config, decisions);
  if (both(kinds_of(reply), config.rtr) != kinds_of(reply) &&
      decisions.deviates(Deviation::extra_rtr_flag_refused))
    verdict.kind = Kind::no_matching_rtr;
  if (reply.rtr_send + reply.rtr_write + reply.rtr_read > 1 &&
      decisions.deviates(Deviation::several_rtr_kinds_refused))
    verdict.kind = Kind::no_matching_rtr;
  if (!verdict.rtr && !decisions.deviates(Deviation::missing_rtr_match_ignored))
    verdict.kind = Kind::no_matching_rtr;
}

using Parsed = std::expected<wire::ParsedMpaFrame, wire::MpaFrameError>;

/// The frame as if its key were right; only lengths and spans of `input` leave this function.
Parsed parse_with_any_key(MpaFrameKind kind, wire::Bytes input) {
  if (input.size() < wire::mpa_key_size) return std::unexpected(wire::MpaFrameError::incomplete);
  std::vector<std::byte> patched(input.begin(), input.end());
  std::ranges::copy(wire::mpa_key(kind), patched.begin());
  auto parsed = wire::parse_mpa_frame(kind, patched);
  if (parsed)
    parsed->frame.private_data =
        input.subspan(wire::mpa_frame_header_size, parsed->frame.private_data.size());
  return parsed;
}

/// The frame with whatever there is behind its header as Private Data.
Parsed parse_with_any_length(MpaFrameKind kind, wire::Bytes input) {
  return wire::ParsedMpaFrame{{kind,
                               {std::to_integer<std::uint8_t>(input[flags_at])},
                               std::to_integer<std::uint8_t>(input[revision_at]),
                               input.subspan(wire::mpa_frame_header_size)},
                              input.size()};
}

/// What a deviating receiver makes of a frame that is malformed by `error`.
Parsed parse_leniently(MpaFrameKind kind, wire::Bytes input, wire::MpaFrameError error,
                       const StreamDecisions& decisions) {
  const bool request = kind == MpaFrameKind::request;
  switch (error) {
    case wire::MpaFrameError::wrong_key:
      if (!request && decisions.deviates(Deviation::request_taken_for_reply))
        return wire::parse_mpa_frame(MpaFrameKind::request, input);
      if (decisions.deviates(request ? Deviation::accepts_wrong_request_key
                                     : Deviation::accepts_wrong_reply_key))
        return parse_with_any_key(kind, input);
      break;
    case wire::MpaFrameError::private_data_too_long:
      if (decisions.deviates(Deviation::accepts_oversize_private_data))
        return parse_with_any_length(kind, input);
      break;
    case wire::MpaFrameError::incomplete:
      if (request && input.size() >= wire::mpa_frame_header_size &&
          decisions.deviates(Deviation::request_cut_short_taken))
        return parse_with_any_length(kind, input);
      break;
  }
  return std::unexpected(error);
}

}  // namespace

std::vector<std::byte> format(const StartupFrame& frame, const StreamDecisions& decisions) {
  assert(frame.private_data.size() + (frame.enhanced ? 4 : 0) <= wire::mpa_max_private_data);
  std::vector<std::byte> octets(max_startup_frame);
  wire::Writer writer(octets);
  wire::format_mpa_frame(writer, frame.kind, frame.flags, frame.revision, stated(frame, decisions),
                         frame.private_data);
  octets.resize(writer.size());
  if (!decisions.conforming()) {
    spoil_header(octets, frame, decisions);
    spoil_enhanced(octets, frame, decisions);
    if (decisions.deviates(Deviation::startup_frame_with_crc)) {
      const auto crc = wire::crc32c_trailer(octets);
      octets.insert(octets.end(), crc.begin(), crc.end());
    }
  }
  return octets;
}

StartupFrame make_request(const Config& config, const StreamDecisions& decisions) {
  StartupFrame frame{MpaFrameKind::request, preferences(config, decisions), config.revision,
                     std::nullopt, config.private_data};
  if (!speaks_enhanced(config) || !config.enhanced) return frame;
  frame.flags.octet |= MpaFlags::s;
  Values words{.ird = config.ird, .ord = config.ord};
  if (decisions.deviates(Deviation::request_ird_one_too_many)) ++words.ird;
  const bool wanted = config.peer_to_peer || decisions.deviates(Deviation::peer_to_peer_unasked);
  if (wanted && !decisions.deviates(Deviation::request_without_flag_a)) {
    words.peer_to_peer = true;
    words.rtr_send = config.rtr.send;
    words.rtr_write = config.rtr.write;
    words.rtr_read = config.rtr.read;
    if (decisions.deviates(Deviation::offers_one_rtr_kind_only))
      words.rtr_read = words.rtr_read && !words.rtr_send && !words.rtr_write;
  }
  frame.enhanced = words;
  return frame;
}

std::expected<wire::ParsedMpaFrame, wire::MpaFrameError> parse_startup(
    MpaFrameKind kind, wire::Bytes input, const StreamDecisions& decisions) {
  auto parsed = wire::parse_mpa_frame(kind, input);
  if (!decisions.conforming()) {
    if (!parsed) parsed = parse_leniently(kind, input, parsed.error(), decisions);
    if (parsed && parsed->frame.private_data.size() > 256 &&
        decisions.deviates(Deviation::refuses_private_data_over_256))
      return std::unexpected(wire::MpaFrameError::private_data_too_long);
  }
  return parsed;
}

bool interoperable(const wire::MpaFrame& frame, const Config& config,
                   const StreamDecisions& decisions) {
  const bool request = frame.kind == MpaFrameKind::request;
  if (decisions.deviates(Deviation::refuses_startup_reserved_bits) &&
      (frame.flags.octet & (frame.revision >= 2 ? 0x0F : 0x1F)) != 0)
    return false;
  if (request && decisions.deviates(Deviation::heeds_r_bit_of_request) && frame.flags.reject())
    return false;
  if (request && decisions.deviates(Deviation::refuses_revision_one) && frame.revision == 1)
    return false;
  // mpa.startup.revision-checked
  const bool taken_all_the_same =
      decisions.deviates(Deviation::accepts_any_revision) ||
      (request && frame.revision == 2 &&
       decisions.deviates(Deviation::revision_one_takes_enhanced_request));
  if ((frame.revision < 1 || frame.revision > config.revision) && !taken_all_the_same) return false;
  // mpa.enhanced.short-private-data-is-bad-frame
  if (is_enhanced(frame) && !frame.enhanced() &&
      !decisions.deviates(Deviation::accepts_short_enhanced_data))
    return false;
  // An enhanced Request is answered by an enhanced Reply, a plain one by a plain one (RFC 6581
  // section 10).
  if (!request && is_enhanced(frame) != (speaks_enhanced(config) && config.enhanced)) return false;
  return true;
}

ConnectRequest make_connect_request(const wire::MpaFrame& request,
                                    const StreamDecisions& decisions) {
  ConnectRequest result{request.revision, request.flags, request.enhanced(),
                        copy(request.ulp_private_data())};
  if (decisions.deviates(Deviation::private_data_truncated) && !result.private_data.empty())
    result.private_data.pop_back();
  if (decisions.deviates(Deviation::enhanced_data_shown_to_ulp))
    result.private_data = copy(request.private_data);
  if (decisions.deviates(Deviation::plain_data_of_revision_two_cut) && request.revision >= 2 &&
      !request.flags.enhanced() && request.private_data.size() >= sizeof(wire::EnhancedWords))
    result.private_data = copy(request.private_data.subspan(sizeof(wire::EnhancedWords)));
  return result;
}

Acceptance accept_request(const ConnectRequest& request, const Config& config, std::uint16_t ird,
                          std::uint16_t ord, wire::Bytes private_data,
                          const StreamDecisions& decisions) {
  Acceptance result;
  result.reply = {MpaFrameKind::reply, preferences(config, decisions), request.revision,
                  std::nullopt, copy(private_data)};
  if (decisions.deviates(Deviation::accepts_by_r)) result.reply.flags.octet |= MpaFlags::r;
  result.negotiated.revision = request.revision;
  negotiate_framing(request.flags, config, decisions, result.negotiated);
  result.negotiated.ird = ird;
  result.negotiated.ord = ord;
  if (decisions.deviates(Deviation::plain_request_answered_enhanced) && !request.enhanced) {
    result.reply.flags.octet |= MpaFlags::s;
    result.reply.enhanced = Values{.ird = ird, .ord = ord};
  }
  if (!request.enhanced || decisions.deviates(Deviation::enhanced_request_answered_plain))
    return result;

  Values words;
  words.peer_to_peer = peer_to_peer(*request.enhanced, decisions);
  if (words.peer_to_peer) {
    const RtrKinds offered = offered_rtr(*request.enhanced, config, decisions);
    words.rtr_send = offered.send;
    words.rtr_write = offered.write;
    words.rtr_read = offered.read;
  }
  negotiate_depths(*request.enhanced, ird, ord, decisions, words, result.negotiated);
  result.negotiated.enhanced = true;
  result.negotiated.peer_to_peer = words.peer_to_peer;
  if (decisions.deviates(Deviation::flag_a_not_echoed)) words.peer_to_peer = false;
  if (decisions.deviates(Deviation::flag_a_raised)) words.peer_to_peer = true;
  result.reply.flags.octet |= MpaFlags::s;
  result.reply.enhanced = words;
  return result;
}

StartupFrame reject_request(const ConnectRequest& request, const Config& config,
                            wire::Bytes private_data, const StreamDecisions& decisions) {
  StartupFrame frame{MpaFrameKind::reply, preferences(config, decisions), request.revision,
                     std::nullopt, copy(private_data)};
  if (!decisions.deviates(Deviation::rejects_with_r_clear)) frame.flags.octet |= MpaFlags::r;
  if (!request.enhanced) return frame;
  // The Reply states what we would need (RFC 6581 9.1), and keeps to the connection model asked
  // for.
  frame.flags.octet |= MpaFlags::s;
  Values words{
      .peer_to_peer = request.enhanced->peer_to_peer, .ird = config.ird, .ord = config.ord};
  if (words.peer_to_peer) {
    words.rtr_send = config.rtr.send;
    words.rtr_write = config.rtr.write;
    words.rtr_read = config.rtr.read;
  }
  frame.enhanced = words;
  return frame;
}

ReplyVerdict judge_reply(const wire::MpaFrame& reply, const Config& config,
                         const StreamDecisions& decisions) {
  using Kind = ReplyVerdict::Kind;
  ReplyVerdict verdict;
  if (!interoperable(reply, config, decisions)) return verdict;
  verdict.enhanced = reply.enhanced();
  verdict.private_data = make_connect_request(reply, decisions).private_data;
  if (reply.flags.reject() && !decisions.deviates(Deviation::initiator_ignores_rejection)) {
    verdict.kind = Kind::rejected;
    return verdict;
  }
  verdict.kind = Kind::accepted;
  verdict.negotiated.revision = reply.revision;
  negotiate_framing(reply.flags, config, decisions, verdict.negotiated);
  verdict.negotiated.ird = config.ird;
  verdict.negotiated.ord = config.ord;
  if (verdict.enhanced) judge_enhanced(*verdict.enhanced, config, decisions, verdict);
  return verdict;
}

}  // namespace rnic::stream
