// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/rdma_core/tests/connected_pair.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <chrono>
#include <utility>

namespace rnic::rdma_core {

namespace {

using namespace std::chrono_literals;

/// For what must come; reached only if it does not.
constexpr auto patience = 20s;

sockaddr_in loopback(std::uint16_t port_in_net_order) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = port_in_net_order;
  return address;
}

}  // namespace

CmEvents::CmEvents() : channel_(rdma_create_event_channel()) { BOOST_REQUIRE(channel_ != nullptr); }
CmEvents::~CmEvents() { rdma_destroy_event_channel(channel_); }

rdma_cm_id* CmEvents::make_id() const {
  rdma_cm_id* id = nullptr;
  BOOST_REQUIRE_EQUAL(rdma_create_id(channel_, &id, nullptr, RDMA_PS_TCP), 0);
  return id;
}

rdma_cm_id* CmEvents::listen() const {
  rdma_cm_id* id = make_id();
  sockaddr_in any_port = loopback(0);
  BOOST_REQUIRE_EQUAL(rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&any_port)), 0);
  BOOST_REQUIRE_EQUAL(rdma_listen(id, 1), 0);
  return id;
}

rdma_cm_id* CmEvents::route_to(const rdma_cm_id* listener) const {
  rdma_cm_id* id = make_id();
  sockaddr_in there = loopback(rdma_get_src_port(const_cast<rdma_cm_id*>(listener)));
  const int milliseconds = static_cast<int>(patience / 1ms);
  BOOST_REQUIRE_EQUAL(
      rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&there), milliseconds), 0);
  BOOST_REQUIRE(expect(RDMA_CM_EVENT_ADDR_RESOLVED) == id);
  BOOST_REQUIRE_EQUAL(rdma_resolve_route(id, milliseconds), 0);
  BOOST_REQUIRE(expect(RDMA_CM_EVENT_ROUTE_RESOLVED) == id);
  return id;
}

rdma_cm_id* CmEvents::next(rdma_cm_event_type type) const {
  pollfd watched{channel_->fd, POLLIN, 0};
  rdma_cm_event* event = nullptr;
  if (::poll(&watched, 1, static_cast<int>(patience / 1ms)) != 1) return nullptr;
  if (rdma_get_cm_event(channel_, &event) != 0) return nullptr;
  rdma_cm_id* id = event->event == type && event->status == 0 ? event->id : nullptr;
  rdma_ack_cm_event(event);
  return id;
}

rdma_cm_id* CmEvents::expect(rdma_cm_event_type type) const {
  rdma_cm_id* id = next(type);
  BOOST_REQUIRE_MESSAGE(id != nullptr, rdma_event_str(type));
  return id;
}

// ---- one side ----

void Side::prepare(ibv_context* context) {
  domain = ibv_alloc_pd(context);
  BOOST_REQUIRE(domain != nullptr);
  ibv_cq_init_attr_ex wanted{};
  wanted.cqe = 64;
  wanted.wc_flags = IBV_WC_STANDARD_FLAGS;
  completions = ibv_create_cq_ex(context, &wanted);
  BOOST_REQUIRE(completions != nullptr);
  region = ibv_reg_mr(domain, memory.data(), memory.size(),
                      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                          IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND);
  BOOST_REQUIRE(region != nullptr);
}

ibv_qp_init_attr_ex Side::attributes() const {
  ibv_qp_init_attr_ex wanted{};
  wanted.send_cq = wanted.recv_cq = ibv_cq_ex_to_cq(completions);
  wanted.cap = {.max_send_wr = 8,
                .max_recv_wr = 8,
                .max_send_sge = 2,
                .max_recv_sge = 2,
                .max_inline_data = 0};
  wanted.qp_type = IBV_QPT_RC;
  wanted.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  wanted.pd = domain;
  wanted.send_ops_flags = all_operations;
  return wanted;
}

