// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// DTOs: what the flags of a post do, and the order of completions.
#include <atomic>
#include <thread>

#include "suite/cases/dat/framework/dat_posts.hpp"
#include "suite/cases/dat/framework/dat_windows.hpp"

namespace suite::cases::dat {

namespace {

/// A request of each kind but the plain Send, from the active side.
struct Request {
  const char* name;
  std::function<DAT_RETURN(DAT_UINT64 id, unsigned flags)> post;
};

/// With a window on each side: one to read to, one for the peer to invalidate.
std::vector<Request> other_requests(const PairWithMemory& setup, const Window& sink,
                                    const Window& ended) {
  const DAT_EP_HANDLE ep = setup.pair.active.ep.get();
  return {{"RDMA Write",
           [=, &setup](DAT_UINT64 id, unsigned flags) {
             return post_write(ep, {setup.own.triplet(0, 8)}, setup.peer.remote(8, 8), id,
                               with_flags(flags));
           }},
          {"RDMA Read",
           [=, &setup](DAT_UINT64 id, unsigned flags) {
             return post_read(ep, {setup.own.triplet(16, 8)}, setup.peer.remote(16, 8), id,
                              with_flags(flags));
           }},
          {"RDMA Read to a window",
           [=, &setup, &sink](DAT_UINT64 id, unsigned flags) {
             const DAT_RMR_TRIPLET to = sink.triplet(setup.own, 8), from = setup.peer.remote(0, 8);
             return post_read_to_rmr(ep, &to, &from, id, with_flags(flags));
           }},
          {"Send with Invalidate", [=, &setup, &ended](DAT_UINT64 id, unsigned flags) {
             return post_send_with_invalidate(ep, {setup.own.triplet(0, 8)}, id, ended.context,
                                              with_flags(flags));
           }}};
}

/// Waits until an octet that a provider's thread may write has another value than before.
void await_change(std::byte& octet, std::byte before) {
  while (std::atomic_ref(octet).load() == before) std::this_thread::yield();
}

}  // namespace

DAT_CASE(suppressed_completion_is_not_delivered, calls(dat_ep_post_send),
         rules("dat.ep-post-send.suppress")) {
  const PairWithMemory setup(*this);
  for (DAT_UINT64 id = 1; id <= 2; ++id)
    need(post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet(0, 8)}, id), "no receive");
  expect(post_send(setup.pair.active.ep.get(), {setup.own.triplet(0, 8)}, 1,
                   with_flags(DAT_COMPLETION_SUPPRESS_FLAG)),
         succeeds);
  expect(post_send(setup.pair.active.ep.get(), {setup.own.triplet(0, 8)}, 2), succeeds);
  (void)expect_completion(setup.pair.active.requests, 2, DAT_DTO_SUCCESS);
  (void)expect_completion(setup.pair.passive.receives, 1, DAT_DTO_SUCCESS);
  (void)expect_completion(setup.pair.passive.receives, 2, DAT_DTO_SUCCESS);
  expect_no_event(setup.pair.active.requests);
}

DAT_CASE(each_kind_of_request_can_be_suppressed,
         calls(dat_ep_post_rdma_write, dat_ep_post_rdma_read, dat_ep_post_rdma_read_to_rmr,
               dat_ep_post_send_with_invalidate),
         rules("dat.ep-post-send.suppress")) {
  for (std::size_t kind = 0; kind < 4; ++kind) {
    PairWithMemory setup(*this);
    const Window sink = bind_window(setup.pair.pz, setup.pair.active, setup.own);
    const Window ended = bind_window(setup.pair.pz, setup.pair.passive, setup.peer);
    const Request request = other_requests(setup, sink, ended)[kind];
    row(request.name, [&] {
      for (DAT_UINT64 id = 1; id <= 2; ++id)
        need(post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet(200, 8)}, id),
             "no receive");
      expect(request.post(3, DAT_COMPLETION_SUPPRESS_FLAG), succeeds);
      need(post_send(setup.pair.active.ep.get(), {setup.own.triplet(0, 8)}, 4), "no send");
      (void)expect_completion(setup.pair.active.requests, 4, DAT_DTO_SUCCESS);
      expect_no_event(setup.pair.active.requests);
    });
  }
}

