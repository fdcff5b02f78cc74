// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Conversations without a fault, and incomplete captures: there must be no finding.
#include <boost/test/unit_test.hpp>

#include "dissectors/analyzer/tests/conversation.hpp"

namespace dissectors::analyzer::tests {

namespace {

constexpr Values both_kinds{true, true, true, true, 8, 8};

void expect_clean(Conversation& conversation) {
  conversation.finish();
  for (const Finding& finding : conversation.findings)
    BOOST_ERROR(finding.rule.id << ": " << finding.actual << ", not " << finding.admissible);
}

/// Every operation from one end, with what the other answers.
void all_operations(Conversation& to, Direction from) {
  const Direction back = opposite(from);
  std::uint32_t msn = 1;
  for (const Opcode opcode : {Opcode::send, Opcode::send_solicited, Opcode::send_invalidate,
                              Opcode::send_solicited_invalidate}) {
    const std::uint32_t stag = wire::carries_invalidate(opcode) ? 0x100U + msn : 0;
    to.send(from, ulpdu(Untagged{.opcode = opcode, .msn = msn, .ulp_word = stag}));
    ++msn;
    to.send(from, ulpdu(Untagged{.opcode = opcode,
                                 .msn = msn,
                                 .payload = octets(100),
                                 .last = false,
                                 .ulp_word = stag}));
    to.send(from,
            ulpdu(Untagged{
                .opcode = opcode, .msn = msn, .mo = 100, .payload = octets(7), .ulp_word = stag}));
    ++msn;
  }
  to.send(from, ulpdu(Untagged{.opcode = Opcode::immediate, .msn = msn++, .payload = octets(8)}));
  to.send(from, ulpdu(Untagged{
                    .opcode = Opcode::immediate_solicited, .msn = msn++, .payload = octets(8)}));
  to.send(from, ulpdu(Tagged{}));
  to.send(from, ulpdu(Tagged{.to = 1, .payload = octets(100), .last = false}));
  to.send(from, ulpdu(Tagged{.to = 101, .payload = octets(3)}));
  to.send(from, ulpdu(Tagged{.to = 1, .payload = octets(100)}));

  to.send(from, read_request(1));
  to.send(from, read_request(2, {.sink = 0x501, .length = 150}));
  to.send(from, atomic_request(3, fetch_add(9)));
  wire::AtomicRequestHeader swap = fetch_add(10);
  swap.operation = 2U;
  swap.compare_data = std::uint64_t{3};
  swap.compare_mask = std::uint64_t{0xFF};
  to.send(from, atomic_request(4, swap));
  to.send(from, read_request(5, {.length = 0}));
  to.send(back, read_response());
  to.send(back, ulpdu(Tagged{.opcode = Opcode::read_response,
                             .stag = 0x501,
                             .to = 0x2000,
                             .payload = octets(100),
                             .last = false}));
  to.send(
      back,
      ulpdu(Tagged{
          .opcode = Opcode::read_response, .stag = 0x501, .to = 0x2064, .payload = octets(50)}));
  to.send(back, atomic_response(1, 9));
  to.send(back, atomic_response(2, 10));
  // The STag and TO of a Response without payload may be anything.
  to.send(back, ulpdu(Tagged{.opcode = Opcode::read_response, .stag = 0, .to = 0}));
}

void conversation_of_both(Conversation& conversation) {
  all_operations(conversation, initiator);
  all_operations(conversation, responder);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(clean)

BOOST_AUTO_TEST_CASE(all_operations_of_both_ends_in_revision_one) {
  Conversation conversation;
  conversation.start();
  conversation_of_both(conversation);
  expect_clean(conversation);
  BOOST_TEST(conversation.negotiated.crc.value());
  BOOST_TEST(!conversation.negotiated.enhanced);
}

BOOST_AUTO_TEST_CASE(all_operations_of_both_ends_in_the_client_server_model) {
  Conversation conversation;
  conversation.start({.ird = 4, .ord = 4}, {.ird = 4, .ord = 4});
  conversation_of_both(conversation);
  expect_clean(conversation);
  BOOST_TEST(conversation.negotiated.enhanced);
  BOOST_TEST(!conversation.negotiated.peer_to_peer);
}

BOOST_AUTO_TEST_CASE(each_rtr_is_the_initiators_first_fpdu) {
  for (const int kind : {0, 1, 2}) {
    Conversation conversation;
    Values answer = both_kinds;
    answer.rtr_send = kind == 0;
    answer.rtr_write = kind == 1;
    answer.rtr_read = kind == 2;
    conversation.start(both_kinds, answer);
    BOOST_TEST(conversation.negotiated.peer_to_peer);
    if (kind == 0) conversation.send(initiator, ulpdu(Untagged{}));
    if (kind == 1) conversation.send(initiator, ulpdu(Tagged{.stag = 0, .to = 0}));
    if (kind == 2) {
      conversation.send(initiator, read_request(1, {.sink = 0, .length = 0}));
      conversation.send(responder, ulpdu(Tagged{.opcode = Opcode::read_response, .stag = 0}));
    }
    conversation.send(responder, ulpdu(Untagged{.payload = octets(5)}));
    conversation.send(initiator, ulpdu(Untagged{.msn = kind == 0 ? 2U : 1U, .payload = octets(5)}));
    expect_clean(conversation);
  }
}

BOOST_AUTO_TEST_CASE(an_rtr_read_is_not_held_against_a_depth_of_none) {
  Conversation conversation;
  Values answer = both_kinds;
  answer.ird = 0;
  conversation.start(both_kinds, answer);
  conversation.send(initiator, read_request(1, {.length = 0}));
  expect_clean(conversation);
}

BOOST_AUTO_TEST_CASE(depths_left_to_the_ulp_bind_nobody) {
  Conversation conversation;
  const std::uint16_t open = wire::read_depth_unnegotiated;
  conversation.start({true, true, true, true, open, open}, {true, true, true, true, open, open});
  conversation.send(initiator, ulpdu(Untagged{}));
  for (std::uint32_t msn = 1; msn <= 100; ++msn) conversation.send(initiator, read_request(msn));
  expect_clean(conversation);
}

BOOST_AUTO_TEST_CASE(a_set_up_without_match_ends_in_code_seven) {
  Conversation conversation;
  conversation.start({true, true, false, false, 8, 8}, {true, false, true, false, 8, 8});
  conversation.send(initiator, terminate(because(wire::cause::mpa_no_rtr)));
  expect_clean(conversation);
}

BOOST_AUTO_TEST_CASE(the_rdma_consortiums_versions_are_right_after_revision_zero) {
  Conversation conversation;
  conversation.request(wire::MpaFlags::c | wire::MpaFlags::m, 0);
  conversation.reply(wire::MpaFlags::c | wire::MpaFlags::m, 0);
  BOOST_TEST(conversation.findings.size() == 1U);  // of the Request: RFC 5044 requires revision 1
  conversation.findings.clear();
  BOOST_TEST(conversation.negotiated.markers_from_first.value());
  for (const Direction direction : {initiator, responder}) {
    Octets sent = ulpdu(Untagged{.payload = octets(5)});
    sent[0] = std::byte{0x40};
    sent[1] = std::byte{0x03};
    conversation.send(direction, sent);
  }
  expect_clean(conversation);
}

BOOST_AUTO_TEST_CASE(a_terminate_may_cut_a_message_short) {
  Conversation conversation;
  conversation.start();
  const Octets request = read_request(1, {.length = 300});
  conversation.send(initiator, request);
  conversation.send(responder, ulpdu(Tagged{.opcode = Opcode::read_response,
                                            .stag = 0x500,
                                            .to = 0x2000,
                                            .payload = octets(100),
                                            .last = false}));
  wire::Terminate contents = blame(wire::cause::rdmap_invalid_stag, request);
  const Octets rest =
      payload_of(header(Read{.sink_to = 0x2064, .length = 200, .source_to = 0x3064}));
  contents.rdmap_header = rest;
  conversation.send(responder, terminate(contents));
  expect_clean(conversation);
}

BOOST_AUTO_TEST_CASE(each_terminate_of_the_registry_is_clean_with_what_figure_10_includes) {
  using namespace wire::cause;
  const Octets send = ulpdu(Untagged{.payload = octets(9)});
  const Octets write = ulpdu(Tagged{.payload = octets(9)});
  const Octets read = read_request(1);
  const Octets invalidate = ulpdu(Untagged{.opcode = Opcode::send_invalidate, .ulp_word = 5});
  const auto one = [](const Octets& blamed, const wire::Terminate& contents) {
    Conversation conversation;
    conversation.start();
    conversation.send(initiator, blamed);
    conversation.send(responder, terminate(contents));
    expect_clean(conversation);
  };
  for (const auto cause : {rdmap_invalid_stag, rdmap_base_or_bounds, rdmap_access_rights,
                           rdmap_stag_not_associated, rdmap_to_wrap, rdmap_protection_unspecified})
    one(read, blame(cause, read));
  one(invalidate, blame(rdmap_protection_cannot_invalidate, invalidate));
  one(invalidate, blame(rdmap_operation_cannot_invalidate, invalidate));
  one(write, blame(rdmap_access_rights, write));
  for (const auto cause : {ddp_tagged_invalid_stag, ddp_tagged_base_or_bounds, ddp_tagged_to_wrap})
    one(write, blame(cause, write));
  for (const auto cause : {ddp_untagged_no_buffer, ddp_untagged_message_too_long})
    one(send, blame(cause, send));
  for (const auto cause :
       {mpa_connection_lost, mpa_crc, mpa_marker, mpa_local_catastrophic, rdmap_local_catastrophic,
        ddp_local_catastrophic, rdmap_operation_unspecified, rdmap_catastrophic_stream})
    one(send, because(cause));
  // Local errors may come with their headers as zeros (RFC 5040 section 7.1).
  const Octets zeros(sizeof(wire::be16) + 18 + 28);
  wire::Terminate zero_filled = because(rdmap_local_catastrophic);
  zero_filled.ddp_header = zeros;
  one(send, zero_filled);
  // So may others in place of the header of a Read Request.
  wire::Terminate of_a_send = blame(ddp_untagged_no_buffer, send);
  of_a_send.rdmap_header = wire::Bytes(zeros).first(sizeof(wire::ReadRequestHeader));
  one(send, of_a_send);
}

// docs/disputes.md D100.
BOOST_AUTO_TEST_CASE(a_terminate_of_rdmap_may_tell_the_length_of_an_untagged_message) {
  using namespace wire::cause;
  const auto told = [](const std::vector<Octets>& sent, const Octets& blamed,
                       wire::TerminateCause cause, std::uint16_t length) {
    Conversation conversation;
    conversation.start();
    for (const Octets& one : sent) conversation.send(initiator, one);
    wire::Terminate contents = blame(cause, blamed);
    contents.segment_length = length;
    conversation.send(responder, terminate(contents));
    expect_clean(conversation);
  };
  const Octets read = read_request(1);
  told({read}, read, rdmap_invalid_stag, sizeof(wire::ReadRequestHeader));
  const Octets first = ulpdu(Untagged{
      .opcode = Opcode::send_invalidate, .payload = octets(100), .last = false, .ulp_word = 5});
  const Octets last = ulpdu(
      Untagged{.opcode = Opcode::send_invalidate, .mo = 100, .payload = octets(7), .ulp_word = 5});
  for (const Octets& blamed : {first, last})
    told({first, last}, blamed, rdmap_protection_cannot_invalidate, 107);
}

BOOST_AUTO_TEST_CASE(a_hole_makes_no_finding) {
  for (const Direction lost : {initiator, responder}) {
    Conversation conversation;
    conversation.start();
    conversation.send(initiator, read_request(1));
    conversation.send(initiator, ulpdu(Untagged{.payload = octets(5), .last = false}));
    conversation.hole(lost);
    const bool later = lost == initiator;
    conversation.send(
        initiator,
        ulpdu(Untagged{.msn = later ? 77U : 1U, .mo = later ? 300U : 5U, .payload = octets(5)}));
    conversation.send(initiator, ulpdu(Untagged{.msn = later ? 78U : 2U}));
    conversation.send(responder, read_response({.sink = 0x999}));
    conversation.send(initiator, ulpdu(Tagged{.payload = octets(9), .last = false}));
    expect_clean(conversation);
  }
}

BOOST_AUTO_TEST_CASE(a_capture_that_begins_in_mid_connection_makes_no_finding) {
  Conversation conversation;
  conversation.send(responder, read_response());
  conversation.send(responder, atomic_response(900, 3));
  conversation.send(initiator, ulpdu(Untagged{.msn = 44, .mo = 4000, .payload = octets(5)}));
  conversation.send(initiator, ulpdu(Untagged{.msn = 45}));
  conversation.send(initiator, read_request(17));
  conversation.send(responder, read_response());
  expect_clean(conversation);
  BOOST_TEST(conversation.messages.back().request_frame == 5U);
}

BOOST_AUTO_TEST_CASE(what_is_learnt_behind_a_hole_is_judged_again) {
  Conversation conversation;
  conversation.start();
  conversation.hole(initiator);
  conversation.send(initiator, ulpdu(Untagged{.msn = 44}));
  conversation.send(initiator, ulpdu(Untagged{.msn = 46}));
  conversation.send(initiator, read_request(3));
  conversation.send(responder, read_response());
  conversation.send(responder, read_response({.sink = 0x999}));
  conversation.finish();
  BOOST_REQUIRE(conversation.findings.size() == 2U);
  BOOST_TEST(conversation.findings[0].rule.id == "ddp.untagged.msn-increments-per-message");
  BOOST_TEST(conversation.findings[1].rule.id == "rdmap.read.response-opposite-direction");
}

BOOST_AUTO_TEST_CASE(contents_with_a_wrong_crc_are_not_judged) {
  Conversation conversation;
  conversation.start();
  conversation.send(initiator, ulpdu(Untagged{.opcode = static_cast<Opcode>(0xC), .msn = 9}),
                    Crc::wrong);
  conversation.send(initiator, ulpdu(Untagged{.msn = 2}));
  expect_clean(conversation);
  BOOST_TEST(conversation.messages.size() == 2U);
}

BOOST_AUTO_TEST_CASE(frames_that_the_capture_cut_are_judged_as_far_as_they_go) {
  Conversation conversation;
  conversation.start();
  Octets head = ulpdu(Untagged{.payload = octets(1000), .last = false});
  head.resize(60);
  conversation.send_cut(initiator, head, 1018);
  conversation.send(initiator, ulpdu(Untagged{.mo = 1000, .payload = octets(5)}));
  Octets read = read_request(1);
  read.resize(20);
  conversation.send_cut(initiator, read, 46);
  conversation.send(responder, read_response());
  conversation.send_cut(initiator, {std::byte{0x41}}, 46);
  conversation.send(initiator, ulpdu(Untagged{.msn = 99}));
  expect_clean(conversation);
}

BOOST_AUTO_TEST_CASE(a_request_that_the_capture_brings_late_counts) {
  Conversation conversation;
  conversation.start();
  conversation.send(initiator, ulpdu(Untagged{}));
  conversation.send(responder, read_response());
  conversation.turn_back(2);
  conversation.send(initiator, read_request(1));
  expect_clean(conversation);
}

BOOST_AUTO_TEST_CASE(an_stag_may_be_advertised_again) {
  Conversation conversation;
  conversation.start();
  conversation.send(initiator,
                    ulpdu(Untagged{.opcode = Opcode::send_invalidate, .ulp_word = 0x100}));
  conversation.send(initiator, ulpdu(Tagged{}));  // without payload it may name any
  conversation.send(responder, ulpdu(Untagged{.payload = octets(4)}));
  conversation.send(initiator, ulpdu(Tagged{.payload = octets(4)}));
  expect_clean(conversation);
}

BOOST_AUTO_TEST_CASE(messages_are_numbered_and_responses_linked) {
  Conversation conversation;
  conversation.start();
  conversation.send(initiator, read_request(1, {.length = 150}));
  conversation.send(responder, ulpdu(Tagged{.opcode = Opcode::read_response,
                                            .stag = 0x500,
                                            .to = 0x2000,
                                            .payload = octets(100),
                                            .last = false}));
  conversation.send(
      responder,
      ulpdu(Tagged{
          .opcode = Opcode::read_response, .stag = 0x500, .to = 0x2064, .payload = octets(50)}));
  conversation.send(responder, ulpdu(Untagged{.payload = octets(1)}));
  expect_clean(conversation);
  const auto& seen = conversation.messages;
  BOOST_REQUIRE(seen.size() == 4U);
  BOOST_TEST(seen[0].summary.starts_with("Read Request L qn=1 msn=1 mo=0 len=28 | sink"));
  BOOST_TEST((seen[1].first && !seen[1].last && seen[1].number == 1 && seen[1].octets == 100));
  BOOST_TEST((!seen[2].first && seen[2].last && seen[2].number == 1 && seen[2].octets == 150));
  BOOST_TEST(seen[2].request_frame == 3U);
  BOOST_TEST(seen[2].response_time == 2000U);
  BOOST_TEST(seen[3].number == 2U);
  BOOST_TEST(seen[3].request_frame == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace dissectors::analyzer::tests
