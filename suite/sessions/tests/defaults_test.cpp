// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/defaults.hpp"

#include <boost/test/unit_test.hpp>

using namespace suite::sessions;

BOOST_AUTO_TEST_CASE(a_member_is_set_to_its_default_in_every_stream_and_step) {
  Session session;
  session.streams = {{.peer_crc = false, .peer_markers = true}, {.peer_markers = true}};
  session.steps = {{.action = Action::read, .length = 5, .fence = true}};
  BOOST_TEST(set_to_default(session, "peer_markers"));
  BOOST_TEST(set_to_default(session, "peer_crc"));
  BOOST_TEST(set_to_default(session, "fence"));
  const std::vector<StreamSetup> usual(2);
  BOOST_TEST((session.streams == usual));
  BOOST_TEST((session.steps.front() == Step{.action = Action::read, .length = 5}));
}

BOOST_AUTO_TEST_CASE(what_is_no_member_or_has_no_default_is_refused) {
  Session session;
  for (const char* no : {"", "action", "streams", "peer_marker"})
    BOOST_TEST(!set_to_default(session, no));
}