DAT_CASE(suppressed_completion_in_error_is_delivered, calls(dat_ep_post_send),
         rules("dat.ep-post-send.suppress")) {
  const PairWithMemory setup(*this);
  end_connection(setup.pair);
  expect(post_send(setup.pair.active.ep.get(), {setup.own.triplet(0, 8)}, 1,
                   with_flags(DAT_COMPLETION_SUPPRESS_FLAG)),
         succeeds);
  (void)expect_completion(setup.pair.active.requests, 1, DAT_DTO_ERR_FLUSHED);
}

DAT_CASE(unsignalled_completion_does_not_wake_waiters, calls(dat_ep_post_send, dat_evd_wait),
         rules("dat.ep-post-send.unsignalled")) {
  const Pz pz = ia().pz();
  DAT_EP_ATTR attr = attributes_of(*this, make_side(ia(), pz).ep);
  attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  PairOptions options;
  options.attributes = &attr;
  const Pair pair = connected(options);
  const Lmr memory(ia(), pair.pz.get(), 64);
  const auto judge_wait = [&](DAT_UINT64 id) {
    for (int i = 0; i < 2; ++i)
      need(post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, id), "no receive");
    Waiter waiter(pair.active.requests);
    const DAT_RETURN first = post_send(pair.active.ep.get(), {memory.triplet(8, 8)}, id,
                                       with_flags(DAT_COMPLETION_UNSIGNALLED_FLAG));
    // The peer has the message, so the request is complete or about to be.
    (void)next_event(pair.passive.receives);
    const bool asleep = !waiter.is_back();
    need(post_send(pair.active.ep.get(), {memory.triplet(8, 8)}, id + 1), "no send");
    const Waited waited = waiter.result();
    expect(first, succeeds);
    expect_that(asleep, "the waiter sleeps on", "the waiter is awake");
    expect(waited.code, succeeds);
    const auto& data = waited.event.event_data.dto_completion_event_data;
    expect_that(data.user_cookie.as_64 == id, fmt::format("completion {} first", id),
                fmt::format("completion {}", data.user_cookie.as_64));
    (void)expect_completion(pair.active.requests, id + 1, DAT_DTO_SUCCESS);
    (void)next_event(pair.passive.receives);
  };
  row("no completion before", [&] { judge_wait(1); });
  // That one notified is over once it has been taken.
  row("after one that notified", [&] { judge_wait(3); });
}

// That the octets are there shows that the completion is, or is about to be.
DAT_CASE(each_unsignalled_completion_leaves_its_waiter_asleep,
         calls(dat_ep_post_rdma_write, dat_ep_post_rdma_read, dat_ep_post_recv, dat_evd_wait),
         rules("dat.ep-post-send.unsignalled")) {
  const Pz pz = ia().pz();
  DAT_EP_ATTR attr = attributes_of(*this, make_side(ia(), pz).ep);
  attr.request_completion_flags = attr.recv_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  PairOptions options;
  options.attributes = &attr;
  const PostOptions quiet = with_flags(DAT_COMPLETION_UNSIGNALLED_FLAG);
  const auto judge = [&](const char* name, const Evd Side::* stream, bool of_active,
                         const auto& post, const auto& changed, const auto& notify) {
    row(name, [&] {
      PairWithMemory setup(*this, options);
      const Pair& pair = setup.pair;
      Waiter waiter((of_active ? pair.active : pair.passive).*stream);
      const DAT_RETURN posted = post(setup);
      await_change(*changed(setup).first, changed(setup).second);
      const bool asleep = !waiter.is_back();
      notify(setup);
      const Waited waited = waiter.result();
      expect(posted, succeeds);
      expect_that(asleep, "the waiter sleeps on", "the waiter is awake");
      expect(waited.code, succeeds);
      const auto& data = waited.event.event_data.dto_completion_event_data;
      expect_that(data.user_cookie.as_64 == 1, "completion 1 first",
                  fmt::format("completion {}", data.user_cookie.as_64));
      // How many more there are is what the provider has seen of its queue until then.
      advise_that(waited.more == 1, "another, which has woken the waiter",
                  fmt::format("{} more", waited.more));
    });
  };
  const auto send = [&](PairWithMemory& setup) {
    need(post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet(200, 8)}, 2), "no receive");
    need(post_send(setup.pair.active.ep.get(), {setup.own.triplet(0, 8)}, 2), "no send");
  };
  const auto of_peer = [](PairWithMemory& setup) {
    return std::pair(&setup.peer.octets()[8], peer_octet);
  };
  judge(
      "RDMA Write", &Side::requests, true,
      [&](PairWithMemory& setup) {
        return post_write(setup.pair.active.ep.get(), {setup.own.triplet(0, 8)},
                          setup.peer.remote(8, 8), 1, quiet);
      },
      of_peer, send);
  judge(
      "RDMA Read", &Side::requests, true,
      [&](PairWithMemory& setup) {
        return post_read(setup.pair.active.ep.get(), {setup.own.triplet(16, 8)},
                         setup.peer.remote(16, 8), 1, quiet);
      },
      [](PairWithMemory& setup) { return std::pair(&setup.own.octets()[16], own_octet); }, send);
  judge(
      "receive", &Side::receives, false,
      [&](PairWithMemory& setup) {
        const DAT_RETURN posted =
            post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet(8, 8)}, 1, quiet);
        need(post_send(setup.pair.active.ep.get(), {setup.own.triplet(0, 8)}, 1), "no send");
        return posted;
      },
      of_peer, send);
}

