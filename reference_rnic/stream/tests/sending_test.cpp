// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a stream sends: segmentation, sequence numbers, order, limits.
#include <boost/test/unit_test.hpp>

#include "reference_rnic/stream/tests/posted_work.hpp"
#include "reference_rnic/wire/crc32c.hpp"

namespace rnic::stream::test {
namespace {

BOOST_AUTO_TEST_CASE(untagged_messages_are_cut_by_the_mulpdu) {
  Config config = plain_config(Role::responder);
  config.emss = 1508;  // MULPDU 1502
  auto subject = operational(config);
  const auto message = pattern(2048);
  subject->stream.post(send_of(1, message), subject->now);
  const auto sent = ulpdus(subject->output());
  BOOST_REQUIRE_EQUAL(sent.size(), 2U);
  const wire::Bytes all(message);
  BOOST_TEST(sent[0] ==
             squeezed("01 43 00000000 00000000 00000001 00000000") + hex(all.first(1484)));
  BOOST_TEST(sent[1] ==
             squeezed("41 43 00000000 00000000 00000001 000005cc") + hex(all.subspan(1484)));
}

BOOST_AUTO_TEST_CASE(tagged_messages_advance_their_offset) {
  Config config = plain_config(Role::responder);
  config.emss = 1508;
  auto subject = operational(config);
  const auto message = pattern(2048);
  subject->stream.post(write_of(1, message, 16384), subject->now);
  const auto sent = ulpdus(subject->output());
  BOOST_REQUIRE_EQUAL(sent.size(), 2U);
  const wire::Bytes all(message);
  BOOST_TEST(sent[0] == squeezed("81 40 0000aabb 0000000000004000") + hex(all.first(1488)));
  BOOST_TEST(sent[1] == squeezed("c1 40 0000aabb 00000000000045d0") + hex(all.subspan(1488)));
}

BOOST_AUTO_TEST_CASE(a_message_that_fills_segments_exactly_has_no_empty_tail) {
  Config config = plain_config(Role::responder);
  config.emss = 1508;
  auto subject = operational(config);
  const auto message = pattern(2 * 1488);
  subject->stream.post(write_of(1, message), subject->now);
  BOOST_TEST(ulpdus(subject->output()).size() == 2U);
}

BOOST_AUTO_TEST_CASE(the_mulpdu_follows_the_emss_and_stops_at_128) {
  auto subject = operational(plain_config(Role::responder));
  const auto message = pattern(1000);
  subject->stream.set_emss(600);
  subject->stream.post(write_of(1, message), subject->now);
  BOOST_TEST(ulpdus(subject->output())[0].size() / 2 == 594U);
  subject->stream.set_emss(40);
  subject->stream.post(write_of(2, message), subject->now);
  BOOST_TEST(ulpdus(subject->output())[0].size() / 2 == 128U);
  subject->stream.set_emss(1000000);
  const auto large = pattern(200000);
  subject->stream.post(write_of(3, large), subject->now);
  BOOST_TEST(ulpdus(subject->output())[0].size() / 2 <= 64768U);
}

BOOST_AUTO_TEST_CASE(sequence_numbers_wrap_to_zero_in_both_directions) {
  Config config = plain_config(Role::responder);
  config.ird = config.ord = 4;
  config.first_sent = {0xFFFFFFFF, 0xFFFFFFFF, 1, 0xFFFFFFFF};
  config.first_expected = config.first_sent;
  auto subject = operational(config);
  subject->memory.post_receive(1, 1);
  subject->memory.post_receive(2, 1);
  for (const char* msn : {"ffffffff", "00000000"}) {
    subject->feed(fpdu("41 43 00000000 00000000" + std::string(msn) + "00000000 aa"));
    subject->stream.post(send_of(1, {}), subject->now);
    BOOST_TEST(ulpdus(subject->output())[0] ==
               squeezed("41 43 00000000 00000000" + std::string(msn) + "00000000"));
    subject->feed(fpdu("41 4a 00000000 00000001" + std::string(msn) +
                       "00000000 00000000 00000001 00000101 0000000000001000"
                       "0000000000000001 0000000000000000 0000000000000000 ffffffffffffffff"));
    BOOST_TEST(ulpdus(subject->output())[0].substr(0, 36) ==
               squeezed("41 4b 00000000 00000003" + std::string(msn) + "00000000"));
    subject->stream.post(read_of(2), subject->now);
    BOOST_TEST(ulpdus(subject->output())[0].substr(0, 36) ==
               squeezed("41 41 00000000 00000001" + std::string(msn) + "00000000"));
  }
  BOOST_TEST(subject->find<Failed>() == nullptr);
  BOOST_TEST(subject->all<MessageReceived>().size() == 2U);
}

BOOST_AUTO_TEST_CASE(each_kind_of_send_has_its_opcode) {
  auto subject = operational(plain_config(Role::responder));
  const auto message = text_octets("x");
  Work work = send_of(1, message);
  work.invalidate = 0x01020304;
  subject->stream.post(work, subject->now);
  work.solicited = true;
  subject->stream.post(work, subject->now);
  work.invalidate.reset();
  subject->stream.post(work, subject->now);
  const auto sent = ulpdus(subject->output());
  BOOST_REQUIRE_EQUAL(sent.size(), 3U);
  BOOST_TEST(sent[0] == squeezed("41 44 01020304 00000000 00000001 00000000 78"));
  BOOST_TEST(sent[1] == squeezed("41 46 01020304 00000000 00000002 00000000 78"));
  BOOST_TEST(sent[2] == squeezed("41 45 00000000 00000000 00000003 00000000 78"));
}

BOOST_AUTO_TEST_CASE(an_atomic_request_octet_by_octet) {
  auto subject = operational(plain_config(Role::responder));
  Work work = atomic_of(1);
  work.remote_offset = 0x18;
  work.add_or_swap = 5;
  work.add_or_swap_mask = 0x80;
  work.compare = 77;
  work.compare_mask = 78;
  subject->stream.post(work, subject->now);
  BOOST_TEST(
      ulpdus(subject->output())[0] ==
      squeezed(
          "41 4a 00000000 00000001 00000001 00000000 00000000 00000001 00000042 0000000000000018"
          "0000000000000005 0000000000000080 0000000000000000 ffffffffffffffff"));
  subject->feed(fpdu("41 4b 00000000 00000003 00000001 00000000 00000001 00000000000000aa"));
  BOOST_REQUIRE(subject->find<WorkDone>() != nullptr);
  BOOST_TEST(subject->find<WorkDone>()->original_value == 0xAAU);
  work.operation = wire::AtomicOperation::compare_swap;
  subject->stream.post(work, subject->now);
  BOOST_TEST(
      ulpdus(subject->output())[0] ==
      squeezed(
          "41 4a 00000000 00000001 00000002 00000000 00000002 00000002 00000042 0000000000000018"
          "0000000000000005 0000000000000080 000000000000004d 000000000000004e"));
}

BOOST_AUTO_TEST_CASE(outstanding_reads_and_atomics_stay_within_the_ord) {
  Config config = plain_config(Role::responder);
  config.ord = 2;
  auto subject = operational(config);
  subject->stream.post(read_of(1), subject->now);
  subject->stream.post(atomic_of(2), subject->now);
  subject->stream.post(read_of(3), subject->now);
  subject->stream.post(send_of(4, {}), subject->now);
  BOOST_TEST(ulpdus(subject->output()).size() == 2U);  // the Send keeps its place after the Read
  subject->feed(fpdu("c1 42 00000101 0000000000001000 aabbccdd"));
  BOOST_TEST(ulpdus(subject->output()).size() == 2U);
  subject->feed(fpdu("41 4b 00000000 00000003 00000001 00000000 00000001 0000000000000000"));
  subject->feed(fpdu("c1 42 00000101 0000000000001000 aabbccdd"));
  const auto done = subject->all<WorkDone>();
  BOOST_REQUIRE_EQUAL(done.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(done[i].id == i + 1);
}

BOOST_AUTO_TEST_CASE(work_completes_in_the_order_posted) {
  Config config = plain_config(Role::responder);
  config.ord = 4;
  auto subject = operational(config);
  subject->stream.post(read_of(1), subject->now);
  subject->stream.post(send_of(2, {}), subject->now);
  (void)subject->output();
  BOOST_TEST(subject->find<WorkDone>() ==
             nullptr);  // the Send has left, but completes after the Read
  subject->feed(fpdu("c1 42 00000101 0000000000001000 aabbccdd"));
  BOOST_TEST(subject->all<WorkDone>().size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_fence_waits_for_all_earlier_reads) {
  Config config = plain_config(Role::responder);
  config.ord = 4;
  auto subject = operational(config);
  subject->stream.post(read_of(1), subject->now);
  subject->stream.post(read_of(2), subject->now);
  Work fenced = send_of(3, {});
  fenced.fence = true;
  subject->stream.post(fenced, subject->now);
  Work local;
  local.id = 4;
  local.kind = WorkKind::local;
  subject->stream.post(local, subject->now);
  BOOST_TEST(ulpdus(subject->output()).size() == 2U);
  subject->feed(fpdu("c1 42 00000101 0000000000001000 aabbccdd"));
  BOOST_TEST(subject->output().empty());
  BOOST_TEST(subject->memory.performed().empty());
  subject->feed(fpdu("c1 42 00000101 0000000000001000 aabbccdd"));
  BOOST_TEST(ulpdus(subject->output()).size() == 1U);
  BOOST_TEST(subject->memory.performed().size() == 1U);
  BOOST_TEST(subject->all<WorkDone>().size() == 4U);
}

BOOST_AUTO_TEST_CASE(local_work_needs_no_octet_to_leave) {
  auto subject = operational(plain_config(Role::responder));
  Work local;
  local.id = 4;
  local.kind = WorkKind::local;
  subject->stream.post(local, subject->now);
  subject->collect();
  BOOST_TEST(subject->all<WorkDone>().size() == 1U);
}

BOOST_AUTO_TEST_CASE(local_work_goes_on_by_what_comes_and_by_what_has_left) {
  Work local;
  local.id = 2;
  local.kind = WorkKind::local;
  local.fence = true;
  auto subject = operational(plain_config(Role::responder));
  subject->stream.post(read_of(1), subject->now);
  subject->stream.post(local, subject->now);
  (void)subject->output();
  BOOST_TEST(subject->memory.performed().empty());
  subject->feed(fpdu("c1 42 00000101 0000000000001000 aabbccdd"));
  BOOST_TEST(subject->memory.performed().size() == 1U);
  BOOST_TEST(subject->all<WorkDone>().size() == 2U);
  subject = operational(plain_config(Role::responder));
  subject->stream.post(send_of(1, {}), subject->now);
  subject->stream.post(local, subject->now);
  (void)take(*subject, 24);  // the FPDU of the Send, without looking at what follows it
  BOOST_TEST(subject->all<WorkDone>().size() == 2U);
}

BOOST_AUTO_TEST_CASE(work_that_cannot_be_carried_out_ends_the_stream) {
  const auto expect = [](Work work, WorkStatus status, bool refuse_local = false) {
    auto subject = operational(plain_config(Role::responder));
    if (refuse_local) subject->memory.refuse_local_work();
    subject->stream.post(work, subject->now);
    subject->stream.post(send_of(99, {}), subject->now);
    BOOST_TEST(subject->output() ==
               hex(fpdu("41 47 00000000 00000002 00000001 00000000 0000 0000")));
    const auto done = subject->all<WorkDone>();
    BOOST_REQUIRE_EQUAL(done.size(), 2U);
    BOOST_TEST(name(done[0].status) == std::string(name(status)));
    BOOST_TEST((done[1].id == 99 && done[1].status == WorkStatus::flushed));
  };
  Work read = read_of(1);
  read.sink_stag = 0x999;
  expect(read, WorkStatus::local_protection);
  read = read_of(1, 65);
  expect(read, WorkStatus::local_protection);
  Work local;
  local.kind = WorkKind::local;
  expect(local, WorkStatus::local_operation, true);
  static const std::vector<std::byte> block(1 << 20);
  Work huge = send_of(1, {});
  huge.gather.assign(4096, wire::Bytes(block));  // 2^32 octets
  expect(huge, WorkStatus::local_length);
}

// ---- Read Responses ----

BOOST_AUTO_TEST_CASE(a_read_response_must_match_its_request) {
  struct Row {
    const char* name;
    std::vector<std::string_view> ulpdus;
    std::string_view terminate;
  };
  const std::vector<Row> table{
      {"other STag",
       {"c1 42 00000404 0000000000001000 aabbccdd"},
       "1100 c000 0012 c1 42 00000404 0000000000001000"},
      {"before the sink",
       {"c1 42 00000101 0000000000000fff aabbccdd"},
       "1101 c000 0012 c1 42 00000101 0000000000000fff"},
      {"too long",
       {"c1 42 00000101 0000000000001000 aabbccddee"},
       "1101 c000 0013 c1 42 00000101 0000000000001000"},
      {"too long in the second segment",
       {"81 42 00000101 0000000000001000 aabb", "c1 42 00000101 0000000000001002 ccddee"},
       "1101 c000 0011 c1 42 00000101 0000000000001002"},
      {"too short",
       {"c1 42 00000101 0000000000001000 aabbcc"},
       "1101 c000 0011 c1 42 00000101 0000000000001000"},
      {"two segments at one TO",
       {"81 42 00000101 0000000000001000 aabb", "c1 42 00000101 0000000000001000 ccdd"},
       "1101 c000 0010 c1 42 00000101 0000000000001000"},
      {"a gap before the last segment",
       {"81 42 00000101 0000000000001000 aa", "81 42 00000101 0000000000001003 bb",
        "81 42 00000101 0000000000001003 cc", "c1 42 00000101 0000000000001000 dd"},
       "1101 c000 000f c1 42 00000101 0000000000001000"},
      {"empty",
       {"c1 42 00000101 0000000000001000"},
       "1101 c000 000e c1 42 00000101 0000000000001000"},
  };
  for (const Row& row : table) BOOST_TEST_CONTEXT(row.name) {
      auto subject = operational(plain_config(Role::responder));
      subject->stream.post(read_of(1), subject->now);
      (void)subject->output();
      for (const std::string_view ulpdu : row.ulpdus) subject->feed(fpdu(ulpdu));
      BOOST_TEST(subject->output() == hex(fpdu("41 47 00000000 00000002 00000001 00000000" +
                                               std::string(row.terminate))));
      BOOST_REQUIRE(subject->find<WorkDone>() != nullptr);
      BOOST_TEST((subject->find<WorkDone>()->status == WorkStatus::bad_response));
    }
}

// RFC 5041 section 5.3: the sender should use increasing TOs, and need not.
BOOST_AUTO_TEST_CASE(the_segments_of_a_read_response_may_come_in_any_order) {
  const std::vector<std::vector<std::string_view>> responses{
      {"81 42 00000101 0000000000001002 ccdd", "c1 42 00000101 0000000000001000 aabb"},
      {"81 42 00000101 0000000000001003 dd", "81 42 00000101 0000000000001001 bbcc",
       "c1 42 00000101 0000000000001000 aa"},
      {"81 42 00000101 0000000000001000 aabbcc", "c1 42 00000101 0000000000001001 bbccdd"},
  };
  for (const auto& ulpdus : responses) {
    auto subject = operational(plain_config(Role::responder));
    subject->stream.post(read_of(1), subject->now);
    (void)subject->output();
    for (const std::string_view ulpdu : ulpdus) {
      BOOST_TEST(subject->find<WorkDone>() == nullptr);
      subject->feed(fpdu(ulpdu));
    }
    BOOST_TEST(subject->output().empty());
    BOOST_REQUIRE(subject->find<WorkDone>() != nullptr);
    BOOST_TEST((subject->find<WorkDone>()->status == WorkStatus::success));
    BOOST_TEST(hex(wire::Bytes(subject->memory.region(0x101).octets).first(4)) == "aabbccdd");
  }
}

BOOST_AUTO_TEST_CASE(an_atomic_response_must_match_its_request) {
  for (const auto& [contents, size] :
       {std::pair("00000002 00000000000000aa", "001e"), std::pair("00000001 000000aa", "001a")})
    BOOST_TEST_CONTEXT(contents) {
      auto subject = operational(plain_config(Role::responder));
      subject->stream.post(atomic_of(1), subject->now);
      (void)subject->output();
      const std::string header = "41 4b 00000000 00000003 00000001 00000000";
      subject->feed(fpdu(header + contents));
      BOOST_TEST(subject->output() == hex(fpdu("41 47 00000000 00000002 00000001 00000000"
                                               "02ff c000" +
                                               std::string(size) + header)));
      BOOST_REQUIRE(subject->find<WorkDone>() != nullptr);
      BOOST_TEST((subject->find<WorkDone>()->status == WorkStatus::bad_response));
    }
}

BOOST_AUTO_TEST_CASE(a_read_that_fails_half_way_says_how_far_it_came) {
  Config config = plain_config(Role::responder);
  config.emss = 136;  // MULPDU 130: 116 octets per segment of a Response
  auto subject = operational(config);
  subject->memory.add_region(0x606, 0x8000, 400, every_access);
  subject->feed(
      fpdu("41 41 00000000 00000001 00000001 00000000"
           "00000777 0000000000002000 00000190 00000606 0000000000008000"));
  std::vector<wire::Bytes> list;
  subject->stream.gather(list, 200);  // two segments
  std::size_t count = 0;
  for (const wire::Bytes piece : list) count += piece.size();
  subject->stream.transmitted(count, subject->now);
  subject->memory.remove_region(0x606);
  BOOST_TEST(subject->output() ==
             hex(fpdu("41 47 00000000 00000002 00000001 00000000 0100 e000 002e"
                      "41 41 00000000 00000001 00000001 00000000"
                      "00000777 00000000000020e8 000000a8 00000606 00000000000080e8")));
}

BOOST_AUTO_TEST_CASE(responses_and_posted_work_take_turns) {
  Config config = plain_config(Role::responder);
  config.ird = 4;
  auto subject = operational(config);
  for (int i = 1; i <= 3; ++i)
    subject->feed(fpdu("41 41 00000000 00000001 0000000" + std::to_string(i) +
                       "00000000 00000777 0000000000002000 00000004 00000101 0000000000001000"));
  for (std::uint64_t i = 1; i <= 3; ++i) subject->stream.post(send_of(i, {}), subject->now);
  std::string order;
  for (const std::string& ulpdu : ulpdus(subject->output())) order += ulpdu[3];
  BOOST_TEST((order == "323232" || order == "232323"));
}

// ---- Markers and direct placement ----

BOOST_AUTO_TEST_CASE(the_first_octets_with_markers_are_a_zero_marker) {
  Config config = plain_config(Role::responder, true);
  Subject subject(config);
  subject.feed(request("c0 01 0000"));
  subject.stream.accept(1, 1, {}, subject.now);
  (void)subject.output();
  subject.feed(fpdu("c1 40 00000000 0000000000000000", true));
  // RFC 5044 Figure 5: a Send of 24 zero octets as the first FPDU.
  const std::vector<std::byte> zeros(24);
  subject.stream.post(send_of(1, zeros), subject.now);
  BOOST_TEST(subject.output() ==
             squeezed("00000000 002a 4143 00000000 00000000 00000001 00000000") +
                 std::string(48, '0') + "52239983");
}

BOOST_AUTO_TEST_CASE(without_crc_and_markers_payload_lands_without_a_copy) {
  const auto message = fpdu("c1 40 00000101 0000000000001004 000102030405060708090a0b0c0d0e0f");
  for (const std::size_t here : {0U, 3U}) {  // octets of the payload that came with the header
    auto subject = operational(plain_config(Role::responder));
    subject->feed(wire::Bytes(message).first(2 + 14 + here));
    const auto targets = subject->stream.receive_targets();
    BOOST_REQUIRE_GE(targets.size(), 2U);
    BOOST_TEST(targets[0].data() == subject->memory.region(0x101).octets.data() + 4 + here);
    BOOST_TEST(targets[0].size() == 16 - here);
  }
}

BOOST_AUTO_TEST_CASE(behind_a_long_payload_only_the_next_header_is_read_into_scratch) {
  const auto targets_within = [](std::string_view front) {
    auto subject = operational(plain_config(Role::responder));
    subject->memory.add_region(0x606, 0, 10000, every_access);
    subject->feed(front);
    std::vector<std::size_t> sizes;
    for (const wire::MutableBytes target : subject->stream.receive_targets())
      sizes.push_back(target.size());
    return sizes;
  };
  // 10000 octets of payload; 16 octets; 10000 octets for which there is no place
  BOOST_TEST((targets_within("271e c1 40 00000606 0000000000000000") ==
              std::vector<std::size_t>{10000, 64}));
  const auto of_a_short_one = targets_within("001e c1 40 00000606 0000000000000000");
  BOOST_REQUIRE_EQUAL(of_a_short_one.size(), 2U);
  BOOST_TEST(of_a_short_one[1] > 10000U);
  const auto of_a_refused_one = targets_within("271e c1 40 00000999 0000000000000000");
  BOOST_REQUIRE_EQUAL(of_a_refused_one.size(), 1U);
  BOOST_TEST(of_a_refused_one[0] > 10000U);
}

BOOST_AUTO_TEST_CASE(an_ended_stream_writes_nothing_and_keeps_nothing) {
  auto subject = operational(plain_config(Role::responder));
  const auto message = fpdu("c1 40 00000101 0000000000001000 a0a1a2a3a4a5a6a7");
  subject->feed(wire::Bytes(message).first(2 + 14 + 3));
  subject->stream.abort(subject->now);
  subject->feed(wire::Bytes(message).subspan(2 + 14 + 3));
  BOOST_TEST(hex(wire::Bytes(subject->memory.region(0x101).octets).first(8)) == "a0a1a20304050607");
  const auto* const scratch = subject->stream.receive_targets().back().data();
  subject->feed(pattern(1000));
  BOOST_TEST(subject->stream.receive_targets().back().data() == scratch);
}

BOOST_AUTO_TEST_CASE(memory_taken_back_within_an_fpdu_is_not_written_to) {
  auto subject = operational(plain_config(Role::responder));
  const auto message = fpdu("c1 40 00000101 0000000000001000 a0a1a2a3a4a5a6a7");
  subject->feed(wire::Bytes(message).first(2 + 14 + 3));
  subject->memory.region(0x101).refusal = MemoryFault::invalid_stag;  // the consumer deregisters it
  subject->feed(wire::Bytes(message).subspan(2 + 14 + 3));
  BOOST_TEST(hex(wire::Bytes(subject->memory.region(0x101).octets).first(8)) == "a0a1a20304050607");
  BOOST_TEST(subject->output() ==
             hex(fpdu("41 47 00000000 00000002 00000001 00000000 1100 c000 0016 c1 40 00000101 "
                      "0000000000001000")));
}

}  // namespace
}  // namespace rnic::stream::test
