// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The events of a dispatcher: post_se, dequeue, wait, and the threads that wait.
#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/dat/framework/dat_threads.hpp"

namespace suite::cases::dat {

namespace {

constexpr DAT_TIMEOUT a_moment = 1000;

DAT_COUNT length_of(DatBody& body, const Evd& evd) {
  DAT_EVD_PARAM param{};
  body.need(CALL(dat_evd_query, evd.get(), DAT_EVD_FIELD_ALL, &param), "no EVD query");
  return param.evd_qlen;
}

void expect_number(DatBody& body, const DAT_EVENT& event, std::uintptr_t number,
                   RuleRef rule = {}) {
  body.expect_that(number_of(event) == number, fmt::format("event {}", number),
                   fmt::format("event {}", number_of(event)), rule);
}

void expect_more(DatBody& body, const Waited& waited, DAT_COUNT more, RuleRef rule = {}) {
  body.expect_that(waited.more == more, fmt::format("{} more", more),
                   fmt::format("{} more", waited.more), rule);
}

}  // namespace

// ---------------------------------------------------------------- post_se and dequeue

DAT_CASE(software_event_arrives_as_it_was_posted, calls(dat_evd_post_se, dat_evd_dequeue),
         rules("dat.evd-post-se.success", "dat.evd-dequeue.success")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  constexpr auto number = ~std::uintptr_t{0x1234};  // all of the pointer
  expect(post_software(evd, number), succeeds);
  DAT_EVENT event{};
  expect(CALL(dat_evd_dequeue, evd.get(), &event), succeeds, "dat.evd-dequeue.success");
  expect_that(event.event_number == DAT_SOFTWARE_EVENT, "DAT_SOFTWARE_EVENT",
              event_text(event.event_number), "dat.evd-dequeue.success");
  expect_number(*this, event, number);
  expect_that(event.evd_handle == evd.get(), "the handle of the EVD", "another handle",
              "dat.evd-dequeue.success");
}

DAT_CASE(dequeue_from_an_empty_queue_returns_queue_empty, calls(dat_evd_dequeue),
         rules("dat.evd-dequeue.queue-empty")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  DAT_EVENT event{};
  expect(CALL(dat_evd_dequeue, evd.get(), &event), returns(DAT_QUEUE_EMPTY));
  need(post_software(evd, 1), "no event");
  need(CALL(dat_evd_dequeue, evd.get(), &event), "no event");
  expect(CALL(dat_evd_dequeue, evd.get(), &event), returns(DAT_QUEUE_EMPTY));
}

DAT_CASE(dequeue_with_a_null_output_is_refused, calls(dat_evd_dequeue),
         rules("dat.evd-dequeue.invalid-parameter"), with_hostile_handles) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  need(post_software(evd, 1), "no event");
  expect(CALL(dat_evd_dequeue, evd.get(), nullptr), returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(events_come_in_the_order_of_their_posts, calls(dat_evd_post_se, dat_evd_dequeue),
         rules("dat.evd-wait.order")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 20);
  for (std::uintptr_t i = 1; i <= 20; ++i) need(post_software(evd, i), "no event");
  for (std::uintptr_t i = 1; i <= 20; ++i) {
    DAT_EVENT event{};
    if (i % 2 == 0)
      expect(CALL(dat_evd_dequeue, evd.get(), &event), succeeds);
    else
      event = expect_event(evd, DAT_SOFTWARE_EVENT);
    expect_number(*this, event, i);
  }
  expect_no_event(evd);
}

DAT_CASE(full_queue_refuses_events, calls(dat_evd_post_se), rules("dat.evd-post-se.queue-full")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 3);
  const auto length = static_cast<std::uintptr_t>(length_of(*this, evd));
  for (std::uintptr_t i = 1; i <= length; ++i) expect(post_software(evd, i), succeeds);
  expect(post_software(evd, length + 1), returns(DAT_QUEUE_FULL));
  // What is taken makes room for as many, and no more.
  expect_number(*this, expect_event(evd, DAT_SOFTWARE_EVENT), 1);
  expect(post_software(evd, length + 2), succeeds);
  expect(post_software(evd, length + 3), returns(DAT_QUEUE_FULL));
  for (std::uintptr_t i = 2; i <= length; ++i)
    expect_number(*this, expect_event(evd, DAT_SOFTWARE_EVENT), i);
  expect_number(*this, expect_event(evd, DAT_SOFTWARE_EVENT), length + 2);
  expect_no_event(evd);
  DAT_EVENT event{};
  expect(async_event(ia(), event), returns(DAT_QUEUE_EMPTY));
}

