// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/deviants/stream_decisions.hpp"

#include <initializer_list>

#include "reference_rnic/deviants/stream_tables.hpp"

namespace rnic::deviants {
namespace {

void add_from_tables(stream::StreamDecisions& decisions, Deviation deviation) {
  for (const auto table :
       {startup_deviants(), startup_frame_deviants(), enhanced_startup_deviants(),
        sent_fpdu_deviants(), received_fpdu_deviants(), sending_deviants(), terminate_deviants(),
        terminate_cause_deviants(), receiving_deviants(), check_deviants(), ending_deviants(),
        work_deviants(), inbound_read_deviants(), atomic_deviants()})
    add<stream::Decisions>(decisions, table, deviation);
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
