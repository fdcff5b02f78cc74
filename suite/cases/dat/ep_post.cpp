// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// DTOs that are executed: what they do, and what their completions say.
#include "suite/cases/dat/framework/dat_posts.hpp"
#include "suite/cases/dat/framework/dat_windows.hpp"

namespace suite::cases::dat {

namespace {

/// Two more endpoints of the zone of `pair`, connected.
struct SecondConnection {
  SecondConnection(DatBody& body, const Pair& pair)
      : listener(body.ia()),
        active(make_side(body.ia(), pair.pz)),
        passive(make_side(body.ia(), pair.pz)) {
    body.need(start_connect(body.ia(), active.ep.get(), listener.qualifier), "no connect");
    body.need(CALL(dat_cr_accept, listener.next(), passive.ep.get(), 0, nullptr), "no accept");
    for (const Side* side : {&active, &passive})
      if (next_event(side->connection).event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
        body.stop(Verdict::inconclusive, "no second connection");
  }
  Listener listener;
  Side active, passive;
};

/// The fields of a completion that succeeded.
void expect_fields(DatBody& body, const DAT_DTO_COMPLETION_EVENT_DATA& got, const Ep& ep,
                   DAT_DTOS operation, std::size_t length, RuleRef rule = {}) {
  body.expect_that(got.ep_handle == ep.get(), "the endpoint", "another handle", rule);
  body.expect_that(got.operation == operation, fmt::format("operation {}", +operation),
                   fmt::format("operation {}", +got.operation), rule);
  body.expect_that(got.transfered_length == length, fmt::format("{} octets", length),
                   fmt::format("{} octets", got.transfered_length), rule);
}

}  // namespace

DAT_CASE(receive_completion_describes_the_message, calls(dat_ep_post_recv),
         rules("dat.ep-post-recv.success")) {
  const PairWithMemory setup(*this);
  for (const std::size_t length : {std::size_t{1}, std::size_t{63}, std::size_t{64}})
    row(fmt::format("{} octets into 64", length), [&] {
      need(post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet(0, 64)}, 5), "no receive");
      need(post_send(setup.pair.active.ep.get(), {setup.own.triplet(0, length)}, 6), "no send");
      const auto got = expect_completion(setup.pair.passive.receives, 5, DAT_DTO_SUCCESS);
      expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RECEIVE, length);
    });
}

