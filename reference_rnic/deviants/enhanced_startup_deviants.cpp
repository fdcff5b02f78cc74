// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of what enhanced startup agrees on: the connection model, RTR indications, IRD and ORD
// (RFC 6581 section 9).
#include <algorithm>
#include <utility>

#include "reference_rnic/deviants/stream_tables.hpp"
#include "reference_rnic/stream/outgoing_message.hpp"
#include "reference_rnic/stream/startup.hpp"

namespace rnic::deviants {
namespace {

using namespace stream;  // NOLINT(google-build-using-namespace): the words of what deviates
using Values = wire::EnhancedWords::Values;
using Kind = ReplyVerdict::Kind;
using wire::MpaFlags;
using wire::read_depth_unnegotiated;

RtrKinds kinds_of(const Values& values) {
  return {values.rtr_send, values.rtr_write, values.rtr_read};
}

RtrKinds all_but(const RtrKinds& kinds) { return {!kinds.send, !kinds.write, !kinds.read}; }

void state(Values& values, const RtrKinds& kinds) {
  values.rtr_send = kinds.send;
  values.rtr_write = kinds.write;
  values.rtr_read = kinds.read;
}

// ---- whether the enhanced procedure is used ----

struct EnhancedRequestAnsweredPlain : Decisions {
  void accepting(const AcceptedRequest& asked, Acceptance& answer) override {
    answer.reply.flags.octet &= static_cast<std::uint8_t>(~MpaFlags::s);
    answer.reply.enhanced.reset();
    answer.negotiated.enhanced = answer.negotiated.peer_to_peer = false;
    answer.negotiated.ird = asked.ird;
    answer.negotiated.ord = asked.ord;
    answer.negotiated.peer_ird = answer.negotiated.peer_ord = 0;
  }
};

struct PlainRequestAnsweredEnhanced : Decisions {
  void accepting(const AcceptedRequest& asked, Acceptance& answer) override {
    if (asked.request.enhanced) return;
    answer.reply.flags.octet |= MpaFlags::s;
    answer.reply.enhanced = Values{.ird = asked.ird, .ord = asked.ord};
  }
};

// ---- the connection model ----

struct PeerToPeerUnasked : Decisions {
  void requesting(const Config& config, StartupFrame& frame) override {
    if (!frame.enhanced) return;
    frame.enhanced->peer_to_peer = true;
    state(*frame.enhanced, config.rtr);
  }
};

struct EnhancedWithoutNeed : Decisions {
  void requesting(const Config&, StartupFrame& frame) override {
    if (frame.enhanced && !frame.enhanced->peer_to_peer)
      frame.enhanced->ird = frame.enhanced->ord = read_depth_unnegotiated;
  }
};

struct RequestWithoutFlagA : Decisions {
  void requesting(const Config&, StartupFrame& frame) override {
    if (!frame.enhanced) return;
    frame.enhanced->peer_to_peer = false;
    state(*frame.enhanced, {false, false, false});
  }
};

template <bool flag_a>
struct ReplyWithFlagA : Decisions {
  void accepting(const AcceptedRequest&, Acceptance& answer) override {
    if (answer.reply.enhanced) answer.reply.enhanced->peer_to_peer = flag_a;
  }
};

struct HeedsRtrFlagsWithoutFlagA : Decisions {
  void connection_model(const Values& values, bool& peer_to_peer) override {
    if (kinds_of(values) != RtrKinds{false, false, false}) peer_to_peer = true;
  }
};

struct FlagASoughtInWrongOctet : Decisions {
  void connection_model(const Values& values, bool& peer_to_peer) override {
    peer_to_peer = (values.ird & 0x80) != 0;
  }
};

// ---- RTR indications ----

struct OffersOneRtrKindOnly : Decisions {
  void requesting(const Config&, StartupFrame& frame) override {
    if (!frame.enhanced) return;
    Values& words = *frame.enhanced;
    words.rtr_read = words.rtr_read && !words.rtr_send && !words.rtr_write;
  }
};

struct ReplyWithoutRtrFlag : Decisions {
  void rtr_offered(const Values&, const Choice<RtrKinds>&, RtrKinds& offered) override {
    offered = {false, false, false};
  }
};

struct ReplyWithUnmatchedRtrFlag : Decisions {
  void rtr_offered(const Values& asked, const Choice<RtrKinds>&, RtrKinds& offered) override {
    offered = all_but(kinds_of(asked));
  }
};

struct ReplyWithOneRtrFlagOnly : Decisions {
  void rtr_offered(const Values& asked, const Choice<RtrKinds>&, RtrKinds& offered) override {
    if (asked.rtr_write && offered.write) offered.read = false;
  }
};

struct RtrOfUnnegotiatedKind : Decisions {
  void rtr_chosen(const Values& reply, const Choice<RtrKind>&,
                  std::optional<RtrKind>& kind) override {
    kind.reset();
    if (!reply.rtr_read) kind = RtrKind::read;
    if (!reply.rtr_write) kind = RtrKind::write;
    if (!reply.rtr_send) kind = RtrKind::send;
  }
};

struct RtrSentThoughNoneIsStated : Decisions {
  void rtr_chosen(const Values& reply, const Choice<RtrKind>&,
                  std::optional<RtrKind>& kind) override {
    if (kinds_of(reply) == RtrKinds{false, false, false}) kind = RtrKind::write;
  }
};

struct RtrNotSent : Decisions {
  void reply_judged(const Config&, ReplyVerdict& verdict) override { verdict.rtr.reset(); }
};

struct RtrNotZeroLength : Decisions {
  void rtr_leaves(RtrKind kind, OutgoingMessage& message) override {
    if (kind != RtrKind::read) message.header.resize(1);
  }
};

struct MissingRtrMatchIgnored : Decisions {
  void startup_checked(const StartupCheck& check, const Choice<bool>&, bool& acceptable) override {
    if (check.by.id == "mpa.enhanced.no-rtr-match-sends-term") acceptable = true;
  }
};

/// Refuses Replies that state RTR kinds as told, though one of them fits.
struct RtrKindsRefused : Decisions {
  void startup_checked(const StartupCheck& check, const Choice<bool>&, bool& acceptable) override {
    if (check.by.id != "mpa.enhanced.no-rtr-match-sends-term") return;
    if (refused(kinds_of(*check.frame.enhanced()), check.config.rtr)) acceptable = false;
  }
  [[nodiscard]] virtual bool refused(const RtrKinds& stated, const RtrKinds& ours) const = 0;
};

struct ExtraRtrFlagRefused : RtrKindsRefused {
  [[nodiscard]] bool refused(const RtrKinds& stated, const RtrKinds& ours) const override {
    return (stated.send && !ours.send) || (stated.write && !ours.write) ||
           (stated.read && !ours.read);
  }
};

struct SeveralRtrKindsRefused : RtrKindsRefused {
  [[nodiscard]] bool refused(const RtrKinds& stated, const RtrKinds&) const override {
    return stated.send + stated.write + stated.read > 1;
  }
};

struct RtrRefused : Decisions {
  void rtr_taken(const IncomingSegment&, const Negotiated&, bool& taken) override { taken = false; }
};

struct RtrWithStagZeroRefused : Decisions {
  void rtr_taken(const IncomingSegment& incoming, const Negotiated&, bool& taken) override {
    if (incoming.segment.rdmap().opcode() == wire::Opcode::rdma_write &&
        incoming.segment.tagged_header.stag.value() == 0)
      taken = false;
  }
};

struct ReadRtrWithoutRoomRefused : Decisions {
  void rtr_taken(const IncomingSegment& incoming, const Negotiated& agreed, bool& taken) override {
    if (incoming.segment.rdmap().opcode() == wire::Opcode::read_request && agreed.peer_ord == 0)
      taken = false;
  }
};

// ---- IRD and ORD as Responder ----

/// Changes what is agreed upon an enhanced Request.
struct ResponderDepths : Decisions {
  void accepting(const AcceptedRequest& asked, Acceptance& answer) override {
    if (asked.request.enhanced && answer.reply.enhanced)
      change(*asked.request.enhanced, asked, *answer.reply.enhanced, answer.negotiated);
  }
  virtual void change(const Values& request, const AcceptedRequest& offer, Values& reply,
                      Negotiated& used) = 0;
};

struct TakesAllOnesOrdAsDepth : ResponderDepths {
  void change(const Values& request, const AcceptedRequest&, Values&, Negotiated& used) override {
    if (request.ord == read_depth_unnegotiated) used.ird = request.ord;
  }
};

struct TakesAllOnesIrdAsDepth : ResponderDepths {
  void change(const Values& request, const AcceptedRequest&, Values&, Negotiated& used) override {
    if (request.ird == read_depth_unnegotiated) used.ord = request.ird;
  }
};

struct AllOnesOrdAnsweredWithDepth : ResponderDepths {
  void change(const Values& request, const AcceptedRequest&, Values& reply,
              Negotiated& used) override {
    if (request.ord == read_depth_unnegotiated) reply.ird = used.ird;
  }
};

struct AllOnesIrdAnsweredWithDepth : ResponderDepths {
  void change(const Values& request, const AcceptedRequest&, Values& reply,
              Negotiated& used) override {
    if (request.ird == read_depth_unnegotiated) reply.ord = used.ord;
  }
};

struct ReplyIrdOneTooMany : ResponderDepths {
  void change(const Values&, const AcceptedRequest&, Values& reply, Negotiated&) override {
    ++reply.ird;
  }
};

struct ReplyOrdOneTooFew : ResponderDepths {
  void change(const Values& request, const AcceptedRequest&, Values& reply, Negotiated&) override {
    if (request.ird != read_depth_unnegotiated && reply.ord != 0) --reply.ord;
  }
};

struct ReplyOrdAboveInitiatorIrd : ResponderDepths {
  void change(const Values& request, const AcceptedRequest&, Values& reply, Negotiated&) override {
    if (request.ird == read_depth_unnegotiated) return;
    reply.ord = std::min(static_cast<std::uint16_t>(request.ird + 1), largest_depth);
  }
};

struct ResponderIgnoresInitiatorIrd : ResponderDepths {
  void change(const Values&, const AcceptedRequest& offer, Values&, Negotiated& used) override {
    used.ord = offer.ord;
  }
};

struct IrdZeroTakenForOne : ResponderDepths {
  void change(const Values& request, const AcceptedRequest& offer, Values&,
              Negotiated& used) override {
    if (request.ird == 0 && offer.ord != 0) used.ord = 1;
  }
};

struct PeerDepthsNotSwapped : ResponderDepths {
  void change(const Values& request, const AcceptedRequest& offer, Values&,
              Negotiated& used) override {
    if (request.ird != read_depth_unnegotiated) used.ord = std::min(offer.ord, request.ord);
  }
};

// ---- IRD and ORD as Initiator ----

struct RequestIrdOneTooMany : Decisions {
  void requesting(const Config&, StartupFrame& frame) override {
    if (frame.enhanced) ++frame.enhanced->ird;
  }
};

struct RequestOrdOneTooMany : Decisions {
  void requesting(const Config&, StartupFrame& frame) override {
    if (frame.enhanced) ++frame.enhanced->ord;
  }
};

struct InsufficientIrdIgnored : Decisions {
  void startup_checked(const StartupCheck& check, const Choice<bool>&, bool& acceptable) override {
    if (check.by.id == "mpa.enhanced.insufficient-ird-sends-term") acceptable = true;
  }
};

struct TakesAllOnesReplyOrdAsDepth : Decisions {
  void startup_checked(const StartupCheck& check, const Choice<bool>&, bool& acceptable) override {
    if (check.by.id == "mpa.enhanced.insufficient-ird-sends-term")
      acceptable = check.frame.enhanced()->ord <= check.config.ird;
  }
};

struct InitiatorHidesPeerDepths : Decisions {
  void reply_judged(const Config&, ReplyVerdict& verdict) override {
    verdict.negotiated.peer_ird = verdict.negotiated.peer_ord = 0;
  }
};

struct InitiatorIgnoresReplyIrd : Decisions {
  void reply_judged(const Config& config, ReplyVerdict& verdict) override {
    verdict.negotiated.ord = config.ord;
  }
};

struct TakesAllOnesReplyIrdAsDepth : Decisions {
  void reply_judged(const Config&, ReplyVerdict& verdict) override {
    if (verdict.enhanced && verdict.enhanced->ird == read_depth_unnegotiated)
      verdict.negotiated.ord = read_depth_unnegotiated;
  }
};

struct InitiatorIrdNotRaised : Decisions {
  void reply_judged(const Config&, ReplyVerdict& verdict) override {
    if (!verdict.enhanced) return;
    const std::uint16_t ord = verdict.enhanced->ord;
    if (ord != 0 && ord != read_depth_unnegotiated)
      verdict.negotiated.ird = static_cast<std::uint16_t>(ord - 1);
  }
};

struct InitiatorAdjustsAfterRtr : Decisions {
  void reply_judged(const Config&, ReplyVerdict& verdict) override {
    unadjusted_ = verdict.rtr.has_value();
  }
  void inbound_limit(wire::Opcode, std::size_t& places) override {
    if (unadjusted_) places = 1;
  }
  void next_work(const base::Fifo<PostedWork>&, std::size_t, std::size_t&) override {
    unadjusted_ = false;
  }

