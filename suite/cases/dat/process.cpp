// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What one process may expect of another: the end of one ends its connections and frees what it
// had; a request may be handed from one to the other.
#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/dat/framework/dat_peer.hpp"
#include "suite/cases/dat/framework/dat_requests.hpp"

namespace suite::cases::dat {

namespace {

/// An endpoint here, connected to one of a second process.
struct CrossProcessPair {
  explicit CrossProcessPair(DatBody& body)
      : pz(body.ia().pz()), side(make_side(body.ia(), pz)), peer(body, PeerRole::accepts) {
    connect(body, peer);
  }
  void connect(DatBody& body, Peer& to) {
    body.need(ask(body.ia(), side.ep, to.qualifier()), "no connect");
    to.await("established");
    if (next_event(side.connection).event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
      body.stop(Verdict::inconclusive, "no connection with the second process");
  }

  Pz pz;
  Side side;
  Peer peer;
};

/// The connection has ended, in either of two ways, which is up to the transport.
void expect_ended(DatBody& body, const Side& side) {
  const DAT_EVENT event = next_event(side.connection);
  const bool ended = event.event_number == DAT_CONNECTION_EVENT_BROKEN ||
                     event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED;
  body.expect_that(ended, "DAT_CONNECTION_EVENT_BROKEN or DAT_CONNECTION_EVENT_DISCONNECTED",
                   event_text(event.event_number));
  body.expect_that(event.event_data.connect_event_data.ep_handle == side.ep.get(), "the endpoint",
                   value_text(event.event_data.connect_event_data.ep_handle));
  body.expect_state(side.ep, DAT_EP_STATE_DISCONNECTED);
}

bool is_failure(DAT_EVENT_NUMBER number) {
  return number == DAT_CONNECTION_EVENT_PEER_REJECTED ||
         number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED ||
         number == DAT_CONNECTION_EVENT_DISCONNECTED || number == DAT_CONNECTION_EVENT_BROKEN ||
         number == DAT_CONNECTION_EVENT_TIMED_OUT || number == DAT_CONNECTION_EVENT_UNREACHABLE;
}

}  // namespace

DAT_CASE(connection_ends_with_the_peers_process, calls(dat_evd_wait, dat_ep_get_status),
         rules("dat.ia-close.process-end"), deadline_of(10s)) {
  CrossProcessPair pair(*this);
  pair.peer.kill();
  expect_ended(*this, pair.side);
}

DAT_CASE(receives_are_flushed_when_the_peers_process_ends, calls(dat_ep_post_recv, dat_evd_wait),
         rules("dat.ep-disconnect.flush", "dat.ia-close.process-end"), deadline_of(10s)) {
  CrossProcessPair pair(*this);
  const Lmr lmr(ia(), pair.pz.get(), 64);
  for (const DAT_UINT64 id : {1U, 2U})
    need(post_recv(pair.side.ep.get(), {lmr.triplet()}, id), "no receive");
  pair.peer.kill();
  for (const DAT_UINT64 id : {1U, 2U})
    expect_completion(pair.side.receives, id, DAT_DTO_ERR_FLUSHED);
  expect_ended(*this, pair.side);
}

DAT_CASE(qualifier_of_an_ended_process_can_be_reused, calls(dat_psp_create),
         rules("dat.ia-close.process-end"), deadline_of(10s)) {
  CrossProcessPair pair(*this);
  pair.peer.kill();
  expect_ended(*this, pair.side);
  expect_nobody_listens(*this, pair.peer.qualifier());
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  DAT_PSP_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_psp_create, ia().get(), pair.peer.qualifier(), requests.get(),
              DAT_PSP_CONSUMER_FLAG, &handle),
         succeeds);
  const Psp psp(handle);
}

DAT_CASE(request_ends_with_the_process_that_holds_it, calls(dat_ep_connect),
         rules("dat.ia-close.process-end"), deadline_of(10s)) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  Peer peer(*this, PeerRole::holds);
  need(ask(ia(), side.ep, peer.qualifier()), "no connect");
  peer.await("request");
  peer.kill();
  const DAT_EVENT event = next_event(side.connection);
  expect_that(is_failure(event.event_number), "an event that reports a failure",
              event_text(event.event_number));
  expect_state(side.ep, DAT_EP_STATE_DISCONNECTED);
}

