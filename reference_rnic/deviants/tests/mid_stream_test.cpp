// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations that a tester turns on in mid-stream begin at the present state of the stream.
#include <boost/test/unit_test.hpp>

#include "reference_rnic/deviants/stream_decisions.hpp"
#include "reference_rnic/stream/tests/posted_work.hpp"

namespace rnic::deviants::test {
namespace {

using stream::test::operational;
using stream::test::pattern;
using stream::test::plain_config;
using stream::test::send_of;
using stream::test::Subject;

/// Posts a Send and returns the MSN that it leaves with, in hex.
std::string msn_of_next_send(Subject& subject) {
  const auto message = pattern(4);
  subject.stream.post(send_of(1, message), subject.now);
  const auto sent = stream::test::ulpdus(subject.output());
  BOOST_REQUIRE_EQUAL(sent.size(), 1U);
  constexpr std::size_t at = 2 * 10, length = 2 * 4;
  return sent.front().substr(at, length);
}

/// The MSNs of four Sends, the deviation turned on before the third.
std::vector<std::string> msns(Deviation deviation, std::uint32_t first) {
  stream::Config config = plain_config(stream::Role::responder);
  config.first_sent.send = first;
  const auto subject = operational(config);
  std::vector<std::string> found;
  for (int i = 0; i < 4; ++i) {
    if (i == 2) choose(subject->stream.decisions(), deviation, true);
    found.push_back(msn_of_next_send(*subject));
  }
  return found;
}

using Numbers = std::vector<std::string>;

BOOST_AUTO_TEST_CASE(a_send_that_repeats_its_msn_repeats_the_latest) {
  BOOST_TEST((msns(Deviation::msn_not_incremented, 1) ==
              Numbers{"00000001", "00000002", "00000003", "00000003"}));
}

BOOST_AUTO_TEST_CASE(msns_that_skip_begin_at_the_next_one) {
  BOOST_TEST((msns(Deviation::msn_incremented_by_two, 1) ==
              Numbers{"00000001", "00000002", "00000003", "00000005"}));
}

BOOST_AUTO_TEST_CASE(msns_of_eight_bits_wrap_wherever_they_began) {
  BOOST_TEST((msns(Deviation::msn_counted_in_eight_bits, 253) ==
              Numbers{"000000fd", "000000fe", "000000ff", "00000000"}));
}

BOOST_AUTO_TEST_CASE(a_deviation_that_is_turned_off_leaves_the_numbers_of_the_stream) {
  const auto subject = operational(plain_config(stream::Role::responder));
  choose(subject->stream.decisions(), Deviation::msn_starts_at_zero, true);
  BOOST_TEST(msn_of_next_send(*subject) == "00000000");
  choose(subject->stream.decisions(), Deviation::msn_starts_at_zero, false);
  BOOST_TEST(msn_of_next_send(*subject) == "00000002");
}

}  // namespace
}  // namespace rnic::deviants::test
