// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Completion queues: arming, overflow, resize.
#include <array>
#include <boost/test/unit_test.hpp>

#include "reference_rnic/verbs/completion_queue.hpp"

using namespace rnic::verbs;
using Pushed = CompletionQueue::Pushed;

namespace {

/// What an RNIC does with a completion.
bool wakes(CompletionQueue& queue, const Completion& completion) {
  const bool wakes = queue.is_armed_for(completion);
  BOOST_TEST((queue.push(completion) == Pushed::kept));
  if (wakes) queue.disarm();
  return wakes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(completion_queues)

BOOST_AUTO_TEST_CASE(armed_for_next_it_wakes_once) {
  CompletionQueue queue({}, 4, {});
  BOOST_TEST(!wakes(queue, {.id = 1}));
  queue.arm(Arm::next);
  BOOST_TEST(wakes(queue, {.id = 2}));
  BOOST_TEST(!wakes(queue, {.id = 3}));
  queue.arm(Arm::next);
  BOOST_TEST(wakes(queue, {.id = 4}));
}

BOOST_AUTO_TEST_CASE(armed_for_solicited_it_wakes_for_solicited_and_failed_ones) {
  CompletionQueue queue({}, 8, {});
  queue.arm(Arm::solicited);
  BOOST_TEST(!wakes(queue, {.id = 1}));
  BOOST_TEST(wakes(queue, {.id = 2, .solicited = true}));
  queue.arm(Arm::solicited);
  BOOST_TEST(wakes(queue, {.id = 3, .status = Status::flushed}));
}

BOOST_AUTO_TEST_CASE(arming_for_next_is_not_taken_back_by_arming_for_solicited) {
  CompletionQueue queue({}, 4, {});
  queue.arm(Arm::next);
  queue.arm(Arm::solicited);
  BOOST_TEST(wakes(queue, {.id = 1}));
}

BOOST_AUTO_TEST_CASE(overflow_keeps_what_was_there_and_then_says_so) {
  CompletionQueue queue({}, 2, {});
  BOOST_TEST((queue.push({.id = 1}) == Pushed::kept));
  BOOST_TEST((queue.push({.id = 2}) == Pushed::kept));
  BOOST_TEST((queue.push({.id = 3}) == Pushed::first_overflow));
  BOOST_TEST((queue.push({.id = 4}) == Pushed::lost));
  std::array<Completion, 4> out;
  const auto count = queue.poll(out);
  BOOST_REQUIRE(count.has_value());
  BOOST_TEST(*count == 2U);
  BOOST_TEST(out[1].id == 2U);
  BOOST_TEST((queue.poll(out).error() == Error::overflowed));
  BOOST_TEST((queue.resize(8).error() == Error::overflowed));
}

BOOST_AUTO_TEST_CASE(resize_is_refused_below_what_waits) {
  CompletionQueue queue({}, 2, {});
  BOOST_TEST((queue.push({.id = 1}) == Pushed::kept));
  BOOST_TEST((queue.push({.id = 2}) == Pushed::kept));
  BOOST_TEST((queue.resize(1).error() == Error::invalid_parameter));
  BOOST_TEST(queue.resize(2).has_value());
  BOOST_TEST(queue.resize(3).has_value());
  BOOST_TEST((queue.push({.id = 3}) == Pushed::kept));
}

BOOST_AUTO_TEST_SUITE_END()
