// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Connection managers that are wrong: in what they accept, in what they report of a connection to
// their consumers, and in how its octets are sent on TCP.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "reference_rnic/access/link.hpp"
#include "reference_rnic/deviants/faults.hpp"
#include "reference_rnic/deviants/rnic_tables.hpp"

namespace rnic::deviants {
namespace {

using access::About;
using access::ConnectionEnded;
using access::ConnectionEstablished;
using access::ConnectionEvent;
using access::ConnectionFailed;
using access::ConnectionId;
using access::ConnectionRejected;
using access::ConnectionRequest;
using Events = std::vector<ConnectionEvent>;

template <typename... Kinds>
bool is_one_of(const ConnectionEvent& event) {
  return (std::holds_alternative<Kinds>(event) || ...);
}

/// Calls `change` with each event of one kind.
template <typename Event, typename Change>
void each(Events& events, Change&& change) {
  for (ConnectionEvent& event : events)
    if (Event* found = std::get_if<Event>(&event)) change(*found);
}

// ---- listening and accepting ----

struct ListensOnBothFamilies : access::Decisions {
  void listening(llp::Network& network, llp::Listener::Observer& observer,
                 std::vector<std::unique_ptr<llp::Listener>>& listeners) override {
    const base::Address local = listeners.front()->local();
    if (local.family != base::Family::ipv4) return;
    auto other =
        network.listen(network.address(base::Family::ipv6).with_port(local.port), observer);
    if (other) listeners.push_back(std::move(*other));
  }
};

bool listens_everywhere(const base::Address& local) {
  return local.octets == base::Address{}.octets;
}

/// Listens at `local` in place of what its consumer named.
void move_listener(llp::Network& network, llp::Listener::Observer& observer,
                   std::vector<std::unique_ptr<llp::Listener>>& listeners,
                   const base::Address& local) {
  listeners.clear();
  if (auto other = network.listen(local, observer)) listeners.push_back(std::move(*other));
}

struct WildcardIsOneAddress : access::Decisions {
  void listening(llp::Network& network, llp::Listener::Observer& observer,
                 std::vector<std::unique_ptr<llp::Listener>>& listeners) override {
    const base::Address local = listeners.front()->local();
    if (listens_everywhere(local))
      move_listener(network, observer, listeners,
                    network.address(local.family).with_port(local.port));
  }
};

struct ListensEverywhere : access::Decisions {
  void listening(llp::Network& network, llp::Listener::Observer& observer,
                 std::vector<std::unique_ptr<llp::Listener>>& listeners) override {
    base::Address local = listeners.front()->local();
    if (listens_everywhere(local)) return;
    local.octets = {};
    move_listener(network, observer, listeners, local);
  }
};

struct HalfOpenStartupBlocks : access::Decisions {
  void startups_allowed(std::size_t& most) override { most = 1; }
};

class ConnectionOutlivesItsEndpoint final : public access::Decisions,
                                            private llp::Connection::Observer {
 public:
  void endpoint_dropped(access::Link& link) override {
    auto connection = link.release();
    if (connection == nullptr) return;
    connection->set_observer(*this);
    connection->pause_receiving(true);
    kept_.push_back(std::move(connection));
  }

 private:
  void readable() override {}
  void writable() override {}
  void ended(llp::Ending) override {}

  std::vector<std::unique_ptr<llp::Connection>> kept_;
};

struct ConsumerIrdIgnored : access::Decisions {
  void ird_granted(const access::IrdQuestion& question, std::uint16_t& ird) override {
    ird = question.most;
  }
};

struct ReadQueueSharedByStreams : access::Decisions {
  void ird_granted(const access::IrdQuestion& question, std::uint16_t& ird) override {
    if (question.others != 0) ird = 0;
  }
};

struct OpenIrdBoundedByThePeers : access::Decisions {
  void ird_granted(const access::IrdQuestion& question, std::uint16_t& ird) override {
    if (question.left_open && question.peer_ird) ird = std::min(ird, *question.peer_ird);
  }
};

struct LateAcceptUnanswered : access::Decisions {
  void call_refused(Refused call, std::expected<void, access::Failure>& answer, bool&) override {
    if (call == Refused::late_accept) answer = {};
  }
};

struct RefusedConnectRemembered : access::Decisions {
  void call_refused(Refused call, std::expected<void, access::Failure>&,
                    bool& nothing_remains) override {
    if (call == Refused::connect) nothing_remains = false;
  }
};

/// Its listeners have room for so many connections, however long those live.
struct AcceptedConnectionsFillTheBacklog : access::Decisions {
  void startups_allowed(std::size_t& most) override { most -= std::min(most, alive_); }
  void reported(const About& about, std::vector<ConnectionEvent>& events) override {
    if (about.initiator) return;
    each<access::ConnectionEstablished>(events, [this](auto&) { ++alive_; });
    each<access::ConnectionEnded>(events, [this](auto&) { --alive_; });
  }
  std::size_t alive_ = 0;
};

struct BadRequestEndsAllStartups : access::Decisions {
  void startup_failed(const stream::StartupFailed& event, bool& others_end) override {
    if (event.fault == stream::StartupFault::invalid_frame) others_end = true;
  }
};

// ---- what is never reported ----

/// Reports no event of these kinds.
template <typename... Kinds>
struct NotReported : access::Decisions {
  void reported(const About&, Events& events) override {
    std::erase_if(events, is_one_of<Kinds...>);
  }
};
using EstablishedNever = NotReported<ConnectionEstablished>;
using StartupFailureNotTold = NotReported<ConnectionFailed>;
using DisconnectionNotTold = NotReported<ConnectionEnded>;

/// Reports no event of these kinds on connections whose stream has reported what `hides` names.
template <bool (*hides)(const stream::Event&), typename... Kinds>
struct NotReportedAfter : access::Decisions {
  void stream_reported(const About& about, const stream::Event& event) override {
    if (hides(event)) silent_.insert(about.connection);
  }
  void reported(const About& about, Events& events) override {
    if (silent_.contains(about.connection)) std::erase_if(events, is_one_of<Kinds...>);
  }
  std::set<ConnectionId> silent_;
};

template <bool (*hidden)(wire::TerminateCause)>
bool has_failed(const stream::Event& event) {
  const auto* failed = std::get_if<stream::Failed>(&event);
  return failed != nullptr && hidden(failed->cause);
}
template <typename Kind>
bool is_news(const stream::Event& event) {
  return std::holds_alternative<Kind>(event);
}
template <stream::StartupFault Fault>
bool is_startup_fault(const stream::Event& event) {
  const auto* failed = std::get_if<stream::StartupFailed>(&event);
  return failed != nullptr && failed->fault == Fault;
}
bool is_lost(const stream::Event& event) {
  return is_news<stream::Lost>(event) || is_startup_fault<stream::StartupFault::lost>(event);
}

using StreamFaultNotReported = NotReportedAfter<has_failed<is_any_fault>, ConnectionEnded>;
using LlpFaultNotReported = NotReportedAfter<has_failed<is_llp_fault>, ConnectionEnded>;
using ReadRefusalNotReported = NotReportedAfter<has_failed<is_read_refusal>, ConnectionEnded>;
using EndAfterTerminateNotTold =
    NotReportedAfter<is_news<stream::TerminateReceived>, ConnectionEnded>;
using HalfCloseNotTold = NotReportedAfter<is_news<stream::PeerClosed>, ConnectionEnded>;
using ResetNotTold = NotReportedAfter<is_lost, ConnectionFailed, ConnectionEnded>;
using UnenhancedCloseNotTold =
    NotReportedAfter<is_startup_fault<stream::StartupFault::peer_closed>, ConnectionFailed>;

// ---- what is reported wrongly ----

struct EstablishedBeforeReply : access::Decisions {
  void llp_connected(const About& about, Events& events) override {
    events.emplace_back(ConnectionEstablished{
        .connection = about.connection, .queue_pair = about.queue_pair, .negotiated = {}});
    announced_.insert(about.connection);
  }
  void reported(const About& about, Events& events) override {
    if (announced_.contains(about.connection))
      std::erase_if(events, is_one_of<ConnectionEstablished>);
  }
  std::set<ConnectionId> announced_;
};

struct RejectionNotTold : access::Decisions {
  void reported(const About& about, Events& events) override {
    for (ConnectionEvent& event : events)
      if (is_one_of<ConnectionRejected>(event))
        event = ConnectionFailed{.connection = about.connection,
                                 .queue_pair = about.queue_pair,
                                 .failure = access::ConnectFailure::lost};
  }
};

struct ResponderHidesPeerDepths : access::Decisions {
  void reported(const About&, Events& events) override {
    each<ConnectionRequest>(events, [](ConnectionRequest& request) {
      if (request.depths) request.depths = access::PeerDepths{};
    });
  }
};

struct DepthsShownUnswapped : access::Decisions {
  void reported(const About&, Events& events) override {
    each<ConnectionRequest>(events, [](ConnectionRequest& request) {
      if (request.depths) std::swap(request.depths->ird, request.depths->ord);
    });
  }
};

/// Of two listeners that were made one after the other, and that both get requests.
struct RequestNamesTheFirstListener : access::Decisions {
  void reported(const About&, Events& events) override {
    each<ConnectionRequest>(events, [&](ConnectionRequest& request) {
      const access::ListenerId before{static_cast<std::uint64_t>(request.listener) - 1};
      if (used_.contains(before))
        request.listener = before;
      else
        used_.insert(request.listener);
    });
  }

