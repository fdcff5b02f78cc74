// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What can be tested of the driver of kernel verbs without its module: the layout of the messages,
// the hello, and what is said when something is missing.
#include <infiniband/verbs.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <set>
#include <type_traits>

#include "suite/upper_tester/kverbs/device.hpp"
#include "suite/upper_tester/kverbs/kverbs_driver.hpp"
#include "suite/upper_tester/verbs/device.hpp"

namespace suite::upper_tester::kverbs {
namespace {

/// Every octet belongs to a member, so no compiler lays it out otherwise and none is left over from
/// the kernel's stack; and its size suits a 32-bit process on a 64-bit kernel.
template <class... Message>
constexpr bool laid_out_alike =
    ((std::has_unique_object_representations_v<Message> && sizeof(Message) % 4 == 0) && ...);
static_assert(
    laid_out_alike<rnic_kagent_open, rnic_kagent_object, rnic_kagent_memory, rnic_kagent_mr,
                   rnic_kagent_map, rnic_kagent_cq, rnic_kagent_process_cq, rnic_kagent_srq,
                   rnic_kagent_modify_srq, rnic_kagent_qp, rnic_kagent_qp_attr, rnic_kagent_send,
                   rnic_kagent_recv, rnic_kagent_send_chain, rnic_kagent_recv_chain,
                   rnic_kagent_bind, rnic_kagent_resolve, rnic_kagent_resolve_route,
                   rnic_kagent_connect, rnic_kagent_event>);

bool has(const std::vector<std::string>& words, const char* word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

BOOST_AUTO_TEST_SUITE(kverbs_messages)

BOOST_AUTO_TEST_CASE(version_2_keeps_its_layout) {
  BOOST_TEST(sizeof(rnic_kagent_open) == 248U);
  BOOST_TEST(sizeof(rnic_kagent_send) == 72U + 32U * sizeof(rnic_kagent_piece));
  BOOST_TEST(sizeof(rnic_kagent_recv) == 24U + 32U * sizeof(rnic_kagent_piece));
  BOOST_TEST(sizeof(rnic_kagent_send_chain) == 8U + 16U * sizeof(rnic_kagent_send));
  BOOST_TEST(sizeof(rnic_kagent_recv_chain) == 8U + 16U * sizeof(rnic_kagent_recv));
  BOOST_TEST(sizeof(rnic_kagent_connect) == 272U);
  BOOST_TEST(sizeof(rnic_kagent_event) == 304U);
  BOOST_TEST(offsetof(rnic_kagent_event, wr_id) == 24U);
  BOOST_TEST(offsetof(rnic_kagent_event, private_data) == 43U);
}

BOOST_AUTO_TEST_CASE(each_request_has_a_number_of_its_own) {
  const std::vector<unsigned long> numbers{
      RNIC_KAGENT_OPEN,         RNIC_KAGENT_DESTROY,         RNIC_KAGENT_ALLOC_PD,
      RNIC_KAGENT_ALLOC_MEMORY, RNIC_KAGENT_ALLOC_MR,        RNIC_KAGENT_MAP_MR,
      RNIC_KAGENT_CREATE_CQ,    RNIC_KAGENT_PROCESS_CQ,      RNIC_KAGENT_CREATE_SRQ,
      RNIC_KAGENT_MODIFY_SRQ,   RNIC_KAGENT_CREATE_QP,       RNIC_KAGENT_MODIFY_QP,
      RNIC_KAGENT_QUERY_QP,     RNIC_KAGENT_DRAIN_QP,        RNIC_KAGENT_POST_SEND,
      RNIC_KAGENT_POST_RECV,    RNIC_KAGENT_CREATE_ID,       RNIC_KAGENT_BIND,
      RNIC_KAGENT_RESOLVE_ADDR, RNIC_KAGENT_RESOLVE_ROUTE,   RNIC_KAGENT_CONNECT,
      RNIC_KAGENT_ACCEPT,       RNIC_KAGENT_ESTABLISH,       RNIC_KAGENT_REJECT,
      RNIC_KAGENT_DISCONNECT,   RNIC_KAGENT_POST_SEND_CHAIN, RNIC_KAGENT_POST_RECV_CHAIN};
  std::set<unsigned> places;
  for (const unsigned long number : numbers) places.insert(_IOC_NR(number));
  BOOST_TEST(places.size() == numbers.size());
}

BOOST_AUTO_TEST_CASE(capabilities_are_those_of_kernel_consumers) {
  rnic_kagent_open device{};
  device.vendor_id = verbs::soft_iwarp;
  DriverOptions options;
  options.addresses = {"10.77.0.2"};
  auto words = capabilities(device, options);
  for (const char* always : {"local_invalidate", "remote_invalidate", "zero_based", "chosen_base",
                             "fast_registration", "chains", "loopback", "completion_queues"})
    BOOST_TEST(has(words, always), always);
  for (const char* absent : {"read_invalidate", "shared_receive_queue", "atomics", "ipv6",
                             "memory_windows", "endpoint_reset"})
    BOOST_TEST(!has(words, absent), absent);
  device.reads_with_invalidate = 1;
  device.max_srq = 1;
  device.atomic_cap = IBV_ATOMIC_HCA;
  device.vendor_id = 0x1425;
  options.addresses.emplace_back("fd77::2");
  words = capabilities(device, options);
  for (const char* now :
       {"read_invalidate", "shared_receive_queue", "atomics", "ipv6", "endpoint_reset"})
    BOOST_TEST(has(words, now), now);
}

BOOST_AUTO_TEST_CASE(hello_states_what_a_fast_registration_can_hold) {
  rnic_kagent_open device{};
  device.max_fast_reg_page_list_len = 256;
  device.page_size = 4096;
  device.max_send_sge = 6;
  device.max_recv_sge = 64;
  device.node_type = IBV_NODE_RNIC;
  iut::Hello hello = describe(device, {});
  BOOST_TEST(hello.driver == "kverbs");
  BOOST_TEST(hello.limits.at("max_region") == 1 << 20);
  BOOST_TEST(hello.limits.at("max_pages") == 256);
  BOOST_TEST(hello.limits.at("page_size") == 4096);
  BOOST_TEST(hello.limits.at("max_pieces") == 6);
  BOOST_TEST(hello.limits.at("max_private_data") == 255);
  device.node_type = IBV_NODE_CA;
  hello = describe(device, {});
  BOOST_TEST(hello.limits.at("max_private_data") == 56);
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_said) {
  DriverOptions options;
  std::string error;
  BOOST_TEST(KverbsDriver::open(options, [](const iut::Event&) {}, error) == nullptr);
  BOOST_TEST(error.find("needs --address") != std::string::npos, error);
  options.addresses = {"10.77.0.2"};
  if (::access(RNIC_KAGENT_DEVICE, F_OK) == 0) return;
  BOOST_TEST(KverbsDriver::open(options, [](const iut::Event&) {}, error) == nullptr);
  BOOST_TEST(error.find("load the module rnic_kagent") != std::string::npos, error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace suite::upper_tester::kverbs
