// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Faults of DTOs, and the consequences of each: the status of the DTO, the end of the connection,
// the flush after it.
#include <functional>

#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_endpoint.hpp"

namespace suite::cases::dat {

namespace {

constexpr std::byte own_octet{0xA5}, peer_octet{0x3C};

struct PairWithMemory {
  explicit PairWithMemory(DatBody& body)
      : pair(body.connected()),
        own(body.ia(), pair.pz.get(), 256),
        peer(body.ia(), pair.pz.get(), 256, DAT_MEM_PRIV_ALL_FLAG, peer_octet) {}
  [[nodiscard]] DAT_EP_HANDLE active() const { return pair.active.ep.get(); }
  [[nodiscard]] DAT_EP_HANDLE passive() const { return pair.passive.ep.get(); }
  Pair pair;
  Lmr own, peer;
};

/// The connection of this side ends with a fault. No document maps the faults of iWARP to events.
void expect_broken(DatBody& body, const Side& side) {
  const DAT_EVENT event = next_event(side.connection);
  const std::string text = event_text(event.event_number);
  body.expect_that(event.event_number == DAT_CONNECTION_EVENT_BROKEN ||
                       event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED,
                   "DAT_CONNECTION_EVENT_BROKEN", text, "dat.ep-connect.error-event");
  body.advise_that(event.event_number == DAT_CONNECTION_EVENT_BROKEN, "DAT_CONNECTION_EVENT_BROKEN",
                   text, "dat.ep-connect.error-event");
  body.expect_that(event.event_data.connect_event_data.ep_handle == side.ep.get(), "the endpoint",
                   "another handle", "dat.ep-connect.error-event");
  body.expect_state(side.ep, DAT_EP_STATE_DISCONNECTED, "dat.ep-connect.error-event");
  body.expect_no_event(side.connection, "dat.ep-connect.error-event");
}

void expect_both_broken(DatBody& body, const Pair& pair) {
  expect_broken(body, pair.active);
  expect_broken(body, pair.passive);
}

/// The completion is not successful; only the mapping for iWARP says which failure it is.
void expect_failure(DatBody& body, const Evd& evd, DAT_UINT64 id, DAT_DTO_COMPLETION_STATUS usually,
                    RuleRef rule = {}) {
  const auto data =
      body.expect_event(evd, DAT_DTO_COMPLETION_EVENT, rule).event_data.dto_completion_event_data;
  body.expect_that(data.user_cookie.as_64 == id, fmt::format("completion {}", id),
                   fmt::format("completion {}", data.user_cookie.as_64), rule);
  body.expect_that(data.status != DAT_DTO_SUCCESS, status_text(usually), status_text(data.status),
                   rule);
  body.advise_that(data.status == usually, status_text(usually), status_text(data.status), rule);
}

void expect_untouched(DatBody& body, Lmr& lmr, std::byte octet, RuleRef rule = {}) {
  const bool same = std::ranges::all_of(lmr.octets(), [=](auto each) { return each == octet; });
  body.expect_that(same, "memory as it was", "other octets", rule);
}

/// What must outlive the names of memory: zones outlive their regions.
struct HeldMemory {
  Pz zone;
  std::vector<Lmr> regions;
};

/// Ways to name memory of the peer that it has not opened for the operation.
struct ClosedMemory {
  const char* name;
  std::function<DAT_RMR_TRIPLET(DatBody&, PairWithMemory&, HeldMemory&)> triplet;
};

std::vector<ClosedMemory> closed_memory(DAT_MEM_PRIV_FLAGS other_privileges) {
  return {
      {"a context of no region",
       [](DatBody&, PairWithMemory& setup, HeldMemory&) {
         DAT_RMR_TRIPLET triplet = setup.peer.remote(0, 16);
         triplet.rmr_context ^= 0x5A5A00;
         return triplet;
       }},
      {"one octet past the end",
       [](DatBody&, PairWithMemory& setup, HeldMemory&) {
         DAT_RMR_TRIPLET triplet = setup.peer.remote(0, 16);
         triplet.virtual_address += 241;
         return triplet;
       }},
      {"one octet below",
       [](DatBody&, PairWithMemory& setup, HeldMemory&) {
         DAT_RMR_TRIPLET triplet = setup.peer.remote(0, 16);
         triplet.virtual_address -= 1;
         return triplet;
       }},
      {"without the privilege",
       [=](DatBody& body, PairWithMemory& setup, HeldMemory& held) {
         held.regions.emplace_back(body.ia(), setup.pair.pz.get(), 64, other_privileges,
                                   peer_octet);
         return held.regions.back().remote(0, 16);
       }},
      {"of another zone",
       [](DatBody& body, PairWithMemory&, HeldMemory& held) {
         held.zone = body.ia().pz();
         held.regions.emplace_back(body.ia(), held.zone.get(), 64, DAT_MEM_PRIV_ALL_FLAG,
                                   peer_octet);
         return held.regions.back().remote(0, 16);
       }},
      {"of a freed region",
       [](DatBody& body, PairWithMemory& setup, HeldMemory&) {
         Lmr gone(body.ia(), setup.pair.pz.get(), 64);
         const DAT_RMR_TRIPLET triplet = gone.remote(0, 16);
         body.need(CALL(dat_lmr_free, gone.release()), "not freed");
         return triplet;
       }},
  };
}

constexpr auto read_alone = static_cast<DAT_MEM_PRIV_FLAGS>(
    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG);
constexpr auto write_alone = static_cast<DAT_MEM_PRIV_FLAGS>(
    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);

}  // namespace

// ---------------------------------------------------------------- receives

DAT_CASE(message_too_long_for_its_receive_ends_the_connection, calls(dat_ep_post_recv),
         rules("dat.ep-post-recv.too-small", "dat.ep-connect.error-event")) {
  const auto too_long = [&](const char* name, DAT_SEG_LENGTH room, DAT_SEG_LENGTH length) {
    row(name, [&] {
      PairWithMemory setup(*this);
      Lmr from(ia(), setup.pair.pz.get(), length), to(ia(), setup.pair.pz.get(), room);
      need(post_recv(setup.passive(), {to.triplet()}, 1), "no receive");
      need(post_send(setup.active(), {from.triplet()}, 2), "no send");
      (void)expect_completion(setup.pair.passive.receives, 1, DAT_DTO_ERR_LOCAL_LENGTH);
      expect_both_broken(*this, setup.pair);
    });
  };
  too_long("by one octet", 8, 9);
  // An FPDU has at most 65535 octets (RFC 5044 section 4.1).
  too_long("in a later segment only", 100'000, 200'000);
}

DAT_CASE(message_too_long_does_not_change_other_memory, calls(dat_ep_post_recv),
         rules("dat.ep-post-recv.too-small")) {
  PairWithMemory setup(*this);
  need(post_recv(setup.passive(), {setup.peer.triplet(100, 8)}, 1), "no receive");
  need(post_send(setup.active(), {setup.own.triplet()}, 2), "no send");
  (void)expect_completion(setup.pair.passive.receives, 1, DAT_DTO_ERR_LOCAL_LENGTH);
  const auto& octets = setup.peer.octets();
  bool outside = true;
  for (std::size_t i = 0; i < octets.size(); ++i)
    outside = outside && ((i >= 100 && i < 108) || octets[i] == peer_octet);
  expect_that(outside, "memory outside the receive as it was", "other octets");
}

DAT_CASE(receives_after_a_fault_are_flushed, calls(dat_ep_post_recv),
         rules("dat.ep-disconnect.flush", "dat.ep-post-recv.too-small")) {
  PairWithMemory setup(*this);
  for (DAT_UINT64 id = 1; id <= 4; ++id)
    need(post_recv(setup.passive(), {setup.peer.triplet(0, 8)}, id), "no receive");
  need(post_send(setup.active(), {setup.own.triplet(0, 8)}, 1), "no send");
  need(post_send(setup.active(), {setup.own.triplet(0, 9)}, 2), "no send");
  (void)expect_completion(setup.pair.passive.receives, 1, DAT_DTO_SUCCESS);
  (void)expect_completion(setup.pair.passive.receives, 2, DAT_DTO_ERR_LOCAL_LENGTH,
                          "dat.ep-post-recv.too-small");
  (void)expect_completion(setup.pair.passive.receives, 3, DAT_DTO_ERR_FLUSHED);
  (void)expect_completion(setup.pair.passive.receives, 4, DAT_DTO_ERR_FLUSHED);
  expect_no_event(setup.pair.passive.receives);
}

DAT_CASE(message_without_a_receive_ends_the_connection, calls(dat_ep_post_send),
         rules("dat.ep-connect.error-event")) {
  const PairWithMemory setup(*this);
  need(post_send(setup.active(), {setup.own.triplet(0, 8)}, 1), "no send");
  (void)expect_event(setup.pair.active.requests, DAT_DTO_COMPLETION_EVENT);
  expect_both_broken(*this, setup.pair);
}

DAT_CASE(receive_into_a_freed_region_fails, calls(dat_ep_post_recv, dat_lmr_free),
         rules("dat.ep-disconnect.flush")) {
  const PairWithMemory setup(*this);
  Lmr gone(ia(), setup.pair.pz.get(), 64);
  need(post_recv(setup.passive(), {gone.triplet()}, 1), "no receive");
  if (CALL(dat_lmr_free, gone.get()) != DAT_SUCCESS)
    stop(Verdict::not_applicable, "a region in use is not freed");
  gone.release();
  need(post_send(setup.active(), {setup.own.triplet(0, 8)}, 2), "no send");
  expect_failure(*this, setup.pair.passive.receives, 1, DAT_DTO_ERR_LOCAL_PROTECTION);
  expect_both_broken(*this, setup.pair);
}

DAT_CASE(receives_are_flushed_by_each_end_of_a_connection, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.flush")) {
  for (const auto& [name, flag] :
       {std::pair{"abrupt", DAT_CLOSE_ABRUPT_FLAG}, std::pair{"graceful", DAT_CLOSE_GRACEFUL_FLAG}})
    row(name, [&] {
      const PairWithMemory setup(*this);
      for (const Side* side : {&setup.pair.active, &setup.pair.passive})
        for (DAT_UINT64 id = 1; id <= 3; ++id)
          need(post_recv(side->ep.get(), {setup.peer.triplet(0, 8)}, id), "no receive");
      need(CALL(dat_ep_disconnect, setup.active(), flag), "no disconnect");
      for (const Side* side : {&setup.pair.active, &setup.pair.passive})
        for (DAT_UINT64 id = 1; id <= 3; ++id) {
          const auto data = expect_completion(side->receives, id, DAT_DTO_ERR_FLUSHED);
          expect_that(data.ep_handle == side->ep.get(), "the endpoint", "another handle");
        }
    });
}

DAT_CASE(receive_posted_after_a_fault_is_flushed, calls(dat_ep_post_recv, dat_ep_post_send),
         rules("dat.ep-post-recv.flushed", "dat.ep-post-send.flushed")) {
  PairWithMemory setup(*this);
  need(post_send(setup.active(), {setup.own.triplet(0, 8)}, 1), "no send");
  (void)expect_event(setup.pair.active.requests, DAT_DTO_COMPLETION_EVENT);
  expect_both_broken(*this, setup.pair);
  expect(post_recv(setup.passive(), {setup.peer.triplet(0, 8)}, 2), succeeds);
  (void)expect_completion(setup.pair.passive.receives, 2, DAT_DTO_ERR_FLUSHED);
  expect(post_send(setup.passive(), {setup.peer.triplet(0, 8)}, 3), succeeds,
         "dat.ep-post-send.flushed");
  (void)expect_completion(setup.pair.passive.requests, 3, DAT_DTO_ERR_FLUSHED,
                          "dat.ep-post-send.flushed");
}

// ---------------------------------------------------------------- memory of the peer

DAT_CASE(write_to_memory_that_is_not_open_ends_the_connection, calls(dat_ep_post_rdma_write),
         rules("dat.ep-post-rdma-write.remote", "dat.ep-connect.error-event"), deadline_of(20s)) {
  for (const ClosedMemory& closed : closed_memory(read_alone))
    row(closed.name, [&] {
      PairWithMemory setup(*this);
      HeldMemory held;
      const DAT_RMR_TRIPLET to = closed.triplet(*this, setup, held);
      expect(
          post_write(setup.active(), {setup.own.triplet(0, 16)}, to, 1),
          succeeds.or_tolerably(DAT_PROTECTION_VIOLATION).or_tolerably(DAT_PRIVILEGES_VIOLATION));
      // A Write completes for its sender before the peer has processed it.
      (void)expect_event(setup.pair.active.requests, DAT_DTO_COMPLETION_EVENT);
      expect_both_broken(*this, setup.pair);
      expect_untouched(*this, setup.peer, peer_octet);
      for (Lmr& each : held.regions) expect_untouched(*this, each, peer_octet);
    });
}

DAT_CASE(read_of_memory_that_is_not_open_fails, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.remote", "dat.ep-connect.error-event"), deadline_of(20s)) {
  for (const ClosedMemory& closed : closed_memory(write_alone))
    row(closed.name, [&] {
      PairWithMemory setup(*this);
      HeldMemory held;
      const DAT_RMR_TRIPLET from = closed.triplet(*this, setup, held);
      expect(
          post_read(setup.active(), {setup.own.triplet(0, 16)}, from, 1),
          succeeds.or_tolerably(DAT_PROTECTION_VIOLATION).or_tolerably(DAT_PRIVILEGES_VIOLATION));
      expect_failure(*this, setup.pair.active.requests, 1, DAT_DTO_ERR_REMOTE_ACCESS);
      expect_both_broken(*this, setup.pair);
      expect_untouched(*this, setup.own, own_octet);
    });
}

DAT_CASE(read_to_a_window_of_memory_that_is_not_open_fails, calls(dat_ep_post_rdma_read_to_rmr),
         rules("dat.ep-post-rdma-read-to-rmr.remote", "dat.ep-connect.error-event"),
         deadline_of(20s)) {
  for (const ClosedMemory& closed : closed_memory(write_alone))
    row(closed.name, [&] {
      PairWithMemory setup(*this);
      const Window window = bind_window(setup.pair.pz, setup.pair.active, setup.own);
      HeldMemory held;
      const DAT_RMR_TRIPLET from = closed.triplet(*this, setup, held);
      const DAT_RMR_TRIPLET to = window.triplet(setup.own, 16);
      expect(post_read_to_rmr(setup.active(), &to, &from, 1), succeeds);
      expect_failure(*this, setup.pair.active.requests, 1, DAT_DTO_ERR_REMOTE_ACCESS);
      expect_both_broken(*this, setup.pair);
      expect_untouched(*this, setup.own, own_octet);
    });
}

DAT_CASE(read_to_an_unknown_context_fails, calls(dat_ep_post_rdma_read_to_rmr),
         rules("dat.ep-post-rdma-read-to-rmr.remote")) {
  PairWithMemory setup(*this);
  DAT_RMR_TRIPLET to = setup.own.remote(0, 16);
  to.rmr_context ^= 0x5A5A00;
  const DAT_RMR_TRIPLET from = setup.peer.remote(0, 16);
  const DAT_RETURN got = post_read_to_rmr(setup.active(), &to, &from, 1);
  expect(got, returns_one_of({DAT_SUCCESS, DAT_PRIVILEGES_VIOLATION, DAT_PROTECTION_VIOLATION,
                              DAT_INVALID_PARAMETER}));
  if (got == DAT_SUCCESS) {
    const auto data = expect_event(setup.pair.active.requests, DAT_DTO_COMPLETION_EVENT)
                          .event_data.dto_completion_event_data;
    expect_that(data.status != DAT_DTO_SUCCESS, "a failure", status_text(data.status));
  }
  expect_untouched(*this, setup.own, own_octet);
}

DAT_CASE(window_that_only_reads_is_not_written, calls(dat_ep_post_rdma_write),
         rules("dat.ep-post-rdma-write.remote", "dat.ep-connect.error-event")) {
  PairWithMemory setup(*this);
  const Window window = bind_window(
      setup.pair.pz, setup.pair.passive, setup.peer,
      flags_of<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG));
  need(post_write(setup.active(), {setup.own.triplet(0, 16)}, window.triplet(setup.peer, 16), 1),
       "no write");
  (void)expect_event(setup.pair.active.requests, DAT_DTO_COMPLETION_EVENT);
  expect_both_broken(*this, setup.pair);
  expect_untouched(*this, setup.peer, peer_octet);
}