// A bind is done before the Write behind it starts, and the Write is placed.
DAT_CASE(unsignalled_bind_leaves_its_waiter_asleep, calls(dat_rmr_bind, dat_evd_wait),
         rules("dat.ep-post-send.unsignalled")) {
  need_windows(*this);
  const Pz pz = ia().pz();
  DAT_EP_ATTR attr = attributes_of(*this, make_side(ia(), pz).ep);
  attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  PairOptions options;
  options.attributes = &attr;
  PairWithMemory setup(*this, options);
  const Side& side = setup.pair.active;
  const Rmr rmr = make_window(*this, setup.pair.pz);
  const DAT_LMR_TRIPLET segment = setup.own.triplet(0, 64);
  DAT_RMR_CONTEXT context = 0;
  Waiter waiter(side.requests);
  const DAT_RETURN bound =
      CALL(dat_rmr_bind, rmr.get(), setup.own.get(), &segment, DAT_MEM_PRIV_REMOTE_READ_FLAG,
           DAT_VA_TYPE_VA, side.ep.get(), cookie(1), DAT_COMPLETION_UNSIGNALLED_FLAG, &context);
  need(post_write(side.ep.get(), {setup.own.triplet(0, 8)}, setup.peer.remote(8, 8), 2,
                  with_flags(DAT_COMPLETION_UNSIGNALLED_FLAG)),
       "no write");
  await_change(setup.peer.octets()[8], peer_octet);
  const bool asleep = !waiter.is_back();
  need(post_write(side.ep.get(), {setup.own.triplet(0, 8)}, setup.peer.remote(8, 8), 3),
       "no write");
  const Waited waited = waiter.result();
  expect(bound, succeeds);
  expect_that(asleep, "the waiter sleeps on", "the waiter is awake");
  expect(waited.code, succeeds);
}

DAT_CASE(solicited_message_wakes_its_waiter,
         calls(dat_ep_post_send, dat_ep_post_send_with_invalidate, dat_evd_wait),
         rules("dat.ep-post-send.solicited")) {
  const Pz pz = ia().pz();
  DAT_EP_ATTR attr = attributes_of(*this, make_side(ia(), pz).ep);
  attr.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
  PairOptions options;
  options.attributes = &attr;
  for (const bool invalidates : {false, true})
    row(invalidates ? "Send with Invalidate" : "Send", [&] {
      const PairWithMemory setup(*this, options);
      const Pair& pair = setup.pair;
      Window windows[2];
      if (invalidates)
        for (Window& window : windows) window = bind_window(pair.pz, pair.passive, setup.peer);
      for (DAT_UINT64 id = 1; id <= 2; ++id)
        need(post_recv(pair.passive.ep.get(), {setup.peer.triplet(0, 8)}, id), "no receive");
      Waiter waiter(pair.passive.receives);
      const auto send = [&](DAT_UINT64 id, PostOptions flags) {
        const Segments from{setup.own.triplet(8, 8)};
        return invalidates ? post_send_with_invalidate(pair.active.ep.get(), from, id,
                                                       windows[id - 1].context, flags)
                           : post_send(pair.active.ep.get(), from, id, flags);
      };
      const DAT_RETURN plain = send(1, {});
      const DAT_RETURN solicited = send(2, with_flags(DAT_COMPLETION_SOLICITED_WAIT_FLAG));
      const Waited waited = waiter.result();
      expect(plain, succeeds);
      expect(solicited, succeeds);
      expect(waited.code, succeeds);
      // Both were in the queue when the waiter woke, unless it woke for the first.
      expect_that(waited.more == 1, "1 more", fmt::format("{} more", waited.more));
    });
}

