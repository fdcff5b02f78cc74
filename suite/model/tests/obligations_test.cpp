// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/model/obligations.hpp"

#include <boost/test/unit_test.hpp>

using namespace suite;
using namespace suite::model;

namespace {

/// A stream that the IUT has reset for an error of the peer, with a Send that was not seen.
State reset_with_a_send() {
  Work send;
  send.command.operation = iut::operation::send;
  send.command.signaled = false;
  Stream stream;
  stream.phase = Phase::refusing;
  stream.may_send = stream.iut_reset = stream.disconnected = true;
  stream.work.push_back(std::move(send));
  State state;
  state.streams.push_back(std::move(stream));
  return state;
}

bool is_content(const State& state) { return owes_nothing(state, 0, true).has_value(); }

}  // namespace

BOOST_AUTO_TEST_CASE(a_reset_may_have_discarded_what_an_unsignaled_send_had_sent) {
  State state = reset_with_a_send();
  BOOST_TEST(is_content(state));
  state.streams[0].work[0].command.signaled = true;
  BOOST_TEST(!is_content(state));
}

BOOST_AUTO_TEST_CASE(what_was_sent_before_a_terminate_was_seen_before_it) {
  State state = reset_with_a_send();
  state.streams[0].terminate_seen = true;
  BOOST_TEST(!is_content(state));
}

BOOST_AUTO_TEST_CASE(a_read_that_a_reset_cuts_off_is_not_done) {
  State state = reset_with_a_send();
  state.streams[0].work[0].command.operation = iut::operation::read;
  BOOST_TEST(!is_content(state));
}
