// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The STag table: every check of an access, and how STags are drawn.
#include <array>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <map>
#include <set>

#include "reference_rnic/verbs/tests/one_tag.hpp"

using namespace rnic::verbs;
using namespace rnic::verbs::test;
using rnic::stream::MemoryFault;

BOOST_AUTO_TEST_SUITE(stag_table)

BOOST_AUTO_TEST_CASE(bounds_are_exact_to_the_octet) {
  OneTag fixture;
  const std::uint32_t stag = fixture.tag.stag;
  BOOST_TEST((!fixture.fault(stag, region_base, 64)));
  BOOST_TEST((!fixture.fault(stag, region_base + 63, 1)));
  BOOST_TEST((fixture.fault(stag, region_base, 65) == MemoryFault::base_or_bounds));
  BOOST_TEST((fixture.fault(stag, region_base + 64, 1) == MemoryFault::base_or_bounds));
  BOOST_TEST((fixture.fault(stag, region_base + 63, 2) == MemoryFault::base_or_bounds));
  BOOST_TEST((fixture.fault(stag, region_base - 1, 1) == MemoryFault::base_or_bounds));
  BOOST_TEST((fixture.fault(stag, region_base - 1, 2) == MemoryFault::base_or_bounds));
  BOOST_TEST((fixture.fault(stag, 0, 1) == MemoryFault::base_or_bounds));
}

BOOST_AUTO_TEST_CASE(the_octets_are_those_of_the_offset) {
  OneTag fixture;
  const auto octets =
      fixture.table.resolve(who, fixture.tag.stag, region_base + 5, 3, Need::remote_read);
  BOOST_REQUIRE(octets.has_value());
  BOOST_TEST((octets->data() == fixture.memory.data() + 5));
  BOOST_TEST(octets->size() == 3U);
}

BOOST_AUTO_TEST_CASE(an_offset_that_wraps_is_told_from_one_out_of_bounds) {
  OneTag fixture;
  fixture.tag.base = std::numeric_limits<std::uint64_t>::max() - 63;
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  BOOST_TEST((!fixture.fault(fixture.tag.stag, last - 63, 63)));
  BOOST_TEST((fixture.fault(fixture.tag.stag, last, 2) == MemoryFault::to_wrap));
  BOOST_TEST((fixture.fault(fixture.tag.stag, last - 1, 64) == MemoryFault::to_wrap));
}

BOOST_AUTO_TEST_CASE(key_index_and_state_all_count) {
  OneTag fixture;
  const std::uint32_t stag = fixture.tag.stag;
  BOOST_TEST((fixture.fault(stag ^ 1, region_base, 1) == MemoryFault::invalid_stag));
  BOOST_TEST((fixture.fault(stag ^ 0x100, region_base, 1) == MemoryFault::invalid_stag));
  BOOST_TEST((fixture.fault(0, region_base, 1) == MemoryFault::invalid_stag));
  fixture.tag.valid = false;
  BOOST_TEST((fixture.fault(stag, region_base, 1) == MemoryFault::invalid_stag));
  BOOST_TEST((fixture.fault(stag, region_base, 1, Need::local_read) == MemoryFault::invalid_stag));
}

BOOST_AUTO_TEST_CASE(domain_and_stream_are_checked_before_bounds) {
  OneTag fixture;
  const std::uint32_t stag = fixture.tag.stag;
  BOOST_TEST((fixture.fault(stag, 0, 1, Need::remote_read, {theirs, pair}) ==
              MemoryFault::not_associated));
  fixture.tag.only_for = pair;
  BOOST_TEST((!fixture.fault(stag, region_base, 1)));
  BOOST_TEST((fixture.fault(stag, region_base, 1, Need::remote_write, {ours, other_pair}) ==
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
    OneTag fixture;
    fixture.tag.access = row.enough;
    BOOST_TEST((!fixture.fault(fixture.tag.stag, region_base, 8, row.need)));
    const Access full{.local_write = true,
                      .remote_read = true,
                      .remote_write = true,
                      .remote_atomic = true,
                      .bind_window = true};
    fixture.tag.access = {.local_write = full.local_write && !row.enough.local_write,
                          .remote_read = full.remote_read && !row.enough.remote_read,
                          .remote_write = full.remote_write && !row.enough.remote_write,
                          .remote_atomic = full.remote_atomic && !row.enough.remote_atomic,
                          .bind_window = true};
    BOOST_TEST(
        (fixture.fault(fixture.tag.stag, region_base, 8, row.need) == MemoryFault::access_rights));
  }
  OneTag fixture;
  fixture.tag.access = {};
  BOOST_TEST((!fixture.fault(fixture.tag.stag, region_base, 8, Need::local_read)));
}

BOOST_AUTO_TEST_CASE(an_empty_region_grants_nothing) {
  OneTag fixture;
  fixture.tag.memory = {};
  BOOST_TEST((fixture.fault(fixture.tag.stag, region_base, 1) == MemoryFault::base_or_bounds));
  BOOST_TEST((fixture.fault(fixture.tag.stag, 0, 1) == MemoryFault::base_or_bounds));
}

BOOST_AUTO_TEST_CASE(a_released_stag_is_invalid) {
  OneTag fixture;
  const std::uint32_t stag = fixture.tag.stag;
  fixture.table.release(stag);
  BOOST_TEST((fixture.fault(stag, region_base, 1) == MemoryFault::invalid_stag));
}

BOOST_AUTO_TEST_CASE(what_a_peer_may_invalidate) {
  OneTag fixture;
  const std::uint32_t stag = fixture.tag.stag;
  BOOST_TEST((fixture.table.may_invalidate(who, stag, false).has_value()));
  BOOST_TEST(
      (fixture.table.may_invalidate(who, stag ^ 1, false).error() == MemoryFault::invalid_stag));
  BOOST_TEST((fixture.table.may_invalidate({theirs, pair}, stag, false).error() ==
              MemoryFault::not_associated));
  BOOST_TEST(
      (fixture.table.may_invalidate(who, stag, true).error() == MemoryFault::cannot_invalidate));
  fixture.tag.only_for = pair;
  BOOST_TEST((fixture.table.may_invalidate(who, stag, true).has_value()));
  fixture.tag.access = {.local_write = true};
  BOOST_TEST(
      (fixture.table.may_invalidate(who, stag, false).error() == MemoryFault::cannot_invalidate));
  fixture.tag.access = {.remote_read = true};
  fixture.tag.valid = false;
  BOOST_TEST((fixture.table.may_invalidate(who, stag, false).error() == MemoryFault::invalid_stag));
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

BOOST_AUTO_TEST_CASE(the_key_says_nothing_of_the_index) {
  const RnicDecisions decisions;
  StagTable table(decisions, 5);
  constexpr int drawn = 1024;
  std::array<std::map<std::uint32_t, int>, 3> differences;  // from each octet of the index
  for (int i = 0; i < drawn; ++i) {
    const std::uint32_t stag = table.allocate().stag;
    for (unsigned octet = 0; octet < 3; ++octet)
      ++differences[octet][(stag - (stag >> (8 * (octet + 1)))) & 0xFF];
  }
  for (const auto& seen : differences)
    for (const auto& [difference, times] : seen)
      BOOST_TEST(times < drawn / 16, "key = octet of the index + " << difference);
}

BOOST_AUTO_TEST_SUITE_END()
