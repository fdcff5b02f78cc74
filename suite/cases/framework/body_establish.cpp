// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the connections of a case come up.
#include "suite/cases/framework/body.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/cases/framework/revision.hpp"

namespace suite::cases {

namespace {

/// IRD and ORD where a case needs no particular ones.
constexpr int default_depth = 4;

}  // namespace

base::Address Body::iut_address() {
  return iut.listen(case_.family == base::Family::ipv4 ? environment_.iut_ipv4
                                                       : environment_.iut_ipv6);
}

Peer& Body::another_peer() {
  others_.push_back(std::make_unique<Peer>(context_));
  return *others_.back();
}

void Body::establish(Peer& which, const Establish& options) {
  Establish filled = options;
  const auto usual = [&](const char* name) {
    return static_cast<int>(within_limit(iut.limits(), name, default_depth));
  };
  if (!filled.parameters.ird) filled.parameters.ird = usual("max_ird");
  if (!filled.parameters.ord) filled.parameters.ord = usual("max_ord");
  const iut::Handle endpoint = options.endpoint != 0 ? options.endpoint : iut.endpoint();
  establishing_by_ = options.judged_by;
  if (case_.role == Role::responder)
    establish_responder(which, filled, endpoint);
  else
    establish_initiator(which, filled, endpoint);
  if (!options.judged_by.id.empty())
    record(options.judged_by, {"the connection comes up"}, "it came up", {}, Judgement::pass,
           Direction::none);
  establishing_by_ = {};
}

void Body::not_established(const std::string& why) {
  if (!establishing_by_.id.empty())
    record(establishing_by_, {"the connection comes up"}, why, {}, failure_of(establishing_by_),
           Direction::none);
  throw CaseStop{Verdict::inconclusive, "the connection could not be established: " + why};
}

/// An arrival that establishing needs; a peer that answers in another way leaves the case without
/// its object.
Arrival Body::need(WireEnd& from, const Expected& expected, const char* what) {
  Arrival arrival = from.next(deadline());
  need_wanted_revision(arrival, case_, environment_);
  iut.poll();
  if (expected.judge(arrival) == Judgement::fail)
    not_established(fmt::format("{} instead of {}", arrival.text(), what));
  return arrival;
}

void Body::establish_responder(Peer& which, const Establish& options, iut::Handle endpoint) {
  if (const auto done = which.connect(iut_address()); !done) not_established(done.error());
  which.send(options.request.value_or(mpa_request().with_crc(case_.configuration.crc)));
  const auto request = iut.take<iut::ConnectRequestEvent>(deadline());
  if (!request)
    not_established("the IUT's API shows no connection request; on the wire: " +
                    which.next(context_.loop.now()).text());
  iut.accept(request->request, endpoint, options.parameters);
  need(which, accepting_reply(), "an accepting Reply");
  if (options.opening) open_as_initiator(which);
}

/// A case about the connection itself is judged in spite of that.
void Body::need_initiator() const {
  const auto& failed = environment_.controls.initiator;
  if (failed && establishing_by_.id.empty())
    stop(Verdict::inconclusive, "the IUT opens no connection: " + failed->reason);
}

/// The API reports immediately if a connection does not come up.
void Body::await_established() {
  const auto end = iut.take(
      [](const iut::Event& event) {
        return std::holds_alternative<iut::EstablishedEvent>(event) ||
               std::holds_alternative<iut::RejectedEvent>(event) ||
               std::holds_alternative<iut::ConnectFailedEvent>(event);
      },
      deadline());
  if (!end) not_established("no established event; " + iut.untaken());
  if (!std::holds_alternative<iut::EstablishedEvent>(*end))
    not_established("no established event; " + describe(*end));
}

void Body::establish_initiator(Peer& which, const Establish& options, iut::Handle endpoint) {
  need_initiator();
  if (!acceptor_) acceptor_ = std::make_unique<Acceptor>(context_, case_.family);
  if (!acceptor_->error().empty()) stop(Verdict::error, acceptor_->error());
  iut.connect(endpoint, acceptor_->address(), options.parameters);
  auto connection = acceptor_->next(deadline());
  if (!connection) not_established("the IUT does not connect; " + iut.untaken());
  which.adopt(std::move(connection));
  need(which, mpa_frame(), "an MPA Request");
  const auto request = which.received_frame()->frame();
  const lower_tester::StartupFrame reply =
      options.reply ? options.reply(request)
                    : mpa_reply_to(request).with_crc(case_.configuration.crc);
  which.send(reply);
  if (!which.in_rdma_mode()) return;
  // Cases of the peer-to-peer model judge the indication themselves.
  const bool agreed = reply.enhanced && reply.enhanced->peer_to_peer;
  if (agreed && !(options.reply && case_.configuration.peer_to_peer)) take_rtr(which);
  await_established();
  const auto words = request.enhanced();
  if (!options.opening || (words && words->peer_to_peer)) return;
  // A responder may not send before it has received
  // (RFC 5044 section 7.1.2), so the IUT goes first.
  static_cast<void>(iut.post_send(octets("open"), operation::send,
                                  [&](iut::PostWork& work) { work.endpoint = endpoint; }));
  need(which, message(Opcode::send), "the IUT's first message");
}

StreamPeer& Body::connect_partner(const Partner& terms) {
  StreamPeerTerms own;
  own.deviations = terms.deviations;
  // What the IUT's own frames say is judged separately: the case continues whatever their revision.
  own.deviations.push_back(Deviation::accepts_any_revision);
  const bool initiator = iut_is_responder();
  own.config.revision = initiator ? terms.revision : 2;
  own.config.enhanced = terms.revision > 1;
  own.config.markers = terms.markers;
  own.config.crc = terms.crc.value_or(case_.configuration.crc);
  own.config.peer_to_peer = initiator && terms.peer_to_peer.has_value();
  if (terms.peer_to_peer) own.config.rtr = *terms.peer_to_peer;
  // An IUT without a queue for Reads has none of these cases.
  const auto usual = [&](const char* name) {
    return std::max(1, static_cast<int>(within_limit(iut.limits(), name, default_depth)));
  };
  iut::ConnectParameters parameters;
  parameters.ird = usual("max_ird");
  parameters.ord = usual("max_ord");
  own.config.ird = static_cast<std::uint16_t>(*parameters.ord);
  own.config.ord = static_cast<std::uint16_t>(*parameters.ird);
  partner_ = std::make_unique<StreamPeer>(context_, std::move(own));
  establishing_by_ = terms.judged_by;
  const iut::Handle endpoint = terms.endpoint != 0 ? terms.endpoint : iut.endpoint();
  if (initiator)
    connect_to_responder(endpoint, parameters);
  else
    let_initiator_connect(endpoint, parameters);
  if (const auto up = partner_->await_established(); !up) not_established(up.error());
  if (!terms.judged_by.id.empty())
    record(terms.judged_by, {"the connection comes up"}, "it came up", {}, Judgement::pass,
           Direction::none);
  establishing_by_ = {};
  open_partner();
  return *partner_;
}

void Body::connect_to_responder(iut::Handle endpoint, const iut::ConnectParameters& parameters) {
  if (const auto done = partner_->connect(iut_address()); !done) not_established(done.error());
  const auto request = iut.take<iut::ConnectRequestEvent>(deadline());
  if (!request)
    not_established("the IUT's API shows no connection request; our stream: " +
                    partner_->trouble());
  iut.accept(request->request, endpoint, parameters);
}

void Body::let_initiator_connect(iut::Handle endpoint, const iut::ConnectParameters& parameters) {
  need_initiator();
  if (!acceptor_) acceptor_ = std::make_unique<Acceptor>(context_, case_.family);
  if (!acceptor_->error().empty()) stop(Verdict::error, acceptor_->error());
  iut.connect(endpoint, acceptor_->address(), parameters);
  auto connection = acceptor_->next(deadline());
  if (!connection) not_established("the IUT does not connect; " + iut.untaken());
  partner_->adopt(std::move(connection));
  await_established();
}

/// The first FPDU, which the MPA initiator must send, by a Write: an empty one of the tester; one
/// octet by an IUT, which may be unable to send an empty one. In the peer-to-peer model the RTR
/// indication was the first FPDU.
void Body::open_partner() {
  if (iut_is_responder()) {
    const Region target = iut.register_memory(1, access::remote_write);
    partner_->write({}, target.stag, target.base);
  } else if (const auto words = partner_->received_frame()->frame().enhanced();
             !words || !words->peer_to_peer) {
    const TesterBuffer& target = partner_->add_buffer(Octets(1));
    const Work opening = iut.post_write(Octets(1), target.stag, target.base);
    need(*partner_, mpa_frame(), "an MPA Request");
    need(*partner_, message(Opcode::rdma_write), "the IUT's first Write");
    if (!iut.take(completion_of(opening).matches, deadline()))
      not_established("the IUT's first Write does not complete; " + iut.untaken());
  }
  partner_->skip_arrivals();
}

/// In the peer-to-peer model the initiator's first FPDU
/// is the RTR indication (RFC 6581 section 9.2).
void Body::take_rtr(Peer& which) {
  const Arrival arrival = need(
      which, message(Opcode::send) | message(Opcode::rdma_write) | message(Opcode::read_request),
      "an RTR indication");
  const auto read = arrival.as<Message>()->read_request();
  if (read) which.send(read_response(read->sink_stag, read->sink_offset, {}));
}

/// The first FPDU, after which a Responder may send, and which its consumer does not see.
void Body::open_as_initiator(Peer& which) {
  const Region target = iut.register_memory(1, access::remote_write);
  which.send(rdma_write(target.stag, target.base, {}));
}

void Body::let_iut_send() {
  if (!peer.raw().was_opened()) establish();
  if (iut_is_responder()) open_as_initiator(peer.raw());
}

void Body::see_iut_send() {
  let_iut_send();
  static_cast<void>(iut.post_send(octets("open")));
  need(peer.raw(), message(Opcode::send), "the IUT's first message");
}

void Body::let_iut_connect(const iut::ConnectParameters& parameters) {
  if (!acceptor_) acceptor_ = std::make_unique<Acceptor>(context_, case_.family);
  if (!acceptor_->error().empty()) stop(Verdict::error, acceptor_->error());
  iut.connect(iut.endpoint(), acceptor_->address(), parameters);
  auto connection = acceptor_->next(deadline());
  if (!connection) not_established("the IUT does not connect; " + iut.untaken());
  peer.raw().adopt(std::move(connection));
}

}  // namespace suite::cases
