// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How certain a finding is that depends on what the other end had sent by then: that follows from what
// the sender had received, not from the order of the frames in a capture.
#include <boost/test/unit_test.hpp>

#include "dissectors/analyzer/tests/conversation.hpp"

namespace dissectors::analyzer::tests {

namespace {

constexpr std::uint64_t startup_frame = 20;
constexpr std::uint64_t empty_send = 18 + 6;

/// The only finding.
Certainty certainty_of(Conversation& conversation) {
  conversation.finish();
  BOOST_REQUIRE(conversation.findings.size() == 1U);
  return conversation.findings.front().certainty;
}

/// An FPDU of the Initiator that the capture has before the Reply.
void before_the_reply(Conversation& it, std::optional<std::uint64_t> received) {
  it.request(wire::MpaFlags::c);
  it.knowing(received);
  it.send(initiator, ulpdu(Untagged{}));
  it.reply(wire::MpaFlags::c);
}

/// An FPDU of the Responder that the capture has before the Initiator's first one.
void before_the_initiator(Conversation& it, std::optional<std::uint64_t> received) {
  it.start();
  it.knowing(received);
  it.send(responder, ulpdu(Untagged{}));
  it.send(initiator, ulpdu(Untagged{}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(certainty)

BOOST_AUTO_TEST_CASE(an_fpdu_was_sent_before_the_reply_if_its_segment_does_not_acknowledge_it) {
  Conversation unknown;
  before_the_reply(unknown, std::nullopt);
  BOOST_TEST((certainty_of(unknown) == Certainty::likely));
  Conversation none;
  before_the_reply(none, 0);
  BOOST_TEST((certainty_of(none) == Certainty::certain));
  Conversation part;
  before_the_reply(part, startup_frame - 1);
  BOOST_TEST((certainty_of(part) == Certainty::certain));
  Conversation all;
  before_the_reply(all, startup_frame);
  all.finish();
  BOOST_TEST(all.findings.empty());
}

BOOST_AUTO_TEST_CASE(an_fpdu_without_a_reply_is_wrong_only_if_nothing_had_come) {
  for (const std::uint64_t received : {std::uint64_t{0}, startup_frame}) {
    Conversation it;
    it.request(wire::MpaFlags::c);
    it.knowing(received);
    it.send(initiator, ulpdu(Untagged{}));
    it.hole(responder);
    it.finish();
    BOOST_TEST(it.findings.size() == (received == 0 ? 1U : 0U));
  }
}

BOOST_AUTO_TEST_CASE(the_responder_was_first_if_it_had_no_fpdu_of_the_initiator) {
  Conversation unknown;
  before_the_initiator(unknown, std::nullopt);
  BOOST_TEST((certainty_of(unknown) == Certainty::likely));
  Conversation part;
  before_the_initiator(part, startup_frame + empty_send - 1);
  BOOST_TEST((certainty_of(part) == Certainty::certain));
  Conversation all;
  before_the_initiator(all, startup_frame + empty_send);
  all.finish();
  BOOST_TEST(all.findings.empty());
}

BOOST_AUTO_TEST_CASE(the_responder_was_first_though_the_initiators_octets_are_lost) {
  for (const std::uint64_t received : {startup_frame, startup_frame + empty_send}) {
    Conversation it;
    it.start();
    it.knowing(received);
    it.send(responder, ulpdu(Untagged{}));
    it.hole(initiator);
    it.finish();
    BOOST_TEST(it.findings.size() == (received == startup_frame ? 1U : 0U));
  }
}

BOOST_AUTO_TEST_CASE(which_request_a_response_answers_is_not_certain_after_a_loss) {
  for (const bool lost : {false, true}) {
    Conversation it;
    it.start();
    if (lost) it.hole(initiator);
    it.send(initiator, read_request(1));
    it.send(responder, read_response());
    it.send(responder, read_response());
    BOOST_TEST((certainty_of(it) == (lost ? Certainty::likely : Certainty::certain)));
  }
}

/// A Request that was on its way may have been answered by it, as its sender sees it.
BOOST_AUTO_TEST_CASE(a_response_that_nobody_asked_for_makes_room_for_a_request) {
  constexpr wire::EnhancedWords::Values depths{.ird = 2, .ord = 2};
  for (const std::uint32_t requests : {3U, 4U}) {
    Conversation it;
    it.start(depths, depths);
    it.send(initiator, ulpdu(Untagged{}));
    it.send(responder, read_response());
    it.send(initiator, ulpdu(Untagged{.msn = 2}));
    for (std::uint32_t msn = 1; msn <= requests; ++msn) it.send(initiator, read_request(msn));
    it.finish();
    // The Response itself, and then what is beyond the depth whatever it was taken for.
    BOOST_TEST((it.findings.size() > 1U) == (requests == 4U));
  }
}

BOOST_AUTO_TEST_CASE(a_repeated_response_may_have_been_taken_for_the_next_one) {
  constexpr wire::EnhancedWords::Values depths{.ird = 1, .ord = 1};
  for (const std::uint32_t requests : {3U, 4U}) {
    Conversation it;
    it.start(depths, depths);
    it.send(initiator, read_request(1));
    it.send(responder, read_response());
    it.send(initiator, read_request(2, {.sink = 0x501}));
    it.send(responder, read_response());
    for (std::uint32_t msn = 3; msn <= requests; ++msn) it.send(initiator, read_request(msn));
    it.finish();
    BOOST_TEST((it.findings.size() > 1U) == (requests == 4U));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace dissectors::analyzer::tests