DAT_CASE(fenced_write_waits_for_the_read, calls(dat_ep_post_rdma_write),
         rules("dat.ep-post-send.fence"), deadline_of(10s)) {
  const Pair pair = connected();
  const std::size_t size = 256 * 1024;
  Lmr between(ia(), pair.pz.get(), size, DAT_MEM_PRIV_ALL_FLAG, std::byte{1});
  const Lmr source(ia(), pair.pz.get(), size, DAT_MEM_PRIV_ALL_FLAG, std::byte{2});
  Lmr target(ia(), pair.pz.get(), size, DAT_MEM_PRIV_ALL_FLAG, std::byte{3});
  const Lmr behind(ia(), pair.pz.get(), 8);
  need(post_recv(pair.passive.ep.get(), {behind.triplet()}, 9), "no receive");
  need(post_read(pair.active.ep.get(), {between.triplet()}, source.remote(), 1), "no read");
  expect(post_write(pair.active.ep.get(), {between.triplet()}, target.remote(), 2,
                    with_flags(DAT_COMPLETION_BARRIER_FENCE_FLAG)),
         succeeds);
  need(post_send(pair.active.ep.get(), {source.triplet(0, 8)}, 3), "no send");
  for (DAT_UINT64 id = 1; id <= 3; ++id)
    (void)expect_completion(pair.active.requests, id, DAT_DTO_SUCCESS);
  (void)expect_completion(pair.passive.receives, 9, DAT_DTO_SUCCESS);
  expect_octets(*this, target, 0, size, std::byte{2});
}

// The message carries what both Reads bring.
DAT_CASE(fenced_messages_wait_for_every_read,
         calls(dat_ep_post_send, dat_ep_post_send_with_invalidate), rules("dat.ep-post-send.fence"),
         deadline_of(10s)) {
  for (const bool invalidates : {false, true})
    row(invalidates ? "Send with Invalidate" : "Send", [&] {
      const Pair pair = connected();
      constexpr std::size_t size = std::size_t{256} * 1024, half = size / 2;
      Lmr between(ia(), pair.pz.get(), size, DAT_MEM_PRIV_ALL_FLAG, std::byte{1});
      const Lmr source(ia(), pair.pz.get(), size, DAT_MEM_PRIV_ALL_FLAG, std::byte{2});
      Lmr sink(ia(), pair.pz.get(), size, DAT_MEM_PRIV_ALL_FLAG, std::byte{3});
      Window window;
      if (invalidates) window = bind_window(pair.pz, pair.passive, sink);
      need(post_recv(pair.passive.ep.get(), {sink.triplet()}, 9), "no receive");
      for (const std::size_t from : {std::size_t{0}, half})
        need(post_read(pair.active.ep.get(), {between.triplet(from, half)},
                       source.remote(from, half), 1),
             "no read");
      const PostOptions fenced = with_flags(DAT_COMPLETION_BARRIER_FENCE_FLAG);
      expect(invalidates ? post_send_with_invalidate(pair.active.ep.get(), {between.triplet()}, 2,
                                                     window.context, fenced)
                         : post_send(pair.active.ep.get(), {between.triplet()}, 2, fenced),
             succeeds);
      for (const DAT_UINT64 id : {1, 1, 2})
        (void)expect_completion(pair.active.requests, id, DAT_DTO_SUCCESS);
      (void)expect_completion(pair.passive.receives, 9, DAT_DTO_SUCCESS);
      expect_octets(*this, sink, 0, size, std::byte{2});
    });
}

