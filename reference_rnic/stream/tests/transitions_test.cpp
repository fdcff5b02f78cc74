// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// All transitions between the states of a stream: those of each role, and no others.
#include "reference_rnic/stream/transitions.hpp"

#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

namespace rnic::stream::test {
namespace {

BOOST_AUTO_TEST_CASE(every_step_of_a_stream) {
  using enum State;
  const std::map<State, std::set<State>> admitted{
      {awaiting_request, {awaiting_decision, closed}},
      {awaiting_decision, {sending_reply, closed}},
      {sending_reply, {awaiting_first_fpdu, closed}},
      {awaiting_first_fpdu, {operational, terminating, closing, closed}},
      {sending_request, {awaiting_reply, closed}},
      {awaiting_reply, {sending_rtr, operational, terminating, closed}},
      {sending_rtr, {operational, terminating, closing, closed}},
      {operational, {terminating, closing, closed}},
      {closing, {terminating, closed}},
      {terminating, {closed}},
      {closed, {}}};
  for (const auto& [from, steps] : admitted)
    for (const auto& [to, unused] : admitted) {
      BOOST_TEST(permitted(from, to) == steps.contains(to), name(from) << " to " << name(to));
      if (!steps.contains(to)) continue;
      State state = from;
      transition(state, to);
      BOOST_TEST((state == to));
    }
}

BOOST_AUTO_TEST_CASE(every_step_of_the_connection_below) {
  using enum LlpState;
  const std::map<LlpState, std::set<LlpState>> admitted{
      {open, {peer_closed, half_closed, closed, to_be_reset}},
      {peer_closed, {closed, to_be_reset}},
      {half_closed, {closed, to_be_reset}},
      {closed, {to_be_reset}},
      {to_be_reset, {closed}}};
  for (const auto& [from, steps] : admitted)
    for (const auto& [to, unused] : admitted) {
      BOOST_TEST(permitted(from, to) == steps.contains(to), name(from) << " to " << name(to));
      if (!steps.contains(to)) continue;
      LlpState state = from;
      transition(state, to);
      BOOST_TEST((state == to));
    }
}

BOOST_AUTO_TEST_CASE(every_step_of_the_set_up) {
  using enum SetUp;
  const std::map<SetUp, std::set<SetUp>> admitted{{under_way, {reported, exchanging_fpdus}},
                                                  {reported, {complete}},
                                                  {exchanging_fpdus, {complete}},
                                                  {complete, {}}};
  for (const auto& [from, steps] : admitted)
    for (const auto& [to, unused] : admitted) {
      BOOST_TEST(permitted(from, to) == steps.contains(to), name(from) << " to " << name(to));
      if (!steps.contains(to)) continue;
      SetUp state = from;
      transition(state, to);
      BOOST_TEST((state == to));
    }
}

}  // namespace
}  // namespace rnic::stream::test
