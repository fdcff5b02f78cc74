// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Every check on incoming messages, fed by hand-typed octets, against the Terminate octets that the
// RFCs call for.
#include <boost/test/unit_test.hpp>

#include "reference_rnic/stream/tests/bad_messages.hpp"
#include "reference_rnic/stream/tests/raw_peer.hpp"
#include "reference_rnic/wire/crc32c.hpp"

namespace rnic::stream::test {
namespace {

/// The FPDU of a Terminate, by hand: length, untagged header for queue 2 with MSN 1, contents, pad,
/// CRC.
std::string terminate_fpdu(std::string_view contents, bool crc) {
  return hex(fpdu("41 47 00000000 00000002 00000001 00000000" + std::string(contents), crc));
}

void feed_cut(Subject& subject, const std::vector<std::byte>& input, std::size_t cut) {
  wire::Bytes rest(input);
  while (!rest.empty()) {
    const std::size_t here = cut == 0 ? rest.size() : std::min(cut, rest.size());
    subject.feed(rest.first(here));
    rest = rest.subspan(here);
  }
}

void expect_each_receive_told_of_once(const Subject& subject, const BadMessage& bad) {
  const auto failed = subject.all<ReceiveFailed>();
  BOOST_TEST(failed.size() + subject.all<MessageReceived>().size() +
                 subject.memory.receives_left() ==
             bad.receive_buffers);
  for (const ReceiveFailed& receive : failed)
    BOOST_TEST(receive.too_long == bad.terminate.starts_with("1205"));
}

BOOST_AUTO_TEST_CASE(each_bad_message_is_terminated_with_its_cause) {
  for (const BadMessage& bad : bad_messages())
    for (const bool crc : {false, true})
      for (const std::size_t cut : {0U, 1U, 5U})
        BOOST_TEST_CONTEXT(bad.name << " crc " << crc << " cut " << cut) {
          Subject subject(plain_config(Role::responder, crc));
          furnish(subject.memory);
          for (std::size_t i = 0; i < bad.receive_buffers; ++i)
            subject.memory.post_receive(i + 1, 32, 5);
          subject.establish_as_responder(crc);
          std::vector<std::byte> input;
          for (const std::string_view ulpdu : bad.ulpdus) {
            const auto framed = fpdu(ulpdu, crc);
            input.insert(input.end(), framed.begin(), framed.end());
          }
          // Whatever follows the fault must not matter.
          const auto more = fpdu("c1 40 00000101 0000000000001000 eeeeeeee", crc);
          input.insert(input.end(), more.begin(), more.end());
          const auto before = subject.memory.region(0x101).octets;
          feed_cut(subject, input, cut);
          const std::string expected = terminate_fpdu(bad.terminate, crc);
          const std::string sent = subject.output();
          BOOST_REQUIRE_GE(sent.size(), expected.size());
          BOOST_TEST(sent.substr(sent.size() - expected.size()) == expected);
          BOOST_REQUIRE(subject.find<Failed>() != nullptr);
          BOOST_TEST(subject.find<Failed>()->terminate_queued);
          BOOST_TEST((subject.memory.region(0x101).octets[2] == before[2]));
          BOOST_TEST((subject.stream.closing() == Closing::half_close));
          BOOST_TEST(subject.find<StartupFailed>() == nullptr);
          expect_each_receive_told_of_once(subject, bad);
          subject.stream.lost(subject.now);
          subject.collect();
          expect_each_receive_told_of_once(subject, bad);
        }
}

BOOST_AUTO_TEST_CASE(the_fpdu_of_a_terminate_octet_by_octet) {
  Subject subject(plain_config(Role::responder));
  furnish(subject.memory);
  subject.establish_as_responder();
  subject.feed("0012 c1 40 00000999 0000000000001000 aabbccdd 00000000");
  BOOST_TEST(subject.output() ==
             squeezed("0026 41 47 00000000 00000002 00000001 00000000"
                      "1100 c000 0012 c1 40 00000999 0000000000001000 00000000"));
}

BOOST_AUTO_TEST_CASE(zero_length_messages_pass_without_checks) {
  Subject subject(plain_config(Role::responder));
  furnish(subject.memory);
  subject.memory.post_receive(1, 0);
  subject.establish_as_responder();
  subject.feed(fpdu("c1 40 00000999 ffffffffffffffff"));            // Write to nowhere
  subject.feed(fpdu("41 43 00000000 00000000 00000001 00000000"));  // Send
  subject.feed(
      fpdu("41 41 00000000 00000001 00000001 00000000"  // Read of nothing from nowhere
           "00000777 0000000000002000 00000000 00000999 0000000000001000"));
  // Its Response has SinkSTag and SinkTO, and no payload.
  BOOST_TEST(subject.output() == squeezed("000e c1 42 00000777 0000000000002000 00000000"));
  BOOST_TEST(subject.find<Failed>() == nullptr);
  BOOST_REQUIRE(subject.find<MessageReceived>() != nullptr);
  BOOST_TEST(subject.find<MessageReceived>()->length == 0U);
}

BOOST_AUTO_TEST_CASE(the_last_octet_of_a_region_can_be_read_alone) {
  Subject subject(plain_config(Role::responder));
  furnish(subject.memory);
  subject.establish_as_responder();
  subject.feed(
      fpdu("41 41 00000000 00000001 00000001 00000000"
           "00000777 0000000000002000 00000001 00000101 000000000000103f"));
  BOOST_TEST(subject.output() ==
             squeezed("000f c1 42 00000777 0000000000002000 3f 000000 00000000"));
}

BOOST_AUTO_TEST_CASE(what_a_request_leaves_out_is_zero_and_not_what_an_earlier_one_said) {
  Subject subject(plain_config(Role::responder));
  furnish(subject.memory);
  subject.establish_as_responder();
  subject.feed(
      fpdu("41 41 00000000 00000001 00000001 00000000"
           "00000777 0000000000002000 00000004 00000101 0000000000001000"));
  (void)subject.output();
  subject.feed(
      fpdu("41 41 00000000 00000001 00000002 0000000c"  // without SinkSTag and SinkTO
           "00000004 00000101 0000000000001000"));
  BOOST_TEST(subject.output() ==
             squeezed("0012 c1 42 00000000 0000000000000000 00010203 00000000"));
}

BOOST_AUTO_TEST_CASE(reserved_bits_and_unused_fields_are_ignored) {
  Subject subject(plain_config(Role::responder));
  furnish(subject.memory);
  subject.memory.post_receive(1, 4);
  subject.establish_as_responder();
  subject.feed(fpdu("7d 73 00000101 00000000 00000001 00000000 aabb"));
  BOOST_TEST(subject.find<Failed>() == nullptr);
  BOOST_REQUIRE(subject.find<MessageReceived>() != nullptr);
  BOOST_TEST(!subject.find<MessageReceived>()->invalidated);
  BOOST_TEST(subject.memory.invalidated().empty());
}

BOOST_AUTO_TEST_CASE(segments_of_a_message_may_come_in_any_order_of_offsets) {
  Subject subject(plain_config(Role::responder));
  subject.memory.post_receive(1, 4);
  subject.establish_as_responder();
  subject.feed(fpdu("01 43 00000000 00000000 00000001 00000001 bb"));
  subject.feed(fpdu("01 43 00000000 00000000 00000001 00000000 aa"));
  subject.feed(fpdu("41 43 00000000 00000000 00000001 00000002 ccdd"));
  BOOST_TEST(hex(subject.memory.received(1)) == "aabbccdd");
  BOOST_REQUIRE(subject.find<MessageReceived>() != nullptr);
  BOOST_TEST(subject.find<MessageReceived>()->length == 4U);
}

BOOST_AUTO_TEST_CASE(a_bad_crc_changes_nothing_and_ends_the_stream) {
  const auto good = fpdu("c1 40 00000101 0000000000001000 aabbccdd", true);
  for (std::size_t at = 2; at < good.size(); ++at) {
    Subject subject(plain_config(Role::responder, true));
    furnish(subject.memory);
    subject.establish_as_responder(true);
    subject.feed(
        fpdu("c1 40 00000101 0000000000001020 11", true));  // so that a Terminate may be sent
    auto bad = good;
    bad[at] ^= std::byte{0x04};
    const auto before = subject.memory.region(0x101).octets;
    subject.feed(bad);
    subject.feed(good);
    BOOST_TEST((subject.memory.region(0x101).octets == before), "octet " << at << " flipped");
    BOOST_TEST(subject.output() == terminate_fpdu("2002 0000", true));
  }
}

BOOST_AUTO_TEST_CASE(a_responder_says_nothing_when_its_first_fpdu_is_bad) {
  Subject subject(plain_config(Role::responder, true));
  subject.establish_as_responder(true);
  auto bad = fpdu("41 43 00000000 00000000 00000001 00000000", true);
  bad.back() ^= std::byte{1};
  subject.feed(bad);
  BOOST_TEST(subject.output().empty());
  BOOST_REQUIRE(subject.find<Failed>() != nullptr);
  BOOST_TEST(!subject.find<Failed>()->terminate_queued);
  BOOST_TEST((subject.stream.closing() == Closing::half_close));
}

BOOST_AUTO_TEST_CASE(a_terminate_is_reported_and_ends_all_work) {
  Subject subject(plain_config(Role::responder));
  furnish(subject.memory);
  subject.memory.post_receive(1, 8);
  subject.establish_as_responder();
  subject.feed(fpdu("41 43 00000000 00000000 00000001 00000000"));
  Work read;
  read.id = 7;
  read.kind = WorkKind::read;
  read.remote_stag = 0x42;
  read.sink_stag = 0x101;
  read.sink_offset = 0x1000;
  read.length = 4;
  subject.stream.post(read, subject.now);
  BOOST_TEST(subject.output() ==
             squeezed("002e 41 41 00000000 00000001 00000001 00000000"
                      "00000101 0000000000001000 00000004 00000042 0000000000000000 00000000"));
  read.id = 8;
  subject.stream.post(read, subject.now);
  subject.feed(
      fpdu("41 47 00000000 00000002 00000001 00000000"
           "0102 e000 002e 41 41 00000000 00000001 00000001 00000000"
           "00000101 0000000000001000 00000004 00000042 0000000000000000"));
  BOOST_REQUIRE(subject.find<TerminateReceived>() != nullptr);
  BOOST_TEST((subject.find<TerminateReceived>()->cause == wire::cause::rdmap_access_rights));
  const auto done = subject.all<WorkDone>();
  BOOST_REQUIRE_EQUAL(done.size(), 2U);
  BOOST_TEST((done[0].id == 7 && done[0].status == WorkStatus::remote_access));
  BOOST_TEST((done[1].id == 8 && done[1].status == WorkStatus::flushed));
  BOOST_TEST(subject.output().empty());
  BOOST_TEST((subject.stream.closing() == Closing::half_close));
  subject.stream.close_done(subject.now);
  subject.stream.peer_closed(subject.now);
  subject.collect();
  BOOST_TEST(subject.find<Closed>() != nullptr);
}

BOOST_AUTO_TEST_CASE(a_terminate_may_send_back_a_whole_atomic_request) {
  Subject subject(plain_config(Role::responder));
  subject.memory.post_receive(1, 8);
  subject.establish_as_responder();
  subject.feed(fpdu("41 43 00000000 00000000 00000001 00000000"));
  Work atomic;
  atomic.id = 7;
  atomic.kind = WorkKind::atomic;
  atomic.remote_stag = 0x42;
  subject.stream.post(atomic, subject.now);
  const std::string request = subject.output().substr(4, 2 * std::size_t{18 + 52});
  subject.feed(fpdu("41 47 00000000 00000002 00000001 00000000 0102 e000 0046" + request));
  BOOST_REQUIRE(subject.find<TerminateReceived>() != nullptr);
  BOOST_TEST((subject.find<TerminateReceived>()->cause == wire::cause::rdmap_access_rights));
  BOOST_REQUIRE(subject.find<WorkDone>() != nullptr);
  BOOST_TEST((subject.find<WorkDone>()->status == WorkStatus::remote_access));
  BOOST_TEST(subject.find<Failed>() == nullptr);
  BOOST_TEST(subject.output().empty());
}

BOOST_AUTO_TEST_CASE(a_terminate_that_contradicts_itself_is_not_answered_by_another) {
  for (const char* contents :
       {"1101 c000 0012 c1", "1101 4000", "1101 0000 aabbcc", "1101 3fff",
        // no Tagged Buffer Error, yet whole: the longest of all
        "1101 e000 0046 41 4a 00000000 00000001 00000001 00000000 00000000 00000001 00000101"
        "0000000000001000 0000000000000001 0000000000000000 0000000000000000 ffffffffffffffff"})
    BOOST_TEST_CONTEXT(contents) {
      Subject subject(plain_config(Role::responder));
      subject.establish_as_responder();
      subject.feed(fpdu("41 47 00000000 00000002 00000001 00000000" + std::string(contents)));
      BOOST_REQUIRE(subject.find<TerminateReceived>() != nullptr);
      BOOST_TEST(
          (subject.find<TerminateReceived>()->cause == wire::cause::ddp_tagged_base_or_bounds));
      BOOST_TEST(hex(subject.find<TerminateReceived>()->message) == squeezed(contents));
      BOOST_TEST(subject.output().empty());
    }
}

BOOST_AUTO_TEST_CASE(atomics_compute_as_the_pseudocode_says) {
  Subject subject(plain_config(Role::responder));
  furnish(subject.memory);
  const auto value = [&] {
    return hex(wire::Bytes(subject.memory.region(0x101).octets).subspan(8, 8));
  };
  subject.establish_as_responder();
  // Octets 08 09 .. 0f in little-endian memory are the value 0x0f0e0d0c0b0a0908.
  subject.feed(
      fpdu("41 4a 00000000 00000001 00000001 00000000 00000000 0a0b0c0d 00000101 0000000000001008"
           "00000000000000ff 0000000000000080 0000000000000000 ffffffffffffffff"));
  BOOST_TEST(subject.output() == squeezed("001e 41 4b 00000000 00000003 00000001 00000000"
                                          "0a0b0c0d 0f0e0d0c0b0a0908 00000000"));
  BOOST_TEST(value() == "07090a0b0c0d0e0f");  // 08 + ff without the carry
  subject.feed(
      fpdu("41 4a 00000000 00000001 00000002 00000000 fffffff2 00000001 00000101 0000000000001008"
           "1111111111111111 00000000ffff0000 ffffffffffffff07 00000000000000ff"));
  BOOST_TEST(subject.output() == squeezed("001e 41 4b 00000000 00000003 00000002 00000000"
                                          "00000001 0f0e0d0c0b0a0907 00000000"));
  BOOST_TEST(value() == "070911110c0d0e0f");
  subject.feed(
      fpdu("41 4a 00000000 00000001 00000003 00000000 00000002 00000001 00000101 0000000000001008"
           "2222222222222222 ffffffffffffffff 0000000000000006 00000000000000ff"));
  (void)subject.output();
  BOOST_TEST(value() == "070911110c0d0e0f");  // the comparison failed
}

}  // namespace
}  // namespace rnic::stream::test
