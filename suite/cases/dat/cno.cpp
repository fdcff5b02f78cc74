// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Notification objects: dat_cno_create, dat_cno_wait, dat_cno_query, dat_cno_fd_create,
// dat_cno_trigger, dat_cno_free.
#include <poll.h>

#include "suite/cases/dat/framework/dat_notification.hpp"

namespace suite::cases::dat {

namespace {

DAT_RETURN query(DAT_HANDLE handle) {
  DAT_CNO_PARAM param{};
  return CALL(dat_cno_query, handle, DAT_CNO_FIELD_ALL, &param);
}

struct WithDescriptor {
  explicit WithDescriptor(DatBody& body) {
    DAT_IA_HANDLE own = DAT_HANDLE_NULL;
    if (dats_get_ia_handle(body.ia().get(), &own) != DAT_SUCCESS)
      body.stop(Verdict::inconclusive, "libdat2 does not convert the IA handle");
    DAT_CNO_HANDLE handle = DAT_HANDLE_NULL;
    body.expect(CALL(DAT_CNO_FD_CREATE, own, &fd, &handle), succeeds);
    cno = Cno(handle);
  }
  [[nodiscard]] bool readable(int milliseconds) const {
    pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&one, 1, milliseconds) == 1 && (one.revents & POLLIN) != 0;
  }
  DAT_FD fd = -1;
  Cno cno;
};

DAT_RETURN trigger(DAT_HANDLE handle) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  return CALL(DAT_CNO_TRIGGER, handle, &evd);
}

}  // namespace

// ---------------------------------------------------------------- create, query

DAT_CASE(query_shows_that_there_is_no_agent, calls(dat_cno_create, dat_cno_query),
         rules("dat.cno-create.success", "dat.cno-query.success")) {
  DAT_CNO_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_cno_create, ia().get(), DAT_OS_WAIT_PROXY_AGENT_NULL, &handle), succeeds);
  const Cno cno(handle);
  expect_that(handle != DAT_HANDLE_NULL, "a handle", "DAT_HANDLE_NULL");
  const DAT_CNO_PARAM param = query(*this, handle);
  same(*this, "IA", param.ia_handle, ia().get(), "dat.cno-query.success");
  same(*this, "proxy", param.proxy_type, DAT_PROXY_TYPE_NONE, "dat.cno-query.success");
}

DAT_CASE(cno_with_an_invalid_ia_is_refused, calls(dat_cno_create),
         rules("dat.cno-create.invalid-handle")) {
  expect_refusal_of_no_ia(*this, [](DAT_IA_HANDLE handle) {
    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
    return CALL(dat_cno_create, handle, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno);
  });
}

