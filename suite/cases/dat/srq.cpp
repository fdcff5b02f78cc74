// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Shared receive queues: dat_srq_create, dat_srq_query, dat_srq_resize, dat_srq_set_lw, dat_srq_free.
#include <chrono>
#include <limits>
#include <set>

#include "suite/cases/dat/framework/dat_shared_queue.hpp"

namespace suite::cases::dat {

namespace {

DAT_RETURN query(DAT_HANDLE handle) {
  DAT_SRQ_PARAM param{};
  return CALL(dat_srq_query, handle, DAT_SRQ_FIELD_ALL, &param);
}

bool is_watermark(const DAT_EVENT& event, const Srq& srq) {
  const auto& data = event.event_data.asynch_error_event_data;
  return data.dat_handle == srq.get() && data.reason == DAT_SRQ_LOW_WATERMARK_EVENT;
}

}  // namespace

// ---------------------------------------------------------------- dat_srq_create, dat_srq_query

DAT_CASE(queue_has_the_size_asked_for, calls(dat_srq_create, dat_srq_query),
         rules("dat.srq-create.success", "dat.srq-query.success")) {
  Queue queue(*this);
  expect_that(queue.srq.get() != DAT_HANDLE_NULL, "a handle", "DAT_HANDLE_NULL");
  const DAT_SRQ_PARAM param = queue.query(*this);
  same(*this, "IA", param.ia_handle, ia().get(), "dat.srq-query.success");
  same(*this, "PZ", param.pz_handle, queue.pz.get(), "dat.srq-query.success");
  same(*this, "state", param.srq_state, DAT_SRQ_STATE_OPERATIONAL, "dat.srq-query.success");
  at_least(*this, "entries", param.max_recv_dtos, 8);
  at_least(*this, "segments", param.max_recv_iov, 2);
  same(*this, "low watermark", param.low_watermark, DAT_SRQ_LW_DEFAULT, "dat.srq-query.success");
  // A receive may have as many segments as the queue states.
  std::vector<DAT_LMR_TRIPLET> segments;
  for (DAT_COUNT i = 0; i < param.max_recv_iov; ++i)
    segments.push_back(queue.memory.triplet(static_cast<std::size_t>(i), 1));
  expect(queue.post(1, segments), succeeds, "dat.srq-query.success");
}

/// The page has a consumer leave the watermark at its default so that there is no event.
DAT_CASE(watermark_of_a_new_queue_is_reported, calls(dat_srq_create),
         rules("dat.srq-create.watermark")) {
  Queue queue(*this, {.max_recv_dtos = 8, .max_recv_iov = 2, .low_watermark = 2});
  DAT_EVENT event{};
  DAT_COUNT more = 0;
  const DAT_RETURN got = CALL(dat_evd_wait, ia().async_evd(), 1'000'000, 1, &event, &more);
  advise_that(got == DAT_SUCCESS && is_watermark(event, queue.srq),
              "the queue and its low watermark",
              got == DAT_SUCCESS ? event_text(event.event_number) : return_text(got));
}

DAT_CASE(queue_of_one_entry_can_be_made, calls(dat_srq_create), rules("dat.srq-create.success")) {
  Queue queue(*this, {.max_recv_dtos = 1, .max_recv_iov = 1, .low_watermark = DAT_SRQ_LW_DEFAULT});
  at_least(*this, "entries", queue.query(*this).max_recv_dtos, 1);
  expect(queue.post(1), succeeds);
}

DAT_CASE(queue_with_an_invalid_ia_is_refused, calls(dat_srq_create),
         rules("dat.srq-create.invalid-handle")) {
  Queue queue(*this);
  expect_refusal_of_no_ia(*this, [&](DAT_IA_HANDLE handle) {
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
    return CALL(dat_srq_create, handle, queue.pz.get(), &queue.attr, &srq);
  });
}

DAT_CASE(queue_in_no_zone_is_refused, calls(dat_srq_create), rules("dat.srq-create.invalid-handle"),
         with_hostile_handles) {
  Queue queue(*this);
  const LiveObjects live(ia());
  auto others = live.except(DAT_HANDLE_TYPE_PZ);
  others.insert(others.begin(), {"no handle", DAT_HANDLE_NULL});
  others.emplace_back("a freed zone", freed(ia().pz()));
  for (const auto& [name, handle] : others)
    row(name, [&] {
      DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
      expect(CALL(dat_srq_create, ia().get(), handle, &queue.attr, &srq),
             returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASE(invalid_attributes_are_refused, calls(dat_srq_create),
         rules("dat.srq-create.invalid-parameter")) {
  const Queue queue(*this);
  const auto refused = [&](const char* name, DAT_SRQ_ATTR attr) {
    row(name, [&] {
      DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
      expect(CALL(dat_srq_create, ia().get(), queue.pz.get(), &attr, &srq),
             returns(DAT_INVALID_PARAMETER));
    });
  };
  refused("no entries", {.max_recv_dtos = 0, .max_recv_iov = 1, .low_watermark = 0});
  refused("a negative number of entries",
          {.max_recv_dtos = -1, .max_recv_iov = 1, .low_watermark = 0});
  refused("a negative number of segments",
          {.max_recv_dtos = 4, .max_recv_iov = -1, .low_watermark = 0});
  refused("a watermark beyond the entries",
          {.max_recv_dtos = 4, .max_recv_iov = 1, .low_watermark = 5});
}

DAT_CASE(queue_without_attributes_or_output_is_refused, calls(dat_srq_create),
         rules("dat.srq-create.invalid-parameter"), with_hostile_handles) {
  Queue queue(*this);
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  row("no attributes", [&] {
    expect(CALL(dat_srq_create, ia().get(), queue.pz.get(), nullptr, &srq),
           returns(DAT_INVALID_PARAMETER));
  });
  row("no place", [&] {
    expect(CALL(dat_srq_create, ia().get(), queue.pz.get(), &queue.attr, nullptr),
           returns(DAT_INVALID_PARAMETER));
  });
}

DAT_CASE(queue_beyond_the_limit_is_refused, calls(dat_srq_create),
         rules("dat.srq-create.resources")) {
  const Queue queue(*this);
  const DAT_COUNT most = ia().attributes().max_recv_per_srq;
  if (most >= std::numeric_limits<DAT_COUNT>::max())
    stop(Verdict::not_applicable, "there is no limit to exceed");
  DAT_SRQ_ATTR attr{.max_recv_dtos = most + 1, .max_recv_iov = 1, .low_watermark = 0};
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  expect(CALL(dat_srq_create, ia().get(), queue.pz.get(), &attr, &srq),
         returns_one_of({DAT_INSUFFICIENT_RESOURCES, DAT_INVALID_PARAMETER}));
}

DAT_CASE(query_of_fields_that_do_not_exist_is_refused, calls(dat_srq_query),
         rules("dat.srq-query.invalid-parameter")) {
  const Queue queue(*this);
  DAT_SRQ_PARAM param{};
  expect(CALL(dat_srq_query, queue.srq.get(), no_such<DAT_SRQ_PARAM_MASK>(0x1000), &param),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(query_with_a_null_output_is_refused, calls(dat_srq_query),
         rules("dat.srq-query.invalid-parameter"), with_hostile_handles) {
  const Queue queue(*this);
  expect(CALL(dat_srq_query, queue.srq.get(), DAT_SRQ_FIELD_ALL, nullptr),
         returns(DAT_INVALID_PARAMETER));
}

DAT_HANDLE_CASES(query, dat_srq_query, "dat.srq-query.invalid-handle", DAT_HANDLE_TYPE_SRQ,
                 freed(only(Queue(*this))), query(handle))

namespace {

/// Until a message has taken one of three receives; where the count is unknown, not at all.
void await_taken(DatBody& body, Queue& queue) {
  DAT_SRQ_PARAM param{};
  param.available_dto_count = 3;
  while (param.available_dto_count > 2)
    body.need(CALL(dat_srq_query, queue.srq.get(), DAT_SRQ_FIELD_ALL, &param), "no query");
}

}  // namespace

DAT_CASE(counts_follow_posts_and_arrivals, calls(dat_srq_query), rules("dat.srq-query.counts")) {
  Queue queue(*this);
  Users users(*this, queue);
  users.connect(*this);
  const auto counts = [&](const char* when, DAT_COUNT available, DAT_COUNT outstanding) {
    const DAT_SRQ_PARAM param = queue.query(*this);
    if (param.available_dto_count != DAT_VALUE_UNKNOWN)
      same(*this, fmt::format("available {}", when), param.available_dto_count, available);
    else
      advise_that(false, fmt::format("{} available", available), "DAT_VALUE_UNKNOWN");
    if (param.outstanding_dto_count != DAT_VALUE_UNKNOWN)
      same(*this, fmt::format("outstanding {}", when), param.outstanding_dto_count, outstanding);
  };
  counts("at first", 0, 0);
  for (DAT_UINT64 i = 0; i < 3; ++i) expect(queue.post(i), succeeds);
  counts("after three posts", 3, 3);
  const Lmr from(ia(), queue.pz.get(), 64);
  users.send(*this, from.triplet());
  expect_completion(users.sender.requests, 0, DAT_DTO_SUCCESS);
  // The message takes its receive; where that cannot be queried, three are outstanding even so.
  await_taken(*this, queue);
  counts("before its completion is dequeued", 2, 3);
  expect_event(users.receiver.receives, DAT_DTO_COMPLETION_EVENT);
  counts("after one was taken", 2, 2);
}

namespace {

/// Three receives, of which a Send takes one.
void let_one_arrive(DatBody& body, Queue& queue, Users& users) {
  for (DAT_UINT64 i = 0; i < 3; ++i) body.need(queue.post(i), "no receive");
  const Lmr from(body.ia(), queue.pz.get(), 64);
  users.send(body, from.triplet());
  body.expect_completion(users.sender.requests, 0, DAT_DTO_SUCCESS);
  await_taken(body, queue);
}

void expect_two_outstanding(DatBody& body, Queue& queue) {
  using Clock = std::chrono::steady_clock;
  const auto latest = Clock::now() + std::chrono::seconds(1);
  DAT_SRQ_PARAM param{};
  param.outstanding_dto_count = 3;
  while (param.outstanding_dto_count == 3 && Clock::now() < latest)
    body.need(CALL(dat_srq_query, queue.srq.get(), DAT_SRQ_FIELD_ALL, &param), "no query");
  if (param.outstanding_dto_count == DAT_VALUE_UNKNOWN)
    body.advise_that(false, "2 outstanding", "DAT_VALUE_UNKNOWN");
  else
    same(body, "outstanding", param.outstanding_dto_count, 2);
}

}  // namespace

DAT_CASE(receives_whose_completion_nobody_can_take_leave_the_queue,
         calls(dat_srq_query, dat_ep_create_with_srq, dat_ep_free), rules("dat.srq-query.counts")) {
  row("of an endpoint without a dispatcher of receives", [&] {
    Queue queue(*this);
    Users users(*this, queue, {.dispatched = false});
    users.connect(*this);
    let_one_arrive(*this, queue, users);
    expect_two_outstanding(*this, queue);
  });
  row("of a dispatcher that is gone", [&] {
    Queue queue(*this);
    Users users(*this, queue);
    users.connect(*this);
    let_one_arrive(*this, queue, users);
    need(CALL(dat_ep_free, users.receiver.ep.release()), "no dat_ep_free");
    need(CALL(dat_evd_free, users.receiver.receives.release()), "no dat_evd_free");
    expect_two_outstanding(*this, queue);
  });
  row("of an endpoint that is gone", [&] {
    Queue queue(*this);
    Users users(*this, queue);
    users.connect(*this);
    let_one_arrive(*this, queue, users);
    need(CALL(dat_ep_free, users.receiver.ep.release()), "no dat_ep_free");
    // The completion may be there still, or be gone with the endpoint.
    for (DAT_EVENT event{};
         CALL(dat_evd_dequeue, users.receiver.receives.get(), &event) == DAT_SUCCESS;) {
    }
    expect_two_outstanding(*this, queue);
  });
}

// ---------------------------------------------------------------- dat_srq_resize

DAT_CASE(queue_grows, calls(dat_srq_resize), rules("dat.srq-resize.success")) {
  Queue queue(*this);
  for (DAT_UINT64 i = 0; i < 8; ++i) expect(queue.post(i), succeeds);
  expect(CALL(dat_srq_resize, queue.srq.get(), 16), succeeds);
  at_least(*this, "entries", queue.query(*this).max_recv_dtos, 16);
  for (DAT_UINT64 i = 8; i < 16; ++i) expect(queue.post(i), succeeds);
}

DAT_CASE(resized_queue_loses_no_receive, calls(dat_srq_resize), rules("dat.srq-resize.success")) {
  Queue queue(*this);
  Users users(*this, queue);
  users.connect(*this);
  for (DAT_UINT64 i = 0; i < 3; ++i) expect(queue.post(i), succeeds);
  expect(CALL(dat_srq_resize, queue.srq.get(), 32), succeeds);
  expect(CALL(dat_srq_resize, queue.srq.get(), 3), succeeds);
  const Lmr from(ia(), queue.pz.get(), 8);
  DAT_UINT64 cookies = 0;
  for (int i = 0; i < 3; ++i) {
    users.send(*this, from.triplet());
    cookies += expect_event(users.receiver.receives, DAT_DTO_COMPLETION_EVENT)
                   .event_data.dto_completion_event_data.user_cookie.as_64;
  }
  same(*this, "sum of the cookies", cookies, 3);
}

DAT_CASE(queue_is_resized_while_messages_arrive, calls(dat_srq_resize),
         rules("dat.srq-resize.success"), deadline_of(10s)) {
  constexpr DAT_UINT64 held = 8;
  Queue queue(*this);
  Users users(*this, queue);
  users.connect(*this);
  const Lmr from(ia(), queue.pz.get(), 8);
  std::set<DAT_UINT64> open;
  DAT_UINT64 posted = 0;
  const auto fill = [&] {
    for (; open.size() < held; open.insert(posted++)) {
      expect(queue.post(posted), succeeds);
      users.send(*this, from.triplet());
      (void)expect_completion(users.sender.requests, 0, DAT_DTO_SUCCESS);
    }
  };
  const auto reap = [&](std::size_t left) {
    while (open.size() > left) {
      const auto data = expect_event(users.receiver.receives, DAT_DTO_COMPLETION_EVENT)
                            .event_data.dto_completion_event_data;
      expect_that(
          data.status == DAT_DTO_SUCCESS && open.erase(data.user_cookie.as_64) == 1,
          "the completion of an outstanding receive",
          fmt::format("completion {}: {}", data.user_cookie.as_64, status_text(data.status)));
      same(*this, "length", data.transfered_length, 8);
    }
  };
  // None of the sizes is below the number outstanding when it is asked for.
  for (const DAT_COUNT size : {9, 64, 8, 16, 8, 9, 32, 8, 128, 8}) {
    fill();
    expect(CALL(dat_srq_resize, queue.srq.get(), size), succeeds);
    at_least(*this, "entries", queue.query(*this).max_recv_dtos, size);
    reap(held / 2);
  }
  reap(0);
  expect_no_event(users.receiver.receives);
}

DAT_CASE(resized_queue_keeps_its_watermark, calls(dat_srq_resize),
         rules("dat.srq-resize.success", "dat.srq-set-lw.success")) {
  Queue queue(*this);
  Users users(*this, queue);
  users.connect(*this);
  for (DAT_UINT64 i = 0; i < 4; ++i) expect(queue.post(i), succeeds);
  expect(CALL(dat_srq_set_lw, queue.srq.get(), 3), succeeds, "dat.srq-set-lw.success");
  expect(CALL(dat_srq_resize, queue.srq.get(), 32), succeeds);
  same(*this, "low watermark", queue.query(*this).low_watermark, 3);
  const Lmr from(ia(), queue.pz.get(), 8);
  const auto take_one = [&] {
    users.send(*this, from.triplet());
    (void)expect_event(users.receiver.receives, DAT_DTO_COMPLETION_EVENT);
  };
  take_one();
  DAT_EVENT event{};
  expect(async_event(ia(), event), returns(DAT_QUEUE_EMPTY));  // three are not below three
  take_one();
  expect(awaited_async_event(ia(), event), succeeds, "dat.srq-set-lw.success");
  expect_that(is_watermark(event, queue.srq), "the queue and its low watermark",
              event_text(event.event_number));
}

DAT_CASE(size_below_the_pending_completions_is_refused, calls(dat_srq_resize),
         rules("dat.srq-resize.invalid-state", "dat.srq-resize.success")) {
  Queue queue(*this);
  Users users(*this, queue);
  users.connect(*this);
  const Lmr from(ia(), queue.pz.get(), 8);
  for (DAT_UINT64 i = 0; i < 3; ++i) expect(queue.post(i), succeeds, "dat.srq-resize.success");
  for (int i = 0; i < 3; ++i) users.send(*this, from.triplet());
  // The messages have taken them all; where that cannot be queried, none is left in either case.
  for (DAT_COUNT left = 3; left > 0;) left = queue.query(*this).available_dto_count;
  const DAT_RETURN got = CALL(dat_srq_resize, queue.srq.get(), 2);
  expect(got, returns(DAT_INVALID_STATE).or_tolerably(DAT_SUCCESS));
  DAT_UINT64 cookies = 0;
  for (int i = 0; i < 3; ++i)
    cookies += expect_event(users.receiver.receives, DAT_DTO_COMPLETION_EVENT)
                   .event_data.dto_completion_event_data.user_cookie.as_64;
  same(*this, "sum of the cookies", cookies, 3);
  expect(CALL(dat_srq_resize, queue.srq.get(), 2), succeeds, "dat.srq-resize.success");
}

DAT_CASE(size_below_the_receives_is_refused, calls(dat_srq_resize),
         rules("dat.srq-resize.invalid-state")) {
  Queue queue(*this);
  for (DAT_UINT64 i = 0; i < 3; ++i) expect(queue.post(i), succeeds);
  const DAT_RETURN got = CALL(dat_srq_resize, queue.srq.get(), 2);
  // A provider need not shrink a queue, and may report that it has.
  expect(got, returns(DAT_INVALID_STATE).or_tolerably(DAT_SUCCESS));
  at_least(*this, "entries", queue.query(*this).max_recv_dtos, got == DAT_SUCCESS ? 3 : 8);
}

DAT_CASE(size_below_the_watermark_is_refused, calls(dat_srq_resize),
         rules("dat.srq-resize.invalid-state")) {
  Queue queue(*this);
  for (DAT_UINT64 i = 0; i < 4; ++i) expect(queue.post(i), succeeds);
  expect(CALL(dat_srq_set_lw, queue.srq.get(), 6), succeeds);
  expect(CALL(dat_srq_resize, queue.srq.get(), 5), returns(DAT_INVALID_STATE));
  at_least(*this, "entries", queue.query(*this).max_recv_dtos, 8);
}

DAT_CASE(invalid_size_is_refused, calls(dat_srq_resize),
         rules("dat.srq-resize.invalid-parameter")) {
  const Queue queue(*this);
  for (const DAT_COUNT size : {0, -1, -1000})
    row(fmt::format("{}", size), [&] {
      expect(CALL(dat_srq_resize, queue.srq.get(), size), returns(DAT_INVALID_PARAMETER));
    });
}

DAT_HANDLE_CASES(resize, dat_srq_resize, "dat.srq-resize.invalid-handle", DAT_HANDLE_TYPE_SRQ,
                 freed(only(Queue(*this))), CALL(dat_srq_resize, handle, 16))

// ---------------------------------------------------------------- dat_srq_set_lw

DAT_CASE(watermark_above_the_receives_is_reported_at_once, calls(dat_srq_set_lw),
         rules("dat.srq-set-lw.success")) {
  Queue queue(*this);
  Users users(*this, queue);
  users.connect(*this);
  for (DAT_UINT64 i = 1; i <= 2; ++i) expect(queue.post(i), succeeds);
  expect(CALL(dat_srq_set_lw, queue.srq.get(), 3), succeeds);
  DAT_EVENT event{};
  expect(awaited_async_event(ia(), event), succeeds);
  expect_that(is_watermark(event, queue.srq), "the queue and its low watermark",
              event_text(event.event_number));
  same(*this, "low watermark", queue.query(*this).low_watermark, 3);
  // Only once: what takes a receive afterwards is not reported.
  const Lmr from(ia(), queue.pz.get(), 8);
  users.send(*this, from.triplet());
  expect_event(users.receiver.receives, DAT_DTO_COMPLETION_EVENT);
  int told = 0;
  while (async_event(ia(), event) == DAT_SUCCESS) told += is_watermark(event, queue.srq) ? 1 : 0;
  same(*this, "further events", told, 0);
}

DAT_CASE(watermark_is_reported_once_when_it_is_passed, calls(dat_srq_set_lw),
         rules("dat.srq-set-lw.success")) {
  Queue queue(*this);
  Users users(*this, queue);
  users.connect(*this);
  for (DAT_UINT64 i = 0; i < 4; ++i) expect(queue.post(i), succeeds);
  expect(CALL(dat_srq_set_lw, queue.srq.get(), 3), succeeds);
  const Lmr from(ia(), queue.pz.get(), 8);
  DAT_EVENT event{};
  int told = 0;
  for (int left = 3; left >= 1; --left) {
    users.send(*this, from.triplet());
    expect_event(users.receiver.receives, DAT_DTO_COMPLETION_EVENT);
    if (left == 2) {  // below three for the first time
      expect(awaited_async_event(ia(), event), succeeds);
      expect_that(is_watermark(event, queue.srq), "the queue and its low watermark",
                  event_text(event.event_number));
    }
    while (async_event(ia(), event) == DAT_SUCCESS) told += is_watermark(event, queue.srq) ? 1 : 0;
  }
  // Not when it is passed again either, unless it is set again.
  for (DAT_UINT64 i = 4; i < 7; ++i) expect(queue.post(i), succeeds);
  for (int left = 3; left >= 1; --left) {
    users.send(*this, from.triplet());
    expect_event(users.receiver.receives, DAT_DTO_COMPLETION_EVENT);
    while (async_event(ia(), event) == DAT_SUCCESS) told += is_watermark(event, queue.srq) ? 1 : 0;
  }
  same(*this, "further events", told, 0);
}

DAT_CASE(watermark_can_be_the_whole_queue, calls(dat_srq_set_lw), rules("dat.srq-set-lw.success")) {
  Queue queue(*this);
  const DAT_COUNT entries = queue.query(*this).max_recv_dtos;
  Users users(*this, queue);
  users.connect(*this);
  for (DAT_COUNT i = 0; i < entries; ++i) expect(queue.post(static_cast<DAT_UINT64>(i)), succeeds);
  expect(CALL(dat_srq_set_lw, queue.srq.get(), entries), succeeds);
  DAT_EVENT event{};
  expect(async_event(ia(), event), returns(DAT_QUEUE_EMPTY));  // none is missing yet
  const Lmr from(ia(), queue.pz.get(), 8);
  users.send(*this, from.triplet());
  (void)expect_event(users.receiver.receives, DAT_DTO_COMPLETION_EVENT);
  expect(awaited_async_event(ia(), event), succeeds);
  expect_that(is_watermark(event, queue.srq), "the queue and its low watermark",
              event_text(event.event_number));
}

DAT_CASE(watermark_that_is_set_again_is_reported_again, calls(dat_srq_set_lw),
         rules("dat.srq-set-lw.success")) {
  Queue queue(*this);
  for (int i = 0; i < 2; ++i) {
    expect(CALL(dat_srq_set_lw, queue.srq.get(), 4), succeeds);
    DAT_EVENT event{};
    expect(awaited_async_event(ia(), event), succeeds);
    expect_that(is_watermark(event, queue.srq), "the queue and its low watermark",
                event_text(event.event_number));
  }
}

DAT_CASE(watermark_that_is_set_again_is_passed_again, calls(dat_srq_set_lw),
         rules("dat.srq-set-lw.success")) {
  Queue queue(*this), other(*this);
  Users first(*this, queue), second(*this, queue);
  first.connect(*this);
  second.connect(*this);
  for (DAT_UINT64 i = 0; i < 4; ++i) {
    expect(queue.post(i), succeeds);
    expect(other.post(i), succeeds);
  }
  expect(CALL(dat_srq_set_lw, other.srq.get(), 4), succeeds);
  const Lmr from(ia(), queue.pz.get(), 8);
  for (Users* taker : {&first, &second, &first}) {
    expect(CALL(dat_srq_set_lw, queue.srq.get(), 4), succeeds);
    DAT_EVENT event{};
    expect(async_event(ia(), event), returns(DAT_QUEUE_EMPTY));
    taker->send(*this, from.triplet());
    (void)expect_event(taker->receiver.receives, DAT_DTO_COMPLETION_EVENT);
    expect(awaited_async_event(ia(), event), succeeds);
    expect_that(is_watermark(event, queue.srq), "the queue and its low watermark",
                event_text(event.event_number));
    expect(queue.post(4), succeeds);
  }
}

DAT_CASE(watermark_below_the_receives_is_not_reported, calls(dat_srq_set_lw),
         rules("dat.srq-set-lw.success")) {
  Queue queue(*this);
  for (DAT_UINT64 i = 0; i < 4; ++i) expect(queue.post(i), succeeds);
  expect(CALL(dat_srq_set_lw, queue.srq.get(), 2), succeeds);
  expect(CALL(dat_srq_set_lw, queue.srq.get(), 4), succeeds);
  DAT_EVENT event{};
  const DAT_RETURN got = async_event(ia(), event);
  expect(got, returns(DAT_QUEUE_EMPTY));
}

DAT_CASE(watermark_of_none_is_never_passed, calls(dat_srq_set_lw),
         rules("dat.srq-set-lw.success")) {
  Queue queue(*this);
  Users users(*this, queue);
  users.connect(*this);
  expect(queue.post(1), succeeds);
  expect(CALL(dat_srq_set_lw, queue.srq.get(), 0), succeeds);
  const Lmr from(ia(), queue.pz.get(), 8);
  users.send(*this, from.triplet());
  (void)expect_event(users.receiver.receives, DAT_DTO_COMPLETION_EVENT);
  same(*this, "low watermark", queue.query(*this).low_watermark, 0);
  DAT_EVENT event{};
  expect(async_event(ia(), event), returns(DAT_QUEUE_EMPTY));
}

DAT_CASE(watermark_beyond_the_queue_is_refused, calls(dat_srq_set_lw),
         rules("dat.srq-set-lw.invalid-parameter")) {
  Queue queue(*this);
  const DAT_COUNT entries = queue.query(*this).max_recv_dtos;
  expect(CALL(dat_srq_set_lw, queue.srq.get(), entries + 1), returns(DAT_INVALID_PARAMETER));
  same(*this, "low watermark", queue.query(*this).low_watermark, DAT_SRQ_LW_DEFAULT);
}

DAT_HANDLE_CASES(watermark, dat_srq_set_lw, "dat.srq-set-lw.invalid-handle", DAT_HANDLE_TYPE_SRQ,
                 freed(only(Queue(*this))), CALL(dat_srq_set_lw, handle, 1))

// ---------------------------------------------------------------- dat_srq_free

DAT_CASE(queue_with_receives_is_freed, calls(dat_srq_free), rules("dat.srq-free.success")) {
  Queue queue(*this);
  for (DAT_UINT64 i = 0; i < 4; ++i) expect(queue.post(i), succeeds);
  expect(CALL(dat_srq_free, queue.srq.release()), succeeds);
}

DAT_CASE(queue_of_an_endpoint_is_not_freed, calls(dat_srq_free), rules("dat.srq-free.in-use")) {
  Queue queue(*this);
  const Users users(*this, queue);
  // The page names DAT_SRQ_IN_USE, which the headers know as a subtype of this.
  expect(CALL(dat_srq_free, queue.srq.get()), returns(DAT_INVALID_STATE));
  expect(queue.post(1), succeeds);
}

DAT_CASE(queue_is_held_by_each_of_its_endpoints, calls(dat_srq_free),
         rules("dat.srq-free.in-use", "dat.srq-free.success")) {
  Queue queue(*this);
  Users first(*this, queue), second(*this, queue);
  first.receiver.ep.reset();
  expect(CALL(dat_srq_free, queue.srq.get()), returns(DAT_INVALID_STATE));
  second.receiver.ep.reset();
  expect(CALL(dat_srq_free, queue.srq.release()), succeeds, "dat.srq-free.success");
}

DAT_CASE(queue_is_freed_after_its_endpoints, calls(dat_srq_free), rules("dat.srq-free.success")) {
  Queue queue(*this);
  {
    Users users(*this, queue);
    users.connect(*this);
    expect(queue.post(1), succeeds);
  }
  expect(CALL(dat_srq_free, queue.srq.release()), succeeds);
}

DAT_HANDLE_CASES(free, dat_srq_free, "dat.srq-free.invalid-handle", DAT_HANDLE_TYPE_SRQ,
                 freed(only(Queue(*this))), CALL(dat_srq_free, handle))

DAT_CASES_OF_FILE(srq)

}  // namespace suite::cases::dat