 private:
  std::set<access::ListenerId> used_;
};

/// Takes a depth of 0 for one that was left open.
template <typename Event>
struct DepthOfZeroShownAsOne : access::Decisions {
  void reported(const About&, Events& events) override {
    each<Event>(events, [](Event& event) {
      if (!event.depths) return;
      for (std::uint16_t* depth : {&event.depths->ird, &event.depths->ord})
        if (*depth == 0) *depth = 1;
    });
  }
};

bool is_peer_to_peer(const ConnectionRequest& event) { return event.peer_to_peer; }
bool is_peer_to_peer(const ConnectionEstablished& event) { return event.negotiated.peer_to_peer; }

template <typename Event>
struct PeerToPeerDepthsUnswapped : access::Decisions {
  void reported(const About&, Events& events) override {
    each<Event>(events, [](Event& event) {
      if (event.depths && is_peer_to_peer(event)) std::swap(event.depths->ird, event.depths->ord);
    });
  }
};

struct RejectedDepthsWithheld : access::Decisions {
  void reported(const About&, Events& events) override {
    each<ConnectionRejected>(events, [](ConnectionRejected& event) { event.depths.reset(); });
  }
};

/// Changes the private data of each frame that the peer sent.
class PrivateDataChanged : public access::Decisions {
 public:
  void reported(const About& about, Events& events) final {
    each<ConnectionRequest>(events, [&](auto& event) { change(event.private_data); });
    each<ConnectionRejected>(events, [&](auto& event) { change(event.private_data); });
    // Only the initiator is established by a frame of the peer.
    if (about.initiator)
      each<ConnectionEstablished>(events, [&](auto& event) { change(event.private_data); });
  }

