// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which FPDUs go in which TCP segment (RFC 5044 section 5.1), and when.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "reference_rnic/access/tests/two_hosts.hpp"

using namespace rnic::access;
using namespace rnic::access::test;
namespace llp = rnic::llp;
namespace verbs = rnic::verbs;

namespace {

constexpr std::size_t emss = 1448;

/// The segments that host a sends once it is connected.
struct Tapped : TwoHosts<Memory> {
  explicit Tapped(const StartupOptions& options = {.crc = false}) {
    BOOST_REQUIRE(connect(options));
    settle();
    const base::Address initiator = a.network->address(base::Family::ipv4);
    fabric.set_tap([this, initiator](const llp::MemoryFabric::Passed& passed) {
      if (passed.kind != llp::MemoryFabric::Passed::Kind::data ||
          passed.from.with_port(0) != initiator)
        return;
      sizes.push_back(passed.octets.size());
      // An FPDU of a Write begins with its length, then T and DV = 1, then RV = 1 and opcode 0.
      const bool begins = passed.octets.size() > 4 &&
                          (std::to_integer<int>(passed.octets[2]) & 0x83) == 0x81 &&
                          passed.octets[3] == std::byte{0x40};
      if (!begins) begun_inside.push_back(sizes.size() - 1);
    });
  }
  [[nodiscard]] verbs::SendRequest write(std::uint32_t length) const {
    return {.operation = verbs::Operation::write,
            .pieces = {a.piece(0, length)},
            .remote_stag = b.region.stag};
  }
  void post(const std::vector<verbs::SendRequest>& list) {
    BOOST_REQUIRE(a.rnic->post_send(a.pair, list).has_value());
  }
  void expect(const std::vector<std::size_t>& wanted) const {
    BOOST_TEST(sizes == wanted, boost::test_tools::per_element());
  }

  std::vector<std::size_t> sizes;
  std::vector<std::size_t> begun_inside;  ///< by index
};

constexpr std::size_t of_64 = 64 + 14 + 2 + 4;  ///< the FPDU of a Write of 64 octets
constexpr std::size_t at_once = emss / of_64;

StartupOptions gathering() {
  StartupOptions options{.crc = false};
  options.gathered_for = std::chrono::microseconds(20);
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(segments)

BOOST_AUTO_TEST_CASE(segments_begin_with_an_fpdu) {
  Tapped two;
  two.post({two.write(100'000)});
  two.settle();
  BOOST_TEST(two.sizes.size() == 71U);  // 1448 - 6 - 14 octets of payload in each
  BOOST_TEST(std::ranges::count(two.sizes, emss) == 70);
  BOOST_TEST(two.begun_inside.empty());
}

BOOST_AUTO_TEST_CASE(short_fpdus_that_are_posted_together_share_segments) {
  Tapped two;
  two.post(std::vector(40, two.write(64)));
  two.settle();
  two.expect({at_once * of_64, at_once * of_64, (40 - 2 * at_once) * of_64});
}

BOOST_AUTO_TEST_CASE(a_short_fpdu_shares_the_segment_of_a_message_s_end) {
  Tapped two;
  two.post({two.write(64), two.write(1448), two.write(64)});
  two.settle();
  // The Write of 1448 octets fills one segment, which the FPDU before it cannot share.
  two.expect({of_64, emss, 20 + 20 + of_64});
  BOOST_TEST(two.begun_inside.empty());
}

BOOST_AUTO_TEST_CASE(alignment_is_regained_after_an_fpdu_that_tcp_took_in_part) {
  Tapped two;
  std::vector list(40, two.write(64));
  list.insert(list.begin(), {two.write(184), two.write(181 * 1428)});
  two.post(list);
  two.settle();
  // The window of 262144 octets ends within the last FPDU of the long Write. Its rest goes alone: with
  // others, which TCP may append to the part before it, segments after it would begin within FPDUs.
  constexpr std::size_t part = 1300;
  BOOST_REQUIRE(!two.begun_inside.empty());
  const std::size_t rest = two.begun_inside.front();
  BOOST_TEST(two.sizes.at(rest - 1) == part);
  BOOST_TEST(two.sizes.at(rest) == emss - part);
}

BOOST_AUTO_TEST_CASE(work_that_is_posted_alone_is_sent_at_once) {
  Tapped two(gathering());
  for (int i = 0; i < 3; ++i) {
    two.sizes.clear();
    two.post({two.write(64)});
    two.expect({of_64});
    two.settle();
  }
}

BOOST_AUTO_TEST_CASE(work_of_a_burst_is_sent_when_it_fills_a_segment_or_before_the_next_wait) {
  Tapped two(gathering());
  two.post({two.write(64)});
  for (std::size_t i = 0; i < at_once + 2; ++i) two.post({two.write(64)});
  two.expect({of_64, at_once * of_64});
  two.settle();
  two.expect({of_64, at_once * of_64, 2 * of_64});
  BOOST_TEST(two.begun_inside.empty());
}

BOOST_AUTO_TEST_CASE(work_of_a_burst_is_sent_before_its_queue_pair_leaves) {
  Tapped two(gathering());
  two.post({two.write(64)});
  two.post({two.write(64)});
  two.expect({of_64});
  two.a.manager->leave(two.a.pair);
  two.expect({of_64, of_64});
  BOOST_TEST(two.a.rnic->destroy_queue_pair(two.a.pair).has_value());
  BOOST_REQUIRE(two.wait([&] { return two.b.find<ConnectionEnded>() != nullptr; }));
  BOOST_TEST(two.b.find<ConnectionEnded>()->orderly);
}

BOOST_AUTO_TEST_SUITE_END()
