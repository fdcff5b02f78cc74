// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Memory windows: bound by work requests, narrower than their region, invalid when unbound.
#include <boost/test/unit_test.hpp>

#include "reference_rnic/verbs/tests/two_rnics.hpp"

using namespace rnic::verbs;
using namespace rnic::verbs::test;

namespace {

/// Side b has a window; a first message of a has let b send.
struct WindowFixture : TwoRnics {
  WindowFixture() {
    connect();
    a.send({.id = 1, .operation = Operation::write});
    settle();
    static_cast<void>(a.completions());
    window = *b.rnic->allocate_window(b.domain, WindowScope::queue_pair);
  }
  Status bind(std::uint64_t offset, std::uint64_t length, const Access& access,
              bool zero_based = false) {
    b.send({.id = 9,
            .operation = Operation::bind_window,
            .bind = {.window = window.window,
                     .region = b.region.region,
                     .offset = b.region.base + offset,
                     .length = length,
                     .access = access,
                     .zero_based = zero_based}});
    settle();
    const auto completions = b.completions();
    BOOST_REQUIRE(!completions.empty());
    return completions.front().status;
  }
  /// Whether a can write 8 octets there.
  bool writes(std::uint64_t offset) {
    a.number(8);
    a.send({.id = 2,
            .operation = Operation::write,
            .pieces = {a.piece(0, 8)},
            .remote_stag = window.stag,
            .remote_offset = offset});
    settle();
    return a.state() == QueuePairState::rts;
  }
  WindowInfo window;
};

constexpr Access write_only{.remote_write = true};
constexpr std::uint64_t region_base = 0x10000;

}  // namespace

BOOST_AUTO_TEST_SUITE(windows)

BOOST_AUTO_TEST_CASE(a_window_that_was_never_bound_gives_nothing) {
  WindowFixture fixture;
  BOOST_TEST(!fixture.writes(region_base));
}

BOOST_AUTO_TEST_CASE(a_bound_window_opens_its_range) {
  WindowFixture fixture;
  BOOST_TEST((fixture.bind(16, 32, write_only) == Status::success));
  BOOST_TEST(fixture.writes(region_base + 16));
  BOOST_TEST(fixture.writes(region_base + 40));
  BOOST_TEST((fixture.b.memory[47] == std::byte{8}));
  BOOST_TEST(!fixture.writes(region_base + 41));
  BOOST_TEST((fixture.b.memory[48] == std::byte{0}));
}

BOOST_AUTO_TEST_CASE(a_zero_based_window_counts_from_its_start) {
  WindowFixture fixture;
  BOOST_TEST((fixture.bind(16, 32, write_only, true) == Status::success));
  BOOST_TEST(fixture.writes(0));
  BOOST_TEST((fixture.b.memory[16] == std::byte{1}));
  BOOST_TEST(!fixture.writes(region_base + 16));
}

BOOST_AUTO_TEST_CASE(a_window_grants_its_own_rights_not_the_region_s) {
  WindowFixture fixture;
  BOOST_TEST((fixture.bind(0, 64, {.remote_read = true}) == Status::success));
  BOOST_TEST(!fixture.writes(region_base));
}

BOOST_AUTO_TEST_CASE(length_zero_unbinds) {
  WindowFixture fixture;
  BOOST_TEST((fixture.bind(0, 64, write_only) == Status::success));
  BOOST_TEST((fixture.b.rnic->deregister(fixture.b.region.region).error() == Error::in_use));
  BOOST_TEST((fixture.bind(0, 0, {}) == Status::success));
  BOOST_TEST(!fixture.b.rnic->query_window(fixture.window.window)->bound);
  BOOST_TEST(fixture.b.rnic->deregister(fixture.b.region.region).has_value());
  BOOST_TEST(!fixture.writes(region_base));
}

BOOST_AUTO_TEST_CASE(binding_again_moves_the_window) {
  WindowFixture fixture;
  BOOST_TEST((fixture.bind(0, 8, write_only) == Status::success));
  BOOST_TEST((fixture.bind(100, 8, write_only) == Status::success));
  BOOST_TEST(fixture.writes(region_base + 100));
  BOOST_TEST(!fixture.writes(region_base));
}

BOOST_AUTO_TEST_CASE(the_consumer_may_choose_the_key) {
  WindowFixture fixture;
  const auto key = static_cast<std::uint8_t>(fixture.window.stag + 1);
  fixture.b.send({.id = 9,
                  .operation = Operation::bind_window,
                  .bind = {.window = fixture.window.window,
                           .region = fixture.b.region.region,
                           .offset = region_base,
                           .length = 8,
                           .access = write_only,
                           .key = key}});
  fixture.settle();
  const std::uint32_t stag = fixture.b.rnic->query_window(fixture.window.window)->stag;
  BOOST_TEST(stag == ((fixture.window.stag & ~0xFFU) | key));
  BOOST_TEST(!fixture.writes(region_base));  // by the old key
}

