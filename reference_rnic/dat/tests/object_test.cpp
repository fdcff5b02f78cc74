// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// IAs, handles, EVDs and CNOs: opened, queried, misused, freed.
#include <poll.h>
#include <pthread.h>

#include <future>
#include <thread>

#include "reference_rnic/dat/tests/two_endpoints.hpp"

namespace rnic::dat::tests {

BOOST_AUTO_TEST_SUITE(objects)

BOOST_AUTO_TEST_CASE(an_ia_opens_by_both_lines_of_dat_conf) {
  for (const DAT_BOOLEAN safe : {DAT_FALSE, DAT_TRUE}) {
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    CHECK_DAT(dat_ia_openv(ia_name, 8, &async, &ia, 2, 0, safe));
    DAT_EVD_HANDLE queried = DAT_HANDLE_NULL;
    DAT_IA_ATTR attr{};
    DAT_PROVIDER_ATTR provider{};
    CHECK_DAT(
        dat_ia_query(ia, &queried, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_ALL, &provider));
    BOOST_CHECK_EQUAL(queried, async);
    BOOST_CHECK_EQUAL(std::string(attr.adapter_name), ia_name);
    BOOST_CHECK(attr.extension_supported == DAT_EXTENSION_IW);
    BOOST_CHECK_EQUAL(attr.ia_address_ptr->sa_family, AF_INET);
    BOOST_CHECK(provider.is_thread_safe == safe);
    BOOST_CHECK_EQUAL(provider.dapl_version_major, 2U);
    CHECK_DAT(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
  }
}

BOOST_AUTO_TEST_CASE(an_ia_may_be_open_several_times_and_under_several_names) {
  char other_name[] = "rnic1";  // its address is found by its interface
  OpenIa first, second;
  OpenIa other(other_name);
  BOOST_CHECK(first.ia != second.ia);
  // The objects of one IA are not accepted by the other.
  DAT_SRQ_ATTR attr{.max_recv_dtos = 4, .max_recv_iov = 1, .low_watermark = 0};
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  CHECK_TYPE(dat_srq_create(first.ia, second.pz, &attr, &srq), DAT_INVALID_HANDLE);
}

BOOST_AUTO_TEST_CASE(a_line_without_an_address_registers_nothing) {
  char bad_name[] = "bad0";
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  CHECK_TYPE(dat_ia_open(bad_name, 8, &async, &ia), DAT_PROVIDER_NOT_FOUND);
}

BOOST_AUTO_TEST_CASE(a_graceful_close_wants_nothing_left) {
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  CHECK_DAT(dat_ia_open(ia_name, 8, &async, &ia));
  CHECK_DAT(dat_pz_create(ia, &pz));
  CHECK_TYPE(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE);
  CHECK_DAT(dat_pz_free(pz));
  CHECK_DAT(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
  CHECK_TYPE(dat_pz_free(pz), DAT_INVALID_HANDLE);
}

BOOST_AUTO_TEST_CASE(freed_and_foreign_handles_are_invalid) {
  OpenIa opened;
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  CHECK_DAT(dat_pz_create(opened.ia, &pz));
  CHECK_DAT(dat_pz_free(pz));
  CHECK_TYPE(dat_pz_free(pz), DAT_INVALID_HANDLE);
  DAT_PZ_PARAM param{};
  CHECK_TYPE(dat_pz_query(pz, DAT_PZ_FIELD_ALL, &param), DAT_INVALID_HANDLE);
  const DAT_EVD_HANDLE evd = opened.make_evd(DAT_EVD_DTO_FLAG);
  CHECK_TYPE(dat_pz_free(evd), DAT_INVALID_HANDLE);
  CHECK_TYPE(dat_evd_free(opened.pz), DAT_INVALID_HANDLE);
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  CHECK_TYPE(dat_ep_create(opened.ia, pz, evd, evd, evd, nullptr, &ep), DAT_INVALID_HANDLE);
  int anything = 0;
  CHECK_TYPE(dat_ep_create(opened.ia, &anything, evd, evd, evd, nullptr, &ep), DAT_INVALID_HANDLE);
}

BOOST_AUTO_TEST_CASE(queries_name_the_consumers_ia_handle) {
  OpenIa opened;
  DAT_PZ_PARAM param{};
  CHECK_DAT(dat_pz_query(opened.pz, DAT_PZ_FIELD_ALL, &param));
  BOOST_CHECK_EQUAL(param.ia_handle, opened.ia);
  CHECK_TYPE(dat_pz_query(opened.pz, DAT_PZ_FIELD_ALL, nullptr), DAT_INVALID_PARAMETER);
  DAT_HANDLE_TYPE type{};
  CHECK_DAT(dat_get_handle_type(opened.pz, &type));
  BOOST_CHECK(type == DAT_HANDLE_TYPE_PZ);
  CHECK_DAT(dat_get_handle_type(opened.ia, &type));
  BOOST_CHECK(type == DAT_HANDLE_TYPE_IA);
  CHECK_DAT(dat_set_consumer_context(opened.ia, cookie(42)));
  DAT_CONTEXT context{};
  CHECK_DAT(dat_get_consumer_context(opened.ia, &context));
  BOOST_CHECK_EQUAL(context.as_64, 42U);
}

DAT_EVENT software_event(int* pointer) {
  DAT_EVENT event{};
  event.event_number = DAT_SOFTWARE_EVENT;
  event.event_data.software_event_data.pointer = pointer;
  return event;
}

BOOST_AUTO_TEST_CASE(an_evd_keeps_events_in_order_and_knows_its_length) {
  OpenIa opened;
  const DAT_EVD_HANDLE evd = opened.make_evd(DAT_EVD_SOFTWARE_FLAG, 2);
  std::array<int, 3> things{};
  DAT_EVENT event{};
  CHECK_TYPE(dat_evd_dequeue(evd, &event), DAT_QUEUE_EMPTY);
  for (int i : {0, 1}) {
    event = software_event(&things[static_cast<std::size_t>(i)]);
    CHECK_DAT(dat_evd_post_se(evd, &event));
  }
  event = software_event(&things[2]);
  CHECK_TYPE(dat_evd_post_se(evd, &event), DAT_QUEUE_FULL);
  CHECK_TYPE(dat_evd_resize(evd, 1), DAT_INVALID_STATE);
  CHECK_DAT(dat_evd_resize(evd, 3));
  CHECK_DAT(dat_evd_post_se(evd, &event));
  for (int& thing : things)
    BOOST_CHECK_EQUAL(wait_for(evd, DAT_SOFTWARE_EVENT).event_data.software_event_data.pointer,
                      &thing);
  DAT_COUNT more = 0;
  CHECK_TYPE(dat_evd_wait(evd, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
  CHECK_TYPE(dat_evd_wait(evd, 1000, 4, &event, &more), DAT_INVALID_PARAMETER);
  CHECK_TYPE(dat_evd_wait(evd, 1000, 0, &event, &more), DAT_INVALID_PARAMETER);
}

BOOST_AUTO_TEST_CASE(an_unwaitable_evd_sends_its_waiter_away) {
  OpenIa opened;
  const DAT_EVD_HANDLE evd = opened.make_evd(DAT_EVD_SOFTWARE_FLAG);
  std::promise<void> started;
  auto waiter = std::async(std::launch::async, [&] {
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    started.set_value();
    return dat_evd_wait(evd, patience, 1, &event, &more);
  });
  started.get_future().wait();
  // The waiter is refused, whether it is blocked already or not.
  CHECK_DAT(dat_evd_set_unwaitable(evd));
  CHECK_TYPE(waiter.get(), DAT_INVALID_STATE);
  DAT_EVD_PARAM param{};
  CHECK_DAT(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
  BOOST_CHECK(param.evd_state & DAT_EVD_STATE_UNWAITABLE);
  CHECK_DAT(dat_evd_clear_unwaitable(evd));
  int thing = 0;
  const DAT_EVENT event = software_event(&thing);
  CHECK_DAT(dat_evd_post_se(evd, &event));
  wait_for(evd, DAT_SOFTWARE_EVENT);
}

BOOST_AUTO_TEST_CASE(an_abrupt_close_aborts_a_waiter) {
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  CHECK_DAT(dat_ia_open(ia_name, 8, &async, &ia));
  auto waiter = std::async(std::launch::async, [&] {
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    return dat_evd_wait(async, patience, 1, &event, &more);
  });
  // The waiter blocks: then a second one is refused.
  DAT_EVENT event{};
  while (DAT_GET_TYPE(dat_evd_dequeue(async, &event)) != DAT_INVALID_STATE)
    std::this_thread::yield();
  CHECK_DAT(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
  CHECK_TYPE(waiter.get(), DAT_ABORT);
}

BOOST_AUTO_TEST_CASE(a_cancelled_thread_still_ends_its_call) {
  struct Cancelled {
    OpenIa opened;
    DAT_EVD_HANDLE evd = opened.make_evd(DAT_EVD_SOFTWARE_FLAG);
    bool call_ended = false;
  } shared;
  pthread_t thread{};
  BOOST_REQUIRE_EQUAL(pthread_create(
                          &thread, nullptr,
                          [](void* argument) -> void* {
                            auto& mine = *static_cast<Cancelled*>(argument);
                            DAT_EVENT event{};
                            DAT_COUNT more = 0;
                            mine.call_ended =
                                dat_evd_wait(mine.evd, patience, 1, &event, &more) == DAT_SUCCESS;
                            pthread_testcancel();
                            return nullptr;
                          },
                          &shared),
                      0);
  DAT_EVENT event{};
  while (DAT_GET_TYPE(dat_evd_dequeue(shared.evd, &event)) != DAT_INVALID_STATE)
    std::this_thread::yield();
  BOOST_REQUIRE_EQUAL(pthread_cancel(thread), 0);
  int thing = 0;
  event = software_event(&thing);
  CHECK_DAT(dat_evd_post_se(shared.evd, &event));
  void* end = nullptr;
  BOOST_REQUIRE_EQUAL(pthread_join(thread, &end), 0);
  BOOST_CHECK(end == PTHREAD_CANCELED);
  BOOST_CHECK(shared.call_ended);
}

BOOST_AUTO_TEST_CASE(a_cno_names_the_evd_that_triggered_it) {
  OpenIa opened;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  CHECK_DAT(dat_cno_create(opened.ia, DAT_OS_WAIT_PROXY_AGENT{}, &cno));
  const DAT_EVD_HANDLE evd = opened.make_evd(DAT_EVD_SOFTWARE_FLAG, 8, cno);
  CHECK_TYPE(dat_cno_free(cno), DAT_INVALID_STATE);
  DAT_EVD_HANDLE woken = evd;
  CHECK_TYPE(dat_cno_wait(cno, 1000, &woken), DAT_QUEUE_EMPTY);
  BOOST_CHECK_EQUAL(woken, DAT_HANDLE_NULL);
  int thing = 0;
  const DAT_EVENT event = software_event(&thing);
  CHECK_DAT(dat_evd_disable(evd));
  CHECK_DAT(dat_evd_post_se(evd, &event));
  CHECK_TYPE(dat_cno_wait(cno, 1000, &woken), DAT_QUEUE_EMPTY);
  CHECK_DAT(dat_evd_enable(evd));
  CHECK_DAT(dat_evd_post_se(evd, &event));
  CHECK_DAT(dat_cno_wait(cno, patience, &woken));
  BOOST_CHECK_EQUAL(woken, evd);
  CHECK_DAT(dat_evd_modify_cno(evd, DAT_HANDLE_NULL));
  CHECK_DAT(dat_cno_free(cno));
}

BOOST_AUTO_TEST_CASE(a_proxy_agent_is_called_once) {
  OpenIa opened;
  std::promise<DAT_EVD_HANDLE> told;
  const DAT_OS_WAIT_PROXY_AGENT agent{
      &told, [](DAT_PVOID instance, DAT_EVD_HANDLE evd) {
        static_cast<std::promise<DAT_EVD_HANDLE>*>(instance)->set_value(evd);
      }};
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  CHECK_DAT(dat_cno_create(opened.ia, agent, &cno));
  const DAT_EVD_HANDLE evd = opened.make_evd(DAT_EVD_SOFTWARE_FLAG, 8, cno);
  int thing = 0;
  const DAT_EVENT event = software_event(&thing);
  for (int i = 0; i < 2; ++i) CHECK_DAT(dat_evd_post_se(evd, &event));  // twice would throw
  auto future = told.get_future();
  BOOST_REQUIRE(future.wait_for(std::chrono::seconds(10)) == std::future_status::ready);
  BOOST_CHECK_EQUAL(future.get(), evd);
}

BOOST_AUTO_TEST_CASE(the_descriptor_of_a_cno_tells_of_triggers) {
  OpenIa opened;
  DAT_IA_HANDLE raw = DAT_HANDLE_NULL;
  CHECK_DAT(dats_get_ia_handle(opened.ia, &raw));
  DAT_FD fd = -1;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  CHECK_DAT(DAT_CNO_FD_CREATE(raw, &fd, &cno));
  const DAT_EVD_HANDLE evd = opened.make_evd(DAT_EVD_SOFTWARE_FLAG, 8, cno);
  pollfd watched{fd, POLLIN, 0};
  BOOST_CHECK_EQUAL(poll(&watched, 1, 0), 0);
  int thing = 0;
  const DAT_EVENT event = software_event(&thing);
  CHECK_DAT(dat_evd_post_se(evd, &event));
  BOOST_CHECK_EQUAL(poll(&watched, 1, 10'000), 1);
  DAT_EVD_HANDLE woken = DAT_HANDLE_NULL;
  CHECK_DAT(DAT_CNO_TRIGGER(cno, &woken));
  BOOST_CHECK_EQUAL(woken, evd);
  BOOST_CHECK_EQUAL(poll(&watched, 1, 0), 0);
  CHECK_TYPE(DAT_CNO_TRIGGER(cno, &woken), DAT_QUEUE_EMPTY);
}

BOOST_AUTO_TEST_CASE(what_is_in_use_cannot_be_freed) {
  OpenIa opened;
  Side side(opened);
  CHECK_TYPE(dat_pz_free(opened.pz), DAT_INVALID_STATE);
  CHECK_TYPE(dat_evd_free(side.recv), DAT_INVALID_STATE);
  CHECK_TYPE(dat_evd_free(opened.async_evd), DAT_INVALID_STATE);
  CHECK_DAT(dat_ep_free(side.ep));
  CHECK_DAT(dat_evd_free(side.recv));
  CHECK_TYPE(dat_ep_free(side.ep), DAT_INVALID_HANDLE);
}

BOOST_AUTO_TEST_CASE(one_name_of_an_adapter_is_related_to_another) {
  OpenIa opened;
  DAT_IA_HANDLE raw = DAT_HANDLE_NULL;
  CHECK_DAT(dats_get_ia_handle(opened.ia, &raw));
  DAT_BOOLEAN answer = DAT_FALSE;
  CHECK_DAT((*DAT_HANDLE_TO_PROVIDER(raw)->ia_ha_related_func)(raw, ia_name, &answer));
  BOOST_CHECK(answer == DAT_TRUE);
  char unknown[] = "nothing0";
  CHECK_DAT((*DAT_HANDLE_TO_PROVIDER(raw)->ia_ha_related_func)(raw, unknown, &answer));
  BOOST_CHECK(answer == DAT_FALSE);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace rnic::dat::tests
