// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Interface adapters: dat_ia_open, dat_ia_close, and ia_ha_related, which only the provider's table
// has.
#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/dat/framework/dat_handle_cases.hpp"
#include "suite/cases/dat/framework/dat_threads.hpp"

namespace suite::cases::dat {

namespace {

struct Opened {
  DAT_RETURN open(const std::string& name, DAT_COUNT length, DAT_UINT32 major = DAT_VERSION_MAJOR) {
    std::string writable = name;
    return CALL(dat_ia_openv, writable.data(), length, &async, &ia, major, DAT_VERSION_MINOR,
                DAT_FALSE);
  }
  DAT_RETURN close(DAT_CLOSE_FLAGS flags = DAT_CLOSE_ABRUPT_FLAG) {
    return CALL(dat_ia_close, std::exchange(ia, DAT_HANDLE_NULL), flags);
  }
  ~Opened() {
    if (ia != DAT_HANDLE_NULL) (void)close();
  }
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
};

DAT_RETURN query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE* async = nullptr) {
  return CALL(dat_ia_query, ia, async, 0, nullptr, 0, nullptr);
}

using Related = DAT_RETURN (*)(DAT_IA_HANDLE, const DAT_NAME_PTR, DAT_BOOLEAN*);

/// The slot of the provider's table, and the handle that it takes.
struct HaRelated {
  explicit HaRelated(DatBody& body) {
    if (dats_get_ia_handle(body.ia().get(), &own) != DAT_SUCCESS)
      body.stop(Verdict::inconclusive, "libdat2 does not convert the IA handle");
    call = DAT_HANDLE_TO_PROVIDER(own)->ia_ha_related_func;
    if (call == nullptr)
      body.stop(Verdict::not_applicable, "the provider's table has no ia_ha_related");
  }
  DAT_IA_HANDLE own = DAT_HANDLE_NULL;
  Related call = nullptr;
};

/// A service point of an IA whose objects nobody frees one by one: the EVD of its requests.
DAT_EVD_HANDLE listen(DatBody& body, DAT_IA_HANDLE ia, DAT_CONN_QUAL qualifier, bool reserved) {
  const auto evd = [&](DAT_EVD_FLAGS flags) {
    DAT_EVD_HANDLE handle{};
    body.need(dat_evd_create(ia, 8, DAT_HANDLE_NULL, flags, &handle), "no EVD");
    return handle;
  };
  const DAT_EVD_HANDLE requests = evd(DAT_EVD_CR_FLAG);
  DAT_PSP_HANDLE psp{};
  DAT_RSP_HANDLE rsp{};
  if (!reserved) {
    body.need(dat_psp_create(ia, qualifier, requests, DAT_PSP_CONSUMER_FLAG, &psp), "no PSP");
    return requests;
  }
  DAT_PZ_HANDLE pz{};
  DAT_EP_HANDLE ep{};
  body.need(dat_pz_create(ia, &pz), "no PZ");
  const DAT_EVD_HANDLE done = evd(DAT_EVD_DTO_FLAG);
  body.need(dat_ep_create(ia, pz, done, done, evd(DAT_EVD_CONNECTION_FLAG), nullptr, &ep), "no EP");
  body.need(dat_rsp_create(ia, qualifier, ep, requests, &rsp), "no RSP");
  return requests;
}

}  // namespace

DAT_CASE(open_makes_an_ia_and_its_async_evd, calls(dat_ia_openv),
         rules("dat.ia-open.success", "dat.ia-open.async-evd")) {
  Opened one;
  expect(one.open(target().ia, 7), succeeds);
  expect_that(one.ia != DAT_HANDLE_NULL, "an IA handle", "DAT_HANDLE_NULL");
  expect_that(one.async != DAT_HANDLE_NULL, "an EVD handle", "DAT_HANDLE_NULL",
              "dat.ia-open.async-evd");
  DAT_EVD_PARAM param{};
  expect(CALL(dat_evd_query, one.async, DAT_EVD_FIELD_ALL, &param), succeeds,
         "dat.ia-open.async-evd");
  at_least(*this, "queue length", param.evd_qlen, 7, "dat.ia-open.async-evd");
  same(*this, "IA", param.ia_handle, one.ia, "dat.ia-open.async-evd");
  same(*this, "CNO", param.cno_handle, DAT_HANDLE_NULL, "dat.ia-open.async-evd");
  expect_that((param.evd_flags & DAT_EVD_ASYNC_FLAG) != 0, "for asynchronous events",
              value_text(param.evd_flags), "dat.ia-open.async-evd");
}