BOOST_AUTO_TEST_CASE(a_window_may_end_where_its_region_ends) {
  WindowFixture fixture;
  BOOST_TEST((fixture.bind(4000, 96, write_only) == Status::success));
  BOOST_TEST(fixture.writes(region_base + 4088));
}

BOOST_AUTO_TEST_CASE(a_window_does_not_begin_before_its_region) {
  WindowFixture fixture;
  BOOST_TEST((fixture.bind(~std::uint64_t{0}, 8, write_only) == Status::bind));
}

BOOST_AUTO_TEST_CASE(a_window_that_moves_lets_go_of_its_region) {
  WindowFixture fixture;
  const RegionInfo first = fixture.b.expose(0, 64, all_access);
  fixture.b.send({.id = 9,
                  .operation = Operation::bind_window,
                  .bind = {.window = fixture.window.window,
                           .region = first.region,
                           .offset = first.base,
                           .length = 8,
                           .access = write_only}});
  fixture.settle();
  BOOST_TEST((fixture.b.completions().front().status == Status::success));
  BOOST_TEST((fixture.b.rnic->deregister(first.region).error() == Error::in_use));
  BOOST_TEST((fixture.bind(0, 8, write_only) == Status::success));
  BOOST_TEST(fixture.b.rnic->deregister(first.region).has_value());
  BOOST_TEST((fixture.b.rnic->deregister(fixture.b.region.region).error() == Error::in_use));
}

BOOST_AUTO_TEST_CASE(a_window_is_for_the_peer_and_not_for_its_owner_s_receives) {
  WindowFixture fixture;
  BOOST_TEST((fixture.bind(0, 64, write_only) == Status::success));
  fixture.b.receive(3, {{.stag = fixture.window.stag, .offset = region_base, .length = 8}});
  fixture.a.send({.id = 4, .operation = Operation::send, .pieces = {fixture.a.piece(0, 8)}});
  fixture.settle();
  const auto completions = fixture.b.completions();
  BOOST_REQUIRE(!completions.empty());
  BOOST_TEST((completions[0].status == Status::local_protection));
}

BOOST_AUTO_TEST_CASE(a_region_with_windows_is_invalidated_by_nobody) {
  const auto bound = [](WindowFixture& fixture) {
    BOOST_TEST((fixture.bind(0, 64, write_only) == Status::success));
  };
  WindowFixture by_peer;
  bound(by_peer);
  by_peer.b.receive(3, {by_peer.b.piece(200, 8)});
  by_peer.a.send(
      {.id = 4, .operation = Operation::send_invalidate, .invalidate_stag = by_peer.b.region.stag});
  by_peer.settle();
  BOOST_TEST(by_peer.b.rnic->query_region(by_peer.b.region.region)->valid);
  BOOST_TEST((by_peer.b.state() == QueuePairState::error));
  WindowFixture by_owner;
  bound(by_owner);
  by_owner.b.send({.id = 4,
                   .operation = Operation::local_invalidate,
                   .invalidate_stag = by_owner.b.region.stag});
  by_owner.settle();
  BOOST_TEST((by_owner.b.completions().front().status == Status::invalidation));
  BOOST_TEST(by_owner.b.rnic->query_region(by_owner.b.region.region)->valid);
  // A Read that would have to invalidate it does not succeed either, though its data are there.
  WindowFixture by_read;
  bound(by_read);
  by_read.b.send({.id = 4,
                  .operation = Operation::read_invalidate,
                  .pieces = {by_read.b.piece(0, 8)},
                  .remote_stag = by_read.a.region.stag,
                  .remote_offset = by_read.a.region.base});
  by_read.settle();
  BOOST_TEST((by_read.b.completions().front().status == Status::invalidation));
  BOOST_TEST((by_read.b.state() == QueuePairState::error));
}

