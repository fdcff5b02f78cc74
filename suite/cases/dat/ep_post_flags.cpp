// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// DTOs: what the flags of a post do, and the order of completions.
#include "suite/cases/dat/framework/dat_posts.hpp"

namespace suite::cases::dat {

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

DAT_CASE(solicited_message_wakes_its_waiter, calls(dat_ep_post_send, dat_evd_wait),
         rules("dat.ep-post-send.solicited")) {
  const Pz pz = ia().pz();
  DAT_EP_ATTR attr = attributes_of(*this, make_side(ia(), pz).ep);
  attr.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
  PairOptions options;
  options.attributes = &attr;
  const Pair pair = connected(options);
  const Lmr memory(ia(), pair.pz.get(), 64);
  for (DAT_UINT64 id = 1; id <= 2; ++id)
    need(post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, id), "no receive");
  Waiter waiter(pair.passive.receives);
  const DAT_RETURN plain = post_send(pair.active.ep.get(), {memory.triplet(8, 8)}, 1);
  const DAT_RETURN solicited = post_send(pair.active.ep.get(), {memory.triplet(8, 8)}, 2,
                                         with_flags(DAT_COMPLETION_SOLICITED_WAIT_FLAG));
  const Waited waited = waiter.result();
  expect(plain, succeeds);
  expect(solicited, succeeds);
  expect(waited.code, succeeds);
  // Both were in the queue when the waiter woke, unless it woke for the first.
  expect_that(waited.more == 1, "1 more", fmt::format("{} more", waited.more));
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