DAT_CASE(ia_can_be_open_many_times, calls(dat_ia_openv), rules("dat.ia-open.success")) {
  std::array<Opened, 5> all;
  for (Opened& one : all) expect(one.open(target().ia, 4), succeeds);
  for (std::size_t i = 1; i < all.size(); ++i)
    expect_that(all[i].ia != all[i - 1].ia && all[i].async != all[i - 1].async,
                "handles of its own", "handles of another instance");
  expect(all[2].close(), succeeds);
  expect(query(all[3].ia), succeeds);
}

DAT_CASE(async_evd_of_another_instance_is_taken, calls(dat_ia_openv),
         rules("dat.ia-open.async-evd-given")) {
  Opened one;
  one.async = ia().async_evd();
  expect(one.open(target().ia, 0), succeeds);
  same(*this, "asynchronous EVD", one.async, ia().async_evd());
  DAT_EVD_HANDLE told = DAT_HANDLE_NULL;
  need(query(one.ia, &told), "no query");
  same(*this, "asynchronous EVD", told, ia().async_evd());
}

DAT_CASE(open_with_an_existing_async_evd_creates_none, calls(dat_ia_openv),
         rules("dat.ia-open.async-evd-exists")) {
  const DAT_EVD_HANDLE exists = ia().async_evd();
  Opened one;
  one.async = DAT_EVD_ASYNC_EXISTS;
  expect(one.open(target().ia, 4), succeeds);
  DAT_EVD_HANDLE told = DAT_HANDLE_NULL;
  need(query(one.ia, &told), "no query");
  expect_that(told == DAT_EVD_OUT_OF_SCOPE || told == exists, "DAT_EVD_OUT_OF_SCOPE",
              value_text(told));
}

DAT_CASE(name_that_nobody_registered_is_not_found, calls(dat_ia_openv),
         rules("dat.ia-open.provider-not-found")) {
  for (const std::string name : {"conformance-suite-nobody", "x"})
    row(name, [&] {
      Opened one;
      expect(one.open(name, 4), returns(DAT_PROVIDER_NOT_FOUND));
    });
  row("a prefix of the name", [&] {
    Opened one;
    expect(one.open(target().ia + "x", 4), returns(DAT_PROVIDER_NOT_FOUND));
  });
}

DAT_CASE(version_that_nobody_registered_is_not_found, calls(dat_ia_openv),
         rules("dat.ia-open.provider-not-found")) {
  Opened one;
  expect(one.open(target().ia, 4, 99), returns(DAT_PROVIDER_NOT_FOUND));
}