DAT_CASE(window_that_only_writes_is_not_read, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.remote", "dat.ep-connect.error-event")) {
  PairWithMemory setup(*this);
  const Window window = bind_window(
      setup.pair.pz, setup.pair.passive, setup.peer,
      flags_of<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG));
  need(post_read(setup.active(), {setup.own.triplet(0, 16)}, window.triplet(setup.peer, 16), 1),
       "no read");
  expect_failure(*this, setup.pair.active.requests, 1, DAT_DTO_ERR_REMOTE_ACCESS);
  expect_both_broken(*this, setup.pair);
  expect_untouched(*this, setup.own, own_octet);
}

DAT_CASE(invalidate_of_an_unknown_context_ends_the_connection,
         calls(dat_ep_post_send_with_invalidate), rules("dat.ep-connect.error-event")) {
  PairWithMemory setup(*this);
  need(post_recv(setup.passive(), {setup.peer.triplet(0, 64)}, 1), "no receive");
  expect(post_send_with_invalidate(setup.active(), {setup.own.triplet(0, 8)}, 2, 0x5A5A0000),
         succeeds);
  const auto data = expect_event(setup.pair.passive.receives, DAT_DTO_COMPLETION_EVENT)
                        .event_data.dto_completion_event_data;
  expect_that(data.operation != DAT_DTO_RECEIVE_WITH_INVALIDATE || data.status != DAT_DTO_SUCCESS,
              "no invalidation", "an invalidation");
  expect_both_broken(*this, setup.pair);
}