DAT_CASE(event_of_another_type_is_not_posted, calls(dat_evd_post_se),
         rules("dat.evd-post-se.invalid-parameter")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  for (const DAT_EVENT_NUMBER number :
       {DAT_DTO_COMPLETION_EVENT, DAT_CONNECTION_EVENT_ESTABLISHED, DAT_ASYNC_ERROR_EVD_OVERFLOW})
    row(event_text(number), [&] {
      DAT_EVENT event{};
      event.event_number = number;
      expect(CALL(dat_evd_post_se, evd.get(), &event), returns(DAT_INVALID_PARAMETER));
      expect_no_event(evd);
    });
}

DAT_CASE(null_event_is_not_posted, calls(dat_evd_post_se),
         rules("dat.evd-post-se.invalid-parameter"), with_hostile_handles) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  expect(CALL(dat_evd_post_se, evd.get(), nullptr), returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(dispatcher_of_other_streams_takes_no_software_event, calls(dat_evd_post_se),
         rules("dat.evd-post-se.no-software-stream")) {
  const Evd evd = ia().evd(DAT_EVD_DTO_FLAG);
  expect(
      post_software(evd, 1),
      returns_one_of({DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER}).or_tolerably(DAT_INVALID_STATE));
  expect_no_event(evd);
}

// ---------------------------------------------------------------- wait

DAT_CASE(wait_takes_an_event_that_is_there, calls(dat_evd_wait), rules("dat.evd-wait.success")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  for (std::uintptr_t i = 1; i <= 3; ++i) need(post_software(evd, i), "no event");
  const Waited waited = wait_on(evd, 0);
  expect(waited.code, succeeds);
  expect_number(*this, waited.event, 1);
  expect_that(waited.event.evd_handle == evd.get(), "the handle of the EVD", "another handle");
  expect_more(*this, waited, 2);
}

DAT_CASE(wait_without_events_expires, calls(dat_evd_wait), rules("dat.evd-wait.timeout")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  for (const DAT_TIMEOUT timeout : {0U, 1U, 20'000U})
    row(fmt::format("{} us", timeout), [&] {
      const auto before = std::chrono::steady_clock::now();
      const Waited waited = wait_on(evd, timeout);
      const auto took = std::chrono::steady_clock::now() - before;
      expect(waited.code, returns(DAT_TIMEOUT_EXPIRED));
      expect_more(*this, waited, 0);
      expect_that(took >= std::chrono::microseconds(timeout), "a timeout no earlier than asked for",
                  "an earlier one");
    });
}

DAT_CASE(long_timeout_of_a_wait_does_not_expire_at_once, calls(dat_evd_wait),
         rules("dat.evd-wait.timeout")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  for (const DAT_TIMEOUT timeout : {0x7FFFFFFFU, 0x80000000U, DAT_TIMEOUT_INFINITE - 1})
    row(fmt::format("{} us", timeout), [&] {
      Waiter waiter(evd, 1, timeout);
      DAT_EVENT event{};
      event.event_number = DAT_SOFTWARE_EVENT;
      need(CALL(dat_evd_post_se, evd.get(), &event), "no event");
      expect(waiter.result().code, succeeds);
      (void)dat_evd_dequeue(evd.get(), &event);  // if the waiter did not take it
    });
}

DAT_CASE(wait_below_its_threshold_expires_and_takes_nothing, calls(dat_evd_wait),
         rules("dat.evd-wait.timeout")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  for (std::uintptr_t i = 1; i <= 2; ++i) need(post_software(evd, i), "no event");
  const Waited waited = wait_on(evd, a_moment, 3);
  expect(waited.code, returns(DAT_TIMEOUT_EXPIRED));
  expect_more(*this, waited, 2);
  for (std::uintptr_t i = 1; i <= 2; ++i)
    expect_number(*this, expect_event(evd, DAT_SOFTWARE_EVENT), i);
}

DAT_CASE(wait_at_its_threshold_ends, calls(dat_evd_wait), rules("dat.evd-wait.success")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  for (std::uintptr_t i = 1; i <= 4; ++i) need(post_software(evd, i), "no event");
  const Waited waited = wait_on(evd, 0, 4);
  expect(waited.code, succeeds);
  expect_number(*this, waited.event, 1);
  expect_more(*this, waited, 3);
}

DAT_CASE(threshold_can_be_the_whole_queue, calls(dat_evd_wait), rules("dat.evd-wait.success")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 3);
  const DAT_COUNT length = length_of(*this, evd);
  for (DAT_COUNT i = 1; i <= length; ++i)
    need(post_software(evd, static_cast<std::uintptr_t>(i)), "no event");
  const Waited waited = wait_on(evd, 0, length);
  expect(waited.code, succeeds);
  expect_number(*this, waited.event, 1);
  expect_more(*this, waited, length - 1);
}

DAT_CASE(threshold_that_is_not_positive_is_refused, calls(dat_evd_wait),
         rules("dat.evd-wait.threshold")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  need(post_software(evd, 1), "no event");
  for (const DAT_COUNT threshold : {0, -1})
    row(fmt::format("threshold {}", threshold),
        [&] { expect(wait_on(evd, 0, threshold).code, returns(DAT_INVALID_PARAMETER)); });
}

DAT_CASE(threshold_above_the_queue_is_refused, calls(dat_evd_wait),
         rules("dat.evd-wait.threshold", "dat.evd-wait.timeout")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 4);
  const DAT_COUNT length = length_of(*this, evd);
  expect(wait_on(evd, 0, length + 1).code, returns(DAT_INVALID_PARAMETER));
  expect(wait_on(evd, 0, length).code, returns(DAT_TIMEOUT_EXPIRED), "dat.evd-wait.timeout");
}

DAT_CASE(threshold_follows_the_length_of_the_queue, calls(dat_evd_wait, dat_evd_resize),
         rules("dat.evd-wait.threshold", "dat.evd-wait.timeout")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 4);
  for (const DAT_COUNT wanted : {16, 2}) {
    need(CALL(dat_evd_resize, evd.get(), wanted), "no resize");
    const DAT_COUNT length = length_of(*this, evd);
    expect(wait_on(evd, 0, length).code, returns(DAT_TIMEOUT_EXPIRED), "dat.evd-wait.timeout");
    expect(wait_on(evd, 0, length + 1).code, returns(DAT_INVALID_PARAMETER));
  }
}