DAT_CASE(open_without_a_name_is_refused, calls(dat_ia_openv),
         rules("dat.ia-open.invalid-parameter")) {
  Opened one;
  expect(CALL(dat_ia_openv, nullptr, 4, &one.async, &one.ia, DAT_VERSION_MAJOR, DAT_VERSION_MINOR,
              DAT_FALSE),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(open_with_a_null_handle_output_is_refused, calls(dat_ia_openv),
         rules("dat.ia-open.invalid-parameter"), with_hostile_handles) {
  std::string name = target().ia;
  Opened one;
  row("no place for the IA", [&] {
    expect(CALL(dat_ia_openv, name.data(), 4, &one.async, nullptr, DAT_VERSION_MAJOR,
                DAT_VERSION_MINOR, DAT_FALSE),
           returns_one_of({DAT_INVALID_PARAMETER, DAT_INVALID_HANDLE}));
  });
  row("no place for the EVD", [&] {
    expect(CALL(dat_ia_openv, name.data(), 4, nullptr, &one.ia, DAT_VERSION_MAJOR,
                DAT_VERSION_MINOR, DAT_FALSE),
           returns_one_of({DAT_INVALID_PARAMETER, DAT_INVALID_HANDLE}));
  });
}

DAT_CASE(negative_queue_length_is_refused, calls(dat_ia_openv),
         rules("dat.ia-open.invalid-parameter")) {
  Opened one;
  expect(one.open(target().ia, -1),
         returns(DAT_INVALID_PARAMETER).or_tolerably(DAT_INSUFFICIENT_RESOURCES));
}

DAT_CASE(evd_that_is_not_for_asynchronous_events_is_refused, calls(dat_ia_openv),
         rules("dat.ia-open.invalid-handle"), with_hostile_handles) {
  const Evd evd = ia().evd(DAT_EVD_DTO_FLAG);
  Opened one;
  one.async = evd.get();
  // The provider need not check its arguments here.
  expect(one.open(target().ia, 4), returns(DAT_INVALID_HANDLE).or_tolerably(DAT_SUCCESS));
}

DAT_CASE(several_threads_open_at_once, calls(dat_ia_openv), rules("dat.ia-open.success")) {
  std::array<Opened, 4> all;
  std::array<DAT_RETURN, 4> got{};
  at_once(4, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    got[at] = all[at].open(target().ia, 4);
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    expect(got[i], succeeds);
    expect(query(all[i].ia), succeeds);
  }
}

// ---------------------------------------------------------------- dat_ia_close

DAT_CASE(graceful_close_of_an_empty_ia_succeeds, calls(dat_ia_close),
         rules("dat.ia-close.success")) {
  Opened one;
  need(one.open(target().ia, 4), "no IA");
  const DAT_IA_HANDLE handle = one.ia;
  expect(one.close(DAT_CLOSE_GRACEFUL_FLAG), succeeds);
  expect(query(handle), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(graceful_close_after_all_is_freed_succeeds, calls(dat_ia_close),
         rules("dat.ia-close.success")) {
  Ia one(target());
  {
    const LiveObjects objects(one);
  }
  {
    const Pair pair = connect_pair(one, {});
  }
  expect(CALL(dat_ia_close, one.get(), DAT_CLOSE_GRACEFUL_FLAG), succeeds);
  one.release();
}

DAT_CASE(graceful_close_with_an_object_is_refused, calls(dat_ia_close),
         rules("dat.ia-close.invalid-state")) {
  Ia one(target());
  const auto refused = [&](const char* name, auto make) {
    row(name, [&] {
      const auto object = make();
      expect(CALL(dat_ia_close, one.get(), DAT_CLOSE_GRACEFUL_FLAG), returns(DAT_INVALID_STATE));
      expect(query(one.get()), succeeds);
    });
  };
  refused("a protection zone", [&] { return one.pz(); });
  refused("an EVD", [&] { return one.evd(DAT_EVD_DTO_FLAG); });
  refused("a CNO", [&] { return one.cno(); });
  refused("an endpoint without parts", [&] {
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    need(dat_ep_create(one.get(), DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL,
                       DAT_HANDLE_NULL, nullptr, &ep),
         "no endpoint");
    return Ep(ep);
  });
  refused("all kinds", [&] { return LiveObjects(one); });
  refused("a connection", [&] { return connect_pair(one, {}); });
}

DAT_CASE(close_of_one_instance_leaves_the_others, calls(dat_ia_close),
         rules("dat.ia-close.abrupt")) {
  const Pair pair = connected();
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  const auto [psp, qualifier] = ia().psp(requests);
  {
    const Ia other(target());
    const LiveObjects objects(other);
  }
  expect_state(pair.active.ep, DAT_EP_STATE_CONNECTED);
  expect_state(pair.passive.ep, DAT_EP_STATE_CONNECTED);
  const Side side = make_side(ia(), pair.pz);
  expect(CALL(dat_ep_connect, side.ep.get(), ia().address(), qualifier, DAT_TIMEOUT_INFINITE, 0,
              nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
         succeeds);
  const DAT_EVENT event = expect_event(requests, DAT_CONNECTION_REQUEST_EVENT);
  (void)dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle, 0, nullptr);
}

DAT_CASE(refused_close_changes_no_object, calls(dat_ia_close),
         rules("dat.ia-close.invalid-state")) {
  Ia one(target());
  const Pair pair = connect_pair(one, {});
  expect(CALL(dat_ia_close, one.get(), DAT_CLOSE_GRACEFUL_FLAG), returns(DAT_INVALID_STATE));
  expect_state(pair.active.ep, DAT_EP_STATE_CONNECTED);
  expect_state(pair.passive.ep, DAT_EP_STATE_CONNECTED);
}

DAT_CASE(abrupt_close_destroys_all_objects, calls(dat_ia_close), rules("dat.ia-close.abrupt")) {
  const DAT_CONN_QUAL qualifier = free_qualifier(ia());
  Opened one;
  need(one.open(target().ia, 8), "no IA");
  DAT_PZ_HANDLE pz{};
  DAT_EVD_HANDLE evd{}, connections{}, requests{};
  DAT_EP_HANDLE ep{};
  DAT_CNO_HANDLE cno{};
  DAT_RMR_HANDLE rmr{};
  DAT_PSP_HANDLE psp{};
  need(dat_pz_create(one.ia, &pz), "no PZ");
  need(dat_cno_create(one.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), "no CNO");
  need(dat_evd_create(one.ia, 8, cno, DAT_EVD_DTO_FLAG, &evd), "no EVD");
  need(dat_evd_create(one.ia, 8, cno, DAT_EVD_CONNECTION_FLAG, &connections), "no EVD");
  need(dat_evd_create(one.ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests), "no EVD");
  need(dat_ep_create(one.ia, pz, evd, evd, connections, nullptr, &ep), "no EP");
  (void)dat_rmr_create(pz, &rmr);  // an IA may have none
  need(dat_psp_create(one.ia, qualifier, requests, DAT_PSP_CONSUMER_FLAG, &psp), "no PSP");
  expect(one.close(), succeeds);
  // The Connection Qualifier is free again.
  const Evd again = ia().evd(DAT_EVD_CR_FLAG);
  DAT_PSP_HANDLE second{};
  expect(CALL(dat_psp_create, ia().get(), qualifier, again.get(), DAT_PSP_CONSUMER_FLAG, &second),
         succeeds);
  (void)dat_psp_free(second);
}

DAT_CASE(abrupt_close_ends_connections, calls(dat_ia_close), rules("dat.ia-close.abrupt")) {
  Opened other;
  need(other.open(target().ia, 8), "no IA");
  DAT_PZ_HANDLE pz{};
  DAT_EVD_HANDLE evd{}, connections{};
  DAT_EP_HANDLE ep{};
  need(dat_pz_create(other.ia, &pz), "no PZ");
  need(dat_evd_create(other.ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd), "no EVD");
  need(dat_evd_create(other.ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &connections),
       "no EVD");
  need(dat_ep_create(other.ia, pz, evd, evd, connections, nullptr, &ep), "no EP");
  const Pz own = ia().pz();
  const Side side = make_side(ia(), own);
  const Evd requests = ia().evd(DAT_EVD_CR_FLAG);
  const auto [psp, qualifier] = ia().psp(requests);
  need(dat_ep_connect(ep, ia().address(), qualifier, DAT_TIMEOUT_INFINITE, 0, nullptr,
                      DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
       "no connect");
  const DAT_EVENT request = next_event(requests);
  need(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, side.ep.get(), 0, nullptr),
       "no accept");
  expect_event(side.connection, DAT_CONNECTION_EVENT_ESTABLISHED);
  expect(other.close(), succeeds);
  const DAT_EVENT_NUMBER end = next_event(side.connection).event_number;
  expect_that(end == DAT_CONNECTION_EVENT_DISCONNECTED || end == DAT_CONNECTION_EVENT_BROKEN,
              "DAT_CONNECTION_EVENT_DISCONNECTED", event_text(end));
}

DAT_CASE(abrupt_close_ends_requests_that_wait_for_an_answer,
         calls(dat_ia_close, dat_psp_create, dat_rsp_create), rules("dat.ia-close.abrupt")) {
  for (const bool reserved : {false, true})
    row(reserved ? "at a reserved service point" : "at a public service point", [&] {
      const DAT_CONN_QUAL qualifier = free_qualifier(ia());
      Opened other;
      need(other.open(target().ia, 8), "no IA");
      const DAT_EVD_HANDLE requests = listen(*this, other.ia, qualifier, reserved);
      const Pz own = ia().pz();
      const Side side = make_side(ia(), own);
      need(start_connect(ia(), side.ep.get(), qualifier), "no connect");
      DAT_EVENT request{};
      DAT_COUNT more = 0;
      need(dat_evd_wait(requests, DAT_TIMEOUT_INFINITE, 1, &request, &more), "no request");
      expect(other.close(), succeeds);
      const DAT_EVENT_NUMBER end = next_event(side.connection).event_number;
      expect_that(end != DAT_CONNECTION_EVENT_ESTABLISHED, "a connect that fails", event_text(end));
    });
}

DAT_CASE(abrupt_close_wakes_waiters_on_an_evd, calls(dat_ia_close, dat_evd_wait),
         rules("dat.ia-close.evd-waiter")) {
  Opened one;
  need(one.open(target().ia, 8), "no IA");
  DAT_EVD_HANDLE evd{};
  need(dat_evd_create(one.ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd), "no EVD");
  DAT_RETURN waited = DAT_SUCCESS;
  Blocked waiter([&] {
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    waited = CALL(dat_evd_wait, evd, DAT_TIMEOUT_INFINITE, 1, &event, &more);
  });
  expect(one.close(), succeeds);
  waiter.join();
  expect(waited, returns(DAT_ABORT));
}

DAT_CASE(abrupt_close_wakes_waiters_on_a_cno, calls(dat_ia_close, dat_cno_wait),
         rules("dat.ia-close.cno-waiter")) {
  Opened one;
  need(one.open(target().ia, 8), "no IA");
  DAT_CNO_HANDLE cno{};
  need(dat_cno_create(one.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), "no CNO");
  DAT_RETURN waited = DAT_INTERNAL_ERROR;
  DAT_EVD_HANDLE evd = one.async;
  Blocked waiter([&] { waited = CALL(dat_cno_wait, cno, DAT_TIMEOUT_INFINITE, &evd); });
  expect(one.close(), succeeds);
  waiter.join();
  // No document says which return goes with the null handle.
  expect(waited, returns(DAT_SUCCESS).or_tolerably(DAT_ABORT));
  same(*this, "EVD", evd, DAT_HANDLE_NULL);
}

DAT_CASE(async_evd_that_was_given_outlives_the_close, calls(dat_ia_close),
         rules("dat.ia-close.given-async-evd")) {
  Opened one;
  one.async = ia().async_evd();
  need(one.open(target().ia, 4), "no IA");
  expect(one.close(DAT_CLOSE_GRACEFUL_FLAG), succeeds);
  DAT_EVD_PARAM param{};
  expect(CALL(dat_evd_query, ia().async_evd(), DAT_EVD_FIELD_ALL, &param), succeeds);
  same(*this, "IA", param.ia_handle, ia().get());
}

DAT_CASE(close_with_an_invalid_ia_is_refused, calls(dat_ia_close),
         rules("dat.ia-close.invalid-handle")) {
  expect_refusal_of_no_ia(*this, [](DAT_IA_HANDLE handle) {
    return CALL(dat_ia_close, handle, DAT_CLOSE_ABRUPT_FLAG);
  });
}

DAT_CASE(close_with_unknown_flags_is_refused, calls(dat_ia_close),
         rules("dat.ia-close.invalid-parameter")) {
  Opened one;
  need(one.open(target().ia, 4), "no IA");
  expect(CALL(dat_ia_close, one.ia, no_such<DAT_CLOSE_FLAGS>(0x40)),
         returns(DAT_INVALID_PARAMETER));
  expect(query(one.ia), succeeds);
}

// ---------------------------------------------------------------- ia_ha_related

DAT_CASE(ia_is_related_to_itself, calls(ia_ha_related), rules("dat.ia-ha-related.success")) {
  const HaRelated related(*this);
  std::string name = target().ia;
  DAT_BOOLEAN answer = DAT_FALSE;
  expect(CALL(related.call, related.own, name.data(), &answer), succeeds);
  same(*this, "related", answer, DAT_TRUE);
}

DAT_CASE(ia_is_not_related_to_an_unregistered_name, calls(ia_ha_related),
         rules("dat.ia-ha-related.unrelated")) {
  const HaRelated related(*this);
  std::string name = "conformance-suite-nobody";
  DAT_BOOLEAN answer = DAT_TRUE;
  const DAT_RETURN got = CALL(related.call, related.own, name.data(), &answer);
  expect(got, returns(DAT_SUCCESS).or_tolerably(DAT_INVALID_PARAMETER));
  if (got == DAT_SUCCESS) same(*this, "related", answer, DAT_FALSE);
}

DAT_CASE(related_query_with_null_arguments_is_refused, calls(ia_ha_related),
         rules("dat.ia-ha-related.invalid-parameter"), with_hostile_handles) {
  const HaRelated related(*this);
  std::string name = target().ia;
  DAT_BOOLEAN answer = DAT_FALSE;
  row("no name", [&] {
    expect(CALL(related.call, related.own, nullptr, &answer), returns(DAT_INVALID_PARAMETER));
  });
  row("no place for the answer", [&] {
    expect(CALL(related.call, related.own, name.data(), nullptr), returns(DAT_INVALID_PARAMETER));
  });
}

DAT_CASE(related_query_with_an_invalid_ia_is_refused, calls(ia_ha_related),
         rules("dat.ia-ha-related.invalid-handle"), with_hostile_handles) {
  const HaRelated related(*this);
  const LiveObjects live(ia());
  std::string own_name = target().ia;
  DAT_BOOLEAN answer = DAT_FALSE;
  for (const auto& [name, handle] : live.except(DAT_HANDLE_TYPE_IA))
    row(name, [&] {
      expect(CALL(related.call, handle, own_name.data(), &answer), returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASES_OF_FILE(ia)

}  // namespace suite::cases::dat
