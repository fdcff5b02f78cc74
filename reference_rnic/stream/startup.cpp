// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/startup.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <span>

namespace rnic::stream {
namespace {

using Values = wire::EnhancedWords::Values;
using wire::MpaFlags;
using wire::MpaFrameKind;
using wire::read_depth_unnegotiated;

std::vector<std::byte> copy(wire::Bytes octets) { return {octets.begin(), octets.end()}; }

/// M and C of our frame (RFC 5044 section 7.1.1).
MpaFlags preferences(const Config& config, const StreamDecisions& decisions) {
  MpaFlags flags{static_cast<std::uint8_t>((config.markers ? MpaFlags::m : 0) |
                                           (config.crc ? MpaFlags::c : 0))};
  decisions.ask(&Decisions::startup_flags, config, flags);
  return flags;
}

RtrKinds kinds_of(const Values& values) {
  return {values.rtr_send, values.rtr_write, values.rtr_read};
}

RtrKinds both(const RtrKinds& a, const RtrKinds& b) {
  return {a.send && b.send, a.write && b.write, a.read && b.read};
}

bool any(const RtrKinds& kinds) { return kinds.send || kinds.write || kinds.read; }

/// States the peer-to-peer model with these RTR kinds (RFC 6581 section 9.2).
void state_peer_to_peer(Values& words, const RtrKinds& kinds) {
  words.peer_to_peer = true;
  words.rtr_send = kinds.send;
  words.rtr_write = kinds.write;
  words.rtr_read = kinds.read;
}

/// The sets of RTR kinds that a Reply may state: any of those that we support, with at least one
/// that was asked for, if there is one (RFC 6581 section 9.2).
std::vector<RtrKinds> permitted_rtr(const RtrKinds& common, const RtrKinds& ours) {
  std::vector<RtrKinds> permitted;
  for (unsigned bits = 1; bits < 8; ++bits) {
    const RtrKinds kinds{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
    if (both(kinds, ours) != kinds) continue;
    if (any(common) && !any(both(kinds, common))) continue;
    permitted.push_back(kinds);
  }
  return permitted;
}

/// The RTR flags of the Reply: of the kinds asked for those that we support, otherwise all that we
/// support (RFC 6581 section 9.2).
RtrKinds offered_rtr(const Values& asked, const Config& config, const StreamDecisions& decisions) {
  const RtrKinds common = both(kinds_of(asked), config.rtr);
  const RtrKinds offered = any(common) ? common : config.rtr;
  if (decisions.empty()) return offered;
  const auto permitted = permitted_rtr(common, config.rtr);
  const Choice<RtrKinds> choice{"mpa.enhanced.matching-rtr-flags-set", offered, permitted};
  return decisions.decide(choice, &Decisions::rtr_offered, asked);
}

/// Whether the Request (or Reply) selects the peer-to-peer model: flag A alone decides (RFC 6581
/// section 9.2).
bool peer_to_peer(const Values& values, const StreamDecisions& decisions) {
  bool model = values.peer_to_peer;
  decisions.ask(&Decisions::connection_model, values, model);
  return model;
}

/// The responder's side of RFC 6581 section 9.1: `reply` gets what is stated, `negotiated` what is
/// used.
void negotiate_depths(const Values& asked, std::uint16_t ird, std::uint16_t ord, Values& reply,
                      Negotiated& negotiated) {
  negotiated.peer_ird = asked.ird;
  negotiated.peer_ord = asked.ord;
  // A Read as RTR needs room for one, even if the Initiator asks for none.
  negotiated.ird = reply.rtr_read ? std::max<std::uint16_t>(ird, 1) : ird;
  const bool bounded = asked.ird != read_depth_unnegotiated;
  negotiated.ord = bounded ? std::min(ord, asked.ird) : ord;
  // All ones are answered in kind.
  reply.ird = asked.ord == read_depth_unnegotiated ? read_depth_unnegotiated : negotiated.ird;
  reply.ord = bounded ? negotiated.ord : read_depth_unnegotiated;
}

/// Markers if the peer asks for them, CRCs if either side asks for them (RFC 5044 section 7.1.1).
void negotiate_framing(MpaFlags peer, const Config& config, const StreamDecisions& decisions,
                       Negotiated& negotiated) {
  const MpaFlags ours = preferences(config, decisions);
  negotiated.crc = peer.crc() || ours.crc();
  negotiated.send_markers = peer.markers();
  negotiated.receive_markers = config.markers;
  decisions.ask(&Decisions::framing_agreed, ours, peer, negotiated);
}

bool speaks_enhanced(const Config& config) { return config.revision >= 2; }

/// Whether the frame itself asks for the enhanced procedure.
bool is_enhanced(const wire::MpaFrame& frame) {
  return frame.revision >= 2 && frame.flags.enhanced();
}

/// The kind of RTR to send: any of those that both sides state (RFC 6581 section 9.2).
std::optional<RtrKind> choose_rtr(const Values& reply, const Config& config,
                                  const StreamDecisions& decisions) {
  const RtrKinds common = both(kinds_of(reply), config.rtr);
  std::array<RtrKind, 3> named{};
  std::size_t count = 0;
  if (common.send) named[count++] = RtrKind::send;
  if (common.write) named[count++] = RtrKind::write;
  if (common.read) named[count++] = RtrKind::read;
  std::optional<RtrKind> kind;
  if (count != 0) kind = named.front();
  const Choice<RtrKind> choice{"mpa.enhanced.rtr-of-negotiated-kind", named.front(),
                               std::span<const RtrKind>(named).first(count)};
  decisions.ask(&Decisions::rtr_chosen, reply, choice, kind);
  return kind;
}

/// The initiator's side of RFC 6581 section 9.1.
void adopt_depths(const Values& reply, const Config& config, Negotiated& negotiated) {
  negotiated.peer_ird = reply.ird;
  negotiated.peer_ord = reply.ord;
  negotiated.ord =
      reply.ird == read_depth_unnegotiated ? config.ord : std::min(config.ord, reply.ird);
}

/// The result of a check that has found the frame `acceptable` or not.
bool passes(const StartupCheck& check, bool acceptable, const StreamDecisions& decisions) {
  const Choice<bool> choice{check.by, acceptable, {&acceptable, 1}};
  return decisions.decide(choice, &Decisions::startup_checked, check);
}

/// The same for a check that a receiver may leave out.
bool passes_if_made(const StartupCheck& check, bool acceptable, const StreamDecisions& decisions) {
  const Choice<bool> choice{check.by, acceptable, std::span(either).subspan(acceptable ? 1 : 0)};
  return decisions.decide(choice, &Decisions::startup_checked, check);
}

/// The part of a verdict that the enhanced words decide.
void judge_enhanced(const wire::MpaFrame& frame, const Config& config,
                    const StreamDecisions& decisions, ReplyVerdict& verdict) {
  const Values& reply = *verdict.enhanced;
  verdict.negotiated.enhanced = true;
  adopt_depths(reply, config, verdict.negotiated);
  // The Responder's ORD must not need more IRD than we have (RFC 6581 section 9.1).
  const bool fits = reply.ord == read_depth_unnegotiated || reply.ord <= config.ird;
  if (!passes({"mpa.enhanced.insufficient-ird-sends-term", frame, config}, fits, decisions)) {
    verdict.kind = ReplyVerdict::Kind::insufficient_ird;
    return;
  }
  verdict.negotiated.peer_to_peer = peer_to_peer(reply, decisions);
  if (!verdict.negotiated.peer_to_peer) return;
  verdict.negotiated.rtr = kinds_of(reply);
  verdict.rtr = choose_rtr(reply, config, decisions);
  // RFC 6581 section 9.2.
  if (!passes({"mpa.enhanced.no-rtr-match-sends-term", frame, config}, verdict.rtr.has_value(),
              decisions))
    verdict.kind = ReplyVerdict::Kind::no_matching_rtr;
}

}  // namespace

std::vector<std::byte> format(StartupFrame frame, const StreamDecisions& decisions) {
  decisions.ask(&Decisions::startup_frame_leaves, frame);
  assert(frame.private_data.size() + (frame.enhanced ? 4 : 0) <= wire::mpa_max_private_data);
  std::vector<std::byte> octets(max_startup_frame);
  wire::Writer writer(octets);
  wire::format_mpa_frame(writer, frame.kind, frame.flags, frame.revision, frame.enhanced,
                         frame.private_data);
  octets.resize(writer.size());
  decisions.ask(&Decisions::startup_octets_leave, frame, octets);
  return octets;
}

StartupFrame make_request(const Config& config, const StreamDecisions& decisions) {
  StartupFrame frame{MpaFrameKind::request, preferences(config, decisions), config.revision,
                     std::nullopt, config.private_data};
  if (speaks_enhanced(config) && config.enhanced) {
    frame.flags.octet |= MpaFlags::s;
    Values words{.ird = config.ird, .ord = config.ord};
    // mpa.enhanced.initiator-offers-all-rtr-kinds
    if (config.peer_to_peer) state_peer_to_peer(words, config.rtr);
    frame.enhanced = words;
  }
  decisions.ask(&Decisions::requesting, config, frame);
  return frame;
}

ParsedStartup parse_startup(MpaFrameKind kind, wire::Bytes input,
                            const StreamDecisions& decisions) {
  ParsedStartup parsed = wire::parse_mpa_frame(kind, input);
  decisions.ask(&Decisions::startup_parsed, kind, input, parsed);
  return parsed;
}

bool interoperable(const wire::MpaFrame& frame, const Config& config,
                   const StreamDecisions& decisions) {
  // RFC 5044 section 7.1.1; RFC 6581 section 6.
  const bool spoken = frame.revision >= 1 && frame.revision <= config.revision;
  const StartupCheck revision{"mpa.startup.revision-checked", frame, config};
  // Which later revisions a receiver supports is up to it (docs/disputes.md D61).
  const bool later = config.revision >= 2 && frame.revision > config.revision &&
                     frame.kind == MpaFrameKind::request;
  if (!(later ? passes_if_made(revision, spoken, decisions) : passes(revision, spoken, decisions)))
    return false;
  // RFC 6581 section 9, whose MUST binds the sender (docs/disputes.md D61).
  const StartupCheck room{"mpa.enhanced.short-private-data-is-bad-frame", frame, config};
  const bool has_room = !is_enhanced(frame) || frame.enhanced().has_value();
  const bool of_request = frame.kind == MpaFrameKind::request;
  if (!(of_request ? passes_if_made(room, has_room, decisions) : passes(room, has_room, decisions)))
    return false;
  // An enhanced Request is answered with an enhanced Reply, a plain one with a plain one (RFC 6581
  // section 10).
  const bool in_kind = frame.kind == MpaFrameKind::request ||
                       is_enhanced(frame) == (speaks_enhanced(config) && config.enhanced);
  return passes({"mpa.enhanced.enhanced-request-gets-enhanced-reply", frame, config}, in_kind,
                decisions);
}

ConnectRequest make_connect_request(const wire::MpaFrame& request,
                                    const StreamDecisions& decisions) {
  ConnectRequest result{request.revision, request.flags, request.enhanced(),
                        copy(request.ulp_private_data())};
  decisions.ask(&Decisions::private_data_passed_up, request, result.private_data);
  return result;
}

Acceptance accept_request(const ConnectRequest& request, const Config& config, std::uint16_t ird,
                          std::uint16_t ord, wire::Bytes private_data,
                          const StreamDecisions& decisions) {
  Acceptance result;
  result.reply = {MpaFrameKind::reply, preferences(config, decisions), request.revision,
                  std::nullopt, copy(private_data)};
  result.negotiated.revision = request.revision;
  negotiate_framing(request.flags, config, decisions, result.negotiated);
  result.negotiated.ird = ird;
  result.negotiated.ord = ord;
  if (request.enhanced) {
    Values words;
    if (peer_to_peer(*request.enhanced, decisions))
      state_peer_to_peer(words, offered_rtr(*request.enhanced, config, decisions));
    negotiate_depths(*request.enhanced, ird, ord, words, result.negotiated);
    // A Responder that does not want to negotiate may say so (docs/disputes.md D59).
    const std::array ords{words.ord, read_depth_unnegotiated};
    words.ord = decisions.decide(
        Choice<std::uint16_t>{"mpa.enhanced.responder-ord-at-most-initiator-ird", words.ord, ords},
        &Decisions::reply_ord, AcceptedRequest{request, config, ird, ord});
    result.negotiated.enhanced = true;
    result.negotiated.peer_to_peer = words.peer_to_peer;
    result.negotiated.rtr = kinds_of(words);
    result.reply.flags.octet |= MpaFlags::s;
    result.reply.enhanced = words;
  }
  decisions.ask(&Decisions::accepting, AcceptedRequest{request, config, ird, ord}, result);
  return result;
}

StartupFrame reject_request(const ConnectRequest& request, const Config& config,
                            wire::Bytes private_data, const StreamDecisions& decisions) {
  StartupFrame frame{MpaFrameKind::reply, preferences(config, decisions), request.revision,
                     std::nullopt, copy(private_data)};
  frame.flags.octet |= MpaFlags::r;
  if (!request.enhanced) return frame;
  // The Reply states what we would need (RFC 6581 section 9.1), and keeps the connection model of
  // the Request.
  frame.flags.octet |= MpaFlags::s;
  Values words{.ird = config.ird, .ord = config.ord};
  if (request.enhanced->peer_to_peer) state_peer_to_peer(words, config.rtr);
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
  if (reply.flags.reject()) {
    verdict.kind = Kind::rejected;
    return verdict;
  }
  verdict.kind = Kind::accepted;
  verdict.negotiated.revision = reply.revision;
  negotiate_framing(reply.flags, config, decisions, verdict.negotiated);
  verdict.negotiated.ird = config.ird;
  verdict.negotiated.ord = config.ord;
  if (verdict.enhanced) judge_enhanced(reply, config, decisions, verdict);
  decisions.ask(&Decisions::reply_judged, config, verdict);
  return verdict;
}

}  // namespace rnic::stream