DAT_CASE(thread_sleeps_until_an_event_comes, calls(dat_evd_wait), rules("dat.evd-wait.success")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  Waiter waiter(evd);
  need(post_software(evd, 9), "no event");
  const Waited waited = waiter.result();
  expect(waited.code, succeeds);
  expect_number(*this, waited.event, 9);
  expect_more(*this, waited, 0);
}

DAT_CASE(thread_sleeps_until_its_threshold, calls(dat_evd_wait), rules("dat.evd-wait.success")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  Waiter waiter(evd, 3);
  for (std::uintptr_t i = 1; i <= 2; ++i) need(post_software(evd, i), "no event");
  DAT_EVENT event{};
  const DAT_RETURN meanwhile = CALL(dat_evd_dequeue, evd.get(), &event);
  need(post_software(evd, 3), "no event");
  const Waited waited = waiter.result();
  expect(meanwhile, returns(DAT_INVALID_STATE));
  expect(waited.code, succeeds);
  expect_number(*this, waited.event, 1);
  expect_more(*this, waited, 2);
}

DAT_CASE(dequeue_beside_a_waiter_is_refused, calls(dat_evd_dequeue, dat_evd_wait),
         rules("dat.evd-wait.second-waiter")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  Waiter waiter(evd, 1, 2'000'000);
  need(post_software(evd, 1), "no event");
  (void)waiter.result();
  expect(waiter.dequeued, returns(DAT_INVALID_STATE));
}

