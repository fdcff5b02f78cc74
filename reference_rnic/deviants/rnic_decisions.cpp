// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/deviants/rnic_decisions.hpp"

#include <vector>

#include "reference_rnic/deviants/rnic_tables.hpp"
#include "reference_rnic/deviants/stream_decisions.hpp"

namespace rnic::deviants {

verbs::RnicDecisions rnic_decisions(std::span<const Deviation> chosen) {
  verbs::RnicDecisions decisions;
  for (const Deviation deviation : chosen)
    for (const auto table : rnic_tables()) add<verbs::Decisions>(decisions, table, deviation);
  if (!chosen.empty())
    decisions.of_stream = [all = std::vector(chosen.begin(), chosen.end())] {
      return stream_decisions(all);
    };
  return decisions;
}

access::ConnectionDecisions connection_decisions(std::span<const Deviation> chosen) {
  access::ConnectionDecisions decisions;
  for (const Deviation deviation : chosen)
    add<access::Decisions>(decisions, connection_deviants(), deviation);
  return decisions;
}

}  // namespace rnic::deviants
