// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// UpCalls: the policies, and what an UpCall gets.
#include "suite/cases/kdat/framework/kdat_body.hpp"

namespace suite::cases::dat {

namespace {

constexpr Word software = DAT_EVD_SOFTWARE_FLAG;

struct Poster {
  KdatBody& body;
  Word queue;
  void operator()(Word pointer) const {
    body.need(body.call(RNIC_KDAT_EVD_POST_SE, {queue, DAT_SOFTWARE_EVENT, pointer}),
              "no software event");
  }
};

}  // namespace

KDAT_CASE(each_event_goes_to_one_upcall, calls(dat_evd_kcreate),
          rules("kdat.upcall.event", "kdat.upcall.more-events")) {
  for (const Word policy : {kdapl::single_instance, kdapl::many})
    row(policy == kdapl::many ? "many" : "single instance", [&] {
      const Word queue = evd(software, 8, policy);
      for (const Word pointer : {Word{1}, Word{2}, Word{3}}) Poster{*this, queue}(pointer);
      for (const Word pointer : {Word{1}, Word{2}, Word{3}}) {
        const KernelEvent event = expect_upcall(queue, DAT_SOFTWARE_EVENT);
        expect_number("pointer", event.cookie, pointer);
        expect_number("dispatcher", event.evd, queue);
      }
      expect(call(RNIC_KDAT_EVD_DEQUEUE, {queue}), returns(DAT_QUEUE_EMPTY));
    });
  row("more events", [&] {
    const Word queue = evd(software, 8, kdapl::disable);
    for (const Word pointer : {Word{1}, Word{2}}) Poster{*this, queue}(pointer);
    need(call(RNIC_KDAT_EVD_MODIFY_UPCALL,
              {queue, kdapl::single_instance, RNIC_KDAT_UPCALL_NULL, kdapl::invoke_any}),
         "no UpCalls");
    const RuleRef more = "kdat.upcall.more-events";
    expect_number("more events", kernel().next_upcall(queue).more, 1, more);
    expect_number("more events", kernel().next_upcall(queue).more, 0, more);
  });
}

KDAT_CASE(notification_leaves_the_event, calls(dat_evd_kcreate, dat_evd_dequeue),
          rules("kdat.upcall.notification")) {
  const Word queue = evd(software, 8, kdapl::notify);
  for (const Word pointer : {Word{21}, Word{22}}) {
    Poster{*this, queue}(pointer);
    const Upcall upcall = kernel().next_upcall(queue);
    expect_number("an event with it", upcall.has_event, 0);
    const Result taken = call(RNIC_KDAT_EVD_DEQUEUE, {queue});
    expect(taken, succeeds);
    expect_number("pointer", taken.event().cookie, pointer);
  }
  expect(call(RNIC_KDAT_EVD_DEQUEUE, {queue}), returns(DAT_QUEUE_EMPTY));
}

KDAT_CASE(upcall_may_dequeue, calls(dat_evd_dequeue), rules("kdat.upcall.dequeue")) {
  const Word queue = evd(software, 8, kdapl::notify, RNIC_KDAT_UPCALL_DEQUEUES);
  Poster{*this, queue}(31);
  const Upcall notified = kernel().next_upcall(queue);
  expect_number("an event with it", notified.has_event, 0);
  const Upcall taken = kernel().next_upcall(queue);
  expect_number("dequeued in it", taken.dequeued, 1);
  expect_number("pointer", taken.event.cookie, 31);
  expect_number("context", taken.context, notified.context);
}

KDAT_CASE(no_upcall_while_disabled, calls(dat_evd_modify_upcall),
          rules("kdat.upcall.disabled", "kdat.evd-modify-upcall.success")) {
  const Word queue = evd(software, 8);
  expect(call(RNIC_KDAT_EVD_MODIFY_UPCALL,
              {queue, kdapl::disable, RNIC_KDAT_UPCALL_NULL, kdapl::invoke_new}),
         succeeds, "kdat.evd-modify-upcall.success");
  Poster{*this, queue}(41);
  const Result taken = call(RNIC_KDAT_EVD_DEQUEUE, {queue});
  expect(taken, succeeds);
  expect_number("pointer", taken.event().cookie, 41);
  // UpCalls come with the same function as before.
  expect(call(RNIC_KDAT_EVD_MODIFY_UPCALL,
              {queue, kdapl::single_instance, RNIC_KDAT_UPCALL_NULL, kdapl::invoke_new}),
         succeeds, "kdat.evd-modify-upcall.success");
  const Result got = call(RNIC_KDAT_EVD_QUERY, {queue, 1});
  expect_number("policy", got.out(2), kdapl::single_instance, "kdat.evd-modify-upcall.success");
  expect_number("an UpCall", got.out(4), 1, "kdat.evd-modify-upcall.success");
  Poster{*this, queue}(42);
  const KernelEvent event =
      expect_upcall(queue, DAT_SOFTWARE_EVENT, "kdat.evd-modify-upcall.success");
  expect_number("pointer", event.cookie, 42);
}

KDAT_CASE(invocation_flag_decides_on_older_events, calls(dat_evd_modify_upcall),
          rules("kdat.evd-modify-upcall.invoke-any", "kdat.evd-modify-upcall.invoke-new")) {
  row("any", [&] {
    const Word queue = evd(software, 8, kdapl::disable);
    Poster{*this, queue}(51);
    expect(call(RNIC_KDAT_EVD_MODIFY_UPCALL,
                {queue, kdapl::single_instance, RNIC_KDAT_UPCALL_NULL, kdapl::invoke_any}),
           succeeds);
    expect_number("pointer", expect_upcall(queue, DAT_SOFTWARE_EVENT).cookie, 51);
  });
  row("new", [&] {
    const RuleRef rule = "kdat.evd-modify-upcall.invoke-new";
    const Word queue = evd(software, 8, kdapl::disable);
    Poster{*this, queue}(52);
    expect(call(RNIC_KDAT_EVD_MODIFY_UPCALL,
                {queue, kdapl::notify, RNIC_KDAT_UPCALL_NULL, kdapl::invoke_new}),
           succeeds, rule);
    // The end of the UpCalls shows that none came.
    const Result ended = call(RNIC_KDAT_EVD_MODIFY_UPCALL,
                              {queue, kdapl::teardown, RNIC_KDAT_UPCALL_NULL, kdapl::invoke_new});
    need(ended, "no teardown");
    expect_number("UpCalls", ended.out(0), 0, rule);
    need(call(RNIC_KDAT_EVD_MODIFY_UPCALL,
              {queue, kdapl::notify, RNIC_KDAT_UPCALL_NULL, kdapl::invoke_new}),
         "no UpCalls");
    Poster{*this, queue}(53);
    expect_number("an event with it", kernel().next_upcall(queue).has_event, 0, rule);
  });
}

KDAT_CASE(teardown_waits_for_upcalls, calls(dat_evd_modify_upcall),
          rules("kdat.evd-modify-upcall.teardown")) {
  constexpr Word microseconds = 2000;
  const Result made = call(
      RNIC_KDAT_EVD_KCREATE,
      {ia_handle(), 32, kdapl::single_instance, software, RNIC_KDAT_UPCALL_REPORTS, microseconds});
  need(made, "no EVD");
  const Word queue = made.out(0);
  for (Word i = 0; i < 16; ++i) Poster{*this, queue}(i);
  const Result ended = call(RNIC_KDAT_EVD_MODIFY_UPCALL,
                            {queue, kdapl::teardown, RNIC_KDAT_UPCALL_NULL, kdapl::invoke_new});
  expect(ended, succeeds);
  expect_number("UpCalls that have ended, of those that have begun", ended.out(1), ended.out(0));
  const std::size_t before = kernel().upcalls_so_far(queue).size();
  expect_number("UpCalls that were told", before, ended.out(0));
  Poster{*this, queue}(16);
  const Result still = call(RNIC_KDAT_EVD_MODIFY_UPCALL,
                            {queue, kdapl::teardown, RNIC_KDAT_UPCALL_NULL, kdapl::invoke_new});
  expect(still, succeeds);
  expect_number("UpCalls", still.out(0), ended.out(0));
  expect_number("UpCalls after it", kernel().upcalls_so_far(queue).size(), 0);
  expect(call(RNIC_KDAT_EVD_DEQUEUE, {queue}), succeeds);
}

KDAT_CASE(bad_policies_are_refused, calls(dat_evd_modify_upcall),
          rules("kdat.evd-modify-upcall.invalid-parameter",
                "kdat.evd-modify-upcall.invalid-handle")) {
  const Word without = evd(software, 4, kdapl::disable, RNIC_KDAT_UPCALL_NULL);
  const Word with = evd(software, 4, kdapl::disable);
  const auto refuse = [&](Word queue, Word policy, Word kind, Word flag) {
    expect(call(RNIC_KDAT_EVD_MODIFY_UPCALL, {queue, policy, kind, flag}),
           returns(DAT_INVALID_PARAMETER));
  };
  row("no policy", [&] { refuse(with, 55, RNIC_KDAT_UPCALL_REPORTS, kdapl::invoke_new); });
  row("no flag", [&] { refuse(with, kdapl::many, RNIC_KDAT_UPCALL_REPORTS, 9); });
  row("the same, which is none",
      [&] { refuse(without, kdapl::many, RNIC_KDAT_UPCALL_NULL, kdapl::invoke_new); });
  row("no function", [&] { refuse(with, kdapl::many, RNIC_KDAT_UPCALL_EMPTY, kdapl::invoke_new); });
  row("no dispatcher", [&] {
    for (const Word none : {Word{0}, pz()})
      expect(call(RNIC_KDAT_EVD_MODIFY_UPCALL,
                  {none, kdapl::disable, RNIC_KDAT_UPCALL_NULL, kdapl::invoke_new}),
             returns(DAT_INVALID_HANDLE), "kdat.evd-modify-upcall.invalid-handle");
  });
}

KDAT_CASES_OF_FILE(upcall)

}  // namespace suite::cases::dat