DAT_CASE(second_waiter_is_refused, calls(dat_evd_wait), rules("dat.evd-wait.second-waiter")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  Waiter waiter(evd, 1, 2'000'000);
  const Waited second = wait_on(evd, a_moment);
  need(post_software(evd, 1), "no event");
  const Waited first = waiter.result();
  expect(second.code, returns(DAT_INVALID_STATE));
  expect(first.code, succeeds);
}

DAT_CASE(dispatcher_is_free_again_after_its_waiter, calls(dat_evd_wait, dat_evd_dequeue),
         rules("dat.evd-wait.second-waiter")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  expect(wait_on(evd, a_moment).code, returns(DAT_TIMEOUT_EXPIRED));
  DAT_EVENT event{};
  expect(CALL(dat_evd_dequeue, evd.get(), &event), returns(DAT_QUEUE_EMPTY));
}

DAT_CASE(wait_on_an_unwaitable_dispatcher_is_refused,
         calls(dat_evd_wait, dat_evd_set_unwaitable, dat_evd_clear_unwaitable),
         rules("dat.evd-wait.unwaitable", "dat.evd-clear-unwaitable.success")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  need(post_software(evd, 1), "no event");
  need(CALL(dat_evd_set_unwaitable, evd.get()), "not unwaitable");
  expect(wait_on(evd, 0).code, returns(DAT_INVALID_STATE));
  need(CALL(dat_evd_clear_unwaitable, evd.get()), "not waitable");
  expect(wait_on(evd, 0).code, succeeds, "dat.evd-clear-unwaitable.success");
  expect(wait_on(evd, a_moment).code, returns(DAT_TIMEOUT_EXPIRED),
         "dat.evd-clear-unwaitable.success");
}

DAT_CASE(waiter_returns_when_the_dispatcher_becomes_unwaitable,
         calls(dat_evd_wait, dat_evd_set_unwaitable), rules("dat.evd-wait.unwaitable")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  Waiter waiter(evd);
  expect(CALL(dat_evd_set_unwaitable, evd.get()), succeeds);
  expect(waiter.result().code, returns(DAT_INVALID_STATE));
}

DAT_CASE(waiter_takes_the_event_before_the_cno, calls(dat_evd_wait, dat_cno_wait),
         rules("dat.evd-wait.no-cno")) {
  const Cno cno = ia().cno();
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 8, cno.get());
  Waiter waiter(evd);
  need(post_software(evd, 5), "no event");
  const Waited waited = waiter.result();
  expect(waited.code, succeeds);
  DAT_EVD_HANDLE triggered = DAT_HANDLE_NULL;
  expect(CALL(dat_cno_wait, cno.get(), a_moment, &triggered),
         returns(DAT_QUEUE_EMPTY).or_tolerably(DAT_TIMEOUT_EXPIRED));
}

DAT_CASE(waiter_is_woken_on_a_disabled_dispatcher, calls(dat_evd_wait, dat_evd_disable),
         rules("dat.evd-disable.success")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  need(CALL(dat_evd_disable, evd.get()), "not disabled");
  Waiter waiter(evd);
  need(post_software(evd, 5), "no event");
  const Waited waited = waiter.result();
  expect(waited.code, succeeds);
  expect_number(*this, waited.event, 5);
}

