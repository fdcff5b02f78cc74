// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A device of the verbs library, with a completion channel, and queues that bring events at will.
#pragma once

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>

#include <atomic>
#include <boost/test/unit_test.hpp>

namespace rnic::rdma_core {

inline ibv_context* open_rnic() {
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

}  // namespace rnic::rdma_core