DAT_CASE(cookies_come_back_whole,
         calls(dat_ep_post_send, dat_ep_post_recv, dat_ep_post_rdma_write, dat_ep_post_rdma_read,
               dat_ep_post_rdma_read_to_rmr),
         rules("dat.ep-post-send.success", "dat.ep-post-recv.success",
               "dat.ep-post-rdma-write.success", "dat.ep-post-rdma-read.success",
               "dat.ep-post-rdma-read-to-rmr.success")) {
  const PairWithMemory setup(*this);
  const DAT_EP_HANDLE ep = setup.pair.active.ep.get();
  const auto judge = [&](const char* name, RuleRef rule, const auto& post) {
    row(name, [&] {
      for (const DAT_UINT64 id : {DAT_UINT64{0xFEDC'BA98'7654'3210}, DAT_UINT64{1} << 63U,
                                  DAT_UINT64{1} << 32U, ~DAT_UINT64{0}}) {
        expect(post(id), succeeds, rule);
        (void)expect_completion(setup.pair.active.requests, id, DAT_DTO_SUCCESS, rule);
      }
    });
  };
  judge("RDMA Write", "dat.ep-post-rdma-write.success", [&](DAT_UINT64 id) {
    return post_write(ep, {setup.own.triplet(0, 8)}, setup.peer.remote(0, 8), id);
  });
  judge("RDMA Read", "dat.ep-post-rdma-read.success", [&](DAT_UINT64 id) {
    return post_read(ep, {setup.own.triplet(8, 8)}, setup.peer.remote(8, 8), id);
  });
  row("Send and receive", [&] {
    for (const DAT_UINT64 id : {DAT_UINT64{0xFEDC'BA98'7654'3210}, ~DAT_UINT64{0}}) {
      expect(post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet(0, 8)}, id - 1), succeeds,
             "dat.ep-post-recv.success");
      expect(post_send(ep, {setup.own.triplet(0, 8)}, id), succeeds);
      (void)expect_completion(setup.pair.active.requests, id, DAT_DTO_SUCCESS);
      (void)expect_completion(setup.pair.passive.receives, id - 1, DAT_DTO_SUCCESS,
                              "dat.ep-post-recv.success");
    }
  });
  const Window window = bind_window(setup.pair.pz, setup.pair.active, setup.own);
  judge("RDMA Read to a window", "dat.ep-post-rdma-read-to-rmr.success", [&](DAT_UINT64 id) {
    const DAT_RMR_TRIPLET to = window.triplet(setup.own, 8), from = setup.peer.remote(0, 8);
    return post_read_to_rmr(ep, &to, &from, id);
  });
}

DAT_CASE(receive_fills_its_segments_in_order, calls(dat_ep_post_recv, dat_ep_post_send),
         rules("dat.ep-post-recv.success", "dat.ep-post-send.success")) {
  PairWithMemory setup(*this);
  for (std::size_t i = 0; i < 20; ++i) setup.own.octets()[i] = static_cast<std::byte>(i);
  need(post_recv(setup.pair.passive.ep.get(),
                 {setup.peer.triplet(100, 5), setup.peer.triplet(0, 8), setup.peer.triplet(50, 30)},
                 1),
       "no receive");
  need(post_send(setup.pair.active.ep.get(), {setup.own.triplet(10, 10), setup.own.triplet(0, 10)},
                 2),
       "no send");
  const auto got = expect_completion(setup.pair.passive.receives, 1, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RECEIVE, 20);
  std::vector<std::byte> arrived;
  for (const auto& [offset, length] : {std::pair{100, 5}, std::pair{0, 8}, std::pair{50, 7}})
    arrived.insert(arrived.end(), setup.peer.octets().begin() + offset,
                   setup.peer.octets().begin() + offset + length);
  bool in_order = true;
  for (std::size_t i = 0; i < 20; ++i)
    in_order = in_order && arrived[i] == static_cast<std::byte>(i < 10 ? 10 + i : i - 10);
  expect_that(in_order, "the octets in the order of both lists", "another order");
  expect_octets(*this, setup.peer, 57, 23, peer_octet, "dat.ep-post-recv.success");
}

DAT_CASE(largest_number_of_segments_is_accepted, calls(dat_ep_post_send, dat_ep_post_recv),
         rules("dat.ep-post-send.success", "dat.ep-post-recv.success")) {
  const PairWithMemory setup(*this);
  const auto most = [](DAT_COUNT count) { return static_cast<std::size_t>(std::min(count, 128)); };
  const std::size_t sent = most(attributes_of(*this, setup.pair.active.ep).max_request_iov);
  const std::size_t received = most(attributes_of(*this, setup.pair.passive.ep).max_recv_iov);
  Segments into(received, setup.peer.triplet(128, 1));
  into.front() = setup.peer.triplet(0, 128);
  expect(post_recv(setup.pair.passive.ep.get(), into, 1), succeeds, "dat.ep-post-recv.success");
  expect(post_send(setup.pair.active.ep.get(), Segments(sent, setup.own.triplet(0, 1)), 2),
         succeeds);
  const auto got = expect_completion(setup.pair.passive.receives, 1, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RECEIVE, sent);
}

DAT_CASE(write_places_its_segments, calls(dat_ep_post_rdma_write, dat_ep_post_send),
         rules("dat.ep-post-rdma-write.success")) {
  PairWithMemory setup(*this);
  const Ep& ep = setup.pair.active.ep;
  const Lmr behind(ia(), setup.pair.pz.get(), 8);
  need(post_recv(setup.pair.passive.ep.get(), {behind.triplet()}, 9), "no receive");
  expect(post_write(ep.get(), {setup.own.triplet(0, 10), setup.own.triplet(100, 6)},
                    setup.peer.remote(20, 16), 3),
         succeeds);
  need(post_send(ep.get(), {setup.own.triplet(0, 8)}, 4), "no send");
  const auto got = expect_completion(setup.pair.active.requests, 3, DAT_DTO_SUCCESS);
  expect_fields(*this, got, ep, DAT_DTO_RDMA_WRITE, 16);
  (void)expect_completion(setup.pair.passive.receives, 9, DAT_DTO_SUCCESS);
  expect_octets(*this, setup.peer, 0, 20, peer_octet);
  expect_octets(*this, setup.peer, 20, 16, own_octet);
  expect_octets(*this, setup.peer, 36, 220, peer_octet);
}

DAT_CASE(read_fills_its_segments, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.success")) {
  PairWithMemory setup(*this);
  const Ep& ep = setup.pair.active.ep;
  Segments sinks{setup.own.triplet(0, 40)};
  if (attributes_of(*this, ep).max_rdma_read_iov >= 2)
    sinks = {setup.own.triplet(0, 10), setup.own.triplet(50, 30)};
  expect(post_read(ep.get(), sinks, setup.peer.remote(5, 30), 3), succeeds);
  const auto got = expect_completion(setup.pair.active.requests, 3, DAT_DTO_SUCCESS);
  expect_fields(*this, got, ep, DAT_DTO_RDMA_READ, 30);
  expect_octets(*this, setup.own, 0, 10, peer_octet);
  if (sinks.size() == 1) return expect_octets(*this, setup.own, 10, 20, peer_octet);
  expect_octets(*this, setup.own, 10, 40, own_octet);
  expect_octets(*this, setup.own, 50, 20, peer_octet);
  expect_octets(*this, setup.own, 70, 10, own_octet);
}

DAT_CASE(read_needs_local_write_alone, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.success")) {
  PairWithMemory setup(*this);
  Lmr sink(ia(), setup.pair.pz.get(), 64, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
  const Lmr source(
      ia(), setup.pair.pz.get(), 64,
      flags_of<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG),
      peer_octet);
  expect(post_read(setup.pair.active.ep.get(), {sink.triplet()}, source.remote(), 3), succeeds);
  (void)expect_completion(setup.pair.active.requests, 3, DAT_DTO_SUCCESS);
  expect_octets(*this, sink, 0, 64, peer_octet);
}

DAT_CASE(read_fills_a_zero_based_region_that_no_peer_may_write, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.success")) {
  need_zero_based(*this);
  PairWithMemory setup(*this);
  const Lmr sink(ia(), setup.pair.pz.get(), 64, DAT_MEM_PRIV_LOCAL_WRITE_FLAG, own_octet,
                 DAT_VA_TYPE_ZB);
  expect(post_read(setup.pair.active.ep.get(), {sink.triplet(8, 16)}, setup.peer.remote(0, 16), 3),
         succeeds);
  (void)expect_completion(setup.pair.active.requests, 3, DAT_DTO_SUCCESS);
  const auto& memory = sink.octets();
  expect_that(memory[7] == own_octet && memory[8] == peer_octet && memory[23] == peer_octet &&
                  memory[24] == own_octet,
              "octets 8 to 23 read", "other octets");
}

/// dat.h: of a segment of no octets, nothing else is looked at.
DAT_CASE(segment_of_no_octets_is_passed_over,
         calls(dat_ep_post_send, dat_ep_post_recv, dat_ep_post_rdma_write, dat_ep_post_rdma_read),
         rules("dat.ep-post-send.success", "dat.ep-post-recv.success",
               "dat.ep-post-rdma-write.success", "dat.ep-post-rdma-read.success")) {
  PairWithMemory setup(*this);
  const DAT_EP_HANDLE active = setup.pair.active.ep.get(), passive = setup.pair.passive.ep.get();
  const auto around = [](const Lmr& memory, std::size_t at) {
    return Segments{memory.triplet(at, 8), memory.triplet(at, 0), memory.triplet(at + 16, 8)};
  };
  row("Send and receive", [&] {
    expect(post_recv(passive, around(setup.peer, 0), 1), succeeds, "dat.ep-post-recv.success");
    expect(post_send(active, around(setup.own, 0), 2), succeeds, "dat.ep-post-send.success");
    const auto got = expect_completion(setup.pair.passive.receives, 1, DAT_DTO_SUCCESS,
                                       "dat.ep-post-recv.success");
    (void)expect_completion(setup.pair.active.requests, 2, DAT_DTO_SUCCESS,
                            "dat.ep-post-send.success");
    expect_that(got.transfered_length == 16, "16 octets",
                fmt::format("{} octets", got.transfered_length), "dat.ep-post-send.success");
    expect_octets(*this, setup.peer, 16, 8, own_octet, "dat.ep-post-recv.success");
  });
  row("RDMA Write", [&] {
    expect(post_write(active, around(setup.own, 0), setup.peer.remote(64, 16), 3), succeeds,
           "dat.ep-post-rdma-write.success");
    const auto got = expect_completion(setup.pair.active.requests, 3, DAT_DTO_SUCCESS,
                                       "dat.ep-post-rdma-write.success");
    expect_that(got.transfered_length == 16, "16 octets",
                fmt::format("{} octets", got.transfered_length), "dat.ep-post-rdma-write.success");
  });
  row("RDMA Read", [&] {
    expect(post_read(active, around(setup.own, 128), setup.peer.remote(128, 16), 4), succeeds,
           "dat.ep-post-rdma-read.success");
    (void)expect_completion(setup.pair.active.requests, 4, DAT_DTO_SUCCESS,
                            "dat.ep-post-rdma-read.success");
    expect_octets(*this, setup.own, 144, 8, peer_octet, "dat.ep-post-rdma-read.success");
  });
}

DAT_CASE(read_by_the_passive_side_works_as_well, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.success")) {
  PairWithMemory setup(*this);
  expect(post_read(setup.pair.passive.ep.get(), {setup.own.triplet()}, setup.peer.remote(), 3),
         succeeds);
  const auto got = expect_completion(setup.pair.passive.requests, 3, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RDMA_READ, 256);
  expect_octets(*this, setup.own, 0, 256, peer_octet);
}

DAT_CASE(read_fills_a_window, calls(dat_ep_post_rdma_read_to_rmr),
         rules("dat.ep-post-rdma-read-to-rmr.success")) {
  PairWithMemory setup(*this);
  const Window window = bind_window(setup.pair.pz, setup.pair.active, setup.own);
  const DAT_RMR_TRIPLET to = window.triplet(setup.own, 64), from = setup.peer.remote(0, 64);
  expect(post_read_to_rmr(setup.pair.active.ep.get(), &to, &from, 3), succeeds);
  const auto got = expect_completion(setup.pair.active.requests, 3, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.active.ep, DAT_DTO_RDMA_READ, 64);
  expect_octets(*this, setup.own, 0, 64, peer_octet);
  expect_octets(*this, setup.own, 64, 192, own_octet);
}

// The source says how much is read, as in dat_ep_post_rdma_read.
DAT_CASE(read_fills_no_more_of_a_window_than_its_source, calls(dat_ep_post_rdma_read_to_rmr),
         rules("dat.ep-post-rdma-read-to-rmr.success")) {
  const auto fills = [&](const char* name, std::size_t source, std::size_t sink) {
    row(name, [&] {
      PairWithMemory setup(*this);
      const Window window = bind_window(setup.pair.pz, setup.pair.active, setup.own);
      const DAT_RMR_TRIPLET to = window.triplet(setup.own, sink),
                            from = setup.peer.remote(0, source);
      expect(post_read_to_rmr(setup.pair.active.ep.get(), &to, &from, 3), succeeds);
      const auto got = expect_completion(setup.pair.active.requests, 3, DAT_DTO_SUCCESS);
      expect_fields(*this, got, setup.pair.active.ep, DAT_DTO_RDMA_READ,
                    static_cast<DAT_SEG_LENGTH>(source));
      expect_octets(*this, setup.own, 0, source, peer_octet);
      expect_octets(*this, setup.own, source, 256 - source, own_octet);
    });
  };
  fills("one octet less", 63, 64);
  fills("one octet of a whole window", 1, 256);
  fills("nothing", 0, 64);
}

DAT_CASE(send_ends_a_window_of_the_peer, calls(dat_ep_post_send_with_invalidate),
         rules("dat.ep-post-send-with-invalidate.success")) {
  PairWithMemory setup(*this);
  const Window window = bind_window(setup.pair.pz, setup.pair.passive, setup.peer);
  need(post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet(200, 20)}, 5), "no receive");
  expect(post_send_with_invalidate(setup.pair.active.ep.get(), {setup.own.triplet(0, 12)}, 6,
                                   window.context),
         succeeds);
  const auto sent = expect_completion(setup.pair.active.requests, 6, DAT_DTO_SUCCESS);
  expect_that(sent.transfered_length == 12, "12 octets",
              fmt::format("{} octets", sent.transfered_length));
  const auto got = expect_completion(setup.pair.passive.receives, 5, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RECEIVE_WITH_INVALIDATE, 12);
  expect_that(got.rmr_context == window.context, fmt::format("context {:#x}", window.context),
              fmt::format("context {:#x}", got.rmr_context));
  // The invalidated context gives no access any more.
  need(post_write(setup.pair.active.ep.get(), {setup.own.triplet(0, 8)},
                  window.triplet(setup.peer, 8), 7),
       "no write");
  const DAT_EVENT event = next_event(setup.pair.passive.connection);
  expect_that(event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED, "the connection's end",
              event_text(event.event_number));
  expect_octets(*this, setup.peer, 0, 8, peer_octet);
}