DAT_CASE(threshold_needs_completions_that_notify, calls(dat_evd_wait),
         rules("dat.evd-wait.selective")) {
  const Pz pz = ia().pz();
  DAT_EP_ATTR attr{};
  {
    const Side plain = make_side(ia(), pz);
    DAT_EP_PARAM param{};
    need(CALL(dat_ep_query, plain.ep.get(), DAT_EP_FIELD_ALL, &param), "no EP query");
    attr = param.ep_attr;
  }
  attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  const Side side = make_side(ia(), pz, &attr);
  expect(wait_on(side.requests, 0, 2).code, returns(DAT_INVALID_STATE));
  expect(wait_on(side.requests, 0, 1).code, returns(DAT_TIMEOUT_EXPIRED));
}

// The notification is the consumer's as long as an endpoint of the stream has such flags.
DAT_CASE(threshold_is_free_again_after_the_endpoint, calls(dat_evd_wait, dat_ep_free),
         rules("dat.evd-wait.selective", "dat.ep-free.success")) {
  const auto freed_with = [&](const char* name, DAT_COMPLETION_FLAGS DAT_EP_ATTR::* flags,
                              DAT_COMPLETION_FLAGS value, Evd Side::* stream) {
    row(name, [&] {
      const Pz pz = ia().pz();
      DAT_EP_PARAM param{};
      need(CALL(dat_ep_query, make_side(ia(), pz).ep.get(), DAT_EP_FIELD_ALL, &param),
           "no EP query");
      param.ep_attr.*flags = value;
      Side side = make_side(ia(), pz, &param.ep_attr);
      expect(wait_on(side.*stream, 0, 2).code, returns(DAT_INVALID_STATE));
      expect(CALL(dat_ep_free, side.ep.release()), succeeds, "dat.ep-free.success");
      expect(wait_on(side.*stream, 0, 2).code, returns(DAT_TIMEOUT_EXPIRED));
    });
  };
  freed_with("unsignalled requests", &DAT_EP_ATTR::request_completion_flags,
             DAT_COMPLETION_UNSIGNALLED_FLAG, &Side::requests);
  freed_with("unsignalled receives", &DAT_EP_ATTR::recv_completion_flags,
             DAT_COMPLETION_UNSIGNALLED_FLAG, &Side::receives);
  freed_with("solicited receives", &DAT_EP_ATTR::recv_completion_flags,
             DAT_COMPLETION_SOLICITED_WAIT_FLAG, &Side::receives);
}

DAT_CASE(threshold_follows_the_flags_of_the_endpoint, calls(dat_evd_wait, dat_ep_modify),
         rules("dat.evd-wait.selective", "dat.ep-modify.success")) {
  const Pz pz = ia().pz();
  const Side side = make_side(ia(), pz);
  const auto modify_to = [&](DAT_COMPLETION_FLAGS flags) {
    DAT_EP_PARAM param{};
    need(CALL(dat_ep_query, side.ep.get(), DAT_EP_FIELD_ALL, &param), "no EP query");
    param.ep_attr.request_completion_flags = flags;
    expect(
        CALL(dat_ep_modify, side.ep.get(), DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS, &param),
        succeeds, "dat.ep-modify.success");
  };
  for (int i = 0; i < 2; ++i) {
    modify_to(DAT_COMPLETION_UNSIGNALLED_FLAG);
    expect(wait_on(side.requests, 0, 2).code, returns(DAT_INVALID_STATE));
    modify_to(DAT_COMPLETION_DEFAULT_FLAG);
    expect(wait_on(side.requests, 0, 2).code, returns(DAT_TIMEOUT_EXPIRED));
  }
}