DAT_CASE(endpoint_whose_peer_died_connects_again, calls(dat_ep_reset, dat_ep_connect),
         rules("dat.ep-reset.success"), deadline_of(10s)) {
  CrossProcessPair pair(*this);
  pair.peer.kill();
  expect_ended(*this, pair.side);
  expect(CALL(dat_ep_reset, pair.side.ep.get()), succeeds);
  Peer another(*this, PeerRole::accepts);
  pair.connect(*this, another);
  const Lmr lmr(ia(), pair.pz.get(), 64);
  expect(post_send(pair.side.ep.get(), {lmr.triplet()}, 7), succeeds);
  expect_completion(pair.side.requests, 7, DAT_DTO_SUCCESS);
}

DAT_CASE(regions_of_two_processes_have_contexts_that_differ, calls(dat_lmr_create),
         rules("rdmap.security.stag-unpredictable"), deadline_of(10s)) {
  Peer first(*this, PeerRole::registers), second(*this, PeerRole::registers);
  const std::string contexts = first.next_word();
  expect_that(second.next_word() != contexts, "others than another process has been given",
              contexts);
}

// ---------------------------------------------------------------- hand-off

DAT_CASE(request_is_handed_to_another_process, calls(dat_cr_handoff, dat_cr_query),
         rules("dat.cr-handoff.other-process"), deadline_of(10s)) {
  Peer peer(*this, PeerRole::accepts);
  const auto sent = private_octets(static_cast<std::size_t>(most_private_data(ia())));
  PendingRequest pending(*this, sent);
  // A provider that is limited to its own process finds no service point there.
  const DAT_RETURN got = CALL(dat_cr_handoff, pending.cr, peer.qualifier());
  expect(got, succeeds.or_tolerably(DAT_INVALID_PARAMETER));
  if (got != DAT_SUCCESS) return;
  const DAT_CR_HANDLE gone = std::exchange(pending.cr, DAT_HANDLE_NULL);
  const DAT_EVENT event = expect_event(pending.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  const auto& data = event.event_data.connect_event_data;  // the peer accepts with what came
  expect_private_data(*this, sent, data.private_data, data.private_data_size);
  peer.await("established");
  const Lmr lmr(ia(), pending.pz.get(), 64);
  expect(post_send(pending.active.ep.get(), {lmr.triplet()}, 3), succeeds);
  expect_completion(pending.active.requests, 3, DAT_DTO_SUCCESS);
  DAT_CR_PARAM param{};
  expect(CALL(dat_cr_query, gone, DAT_CR_FIELD_ALL, &param), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(service_point_goes_on_after_a_handoff, calls(dat_cr_handoff, dat_cr_accept),
         rules("dat.cr-handoff.other-process"), deadline_of(10s)) {
  Peer peer(*this, PeerRole::accepts);
  PendingRequest pending(*this);
  const DAT_RETURN got = CALL(dat_cr_handoff, pending.cr, peer.qualifier());
  expect(got, succeeds.or_tolerably(DAT_INVALID_PARAMETER));
  if (got != DAT_SUCCESS) return;
  pending.cr = DAT_HANDLE_NULL;
  expect_event(pending.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  const Side second = make_side(ia(), pending.pz);
  need(ask(ia(), second.ep, pending.qualifier), "no connect");
  pending.cr = arrival(*this, pending.requests).cr_handle;
  expect(pending.accept(), succeeds);
  expect_event(second.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect_event(pending.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

DAT_CASE(handoff_to_a_process_that_ended_is_refused, calls(dat_cr_handoff),
         rules("dat.cr-handoff.invalid-parameter"), deadline_of(10s)) {
  Peer peer(*this, PeerRole::accepts);
  PendingRequest pending(*this);
  peer.kill();
  expect(CALL(dat_cr_handoff, pending.cr, peer.qualifier()), returns(DAT_INVALID_PARAMETER));
  expect(pending.accept(), succeeds);  // the request still exists
  expect_event(pending.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
}

DAT_CASES_OF_FILE(process)

}  // namespace suite::cases::dat
