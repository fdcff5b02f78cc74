// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Objects of the RNIC: stale handles, dependences, parameters that cannot be.
#include <sys/mman.h>

#include <boost/test/unit_test.hpp>

#include "reference_rnic/verbs/tests/two_rnics.hpp"

using namespace rnic::verbs;
using namespace rnic::verbs::test;
namespace wire = rnic::wire;

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
  for (const QueuePairAttributes& wrong :
       {QueuePairAttributes{.domain = {side.queue.value},
                            .send_completions = side.queue,
                            .receive_completions = side.queue},
        QueuePairAttributes{.domain = side.domain,
                            .send_completions = {side.pair.value},
                            .receive_completions = side.queue},
        QueuePairAttributes{.domain = side.domain,
                            .send_completions = side.queue,
                            .receive_completions = {side.pair.value}},
        QueuePairAttributes{.domain = side.domain,
                            .send_completions = side.queue,
                            .receive_completions = side.queue,
                            .shared_queue = {side.queue.value}}})
    BOOST_TEST(refused(rnic.create_queue_pair(wrong), Error::invalid_handle));
}

BOOST_AUTO_TEST_CASE(what_is_taken_down_is_not_there_any_more) {
  BOOST_TEST(rnic.query_region(side.region.region)->valid);
  BOOST_TEST(rnic.deregister(side.region.region).has_value());
  BOOST_TEST(refused(rnic.deregister(side.region.region), Error::invalid_handle));
  BOOST_TEST(refused(rnic.query_region(side.region.region), Error::invalid_handle));
  const WindowInfo window = *rnic.allocate_window(side.domain, WindowScope::domain);
  BOOST_TEST(!rnic.query_window(window.window)->bound);
  BOOST_TEST(rnic.free_window(window.window).has_value());
  BOOST_TEST(refused(rnic.free_window(window.window), Error::invalid_handle));
  BOOST_TEST(refused(rnic.query_window(window.window), Error::invalid_handle));
  const CompletionQueueHandle queue = *rnic.create_completion_queue(1, {});
  BOOST_TEST(rnic.destroy_completion_queue(queue).has_value());
  BOOST_TEST(refused(rnic.destroy_completion_queue(queue), Error::invalid_handle));
  BOOST_TEST(refused(rnic.resize_completion_queue(queue, 1), Error::invalid_handle));
  const SharedQueueHandle shared = *rnic.create_shared_queue(side.domain, {});
  BOOST_TEST(rnic.destroy_shared_queue(shared).has_value());
  BOOST_TEST(refused(rnic.destroy_shared_queue(shared), Error::invalid_handle));
  BOOST_TEST(refused(rnic.query_shared_queue(shared), Error::invalid_handle));
  BOOST_TEST(refused(rnic.resize_shared_queue(shared, 1), Error::invalid_handle));
  BOOST_TEST(post_refused(rnic.post_receive(shared, {}), Error::invalid_handle, 0));
}

