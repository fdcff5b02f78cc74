// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The STag table: every check of an access, and how STags are drawn.
#include <boost/test/unit_test.hpp>
#include <limits>
#include <set>

#include "reference_rnic/deviants/rnic_decisions.hpp"
#include "reference_rnic/verbs/stag_table.hpp"

using namespace rnic::verbs;
using rnic::deviants::Deviation;
using rnic::deviants::rnic_decisions;
using rnic::stream::MemoryFault;

namespace {

const DomainHandle ours{1}, theirs{2};
const QueuePairHandle pair{7}, other_pair{8};
const Requester who{ours, pair};
constexpr std::uint64_t region_base = 0x1000;

struct Bench {
  explicit Bench(std::vector<Deviation> deviations = {})
      : decisions(rnic_decisions(deviations)), table(decisions, 99), tag(table.allocate()) {
    tag.domain = ours;
    tag.memory = memory;
    tag.base = region_base;
    tag.access = {.local_write = true,
                  .remote_read = true,
                  .remote_write = true,
                  .remote_atomic = true,
                  .bind_window = true};
    tag.valid = true;
  }
  std::optional<MemoryFault> fault(std::uint32_t stag, std::uint64_t offset, std::size_t length,
                                   Need need = Need::remote_write,
                                   const Requester& requester = who) {
    const auto result = table.resolve(requester, stag, offset, length, need);
    return result ? std::nullopt : std::optional(result.error());
  }
  RnicDecisions decisions;
  std::vector<std::byte> memory = std::vector<std::byte>(64);
  StagTable table;
  Tag& tag;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(stag_table)

BOOST_AUTO_TEST_CASE(bounds_are_exact_to_the_octet) {
  Bench bench;
  const std::uint32_t stag = bench.tag.stag;
  BOOST_TEST((!bench.fault(stag, region_base, 64)));
  BOOST_TEST((!bench.fault(stag, region_base + 63, 1)));
  BOOST_TEST((bench.fault(stag, region_base, 65) == MemoryFault::base_or_bounds));
  BOOST_TEST((bench.fault(stag, region_base + 64, 1) == MemoryFault::base_or_bounds));
  BOOST_TEST((bench.fault(stag, region_base + 63, 2) == MemoryFault::base_or_bounds));
  BOOST_TEST((bench.fault(stag, region_base - 1, 1) == MemoryFault::base_or_bounds));
  BOOST_TEST((bench.fault(stag, region_base - 1, 2) == MemoryFault::base_or_bounds));
  BOOST_TEST((bench.fault(stag, 0, 1) == MemoryFault::base_or_bounds));
}

BOOST_AUTO_TEST_CASE(the_octets_are_those_of_the_offset) {
  Bench bench;
  const auto octets =
      bench.table.resolve(who, bench.tag.stag, region_base + 5, 3, Need::remote_read);
  BOOST_REQUIRE(octets.has_value());
  BOOST_TEST((octets->data() == bench.memory.data() + 5));
  BOOST_TEST(octets->size() == 3U);
}

BOOST_AUTO_TEST_CASE(an_offset_that_wraps_is_told_from_one_out_of_bounds) {
  Bench bench;
  bench.tag.base = std::numeric_limits<std::uint64_t>::max() - 63;
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  BOOST_TEST((!bench.fault(bench.tag.stag, last - 63, 63)));
  BOOST_TEST((bench.fault(bench.tag.stag, last, 2) == MemoryFault::to_wrap));
  BOOST_TEST((bench.fault(bench.tag.stag, last - 1, 64) == MemoryFault::to_wrap));
}

BOOST_AUTO_TEST_CASE(key_index_and_state_all_count) {
  Bench bench;
  const std::uint32_t stag = bench.tag.stag;
  BOOST_TEST((bench.fault(stag ^ 1, region_base, 1) == MemoryFault::invalid_stag));
  BOOST_TEST((bench.fault(stag ^ 0x100, region_base, 1) == MemoryFault::invalid_stag));
  BOOST_TEST((bench.fault(0, region_base, 1) == MemoryFault::invalid_stag));
  bench.tag.valid = false;
  BOOST_TEST((bench.fault(stag, region_base, 1) == MemoryFault::invalid_stag));
  BOOST_TEST((bench.fault(stag, region_base, 1, Need::local_read) == MemoryFault::invalid_stag));
}

BOOST_AUTO_TEST_CASE(domain_and_stream_are_checked_before_bounds) {
  Bench bench;
  const std::uint32_t stag = bench.tag.stag;
  BOOST_TEST(
      (bench.fault(stag, 0, 1, Need::remote_read, {theirs, pair}) == MemoryFault::not_associated));
  bench.tag.only_for = pair;
  BOOST_TEST((!bench.fault(stag, region_base, 1)));
  BOOST_TEST((bench.fault(stag, region_base, 1, Need::remote_write, {ours, other_pair}) ==
              MemoryFault::not_associated));
}

BOOST_AUTO_TEST_CASE(each_use_needs_its_own_right) {
  struct Row {
    Need need;
    Access enough;
  };
  for (const Row& row : {Row{Need::remote_write, {.remote_write = true}},
                         Row{Need::remote_read, {.remote_read = true}},
                         Row{Need::remote_atomic, {.remote_atomic = true}},
                         Row{Need::read_sink, {.remote_write = true}},
                         Row{Need::local_write, {.local_write = true}}}) {
    Bench bench;
    bench.tag.access = row.enough;
    BOOST_TEST((!bench.fault(bench.tag.stag, region_base, 8, row.need)));
    const Access full{.local_write = true,
                      .remote_read = true,
                      .remote_write = true,
                      .remote_atomic = true,
                      .bind_window = true};
    bench.tag.access = {.local_write = full.local_write && !row.enough.local_write,
                        .remote_read = full.remote_read && !row.enough.remote_read,
                        .remote_write = full.remote_write && !row.enough.remote_write,
                        .remote_atomic = full.remote_atomic && !row.enough.remote_atomic,
                        .bind_window = true};
    BOOST_TEST(
        (bench.fault(bench.tag.stag, region_base, 8, row.need) == MemoryFault::access_rights));
  }
  Bench bench;
  bench.tag.access = {};
  BOOST_TEST((!bench.fault(bench.tag.stag, region_base, 8, Need::local_read)));
}

BOOST_AUTO_TEST_CASE(an_empty_region_grants_nothing) {
  Bench bench;
  bench.tag.memory = {};
  BOOST_TEST((bench.fault(bench.tag.stag, region_base, 1) == MemoryFault::base_or_bounds));
  BOOST_TEST((bench.fault(bench.tag.stag, 0, 1) == MemoryFault::base_or_bounds));
}

BOOST_AUTO_TEST_CASE(a_released_stag_is_invalid) {
  Bench bench;
  const std::uint32_t stag = bench.tag.stag;
  bench.table.release(stag);
  BOOST_TEST((bench.fault(stag, region_base, 1) == MemoryFault::invalid_stag));
}

BOOST_AUTO_TEST_CASE(what_a_peer_may_invalidate) {
  Bench bench;
  const std::uint32_t stag = bench.tag.stag;
  BOOST_TEST((bench.table.may_invalidate(who, stag, false).has_value()));
  BOOST_TEST(
      (bench.table.may_invalidate(who, stag ^ 1, false).error() == MemoryFault::invalid_stag));
  BOOST_TEST((bench.table.may_invalidate({theirs, pair}, stag, false).error() ==
              MemoryFault::not_associated));
  BOOST_TEST(
      (bench.table.may_invalidate(who, stag, true).error() == MemoryFault::cannot_invalidate));
  bench.tag.only_for = pair;
  BOOST_TEST((bench.table.may_invalidate(who, stag, true).has_value()));
  bench.tag.access = {.local_write = true};
  BOOST_TEST(
      (bench.table.may_invalidate(who, stag, false).error() == MemoryFault::cannot_invalidate));
  bench.tag.access = {.remote_read = true};
  bench.tag.valid = false;
  BOOST_TEST((bench.table.may_invalidate(who, stag, false).error() == MemoryFault::invalid_stag));
}

BOOST_AUTO_TEST_CASE(stags_are_distinct_sparse_without_step_and_not_reused_soon) {
  const RnicDecisions decisions;
  StagTable table(decisions, 5);
  std::set<std::uint32_t> indices, steps;
  std::uint32_t previous = 0, highest = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t stag = table.allocate().stag;
    BOOST_TEST(stag >> 8 != 0U);
    indices.insert(stag >> 8);
    steps.insert(stag - previous);
    highest = std::max(highest, stag);
    previous = stag;
    table.release(stag);
  }
  BOOST_TEST(indices.size() == 1000U);
  BOOST_TEST(steps.size() > 990U);
  BOOST_TEST(highest > 0xE0000000U);
}

BOOST_AUTO_TEST_CASE(deviations_of_the_table_each_let_through_what_is_refused_otherwise) {
  struct Row {
    Deviation deviation;
    std::function<std::optional<MemoryFault>(Bench&)> attempt;
  };
  const auto in_bounds = [](Bench& bench) { return bench.fault(bench.tag.stag, region_base, 8); };
  const std::vector<Row> rows{
      {Deviation::stag_key_unchecked,
       [](Bench& b) { return b.fault(b.tag.stag ^ 1, region_base, 8); }},
      {Deviation::invalid_stag_usable,
       [&](Bench& b) {
         b.tag.valid = false;
         return in_bounds(b);
       }},
      {Deviation::deregistered_stag_usable,
       [](Bench& b) {
         const auto stag = b.tag.stag;
         b.table.release(stag);
         return b.fault(stag, region_base, 8);
       }},
      {Deviation::domain_unchecked,
       [&](Bench& b) {
         b.tag.domain = theirs;
         return in_bounds(b);
       }},
      {Deviation::stream_scope_unchecked,
       [&](Bench& b) {
         b.tag.only_for = other_pair;
         return in_bounds(b);
       }},
      {Deviation::bounds_unchecked,
       [](Bench& b) { return b.fault(b.tag.stag, region_base + 32, 4096); }},
      {Deviation::bounds_one_octet_too_wide,
       [](Bench& b) { return b.fault(b.tag.stag, region_base + 60, 5); }},
      {Deviation::base_one_octet_too_low,
       [](Bench& b) { return b.fault(b.tag.stag, region_base - 1, 8); }},
      {Deviation::empty_region_gives_all_memory,
       [&](Bench& b) {
         b.tag.memory = {};
         return in_bounds(b);
       }},
      {Deviation::remote_write_right_unchecked,
       [&](Bench& b) {
         b.tag.access.remote_write = false;
         return in_bounds(b);
       }},
      {Deviation::remote_read_right_unchecked,
       [](Bench& b) {
         b.tag.access.remote_read = false;
         return b.fault(b.tag.stag, region_base, 8, Need::remote_read);
       }},
      {Deviation::remote_atomic_right_unchecked,
       [](Bench& b) {
         b.tag.access.remote_atomic = false;
         return b.fault(b.tag.stag, region_base, 8, Need::remote_atomic);
       }},
      {Deviation::window_rights_ignored,
       [&](Bench& b) {
         b.tag.window = {1};
         b.tag.access = {};
         return in_bounds(b);
       }},
      {Deviation::window_bounds_ignored,
       [](Bench& b) {
         b.tag.window = {1};
         return b.fault(b.tag.stag, region_base, 65);
       }},
  };
  for (const Row& row : rows) {
    Bench right, wrong({row.deviation});
    BOOST_TEST(row.attempt(right).has_value(),
               info(row.deviation).name << " is refused by a conforming table");
    BOOST_TEST(!row.attempt(wrong).has_value(),
               info(row.deviation).name << " is let through by the deviating one");
  }
}

BOOST_AUTO_TEST_CASE(a_deviating_table_never_hands_out_memory_behind_the_region) {
  Bench bench({Deviation::bounds_unchecked});
  bench.memory[63] = std::byte{0xAA};
  const auto octets =
      bench.table.resolve(who, bench.tag.stag, region_base + 63, 1 << 20, Need::remote_read);
  BOOST_REQUIRE(octets.has_value());
  BOOST_TEST((octets->front() == std::byte{0xAA}));
  BOOST_TEST((octets->back() == std::byte{0}));
  // One's own pieces stay checked: the fault is towards the peer.
  BOOST_TEST((bench.fault(bench.tag.stag, region_base + 63, 2, Need::local_read) ==
              MemoryFault::base_or_bounds));
}

BOOST_AUTO_TEST_CASE(shared_stags_can_be_made_open_to_invalidation) {
  Bench bench({Deviation::invalidates_shared_stag});
  BOOST_TEST(bench.table.may_invalidate(who, bench.tag.stag, true).has_value());
}

BOOST_AUTO_TEST_CASE(stags_can_be_made_mostly_predictable_or_crowded) {
  const auto counting = rnic_decisions(std::vector{Deviation::stags_mostly_predictable});
  StagTable hopping(counting, 5);
  const auto near = rnic_decisions(std::vector{Deviation::stags_crowded});
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
  const auto predictable = rnic_decisions(std::vector{Deviation::stags_predictable});
  StagTable counting(predictable, 5);
  const std::uint32_t first = counting.allocate().stag;
  BOOST_TEST(counting.allocate().stag - first == 0x100U);
  const auto hasty = rnic_decisions(std::vector{Deviation::stags_reused_at_once});
  StagTable reusing(hasty, 5);
  const std::uint32_t stag = reusing.allocate().stag;
  reusing.release(stag);
  BOOST_TEST(reusing.allocate().stag == stag);
}

BOOST_AUTO_TEST_SUITE_END()
