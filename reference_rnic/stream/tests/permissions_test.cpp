// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the RFCs leave to an implementation can be chosen at the decision points.
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "reference_rnic/stream/read_queue.hpp"
#include "reference_rnic/stream/tests/posted_work.hpp"

namespace rnic::stream::test {
namespace {

/// Takes an answer that is permitted; the RFC's own is one of these.
template <class T>
T other_than_usual(const Choice<T>& choice) {
  BOOST_TEST((std::ranges::find(choice.permitted, choice.rfc) != choice.permitted.end()));
  const auto other = std::ranges::find_if(choice.permitted,
                                          [&](const T& answer) { return !(answer == choice.rfc); });
  BOOST_REQUIRE((other != choice.permitted.end()));
  return *other;
}

struct SmallestSegments : Decisions {
  void mulpdu(const Context&, const Range<std::size_t>& range, std::size_t& octets) override {
    octets = range.least;
  }
};

BOOST_AUTO_TEST_CASE(segments_may_be_smaller_than_the_emss_allows) {
  auto subject = operational(plain_config(Role::responder));
  subject->stream.decisions().add(0, std::make_unique<SmallestSegments>());
  const auto message = pattern(300);
  subject->stream.post(write_of(1, message), subject->now);
  const auto sent = ulpdus(subject->output());
  BOOST_REQUIRE_EQUAL(sent.size(), 3U);
  BOOST_TEST(sent.front().size() / 2 == wire::min_mulpdu);
}

struct EndsWithoutTerminate : Decisions {
  void react(const Failure&, const Choice<Reaction>& choice, Reaction& reaction) override {
    reaction = other_than_usual(choice);
  }
};

BOOST_AUTO_TEST_CASE(a_stream_may_end_without_a_terminate) {
  auto subject = operational(plain_config(Role::responder));
  subject->stream.decisions().add(0, std::make_unique<EndsWithoutTerminate>());
  subject->feed(fpdu(bad_write));
  BOOST_TEST(subject->output().empty());
  BOOST_REQUIRE(subject->find<Failed>() != nullptr);
  BOOST_TEST(!subject->find<Failed>()->terminate_queued);
  BOOST_TEST((subject->stream.closing() == Closing::half_close));
}

/// Answers the peer's Requests on demand.
struct AnswersLater : Decisions {
  explicit AnswersLater(const bool& may_answer) : may_answer_(may_answer) {}
  void next_response(const base::Fifo<InboundRequest>&, const Choice<std::size_t>& choice,
                     std::size_t& next) override {
    if (!may_answer_) next = other_than_usual(choice);
  }
  const bool& may_answer_;
};

BOOST_AUTO_TEST_CASE(a_read_may_be_answered_after_later_messages) {
  auto subject = operational(plain_config(Role::responder));
  bool may_answer = false;
  subject->stream.decisions().add(0, std::make_unique<AnswersLater>(may_answer));
  subject->feed(
      fpdu("41 41 00000000 00000001 00000001 00000000"
           "00000909 0000000000000000 00000004 00000101 0000000000001000"));
  BOOST_TEST(subject->output().empty());
  const auto message = pattern(4);
  subject->stream.post(send_of(1, message), subject->now);
  BOOST_TEST(ulpdus(subject->output()).front().starts_with(squeezed("41 43")));
  may_answer = true;
  const auto sent = ulpdus(subject->output());
  BOOST_REQUIRE_EQUAL(sent.size(), 1U);
  BOOST_TEST(sent.front() == squeezed("c1 42 00000909 0000000000000000 00010203"));
}

}  // namespace
}  // namespace rnic::stream::test
