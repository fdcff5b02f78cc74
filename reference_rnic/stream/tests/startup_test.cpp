// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// MPA startup against hand-typed frames (RFC 5044 section 7.1, RFC 6581), in both roles.
#include <boost/test/unit_test.hpp>

#include "reference_rnic/stream/startup.hpp"
#include "reference_rnic/stream/tests/posted_work.hpp"
#include "reference_rnic/stream/tests/startup_frames.hpp"

namespace rnic::stream::test {
namespace {

// ---- responder ----

BOOST_AUTO_TEST_CASE(each_request_gets_its_reply) {
  for (const RequestRow& row : request_rows())
    for (const bool octetwise : {false, true})
      BOOST_TEST_CONTEXT(row.name << (octetwise ? ", octet by octet" : "")) {
        Subject subject(enhanced_config(Role::responder));
        const auto input = octets(row.request);
        for (std::size_t at = 0; at < input.size(); at += octetwise ? 1 : input.size())
          subject.feed(wire::Bytes(input).subspan(at, octetwise ? 1 : input.size()));
        subject.stream.accept(8, 4, {}, subject.now);
        BOOST_TEST(subject.output() == squeezed(row.reply));
        const bool fine = !row.reply.empty();
        BOOST_TEST((subject.find<StartupFailed>() == nullptr) == fine);
        BOOST_TEST((subject.stream.closing() == (fine ? Closing::none : Closing::full_close)));
        BOOST_TEST((subject.find<Closed>() == nullptr) == fine);
      }
}

BOOST_AUTO_TEST_CASE(private_data_of_every_length_reaches_the_consumer) {
  for (const std::size_t length : {0U, 1U, 4U, 255U, 256U, 257U, 508U, 511U, 512U}) {
    const auto data = pattern(length);
    Subject subject(enhanced_config(Role::responder));
    auto input = octets(request("40 01"));
    input.push_back(static_cast<std::byte>(length >> 8));
    input.push_back(static_cast<std::byte>(length & 0xFF));
    input.insert(input.end(), data.begin(), data.end());
    subject.feed(input);
    BOOST_REQUIRE(subject.find<ConnectRequest>() != nullptr);
    BOOST_TEST((subject.find<ConnectRequest>()->private_data == data));
    BOOST_TEST(subject.find<ConnectRequest>()->revision == 1);
  }
}

BOOST_AUTO_TEST_CASE(a_request_is_shown_as_the_peer_stated_it) {
  Subject subject(enhanced_config(Role::responder));
  subject.feed(request("d0 02 0007 c003 8002 616263"));
  BOOST_REQUIRE(subject.find<ConnectRequest>() != nullptr);
  const ConnectRequest& shown = *subject.find<ConnectRequest>();
  BOOST_TEST(shown.flags.markers());
  BOOST_REQUIRE(shown.enhanced);
  const wire::EnhancedWords::Values expected{true, true, true, false, 3, 2};
  BOOST_TEST((*shown.enhanced == expected));
  BOOST_TEST((shown.private_data == text_octets("abc")));
}

BOOST_AUTO_TEST_CASE(a_rejection_carries_private_data_and_leaves_mpa) {
  Subject subject(enhanced_config(Role::responder));
  subject.feed(request("50 02 0004 c003 8002"));
  subject.stream.reject(text_octets("no"), subject.now);
  BOOST_TEST(subject.output() == squeezed(reply("70 02 0006 c008 c004 6e6f")));
  BOOST_TEST(subject.find<Closed>() != nullptr);
  BOOST_TEST((subject.stream.closing() == Closing::full_close));
  BOOST_TEST(subject.find<Established>() == nullptr);
}

BOOST_AUTO_TEST_CASE(a_rejection_names_rtr_kinds_in_the_peer_to_peer_model_only) {
  Subject subject(enhanced_config(Role::responder));
  subject.feed(request("50 02 0004 0003 0002"));
  subject.stream.reject({}, subject.now);
  BOOST_TEST(subject.output() == squeezed(reply("70 02 0004 0008 0004")));
}

BOOST_AUTO_TEST_CASE(a_responder_of_revision_one_closes_on_revision_two) {
  Config config = enhanced_config(Role::responder);
  config.revision = 1;
  Subject subject(config);
  subject.feed(request("50 02 0004 0003 0002"));
  BOOST_TEST(subject.output().empty());
  BOOST_TEST(subject.find<StartupFailed>() != nullptr);
}

BOOST_AUTO_TEST_CASE(depths_in_use_follow_the_negotiation) {
  const auto negotiated = [](std::string_view words) {
    Subject subject(enhanced_config(Role::responder));
    subject.feed(request("50 02 0004" + std::string(words)));
    subject.stream.accept(8, 4, {}, subject.now);
    return subject.stream.negotiated();
  };
  BOOST_TEST(negotiated("0003 0002").ord == 3);
  BOOST_TEST(negotiated("0003 0002").ird == 8);
  BOOST_TEST(negotiated("0003 0002").peer_ird == 3);
  BOOST_TEST(negotiated("0003 0002").peer_ord == 2);
  BOOST_TEST(negotiated("3fff 3fff").ord == 4);
  BOOST_TEST(negotiated("3fff 3fff").ird == 8);
  BOOST_TEST(negotiated("3ffe 0000").ord == 4);
}

BOOST_AUTO_TEST_CASE(what_was_agreed_on_is_shown_to_both_sides) {
  const auto check = [](const Negotiated& negotiated, int revision, bool enhanced,
                        bool peer_to_peer) {
    BOOST_TEST(int(negotiated.revision) == revision);
    BOOST_TEST(negotiated.enhanced == enhanced);
    BOOST_TEST(negotiated.peer_to_peer == peer_to_peer);
  };
  const auto responder = [](std::string_view asked) {
    Subject subject(enhanced_config(Role::responder));
    subject.feed(request(asked));
    subject.stream.accept(8, 4, {}, subject.now);
    return subject.stream.negotiated();
  };
  check(responder("40 01 0000"), 1, false, false);
  check(responder("40 02 0000"), 2, false, false);
  check(responder("50 02 0004 0003 0002"), 2, true, false);
  check(responder("50 02 0004 c003 c002"), 2, true, true);
  const auto initiator = [](bool enhanced, bool peer_to_peer, std::string_view answered) {
    Config config = enhanced_config(Role::initiator);
    config.enhanced = enhanced;
    config.peer_to_peer = peer_to_peer;
    Subject subject(config);
    (void)subject.output();
    subject.feed(reply(answered));
    return subject.stream.negotiated();
  };
  check(initiator(false, false, "40 01 0000"), 1, false, false);
  check(initiator(false, false, "40 02 0000"), 2, false, false);
  check(initiator(true, false, "50 02 0004 0003 0002"), 2, true, false);
  check(initiator(true, true, "50 02 0004 c003 c002"), 2, true, true);
}

BOOST_AUTO_TEST_CASE(a_read_as_rtr_gets_room_even_with_ird_zero) {
  Subject subject(enhanced_config(Role::responder));
  subject.feed(request("50 02 0004 8000 4000"));
  subject.stream.accept(0, 0, {}, subject.now);
  BOOST_TEST(subject.output() == squeezed(reply("50 02 0004 8001 4000")));
  subject.feed(
      fpdu("41 41 00000000 00000001 00000001 00000000"
           "00000000 0000000000000000 00000000 00000000 0000000000000000",
           true));
  BOOST_TEST(subject.find<Established>() != nullptr);
  BOOST_TEST(subject.output() == hex(fpdu("c1 42 00000000 0000000000000000", true)));
}

// ---- initiator ----

BOOST_AUTO_TEST_CASE(the_request_says_what_was_configured) {
  const auto request_of = [](Config config) { return Subject(std::move(config)).output(); };
  Config config = enhanced_config(Role::initiator);
  BOOST_TEST(request_of(config) == squeezed(request("50 02 0004 0008 0004")));
  config.peer_to_peer = true;
  BOOST_TEST(request_of(config) == squeezed(request("50 02 0004 c008 c004")));
  config.rtr = {false, true, false};
  BOOST_TEST(request_of(config) == squeezed(request("50 02 0004 8008 8004")));
  config.ird = config.ord = wire::read_depth_unnegotiated;
  config.private_data = text_octets("abc");
  BOOST_TEST(request_of(config) == squeezed(request("50 02 0007 bfff bfff 616263")));
  config.ird = config.ord = 0xFFFF;  // more than fits into 14 bits
  BOOST_TEST(request_of(config) == squeezed(request("50 02 0007 bffe bffe 616263")));
  config.enhanced = false;
  config.markers = true;
  BOOST_TEST(request_of(config) == squeezed(request("c0 02 0003 616263")));
  config.revision = 1;
  config.crc = false;
  BOOST_TEST(request_of(config) == squeezed(request("80 01 0003 616263")));
}

BOOST_AUTO_TEST_CASE(each_reply_is_taken_as_the_rfc_says) {
  for (const ReplyRow& row : reply_rows())
    for (const bool octetwise : {false, true})
      BOOST_TEST_CONTEXT(row.name << (octetwise ? ", octet by octet" : "")) {
        Config config = enhanced_config(Role::initiator);
        config.peer_to_peer = row.peer_to_peer;
        Subject subject(config);
        (void)subject.output();
        const auto input = octets(row.reply);
        for (std::size_t at = 0; at < input.size(); at += octetwise ? 1 : input.size())
          subject.feed(wire::Bytes(input).subspan(at, octetwise ? 1 : input.size()));
        BOOST_TEST(subject.output() == (row.next.empty() ? "" : hex(fpdu(row.next, true))));
        BOOST_TEST((subject.find<Established>() != nullptr) == row.established);
        const auto* failed = subject.find<StartupFailed>();
        BOOST_TEST((failed != nullptr) == row.fault.has_value());
        if (failed != nullptr && row.fault) BOOST_TEST((failed->fault == *row.fault));
      }
}

BOOST_AUTO_TEST_CASE(depths_of_the_reply_bound_the_initiator) {
  Subject subject(enhanced_config(Role::initiator));
  (void)subject.output();
  subject.feed(reply("50 02 0006 0002 0007 6869"));
  const Negotiated& negotiated = subject.stream.negotiated();
  BOOST_TEST(negotiated.ord == 2);
  BOOST_TEST(negotiated.ird == 8);
  BOOST_TEST(negotiated.peer_ird == 2);
  BOOST_TEST(negotiated.peer_ord == 7);
  BOOST_REQUIRE(subject.find<Established>() != nullptr);
  BOOST_TEST((subject.find<Established>()->private_data == text_octets("hi")));
}

BOOST_AUTO_TEST_CASE(a_rejected_initiator_learns_the_values) {
  Subject subject(enhanced_config(Role::initiator));
  (void)subject.output();
  subject.feed(reply("70 02 0005 0002 0007 21"));
  BOOST_REQUIRE(subject.find<Rejected>() != nullptr);
  BOOST_REQUIRE(subject.find<Rejected>()->enhanced);
  BOOST_TEST(subject.find<Rejected>()->enhanced->ord == 7);
  BOOST_TEST((subject.find<Rejected>()->private_data == text_octets("!")));
  BOOST_TEST(subject.find<Closed>() != nullptr);
  BOOST_TEST(subject.output().empty());
}

BOOST_AUTO_TEST_CASE(a_set_up_that_fails_is_told_once_and_by_a_terminate_as_framed_as_agreed) {
  Config config = enhanced_config(Role::initiator);
  config.crc = false;
  Subject subject(config);
  (void)subject.output();
  subject.feed(reply("10 02 0004 0004 0009"));  // an ORD above our IRD, and no CRC
  BOOST_TEST(subject.output() ==
             hex(fpdu("41 47 00000000 00000002 00000001 00000000 2006 0000", false)));
  subject.stream.lost(subject.now);
  subject.collect();
  BOOST_TEST(subject.all<StartupFailed>().size() == 1U);
  BOOST_TEST(subject.find<Closed>() != nullptr);
}

BOOST_AUTO_TEST_CASE(a_reply_to_a_request_that_has_not_left_answers_nothing) {
  Subject subject(enhanced_config(Role::initiator));
  subject.feed(reply("50 02 0004 0004 0004"));
  BOOST_REQUIRE(subject.find<StartupFailed>() != nullptr);
  BOOST_TEST((subject.find<StartupFailed>()->fault == StartupFault::invalid_frame));
  BOOST_TEST(subject.find<Established>() == nullptr);
}

BOOST_AUTO_TEST_CASE(an_initiator_may_answer_its_first_fpdu_by_a_terminate) {
  Subject subject(enhanced_config(Role::initiator));
  (void)subject.output();
  subject.feed(reply("50 02 0004 0004 0004"));
  auto bad = fpdu("41 43 00000000 00000000 00000001 00000000", true);
  bad.back() ^= std::byte{1};
  subject.feed(bad);
  BOOST_TEST(subject.output() ==
             hex(fpdu("41 47 00000000 00000002 00000001 00000000 2002 0000", true)));
}

BOOST_AUTO_TEST_CASE(fpdus_right_behind_the_reply_are_taken) {
  Subject subject(enhanced_config(Role::initiator));
  subject.memory.post_receive(1, 8);
  (void)subject.output();
  auto input = octets(reply("50 02 0004 0004 0004"));
  const auto message = fpdu("41 43 00000000 00000000 00000001 00000000 aabb", true);
  input.insert(input.end(), message.begin(), message.end());
  subject.feed(input);
  BOOST_TEST(subject.find<MessageReceived>() != nullptr);
}

// ---- time, and the end of the connection ----

BOOST_AUTO_TEST_CASE(startup_times_out_in_each_state_that_waits_for_the_peer) {
  const auto expect_timeout = [](Subject& subject) {
    BOOST_REQUIRE(subject.stream.next_wakeup());
    const TimePoint due = *subject.stream.next_wakeup();
    subject.stream.wakeup(due - Duration(1));
    subject.collect();
    BOOST_TEST(subject.find<StartupFailed>() == nullptr);
    subject.stream.wakeup(due);
    subject.collect();
    BOOST_REQUIRE(subject.find<StartupFailed>() != nullptr);
    BOOST_TEST((subject.find<StartupFailed>()->fault == StartupFault::timeout));
    BOOST_TEST(subject.find<Closed>() != nullptr);
    BOOST_TEST(!subject.stream.next_wakeup());
  };
  Subject silent(enhanced_config(Role::responder));
  silent.feed("4d50");
  expect_timeout(silent);
  Subject unanswered(enhanced_config(Role::initiator));
  (void)unanswered.output();
  expect_timeout(unanswered);
  Subject without_rtr(enhanced_config(Role::responder));
  start_peer_to_peer(without_rtr, "c004 c004");
  expect_timeout(without_rtr);
}

BOOST_AUTO_TEST_CASE(startup_has_its_time_from_the_beginning_and_the_rtr_from_the_reply) {
  const Duration timeout = Config().startup_timeout;
  for (const Role role : {Role::initiator, Role::responder})
    BOOST_TEST((Subject(enhanced_config(role)).stream.next_wakeup() == TimePoint{} + timeout));
  Subject without_rtr(enhanced_config(Role::responder));
  without_rtr.now = TimePoint(std::chrono::seconds(3));
  start_peer_to_peer(without_rtr, "c004 c004");
  BOOST_TEST((without_rtr.stream.next_wakeup() == without_rtr.now + timeout));
}

BOOST_AUTO_TEST_CASE(an_rtr_that_cannot_leave_fails_the_set_up_in_time) {
  Config config = enhanced_config(Role::initiator);
  config.peer_to_peer = true;
  Subject subject(config);
  (void)subject.output();
  subject.feed(reply("50 02 0004 c004 c008"));
  BOOST_TEST((subject.stream.state() == State::sending_rtr));
  BOOST_REQUIRE(subject.stream.next_wakeup());
  subject.stream.wakeup(*subject.stream.next_wakeup());
  subject.collect();
  BOOST_REQUIRE(subject.find<StartupFailed>() != nullptr);
  BOOST_TEST((subject.find<StartupFailed>()->fault == StartupFault::timeout));
  BOOST_TEST(subject.find<Closed>() != nullptr);
  BOOST_TEST((subject.stream.closing() == Closing::reset));
  BOOST_TEST(!subject.stream.next_wakeup());
}

BOOST_AUTO_TEST_CASE(an_established_stream_has_no_startup_timer) {
  Subject subject(plain_config(Role::responder));
  subject.feed(request("00 01 0000"));
  BOOST_TEST(!subject.stream.next_wakeup());  // the consumer decides without haste
  subject.stream.accept(1, 1, {}, subject.now);
  (void)subject.output();
  BOOST_TEST(!subject.stream.next_wakeup());
  Subject with_rtr(enhanced_config(Role::responder));
  start_peer_to_peer(with_rtr, "c004 c004");
  with_rtr.feed(fpdu("41 43 00000000 00000000 00000001 00000000", true));
  BOOST_TEST(with_rtr.find<Established>() != nullptr);
  BOOST_TEST(!with_rtr.stream.next_wakeup());
  for (const bool peer_to_peer : {false, true}) {
    Config config = enhanced_config(Role::initiator);
    config.peer_to_peer = peer_to_peer;
    Subject initiator(config);
    (void)initiator.output();
    initiator.feed(reply(peer_to_peer ? "50 02 0004 c004 c004" : "50 02 0004 0004 0004"));
    (void)initiator.output();
    BOOST_TEST(initiator.find<Established>() != nullptr);
    BOOST_TEST(!initiator.stream.next_wakeup());
  }
}

/// A stream in this state; none of its later output has left.
std::unique_ptr<Subject> in_state(State state) {
  auto subject = std::make_unique<Subject>(enhanced_config(
      state == State::sending_request || state == State::awaiting_reply ? Role::initiator
                                                                        : Role::responder));
  if (state == State::awaiting_reply) (void)subject->output();
  if (state == State::awaiting_decision || state == State::sending_reply)
    subject->feed(request("50 02 0004 c004 c004"));
  if (state == State::sending_reply) subject->stream.accept(1, 1, {}, subject->now);
  if (state == State::awaiting_first_fpdu) start_peer_to_peer(*subject, "c004 c004");
  BOOST_TEST((subject->stream.state() == state));
  return subject;
}

BOOST_AUTO_TEST_CASE(nothing_may_stand_between_a_request_and_its_reply) {
  for (const State state : {State::awaiting_decision, State::sending_reply}) {
    const auto subject = in_state(state);
    subject->feed("4d");  // as another Request would begin
    BOOST_REQUIRE(subject->find<StartupFailed>() != nullptr);
    BOOST_TEST((subject->find<StartupFailed>()->fault == StartupFault::invalid_frame));
    BOOST_TEST(subject->find<Closed>() != nullptr);
    BOOST_TEST(subject->output().empty());
  }
}

BOOST_AUTO_TEST_CASE(the_consumer_may_leave_in_every_state_of_startup) {
  for (const State state : {State::awaiting_request, State::awaiting_decision, State::sending_reply,
                            State::sending_request, State::awaiting_reply})
    BOOST_TEST_CONTEXT(name(state)) {
      const auto subject = in_state(state);
      subject->stream.disconnect(subject->now);
      BOOST_TEST(subject->output().empty());
      BOOST_TEST(subject->find<Closed>() != nullptr);
      BOOST_TEST((subject->stream.closing() == Closing::full_close));
      BOOST_TEST(!subject->stream.next_wakeup());
    }
  const auto without_rtr = in_state(State::awaiting_first_fpdu);
  without_rtr->stream.disconnect(without_rtr->now);
  BOOST_TEST((without_rtr->stream.closing() == Closing::half_close));
  BOOST_TEST(!without_rtr->stream.next_wakeup());
}

BOOST_AUTO_TEST_CASE(a_frame_that_has_begun_to_leave_leaves_whole) {
  const auto subject = in_state(State::sending_request);
  std::string sent = take(*subject, 5);
  std::vector<wire::Bytes> list;
  std::vector<std::size_t> boundaries;
  subject->stream.gather(list, 1000, &boundaries);
  BOOST_TEST((boundaries == std::vector<std::size_t>{24 - 5}));
  subject->stream.disconnect(subject->now);
  sent += subject->output();
  BOOST_TEST(sent == squeezed(request("50 02 0004 0008 0004")));
  const auto lost = in_state(State::sending_request);
  (void)take(*lost, 5);
  lost->stream.lost(lost->now);
  BOOST_TEST(lost->output().empty());
}

BOOST_AUTO_TEST_CASE(fin_and_loss_end_startup_in_every_state) {
  for (const State state :
       {State::awaiting_request, State::awaiting_decision, State::sending_reply,
        State::awaiting_first_fpdu, State::sending_request, State::awaiting_reply})
    for (const bool fin : {true, false})
      BOOST_TEST_CONTEXT(name(state) << (fin ? " FIN" : " loss")) {
        const auto subject = in_state(state);
        if (fin)
          subject->stream.peer_closed(subject->now);
        else
          subject->stream.lost(subject->now);
        subject->collect();
        BOOST_REQUIRE(subject->find<StartupFailed>() != nullptr);
        BOOST_TEST((subject->find<StartupFailed>()->fault ==
                    (fin ? StartupFault::peer_closed : StartupFault::lost)));
        BOOST_TEST(subject->all<Closed>().size() == 1U);
        BOOST_TEST((subject->stream.closing() == (fin ? Closing::full_close : Closing::none)));
        // Late calls of the consumer find a dead stream, not a crash.
        subject->stream.accept(1, 1, {}, subject->now);
        subject->stream.reject({}, subject->now);
        subject->stream.disconnect(subject->now);
        subject->stream.abort(subject->now);
        subject->collect();
        BOOST_TEST(subject->output().empty());
        BOOST_TEST(subject->all<Closed>().size() == 1U);
        BOOST_TEST((subject->stream.closing() == (fin ? Closing::full_close : Closing::none)));
        BOOST_TEST(!subject->stream.next_wakeup());
      }
}

BOOST_AUTO_TEST_CASE(crc_and_markers_follow_both_frames) {
  for (const int mine : {0x00, 0x40, 0x80, 0xc0})
    for (const int theirs : {0x00, 0x40, 0x80, 0xc0}) {
      Config config = plain_config(Role::responder, (mine & 0x40) != 0);
      config.markers = (mine & 0x80) != 0;
      Subject subject(config);
      auto input = octets(request("00 01 0000"));
      input[16] = static_cast<std::byte>(theirs);
      subject.feed(input);
      subject.stream.accept(1, 1, {}, subject.now);
      const Negotiated& negotiated = subject.stream.negotiated();
      BOOST_TEST(negotiated.crc == (((mine | theirs) & 0x40) != 0));
      BOOST_TEST(negotiated.send_markers == ((theirs & 0x80) != 0));
      BOOST_TEST(negotiated.receive_markers == ((mine & 0x80) != 0));
    }
}

}  // namespace
}  // namespace rnic::stream::test
