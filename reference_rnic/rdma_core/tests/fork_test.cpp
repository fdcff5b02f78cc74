// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the child of fork() has: an RNIC of its own, and objects of its parent's that it can neither
// use nor disturb.
#include <infiniband/verbs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <thread>

#include "reference_rnic/rdma_core/tests/connected_pair.hpp"
#include "reference_rnic/rdma_core/tests/rnic.hpp"

using namespace rnic::rdma_core;

namespace {

unsigned long failed_checks() {
  using namespace boost::unit_test;
  return results_collector.results(framework::current_test_case().p_id).p_assertions_failed;
}

/// Whether `works` does in a child, and no check of it fails there.
template <typename Works>
bool child_succeeds(const Works& works) {
  const pid_t child = fork();
  if (child == 0) {
    bool success = false;
    try {
      const unsigned long before = failed_checks();
      success = works() && failed_checks() == before;
    } catch (...) {  // of a check, which has said why
    }
    _exit(success ? 0 : 1);
  }
  int status = 0;
  BOOST_REQUIRE_EQUAL(waitpid(child, &status, 0), child);
  return status == 0;
}

bool gets_an_event(const Rnic& rnic, Queue& queue) {
  queue.raise();
  ++queue.acknowledged;
  return rnic.next() == queue.cq;
}

/// A connection request reaches the listener of the channel.
bool is_reached(const CmEvents& events, const rdma_cm_id* listener) {
  rdma_cm_id* caller = events.route_to(listener);
  Side side;
  side.prepare(caller->verbs);
  ibv_qp_init_attr_ex wanted = side.attributes();
  if (rdma_create_qp_ex(caller, &wanted) != 0) return false;
  rdma_conn_param parameters{};
  if (rdma_connect(caller, &parameters) != 0) return false;
  rdma_cm_id* request = events.next(RDMA_CM_EVENT_CONNECT_REQUEST);
  rdma_destroy_qp(caller);
  rdma_destroy_id(caller);
  if (request != nullptr) rdma_destroy_id(request);
  side.release();
  return request != nullptr;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(forks)

BOOST_AUTO_TEST_CASE(a_child_gets_an_rnic_of_its_own_whatever_other_threads_do) {
  const Rnic rnic;
  Queue queue(rnic.domain, rnic.channel);
  std::atomic<bool> ends = false;
  ibv_cq* got = nullptr;
  std::thread waiter([&] { got = rnic.next(); });
  std::thread busy([&] {
    for (ibv_wc completion{}; !ends;) static_cast<void>(ibv_poll_cq(queue.cq, 1, &completion));
  });
  for (int round = 0; round < 20; ++round)
    BOOST_TEST(child_succeeds([] {
      const Rnic own;
      Queue own_queue(own.domain, own.channel);
      return gets_an_event(own, own_queue);
    }));
  ends = true;
  busy.join();
  queue.raise();  // the parent's goes on
  waiter.join();
  BOOST_TEST(got == queue.cq);
  queue.acknowledged = 1;
}

// The child's objects are the first of its RNIC, as the parent's are of the parent's.
BOOST_AUTO_TEST_CASE(an_inherited_object_is_refused_and_stands_for_none_of_the_child) {
  const Rnic rnic;
  Queue queue(rnic.domain, rnic.channel);
  queue.raise();  // an event that the child must not take
  BOOST_TEST(child_succeeds([&] {
    const Rnic own;
    Queue own_queue(own.domain, own.channel);
    ibv_recv_wr receive{}, *bad_receive = nullptr;
    ibv_send_wr send{}, *bad_send = nullptr;
    ibv_wc completion{};
    send.opcode = IBV_WR_SEND;
    BOOST_TEST(ibv_post_recv(queue.qp, &receive, &bad_receive) != 0);
    BOOST_TEST(ibv_post_send(queue.qp, &send, &bad_send) != 0);
    BOOST_TEST(ibv_poll_cq(queue.cq, 1, &completion) < 0);
    BOOST_TEST(ibv_destroy_qp(queue.qp) != 0);
    BOOST_TEST(ibv_destroy_cq(queue.cq) != 0);
    BOOST_TEST(ibv_dealloc_pd(rnic.domain) != 0);
    BOOST_TEST(rnic.next() == nullptr);
    BOOST_TEST(errno == ENODEV);
    ibv_async_event event{};
    BOOST_TEST(ibv_get_async_event(rnic.context, &event) != 0);
    return gets_an_event(own, own_queue);
  }));
  BOOST_TEST(rnic.next() == queue.cq);
  queue.acknowledged = 1;
  BOOST_TEST(gets_an_event(rnic, queue));
}

BOOST_AUTO_TEST_CASE(a_child_that_closes_what_it_inherits_goes_on_listening_as_does_its_parent) {
  const CmEvents events;
  rdma_cm_id* listener = events.listen();
  BOOST_TEST(child_succeeds([&] {
    const CmEvents own;
    const rdma_cm_id* own_listener = own.listen();
    BOOST_TEST(close(events.channel()->fd) == 0);
    return is_reached(own, own_listener);
  }));
  BOOST_TEST(is_reached(events, listener));
  BOOST_TEST(rdma_destroy_id(listener) == 0);
}

BOOST_AUTO_TEST_CASE(a_child_gets_no_identifier_on_an_inherited_channel) {
  const CmEvents events;
  rdma_cm_id* listener = events.listen();
  BOOST_TEST(child_succeeds([&] {
    rdma_cm_id* id = nullptr;
    const bool made = rdma_create_id(events.channel(), &id, nullptr, RDMA_PS_TCP) == 0;
    return !made && errno == ENODEV;
  }));
  BOOST_TEST(is_reached(events, listener));
  BOOST_TEST(rdma_destroy_id(listener) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
