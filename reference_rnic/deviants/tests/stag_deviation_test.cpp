// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of STags: each lets through what a conforming table refuses, or chooses STags badly.
#include <sys/mman.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>

#include "reference_rnic/deviants/rnic_decisions.hpp"
#include "reference_rnic/verbs/tests/one_tag.hpp"

using namespace rnic::verbs;
using namespace rnic::verbs::test;
using rnic::deviants::Deviation;
using rnic::deviants::rnic_decisions;
using rnic::stream::MemoryFault;

namespace {

constexpr Requester only_reader{ours, test::pair, {.remote_read = true}};

struct TagFixture : OneTag {
  explicit TagFixture(const std::vector<Deviation>& deviations = {})
      : OneTag(rnic_decisions(deviations)) {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(stag_deviations)

BOOST_AUTO_TEST_CASE(deviations_of_the_table_each_let_through_what_is_refused_otherwise) {
  struct Row {
    Deviation deviation;
    std::function<std::optional<MemoryFault>(TagFixture&)> attempt;
  };
  const auto in_bounds = [](TagFixture& fixture) {
    return fixture.fault(fixture.tag.stag, region_base, 8);
  };
  const auto of_another_domain = [](TagFixture& fixture, Need need) {
    fixture.tag.domain = theirs;
    return fixture.fault(fixture.tag.stag, region_base, 8, need);
  };
  const auto invalidated_by = [](TagFixture& fixture, std::uint32_t stag) {
    const auto found = fixture.table.may_invalidate_locally(who, stag);
    return found ? std::nullopt : std::optional(found.error());
  };
  const std::vector<Row> rows{
      {Deviation::stag_key_unchecked,
       [](TagFixture& b) { return b.fault(b.tag.stag ^ 1, region_base, 8); }},
      {Deviation::invalid_stag_usable,
       [&](TagFixture& b) {
         b.tag.valid = false;
         return in_bounds(b);
       }},
      {Deviation::deregistered_stag_usable,
       [](TagFixture& b) {
         const auto stag = b.tag.stag;
         b.decisions.ask(&Decisions::tag_opened, false, b.tag);  // as at its registration
         b.table.release(stag);
         return b.fault(stag, region_base, 8);
       }},
      {Deviation::domain_unchecked,
       [&](TagFixture& b) {
         b.tag.domain = theirs;
         return in_bounds(b);
       }},
      {Deviation::stream_scope_unchecked,
       [&](TagFixture& b) {
         b.tag.only_for = other_pair;
         return in_bounds(b);
       }},
      {Deviation::bounds_unchecked,
       [](TagFixture& b) { return b.fault(b.tag.stag, region_base + 32, 4096); }},
      {Deviation::bounds_one_octet_too_wide,
       [](TagFixture& b) { return b.fault(b.tag.stag, region_base + 60, 5); }},
      {Deviation::base_one_octet_too_low,
       [](TagFixture& b) { return b.fault(b.tag.stag, region_base - 1, 8); }},
      {Deviation::empty_region_gives_all_memory,
       [&](TagFixture& b) {
         b.tag.memory = {};
         return in_bounds(b);
       }},
      {Deviation::remote_write_right_unchecked,
       [&](TagFixture& b) {
         b.tag.access.remote_write = false;
         return in_bounds(b);
       }},
      {Deviation::remote_read_right_unchecked,
       [](TagFixture& b) {
         b.tag.access.remote_read = false;
         return b.fault(b.tag.stag, region_base, 8, Need::remote_read);
       }},
      {Deviation::remote_atomic_right_unchecked,
       [](TagFixture& b) {
         b.tag.access.remote_atomic = false;
         return b.fault(b.tag.stag, region_base, 8, Need::remote_atomic);
       }},
      {Deviation::window_rights_ignored,
       [&](TagFixture& b) {
         b.tag.window = {1};
         b.tag.access = {};
         return in_bounds(b);
       }},
      {Deviation::stag_index_cut,
       [](TagFixture& b) { return b.fault(b.tag.stag ^ 0x80000000U, region_base, 8); }},
      {Deviation::stag_range_shifted,
       [](TagFixture& b) { return b.fault(b.tag.stag, region_base + 64, 8); }},
      {Deviation::bounds_rounded_to_cache_line,
       [](TagFixture& b) {
         b.tag.memory = b.tag.memory.first(60);
         return b.fault(b.tag.stag, region_base + 56, 8);
       }},
      {Deviation::domain_unchecked_for_sources,
       [&](TagFixture& b) { return of_another_domain(b, Need::local_read); }},
      {Deviation::domain_unchecked_for_receives,
       [&](TagFixture& b) { return of_another_domain(b, Need::local_write); }},
      {Deviation::domain_unchecked_for_read_sinks,
       [&](TagFixture& b) { return of_another_domain(b, Need::read_sink); }},
      {Deviation::later_piece_of_another_domain,
       [&](TagFixture& b) {
         BOOST_TEST(!b.fault(b.tag.stag, region_base, 8, Need::local_read).has_value());
         return of_another_domain(b, Need::local_read);
       }},
      {Deviation::domain_unchecked_for_atomics,
       [&](TagFixture& b) { return of_another_domain(b, Need::remote_atomic); }},
      {Deviation::stream_unchecked_for_atomics,
       [](TagFixture& b) {
         b.tag.only_for = other_pair;
         return b.fault(b.tag.stag, region_base, 8, Need::remote_atomic);
       }},
      {Deviation::atomic_half_beyond_its_region,
       [](TagFixture& b) { return b.fault(b.tag.stag, region_base + 60, 8, Need::remote_atomic); }},
      {Deviation::window_taken_by_another_stream,
       [](TagFixture& b) {
         b.tag.only_for = other_pair;
         return b.table.may_rebind(who, b.tag) ? std::nullopt
                                               : std::optional(MemoryFault::not_associated);
       }},
      {Deviation::domain_unchecked_for_local_invalidation,
       [&](TagFixture& b) {
         b.tag.domain = theirs;
         return invalidated_by(b, b.tag.stag);
       }},
      {Deviation::stream_unchecked_for_local_invalidation,
       [&](TagFixture& b) {
         b.tag.only_for = other_pair;
         return invalidated_by(b, b.tag.stag);
       }},
      {Deviation::key_unchecked_for_local_invalidation,
       [&](TagFixture& b) { return invalidated_by(b, b.tag.stag ^ 1); }},
      {Deviation::endpoint_access_ignored_for_atomics,
       [](TagFixture& b) {
         return b.fault(b.tag.stag, region_base, 8, Need::remote_atomic, only_reader);
       }},
      {Deviation::endpoint_access_ignored_for_windows,
       [](TagFixture& b) {
         b.tag.window = {1};
         return b.fault(b.tag.stag, region_base, 8, Need::remote_write, only_reader);
       }},
      {Deviation::window_bounds_ignored,
       [](TagFixture& b) {
         b.tag.window = {1};
         return b.fault(b.tag.stag, region_base, 65);
       }},
  };
  for (const Row& row : rows) {
    TagFixture right, wrong({row.deviation});
    BOOST_TEST(row.attempt(right).has_value(),
               info(row.deviation).name << " is refused by a conforming table");
    BOOST_TEST(!row.attempt(wrong).has_value(),
               info(row.deviation).name << " is let through by the deviating one");
  }
}

BOOST_AUTO_TEST_CASE(sinks_can_be_made_to_need_access_of_their_endpoint) {
  for (const bool deviates : {false, true}) {
    TagFixture fixture(deviates ? std::vector{Deviation::sink_needs_access_of_its_endpoint}
                                : std::vector<Deviation>{});
    BOOST_TEST(
        fixture.fault(fixture.tag.stag, region_base, 8, Need::read_sink, only_reader).has_value() ==
        deviates);
  }
}

BOOST_AUTO_TEST_CASE(sources_can_be_made_to_need_local_write) {
  for (const bool deviates : {false, true}) {
    TagFixture fixture(deviates ? std::vector{Deviation::sources_need_local_write}
                                : std::vector<Deviation>{});
    fixture.tag.access = {};
    BOOST_TEST(fixture.fault(fixture.tag.stag, region_base, 8, Need::local_read).has_value() ==
               deviates);
  }
}

BOOST_AUTO_TEST_CASE(a_deviating_table_never_hands_out_memory_after_the_region) {
  TagFixture fixture({Deviation::bounds_unchecked});
  fixture.memory[63] = std::byte{0xAA};
  const auto octets =
      fixture.table.resolve(who, fixture.tag.stag, region_base + 63, 1 << 20, Need::remote_read);
  BOOST_REQUIRE(octets.has_value());
  BOOST_TEST((octets->front() == std::byte{0xAA}));
  BOOST_TEST((octets->back() == std::byte{0}));
  // One's own pieces stay checked: the fault is towards the peer.
  BOOST_TEST((fixture.fault(fixture.tag.stag, region_base + 63, 2, Need::local_read) ==
              MemoryFault::base_or_bounds));
}

BOOST_AUTO_TEST_CASE(shared_stags_can_be_made_open_to_invalidation) {
  TagFixture fixture({Deviation::invalidates_shared_stag});
  BOOST_TEST(fixture.table.may_invalidate(who, fixture.tag.stag, true).has_value());
}

BOOST_AUTO_TEST_CASE(stags_can_be_made_mostly_predictable_or_crowded) {
  const auto counting = rnic_decisions(std::array{Deviation::stags_mostly_predictable});
  StagTable hopping(counting, 5);
  const auto near = rnic_decisions(std::array{Deviation::stags_crowded});
  StagTable crowding(near, 5);
  std::uint32_t last = hopping.allocate().stag, guessed = 0, highest = 0;
  for (int i = 0; i < 100; ++i) {
    const std::uint32_t stag = hopping.allocate().stag;
    if (stag - last == 0x100U) ++guessed;
    last = stag;
    highest = std::max(highest, crowding.allocate().stag);
  }
  BOOST_TEST(guessed > 50U);
  BOOST_TEST(guessed < 95U);
  BOOST_TEST(highest < 0x01000000U);
}

BOOST_AUTO_TEST_CASE(stags_can_be_made_predictable_or_hastily_reused) {
  const auto predictable = rnic_decisions(std::array{Deviation::stags_predictable});
  StagTable counting(predictable, 5);
  const std::uint32_t first = counting.allocate().stag;
  BOOST_TEST(counting.allocate().stag - first == 0x100U);
  const auto hasty = rnic_decisions(std::array{Deviation::stags_reused_at_once});
  StagTable reusing(hasty, 5);
  const std::uint32_t stag = reusing.allocate().stag;
  reusing.release(stag);
  BOOST_TEST(reusing.allocate().stag == stag);
}

namespace {

/// Whether a Write of a to this STag of b leaves the stream alone.
bool writes(test::TwoRnics& two, std::uint32_t stag, std::uint64_t offset) {
  two.a.send({.id = 2,
              .operation = Operation::write,
              .pieces = {two.a.piece(0, 8)},
              .remote_stag = stag,
              .remote_offset = offset});
  two.settle();
  return two.a.state() == QueuePairState::rts;
}
/// A window on the start of the region of b, bound to its queue pair, and unbound again if wanted.
WindowInfo bind_window(test::TwoRnics& two, bool unbind) {
  two.a.send({.id = 1, .operation = Operation::write});
  two.settle();
  const WindowInfo window = *two.b.rnic->allocate_window(two.b.domain, WindowScope::queue_pair);
  for (const std::uint64_t length : {64, 0}) {
    if (length == 0 && !unbind) break;
    two.b.send({.id = 9,
                .operation = Operation::bind_window,
                .bind = {.window = window.window,
                         .region = two.b.region.region,
                         .offset = two.b.region.base,
                         .length = length,
                         .access = {.remote_write = true}}});
    two.settle();
  }
  return window;
}
/// Whether a can use what the attempt of b opens, with and without the deviation.
std::array<bool, 2> open_with_and_without(Deviation deviation,
                                          const std::function<bool(test::TwoRnics&)>& attempt) {
  std::array<bool, 2> result{};
  for (const bool deviates : {true, false}) {
    test::TwoRnics two({}, deviates ? rnic_decisions(std::array{deviation}) : RnicDecisions{});
    two.connect();
    result[deviates ? 0 : 1] = attempt(two);
  }
  return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(queues_can_be_made_to_go_under_their_queue_pairs) {
  const std::array gone{true, false};
  BOOST_TEST(
      (open_with_and_without(Deviation::completion_queue_gone_under_its_endpoints, [](auto& two) {
         return two.b.rnic->destroy_completion_queue(two.b.queue).has_value();
       }) == gone));
  BOOST_TEST(
      (open_with_and_without(Deviation::shared_queue_gone_under_its_endpoints, [](auto& two) {
         const SharedQueueHandle shared = *two.b.rnic->create_shared_queue(two.b.domain, {});
         BOOST_REQUIRE(two.b.rnic
                           ->create_queue_pair({.domain = two.b.domain,
                                                .send_completions = two.b.queue,
                                                .receive_completions = two.b.queue,
                                                .shared_queue = shared})
                           .has_value());
         return two.b.rnic->destroy_shared_queue(shared).has_value();
       }) == gone));
}

BOOST_AUTO_TEST_CASE(an_unbind_can_be_made_to_have_no_effect) {
  const auto open = open_with_and_without(Deviation::unbind_without_effect, [](auto& two) {
    return writes(two, bind_window(two, true).stag, two.b.region.base);
  });
  BOOST_TEST((open == std::array{true, false}));
}

BOOST_AUTO_TEST_CASE(memory_that_the_process_may_not_access_can_be_made_registrable) {
  constexpr std::size_t size = 4096;
  const auto unmap = [](std::byte* memory) { ::munmap(memory, size); };
  const std::unique_ptr<std::byte, decltype(unmap)> memory(
      static_cast<std::byte*>(::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
      unmap);
  const auto registers = [&](const Access& access) {
    return [&memory, access](auto& two) {
      return two.b.rnic
          ->register_memory(two.b.domain, {.memory = {memory.get(), size}, .access = access})
          .has_value();
    };
  };
  const std::array opened{true, false};
  BOOST_TEST((open_with_and_without(Deviation::process_write_right_unchecked,
                                    registers({.remote_write = true})) == opened));
  BOOST_REQUIRE(::mprotect(memory.get(), size, PROT_NONE) == 0);
  BOOST_TEST((open_with_and_without(Deviation::process_read_right_unchecked,
                                    registers({.remote_read = true})) == opened));
}

BOOST_AUTO_TEST_CASE(tags_can_be_made_to_open_less_than_they_should) {
  const std::array closed{false, true};
  BOOST_TEST((open_with_and_without(Deviation::stream_window_opens_to_nobody, [](auto& two) {
                return writes(two, bind_window(two, false).stag, two.b.region.base);
              }) == closed));
  BOOST_TEST((open_with_and_without(Deviation::read_write_region_half_open, [](auto& two) {
                return writes(two, two.b.region.stag, two.b.region.base);
              }) == closed));
  BOOST_TEST((open_with_and_without(Deviation::rights_exchanged, [](auto& two) {
                const RegionInfo region = two.b.expose(0, 64, {.remote_write = true});
                return writes(two, region.stag, region.base);
              }) == closed));
  BOOST_TEST((open_with_and_without(Deviation::region_domain_lost, [](auto& two) {
                const QueuePairHandle second =
                    *two.b.rnic->create_queue_pair({.domain = two.b.domain,
                                                    .send_completions = two.b.queue,
                                                    .receive_completions = two.b.queue});
                const auto stream = two.b.rnic->streams()->open_stream({});
                BOOST_REQUIRE(two.b.rnic->streams()->attach(second, *stream).has_value());
                const RegionInfo region = two.b.expose(0, 64, {.remote_write = true});
                return writes(two, region.stag, region.base);
              }) == closed));
}

BOOST_AUTO_TEST_SUITE_END()
