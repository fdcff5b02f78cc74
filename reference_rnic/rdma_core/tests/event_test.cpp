// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Events of completion queues, as programs take them: in a call that waits, in several, through the
// descriptor. The verbs library comes before libibverbs, as if it were preloaded.
#include <infiniband/verbs.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <thread>
#include <vector>

#include "reference_rnic/rdma_core/tests/rnic.hpp"

using namespace rnic::rdma_core;

namespace {

/// For what must come; reached only if it does not.
constexpr int patience = 20'000;

}  // namespace

BOOST_AUTO_TEST_SUITE(events)

BOOST_AUTO_TEST_CASE(a_call_that_waits_gets_the_event) {
  const Rnic rnic;
  Queue queue(rnic.domain, rnic.channel);
  for (int round = 0; round < 300; ++round) {
    ibv_cq* got = nullptr;
    std::thread waiter([&] { got = rnic.next(); });
    queue.raise();
    waiter.join();
    BOOST_REQUIRE(got == queue.cq);
    ++queue.acknowledged;
  }
  BOOST_TEST(!rnic.readable(0));
}

BOOST_AUTO_TEST_CASE(calls_that_wait_together_get_one_event_each) {
  const Rnic rnic;
  Queue first(rnic.domain, rnic.channel), second(rnic.domain, rnic.channel);
  for (int round = 0; round < 200; ++round) {
    std::array<ibv_cq*, 2> got{};
    std::thread one([&] { got[0] = rnic.next(); }), other([&] { got[1] = rnic.next(); });
    first.raise();
    second.raise();
    one.join();
    other.join();
    BOOST_REQUIRE(((got[0] == first.cq && got[1] == second.cq) ||
                   (got[1] == first.cq && got[0] == second.cq)));
    ++first.acknowledged;
    ++second.acknowledged;
  }
  BOOST_TEST(!rnic.readable(0));
}

BOOST_AUTO_TEST_CASE(a_program_may_wait_for_the_descriptor_after_it_has_waited_in_the_call) {
  const Rnic rnic;
  Queue queue(rnic.domain, rnic.channel);
  ibv_cq* got = nullptr;
  std::thread waiter([&] { got = rnic.next(); });
  queue.raise();
  waiter.join();
  BOOST_TEST(got == queue.cq);
  queue.raise();
  BOOST_TEST(rnic.readable(patience));
  rnic.block(false);
  BOOST_TEST(rnic.next() == queue.cq);
  BOOST_TEST(rnic.next() == nullptr);
  BOOST_TEST(errno == EAGAIN);
  queue.acknowledged = 2;
}

BOOST_AUTO_TEST_CASE(an_event_is_not_lost_with_a_call_that_is_cancelled) {
  const Rnic rnic;
  Queue queue(rnic.domain, rnic.channel);
  for (int round = 0; round < 200; ++round) {
    rnic.block(true);
    std::atomic<bool> got = false;
    std::thread waiter([&] {
      pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
      const bool came = rnic.next() != nullptr;
      pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
      got = came;
    });
    if (round % 2 == 0) queue.raise();
    pthread_cancel(waiter.native_handle());
    if (round % 2 == 1) queue.raise();
    waiter.join();
    rnic.block(false);
    if (!got) {
      BOOST_REQUIRE(rnic.readable(patience));
      BOOST_REQUIRE(rnic.next() == queue.cq);
    }
    ++queue.acknowledged;
    BOOST_REQUIRE(rnic.next() == nullptr);
  }
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_wait_if_its_handler_says_so) {
  const Rnic rnic;
  Queue queue(rnic.domain, rnic.channel);
  struct sigaction handled{}, before{};
  handled.sa_handler = [](int) {};
  BOOST_REQUIRE(sigaction(SIGUSR1, &handled, &before) == 0);
  std::atomic<bool> ended = false;
  int error = 0;
  std::thread waiter([&] {
    error = rnic.next() == nullptr ? errno : 0;
    ended = true;
  });
  // Again and again, since a signal that comes before the thread waits ends no wait.
  for (; !ended; std::this_thread::yield()) pthread_kill(waiter.native_handle(), SIGUSR1);
  waiter.join();
  BOOST_TEST(error == EINTR);
  handled.sa_flags = SA_RESTART;
  BOOST_REQUIRE(sigaction(SIGUSR1, &handled, nullptr) == 0);
  ibv_cq* got = nullptr;
  std::thread patient([&] { got = rnic.next(); });
  for (int i = 0; i < 100; ++i) pthread_kill(patient.native_handle(), SIGUSR1);
  queue.raise();
  patient.join();
  BOOST_TEST(got == queue.cq);
  queue.acknowledged = 1;
  sigaction(SIGUSR1, &before, nullptr);
}

BOOST_AUTO_TEST_CASE(the_events_of_a_destroyed_queue_are_gone) {
  const Rnic rnic;
  Queue stays(rnic.domain, rnic.channel);
  {
    Queue goes(rnic.domain, rnic.channel);
    goes.raise();
    BOOST_TEST(rnic.readable(patience));
  }
  BOOST_TEST(!rnic.readable(0));
  stays.raise();
  BOOST_TEST(rnic.next() == stays.cq);
  stays.acknowledged = 1;
}

BOOST_AUTO_TEST_SUITE_END()
