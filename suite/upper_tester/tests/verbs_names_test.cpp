// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What can be tested of the verbs driver without a device.
#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>
#include <set>

#include "suite/upper_tester/verbs/device.hpp"
#include "suite/upper_tester/verbs/names.hpp"

namespace suite::upper_tester::verbs {
namespace {

bool has(const std::vector<std::string>& words, const char* word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

BOOST_AUTO_TEST_SUITE(verbs_words)

BOOST_AUTO_TEST_CASE(capabilities_follow_the_attributes) {
  ibv_device_attr attributes{};
  DriverOptions options;
  auto words = capabilities(attributes, options);
  BOOST_TEST(has(words, "solicited"));
  BOOST_TEST(has(words, "ipv6"));
  for (const char* absent : {"send_invalidate", "memory_windows", "shared_receive_queue", "atomics",
                             "zero_based", "immediate", "configure.crc"})
    BOOST_TEST(!has(words, absent), absent);

  attributes.device_cap_flags = IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_MEM_WINDOW;
  attributes.max_mw = 1;
  attributes.max_srq = 1;
  attributes.atomic_cap = IBV_ATOMIC_HCA;
  options.claims = {"zero_based", "atomics"};
  options.configure_capabilities = {"configure.crc"};
  options.addresses = {"10.77.0.2"};
  words = capabilities(attributes, options);
  for (const char* present :
       {"send_invalidate", "remote_invalidate", "local_invalidate", "memory_windows",
        "shared_receive_queue", "atomics", "zero_based", "configure.crc"})
    BOOST_TEST(std::count(words.begin(), words.end(), present) == 1, present);
  BOOST_TEST(!has(words, "ipv6"));
  // A window of type 1 is open to every stream of its domain.
  BOOST_TEST(!has(words, "stream_windows"));
  attributes.device_cap_flags = IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  BOOST_TEST(has(capabilities(attributes, options), "stream_windows"));
  BOOST_TEST(!has(words, "shared_queue_resize"));
  attributes.device_cap_flags = IBV_DEVICE_SRQ_RESIZE;
  BOOST_TEST(has(capabilities(attributes, options), "shared_queue_resize"));
}

BOOST_AUTO_TEST_CASE(soft_iwarp_lacks_what_it_only_seems_to_do) {
  ibv_device_attr attributes{};
  attributes.vendor_id = 0x626d74;
  attributes.device_cap_flags = IBV_DEVICE_MEM_MGT_EXTENSIONS;
  const auto words = capabilities(attributes, {});
  BOOST_TEST(has(words, "send_invalidate"));
  BOOST_TEST(!has(words, "local_invalidate"));
  BOOST_TEST(has(words, "endpoint_abort"));
  BOOST_TEST(!has(words, "endpoint_reset"));
}

BOOST_AUTO_TEST_CASE(every_status_has_a_word_of_the_schema) {
  const std::set<std::string> known{
      "success",       "flushed",          "local_length", "local_protection", "local_operation",
      "remote_access", "remote_operation", "bad_response", "invalidation",     "bind",
      "other"};
  for (int status = IBV_WC_SUCCESS; status <= IBV_WC_TM_RNDV_INCOMPLETE; ++status)
    BOOST_TEST(known.count(status_name(static_cast<ibv_wc_status>(status))) == 1u, status);
  BOOST_TEST(status_name(IBV_WC_WR_FLUSH_ERR) == "flushed");
  BOOST_TEST(status_name(IBV_WC_REM_ACCESS_ERR) == "remote_access");
}

BOOST_AUTO_TEST_CASE(access_rights_are_flags) {
  iut::Access access;
  BOOST_TEST(access_flags(access) == 0);
  access.remote_write = true;
  BOOST_TEST(access_flags(access) == IBV_ACCESS_REMOTE_WRITE);
  access = {true, true, true, true, true};
  BOOST_TEST(access_flags(access) ==
             (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
              IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND));
}

BOOST_AUTO_TEST_CASE(errors_of_the_peer_are_told_from_errors_of_the_call) {
  BOOST_TEST(connect_failure_name(ECONNREFUSED) == "refused");
  BOOST_TEST(connect_failure_name(ETIMEDOUT) == "timeout");
  BOOST_TEST(connect_failure_name(EHOSTUNREACH) == "unreachable");
  BOOST_TEST(connect_failure_name(ECONNRESET) == "lost");
  BOOST_TEST(is_connect_failure(EPROTO));
  BOOST_TEST(!is_connect_failure(EINVAL));
  BOOST_TEST(!is_connect_failure(ENOMEM));
}

BOOST_AUTO_TEST_CASE(a_negated_errno_is_an_errno) {
  const auto reply = failed("ibv_post_send write", -EINVAL);
  BOOST_TEST(reply.code == EINVAL);
  BOOST_TEST(reply.error == "ibv_post_send write: Invalid argument");
}

BOOST_AUTO_TEST_CASE(addresses_are_literals_of_both_families) {
  const auto ipv4 = socket_address("10.77.0.2", 4711);
  BOOST_REQUIRE(ipv4);
  sockaddr_in in{};
  std::memcpy(&in, &*ipv4, sizeof in);
  BOOST_TEST(ntohs(in.sin_port) == 4711);
  BOOST_TEST(host_text(reinterpret_cast<const sockaddr*>(&*ipv4)) == "10.77.0.2");
  const auto ipv6 = socket_address("fd77::2", 1);
  BOOST_REQUIRE(ipv6);
  BOOST_TEST(host_text(reinterpret_cast<const sockaddr*>(&*ipv6)) == "fd77::2");
  for (const char* bad : {"", "dut", "10.77.0", "10.77.0.2:1", "fd77::2%eth0"})
    BOOST_TEST(!socket_address(bad, 1), bad);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace suite::upper_tester::verbs
