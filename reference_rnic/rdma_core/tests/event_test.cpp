// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Events of completion queues, as programs take them: in a call that waits, in several, through the
// descriptor. The verbs library comes before libibverbs, as if it were preloaded.
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <thread>
#include <vector>

namespace {

/// For what must come; reached only if it does not.
constexpr int patience = 20'000;

ibv_context* open_rnic() {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  ibv_context* opened = nullptr;
  for (int i = 0; i < count && opened == nullptr; ++i)
    if (list[i]->transport_type == IBV_TRANSPORT_IWARP) opened = ibv_open_device(list[i]);
  ibv_free_device_list(list);
  return opened;
}

/// A completion queue on the channel. Each receive that is posted completes at once: the queue pair
/// is in state ERR.
struct Queue {
  Queue(ibv_pd* domain, ibv_comp_channel* channel)
      : cq(ibv_create_cq(domain->context, 4096, nullptr, channel, 0)) {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = cq;
    wanted.qp_type = IBV_QPT_RC;
    wanted.cap.max_recv_wr = 4096;
    wanted.cap.max_send_wr = wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
    qp = ibv_create_qp(domain, &wanted);
    BOOST_REQUIRE(qp != nullptr);
    ibv_qp_attr error{};
    error.qp_state = IBV_QPS_ERR;
    BOOST_REQUIRE_EQUAL(ibv_modify_qp(qp, &error, IBV_QP_STATE), 0);
  }
  ~Queue() {
    if (qp == nullptr) return;
    ibv_ack_cq_events(cq, acknowledged);
    BOOST_TEST(ibv_destroy_qp(qp) == 0);
    BOOST_TEST(ibv_destroy_cq(cq) == 0);
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// An event on the channel.
  void raise() {
    BOOST_REQUIRE_EQUAL(ibv_req_notify_cq(cq, 0), 0);
    ibv_recv_wr request{}, *bad = nullptr;
    BOOST_REQUIRE_EQUAL(ibv_post_recv(qp, &request, &bad), 0);
  }

  ibv_cq* cq;
  ibv_qp* qp = nullptr;
  std::atomic<unsigned> acknowledged = 0;  ///< events that were taken
};

struct Rnic {
  Rnic() : context(open_rnic()) {
    BOOST_REQUIRE(context != nullptr);
    domain = ibv_alloc_pd(context);
    channel = ibv_create_comp_channel(context);
  }
  ~Rnic() {
    BOOST_TEST(ibv_destroy_comp_channel(channel) == 0);
    BOOST_TEST(ibv_dealloc_pd(domain) == 0);
    BOOST_TEST(ibv_close_device(context) == 0);
  }
  Rnic(const Rnic&) = delete;
  Rnic& operator=(const Rnic&) = delete;

  /// The queue of the next event; null: errno says why there is none.
  [[nodiscard]] ibv_cq* next() const {
    ibv_cq* cq = nullptr;
    void* with = nullptr;
    return ibv_get_cq_event(channel, &cq, &with) == 0 ? cq : nullptr;
  }
  [[nodiscard]] bool readable(int milliseconds) const {
    pollfd watched{channel->fd, POLLIN, 0};
    return ::poll(&watched, 1, milliseconds) == 1;
  }
  void block(bool on) const {
    BOOST_REQUIRE(fcntl(channel->fd, F_SETFL, on ? 0 : O_NONBLOCK) == 0);
  }

  ibv_context* context;
  ibv_pd* domain{};
  ibv_comp_channel* channel{};
};

/// Whether a process can use an RNIC, from the device on.
bool gets_an_event() {
  try {
    const Rnic rnic;
    Queue queue(rnic.domain, rnic.channel);
    queue.raise();
    queue.acknowledged = 1;
    return rnic.next() == queue.cq;
  } catch (...) {  // of a check, which has said why
    return false;
  }
}

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

BOOST_AUTO_TEST_CASE(a_child_gets_an_rnic_of_its_own_whatever_other_threads_do) {
  const Rnic rnic;
  Queue queue(rnic.domain, rnic.channel);
  std::atomic<bool> ends = false;
  ibv_cq* got = nullptr;
  std::thread waiter([&] { got = rnic.next(); });
  std::thread busy([&] {
    for (ibv_wc completion{}; !ends;) static_cast<void>(ibv_poll_cq(queue.cq, 1, &completion));
  });
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(gets_an_event() ? 0 : 1);
    int status = 0;
    BOOST_REQUIRE_EQUAL(waitpid(child, &status, 0), child);
    BOOST_TEST(status == 0);
  }
  ends = true;
  busy.join();
  queue.raise();  // the parent's goes on
  waiter.join();
  BOOST_TEST(got == queue.cq);
  queue.acknowledged = 1;
}

BOOST_AUTO_TEST_SUITE_END()
