// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The calls of libibverbs that it makes of a device's optional functions, and that no iWARP device of
// rdma-core has: a program learns that from each of them, and can go on without.
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "reference_rnic/rdma_core/tests/connected_pair.hpp"

using namespace rnic::rdma_core;

namespace {

struct Device {
  Device() {
    ibv_device** list = ibv_get_device_list(nullptr);
    for (ibv_device** each = list; *each != nullptr && context == nullptr; ++each)
      if ((*each)->transport_type == IBV_TRANSPORT_IWARP) context = ibv_open_device(*each);
    ibv_free_device_list(list);
    BOOST_REQUIRE(context != nullptr);
    domain = ibv_alloc_pd(context);
  }
  ~Device() {
    BOOST_TEST(ibv_dealloc_pd(domain) == 0);
    BOOST_TEST(ibv_close_device(context) == 0);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  ibv_context* context = nullptr;
  ibv_pd* domain = nullptr;
};

/// What a call that makes an object says.
template <typename Call>
int refusal(const Call& call) {
  errno = 0;
  return call() == nullptr ? errno : 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(absent_calls)

BOOST_AUTO_TEST_CASE(advice_is_refused) {
  const Device device;
  std::array<std::byte, 4096> memory{};
  ibv_mr* region = ibv_reg_mr(device.domain, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE);
  BOOST_REQUIRE(region != nullptr);
  ibv_sge piece{reinterpret_cast<std::uint64_t>(memory.data()), memory.size(), region->lkey};
  BOOST_TEST(ibv_advise_mr(device.domain, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &piece, 1) ==
             EOPNOTSUPP);
  BOOST_TEST(ibv_dereg_mr(region) == 0);
}

BOOST_AUTO_TEST_CASE(objects_of_other_transports_are_refused) {
  const Device device;
  ibv_context* context = device.context;
  ibv_xrcd_init_attr xrc{};
  BOOST_TEST(refusal([&] { return ibv_open_xrcd(context, &xrc); }) == EOPNOTSUPP);
  ibv_wq_init_attr work_queue{};
  BOOST_TEST(refusal([&] { return ibv_create_wq(context, &work_queue); }) == EOPNOTSUPP);
  ibv_rwq_ind_table_init_attr table{};
  BOOST_TEST(refusal([&] { return ibv_create_rwq_ind_table(context, &table); }) == EOPNOTSUPP);
}

BOOST_AUTO_TEST_CASE(what_only_some_hardware_has_is_refused) {
  const Device device;
  ibv_context* context = device.context;
  BOOST_TEST(refusal([&] { return ibv_alloc_null_mr(device.domain); }) == EOPNOTSUPP);
  ibv_alloc_dm_attr device_memory{};
  device_memory.length = 4096;
  BOOST_TEST(refusal([&] { return ibv_alloc_dm(context, &device_memory); }) == EOPNOTSUPP);
  ibv_td_init_attr thread_domain{};
  BOOST_TEST(refusal([&] { return ibv_alloc_td(context, &thread_domain); }) == EOPNOTSUPP);
  ibv_parent_domain_init_attr parent{};
  parent.pd = device.domain;
  BOOST_TEST(refusal([&] { return ibv_alloc_parent_domain(context, &parent); }) == EOPNOTSUPP);
  ibv_counters_init_attr counters{};
  BOOST_TEST(refusal([&] { return ibv_create_counters(context, &counters); }) == EOPNOTSUPP);
  ibv_values_ex values{};
  BOOST_TEST(ibv_query_rt_values_ex(context, &values) == EOPNOTSUPP);
}

// As siw and cxgb4 do: an RC queue pair is all there is, and libibverbs has no call of theirs for the rest.
BOOST_AUTO_TEST_CASE(datagrams_address_handles_and_multicast_are_refused) {
  const Device device;
  ibv_cq* cq = ibv_create_cq(device.context, 4, nullptr, nullptr, 0);
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = cq;
  wanted.cap.max_send_wr = wanted.cap.max_recv_wr = 1;
  for (const ibv_qp_type type : {IBV_QPT_UD, IBV_QPT_UC, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND}) {
    wanted.qp_type = type;
    BOOST_TEST(refusal([&] { return ibv_create_qp(device.domain, &wanted); }) == EOPNOTSUPP);
  }
  ibv_ah_attr address{};
  address.port_num = 1;
  BOOST_TEST(refusal([&] { return ibv_create_ah(device.domain, &address); }) == EOPNOTSUPP);
  wanted.qp_type = IBV_QPT_RC;
  ibv_qp* connected = ibv_create_qp(device.domain, &wanted);
  BOOST_REQUIRE(connected != nullptr);
  const ibv_gid group{};
  BOOST_TEST(ibv_attach_mcast(connected, &group, 0) == EOPNOTSUPP);
  BOOST_TEST(ibv_detach_mcast(connected, &group, 0) == EOPNOTSUPP);
  BOOST_TEST(ibv_destroy_qp(connected) == 0);
  BOOST_TEST(ibv_destroy_cq(cq) == 0);
}

BOOST_AUTO_TEST_CASE(the_connection_manager_joins_no_multicast_group) {
  const CmEvents events;
  rdma_cm_id* listener = events.listen();
  sockaddr_in group{};
  group.sin_family = AF_INET;
  group.sin_addr.s_addr = htonl(0xEF010203);
  errno = 0;
  BOOST_TEST(rdma_join_multicast(listener, reinterpret_cast<sockaddr*>(&group), nullptr) != 0);
  BOOST_TEST(errno == ENOSYS);
  BOOST_TEST(rdma_destroy_id(listener) == 0);
  rdma_cm_id* datagrams = nullptr;
  BOOST_TEST(rdma_create_id(events.channel(), &datagrams, nullptr, RDMA_PS_UDP) != 0);
  BOOST_TEST(errno == EPROTONOSUPPORT);
}

BOOST_AUTO_TEST_SUITE_END()
