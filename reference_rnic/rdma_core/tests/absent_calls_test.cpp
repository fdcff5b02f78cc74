// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The calls of libibverbs that it makes of a device's optional functions, and that no iWARP device of
// rdma-core has: a program learns that from each of them, and can go on without.
#include <infiniband/verbs.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>

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

BOOST_AUTO_TEST_SUITE_END()
