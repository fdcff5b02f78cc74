// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// ibv_resize_cq(3): "cqe must be at least the number of unpolled entries in the CQ".
#include <array>
#include <boost/test/unit_test.hpp>

#include "reference_rnic/rdma_core/tests/rnic.hpp"

using namespace rnic::rdma_core;

namespace {

/// So many completions wait in the queue, none of which has an event.
void complete(const Queue& queue, int count) {
  for (int i = 0; i < count; ++i) {
    ibv_recv_wr request{}, *bad = nullptr;
    BOOST_REQUIRE_EQUAL(ibv_post_recv(queue.qp, &request, &bad), 0);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(completion_queues)

BOOST_AUTO_TEST_CASE(queue_is_resized_down_to_what_waits_in_it) {
  constexpr int waiting = 5;
  const Rnic rnic;
  const Queue queue(rnic.domain, rnic.channel);
  complete(queue, waiting);
  BOOST_TEST(ibv_resize_cq(queue.cq, waiting - 1) == EINVAL);
  BOOST_TEST(ibv_resize_cq(queue.cq, waiting) == 0);
  BOOST_TEST(queue.cq->cqe == waiting);
  std::array<ibv_wc, waiting + 1> done{};
  BOOST_TEST(ibv_poll_cq(queue.cq, static_cast<int>(done.size()), done.data()) == waiting);
  BOOST_TEST(ibv_resize_cq(queue.cq, 1) == 0);
  complete(queue, 1);
  BOOST_TEST(ibv_poll_cq(queue.cq, static_cast<int>(done.size()), done.data()) == 1);
}

BOOST_AUTO_TEST_SUITE_END()
