// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Every deviation has a deviant, and in one layer one only: two would answer twice.
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstddef>

#include "reference_rnic/deviants/rnic_tables.hpp"
#include "reference_rnic/deviants/stream_tables.hpp"

namespace rnic::deviants {
namespace {

using Counts = std::array<int, deviation_count>;

template <class Decisions>
void count(std::span<const Row<Decisions>> table, Counts& rows) {
  for (const Row<Decisions>& row : table) {
    ++rows.at(static_cast<std::size_t>(row.deviation));
    BOOST_TEST((row.make() != nullptr));
  }
}

BOOST_AUTO_TEST_CASE(every_deviation_has_a_row_and_one_for_each_layer) {
  Counts stream{}, rnic{}, connection{};
  for (const auto table : stream_tables()) count<stream::Decisions>(table, stream);
  for (const auto table : rnic_tables()) count<verbs::Decisions>(table, rnic);
  count<access::Decisions>(connection_deviants(), connection);
  for (const DeviationInfo& info : deviations()) {
    const auto at = static_cast<std::size_t>(info.deviation);
    BOOST_TEST(stream.at(at) + rnic.at(at) + connection.at(at) != 0, info.name << " has no row");
    for (const Counts* rows : {&stream, &rnic, &connection})
      BOOST_TEST(rows->at(at) <= 1, info.name << " has two rows in one layer");
  }
}

}  // namespace
}  // namespace rnic::deviants