 private:
  bool unadjusted_ = false;
};

constexpr StreamRow rows[] = {
    stream_row<EnhancedWithoutNeed>(Deviation::enhanced_without_need),
    stream_row<EnhancedRequestAnsweredPlain>(Deviation::enhanced_request_answered_plain),
    stream_row<PlainRequestAnsweredEnhanced>(Deviation::plain_request_answered_enhanced),
    stream_row<PeerToPeerUnasked>(Deviation::peer_to_peer_unasked),
    stream_row<RequestWithoutFlagA>(Deviation::request_without_flag_a),
    stream_row<ReplyWithFlagA<false>>(Deviation::flag_a_not_echoed),
    stream_row<ReplyWithFlagA<true>>(Deviation::flag_a_raised),
    stream_row<HeedsRtrFlagsWithoutFlagA>(Deviation::heeds_rtr_flags_without_flag_a),
    stream_row<FlagASoughtInWrongOctet>(Deviation::flag_a_sought_in_wrong_octet),
    stream_row<OffersOneRtrKindOnly>(Deviation::offers_one_rtr_kind_only),
    stream_row<ReplyWithoutRtrFlag>(Deviation::reply_without_rtr_flag),
    stream_row<ReplyWithUnmatchedRtrFlag>(Deviation::reply_with_unmatched_rtr_flag),
    stream_row<ReplyWithOneRtrFlagOnly>(Deviation::reply_with_one_rtr_flag_only),
    stream_row<RtrOfUnnegotiatedKind>(Deviation::rtr_of_unnegotiated_kind),
    stream_row<RtrSentThoughNoneIsStated>(Deviation::rtr_sent_though_none_is_stated),
    stream_row<RtrNotSent>(Deviation::rtr_not_sent),
    stream_row<RtrNotSent>(Deviation::rtr_left_to_the_ulp),
    stream_row<RtrNotZeroLength>(Deviation::rtr_not_zero_length),
    stream_row<MissingRtrMatchIgnored>(Deviation::missing_rtr_match_ignored),
    stream_row<ExtraRtrFlagRefused>(Deviation::extra_rtr_flag_refused),
    stream_row<SeveralRtrKindsRefused>(Deviation::several_rtr_kinds_refused),
    stream_row<RtrRefused>(Deviation::rtr_refused),
    stream_row<RtrWithStagZeroRefused>(Deviation::rtr_with_stag_zero_refused),
    stream_row<ReadRtrWithoutRoomRefused>(Deviation::read_rtr_without_room_refused),
    stream_row<TakesAllOnesOrdAsDepth>(Deviation::takes_all_ones_ord_as_depth),
    stream_row<TakesAllOnesIrdAsDepth>(Deviation::takes_all_ones_ird_as_depth),
    stream_row<AllOnesOrdAnsweredWithDepth>(Deviation::all_ones_ord_answered_with_depth),
    stream_row<AllOnesIrdAnsweredWithDepth>(Deviation::all_ones_ird_answered_with_depth),
    stream_row<ReplyIrdOneTooMany>(Deviation::reply_ird_one_too_many),
    stream_row<ReplyOrdOneTooFew>(Deviation::reply_ord_one_too_few),
    stream_row<ReplyOrdAboveInitiatorIrd>(Deviation::reply_ord_above_initiator_ird),
    stream_row<ResponderIgnoresInitiatorIrd>(Deviation::responder_ignores_initiator_ird),
    stream_row<IrdZeroTakenForOne>(Deviation::ird_zero_taken_for_one),
    stream_row<PeerDepthsNotSwapped>(Deviation::peer_depths_not_swapped),
    stream_row<RequestIrdOneTooMany>(Deviation::request_ird_one_too_many),
    stream_row<RequestOrdOneTooMany>(Deviation::request_ord_one_too_many),
    stream_row<InsufficientIrdIgnored>(Deviation::insufficient_ird_ignored),
    stream_row<TakesAllOnesReplyOrdAsDepth>(Deviation::takes_all_ones_reply_ord_as_depth),
    stream_row<InitiatorHidesPeerDepths>(Deviation::initiator_hides_peer_depths),
    stream_row<InitiatorIgnoresReplyIrd>(Deviation::initiator_ignores_reply_ird),
    stream_row<TakesAllOnesReplyIrdAsDepth>(Deviation::takes_all_ones_reply_ird_as_depth),
    stream_row<InitiatorIrdNotRaised>(Deviation::initiator_ird_not_raised),
    stream_row<InitiatorAdjustsAfterRtr>(Deviation::initiator_adjusts_after_rtr),
};

}  // namespace

std::span<const StreamRow> enhanced_startup_deviants() { return rows; }

}  // namespace rnic::deviants