 private:
  virtual void change(std::vector<std::byte>& private_data) const = 0;
};

struct PrivateDataLost : PrivateDataChanged {
  void change(std::vector<std::byte>& private_data) const override { private_data.clear(); }
};

struct PlainRejectionLosesPrivateData : access::Decisions {
  void reported(const About&, Events& events) override {
    each<ConnectionRejected>(events, [](ConnectionRejected& event) {
      if (!event.depths) event.private_data.clear();
    });
  }
};

/// Keeps the four octets of the enhanced data free in every answer.
struct PlainAnswerLeavesRoom : access::Decisions {
  void private_data_limited(bool, std::size_t& octets) override {
    octets = wire::mpa_max_private_data - sizeof(wire::EnhancedWords);
  }
};

struct PrivateDataCutForConsumer : PrivateDataChanged {
  void change(std::vector<std::byte>& private_data) const override {
    constexpr std::size_t room = 256;
    if (private_data.size() > room) private_data.resize(room);
  }
};

struct PrivateDataMadeUp : PrivateDataChanged {
  void change(std::vector<std::byte>& private_data) const override {
    if (private_data.empty()) private_data.resize(4);
  }
};

// ---- octets on TCP ----

struct SegmentsCutAnywhere : access::Decisions {
  void segments_aligned(const stream::Choice<bool>&, bool& aligned) override { aligned = false; }
};

template <access::PathNotice Fatal>
struct GivesUpAt : access::Decisions {
  void path_noticed(access::PathNotice notice, bool& goes_on) override {
    if (notice == Fatal) goes_on = false;
  }
};
using GivesUpAtFullWindow = GivesUpAt<access::PathNotice::window_open>;
using EcnMarkResets = GivesUpAt<access::PathNotice::ecn_mark>;

struct LongerIpHeaderForgotten : access::Decisions {
  void emss_found(base::Family family, std::size_t& octets) override {
    constexpr std::size_t ipv6_header_excess = 20;  // over a header of IPv4
    if (family == base::Family::ipv6) octets += ipv6_header_excess;
  }
};

constexpr ConnectionRow rows[] = {
    connection_row<ConnectionOutlivesItsEndpoint>(Deviation::connection_outlives_its_endpoint),
    connection_row<ListensOnBothFamilies>(Deviation::listens_on_both_families),
    connection_row<WildcardIsOneAddress>(Deviation::wildcard_is_one_address),
    connection_row<ListensEverywhere>(Deviation::listens_everywhere),
    connection_row<HalfOpenStartupBlocks>(Deviation::half_open_startup_blocks),
    connection_row<ConsumerIrdIgnored>(Deviation::consumer_ird_ignored),
    connection_row<ReadQueueSharedByStreams>(Deviation::read_queue_shared_by_streams),
    connection_row<OpenIrdBoundedByThePeers>(Deviation::open_ird_bounded_by_the_peers),
    connection_row<RefusedConnectRemembered>(Deviation::refused_connect_remembered),
    connection_row<AcceptedConnectionsFillTheBacklog>(
        Deviation::accepted_connections_fill_the_backlog),
    connection_row<LateAcceptUnanswered>(Deviation::late_accept_unanswered),
    connection_row<BadRequestEndsAllStartups>(Deviation::bad_request_ends_all_startups),
    connection_row<EstablishedNever>(Deviation::established_never),
    connection_row<StartupFailureNotTold>(Deviation::startup_failure_not_told),
    connection_row<DisconnectionNotTold>(Deviation::disconnection_not_told),
    connection_row<StreamFaultNotReported>(Deviation::stream_fault_not_reported),
    connection_row<LlpFaultNotReported>(Deviation::llp_fault_not_reported),
    connection_row<ReadRefusalNotReported>(Deviation::read_refusal_not_reported),
    connection_row<EndAfterTerminateNotTold>(Deviation::end_after_terminate_not_told),
    connection_row<HalfCloseNotTold>(Deviation::half_close_not_told),
    connection_row<ResetNotTold>(Deviation::reset_not_told),
    connection_row<UnenhancedCloseNotTold>(Deviation::unenhanced_close_not_told),
    connection_row<EstablishedBeforeReply>(Deviation::established_before_reply),
    connection_row<RejectionNotTold>(Deviation::rejection_not_told),
    connection_row<ResponderHidesPeerDepths>(Deviation::responder_hides_peer_depths),
    connection_row<DepthsShownUnswapped>(Deviation::depths_shown_unswapped),
    connection_row<RequestNamesTheFirstListener>(Deviation::request_names_the_first_listener),
    connection_row<DepthOfZeroShownAsOne<ConnectionRequest>>(
        Deviation::requested_depth_of_zero_shown_as_one),
    connection_row<DepthOfZeroShownAsOne<ConnectionEstablished>>(
        Deviation::replied_depth_of_zero_shown_as_one),
    connection_row<DepthOfZeroShownAsOne<ConnectionRejected>>(
        Deviation::rejected_depth_of_zero_shown_as_one),
    connection_row<PeerToPeerDepthsUnswapped<ConnectionRequest>>(
        Deviation::peer_to_peer_request_depths_unswapped),
    connection_row<PeerToPeerDepthsUnswapped<ConnectionEstablished>>(
        Deviation::peer_to_peer_reply_depths_unswapped),
    connection_row<RejectedDepthsWithheld>(Deviation::rejected_depths_withheld),
    connection_row<PrivateDataLost>(Deviation::private_data_lost),
    connection_row<PlainRejectionLosesPrivateData>(Deviation::plain_rejection_loses_private_data),
    connection_row<PlainAnswerLeavesRoom>(Deviation::plain_answer_leaves_room),
    connection_row<PrivateDataCutForConsumer>(Deviation::private_data_cut_for_consumer),
    connection_row<PrivateDataMadeUp>(Deviation::private_data_made_up),
    connection_row<SegmentsCutAnywhere>(Deviation::segments_cut_anywhere),
    connection_row<GivesUpAtFullWindow>(Deviation::gives_up_at_full_window),
    connection_row<EcnMarkResets>(Deviation::ecn_mark_resets),
    connection_row<LongerIpHeaderForgotten>(Deviation::longer_ip_header_forgotten),
};

}  // namespace

std::span<const ConnectionRow> connection_deviants() { return rows; }

}  // namespace rnic::deviants
