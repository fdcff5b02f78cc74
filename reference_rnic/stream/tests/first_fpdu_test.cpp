// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The first FPDU of a connection: the RTR indication in the peer-to-peer model (RFC 6581 section 9.2),
// and what a Responder waits for (RFC 5044 section 7.1.2).
#include <boost/test/unit_test.hpp>

#include "reference_rnic/stream/startup.hpp"
#include "reference_rnic/stream/tests/posted_work.hpp"
#include "reference_rnic/stream/tests/startup_frames.hpp"

namespace rnic::stream::test {
namespace {

BOOST_AUTO_TEST_CASE(a_responder_is_silent_until_the_first_fpdu) {
  Subject subject(plain_config(Role::responder));
  subject.establish_as_responder();
  BOOST_TEST(subject.find<Established>() != nullptr);
  const auto message = text_octets("hi");
  Work work;
  work.id = 1;
  work.gather = {message};
  subject.stream.post(work, subject.now);
  BOOST_TEST(subject.output().empty());
  const auto first = fpdu("c1 40 00000000 0000000000000000");
  subject.feed(wire::Bytes(first).first(first.size() - 1));
  BOOST_TEST(subject.output().empty());
  subject.feed(wire::Bytes(first).last(1));
  BOOST_TEST(subject.output() ==
             squeezed("0014 41 43 00000000 00000000 00000001 00000000 6869 0000 00000000"));
}

BOOST_AUTO_TEST_CASE(local_work_of_a_responder_waits_for_no_fpdu) {
  Subject subject(plain_config(Role::responder));
  subject.establish_as_responder();
  Work local;
  local.id = 1;
  local.kind = WorkKind::local;
  subject.stream.post(local, subject.now);
  subject.stream.post(send_of(2, {}), subject.now);
  local.id = 3;
  subject.stream.post(local, subject.now);
  BOOST_TEST(subject.output().empty());
  BOOST_TEST(endings(subject) == "1 success");  // the other one comes after the Send
  subject.feed(fpdu("c1 40 00000000 0000000000000000"));
  BOOST_TEST(!subject.output().empty());
  BOOST_TEST(endings(subject) == "1 success, 2 success, 3 success");
}

BOOST_AUTO_TEST_CASE(local_work_that_fails_before_the_first_fpdu_sends_no_terminate) {
  Subject subject(plain_config(Role::responder));
  subject.establish_as_responder();
  subject.memory.refuse_local_work();
  Work local;
  local.id = 1;
  local.kind = WorkKind::local;
  subject.stream.post(local, subject.now);
  BOOST_TEST(subject.output().empty());
  BOOST_TEST(endings(subject) == "1 local_operation");
  BOOST_TEST(subject.find<Failed>() != nullptr);
}

BOOST_AUTO_TEST_CASE(the_rtr_takes_its_msn_and_nothing_else) {
  Config config = enhanced_config(Role::responder);
  config.crc = false;
  Subject subject(config);
  subject.memory.post_receive(1, 8);
  start_peer_to_peer(subject, "c004 c004");
  subject.feed(fpdu("41 43 00000000 00000000 00000001 00000000"));
  BOOST_TEST(subject.find<Established>() != nullptr);
  BOOST_TEST(subject.find<MessageReceived>() == nullptr);
  BOOST_TEST(subject.memory.receives_left() == 1U);
  subject.feed(fpdu("41 43 00000000 00000000 00000002 00000000"));  // the consumer's own
  BOOST_TEST(subject.find<MessageReceived>() != nullptr);
  BOOST_TEST(subject.find<Failed>() == nullptr);
}

BOOST_AUTO_TEST_CASE(an_rtr_of_another_kind_ends_the_set_up) {
  for (const char* first :
       {"c1 40 00000000 0000000000000000", "41 43 00000000 00000000 00000001 00000000 aa",
        "41 45 00000000 00000000 00000001 00000000"})
    BOOST_TEST_CONTEXT(first) {
      Config config = enhanced_config(Role::responder);
      config.crc = false;
      config.rtr = {true, false, true};
      Subject subject(config);
      start_peer_to_peer(subject, "c004 c004");
      subject.feed(fpdu(first));
      BOOST_TEST(subject.output() ==
                 hex(fpdu("41 47 00000000 00000002 00000001 00000000 2007 0000")));
      BOOST_TEST(subject.find<Established>() == nullptr);
      BOOST_REQUIRE(subject.find<StartupFailed>() != nullptr);
      BOOST_TEST((subject.find<StartupFailed>()->fault == StartupFault::no_matching_rtr));
      subject.stream.lost(subject.now);
      subject.collect();
      BOOST_TEST(subject.all<StartupFailed>().size() == 1U);
    }
}

BOOST_AUTO_TEST_CASE(an_rtr_of_a_kind_that_the_reply_does_not_state_ends_the_set_up) {
  // The Responder could take all kinds. Its Reply states those that were asked for, and only these
  // are negotiated (RFC 6581 section 9.2).
  constexpr const char* send = "41 43 00000000 00000000 00000001 00000000";
  constexpr const char* write = "c1 40 00000000 0000000000000000";
  constexpr const char* read =
      "41 41 00000000 00000001 00000001 00000000 00000000 0000000000000000 00000000 00000000 "
      "0000000000000000";
  struct Row {
    const char* asked;
    const char* first;
    bool taken;
  };
  for (const Row& row :
       {Row{"c004 0004", send, true}, Row{"c004 0004", write, false}, Row{"c004 0004", read, false},
        Row{"8004 8004", write, true}, Row{"8004 8004", send, false}, Row{"8004 4004", read, true},
        Row{"8004 4004", write, false}, Row{"8004 0004", write, true}})
    BOOST_TEST_CONTEXT(row.asked << ": " << row.first) {
      Config config = enhanced_config(Role::responder);
      config.crc = false;
      Subject subject(config);
      start_peer_to_peer(subject, row.asked);
      subject.feed(fpdu(row.first));
      BOOST_TEST((subject.find<Established>() != nullptr) == row.taken);
      BOOST_TEST((subject.find<StartupFailed>() == nullptr) == row.taken);
      if (!row.taken)
        BOOST_TEST(subject.output() ==
                   hex(fpdu("41 47 00000000 00000002 00000001 00000000 2007 0000")));
    }
}

BOOST_AUTO_TEST_CASE(a_read_as_rtr_asks_for_nothing) {
  Config config = enhanced_config(Role::responder);
  config.crc = false;
  Subject subject(config);
  furnish(subject.memory);
  start_peer_to_peer(subject, "c004 c004");
  subject.feed(
      fpdu("41 41 00000000 00000001 00000001 00000000"
           "00000777 0000000000002000 00000004 00000101 0000000000001000"));
  BOOST_TEST(subject.output() == hex(fpdu("41 47 00000000 00000002 00000001 00000000 2007 0000")));
}

BOOST_AUTO_TEST_CASE(a_first_fpdu_that_mpa_refuses_ends_the_set_up) {
  Subject subject(enhanced_config(Role::responder));
  start_peer_to_peer(subject, "c004 c004");
  auto bad = fpdu("41 43 00000000 00000000 00000001 00000000", true);
  bad.back() ^= std::byte{1};
  subject.feed(bad);
  BOOST_TEST(subject.output().empty());
  BOOST_REQUIRE(subject.find<StartupFailed>() != nullptr);
  BOOST_TEST((subject.find<StartupFailed>()->fault == StartupFault::invalid_frame));
}

BOOST_AUTO_TEST_CASE(a_terminate_in_place_of_the_rtr_is_reported) {
  for (const auto& [cause, fault] :
       {std::pair("2006", StartupFault::insufficient_ird),
        std::pair("2007", StartupFault::no_matching_rtr), std::pair("0000", StartupFault::lost)})
    BOOST_TEST_CONTEXT(cause) {
      Config config = enhanced_config(Role::responder);
      config.crc = false;
      Subject subject(config);
      start_peer_to_peer(subject, "c004 c004");
      subject.feed(fpdu("41 47 00000000 00000002 00000001 00000000" + std::string(cause) + "0000"));
      BOOST_REQUIRE(subject.find<TerminateReceived>() != nullptr);
      BOOST_REQUIRE(subject.find<StartupFailed>() != nullptr);
      BOOST_TEST((subject.find<StartupFailed>()->fault == fault));
      BOOST_TEST(subject.find<Established>() == nullptr);
    }
}

}  // namespace
}  // namespace rnic::stream::test
