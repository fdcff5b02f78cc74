// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a stream sends while the LLP takes only part of it: CRCs stay true, FPDUs whole.
#include <boost/test/unit_test.hpp>

#include "reference_rnic/stream/tests/posted_work.hpp"
#include "reference_rnic/wire/crc32c.hpp"

namespace rnic::stream::test {
namespace {

BOOST_AUTO_TEST_CASE(octets_are_the_same_however_the_llp_takes_them) {
  const auto message = pattern(9000), other = pattern(77, 4);
  const auto all_at_once = [&](bool crc, bool markers) {
    auto subject = operational(plain_config(Role::responder, crc), markers);
    subject->stream.post(write_of(1, message), subject->now);
    subject->stream.post(send_of(2, other), subject->now);
    return subject->output();
  };
  for (const bool crc : {false, true})
    for (const bool markers : {false, true})
      for (const std::size_t step : {1U, 3U, 100U, 1447U, 1449U, 5000U}) {
        auto subject = operational(plain_config(Role::responder, crc), markers);
        subject->stream.post(write_of(1, message), subject->now);
        subject->stream.post(send_of(2, other), subject->now);
        std::string sent;
        for (std::string part = take(*subject, step); !part.empty(); part = take(*subject, step))
          sent += part;
        BOOST_TEST((sent == all_at_once(crc, markers)), "step " << step << " markers " << markers);
        BOOST_TEST(subject->all<WorkDone>().size() == 2U);
      }
}

/// Whether `sent`, in hex, is FPDUs with the right CRC.
bool crcs_are_right(std::string_view sent) {
  const auto stream = octets(sent);
  std::vector<std::byte> scratch;
  for (wire::Bytes rest(stream); !rest.empty();) {
    const auto parsed = wire::parse_fpdu(rest, {true, false, 0}, scratch);
    if (!parsed) return false;
    rest = rest.subspan(parsed->consumed);
  }
  return true;
}

BOOST_AUTO_TEST_CASE(crcs_stay_true_while_the_consumer_writes_into_its_buffer) {
  auto subject = operational(plain_config(Role::responder, true));
  auto message = pattern(6000);
  subject->stream.post(write_of(1, message), subject->now);
  std::string sent;
  for (std::string part = take(*subject, 700); !part.empty(); part = take(*subject, 700)) {
    sent += part;
    for (std::byte& octet : message) octet ^= std::byte{0x55};
  }
  BOOST_TEST(crcs_are_right(sent));
}

BOOST_AUTO_TEST_CASE(crcs_follow_a_buffer_that_changed_before_the_llp_took_any_of_it) {
  auto subject = operational(plain_config(Role::responder, true));
  auto message = pattern(2000);
  subject->stream.post(write_of(1, message), subject->now);
  std::vector<wire::Bytes> list;
  subject->stream.gather(list, 100000);
  for (std::byte& octet : message) octet ^= std::byte{0x55};
  BOOST_TEST(crcs_are_right(subject->output()));
}

BOOST_AUTO_TEST_CASE(boundaries_are_told_where_fpdus_end) {
  auto subject = operational(plain_config(Role::responder));
  const auto message = pattern(3000);
  subject->stream.post(write_of(1, message), subject->now);
  std::vector<wire::Bytes> list;
  std::vector<std::size_t> boundaries;
  subject->stream.gather(list, 100000, &boundaries);
  BOOST_TEST((boundaries == std::vector<std::size_t>{1448, 2896, 3060}));
  boundaries.clear();
  subject->stream.gather(list, 1448, &boundaries);
  BOOST_TEST((boundaries == std::vector<std::size_t>{1448}));
}

BOOST_AUTO_TEST_CASE(boundaries_count_from_what_has_left) {
  auto subject = operational(plain_config(Role::responder), true);
  const auto message = pattern(2000);
  subject->stream.post(write_of(1, message), subject->now);
  std::vector<wire::Bytes> list;
  std::vector<std::size_t> all, rest;
  subject->stream.gather(list, 100000, &all);
  BOOST_REQUIRE_EQUAL(all.size(), 2U);
  subject->stream.transmitted(100, subject->now);
  subject->stream.gather(list, 100000, &rest);
  BOOST_TEST((rest == std::vector<std::size_t>{all[0] - 100, all[1] - 100}));
}

BOOST_AUTO_TEST_CASE(no_more_is_cut_into_segments_than_the_llp_asks_for) {
  auto subject = operational(plain_config(Role::responder));
  const auto message = pattern(3000);
  subject->stream.post(write_of(1, message), subject->now);
  (void)take(*subject, 1448);
  subject->stream.set_emss(600);
  BOOST_TEST(ulpdus(subject->output())[0].size() / 2 == 594U);
}

BOOST_AUTO_TEST_CASE(a_terminate_follows_the_message_in_progress_and_nothing_else) {
  auto subject = operational(plain_config(Role::responder));
  const auto message = pattern(3000);
  subject->stream.post(write_of(1, message), subject->now);
  subject->stream.post(send_of(2, message), subject->now);
  std::vector<wire::Bytes> list;
  subject->stream.gather(list, 100000);
  subject->stream.transmitted(1500, subject->now);  // one FPDU and a bit of the next
  subject->feed(fpdu("c1 40 00000999 0000000000001000 aa"));
  const std::string rest = subject->output();
  // 3060 octets of the Write in all, then the Terminate.
  BOOST_TEST(rest.substr((3060 - 1500) * 2) ==
             hex(fpdu("41 47 00000000 00000002 00000001 00000000 1100 c000 000f c1 40 00000999 "
                      "0000000000001000")));
  const auto done = subject->all<WorkDone>();
  BOOST_REQUIRE_EQUAL(done.size(), 2U);
  BOOST_TEST((done[0].status == WorkStatus::success && done[1].status == WorkStatus::flushed));
}

BOOST_AUTO_TEST_CASE(messages_not_begun_give_way_to_a_terminate) {
  auto subject = operational(plain_config(Role::responder));
  const auto message = pattern(3000);
  subject->stream.post(write_of(1, message), subject->now);
  std::vector<wire::Bytes> list;
  subject->stream.gather(list, 100000);
  subject->feed(fpdu("c1 40 00000999 0000000000001000 aa"));
  BOOST_TEST(ulpdus(subject->output()).size() == 1U);
  BOOST_TEST((subject->find<WorkDone>()->status == WorkStatus::flushed));
}

}  // namespace
}  // namespace rnic::stream::test