// ---------------------------------------------------------------- after a fault

DAT_CASE(requests_after_a_failed_read_are_flushed, calls(dat_ep_post_rdma_read),
         rules("dat.ep-disconnect.flush", "dat.ep-post-rdma-read.remote")) {
  PairWithMemory setup(*this);
  DAT_RMR_TRIPLET nothing = setup.peer.remote(0, 16);
  nothing.rmr_context ^= 0x5A5A00;
  need(post_read(setup.active(), {setup.own.triplet(0, 16)}, nothing, 1), "no read");
  for (DAT_UINT64 id = 2; id <= 4; ++id)
    need(post_read(setup.active(), {setup.own.triplet(0, 16)}, setup.peer.remote(0, 16), id),
         "no read");
  expect_failure(*this, setup.pair.active.requests, 1, DAT_DTO_ERR_REMOTE_ACCESS,
                 "dat.ep-post-rdma-read.remote");
  for (DAT_UINT64 id = 2; id <= 4; ++id)
    (void)expect_completion(setup.pair.active.requests, id, DAT_DTO_ERR_FLUSHED);
  expect_no_event(setup.pair.active.requests);
  expect_untouched(*this, setup.own, own_octet);
}

// Such a Read may be several on the wire.
DAT_CASE(read_into_several_segments_completes_once, calls(dat_ep_post_rdma_read),
         rules("dat.evd-wait.order", "dat.ep-post-rdma-read.remote", "dat.ep-disconnect.flush")) {
  PairWithMemory setup(*this);
  DAT_EP_PARAM param{};
  need(CALL(dat_ep_query, setup.active(), DAT_EP_FIELD_ALL, &param), "no EP query");
  const DAT_COUNT most = std::min(param.ep_attr.max_rdma_read_iov, 3);
  if (most < 2) stop(Verdict::not_applicable, "an RDMA Read has one segment");
  Segments segments;
  for (DAT_COUNT i = 0; i < most; ++i)
    segments.push_back(setup.own.triplet(static_cast<std::size_t>(16 * i), 16));
  DAT_RMR_TRIPLET nothing = setup.peer.remote(0, static_cast<std::size_t>(16 * most));
  nothing.rmr_context ^= 0x5A5A00;
  need(post_read(setup.active(), segments, nothing, 1), "no read");
  need(post_read(setup.active(), segments,
                 setup.peer.remote(0, static_cast<std::size_t>(16 * most)), 2),
       "no read");
  expect_failure(*this, setup.pair.active.requests, 1, DAT_DTO_ERR_REMOTE_ACCESS,
                 "dat.ep-post-rdma-read.remote");
  (void)expect_completion(setup.pair.active.requests, 2, DAT_DTO_ERR_FLUSHED,
                          "dat.ep-disconnect.flush");
  expect_no_event(setup.pair.active.requests, "dat.evd-wait.order");
  expect_untouched(*this, setup.own, own_octet, "dat.ep-post-rdma-read.remote");
}