DAT_CASE(every_event_reaches_one_of_many_threads, calls(dat_evd_dequeue, dat_evd_post_se),
         rules("dat.evd-wait.order"), deadline_of(10s)) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 512);
  constexpr std::uintptr_t count = 400;
  std::vector<std::future<std::vector<std::uintptr_t>>> threads;
  for (int i = 0; i < 3; ++i)
    threads.push_back(std::async(std::launch::async, [&evd] {
      std::vector<std::uintptr_t> taken;
      for (DAT_EVENT event{}; taken.empty() || taken.back() <= count;) {
        if (CALL(dat_evd_dequeue, evd.get(), &event) == DAT_SUCCESS)
          taken.push_back(number_of(event));
      }
      return taken;
    }));
  for (std::uintptr_t i = 1; i <= count + 3; ++i) need(post_software(evd, i), "no event");
  std::vector<std::uintptr_t> all;
  for (auto& thread : threads) {
    const auto taken = thread.get();
    expect_that(std::ranges::is_sorted(taken), "each thread sees them in order", "out of order");
    all.insert(all.end(), taken.begin(), taken.end());
  }
  std::ranges::sort(all);
  bool each_once = all.size() == count + 3;
  for (std::size_t i = 0; i < all.size(); ++i) each_once = each_once && all[i] == i + 1;
  expect_that(each_once, "each event once", fmt::format("{} events, or some twice", all.size()));
}

DAT_CASE(signal_ends_a_wait, calls(dat_evd_wait), rules("dat.evd-wait.interrupted-call")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  Waited waited{};
  Blocked blocked([&] { waited = wait_on(evd, DAT_TIMEOUT_INFINITE, 2); });
  need(post_software(evd, 5), "no event");
  blocked.interrupt();
  const bool back = blocked.over();
  need(post_software(evd, 6), "no event");  // ends a wait that the signal has not ended
  blocked.join();
  expect(waited.code, returns(DAT_INTERRUPTED_CALL).or_tolerably(DAT_SUCCESS));
  if (waited.code == DAT_SUCCESS) return;
  expect_that(back, "an end of the wait before another event", "still waiting");
  expect_more(*this, waited, 1);
  for (const std::uintptr_t number : {5U, 6U}) {
    const Waited next = wait_on(evd, 0);
    expect(next.code, succeeds);
    expect_number(*this, next.event, number);
  }
}

DAT_CASE(close_of_the_ia_aborts_the_waiter, calls(dat_evd_wait, dat_ia_close),
         rules("dat.evd-wait.abort")) {
  Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  Waiter waiter(evd);
  const DAT_RETURN closed = CALL(dat_ia_close, ia().release(), DAT_CLOSE_ABRUPT_FLAG);
  const Waited waited = waiter.result();
  evd.release();
  expect(closed, succeeds);
  expect(waited.code, returns(DAT_ABORT));
}

DAT_CASE(close_of_the_ia_aborts_all_waiters_beside_a_connection, calls(dat_evd_wait, dat_ia_close),
         rules("dat.ia-close.endpoints", "dat.evd-wait.abort")) {
  Pair pair = connected();
  Waiter receives(pair.passive.receives), connection(pair.active.connection);
  const DAT_RETURN closed = CALL(dat_ia_close, ia().release(), DAT_CLOSE_ABRUPT_FLAG);
  const Waited first = receives.result(), second = connection.result();
  for (Side* side : {&pair.active, &pair.passive}) {
    side->ep.release();
    for (Evd* evd : {&side->receives, &side->requests, &side->connection}) evd->release();
  }
  pair.psp.release();
  pair.requests.release();
  pair.pz.release();
  expect(closed, succeeds);
  expect(first.code, returns(DAT_ABORT), "dat.evd-wait.abort");
  expect(second.code, returns(DAT_ABORT).or_tolerably(DAT_SUCCESS), "dat.evd-wait.abort");
}

DAT_CASES_OF_FILE(evd_wait)

}  // namespace suite::cases::dat
