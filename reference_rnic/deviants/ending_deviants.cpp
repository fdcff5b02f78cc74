// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of how a stream ends: the peer's close, our own, errors, the loss of the connection.
#include "reference_rnic/deviants/stream_tables.hpp"
#include "reference_rnic/stream/stream.hpp"

namespace rnic::deviants {
namespace {

using stream::Choice;
using stream::Closing;
using stream::Decisions;
using stream::DisconnectReaction;
using stream::Ending;
using stream::Fault;
using stream::OutgoingMessage;
using stream::PeerCloseReaction;
using stream::PostedWork;
using stream::Role;
using stream::State;
using stream::WorkStatus;

// ---- the peer closes ----

struct PeerCloseIgnored : Decisions {
  void peer_closes(const Ending&, PeerCloseReaction& reaction) override { reaction.heeded = false; }
};

struct ShortReplyWaitedFor : Decisions {
  void peer_closes(const Ending& ending, PeerCloseReaction& reaction) override {
    if (ending.state == State::awaiting_reply && ending.frame_begun) reaction.ends_startup = false;
  }
};

struct CloseWithinFpduAccepted : Decisions {
  void peer_closes(const Ending&, PeerCloseReaction& reaction) override { reaction.fault.reset(); }
};

struct StopsSendingAfterPeerClose : Decisions {
  void peer_closes(const Ending&, PeerCloseReaction& reaction) override {
    reaction.ends_sending = true;
  }
};

struct HalfLeftOpen : Decisions {
  void closes(const Ending& ending, const Choice<Closing>&, Closing& closing) override {
    if (ending.state == State::closing && peer_half_closed(ending.llp)) closing = Closing::none;
  }
};

// ---- the consumer disconnects ----

struct LeavesWithTerminate : Decisions {
  void work_message(const PostedWork&, OutgoingMessage&) override { has_sent_ = true; }
  void disconnects(const Ending& ending, DisconnectReaction& reaction) override {
    if (ending.role == Role::initiator && !has_sent_)
      reaction.fault = Fault{wire::cause::rdmap_local_catastrophic, "the consumer leaves",
                             std::nullopt, std::nullopt};
  }
  bool has_sent_ = false;
};

struct WorkTakenAfterDisconnect : Decisions {
  void disconnects(const Ending&, DisconnectReaction& reaction) override {
    reaction.refuses_work = false;
  }
};

struct ClosesBeforeQueueIsSent : Decisions {
  void disconnects(const Ending&, DisconnectReaction& reaction) override {
    reaction.sends_posted_work = false;
  }
};

struct StopsReceivingAfterDisconnect : Decisions {
  void disconnects(const Ending&, DisconnectReaction& reaction) override {
    reaction.still_receives = false;
  }
};

struct ResetsInsteadOfClosing : Decisions {
  void closes(const Ending& ending, const Choice<Closing>&, Closing& closing) override {
    if (ending.state == State::closing) closing = Closing::reset;
  }
};

// ---- errors ----

class TerminateBeforeValidFpdu : public Decisions {
 public:
  void fpdu_arrived(const stream::ArrivedFpdu&, stream::FpduOutcome& outcome) override {
    faulty_ = outcome.fault.has_value();
  }
  void may_terminate(bool& may) override { may = may || faulty_; }

 private:
  bool faulty_ = false;
};

struct StaysOpenAfterTerminate : Decisions {
  void closes(const Ending& ending, const Choice<Closing>&, Closing& closing) override {
    if (ending.state == State::terminating) closing = Closing::none;
  }
};

struct ResetsAfterTerminate : Decisions {
  void closes(const Ending& ending, const Choice<Closing>&, Closing& closing) override {
    if (ending.state == State::terminating) closing = Closing::reset;
  }
};

struct StaysHalfOpenAfterError : Decisions {
  void closes(const Ending&, const Choice<Closing>&, Closing& closing) override {
    if (closing == Closing::half_close) half_closed_ = true;
    if (closing == Closing::reset && half_closed_) closing = Closing::none;
  }
  bool half_closed_ = false;
};

struct RestBehindAnErrorHoldsTheClose : Decisions {
  void fpdu_arrived(const stream::ArrivedFpdu& arrived, stream::FpduOutcome&) override {
    more_follows_ = arrived.octets.size() > arrived.wire_size;
  }
  void closes(const Ending& ending, const Choice<Closing>&, Closing& closing) override {
    if (more_follows_ && ending.state == State::terminating) closing = Closing::none;
  }

 private:
  bool more_follows_ = false;
};

// ---- the connection is lost ----

struct LostWorkSucceeds : Decisions {
  void llp_lost(WorkStatus& status) override { status = WorkStatus::success; }
};

constexpr StreamRow rows[] = {
    stream_row<PeerCloseIgnored>(Deviation::peer_close_ignored),
    stream_row<ShortReplyWaitedFor>(Deviation::short_reply_waited_for),
    stream_row<CloseWithinFpduAccepted>(Deviation::close_within_fpdu_accepted),
    stream_row<StopsSendingAfterPeerClose>(Deviation::stops_sending_after_peer_close),
    stream_row<HalfLeftOpen>(Deviation::half_left_open),
    stream_row<LeavesWithTerminate>(Deviation::leaves_with_terminate),
    stream_row<WorkTakenAfterDisconnect>(Deviation::work_taken_after_disconnect),
    stream_row<ClosesBeforeQueueIsSent>(Deviation::closes_before_queue_is_sent),
    stream_row<StopsReceivingAfterDisconnect>(Deviation::stops_receiving_after_disconnect),
    stream_row<ResetsInsteadOfClosing>(Deviation::resets_instead_of_closing),
    stream_row<TerminateBeforeValidFpdu>(Deviation::terminate_before_valid_fpdu),
    stream_row<StaysOpenAfterTerminate>(Deviation::stays_open_after_terminate),
    stream_row<ResetsAfterTerminate>(Deviation::resets_after_terminate),
    stream_row<StaysHalfOpenAfterError>(Deviation::stays_half_open_after_error),
    stream_row<RestBehindAnErrorHoldsTheClose>(Deviation::rest_behind_an_error_holds_the_close),
    stream_row<LostWorkSucceeds>(Deviation::lost_work_succeeds),
};

}  // namespace

std::span<const StreamRow> ending_deviants() { return rows; }

}  // namespace rnic::deviants