DAT_CASE(cno_with_a_null_output_is_refused, calls(dat_cno_create),
         rules("dat.cno-create.invalid-parameter"), with_hostile_handles) {
  expect(CALL(dat_cno_create, ia().get(), DAT_OS_WAIT_PROXY_AGENT_NULL, nullptr),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(several_threads_make_cnos_at_once, calls(dat_cno_create),
         rules("dat.cno-create.success")) {
  std::array<DAT_CNO_HANDLE, 8> cnos{};
  std::array<DAT_RETURN, 8> got{};
  const DAT_IA_HANDLE handle = ia().get();
  at_once(8, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    got[at] = CALL(dat_cno_create, handle, DAT_OS_WAIT_PROXY_AGENT_NULL, &cnos[at]);
  });
  for (std::size_t i = 0; i < cnos.size(); ++i) {
    expect(got[i], succeeds);
    expect_that(std::ranges::count(cnos, cnos[i]) == 1, "a CNO of its own", "the same CNO twice");
  }
}

DAT_CASE(query_of_fields_that_do_not_exist_is_refused, calls(dat_cno_query),
         rules("dat.cno-query.invalid-parameter")) {
  const Cno cno = ia().cno();
  DAT_CNO_PARAM param{};
  expect(CALL(dat_cno_query, cno.get(), no_such<DAT_CNO_PARAM_MASK>(0x100), &param),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(query_with_a_null_output_is_refused, calls(dat_cno_query),
         rules("dat.cno-query.invalid-parameter"), with_hostile_handles) {
  const Cno cno = ia().cno();
  expect(CALL(dat_cno_query, cno.get(), DAT_CNO_FIELD_ALL, nullptr),
         returns(DAT_INVALID_PARAMETER));
}

DAT_HANDLE_CASES(query, dat_cno_query, "dat.cno-query.invalid-handle", DAT_HANDLE_TYPE_CNO,
                 freed(ia().cno()), query(handle))

// ---------------------------------------------------------------- dat_cno_wait

DAT_CASE(wait_names_the_evd_of_an_earlier_event, calls(dat_cno_wait),
         rules("dat.cno-wait.success")) {
  const CnoWithEvd fed(ia());
  need(post(fed.evd), "no software event");
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  expect(CALL(dat_cno_wait, fed.cno.get(), DAT_TIMEOUT_INFINITE, &evd), succeeds);
  same(*this, "EVD", evd, fed.evd.get());
}

DAT_CASE(wait_is_ended_by_an_event, calls(dat_cno_wait), rules("dat.cno-wait.success")) {
  const CnoWithEvd fed(ia());
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  DAT_RETURN got = DAT_INTERNAL_ERROR;
  Blocked waiter([&] { got = CALL(dat_cno_wait, fed.cno.get(), DAT_TIMEOUT_INFINITE, &evd); });
  expect_that(!waiter.over(), "a wait until there is an event", "the wait ended");
  need(post(fed.evd), "no software event");
  waiter.join();
  expect(got, succeeds);
  same(*this, "EVD", evd, fed.evd.get());
}

DAT_CASE(wait_leaves_the_event_in_its_evd, calls(dat_cno_wait), rules("dat.cno-wait.success")) {
  const CnoWithEvd fed(ia());
  need(post(fed.evd), "no software event");
  expect(wait(fed.cno.get(), DAT_TIMEOUT_INFINITE), succeeds);
  expect_event(fed.evd, DAT_SOFTWARE_EVENT);
  expect_no_event(fed.evd);
}

// What an EVD has told outlives the others of its CNO. One that leaves it may still be named.
DAT_CASE(notification_outlives_another_evd, calls(dat_cno_wait), rules("dat.cno-wait.success")) {
  for (const bool is_freed : {true, false})
    for (const bool tells_first : {true, false})
      row(fmt::format("an {} one {}", tells_first ? "earlier" : "later",
                      is_freed ? "is freed" : "leaves"),
          [&] {
            const CnoWithEvd fed(ia());
            Evd other = fed.feed(ia());
            if (tells_first) need(post(other), "no software event");
            need(post(fed.evd), "no software event");
            if (!tells_first) need(post(other), "no software event");
            if (is_freed)
              need(CALL(dat_evd_free, other.release()), "not freed");
            else
              need(CALL(dat_evd_modify_cno, other.get(), DAT_HANDLE_NULL), "not modified");
            DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
            expect(CALL(dat_cno_wait, fed.cno.get(), 1'000'000, &evd), succeeds);
            if (is_freed) same(*this, "EVD", evd, fed.evd.get());
          });
}

DAT_CASE(wait_is_ended_by_a_completion, calls(dat_cno_wait), rules("dat.cno-wait.success")) {
  const Cno cno = ia().cno();
  const Pair pair = connected();
  need(CALL(dat_evd_modify_cno, pair.active.connection.get(), cno.get()), "no CNO for the EVD");
  need(CALL(dat_ep_disconnect, pair.passive.ep.get(), DAT_CLOSE_ABRUPT_FLAG), "no disconnect");
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  expect(CALL(dat_cno_wait, cno.get(), DAT_TIMEOUT_INFINITE, &evd), succeeds);
  same(*this, "EVD", evd, pair.active.connection.get());
  (void)dat_evd_modify_cno(pair.active.connection.get(), DAT_HANDLE_NULL);
}

DAT_CASE(wait_without_events_times_out, calls(dat_cno_wait), rules("dat.cno-wait.timeout")) {
  const CnoWithEvd fed(ia());
  for (const DAT_TIMEOUT timeout : {DAT_TIMEOUT{0}, DAT_TIMEOUT{1}, DAT_TIMEOUT{50'000}})
    row(fmt::format("{} microseconds", timeout), [&] {
      DAT_EVD_HANDLE evd = fed.evd.get();
      const auto before = std::chrono::steady_clock::now();
      expect(CALL(dat_cno_wait, fed.cno.get(), timeout, &evd), returns(DAT_QUEUE_EMPTY));
      const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
          std::chrono::steady_clock::now() - before);
      same(*this, "EVD", evd, DAT_HANDLE_NULL);
      // Clocks differ in resolution.
      at_least(*this, "microseconds", took.count() + 2000, static_cast<std::int64_t>(timeout));
    });
}

DAT_CASE(disabled_evd_does_not_notify, calls(dat_cno_wait), rules("dat.cno-wait.disabled")) {
  const CnoWithEvd fed(ia());
  need(CALL(dat_evd_disable, fed.evd.get()), "not disabled");
  need(post(fed.evd), "no software event");
  expect(wait(fed.cno.get(), 20'000), returns(DAT_QUEUE_EMPTY));
  need(CALL(dat_evd_enable, fed.evd.get()), "not enabled");
  need(post(fed.evd), "no software event");
  expect(wait(fed.cno.get(), DAT_TIMEOUT_INFINITE), succeeds);
}

DAT_CASE(signal_ends_a_wait, calls(dat_cno_wait), rules("dat.cno-wait.interrupted-call")) {
  const CnoWithEvd fed(ia());
  DAT_RETURN got = DAT_SUCCESS;
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  Blocked blocked([&] { got = CALL(dat_cno_wait, fed.cno.get(), DAT_TIMEOUT_INFINITE, &evd); });
  blocked.interrupt();
  need(post(fed.evd), "no event");  // ends a wait that the signal has not ended
  blocked.join();
  expect(got, returns(DAT_INTERRUPTED_CALL).or_tolerably(DAT_SUCCESS));
  if (got == DAT_SUCCESS) return;
  expect(CALL(dat_cno_wait, fed.cno.get(), 0, &evd), succeeds);
  same(*this, "EVD", evd, fed.evd.get());
}

DAT_CASE(several_threads_wait_on_one_cno, calls(dat_cno_wait), rules("dat.cno-wait.concurrent")) {
  const CnoWithEvd fed(ia());
  std::array<DAT_RETURN, 4> got{};
  std::array<DAT_EVD_HANDLE, 4> evds{};
  std::vector<std::unique_ptr<Blocked>> waiters;
  for (std::size_t i = 0; i < got.size(); ++i)
    waiters.push_back(std::make_unique<Blocked>(
        [&, i] { got[i] = CALL(dat_cno_wait, fed.cno.get(), DAT_TIMEOUT_INFINITE, &evds[i]); }));
  // How many waiters a notification wakes is up to the provider.
  const auto waiting = [](const auto& waiter) { return !waiter->over(); };
  DAT_EVENT event{};
  while (std::ranges::any_of(waiters, waiting)) {
    (void)post(fed.evd);
    std::this_thread::yield();
    (void)dat_evd_dequeue(fed.evd.get(), &event);
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    expect(got[i], succeeds);
    same(*this, "EVD", evds[i], fed.evd.get());
  }
}

DAT_CASE(wait_with_a_null_output_is_refused, calls(dat_cno_wait),
         rules("dat.cno-wait.invalid-parameter"), with_hostile_handles) {
  const Cno cno = ia().cno();
  expect(CALL(dat_cno_wait, cno.get(), 1000, nullptr), returns(DAT_INVALID_PARAMETER));
}

DAT_HANDLE_CASES(wait, dat_cno_wait, "dat.cno-wait.invalid-handle", DAT_HANDLE_TYPE_CNO,
                 freed(ia().cno()), wait(handle))

// ---------------------------------------------------------------- file descriptors

DAT_CASE(descriptor_is_readable_while_there_is_a_trigger, calls(dat_cno_fd_create, dat_cno_trigger),
         rules("dat.cno-fd-create.success", "dat.cno-trigger.success")) {
  WithDescriptor one(*this);
  expect_that(one.fd >= 0, "a descriptor", fmt::format("{}", one.fd));
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 8, one.cno.get());
  expect_that(!one.readable(0), "nothing to read before an event", "readable");
  need(post(evd), "no software event");
  expect_that(one.readable(-1), "readable", "an error");
  DAT_EVD_HANDLE by = DAT_HANDLE_NULL;
  expect(CALL(DAT_CNO_TRIGGER, one.cno.get(), &by), succeeds, "dat.cno-trigger.success");
  same(*this, "EVD", by, evd.get(), "dat.cno-trigger.success");
  expect_that(!one.readable(0), "nothing to read after the trigger", "readable");
}

DAT_CASE(descriptor_is_readable_until_the_last_trigger_is_taken,
         calls(dat_cno_fd_create, dat_cno_trigger),
         rules("dat.cno-fd-create.success", "dat.cno-trigger.success")) {
  WithDescriptor one(*this);
  const Evd first = ia().evd(DAT_EVD_SOFTWARE_FLAG, 8, one.cno.get());
  const Evd second = ia().evd(DAT_EVD_SOFTWARE_FLAG, 8, one.cno.get());
  need(post(first), "no software event");
  need(post(second), "no software event");
  DAT_EVD_HANDLE by = DAT_HANDLE_NULL, then = DAT_HANDLE_NULL;
  expect(CALL(DAT_CNO_TRIGGER, one.cno.get(), &by), succeeds, "dat.cno-trigger.success");
  expect_that(one.readable(0), "readable, since another trigger waits", "nothing to read");
  expect(CALL(DAT_CNO_TRIGGER, one.cno.get(), &then), succeeds, "dat.cno-trigger.success");
  expect_that(
      (by == first.get() && then == second.get()) || (by == second.get() && then == first.get()),
      "each dispatcher once", "other handles", "dat.cno-trigger.success");
  expect_that(!one.readable(0), "nothing to read after the last trigger", "readable");
}

DAT_CASE(query_returns_the_descriptor, calls(dat_cno_fd_create, dat_cno_query),
         rules("dat.cno-query.success")) {
  WithDescriptor one(*this);
  const DAT_CNO_PARAM param = query(*this, one.cno.get());
  same(*this, "proxy", param.proxy_type, DAT_PROXY_TYPE_FD);
  same(*this, "descriptor", param.proxy.fd, one.fd);
  same(*this, "IA", param.ia_handle, ia().get());
}

DAT_CASE(trigger_of_nothing_is_empty, calls(dat_cno_trigger), rules("dat.cno-trigger.empty")) {
  WithDescriptor one(*this);
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 8, one.cno.get());
  DAT_EVD_HANDLE by = evd.get();
  expect(CALL(DAT_CNO_TRIGGER, one.cno.get(), &by), returns(DAT_QUEUE_EMPTY));
  same(*this, "EVD", by, DAT_HANDLE_NULL);
}

DAT_CASE(descriptor_with_a_null_output_is_refused, calls(dat_cno_fd_create),
         rules("dat.cno-fd-create.invalid-parameter"), with_hostile_handles) {
  WithDescriptor one(*this);  // the provider has such CNOs
  DAT_IA_HANDLE own = DAT_HANDLE_NULL;
  need(dats_get_ia_handle(ia().get(), &own), "no IA handle");
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  DAT_FD fd = -1;
  row("for the descriptor",
      [&] { expect(CALL(DAT_CNO_FD_CREATE, own, nullptr, &cno), returns(DAT_INVALID_PARAMETER)); });
  row("for the handle",
      [&] { expect(CALL(DAT_CNO_FD_CREATE, own, &fd, nullptr), returns(DAT_INVALID_PARAMETER)); });
}

DAT_CASE(descriptor_in_a_closed_ia_is_refused, calls(dat_cno_fd_create),
         rules("dat.cno-fd-create.invalid-handle"), with_hostile_handles) {
  const WithDescriptor one(*this);  // the provider has such CNOs
  Ia other(target());
  DAT_IA_HANDLE own = DAT_HANDLE_NULL;
  need(dats_get_ia_handle(other.get(), &own), "no IA handle");
  need(CALL(dat_ia_close, other.release(), DAT_CLOSE_ABRUPT_FLAG), "not closed");
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  DAT_FD fd = -1;
  expect(CALL(DAT_CNO_FD_CREATE, own, &fd, &cno), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(trigger_of_a_freed_handle_is_refused, calls(dat_cno_trigger),
         rules("dat.cno-trigger.invalid-handle"), with_hostile_handles) {
  WithDescriptor one(*this);
  const DAT_CNO_HANDLE handle = freed(std::move(one.cno));
  expect(trigger(handle), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(trigger_of_another_type_is_refused, calls(dat_cno_trigger),
         rules("dat.cno-trigger.invalid-handle"), with_hostile_handles) {
  const LiveObjects live(ia());
  for (const auto& [name, handle] : live.except(DAT_HANDLE_TYPE_CNO))
    row(name, [&] { expect(trigger(handle), returns(DAT_INVALID_HANDLE)); });
}

// ---------------------------------------------------------------- dat_cno_free

DAT_CASE(cno_without_users_is_freed, calls(dat_cno_free), rules("dat.cno-free.success")) {
  Cno cno = ia().cno();
  {
    const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 8, cno.get());
  }
  expect(CALL(dat_cno_free, cno.release()), succeeds);
  DAT_CNO_HANDLE with_agent = DAT_HANDLE_NULL;
  AgentCalls told;
  need(CALL(dat_cno_create, ia().get(), told.agent(), &with_agent), "no CNO");
  expect(CALL(dat_cno_free, with_agent), succeeds);
}

DAT_CASE(cno_of_an_evd_is_not_freed, calls(dat_cno_free), rules("dat.cno-free.invalid-state")) {
  const CnoWithEvd fed(ia());
  expect(CALL(dat_cno_free, fed.cno.get()), returns(DAT_INVALID_STATE));
  need(post(fed.evd), "no software event");
  expect(wait(fed.cno.get(), DAT_TIMEOUT_INFINITE), succeeds);  // it can still be used
}

DAT_CASE(cno_is_held_by_each_of_its_evds, calls(dat_cno_free),
         rules("dat.cno-free.invalid-state", "dat.cno-free.success")) {
  Cno cno = ia().cno();
  Evd first = ia().evd(DAT_EVD_SOFTWARE_FLAG, 8, cno.get()),
      second = ia().evd(DAT_EVD_SOFTWARE_FLAG, 8, cno.get());
  first.reset();
  expect(CALL(dat_cno_free, cno.get()), returns(DAT_INVALID_STATE));
  need(CALL(dat_evd_modify_cno, second.get(), DAT_HANDLE_NULL), "not modified");
  expect(CALL(dat_cno_free, cno.release()), succeeds, "dat.cno-free.success");
}

DAT_CASE(cno_with_a_waiter_is_not_freed, calls(dat_cno_free), rules("dat.cno-free.invalid-state")) {
  const Cno cno = ia().cno();
  DAT_RETURN got = DAT_INTERNAL_ERROR;
  Blocked waiter([&] { got = wait(cno.get(), DAT_TIMEOUT_INFINITE); });
  expect(CALL(dat_cno_free, cno.get()), returns(DAT_INVALID_STATE));
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 8, cno.get());
  need(post(evd), "no software event");
  waiter.join();
  expect(got, succeeds);
  need(CALL(dat_evd_modify_cno, evd.get(), DAT_HANDLE_NULL), "the EVD keeps its CNO");
}

DAT_HANDLE_CASES(free, dat_cno_free, "dat.cno-free.invalid-handle", DAT_HANDLE_TYPE_CNO,
                 freed(ia().cno()), CALL(dat_cno_free, handle))

DAT_CASES_OF_FILE(cno)

}  // namespace suite::cases::dat
