// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/deviants/stream_decisions.hpp"

#include "reference_rnic/deviants/stream_tables.hpp"

namespace rnic::deviants {
namespace {

void add_from_tables(stream::StreamDecisions& decisions, Deviation deviation) {
  for (const auto table : stream_tables()) add<stream::Decisions>(decisions, table, deviation);
}

}  // namespace

stream::StreamDecisions stream_decisions(std::span<const Deviation> chosen) {
  stream::StreamDecisions decisions;
  for (const Deviation deviation : chosen) add_from_tables(decisions, deviation);
  return decisions;
}

void choose(stream::StreamDecisions& decisions, Deviation deviation, bool on) {
  decisions.remove(static_cast<std::uint32_t>(deviation));
  if (on) add_from_tables(decisions, deviation);
}

}  // namespace rnic::deviants
