// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Objects of the RNIC: stale handles, dependences, parameters that cannot be.
#include <boost/test/unit_test.hpp>

#include "reference_rnic/verbs/tests/two_rnics.hpp"

using namespace rnic::verbs;
using namespace rnic::verbs::test;

namespace {
template <typename Result>
bool refused(const Result& result, Error error) {
  return !result && result.error() == error;
}
template <typename Result>
bool post_refused(const Result& result, Error error, std::size_t index) {
  return !result && result.error().error == error && result.error().index == index;
}
struct Alone {
  Loop loop;
  Side side{loop, {}, 1};
  Rnic& rnic = *side.rnic;
};
}  // namespace

BOOST_FIXTURE_TEST_SUITE(objects, Alone)

BOOST_AUTO_TEST_CASE(what_is_destroyed_is_gone_for_every_call) {
  const DomainHandle domain = *rnic.create_domain();
  BOOST_TEST(rnic.destroy_domain(domain).has_value());
  BOOST_TEST(refused(rnic.destroy_domain(domain), Error::invalid_handle));
  BOOST_TEST(refused(rnic.register_memory(domain, {}), Error::invalid_handle));
  BOOST_TEST(refused(rnic.allocate_window(domain, WindowScope::domain), Error::invalid_handle));
  BOOST_TEST(refused(rnic.create_shared_queue(domain, {}), Error::invalid_handle));
  BOOST_TEST(rnic.destroy_queue_pair(side.pair).has_value());
  BOOST_TEST(refused(rnic.destroy_queue_pair(side.pair), Error::invalid_handle));
  BOOST_TEST(refused(rnic.query_queue_pair(side.pair), Error::invalid_handle));
  BOOST_TEST(refused(rnic.close(side.pair), Error::invalid_handle));
  BOOST_TEST(refused(rnic.abort(side.pair), Error::invalid_handle));
  BOOST_TEST(refused(rnic.reset_queue_pair(side.pair), Error::invalid_handle));
  BOOST_TEST(post_refused(rnic.post_send(side.pair, {}), Error::invalid_handle, 0));
  BOOST_TEST(post_refused(rnic.post_receive(side.pair, {}), Error::invalid_handle, 0));
}

BOOST_AUTO_TEST_CASE(handles_of_another_kind_are_not_taken) {
  BOOST_TEST(refused(rnic.destroy_domain({side.pair.value}), Error::invalid_handle));
  BOOST_TEST(refused(rnic.deregister({side.domain.value}), Error::invalid_handle));
  BOOST_TEST(refused(rnic.query_region({side.queue.value}), Error::invalid_handle));
  BOOST_TEST(refused(rnic.free_window({side.region.region.value}), Error::invalid_handle));
  BOOST_TEST(refused(rnic.query_window({side.region.region.value}), Error::invalid_handle));
  BOOST_TEST(refused(rnic.arm({side.domain.value}, Arm::next), Error::invalid_handle));
  BOOST_TEST(refused(rnic.poll({side.domain.value}, {}), Error::invalid_handle));
  BOOST_TEST(refused(rnic.arm_limit({side.queue.value}, 1), Error::invalid_handle));
  BOOST_TEST(refused(rnic.create_queue_pair({.domain = side.domain,
                                             .send_completions = {side.pair.value},
                                             .receive_completions = side.queue}),
                     Error::invalid_handle));
}

BOOST_AUTO_TEST_CASE(what_others_rest_on_is_not_destroyed) {
  BOOST_TEST(refused(rnic.destroy_domain(side.domain), Error::in_use));
  BOOST_TEST(refused(rnic.destroy_completion_queue(side.queue), Error::in_use));
  const SharedQueueHandle shared = *rnic.create_shared_queue(side.domain, {});
  const QueuePairHandle pair = *rnic.create_queue_pair({.domain = side.domain,
                                                        .send_completions = side.queue,
                                                        .receive_completions = side.queue,
                                                        .shared_queue = shared});
  BOOST_TEST(refused(rnic.destroy_shared_queue(shared), Error::in_use));
  BOOST_TEST(rnic.destroy_queue_pair(pair).has_value());
  BOOST_TEST(rnic.destroy_shared_queue(shared).has_value());
  BOOST_TEST(rnic.destroy_queue_pair(side.pair).has_value());
  BOOST_TEST(rnic.destroy_completion_queue(side.queue).has_value());
  BOOST_TEST(rnic.deregister(side.region.region).has_value());
  BOOST_TEST(rnic.destroy_domain(side.domain).has_value());
}