BOOST_AUTO_TEST_CASE(a_domain_outlives_each_kind_of_object_in_it) {
  const DomainHandle domain = *rnic.create_domain();
  const auto region = rnic.register_memory(domain, {.memory = side.memory});
  BOOST_TEST(refused(rnic.destroy_domain(domain), Error::in_use));
  BOOST_TEST(rnic.deregister(region->region).has_value());
  const auto window = rnic.allocate_window(domain, WindowScope::domain);
  BOOST_TEST(refused(rnic.destroy_domain(domain), Error::in_use));
  BOOST_TEST(rnic.free_window(window->window).has_value());
  const auto shared = rnic.create_shared_queue(domain, {});
  BOOST_TEST(refused(rnic.destroy_domain(domain), Error::in_use));
  BOOST_TEST(rnic.destroy_shared_queue(*shared).has_value());
  const auto sends = rnic.create_completion_queue(1, {});
  const auto receives = rnic.create_completion_queue(1, {});
  const auto pair = rnic.create_queue_pair(
      {.domain = domain, .send_completions = *sends, .receive_completions = *receives});
  BOOST_TEST(refused(rnic.destroy_domain(domain), Error::in_use));
  BOOST_TEST(refused(rnic.destroy_completion_queue(*sends), Error::in_use));
  BOOST_TEST(refused(rnic.destroy_completion_queue(*receives), Error::in_use));
  BOOST_TEST(rnic.destroy_queue_pair(*pair).has_value());
  BOOST_TEST(rnic.destroy_completion_queue(*sends).has_value());
  BOOST_TEST(rnic.destroy_completion_queue(*receives).has_value());
  BOOST_TEST(rnic.destroy_domain(domain).has_value());
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

BOOST_AUTO_TEST_CASE(each_limit_can_be_reached_and_not_passed) {
  const RnicAttributes& limits = rnic.attributes();
  const auto queue = rnic.create_completion_queue(limits.max_completions, {});
  BOOST_REQUIRE(queue.has_value());
  BOOST_TEST(refused(rnic.create_completion_queue(limits.max_completions + 1, {}),
                     Error::invalid_parameter));
  BOOST_TEST(rnic.resize_completion_queue(*queue, 1).has_value());
  BOOST_TEST(refused(rnic.resize_completion_queue(*queue, 0), Error::invalid_parameter));
  BOOST_TEST(rnic.resize_completion_queue(*queue, limits.max_completions).has_value());
  BOOST_TEST(refused(rnic.resize_completion_queue(*queue, limits.max_completions + 1),
                     Error::invalid_parameter));
  SharedQueueAttributes shared{.depth = limits.max_queue_depth, .max_pieces = limits.max_pieces};
  BOOST_TEST(rnic.create_shared_queue(side.domain, shared).has_value());
  ++shared.depth;
  BOOST_TEST(refused(rnic.create_shared_queue(side.domain, shared), Error::invalid_parameter));
  shared = {.depth = 1, .max_pieces = limits.max_pieces + 1};
  BOOST_TEST(refused(rnic.create_shared_queue(side.domain, shared), Error::invalid_parameter));
  const QueuePairAttributes most{.domain = side.domain,
                                 .send_completions = side.queue,
                                 .receive_completions = side.queue,
                                 .send_depth = limits.max_queue_depth,
                                 .receive_depth = limits.max_queue_depth,
                                 .max_pieces = limits.max_pieces};
  BOOST_TEST(rnic.create_queue_pair(most).has_value());
  for (auto member : {&QueuePairAttributes::send_depth, &QueuePairAttributes::receive_depth,
                      &QueuePairAttributes::max_pieces}) {
    QueuePairAttributes more = most;
    ++(more.*member);
    BOOST_TEST(refused(rnic.create_queue_pair(more), Error::invalid_parameter));
  }
  const wire::MutableBytes larger(side.memory.data(), limits.max_region + 1);
  BOOST_TEST(refused(rnic.register_memory(side.domain, {.memory = larger, .zero_based = true}),
                     Error::invalid_parameter));
}

BOOST_AUTO_TEST_CASE(values_that_no_enumeration_has_are_refused) {
  BOOST_TEST(refused(rnic.allocate_window(side.domain, static_cast<WindowScope>(2)),
                     Error::invalid_parameter));
  BOOST_TEST(refused(rnic.arm(side.queue, static_cast<Arm>(2)), Error::invalid_parameter));
}

BOOST_AUTO_TEST_CASE(a_shared_queue_keeps_what_waits_in_it_and_serves_its_domain) {
  const SharedQueueHandle shared =
      *rnic.create_shared_queue(side.domain, {.depth = 4, .max_pieces = 1});
  const std::vector<ReceiveRequest> requests{{.id = 1, .pieces = {side.piece(0, 8)}},
                                             {.id = 2, .pieces = {side.piece(8, 8)}},
                                             {.id = 3, .pieces = Pieces(2)}};
  BOOST_TEST(post_refused(rnic.post_receive(shared, requests), Error::invalid_parameter, 2));
  BOOST_TEST(rnic.query_shared_queue(shared)->posted == 2U);
  BOOST_TEST(refused(rnic.resize_shared_queue(shared, 1), Error::invalid_parameter));
  BOOST_TEST(refused(rnic.resize_shared_queue(shared, rnic.attributes().max_queue_depth + 1),
                     Error::invalid_parameter));
  BOOST_TEST(rnic.resize_shared_queue(shared, 2).has_value());
  BOOST_TEST(rnic.query_shared_queue(shared)->attributes.depth == 2U);
  BOOST_TEST(rnic.arm_limit(shared, 2).has_value());
  BOOST_TEST(rnic.query_shared_queue(shared)->limit == 2U);
  QueuePairAttributes attributes{.domain = side.domain,
                                 .send_completions = side.queue,
                                 .receive_completions = side.queue,
                                 .shared_queue = shared,
                                 .receive_depth = 0};  // it has no queue of its own
  BOOST_TEST(rnic.create_queue_pair(attributes).has_value());
  attributes.domain = *rnic.create_domain();
  BOOST_TEST(refused(rnic.create_queue_pair(attributes), Error::wrong_domain));
}

/// Three pages of this process, all of which it may read and write at first.
struct Pages {
  static constexpr std::size_t page = 4096, size = 3 * page;
  std::byte* start = static_cast<std::byte*>(
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  Pages() = default;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { ::munmap(start, size); }
  [[nodiscard]] RegionAttributes all(const Access& access) const {
    return {.memory = {start + 1, size - 2}, .access = access};
  }
  void protect_second(int protection) const {
    BOOST_REQUIRE(::mprotect(start + page, page, protection) == 0);
  }
};

BOOST_AUTO_TEST_CASE(memory_is_registered_only_for_what_the_process_may_do_with_it) {
  const Pages pages;
  constexpr Access reads{.remote_read = true};
  constexpr auto wrong = Error::invalid_parameter;
  BOOST_TEST(rnic.register_memory(side.domain, pages.all(all_access)).has_value());
  pages.protect_second(PROT_READ);
  BOOST_TEST(rnic.register_memory(side.domain, pages.all(reads)).has_value());
  for (const Access& writes :
       {Access{.local_write = true}, Access{.remote_write = true}, Access{.remote_atomic = true}})
    BOOST_TEST(refused(rnic.register_memory(side.domain, pages.all(writes)), wrong));
  BOOST_TEST(rnic.register_memory(side.domain,
                                  {.memory = {pages.start, Pages::page}, .access = all_access})
                 .has_value());
  pages.protect_second(PROT_NONE);
  BOOST_TEST(refused(rnic.register_memory(side.domain, pages.all(reads)), wrong));
  BOOST_TEST(refused(rnic.register_memory(side.domain, pages.all({})), wrong));
  BOOST_REQUIRE(::munmap(pages.start + Pages::page, Pages::page) == 0);
  BOOST_TEST(refused(rnic.register_memory(side.domain, pages.all(reads)), wrong));
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
  BOOST_TEST(
      refused(rnic.register_memory(
                  side.domain,
                  {.memory = side.memory, .access = all_access, .zero_based = true, .base = 8}),
              Error::invalid_parameter));
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
        SendRequest{.operation = Operation::fetch_add,
                    .pieces = {two.a.piece(0, 8), two.a.piece(8, 8)}},
        SendRequest{.operation = Operation::immediate, .pieces = {two.a.piece(0, 8)}},
        SendRequest{.operation = Operation::local_invalidate, .pieces = {two.a.piece(0, 8)}},
        SendRequest{.operation = Operation::bind_window, .pieces = {two.a.piece(0, 8)}},
        SendRequest{.operation = Operation::read_invalidate},
        SendRequest{.operation = Operation::send, .pieces = Pieces(5)},
        SendRequest{.operation = Operation::send,
                    .pieces = {two.a.piece(0, ~0U), two.a.piece(0, 1)}}})
    BOOST_TEST(post_refused(two.a.rnic->post_send(two.a.pair, std::span(&wrong, 1)),
                            Error::invalid_parameter, 0));
}

