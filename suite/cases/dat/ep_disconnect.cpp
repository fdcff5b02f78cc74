// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// dat_ep_disconnect: graceful and abrupt, and the events that connections end in.
#include <atomic>
#include <thread>

#include "base/file_descriptor.hpp"
#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/dat/framework/dat_ep_attributes.hpp"
#include "suite/cases/dat/framework/dat_raw_peer.hpp"
#include "suite/cases/dat/framework/dat_requests.hpp"

namespace suite::cases::dat {

namespace {

using rnic::wire::MpaFrameKind;

/// An endpoint that has accepted a peer by hand, with or without a receive.
struct ByHand {
  ByHand(DatBody& body, const RawPeer::Octets& request, bool receives = true)
      : listener(body.ia()),
        pz(body.ia().pz()),
        memory(body.ia(), pz.get(), 64),
        side(make_side(body.ia(), pz)) {
    sockaddr_storage at = *reinterpret_cast<const sockaddr_storage*>(body.ia().address());
    const auto port = htons(static_cast<std::uint16_t>(listener.qualifier));
    const bool v4 = at.ss_family == AF_INET;
    (v4 ? reinterpret_cast<sockaddr_in&>(at).sin_port
        : reinterpret_cast<sockaddr_in6&>(at).sin6_port) = port;
    socket = base::FileDescriptor(::socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&at),
                  v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6)) != 0)
      body.stop(Verdict::not_applicable, "the service point is at no TCP port of this host");
    if (!peer().send(request)) body.stop(Verdict::inconclusive, "the Request cannot be sent");
    if (receives) body.need(post_recv(side.ep.get(), {memory.triplet(0, 8)}, 1), "no receive");
    body.need(CALL(dat_cr_accept, listener.next(), side.ep.get(), 0, nullptr), "no accept");
    if (!peer().receive_frame(MpaFrameKind::reply))
      body.stop(Verdict::inconclusive, "no Reply to the Request");
  }
  [[nodiscard]] RawPeer peer() const { return RawPeer(socket.get()); }

  Listener listener;
  Pz pz;
  Lmr memory;
  Side side;
  base::FileDescriptor socket;
};

/// The peer does not send its RTR indication: until then the connection is not complete (RFC 6581
/// section 9.2).
struct Completing : ByHand {
  explicit Completing(DatBody& body) : ByHand(body, RawPeer::peer_to_peer_request()) {
    DAT_EP_STATE state{};
    body.need(CALL(dat_ep_get_status, side.ep.get(), &state, nullptr, nullptr), "no status");
    if (state != DAT_EP_STATE_COMPLETION_PENDING)
      body.stop(Verdict::not_applicable, "an acceptance is complete with the Reply");
  }
};

/// The peer answers no request, and does not close its end before a Terminate says that the stream
/// is over: a connection whose close waits for a Response waits for ever.
struct Unanswered : ByHand {
  explicit Unanswered(DatBody& body, bool receives = true)
      : ByHand(body, RawPeer::frame(MpaFrameKind::request, {}), receives) {
    if (!peer().open()) body.stop(Verdict::inconclusive, "the first FPDU cannot be sent");
    const auto first = next_event(side.connection).event_number;
    if (first != DAT_CONNECTION_EVENT_ESTABLISHED)
      body.stop(Verdict::inconclusive, "no connection: " + event_text(first));
    follower = std::jthread([this] {
      while (const auto ulpdu = peer().receive_fpdu()) {
        const auto header = rnic::wire::Reader(*ulpdu).read<rnic::wire::UntaggedHeader>();
        asked = asked || header.rdmap.opcode() == rnic::wire::Opcode::read_request;
        if (header.rdmap.opcode() != rnic::wire::Opcode::terminate) continue;
        ::shutdown(socket.get(), SHUT_WR);
        return;
      }
    });
  }
  Unanswered(const Unanswered&) = delete;
  Unanswered& operator=(const Unanswered&) = delete;
  /// Posts a Read, which has reached the peer then.
  void read(DatBody& body, DAT_UINT64 id) const {
    body.need(post_read(side.ep.get(), {memory.triplet(8, 8)}, memory.remote(16, 8), id),
              "no read");
    while (!asked) std::this_thread::yield();
  }
  ~Unanswered() { ::shutdown(socket.get(), SHUT_RDWR); }  // ends the follower's wait