// A window of the zone that two streams have used is shared, whatever the definition
// (docs/disputes.md D16). Whether the Send is delivered or ends its stream is open.
DAT_CASE(send_does_not_end_a_window_that_streams_share, calls(dat_ep_post_send_with_invalidate),
         rules("rdmap.security.shared-stag-not-invalidated")) {
  PairWithMemory setup(*this);
  ZoneWindow window(*this, setup.pair.pz, setup.pair.passive);
  window.bind(*this, setup.peer, setup.peer.triplet());
  const SecondConnection second(*this, setup.pair);
  const auto read = [&](const Side& reader, DAT_UINT64 id) {
    need(post_read(reader.ep.get(), {setup.own.triplet(id * 8, 8)},
                   window.triplet(setup.peer, 0, 8), id),
         "no read");
    return next_event(reader.requests).event_data.dto_completion_event_data.status;
  };
  for (const Side* reader : std::initializer_list<const Side*>{&setup.pair.active, &second.active})
    if (read(*reader, 1) != DAT_DTO_SUCCESS)
      stop(Verdict::inconclusive, "a connection of the zone cannot read the window");
  need(post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet(200, 20)}, 5), "no receive");
  need(post_send_with_invalidate(setup.pair.active.ep.get(), {setup.own.triplet(16, 8)}, 6,
                                 window.context),
       "no send");
  (void)next_event(setup.pair.passive.receives);  // with the message, or flushed
  const auto status = read(second.active, 7);
  expect_that(status == DAT_DTO_SUCCESS, status_text(DAT_DTO_SUCCESS), status_text(status));
  expect_octets(*this, setup.own, 7 * 8, 8, peer_octet);
}