DAT_CASE(nothing_succeeds_after_a_failed_read, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.remote", "dat.ep-post-send.order")) {
  PairWithMemory setup(*this);
  DAT_RMR_TRIPLET nothing = setup.peer.remote(0, 16);
  nothing.rmr_context ^= 0x5A5A00;
  for (DAT_UINT64 id = 1; id <= 5; ++id)
    need(post_read(setup.active(), {setup.own.triplet(16 * id, 16)},
                   id == 4 ? nothing : setup.peer.remote(0, 16), id),
         "no read");
  // The peer may end the connection before it has answered the Reads before the wrong one.
  bool failed = false;
  for (DAT_UINT64 id = 1; id <= 5; ++id) {
    const auto data = expect_event(setup.pair.active.requests, DAT_DTO_COMPLETION_EVENT)
                          .event_data.dto_completion_event_data;
    expect_that(data.user_cookie.as_64 == id, fmt::format("completion {}", id),
                fmt::format("completion {}", data.user_cookie.as_64), "dat.ep-post-send.order");
    failed = failed || id >= 4;
    expect_that(!failed || data.status != DAT_DTO_SUCCESS, "a failure", status_text(data.status));
    failed = failed || data.status != DAT_DTO_SUCCESS;
  }
}

DAT_CASE(broken_endpoints_connect_again, calls(dat_ep_reset, dat_ep_connect),
         rules("dat.ep-reset.success")) {
  const PairWithMemory setup(*this);
  need(post_send(setup.active(), {setup.own.triplet(0, 8)}, 1), "no send");
  (void)expect_event(setup.pair.active.requests, DAT_DTO_COMPLETION_EVENT);
  expect_both_broken(*this, setup.pair);
  for (const Side* side : {&setup.pair.active, &setup.pair.passive})
    expect(CALL(dat_ep_reset, side->ep.get()), succeeds);
  const Listener listener(ia());
  expect(start_connect(ia(), setup.active(), listener.qualifier), succeeds);
  need(CALL(dat_cr_accept, listener.next(), setup.passive(), 0, nullptr), "no accept");
  (void)expect_event(setup.pair.active.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  (void)expect_event(setup.pair.passive.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect(post_read(setup.active(), {setup.own.triplet(0, 16)}, setup.peer.remote(0, 16), 5),
         succeeds);
  (void)expect_completion(setup.pair.active.requests, 5, DAT_DTO_SUCCESS);
}

// Why its earlier connection ended says nothing about the next.
DAT_CASE(endpoint_that_was_reset_reports_a_fault, calls(dat_ep_reset, dat_ep_connect),
         rules("dat.ep-reset.success", "dat.ep-connect.error-event")) {
  const auto ended_by = [&](const char* name, bool own_end, DAT_CLOSE_FLAGS flag) {
    row(name, [&] {
      const PairWithMemory setup(*this);
      need(CALL(dat_ep_disconnect, own_end ? setup.active() : setup.passive(), flag),
           "no disconnect");
      for (const Side* side : {&setup.pair.active, &setup.pair.passive}) {
        (void)next_event(side->connection);
        expect(CALL(dat_ep_reset, side->ep.get()), succeeds);
      }
      const Listener listener(ia());
      need(start_connect(ia(), setup.active(), listener.qualifier), "no connect");
      need(CALL(dat_cr_accept, listener.next(), setup.passive(), 0, nullptr), "no accept");
      for (const Side* side : {&setup.pair.active, &setup.pair.passive})
        (void)expect_event(side->connection, DAT_CONNECTION_EVENT_ESTABLISHED);
      need(post_send(setup.active(), {setup.own.triplet(0, 8)}, 1), "no send");
      (void)expect_event(setup.pair.active.requests, DAT_DTO_COMPLETION_EVENT);
      expect_both_broken(*this, setup.pair);
    });
  };
  ended_by("after an abrupt disconnect of its own", true, DAT_CLOSE_ABRUPT_FLAG);
  ended_by("after a graceful disconnect of its own", true, DAT_CLOSE_GRACEFUL_FLAG);
  ended_by("after a disconnect of the peer's", false, DAT_CLOSE_ABRUPT_FLAG);
}

DAT_CASE(disconnect_after_a_fault_changes_nothing, calls(dat_ep_disconnect),
         rules("dat.ep-disconnect.no-op")) {
  const PairWithMemory setup(*this);
  need(post_send(setup.active(), {setup.own.triplet(0, 8)}, 1), "no send");
  (void)expect_event(setup.pair.active.requests, DAT_DTO_COMPLETION_EVENT);
  expect_both_broken(*this, setup.pair);
  expect(CALL(dat_ep_disconnect, setup.active(), DAT_CLOSE_ABRUPT_FLAG), succeeds);
  expect_state(setup.pair.active.ep, DAT_EP_STATE_DISCONNECTED);
  expect_no_event(setup.pair.active.connection);
}

DAT_CASE(fault_of_one_connection_leaves_the_others, calls(dat_ep_post_rdma_write),
         rules("dat.ep-post-rdma-write.success")) {
  PairWithMemory setup(*this);
  const Pair other = connected();
  const Lmr memory(ia(), other.pz.get(), 64);
  DAT_RMR_TRIPLET nothing = setup.peer.remote(0, 16);
  nothing.rmr_context ^= 0x5A5A00;
  need(post_write(setup.active(), {setup.own.triplet(0, 16)}, nothing, 1), "no write");
  expect_broken(*this, setup.pair.active);
  expect(post_write(other.active.ep.get(), {memory.triplet(0, 8)}, memory.remote(8, 8), 2),
         succeeds);
  (void)expect_completion(other.active.requests, 2, DAT_DTO_SUCCESS);
  expect_state(other.active.ep, DAT_EP_STATE_CONNECTED);
  expect_state(other.passive.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASES_OF_FILE(ep_errors)

}  // namespace suite::cases::dat
