// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/lawful/decisions.hpp"

#include <array>
#include <vector>

#include "reference_rnic/lawful/table.hpp"

namespace rnic::lawful {
namespace {

/// Keys of chains, apart from those of deviations.
constexpr std::uint32_t first_key = 0x10000;

template <class Decisions>
void add(stream::DecisionChain<Decisions>& chain, std::span<const Row<Decisions>> table,
         Lawful lawful) {
  for (const Row<Decisions>& entry : table)
    if (entry.lawful == lawful)
      chain.add(first_key + static_cast<std::uint32_t>(lawful), entry.make(),
                stream::Conduct::lawful);
}

}  // namespace

stream::StreamDecisions stream_decisions(std::span<const Lawful> chosen) {
  stream::StreamDecisions decisions;
  for (const Lawful lawful : chosen)
    for (const auto table :
         {startup_variants(), framing_variants(), message_variants(), terminate_variants()})
      add<stream::Decisions>(decisions, table, lawful);
  return decisions;
}

verbs::RnicDecisions rnic_decisions(std::span<const Lawful> chosen) {
  verbs::RnicDecisions decisions;
  for (const Lawful lawful : chosen) add<verbs::Decisions>(decisions, queue_variants(), lawful);
  if (!chosen.empty())
    decisions.of_stream = [all = std::vector(chosen.begin(), chosen.end())] {
      return stream_decisions(all);
    };
  return decisions;
}

access::ConnectionDecisions connection_decisions(std::span<const Lawful> chosen) {
  access::ConnectionDecisions decisions;
  for (const Lawful lawful : chosen)
    add<access::Decisions>(decisions, connection_variants(), lawful);
  return decisions;
}

}  // namespace rnic::lawful