BOOST_AUTO_TEST_CASE(
    work_and_receives_may_be_as_long_as_a_message_and_have_as_many_pieces_as_allowed) {
  TwoRnics two;
  two.connect();
  two.a.receive(1, Pieces(4));
  two.a.receive(2, {two.a.piece(0, ~0U)});
  for (const Pieces& wrong : {Pieces(5), Pieces{two.a.piece(0, ~0U), two.a.piece(0, 1)}}) {
    const ReceiveRequest request{.id = 3, .pieces = wrong};
    BOOST_TEST(post_refused(two.a.rnic->post_receive(two.a.pair, std::span(&request, 1)),
                            Error::invalid_parameter, 0));
  }
  two.a.send({.id = 4, .operation = Operation::write, .pieces = Pieces(4)});
  // It is taken, and only then found to name more than the region has.
  two.a.send({.id = 5, .operation = Operation::write, .pieces = {two.a.piece(0, ~0U)}});
  two.settle();
  const auto completions = two.a.completions();
  BOOST_REQUIRE(completions.size() == 4U);
  BOOST_TEST((completions[0].id == 4U && completions[0].status == Status::success));
  BOOST_TEST((completions[1].id == 5U && completions[1].status == Status::local_protection));
  BOOST_TEST(completions[1].length == 0U);
}

BOOST_AUTO_TEST_CASE(a_queue_pair_that_is_reset_has_nothing_posted) {
  side.receive(1, {side.piece(0, 64)});
  BOOST_TEST(rnic.query_queue_pair(side.pair)->receives_outstanding == 1U);
  BOOST_TEST(!rnic.query_queue_pair(side.pair)->connected);
  BOOST_TEST(rnic.reset_queue_pair(side.pair).has_value());
  BOOST_TEST(rnic.query_queue_pair(side.pair)->receives_outstanding == 0U);
  BOOST_TEST(side.completions().empty());
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
  BOOST_TEST(rnic.query_queue_pair(side.pair)->connected);
  BOOST_TEST(refused(rnic.close(side.pair), Error::invalid_state));  // startup has not ended
  BOOST_TEST(refused(rnic.reset_queue_pair(side.pair), Error::invalid_state));
  BOOST_TEST(refused(rnic.streams()->attach(side.pair, *own), Error::invalid_state));
  BOOST_TEST(refused(rnic.streams()->attach({}, *own), Error::invalid_handle));
}

BOOST_AUTO_TEST_SUITE_END()