BOOST_AUTO_TEST_CASE(a_window_of_one_queue_pair_is_not_another_s_to_use) {
  WindowFixture fixture;
  BOOST_TEST((fixture.bind(0, 64, write_only) == Status::success));
  const QueuePairHandle first = fixture.b.pair;
  Side& b = fixture.b;
  b.stream->call(&rnic::stream::Stream::lost, rnic::stream::TimePoint{});
  fixture.loop.run();
  static_cast<void>(b.completions());
  // The window stays bound; the next queue pair can neither unbind nor invalidate it.
  b.pair = *b.rnic->create_queue_pair(
      {.domain = b.domain, .send_completions = b.queue, .receive_completions = b.queue});
  fixture.a.stream->call(&rnic::stream::Stream::lost, rnic::stream::TimePoint{});
  BOOST_TEST(fixture.a.rnic->reset_queue_pair(fixture.a.pair).has_value());
  fixture.connect();
  fixture.a.send({.id = 1, .operation = Operation::write});
  fixture.settle();
  b.send(
      {.id = 5, .operation = Operation::local_invalidate, .invalidate_stag = fixture.window.stag});
  fixture.settle();
  BOOST_TEST((b.completions().front().status == Status::invalidation));
  BOOST_TEST(b.rnic->query_window(fixture.window.window)->bound);
  BOOST_TEST((first != b.pair));
}

BOOST_AUTO_TEST_CASE(a_bind_outside_of_the_region_fails_and_ends_the_stream) {
  WindowFixture fixture;
  BOOST_TEST((fixture.bind(4000, 97, write_only) == Status::bind));
  BOOST_TEST((fixture.b.state() == QueuePairState::error));
}

BOOST_AUTO_TEST_CASE(a_region_must_allow_windows_and_what_they_grant) {
  struct Row {
    Access region, window;
  };
  for (const Row& row :
       {Row{{.local_write = true}, write_only}, Row{{.bind_window = true}, write_only},
        Row{{.bind_window = true}, {.remote_atomic = true}}}) {
    WindowFixture fixture;
    const RegionInfo region = fixture.b.expose(0, 64, row.region);
    fixture.b.send({.id = 9,
                    .operation = Operation::bind_window,
                    .bind = {.window = fixture.window.window,
                             .region = region.region,
                             .offset = region.base,
                             .length = 8,
                             .access = row.window}});
    fixture.settle();
    const auto completions = fixture.b.completions();
    BOOST_REQUIRE(!completions.empty());
    BOOST_TEST((completions[0].status == Status::bind));
  }
}

BOOST_AUTO_TEST_CASE(windows_and_regions_of_other_domains_and_of_none_are_refused) {
  WindowFixture fixture;
  Rnic& rnic = *fixture.b.rnic;
  const DomainHandle other = *rnic.create_domain();
  const WindowInfo foreign = *rnic.allocate_window(other, WindowScope::domain);
  const RegionInfo foreign_region =
      *rnic.register_memory(other, {.memory = fixture.b.memory, .access = all_access});
  const auto refusal = [&](WindowHandle window, RegionHandle region, std::uint64_t length) {
    const SendRequest request{
        .operation = Operation::bind_window,
        .bind = {.window = window, .region = region, .offset = region_base, .length = length}};
    return rnic.post_send(fixture.b.pair, std::span(&request, 1)).error().error;
  };
  const RegionHandle region = fixture.b.region.region;
  const WindowHandle window = fixture.window.window;
  BOOST_TEST((refusal(foreign.window, region, 8) == Error::wrong_domain));
  BOOST_TEST((refusal(window, foreign_region.region, 8) == Error::wrong_domain));
  BOOST_TEST((refusal({}, region, 8) == Error::invalid_handle));
  BOOST_TEST((refusal({}, {}, 0) == Error::invalid_handle));
  BOOST_TEST((refusal(window, {}, 8) == Error::invalid_handle));
  // To unbind, no region need be named.
  fixture.b.send({.id = 9, .operation = Operation::bind_window, .bind = {.window = window}});
  fixture.settle();
  BOOST_TEST((fixture.b.completions().front().status == Status::success));
}

BOOST_AUTO_TEST_CASE(the_peer_can_invalidate_a_bound_window_which_then_is_unbound) {
  WindowFixture fixture;
  BOOST_TEST((fixture.bind(0, 64, write_only) == Status::success));
  fixture.b.receive(3, {fixture.b.piece(200, 8)});
  fixture.a.send(
      {.id = 4, .operation = Operation::send_invalidate, .invalidate_stag = fixture.window.stag});
  fixture.settle();
  BOOST_TEST(!fixture.b.rnic->query_window(fixture.window.window)->bound);
  BOOST_TEST(fixture.b.rnic->query_region(fixture.b.region.region)->valid);
  BOOST_TEST(!fixture.writes(region_base));
}

BOOST_AUTO_TEST_CASE(a_freed_window_gives_nothing) {
  WindowFixture fixture;
  BOOST_TEST((fixture.bind(0, 64, write_only) == Status::success));
  BOOST_TEST(fixture.b.rnic->free_window(fixture.window.window).has_value());
  BOOST_TEST(fixture.b.rnic->deregister(fixture.b.region.region).has_value());
  BOOST_TEST(!fixture.writes(region_base));
}

BOOST_AUTO_TEST_SUITE_END()