DAT_CASE(send_with_invalidate_flag_false_is_a_plain_send, calls(dat_ep_post_send_with_invalidate),
         rules("dat.ep-post-send-with-invalidate.success")) {
  const PairWithMemory setup(*this);
  need(post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet(0, 64)}, 5), "no receive");
  DAT_LMR_TRIPLET segment = setup.own.triplet(0, 12);
  expect(called("dat_ep_post_send_with_invalidate",
                [&] {
                  return DAT_EP_POST_SEND_WITH_INVALIDATE(setup.pair.active.ep.get(), 1, &segment,
                                                          cookie(6), DAT_COMPLETION_DEFAULT_FLAG,
                                                          DAT_FALSE, 0x123456);
                }),
         succeeds);
  const auto got = expect_completion(setup.pair.passive.receives, 5, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RECEIVE, 12);
}

DAT_CASE(large_transfers_arrive_whole, calls(dat_ep_post_rdma_write, dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-write.success", "dat.ep-post-rdma-read.success"),
         deadline_of(20s)) {
  const Pair pair = connected();
  const std::size_t size = 1024 * 1024 + 3;
  Lmr source(ia(), pair.pz.get(), size), sink(ia(), pair.pz.get(), size),
      back(ia(), pair.pz.get(), size);
  for (std::size_t i = 0; i < size; ++i)
    source.octets()[i] = static_cast<std::byte>((i * 2654435761U) >> 13U);
  expect(post_write(pair.active.ep.get(), {source.triplet()}, sink.remote(), 1), succeeds);
  expect(post_read(pair.active.ep.get(), {back.triplet()}, sink.remote(), 2), succeeds,
         "dat.ep-post-rdma-read.success");
  const auto written = expect_completion(pair.active.requests, 1, DAT_DTO_SUCCESS);
  expect_fields(*this, written, pair.active.ep, DAT_DTO_RDMA_WRITE, size);
  const auto read = expect_completion(pair.active.requests, 2, DAT_DTO_SUCCESS);
  expect_fields(*this, read, pair.active.ep, DAT_DTO_RDMA_READ, size);
  expect_that(back.octets() == source.octets(), "the octets written", "other octets",
              "dat.ep-post-rdma-read.success");
}

// ---------------------------------------------------------------- no octets

DAT_CASE(message_of_no_octets_arrives, calls(dat_ep_post_send, dat_ep_post_recv),
         rules("dat.ep-post-send.zero-length", "dat.ep-post-recv.zero-length")) {
  const PairWithMemory setup(*this);
  DAT_LMR_TRIPLET empty{};
  empty.virtual_address = 0x1234;
  empty.lmr_context = 0x777;
  const auto judge = [&](const char* name, const Segments& into, const Segments& from) {
    row(name, [&] {
      expect(post_recv(setup.pair.passive.ep.get(), into, 1), succeeds,
             "dat.ep-post-recv.zero-length");
      expect(post_send(setup.pair.active.ep.get(), from, 2), succeeds);
      const auto sent = expect_completion(setup.pair.active.requests, 2, DAT_DTO_SUCCESS);
      expect_fields(*this, sent, setup.pair.active.ep, DAT_DTO_SEND, 0);
      const auto got = expect_completion(setup.pair.passive.receives, 1, DAT_DTO_SUCCESS);
      expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RECEIVE, 0);
    });
  };
  judge("without segments", {}, {});
  judge("into a buffer", {setup.peer.triplet(0, 8)}, {});
  judge("with an empty segment of no region", {empty}, {empty});
}