DAT_CASE(fenced_read_into_several_segments_waits_for_the_read, calls(dat_ep_post_rdma_read),
         rules("dat.ep-post-send.fence"), deadline_of(10s)) {
  const Pair pair = connected();
  const std::size_t size = 256 * 1024;
  if (attributes_of(*this, pair.active.ep).max_rdma_read_iov < 2)
    stop(Verdict::not_applicable, "an RDMA Read has one segment");
  const Lmr between(ia(), pair.pz.get(), size, DAT_MEM_PRIV_ALL_FLAG, std::byte{1});
  const Lmr source(ia(), pair.pz.get(), size, DAT_MEM_PRIV_ALL_FLAG, std::byte{2});
  Lmr target(ia(), pair.pz.get(), size, DAT_MEM_PRIV_ALL_FLAG, std::byte{3});
  need(post_read(pair.active.ep.get(), {between.triplet()}, source.remote(), 1), "no read");
  // What the first Read brings is what the second one fetches.
  expect(post_read(pair.active.ep.get(),
                   {target.triplet(0, size / 2), target.triplet(size / 2, size / 2)},
                   between.remote(), 2, with_flags(DAT_COMPLETION_BARRIER_FENCE_FLAG)),
         succeeds);
  for (DAT_UINT64 id = 1; id <= 2; ++id)
    (void)expect_completion(pair.active.requests, id, DAT_DTO_SUCCESS);
  expect_octets(*this, target, 0, size, std::byte{2});
}

// What the Read fills is the window that is unbound behind it.
DAT_CASE(fenced_unbind_waits_for_the_read, calls(dat_rmr_bind, dat_ep_post_rdma_read_to_rmr),
         rules("dat.ep-post-send.fence"), deadline_of(10s)) {
  const Pair pair = connected();
  const std::size_t size = 256 * 1024;
  Lmr target(ia(), pair.pz.get(), size, DAT_MEM_PRIV_ALL_FLAG, std::byte{1});
  const Lmr source(ia(), pair.pz.get(), size, DAT_MEM_PRIV_ALL_FLAG, std::byte{2});
  const Window window = bind_window(pair.pz, pair.active, target);
  const DAT_RMR_TRIPLET to = window.triplet(target, size), from = source.remote();
  need(post_read_to_rmr(pair.active.ep.get(), &to, &from, 1), "no read");
  const DAT_LMR_TRIPLET none = target.triplet(0, 0);
  DAT_RMR_CONTEXT context = 0;
  expect(CALL(dat_rmr_bind, window.rmr.get(), target.get(), &none, DAT_MEM_PRIV_ALL_FLAG,
              DAT_VA_TYPE_VA, pair.active.ep.get(), cookie(2), DAT_COMPLETION_BARRIER_FENCE_FLAG,
              &context),
         succeeds);
  (void)expect_completion(pair.active.requests, 1, DAT_DTO_SUCCESS);
  expect_octets(*this, target, 0, size, std::byte{2});
  expect_state(pair.active.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(completions_keep_the_order_of_their_posts,
         calls(dat_ep_post_send, dat_ep_post_rdma_write, dat_ep_post_rdma_read),
         rules("dat.ep-post-send.order")) {
  const PairWithMemory setup(*this);
  const DAT_EP_HANDLE ep = setup.pair.active.ep.get();
  for (DAT_UINT64 id = 1; id <= 4; ++id)
    need(post_recv(setup.pair.passive.ep.get(), {setup.peer.triplet(0, 8)}, id), "no receive");
  for (DAT_UINT64 id = 0; id < 12; ++id) {
    const DAT_LMR_TRIPLET segment = setup.own.triplet(8 * id, 8);
    if (id % 3 == 0)
      need(post_read(ep, {segment}, setup.peer.remote(64, 8), id), "no read");
    else if (id % 3 == 1)
      need(post_write(ep, {segment}, setup.peer.remote(128, 8), id), "no write");
    else
      need(post_send(ep, {segment}, id), "no send");
  }
  for (DAT_UINT64 id = 0; id < 12; ++id)
    (void)expect_completion(setup.pair.active.requests, id, DAT_DTO_SUCCESS);
  for (DAT_UINT64 id = 1; id <= 4; ++id)
    (void)expect_completion(setup.pair.passive.receives, id, DAT_DTO_SUCCESS);
}

DAT_CASES_OF_PART(ep_post, flags)

}  // namespace suite::cases::dat
