// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How a stream ends: orderly, by a Terminate of either side, by loss, by time; and what becomes of
// the work and the receives that it had.
#include "reference_rnic/stream/tests/posted_work.hpp"

namespace rnic::stream::test {
namespace {

TimePoint at(int seconds) { return TimePoint(std::chrono::seconds(seconds)); }

// ---- orderly ----

BOOST_AUTO_TEST_CASE(an_orderly_close_waits_for_all_work) {
  auto subject = operational(plain_config(Role::responder));
  subject->stream.post(read_of(1), subject->now);
  subject->stream.post(send_of(2, {}), subject->now);
  subject->stream.disconnect(subject->now);
  subject->stream.post(send_of(3, {}), subject->now);
  BOOST_TEST(ulpdus(subject->output()).size() == 2U);
  BOOST_TEST((subject->stream.closing() == Closing::none));
  subject->feed(fpdu("c1 42 00000101 0000000000001000 aabbccdd"));
  BOOST_TEST((subject->stream.closing() == Closing::half_close));
  const auto done = subject->all<WorkDone>();
  BOOST_REQUIRE_EQUAL(done.size(), 3U);
  BOOST_TEST((done[2].id == 3 && done[2].status == WorkStatus::flushed));
  subject->stream.close_done(subject->now);
  BOOST_TEST((subject->stream.closing() == Closing::none));
  // The other half still works.
  subject->memory.post_receive(1, 1);
  subject->feed(fpdu("41 43 00000000 00000000 00000001 00000000 aa"));
  BOOST_TEST(subject->find<MessageReceived>() != nullptr);
  subject->stream.peer_closed(subject->now);
  subject->collect();
  BOOST_TEST(subject->find<Closed>() != nullptr);
}

BOOST_AUTO_TEST_CASE(a_half_closed_peer_still_gets_what_is_posted) {
  auto subject = operational(plain_config(Role::responder));
  subject->stream.post(read_of(1), subject->now);
  (void)subject->output();
  subject->stream.peer_closed(subject->now);
  subject->stream.post(send_of(2, {}), subject->now);
  subject->stream.post(read_of(3), subject->now);
  BOOST_TEST(ulpdus(subject->output()).size() == 1U);
  BOOST_TEST(subject->find<PeerClosed>() != nullptr);
  const auto done = subject->all<WorkDone>();
  BOOST_REQUIRE_EQUAL(done.size(), 3U);
  BOOST_TEST((done[0].status == WorkStatus::flushed));
  BOOST_TEST((done[1].status == WorkStatus::success));
  BOOST_TEST((done[2].status == WorkStatus::flushed));
  subject->stream.disconnect(subject->now);
  BOOST_TEST((subject->stream.closing() == Closing::full_close));
  subject->stream.close_done(subject->now);
  subject->collect();
  BOOST_TEST(subject->find<Closed>() != nullptr);
}

BOOST_AUTO_TEST_CASE(reads_do_not_outlive_the_peers_half_when_ours_is_closing) {
  Config config = plain_config(Role::responder);
  config.ord = 2;
  auto subject = operational(config);
  subject->stream.post(read_of(1), subject->now);
  subject->stream.post(atomic_of(2), subject->now);
  (void)subject->output();
  subject->stream.disconnect(subject->now);
  BOOST_TEST((subject->stream.closing() == Closing::none));
  subject->stream.peer_closed(subject->now);
  subject->collect();
  BOOST_TEST(endings(*subject) == "1 flushed, 2 flushed");
  BOOST_TEST((subject->stream.closing() == Closing::full_close));
  subject->stream.close_done(subject->now);
  subject->collect();
  BOOST_TEST(subject->find<Closed>() != nullptr);
}

BOOST_AUTO_TEST_CASE(a_request_that_no_response_can_answer_does_not_leave) {
  auto subject = operational(plain_config(Role::responder));
  subject->stream.post(read_of(1), subject->now);
  subject->stream.peer_closed(subject->now);
  BOOST_TEST(subject->output().empty());
  BOOST_TEST(endings(*subject) == "1 flushed");
}

BOOST_AUTO_TEST_CASE(a_send_on_its_way_when_the_peer_closes_succeeds) {
  auto subject = operational(plain_config(Role::responder));
  subject->stream.post(read_of(1), subject->now);
  subject->stream.post(send_of(2, {}), subject->now);
  std::vector<wire::Bytes> list;
  std::vector<std::size_t> boundaries;
  subject->stream.gather(list, 100000, &boundaries);
  subject->stream.peer_closed(subject->now);
  subject->stream.transmitted(boundaries.back(), subject->now);
  subject->collect();
  BOOST_TEST(endings(*subject) == "1 flushed, 2 success");
}

BOOST_AUTO_TEST_CASE(the_rest_of_a_message_cannot_come_after_the_peers_close) {
  auto subject = operational(plain_config(Role::responder));
  subject->memory.post_receive(5, 8);
  subject->feed(fpdu("01 43 00000000 00000000 00000001 00000000 aabb"));
  subject->stream.peer_closed(subject->now);
  subject->collect();
  BOOST_TEST((subject->stream.state() == State::operational));
  BOOST_REQUIRE(subject->find<ReceiveFailed>() != nullptr);
  BOOST_TEST(subject->find<ReceiveFailed>()->work_id == 5U);
}

// ---- by an error, and by a Terminate of the peer ----

BOOST_AUTO_TEST_CASE(a_fin_within_an_fpdu_is_an_error) {
  for (const bool crc : {false, true}) {
    auto subject = operational(plain_config(Role::responder, crc));
    subject->memory.post_receive(5, 8);
    const auto message = fpdu("41 43 00000000 00000000 00000001 00000000 aabb", crc);
    subject->feed(wire::Bytes(message).first(message.size() - 1));
    subject->stream.peer_closed(subject->now);
    BOOST_TEST(subject->output() ==
               hex(fpdu("41 47 00000000 00000002 00000001 00000000 2001 0000", crc)));
    BOOST_REQUIRE(subject->find<Failed>() != nullptr);
    BOOST_TEST((subject->find<Failed>()->cause == wire::cause::mpa_connection_lost));
    BOOST_TEST(subject->find<MessageReceived>() == nullptr);
    BOOST_TEST(subject->find<PeerClosed>() == nullptr);
    BOOST_TEST((subject->stream.closing() == Closing::full_close));
  }
}

BOOST_AUTO_TEST_CASE(a_half_filled_receive_buffer_is_given_back) {
  auto subject = operational(plain_config(Role::responder));
  subject->memory.post_receive(5, 8);
  subject->feed(fpdu("01 43 00000000 00000000 00000001 00000000 aabb"));
  subject->stream.lost(subject->now);
  subject->collect();
  BOOST_REQUIRE(subject->find<ReceiveFailed>() != nullptr);
  BOOST_TEST(
      (subject->find<ReceiveFailed>()->work_id == 5 && !subject->find<ReceiveFailed>()->too_long));
  BOOST_TEST(subject->find<Lost>() != nullptr);
  BOOST_TEST(subject->find<Closed>() != nullptr);
  BOOST_TEST((subject->stream.closing() == Closing::none));
}

BOOST_AUTO_TEST_CASE(a_message_too_long_fails_its_receive_buffer) {
  auto subject = operational(plain_config(Role::responder));
  subject->memory.post_receive(5, 1);
  subject->feed(fpdu("41 43 00000000 00000000 00000001 00000000 aabb"));
  BOOST_REQUIRE(subject->find<ReceiveFailed>() != nullptr);
  BOOST_TEST(subject->find<ReceiveFailed>()->too_long);
}

BOOST_AUTO_TEST_CASE(a_terminate_ends_what_is_half_received_and_what_is_unanswered) {
  auto subject = operational(plain_config(Role::responder));
  subject->memory.post_receive(5, 8);
  subject->feed(fpdu("01 43 00000000 00000000 00000001 00000000 aabb"));
  subject->feed(
      fpdu("41 41 00000000 00000001 00000001 00000000"
           "00000777 0000000000002000 00000004 00000101 0000000000001000"));
  subject->feed(fpdu(some_terminate));
  BOOST_REQUIRE(subject->find<ReceiveFailed>() != nullptr);
  BOOST_TEST(subject->find<ReceiveFailed>()->work_id == 5U);
  BOOST_TEST(!subject->find<ReceiveFailed>()->too_long);
  BOOST_TEST(subject->output().empty());
  subject->memory.post_receive(6, 8);
  // Ignored, since the stream has ended.
  subject->feed(fpdu("41 43 00000000 00000000 00000001 00000002 cc"));
  subject->feed("00");
  BOOST_TEST((subject->stream.closing() == Closing::half_close));
  subject->stream.peer_closed(subject->now);
  BOOST_TEST((subject->stream.closing() == Closing::full_close));
  subject->stream.close_done(subject->now);
  subject->collect();
  BOOST_TEST(subject->find<Closed>() != nullptr);
  BOOST_TEST(subject->find<Failed>() == nullptr);
  BOOST_TEST(subject->find<MessageReceived>() == nullptr);
  BOOST_TEST(subject->all<ReceiveFailed>().size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_terminate_stops_the_message_in_progress_at_the_end_of_its_fpdu) {
  auto subject = operational(plain_config(Role::responder));
  const auto message = pattern(3000);
  subject->stream.post(write_of(1, message), subject->now);
  (void)take(*subject, 100);
  subject->feed(fpdu(some_terminate));
  BOOST_TEST(endings(*subject) == "1 flushed");
  BOOST_TEST(subject->output().size() == 2 * std::size_t{1448 - 100});
  BOOST_TEST((subject->stream.closing() == Closing::half_close));
}

BOOST_AUTO_TEST_CASE(a_terminate_takes_back_what_has_not_begun_to_leave) {
  auto subject = operational(plain_config(Role::responder));
  const auto message = pattern(50);
  subject->stream.post(write_of(1, message), subject->now);
  (void)take(*subject, 10);  // an FPDU that left in parts must not be mistaken for the next one
  (void)subject->output();
  subject->stream.post(send_of(2, message), subject->now);
  std::vector<wire::Bytes> list;
  subject->stream.gather(list, 100000);
  subject->feed(fpdu(some_terminate));
  BOOST_TEST(subject->output().empty());
  BOOST_TEST(endings(*subject) == "1 success, 2 flushed");
}

BOOST_AUTO_TEST_CASE(an_error_lets_the_message_in_progress_end) {
  auto subject = operational(plain_config(Role::responder));
  const auto message = pattern(3000);
  subject->stream.post(write_of(1, message), subject->now);
  (void)take(*subject, 100);  // most of the message is not even queued yet
  subject->feed(fpdu(bad_write));
  const std::string rest = subject->output(), terminate = hex(fpdu(bad_write_terminate));
  BOOST_REQUIRE_EQUAL(rest.size(), 2 * std::size_t{3060 - 100} + terminate.size());
  BOOST_TEST(rest.substr(rest.size() - terminate.size()) == terminate);
  BOOST_TEST(endings(*subject) == "1 success");
}

BOOST_AUTO_TEST_CASE(a_read_whose_request_leaves_behind_an_error_is_flushed) {
  auto subject = operational(plain_config(Role::responder));
  subject->stream.post(read_of(1), subject->now);
  (void)take(*subject, 10);
  subject->feed(fpdu(bad_write));
  BOOST_TEST(subject->find<WorkDone>() == nullptr);
  (void)subject->output();
  BOOST_TEST(endings(*subject) == "1 flushed");
}

BOOST_AUTO_TEST_CASE(work_queued_before_work_that_cannot_be_is_carried_out) {
  auto subject = operational(plain_config(Role::responder));
  const auto message = pattern(10);
  subject->stream.post(send_of(1, message), subject->now);
  subject->stream.post(send_of(2, message), subject->now);
  Work impossible = read_of(3);
  impossible.sink_stag = 0x999;
  subject->stream.post(impossible, subject->now);
  BOOST_TEST(ulpdus(subject->output()).size() == 3U);  // the third is the Terminate
  BOOST_TEST(endings(*subject) == "1 success, 2 success, 3 local_protection");
}

BOOST_AUTO_TEST_CASE(messages_with_markers_that_give_way_leave_no_gap) {
  auto subject = operational(plain_config(Role::responder), true);
  const auto message = pattern(3000);
  subject->stream.post(write_of(1, message), subject->now);
  std::vector<wire::Bytes> list;
  subject->stream.gather(list, 100000);
  subject->feed(fpdu(bad_write));
  const auto content = octets(bad_write_terminate);
  const wire::Bytes piece(content);
  std::vector<std::byte> expected(wire::fpdu_size(content.size()) + wire::marker_size);
  wire::Writer writer(expected);
  wire::test::format_fpdu(writer, std::span(&piece, 1), {false, true, 0});
  BOOST_TEST(subject->output() == hex(writer.written()));
}

BOOST_AUTO_TEST_CASE(the_oldest_request_is_to_blame_if_a_terminate_names_one) {
  struct Row {
    const char* terminate;
    const char* read_first;
    const char* atomic_first;
  };
  const char* nobody = "1 flushed, 2 flushed";
  for (const Row& row : {
           Row{"0102 c000 0046 41 4a 00000000 00000001 00000001 00000000",
               "1 remote_access, 2 flushed", "1 remote_access, 2 flushed"},
           Row{"0206 c000 0046 41 41 00000000 00000001 00000001 00000000",
               "1 remote_operation, 2 flushed", "1 remote_operation, 2 flushed"},
           // a DDP error, a Send, a tagged message, none
           Row{"1202 c000 002e 41 41 00000000 00000001 00000001 00000000", nobody, nobody},
           Row{"0206 c000 0012 41 43 00000000 00000000 00000001 00000000", nobody, nobody},
           Row{"0206 c000 000e c1 40 00000101 0000000000001000", nobody, nobody},
           Row{"0000 0000", nobody, nobody},
       })
    BOOST_TEST_CONTEXT(row.terminate) {
      for (const bool read_first : {true, false}) {
        Config config = plain_config(Role::responder);
        config.ord = 2;
        auto subject = operational(config);
        subject->stream.post(read_first ? read_of(1) : atomic_of(1), subject->now);
        subject->stream.post(read_first ? atomic_of(2) : read_of(2), subject->now);
        (void)subject->output();
        subject->feed(
            fpdu("41 47 00000000 00000002 00000001 00000000" + std::string(row.terminate)));
        BOOST_TEST(endings(*subject) == (read_first ? row.read_first : row.atomic_first));
      }
    }
}

// ---- by loss ----

BOOST_AUTO_TEST_CASE(loss_flushes_work_in_order) {
  auto subject = operational(plain_config(Role::responder));
  for (std::uint64_t id = 1; id <= 3; ++id) subject->stream.post(read_of(id), subject->now);
  (void)subject->output();
  subject->stream.lost(subject->now);
  subject->stream.post(send_of(4, {}), subject->now);
  subject->collect();
  const auto done = subject->all<WorkDone>();
  BOOST_REQUIRE_EQUAL(done.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i)
    BOOST_TEST((done[i].id == i + 1 && done[i].status == WorkStatus::flushed));
}

BOOST_AUTO_TEST_CASE(what_has_left_counts_as_done_though_it_stands_behind_a_read) {
  auto subject = operational(plain_config(Role::responder));
  const auto message = pattern(10);
  subject->stream.post(read_of(1), subject->now);
  subject->stream.post(send_of(2, message), subject->now);
  (void)subject->output();
  subject->stream.lost(subject->now);
  subject->collect();
  BOOST_TEST(endings(*subject) == "1 flushed, 2 success");
  BOOST_TEST(subject->all<WorkDone>()[0].length == 0U);
  BOOST_TEST(subject->all<WorkDone>()[1].length == 10U);
  // The work ends before the loss is reported, and the stream last.
  BOOST_REQUIRE_GE(subject->events.size(), 3U);
  BOOST_TEST(std::holds_alternative<Lost>(subject->events[subject->events.size() - 2]));
  BOOST_TEST(std::holds_alternative<Closed>(subject->events.back()));
}

BOOST_AUTO_TEST_CASE(nothing_is_sent_into_a_lost_connection) {
  auto subject = operational(plain_config(Role::responder));
  const auto message = pattern(3000);
  subject->stream.post(write_of(1, message), subject->now);
  (void)take(*subject, 100);
  subject->stream.lost(subject->now);
  BOOST_TEST(subject->output().empty());
}

// ---- on the consumer's wish, and by time ----

BOOST_AUTO_TEST_CASE(an_abort_where_no_terminate_may_be_sent_is_a_reset) {
  for (const bool in_startup : {true, false}) {
    Subject subject(plain_config(Role::responder));
    if (!in_startup) subject.establish_as_responder();
    subject.stream.abort(subject.now);
    subject.collect();
    BOOST_TEST(subject.find<Failed>() == nullptr);
    BOOST_TEST(subject.find<Closed>() != nullptr);
    BOOST_TEST((subject.stream.closing() == Closing::reset));
  }
}

BOOST_AUTO_TEST_CASE(an_abort_adds_nothing_to_an_error) {
  Subject subject(plain_config(Role::responder, true));
  subject.establish_as_responder(true);
  auto bad = fpdu("41 43 00000000 00000000 00000001 00000000", true);
  bad.back() ^= std::byte{1};
  subject.feed(bad);
  BOOST_TEST((subject.stream.closing() == Closing::half_close));
  subject.stream.abort(subject.now);
  BOOST_TEST((subject.stream.closing() == Closing::half_close));
  BOOST_TEST(subject.find<Closed>() == nullptr);
}

BOOST_AUTO_TEST_CASE(an_abort_tells_the_peer) {
  auto subject = operational(plain_config(Role::responder));
  subject->stream.abort(subject->now);
  BOOST_TEST(subject->output() == hex(fpdu("41 47 00000000 00000002 00000001 00000000 0000 0000")));
  BOOST_TEST((subject->stream.closing() == Closing::half_close));
}

BOOST_AUTO_TEST_CASE(a_peer_that_never_closes_is_reset) {
  auto subject = operational(plain_config(Role::responder));
  subject->stream.abort(subject->now);
  (void)subject->output();
  subject->stream.close_done(subject->now);
  BOOST_REQUIRE(subject->stream.next_wakeup());
  subject->stream.wakeup(*subject->stream.next_wakeup());
  subject->collect();
  BOOST_TEST(subject->find<Closed>() != nullptr);
  BOOST_TEST((subject->stream.closing() == Closing::reset));
}

BOOST_AUTO_TEST_CASE(a_peer_that_does_not_read_is_reset) {
  auto subject = operational(plain_config(Role::responder));
  const auto message = pattern(3000);
  subject->stream.post(write_of(1, message), subject->now);
  (void)take(*subject, 100);
  subject->stream.abort(subject->now);  // the Terminate waits for the end of the message
  BOOST_REQUIRE(subject->stream.next_wakeup());
  subject->stream.wakeup(*subject->stream.next_wakeup());
  BOOST_TEST((subject->stream.closing() == Closing::reset));
  BOOST_TEST(subject->output().empty());
  BOOST_TEST(endings(*subject) == "1 flushed");
  BOOST_TEST(subject->all<Closed>().size() == 1U);
  BOOST_TEST(!subject->stream.next_wakeup());
}

BOOST_AUTO_TEST_CASE(a_peer_has_its_time_from_the_call_that_ended_the_stream) {
  const Duration timeout = Config().close_timeout;
  const auto ended_by = [&](auto&& call) {
    auto subject = operational(plain_config(Role::responder));
    call(*subject);
    return subject->stream.next_wakeup();
  };
  BOOST_TEST((ended_by([](Subject& subject) {
                subject.now = at(1);
                subject.feed(fpdu(bad_write));
              }) == at(1) + timeout));
  BOOST_TEST((ended_by([](Subject& subject) {
                subject.feed("00");
                subject.stream.peer_closed(at(2));
              }) == at(2) + timeout));
  BOOST_TEST((ended_by([](Subject& subject) { subject.stream.abort(at(3)); }) == at(3) + timeout));
  Work local;
  local.kind = WorkKind::local;
  BOOST_TEST((ended_by([&](Subject& subject) {
                subject.memory.refuse_local_work();
                subject.stream.post(local, at(4));
              }) == at(4) + timeout));
  BOOST_TEST((ended_by([&](Subject& subject) {
                subject.memory.refuse_local_work();
                subject.stream.post(send_of(1, {}), subject.now);
                subject.stream.post(local, subject.now);
                subject.now = at(5);
                (void)take(subject, 24);  // the FPDU of the Send
              }) == at(5) + timeout));
  BOOST_TEST((ended_by([&](Subject& subject) {
                Work impossible = read_of(1);
                impossible.sink_stag = 0x999;
                subject.stream.post(impossible, subject.now);
                subject.stream.disconnect(at(6));
                std::vector<wire::Bytes> list;
                subject.stream.gather(list, 1000);
              }) == at(6) + timeout));
  BOOST_TEST((ended_by([](Subject& subject) {
                subject.stream.disconnect(subject.now);
                subject.stream.close_done(at(7));
              }) == at(7) + timeout));
}

BOOST_AUTO_TEST_CASE(a_peer_that_still_sends_after_our_close_has_time_and_one_in_error_has_not) {
  const Duration timeout = Config().close_timeout;
  auto closing = operational(plain_config(Role::responder));
  closing->stream.disconnect(closing->now);
  BOOST_TEST(!closing->stream.next_wakeup());  // what is posted may take its time
  closing->stream.close_done(closing->now);
  closing->now = at(9);
  closing->feed(fpdu("c1 40 00000101 0000000000001000 aabb"));
  BOOST_TEST((closing->stream.next_wakeup() == at(9) + timeout));
  auto failing = operational(plain_config(Role::responder));
  failing->feed(fpdu(bad_write));
  (void)failing->output();
  failing->stream.close_done(failing->now);
  failing->now = at(9);
  failing->feed(fpdu("c1 40 00000101 0000000000001000 aabb"));
  BOOST_TEST((failing->stream.next_wakeup() == at(0) + timeout));
}

BOOST_AUTO_TEST_CASE(an_abort_after_our_close_is_a_reset) {
  auto subject = operational(plain_config(Role::responder));
  subject->memory.post_receive(1, 1);
  subject->stream.disconnect(subject->now);
  subject->stream.close_done(subject->now);
  subject->stream.abort(subject->now);
  subject->collect();
  BOOST_TEST((subject->stream.closing() == Closing::reset));
  BOOST_TEST(subject->all<Closed>().size() == 1U);
  subject->feed(fpdu("41 43 00000000 00000000 00000001 00000000 aa"));  // was under way
  BOOST_TEST(subject->find<MessageReceived>() == nullptr);
  BOOST_TEST(!subject->stream.next_wakeup());
}

BOOST_AUTO_TEST_CASE(a_read_request_after_our_close_cannot_be_answered) {
  auto subject = operational(plain_config(Role::responder));
  subject->stream.disconnect(subject->now);
  (void)subject->output();
  subject->stream.close_done(subject->now);
  subject->feed(
      fpdu("41 41 00000000 00000001 00000001 00000000"
           "00000777 0000000000002000 00000004 00000101 0000000000001000"));
  BOOST_TEST(subject->output().empty());
  BOOST_REQUIRE(subject->find<Failed>() != nullptr);
  BOOST_TEST(!subject->find<Failed>()->terminate_queued);
  BOOST_TEST((subject->stream.closing() == Closing::reset));
}

}  // namespace
}  // namespace rnic::stream::test