DAT_CASE(write_of_no_octets_completes, calls(dat_ep_post_rdma_write),
         rules("dat.ep-post-rdma-write.zero-length")) {
  const PairWithMemory setup(*this);
  expect(post_write(setup.pair.active.ep.get(), {}, setup.peer.remote(0, 0), 1), succeeds);
  const auto got = expect_completion(setup.pair.active.requests, 1, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.active.ep, DAT_DTO_RDMA_WRITE, 0);
  expect_state(setup.pair.passive.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(read_of_no_octets_completes, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-rdma-read.zero-length")) {
  const PairWithMemory setup(*this);
  expect(post_read(setup.pair.active.ep.get(), {}, setup.peer.remote(0, 0), 1), succeeds);
  const auto got = expect_completion(setup.pair.active.requests, 1, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.active.ep, DAT_DTO_RDMA_READ, 0);
  expect_state(setup.pair.passive.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(read_of_no_octets_to_a_window_completes, calls(dat_ep_post_rdma_read_to_rmr),
         rules("dat.ep-post-rdma-read-to-rmr.zero-length")) {
  const PairWithMemory setup(*this);
  const Window window = bind_window(setup.pair.pz, setup.pair.active, setup.own);
  const DAT_RMR_TRIPLET to = window.triplet(setup.own, 0), from = setup.peer.remote(0, 0);
  expect(post_read_to_rmr(setup.pair.active.ep.get(), &to, &from, 1), succeeds);
  const auto got = expect_completion(setup.pair.active.requests, 1, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.active.ep, DAT_DTO_RDMA_READ, 0);
}

DAT_CASE(send_of_no_octets_ends_a_window, calls(dat_ep_post_send_with_invalidate),
         rules("dat.ep-post-send-with-invalidate.zero-length")) {
  const PairWithMemory setup(*this);
  const Window window = bind_window(setup.pair.pz, setup.pair.passive, setup.peer);
  need(post_recv(setup.pair.passive.ep.get(), {}, 5), "no receive");
  expect(post_send_with_invalidate(setup.pair.active.ep.get(), {}, 6, window.context), succeeds);
  const auto got = expect_completion(setup.pair.passive.receives, 5, DAT_DTO_SUCCESS);
  expect_fields(*this, got, setup.pair.passive.ep, DAT_DTO_RECEIVE_WITH_INVALIDATE, 0);
}

DAT_CASES_OF_FILE(ep_post)

}  // namespace suite::cases::dat