void Side::release() const {
  BOOST_TEST(ibv_dereg_mr(region) == 0);
  BOOST_TEST(ibv_destroy_cq(ibv_cq_ex_to_cq(completions)) == 0);
  BOOST_TEST(ibv_dealloc_pd(domain) == 0);
}

void Side::post_receive(std::uint64_t wr_id, std::size_t offset, std::uint32_t length) {
  ibv_sge piece{.addr = address(offset), .length = length, .lkey = region->lkey};
  ibv_recv_wr request{.wr_id = wr_id, .next = nullptr, .sg_list = &piece, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  BOOST_REQUIRE_EQUAL(ibv_post_recv(queue_pair, &request, &bad), 0);
}

Read Side::next() const {
  ibv_poll_cq_attr nothing{};
  const auto latest = std::chrono::steady_clock::now() + patience;
  int error = ENOENT;
  while ((error = ibv_start_poll(completions, &nothing)) == ENOENT)
    BOOST_REQUIRE(std::chrono::steady_clock::now() < latest);
  BOOST_REQUIRE_EQUAL(error, 0);
  Read read{.wr_id = completions->wr_id,
            .status = completions->status,
            .opcode = ibv_wc_read_opcode(completions),
            .length = ibv_wc_read_byte_len(completions),
            .flags = ibv_wc_read_wc_flags(completions),
            .queue_pair = ibv_wc_read_qp_num(completions)};
  if ((read.flags & IBV_WC_WITH_IMM) != 0) read.with = ntohl(ibv_wc_read_imm_data(completions));
  if ((read.flags & IBV_WC_WITH_INV) != 0) read.with = ibv_wc_read_invalidated_rkey(completions);
  ibv_end_poll(completions);
  return read;
}

// ---- both ----

ConnectedPair::ConnectedPair(Ask ask_active, Ask ask_passive)
    : ask_active_(std::move(ask_active)),
      ask_passive_(std::move(ask_passive)),
      listener_(events_.listen()),
      active_id_(events_.route_to(listener_)) {
  active.prepare(active_id_->verbs);
  passive.prepare(active_id_->verbs);
  connect();
}

void ConnectedPair::connect() {
  ibv_qp_init_attr_ex wanted = active.attributes();
  if (ask_active_) ask_active_(active, wanted);
  BOOST_REQUIRE_EQUAL(rdma_create_qp_ex(active_id_, &wanted), 0);
  active.queue_pair = active_id_->qp;
  rdma_conn_param parameters{};
  parameters.responder_resources = parameters.initiator_depth = 4;
  BOOST_REQUIRE_EQUAL(rdma_connect(active_id_, &parameters), 0);
  passive_id_ = events_.expect(RDMA_CM_EVENT_CONNECT_REQUEST);
  wanted = passive.attributes();
  if (ask_passive_) ask_passive_(passive, wanted);
  BOOST_REQUIRE_EQUAL(rdma_create_qp_ex(passive_id_, &wanted), 0);
  passive.queue_pair = passive_id_->qp;
  BOOST_REQUIRE_EQUAL(rdma_accept(passive_id_, &parameters), 0);
  const rdma_cm_id* first = events_.expect(RDMA_CM_EVENT_ESTABLISHED);
  const rdma_cm_id* second = events_.expect(RDMA_CM_EVENT_ESTABLISHED);
  BOOST_REQUIRE(first != second);
}

void ConnectedPair::destroy_queue_pairs() {
  for (rdma_cm_id** id : {&passive_id_, &active_id_}) {
    if (*id == nullptr) continue;
    rdma_destroy_qp(*id);
    BOOST_TEST(rdma_destroy_id(std::exchange(*id, nullptr)) == 0);
  }
}

void ConnectedPair::replace() {
  destroy_queue_pairs();
  active_id_ = events_.route_to(listener_);
  connect();
}

ConnectedPair::~ConnectedPair() {
  destroy_queue_pairs();
  BOOST_TEST(rdma_destroy_id(listener_) == 0);
  active.release();
  passive.release();
}

}  // namespace rnic::rdma_core