  std::atomic<bool> asked = false;
  std::jthread follower;
};

}  // namespace

DAT_CASE(disconnect_is_reported_to_both_sides, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.success")) {
  for (const auto& [name, flag] :
       {std::pair{"abrupt", DAT_CLOSE_ABRUPT_FLAG}, std::pair{"graceful", DAT_CLOSE_GRACEFUL_FLAG}})
    for (const bool active : {true, false})
      row(fmt::format("{} by the {} side", name, active ? "active" : "passive"), [&] {
        const Pair pair = connected();
        const Side& side = active ? pair.active : pair.passive;
        expect(CALL(dat_ep_disconnect, side.ep.get(), flag), succeeds);
        for (const Side* each : {&pair.active, &pair.passive}) {
          const DAT_EVENT event = expect_event(each->connection, DAT_CONNECTION_EVENT_DISCONNECTED);
          expect_endpoint(*this, event, each->ep);
          expect_state(each->ep, DAT_EP_STATE_DISCONNECTED);
          expect_no_event(each->connection);
        }
      });
}

DAT_CASE(second_disconnect_changes_nothing, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.no-op")) {
  const Pair pair = connected();
  end_connection(pair);
  for (const DAT_CLOSE_FLAGS flag : {DAT_CLOSE_ABRUPT_FLAG, DAT_CLOSE_GRACEFUL_FLAG})
    expect(CALL(dat_ep_disconnect, pair.active.ep.get(), flag), succeeds);
  expect_state(pair.active.ep, DAT_EP_STATE_DISCONNECTED);
  expect_no_event(pair.active.connection);
}

DAT_CASE(both_sides_may_disconnect_at_once, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.success")) {
  const Pair pair = connected();
  expect(CALL(dat_ep_disconnect, pair.active.ep.get(), DAT_CLOSE_GRACEFUL_FLAG), succeeds);
  expect(CALL(dat_ep_disconnect, pair.passive.ep.get(), DAT_CLOSE_GRACEFUL_FLAG), succeeds);
  for (const Side* side : {&pair.active, &pair.passive}) {
    (void)expect_event(side->connection, DAT_CONNECTION_EVENT_DISCONNECTED);
    expect_state(side->ep, DAT_EP_STATE_DISCONNECTED);
    expect_no_event(side->connection);
  }
}