BOOST_AUTO_TEST_CASE(sizes_that_cannot_be_are_refused) {
  BOOST_TEST(refused(rnic.create_completion_queue(0, {}), Error::invalid_parameter));
  BOOST_TEST(refused(rnic.create_completion_queue(~0U, {}), Error::invalid_parameter));
  BOOST_TEST(
      refused(rnic.create_shared_queue(side.domain, {.depth = 0}), Error::invalid_parameter));
  QueuePairAttributes attributes{
      .domain = side.domain, .send_completions = side.queue, .receive_completions = side.queue};
  attributes.send_depth = 0;
  BOOST_TEST(refused(rnic.create_queue_pair(attributes), Error::invalid_parameter));
  attributes.send_depth = 1;
  attributes.receive_depth = ~0U;
  BOOST_TEST(refused(rnic.create_queue_pair(attributes), Error::invalid_parameter));
  attributes.receive_depth = 1;
  attributes.max_pieces = ~0U;
  BOOST_TEST(refused(rnic.create_queue_pair(attributes), Error::invalid_parameter));
}

BOOST_AUTO_TEST_CASE(a_region_does_not_pass_the_end_of_the_offsets) {
  RegionAttributes attributes{.memory = side.memory, .access = all_access};
  attributes.base = ~std::uint64_t{0} - 4094;
  BOOST_TEST(refused(rnic.register_memory(side.domain, attributes), Error::invalid_parameter));
  attributes.base = ~std::uint64_t{0} - 4095;
  BOOST_TEST(rnic.register_memory(side.domain, attributes).has_value());
}

BOOST_AUTO_TEST_CASE(a_region_s_offsets_count_from_its_address_or_from_zero) {
  const auto by_address =
      rnic.register_memory(side.domain, {.memory = side.memory, .access = all_access});
  BOOST_TEST(by_address->base == reinterpret_cast<std::uintptr_t>(side.memory.data()));
  const auto from_zero = rnic.register_memory(
      side.domain, {.memory = side.memory, .access = all_access, .zero_based = true});
  BOOST_TEST(from_zero->base == 0U);
  BOOST_TEST(from_zero->stag != 0U);
  BOOST_TEST(from_zero->stag != by_address->stag);
}

BOOST_AUTO_TEST_CASE(work_of_a_wrong_shape_is_refused_and_earlier_work_of_the_list_is_posted) {
  TwoRnics two;
  two.connect();
  const std::vector<SendRequest> requests{
      {.id = 1, .operation = Operation::write, .pieces = {}},
      {.id = 2, .operation = Operation::read, .pieces = {two.a.piece(0, 1), two.a.piece(8, 1)}}};
  BOOST_TEST(
      post_refused(two.a.rnic->post_send(two.a.pair, requests), Error::invalid_parameter, 1));
  two.settle();
  const auto completions = two.a.completions();
  BOOST_REQUIRE(completions.size() == 1U);
  BOOST_TEST(completions[0].id == 1U);
  for (const SendRequest& wrong :
       {SendRequest{.operation = Operation::receive},
        SendRequest{.operation = static_cast<Operation>(99)},
        SendRequest{.operation = Operation::fetch_add},
        SendRequest{.operation = Operation::fetch_add, .pieces = {two.a.piece(0, 4)}},
        SendRequest{.operation = Operation::immediate, .pieces = {two.a.piece(0, 8)}},
        SendRequest{.operation = Operation::read_invalidate},
        SendRequest{.operation = Operation::send, .pieces = std::vector<Piece>(5)},
        SendRequest{.operation = Operation::send,
                    .pieces = {two.a.piece(0, ~0U), two.a.piece(0, 1)}}})
    BOOST_TEST(post_refused(two.a.rnic->post_send(two.a.pair, std::span(&wrong, 1)),
                            Error::invalid_parameter, 0));
}

BOOST_AUTO_TEST_CASE(an_idle_queue_pair_takes_receives_but_no_sends) {
  side.receive(1, {side.piece(0, 64)});
  const SendRequest request{.operation = Operation::send};
  BOOST_TEST(
      post_refused(rnic.post_send(side.pair, std::span(&request, 1)), Error::invalid_state, 0));
  BOOST_TEST(refused(rnic.close(side.pair), Error::invalid_state));
}

BOOST_AUTO_TEST_CASE(aborted_without_a_stream_it_flushes_and_can_be_reset) {
  side.receive(1, {side.piece(0, 64)});
  BOOST_TEST(rnic.abort(side.pair).has_value());
  side.receive(2, {});
  const auto completions = side.completions();
  BOOST_REQUIRE(completions.size() == 2U);
  BOOST_TEST(completions[0].id == 1U);
  BOOST_TEST((completions[0].status == Status::flushed));
  BOOST_TEST((completions[1].status == Status::flushed));
  BOOST_TEST(rnic.reset_queue_pair(side.pair).has_value());
  BOOST_TEST((side.state() == QueuePairState::idle));
}

BOOST_AUTO_TEST_CASE(a_stream_of_another_rnic_is_not_attached) {
  const auto other = make_rnic(loop);
  const auto stream = other->streams()->open_stream({});
  const auto own = rnic.streams()->open_stream({});
  BOOST_TEST(rnic.streams()->attach(side.pair, *own).has_value());
  BOOST_TEST(refused(rnic.streams()->attach(side.pair, *own), Error::invalid_state));
  BOOST_TEST(refused(rnic.streams()->attach({}, *own), Error::invalid_handle));
}

BOOST_AUTO_TEST_SUITE_END()
