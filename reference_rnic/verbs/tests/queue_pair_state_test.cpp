// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The transition table of a queue pair, whole.
#include <boost/test/unit_test.hpp>
#include <map>

#include "reference_rnic/verbs/queue_pair_state.hpp"

using namespace rnic::verbs;

BOOST_AUTO_TEST_CASE(every_transition_of_a_queue_pair) {
  using enum QueuePairState;
  using enum StateInput;
  const std::map<std::pair<QueuePairState, StateInput>, QueuePairState> admitted{
      {{idle, established}, rts},        {{idle, fault}, terminate},
      {{idle, stream_ended}, error},     {{idle, error_asked}, error},
      {{idle, reset_asked}, idle},       {{rts, close_asked}, closing},
      {{rts, fault}, terminate},         {{rts, stream_ended}, error},
      {{closing, close_asked}, closing}, {{closing, fault}, terminate},
      {{closing, stream_ended}, error},  {{terminate, close_asked}, terminate},
      {{terminate, fault}, terminate},   {{terminate, stream_ended}, error},
      {{error, stream_ended}, error},    {{error, error_asked}, error},
      {{error, reset_asked}, idle}};
  for (const auto state : {idle, rts, closing, terminate, error})
    for (const auto input :
         {established, close_asked, fault, stream_ended, error_asked, reset_asked}) {
      const auto expected = admitted.find({state, input});
      const auto next = next_state(state, input);
      BOOST_TEST(next.has_value() == (expected != admitted.end()), name(state)
                                                                       << " + " << name(input));
      if (next && expected != admitted.end())
        BOOST_TEST((*next == expected->second), name(state) << " + " << name(input));
    }
}
