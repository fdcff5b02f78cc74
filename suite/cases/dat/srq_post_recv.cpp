// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Receives of a shared receive queue: dat_srq_post_recv.
#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/dat/framework/dat_shared_queue.hpp"

namespace suite::cases::dat {

DAT_CASE(receive_of_the_queue_takes_a_message, calls(dat_srq_post_recv),
         rules("dat.srq-post-recv.success")) {
  Queue queue(*this);
  Users users(*this, queue);
  users.connect(*this);
  constexpr DAT_UINT64 cookie = 0xFEDC'BA98'7654'3210;  // all of it comes back
  expect(queue.post(cookie, {queue.memory.triplet(0, 64)}), succeeds);
  const Lmr from(ia(), queue.pz.get(), 40, DAT_MEM_PRIV_ALL_FLAG, std::byte{0x5A});
  users.send(*this, from.triplet());
  const auto data = expect_completion(users.receiver.receives, cookie, DAT_DTO_SUCCESS);
  same(*this, "length", data.transfered_length, 40);
  same(*this, "endpoint", data.ep_handle, users.receiver.ep.get());
  same(*this, "operation", data.operation, DAT_DTO_RECEIVE);
  expect_that(
      queue.memory.octets()[39] == std::byte{0x5A} && queue.memory.octets()[40] == std::byte{0xA5},
      "the 40 octets sent", "other octets");
}

DAT_CASE(endpoints_share_the_queue, calls(dat_srq_post_recv), rules("dat.srq-post-recv.success")) {
  Queue queue(*this);
  Users first(*this, queue), second(*this, queue);
  first.connect(*this);
  second.connect(*this);
  expect(queue.post(1), succeeds);
  expect(queue.post(2), succeeds);
  const Lmr from(ia(), queue.pz.get(), 8);
  DAT_UINT64 cookies = 0;
  for (Users* users : {&second, &first}) {
    users->send(*this, from.triplet());
    const auto data = expect_event(users->receiver.receives, DAT_DTO_COMPLETION_EVENT)
                          .event_data.dto_completion_event_data;
    same(*this, "endpoint", data.ep_handle, users->receiver.ep.get());
    cookies += data.user_cookie.as_64;
  }
  same(*this, "sum of the cookies", cookies, 3);
}

DAT_CASE(solicited_message_of_the_queue_wakes_its_waiter, calls(dat_srq_post_recv, dat_evd_wait),
         rules("dat.srq-post-recv.solicited")) {
  Queue queue(*this);
  Users users(*this, queue, {.flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG});
  users.connect(*this);
  for (DAT_UINT64 id = 1; id <= 2; ++id) need(queue.post(id), "no receive");
  const Lmr from(ia(), queue.pz.get(), 8);
  Waiter waiter(users.receiver.receives);
  users.send(*this, from.triplet());
  need(post_read(users.sender.ep.get(), {from.triplet()}, queue.memory.remote(0, 8), 9), "no read");
  // The Read is answered behind the message: its receive is complete.
  for (int done = 0; done < 2; ++done) (void)next_event(users.sender.requests);
  const bool asleep = !waiter.is_back();
  users.send(*this, from.triplet(), DAT_COMPLETION_SOLICITED_WAIT_FLAG);
  const Waited waited = waiter.result();
  expect_that(asleep, "the waiter sleeps on", "the waiter is awake");
  expect(waited.code, succeeds);
  // Both were in the queue when the waiter woke, unless it woke for the first.
  expect_that(waited.more == 1, "1 more", fmt::format("{} more", waited.more));
}

DAT_CASE(receive_of_the_queue_tells_which_window_has_ended,
         calls(dat_srq_post_recv, dat_ep_post_send_with_invalidate),
         rules("dat.ep-post-send-with-invalidate.success")) {
  Queue queue(*this);
  Users users(*this, queue);
  users.connect(*this);
  const Lmr memory(ia(), queue.pz.get(), 64);
  const Window window = bind_window(queue.pz, users.receiver, memory);
  expect(queue.post(5), succeeds);
  expect(
      post_send_with_invalidate(users.sender.ep.get(), {memory.triplet(0, 8)}, 6, window.context),
      succeeds);
  const auto data = expect_completion(users.receiver.receives, 5, DAT_DTO_SUCCESS);
  same(*this, "operation", data.operation, DAT_DTO_RECEIVE_WITH_INVALIDATE);
  same(*this, "context", data.rmr_context, window.context);
}

DAT_CASE(threshold_needs_completions_of_the_queue_that_notify,
         calls(dat_ep_create_with_srq, dat_evd_wait), rules("dat.evd-wait.selective")) {
  Queue queue(*this);
  const Users users(*this, queue, {.flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG});
  expect(wait_on(users.receiver.receives, 0, 2).code, returns(DAT_INVALID_STATE));
  expect(wait_on(users.receiver.receives, 0, 1).code, returns(DAT_TIMEOUT_EXPIRED));
}

DAT_CASE(segments_are_filled_in_their_order, calls(dat_srq_post_recv),
         rules("dat.srq-post-recv.segments")) {
  Queue queue(*this);
  Users users(*this, queue);
  users.connect(*this);
  expect(queue.post(1, {queue.memory.triplet(512, 16), queue.memory.triplet(0, 32)}), succeeds);
  const Lmr from(ia(), queue.pz.get(), 24, DAT_MEM_PRIV_ALL_FLAG, std::byte{0x5A});
  users.send(*this, from.triplet());
  expect_completion(users.receiver.receives, 1, DAT_DTO_SUCCESS);
  const auto& octets = queue.memory.octets();
  const auto sent = [&](std::size_t at) { return octets[at] == std::byte{0x5A}; };
  expect_that(sent(512) && sent(527) && !sent(528) && sent(0) && sent(7) && !sent(8),
              "16 octets in the first, 8 in the second", "other octets");
}

DAT_CASE(receive_without_segments_takes_an_empty_message, calls(dat_srq_post_recv),
         rules("dat.srq-post-recv.zero")) {
  Queue queue(*this);
  Users users(*this, queue);
  users.connect(*this);
  expect(queue.post(5, 0, nullptr), succeeds);
  users.send(*this, {});
  const auto data = expect_completion(users.receiver.receives, 5, DAT_DTO_SUCCESS);
  same(*this, "length", data.transfered_length, 0);
}

DAT_CASE(message_longer_than_the_receive_is_an_error, calls(dat_srq_post_recv),
         rules("dat.srq-post-recv.success")) {
  Queue queue(*this);
  Users users(*this, queue);
  users.connect(*this);
  expect(queue.post(6, {queue.memory.triplet(0, 8)}), succeeds);
  const Lmr from(ia(), queue.pz.get(), 40);
  users.send(*this, from.triplet());
  expect_completion(users.receiver.receives, 6, DAT_DTO_ERR_LOCAL_LENGTH);
}

DAT_CASE(full_queue_refuses_receives, calls(dat_srq_post_recv), rules("dat.srq-post-recv.full")) {
  Queue queue(*this);
  const DAT_COUNT entries = queue.query(*this).max_recv_dtos;
  for (DAT_COUNT i = 0; i < entries; ++i) expect(queue.post(0), succeeds);
  expect(queue.post(0), returns(DAT_INSUFFICIENT_RESOURCES));
}

// A buffer is outstanding until its completion has been reaped (dat_srq_resize).
DAT_CASE(buffer_counts_until_its_completion_is_taken, calls(dat_srq_post_recv),
         rules("dat.srq-post-recv.full")) {
  Queue queue(*this);
  Users users(*this, queue);
  users.connect(*this);
  const DAT_COUNT entries = queue.query(*this).max_recv_dtos;
  for (DAT_COUNT i = 0; i < entries; ++i) need(queue.post(0), "no receive");
  users.send(*this, queue.memory.triplet(0, 8));
  (void)expect_completion(users.sender.requests, 0, DAT_DTO_SUCCESS);
  // Its message has arrived when a Read that was posted later has been answered.
  const Lmr own(ia(), queue.pz.get(), 8);
  need(post_read(users.sender.ep.get(), {own.triplet()}, queue.memory.remote(0, 8), 1), "no read");
  (void)expect_completion(users.sender.requests, 1, DAT_DTO_SUCCESS);
  expect(queue.post(0), returns(DAT_INSUFFICIENT_RESOURCES));
  (void)next_event(users.receiver.receives);
  expect(queue.post(0), succeeds);
}

DAT_CASE(receive_beyond_its_region_is_refused, calls(dat_srq_post_recv),
         rules("dat.srq-post-recv.invalid-parameter")) {
  Queue queue(*this);
  DAT_LMR_TRIPLET beyond = queue.memory.triplet(1000), before = queue.memory.triplet(0, 8);
  beyond.segment_length += 1;
  before.virtual_address -= 1;
  // DAT 1.2 has both returns for memory outside of its region.
  const Returns refused = returns(DAT_INVALID_PARAMETER).or_tolerably(DAT_PROTECTION_VIOLATION);
  row("an octet beyond it", [&] { expect(queue.post(1, {beyond}), refused); });
  row("an octet before it", [&] { expect(queue.post(1, {before}), refused); });
  row("in the second segment",
      [&] { expect(queue.post(1, {queue.memory.triplet(0, 8), beyond}), refused); });
}

DAT_CASE(impossible_number_of_segments_is_refused, calls(dat_srq_post_recv),
         rules("dat.srq-post-recv.invalid-parameter"), with_hostile_handles) {
  Queue queue(*this);
  const DAT_COUNT most = queue.query(*this).max_recv_iov;
  std::vector<DAT_LMR_TRIPLET> segments(static_cast<std::size_t>(most) + 1,
                                        queue.memory.triplet(0, 1));
  row("negative",
      [&] { expect(queue.post(1, -1, segments.data()), returns(DAT_INVALID_PARAMETER)); });
  row("more than the queue was made for",
      [&] { expect(queue.post(1, most + 1, segments.data()), returns(DAT_INVALID_PARAMETER)); });
  row("no segments at the address",
      [&] { expect(queue.post(1, 1, nullptr), returns(DAT_INVALID_PARAMETER)); });
}

DAT_CASE(receive_into_another_zone_is_refused, calls(dat_srq_post_recv),
         rules("dat.srq-post-recv.protection-violation")) {
  Queue queue(*this);
  const Pz other = ia().pz();
  const Lmr region(ia(), other.get(), 64);
  expect(queue.post(1, {region.triplet()}), returns(DAT_PROTECTION_VIOLATION));
}

DAT_CASE(receive_into_memory_without_local_write_is_refused, calls(dat_srq_post_recv),
         rules("dat.srq-post-recv.privileges-violation")) {
  Queue queue(*this);
  const Lmr region(ia(), queue.pz.get(), 64, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  expect(queue.post(1, {region.triplet()}), returns(DAT_PRIVILEGES_VIOLATION));
}

DAT_CASE(receive_into_a_freed_region_is_refused, calls(dat_srq_post_recv),
         rules("dat.srq-post-recv.privileges-violation")) {
  Queue queue(*this);
  Lmr region(ia(), queue.pz.get(), 64);
  const DAT_LMR_TRIPLET segment = region.triplet();
  need(CALL(dat_lmr_free, region.release()), "not freed");
  expect(queue.post(1, {segment}),
         returns_one_of({DAT_PRIVILEGES_VIOLATION, DAT_PROTECTION_VIOLATION}));
}

DAT_HANDLE_CASES(receive, dat_srq_post_recv, "dat.srq-post-recv.invalid-handle",
                 DAT_HANDLE_TYPE_SRQ, freed(only(Queue(*this))),
                 CALL(dat_srq_post_recv, handle, 0, nullptr, DAT_DTO_COOKIE{}))

DAT_CASES_OF_PART(srq, post_recv)

}  // namespace suite::cases::dat