DAT_CASE(requests_complete_before_a_graceful_disconnect, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.graceful"), deadline_of(10s)) {
  const Pair pair = connected();
  const std::size_t size = 256 * 1024;
  const Lmr source(ia(), pair.pz.get(), size), sink(ia(), pair.pz.get(), size);
  need(post_recv(pair.passive.ep.get(), {sink.triplet(0, 64)}, 9), "no receive");
  for (DAT_UINT64 id = 1; id <= 4; ++id)
    need(post_write(pair.active.ep.get(), {source.triplet()}, sink.remote(), id), "no write");
  need(post_send(pair.active.ep.get(), {source.triplet(0, 64)}, 5), "no send");
  expect(CALL(dat_ep_disconnect, pair.active.ep.get(), DAT_CLOSE_GRACEFUL_FLAG), succeeds);
  for (DAT_UINT64 id = 1; id <= 5; ++id)
    (void)expect_completion(pair.active.requests, id, DAT_DTO_SUCCESS);
  (void)expect_completion(pair.passive.receives, 9, DAT_DTO_SUCCESS);
  (void)expect_event(pair.active.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
}

// More Reads than are served at a time, and what a fence keeps behind them.
DAT_CASE(reads_and_what_waits_for_them_complete_before_a_graceful_disconnect,
         calls(dat_ep_disconnect), rules("dat.ep-disconnect.graceful"), deadline_of(10s)) {
  const Pair pair = connected();
  const std::size_t size = 256 * 1024;
  const Lmr source(ia(), pair.pz.get(), size), sink(ia(), pair.pz.get(), size);
  constexpr DAT_UINT64 reads = 6;
  need(post_recv(pair.passive.ep.get(), {source.triplet(0, 64)}, 9), "no receive");
  for (DAT_UINT64 id = 1; id <= reads; ++id)
    need(post_read(pair.active.ep.get(), {sink.triplet()}, source.remote(), id), "no read");
  need(post_write(pair.active.ep.get(), {sink.triplet(0, 64)}, source.remote(0, 64), reads + 1,
                  with_flags(DAT_COMPLETION_BARRIER_FENCE_FLAG)),
       "no write");
  need(post_send(pair.active.ep.get(), {sink.triplet(0, 64)}, reads + 2), "no send");
  expect(CALL(dat_ep_disconnect, pair.active.ep.get(), DAT_CLOSE_GRACEFUL_FLAG), succeeds);
  for (DAT_UINT64 id = 1; id <= reads + 2; ++id)
    (void)expect_completion(pair.active.requests, id, DAT_DTO_SUCCESS);
  (void)expect_completion(pair.passive.receives, 9, DAT_DTO_SUCCESS);
  (void)expect_event(pair.active.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
}

DAT_CASE(reads_complete_before_a_graceful_disconnect, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.graceful"), deadline_of(20s)) {
  const Pair pair = connected();
  const std::size_t size = std::size_t{1024} * 1024;
  const Lmr source(ia(), pair.pz.get(), size), sink(ia(), pair.pz.get(), size);
  for (DAT_UINT64 id = 1; id <= 8; ++id)
    need(post_read(pair.active.ep.get(), {sink.triplet()}, source.remote(), id), "no read");
  expect(CALL(dat_ep_disconnect, pair.active.ep.get(), DAT_CLOSE_GRACEFUL_FLAG), succeeds);
  for (DAT_UINT64 id = 1; id <= 8; ++id)
    (void)expect_completion(pair.active.requests, id, DAT_DTO_SUCCESS);
  (void)expect_event(pair.active.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  expect_no_event(pair.active.requests);
}

DAT_CASE(every_request_completes_after_an_abrupt_disconnect, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.flush"), deadline_of(10s)) {
  const Pair pair = connected();
  const std::size_t size = 1024 * 1024;
  const Lmr source(ia(), pair.pz.get(), size), sink(ia(), pair.pz.get(), size);
  for (DAT_UINT64 id = 1; id <= 8; ++id)
    need(post_write(pair.active.ep.get(), {source.triplet()}, sink.remote(), id), "no write");
  expect(CALL(dat_ep_disconnect, pair.active.ep.get(), DAT_CLOSE_ABRUPT_FLAG), succeeds);
  bool failed = false;
  for (DAT_UINT64 id = 1; id <= 8; ++id) {
    const DAT_EVENT event = expect_event(pair.active.requests, DAT_DTO_COMPLETION_EVENT);
    const auto& data = event.event_data.dto_completion_event_data;
    expect_that(data.user_cookie.as_64 == id, fmt::format("completion {}", id),
                fmt::format("completion {}", data.user_cookie.as_64));
    expect_that(!failed || data.status != DAT_DTO_SUCCESS, "no success after a failure",
                status_text(data.status));
    failed = failed || data.status != DAT_DTO_SUCCESS;
  }
  (void)expect_event(pair.active.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
}

namespace {

/// An endpoint whose Read (cookie 2) nobody answers is disconnected abruptly: a close that waits for
/// the Response would never end.
void expect_cut_off(DatBody& body, const Side& side) {
  body.expect(CALL(dat_ep_disconnect, side.ep.get(), DAT_CLOSE_ABRUPT_FLAG), succeeds);
  const Waited ended =
      wait_on(side.connection, static_cast<DAT_TIMEOUT>(2e6 * body.target().deadline_scale));
  body.expect_that(
      ended.code == DAT_SUCCESS && ended.event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED,
      event_text(DAT_CONNECTION_EVENT_DISCONNECTED),
      ended.code == DAT_SUCCESS ? event_text(ended.event.event_number) : return_text(ended.code));
  body.expect_state(side.ep, DAT_EP_STATE_DISCONNECTED);
  const DAT_EVENT event =
      body.expect_event(side.requests, DAT_DTO_COMPLETION_EVENT, "dat.ep-disconnect.flush");
  const auto& data = event.event_data.dto_completion_event_data;
  body.expect_that(
      data.user_cookie.as_64 == 2 && data.status != DAT_DTO_SUCCESS, "the Read, without success",
      fmt::format("completion {}: {}", data.user_cookie.as_64, status_text(data.status)),
      "dat.ep-disconnect.flush");
  body.expect_no_event(side.connection);
}

}  // namespace

DAT_CASE(abrupt_disconnect_ends_a_graceful_one, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.success", "dat.ep-disconnect.flush")) {
  const Unanswered connection(*this);
  connection.read(*this, 2);
  expect(CALL(dat_ep_disconnect, connection.side.ep.get(), DAT_CLOSE_GRACEFUL_FLAG), succeeds);
  expect_cut_off(*this, connection.side);
}

DAT_CASE(abrupt_disconnect_waits_for_no_read, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.success", "dat.ep-disconnect.flush")) {
  for (const bool receives : {false, true}) {
    row(receives ? "beside a receive" : "with nothing else outstanding", [&] {
      const Unanswered connection(*this, receives);
      connection.read(*this, 2);
      expect_cut_off(*this, connection.side);
    });
  }
}

DAT_CASE(endpoint_that_waits_to_disconnect_takes_no_request,
         calls(dat_ep_disconnect, dat_ep_get_status, dat_ep_post_send, dat_ep_post_rdma_write,
               dat_ep_post_rdma_read, dat_ep_query),
         rules("dat.ep-disconnect.graceful", "dat.ep-get-status.success", "dat.ep-query.addresses",
               "dat.ep-post-send.invalid-state", "dat.ep-post-rdma-write.invalid-state",
               "dat.ep-post-rdma-read.invalid-state")) {
  const Unanswered connection(*this);
  const DAT_EP_HANDLE ep = connection.side.ep.get();
  const Lmr& memory = connection.memory;
  connection.read(*this, 2);
  const auto judge = [&](DAT_EP_STATE wanted, RuleRef rule) {
    DAT_EP_STATE state{};
    DAT_BOOLEAN receives{}, requests{};
    expect(CALL(dat_ep_get_status, ep, &state, &receives, &requests), succeeds,
           "dat.ep-get-status.success");
    expect_that(state == wanted, state_text(wanted), state_text(state), rule);
    expect_that(requests == DAT_FALSE, "a request outstanding", "idle",
                "dat.ep-get-status.success");
  };
  judge(DAT_EP_STATE_CONNECTED, "dat.ep-get-status.success");
  const DAT_EP_PARAM before = query_endpoint(*this, ep);
  for (int twice = 0; twice < 2; ++twice) {
    expect(CALL(dat_ep_disconnect, ep, DAT_CLOSE_GRACEFUL_FLAG), succeeds);
    judge(DAT_EP_STATE_DISCONNECT_PENDING, "dat.ep-disconnect.graceful");
  }
  const DAT_EP_PARAM now = query_endpoint(*this, ep);
  expect_that(now.remote_ia_address_ptr != nullptr && now.local_ia_address_ptr != nullptr,
              "both addresses", "no address", "dat.ep-query.addresses");
  expect_that(now.remote_port_qual == before.remote_port_qual &&
                  now.local_port_qual == before.local_port_qual,
              "the same ports", "other ports", "dat.ep-query.addresses");
  const Returns refused = returns(DAT_INVALID_STATE);
  expect(post_send(ep, {memory.triplet(8, 8)}, 3), refused, "dat.ep-post-send.invalid-state");
  expect(post_write(ep, {memory.triplet(8, 8)}, memory.remote(16, 8), 3), refused,
         "dat.ep-post-rdma-write.invalid-state");
  expect(post_read(ep, {memory.triplet(8, 8)}, memory.remote(16, 8), 3), refused,
         "dat.ep-post-rdma-read.invalid-state");
  expect_no_event(connection.side.connection);
}

DAT_CASE(endpoint_with_an_open_read_is_freed, calls(dat_ep_free), rules("dat.ep-free.success")) {
  for (const bool disconnecting : {false, true})
    row(disconnecting ? "while it waits to disconnect" : "while it is connected", [&] {
      Unanswered connection(*this);
      connection.read(*this, 2);
      if (disconnecting)
        need(CALL(dat_ep_disconnect, connection.side.ep.get(), DAT_CLOSE_GRACEFUL_FLAG),
             "no disconnect");
      expect(CALL(dat_ep_free, connection.side.ep.release()), succeeds);
      expect(CALL(dat_evd_free, connection.side.requests.release()), succeeds);
    });
}

DAT_CASE(disconnect_cancels_a_pending_connect, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.pending")) {
  for (const auto& [name, flag] :
       {std::pair{"abrupt", DAT_CLOSE_ABRUPT_FLAG}, std::pair{"graceful", DAT_CLOSE_GRACEFUL_FLAG}})
    row(name, [&] {
      const Pz pz = ia().pz();
      const Side client = make_side(ia(), pz);
      const Lmr memory(ia(), pz.get(), 64);
      const Listener listener(ia());
      need(post_recv(client.ep.get(), {memory.triplet(0, 8)}, 1), "no receive");
      need(start_connect(ia(), client.ep.get(), listener.qualifier), "no connect");
      const DAT_CR_HANDLE cr = listener.next();
      expect(CALL(dat_ep_disconnect, client.ep.get(), flag), succeeds);
      (void)expect_completion(client.receives, 1, DAT_DTO_ERR_FLUSHED);
      expect_state(client.ep, DAT_EP_STATE_DISCONNECTED);
      (void)expect_event(client.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
      (void)CALL(dat_cr_reject, cr, 0, nullptr);
    });
}

DAT_CASE(disconnect_cancels_an_acceptance, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.pending")) {
  for (const auto& [name, flag] :
       {std::pair{"abrupt", DAT_CLOSE_ABRUPT_FLAG}, std::pair{"graceful", DAT_CLOSE_GRACEFUL_FLAG}})
    row(name, [&] {
      const Completing accepting(*this);
      expect(CALL(dat_ep_disconnect, accepting.side.ep.get(), flag), succeeds);
      (void)expect_completion(accepting.side.receives, 1, DAT_DTO_ERR_FLUSHED);
      expect_state(accepting.side.ep, DAT_EP_STATE_DISCONNECTED);
      (void)expect_event(accepting.side.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
    });
}

DAT_CASE(endpoint_whose_acceptance_is_not_complete_is_freed, calls(dat_ep_free),
         rules("dat.ep-free.invalid-state")) {
  Completing accepting(*this);
  expect(CALL(dat_ep_free, accepting.side.ep.release()), succeeds);
}

DAT_CASE(unknown_flags_of_a_disconnect_are_refused, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.invalid-parameter")) {
  const Pair pair = connected();
  expect(CALL(dat_ep_disconnect, pair.active.ep.get(), flags_of<DAT_CLOSE_FLAGS>(0x40)),
         returns(DAT_INVALID_PARAMETER));
  expect_state(pair.active.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(one_dispatcher_shows_the_order_of_a_connection, calls(dat_ep_disconnect, dat_ep_connect),
         rules("dat.ep-disconnect.order")) {
  const Pz pz = ia().pz();
  DAT_EVD_HANDLE merged = DAT_HANDLE_NULL;
  if (dat_evd_create(ia().get(), 32, DAT_HANDLE_NULL,
                     flags_of<DAT_EVD_FLAGS>(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG),
                     &merged) != DAT_SUCCESS)
    stop(Verdict::not_applicable, "the provider does not merge these streams into one EVD");
  const Evd all(merged);
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  need(CALL(dat_ep_create, ia().get(), pz.get(), all.get(), all.get(), all.get(), nullptr, &handle),
       "no EP");
  const Ep server(handle);
  const Side client = make_side(ia(), pz);
  const Lmr memory(ia(), pz.get(), 64);
  for (DAT_UINT64 id = 1; id <= 3; ++id)
    need(post_recv(handle, {memory.triplet(0, 8)}, id), "no receive");
  const Listener listener(ia());
  need(start_connect(ia(), client.ep.get(), listener.qualifier), "no connect");
  need(CALL(dat_cr_accept, listener.next(), handle, 0, nullptr), "no accept");
  (void)expect_event(client.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  for (DAT_UINT64 id = 1; id <= 2; ++id)
    need(post_send(client.ep.get(), {memory.triplet(8, 8)}, id), "no send");
  need(CALL(dat_ep_disconnect, client.ep.get(), DAT_CLOSE_GRACEFUL_FLAG), "no disconnect");
  (void)expect_event(client.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
  (void)expect_event(all, DAT_CONNECTION_EVENT_ESTABLISHED);
  (void)expect_completion(all, 1, DAT_DTO_SUCCESS);
  (void)expect_completion(all, 2, DAT_DTO_SUCCESS);
  // The flushed receive may come before or after the end.
  const DAT_EVENT first = next_event(all), second = next_event(all);
  const auto number = [](const DAT_EVENT& event) { return event.event_number; };
  expect_that((number(first) == DAT_CONNECTION_EVENT_DISCONNECTED &&
               number(second) == DAT_DTO_COMPLETION_EVENT) ||
                  (number(first) == DAT_DTO_COMPLETION_EVENT &&
                   number(second) == DAT_CONNECTION_EVENT_DISCONNECTED),
              "the end and the flushed receive",
              fmt::format("{}, {}", event_text(number(first)), event_text(number(second))));
}

DAT_CASE(close_of_the_ia_reaches_the_peer_of_another_ia, calls(dat_ia_close),
         rules("dat.ia-close.endpoints")) {
  Ia other(target());
  const Pz pz = ia().pz();
  Pz other_pz = other.pz();
  const Side server = make_side(ia(), pz);
  Side client = make_side(other, other_pz);
  const Listener listener(ia());
  need(start_connect(ia(), client.ep.get(), listener.qualifier), "no connect");
  need(CALL(dat_cr_accept, listener.next(), server.ep.get(), 0, nullptr), "no accept");
  (void)expect_event(server.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  client.ep.release();
  for (Evd* evd : {&client.receives, &client.requests, &client.connection}) evd->release();
  other_pz.release();
  expect(CALL(dat_ia_close, other.release(), DAT_CLOSE_ABRUPT_FLAG), succeeds);
  const DAT_EVENT event = next_event(server.connection);
  expect_that(event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                  event.event_number == DAT_CONNECTION_EVENT_BROKEN,
              "DAT_CONNECTION_EVENT_DISCONNECTED", event_text(event.event_number));
  expect_state(server.ep, DAT_EP_STATE_DISCONNECTED);
}

DAT_CASES_OF_FILE(ep_disconnect)

}  // namespace suite::cases::dat
