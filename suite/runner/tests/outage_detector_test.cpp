// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// When an IUT counts as gone: how much is unanswered in a row, and the verdict of the sentinel
// then.
#include <boost/test/unit_test.hpp>

#include "suite/runner/outage_detector.hpp"

using namespace suite::runner;
using State = OutageDetector::State;

namespace {

const OutageDetector::WallTime now = std::chrono::system_clock::now();

OutageDetector with_contact() {
  OutageDetector contact;
  contact.answered("ddp.x", true, now);
  return contact;
}

}  // namespace

BOOST_AUTO_TEST_CASE(before_the_first_answer_there_is_no_contact_to_lose) {
  OutageDetector contact;
  for (unsigned i = 0; i < 2 * OutageDetector::most_unanswered; ++i) contact.unanswered("no");
  contact.doubt();
  BOOST_TEST((contact.state() == State::unmet));
}

BOOST_AUTO_TEST_CASE(an_answer_between_takes_the_count_back) {
  OutageDetector contact = with_contact();
  for (unsigned i = 1; i < OutageDetector::most_unanswered; ++i) contact.unanswered("no");
  contact.answered("ddp.y", false, now);
  for (unsigned i = 1; i < OutageDetector::most_unanswered; ++i) contact.unanswered("no");
  BOOST_TEST((contact.state() == State::standing));
  contact.unanswered("no");
  BOOST_TEST((contact.state() == State::doubted));
  BOOST_TEST(contact.last_good() == "ddp.x");
}

BOOST_AUTO_TEST_CASE(only_the_sentinel_settles_a_doubt) {
  OutageDetector contact = with_contact();
  contact.doubt();
  contact.answered("ddp.y", true, now);
  BOOST_TEST(contact.in_question());
  const base::TimePoint then{};
  BOOST_TEST(contact.asked_in_vain(then));
  BOOST_TEST(!contact.asked_in_vain(then));
  BOOST_TEST((contact.state() == State::lost));
  contact.unanswered("ssh: no route\nlast words");
  BOOST_TEST(contact.text().ends_with(" (ssh: no route)"), contact.text());
  contact.restored(now);
  BOOST_TEST(!contact.in_question());
}
