// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// ibv_create_qp(3), ibv_modify_qp(3) and ibv_destroy_qp(3) on queue pairs that are connected: what
// they are asked to be, and what becomes of it.
#include <array>
#include <boost/test/unit_test.hpp>
#include <limits>

#include "reference_rnic/rdma_core/tests/connected_pair.hpp"

using namespace rnic::rdma_core;

namespace {

int post(const Side& side, ibv_send_wr request) {
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(side.queue_pair, &request, &bad);
}

ibv_send_wr request(std::uint64_t wr_id, ibv_wr_opcode opcode, unsigned flags = 0) {
  ibv_send_wr wanted{};
  wanted.wr_id = wr_id;
  wanted.opcode = opcode;
  wanted.send_flags = flags;
  return wanted;
}

/// A Read of the peer's first eight octets.
ibv_wc_status read_from(ConnectedPair& pair) {
  ibv_sge sink{.addr = pair.active.address(64), .length = 8, .lkey = pair.active.region->lkey};
  ibv_send_wr read = request(1, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED);
  read.sg_list = &sink;
  read.num_sge = 1;
  read.wr.rdma.remote_addr = pair.passive.address(0);
  read.wr.rdma.rkey = pair.passive.region->rkey;
  BOOST_REQUIRE_EQUAL(post(pair.active, read), 0);
  return pair.active.next().status;
}

void let_peer(const Side& side, unsigned access) {
  ibv_qp_attr attributes{};
  attributes.qp_access_flags = access;
  BOOST_REQUIRE_EQUAL(ibv_modify_qp(side.queue_pair, &attributes, IBV_QP_ACCESS_FLAGS), 0);
  ibv_qp_init_attr made{};
  BOOST_REQUIRE_EQUAL(ibv_query_qp(side.queue_pair, &attributes, IBV_QP_ACCESS_FLAGS, &made), 0);
  BOOST_TEST(attributes.qp_access_flags == access);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(queue_pairs)

BOOST_AUTO_TEST_CASE(each_request_completes_where_all_are_signaled) {
  ConnectedPair pair([](const Side&, ibv_qp_init_attr_ex& asked) { asked.sq_sig_all = 1; });
  ibv_mw* window = ibv_alloc_mw(pair.active.domain, IBV_MW_TYPE_2);
  BOOST_REQUIRE(window != nullptr);
  ibv_send_wr bind = request(1, IBV_WR_BIND_MW);
  bind.bind_mw = {.mw = window,
                  .rkey = ibv_inc_rkey(window->rkey),
                  .bind_info = {.mr = pair.active.region,
                                .addr = pair.active.address(0),
                                .length = 64,
                                .mw_access_flags = IBV_ACCESS_REMOTE_READ}};
  ibv_send_wr invalidation = request(2, IBV_WR_LOCAL_INV);
  invalidation.invalidate_rkey = bind.bind_mw.rkey;
  pair.passive.post_receive(9, 0, 8);
  for (const ibv_send_wr& each : {bind, invalidation, request(3, IBV_WR_SEND)}) {
    BOOST_REQUIRE_EQUAL(post(pair.active, each), 0);
    const Read done = pair.active.next();
    BOOST_TEST(done.wr_id == each.wr_id);
    BOOST_TEST(done.status == IBV_WC_SUCCESS);
  }
  BOOST_TEST(ibv_dealloc_mw(window) == 0);
}

BOOST_AUTO_TEST_CASE(access_of_a_connected_queue_pair_is_changed) {
  ConnectedPair pair;
  BOOST_TEST(read_from(pair) == IBV_WC_SUCCESS);
  let_peer(pair.passive, IBV_ACCESS_REMOTE_READ);
  BOOST_TEST(read_from(pair) == IBV_WC_SUCCESS);
  let_peer(pair.passive, IBV_ACCESS_REMOTE_WRITE);
  let_peer(pair.passive, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
  BOOST_TEST(read_from(pair) == IBV_WC_SUCCESS);
  let_peer(pair.passive, IBV_ACCESS_REMOTE_WRITE);
  BOOST_TEST(read_from(pair) != IBV_WC_SUCCESS);
}

BOOST_AUTO_TEST_CASE(own_receives_are_ignored_with_a_shared_queue) {
  ibv_srq* shared = nullptr;
  for (const std::uint32_t own : {0U, 1U, std::numeric_limits<std::uint32_t>::max()}) {
    ConnectedPair pair({}, [&](const Side& side, ibv_qp_init_attr_ex& asked) {
      ibv_srq_init_attr wanted{};
      wanted.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
      asked.srq = shared = ibv_create_srq(side.domain, &wanted);
      BOOST_REQUIRE(shared != nullptr);
      asked.cap.max_recv_wr = asked.cap.max_recv_sge = own;
    });
    ibv_sge piece{.addr = pair.passive.address(0), .length = 8, .lkey = pair.passive.region->lkey};
    ibv_recv_wr receive{.wr_id = 5, .next = nullptr, .sg_list = &piece, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    BOOST_REQUIRE_EQUAL(ibv_post_srq_recv(shared, &receive, &bad), 0);
    BOOST_REQUIRE_EQUAL(post(pair.active, request(3, IBV_WR_SEND)), 0);
    const Read done = pair.passive.next();
    BOOST_TEST(done.wr_id == 5U);
    BOOST_TEST(done.status == IBV_WC_SUCCESS);
    pair.destroy_queue_pairs();
    BOOST_TEST(ibv_destroy_srq(shared) == 0);
  }
}

BOOST_AUTO_TEST_CASE(each_queue_reports_to_its_own_completion_queue) {
  ibv_cq* received = nullptr;
  ConnectedPair pair({}, [&](const Side& side, ibv_qp_init_attr_ex& asked) {
    received = ibv_create_cq(side.domain->context, 4, nullptr, nullptr, 0);
    BOOST_REQUIRE(received != nullptr);
    asked.recv_cq = received;
  });
  pair.passive.post_receive(5, 0, 8);
  pair.active.post_receive(6, 0, 8);
  BOOST_REQUIRE_EQUAL(post(pair.active, request(3, IBV_WR_SEND, IBV_SEND_SIGNALED)), 0);
  BOOST_TEST(pair.active.next().wr_id == 3U);
  ibv_wc done{};
  while (ibv_poll_cq(received, 1, &done) == 0) continue;
  BOOST_TEST(done.wr_id == 5U);
  BOOST_REQUIRE_EQUAL(post(pair.passive, request(4, IBV_WR_SEND, IBV_SEND_SIGNALED)), 0);
  BOOST_TEST(pair.passive.next().wr_id == 4U);
  BOOST_TEST(ibv_poll_cq(received, 1, &done) == 0);
  pair.destroy_queue_pairs();
  BOOST_TEST(ibv_destroy_cq(received) == 0);
}

/// Of a domain that several streams use, no peer may invalidate the STags (RFC 5040 section 8.1.1).
BOOST_AUTO_TEST_CASE(queue_pair_that_was_destroyed_uses_its_domain_no_more) {
  ConnectedPair pair;
  pair.replace();
  pair.passive.post_receive(5, 0, 8);
  ibv_send_wr send = request(3, IBV_WR_SEND_WITH_INV, IBV_SEND_SIGNALED);
  send.invalidate_rkey = pair.passive.region->rkey;
  BOOST_REQUIRE_EQUAL(post(pair.active, send), 0);
  const Read done = pair.passive.next();
  BOOST_TEST(done.status == IBV_WC_SUCCESS);
  BOOST_TEST(done.with == pair.passive.region->rkey);
}

BOOST_AUTO_TEST_SUITE_END()
