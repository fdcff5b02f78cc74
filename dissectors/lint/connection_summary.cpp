// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/lint/connection_summary.hpp"

#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dissectors::lint {

using analyzer::Negotiated;

std::uint64_t ConnectionSummary::violation_count() const {
  return std::accumulate(violations.begin(), violations.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& entry) { return sum + entry.second; });
}

std::string_view name(analyzer::Role role) {
  switch (role) {
    case analyzer::Role::initiator:
      return "initiator";
    case analyzer::Role::responder:
      return "responder";
    case analyzer::Role::unknown:
      break;
  }
  return "unknown";
}

std::string_view name(analyzer::Ending ending) {
  return ending == analyzer::Ending::fin ? "closed" : "reset";
}

std::string_view name(analyzer::Certainty certainty) {
  return certainty == analyzer::Certainty::certain ? "certain" : "likely";
}

namespace {

std::string describe_markers(const Negotiated& negotiated) {
  const auto& first = negotiated.markers_from_first;
  const auto& second = negotiated.markers_from_second;
  if (!first && !second) return "Markers unknown";
  if (first == second) return *first ? "Markers of both ends" : "no Markers";
  std::vector<std::string_view> ends;
  if (first.value_or(false)) ends.emplace_back("Markers of the first end");
  if (second.value_or(false)) ends.emplace_back("Markers of the second end");
  if (!first) ends.emplace_back("Markers of the first end unknown");
  if (!second) ends.emplace_back("Markers of the second end unknown");
  return fmt::format("{}", fmt::join(ends, ", "));
}

std::string describe_depths(const Negotiated& negotiated) {
  std::string text;
  const auto add = [&text](std::string_view which, const auto& values) {
    if (values) text += fmt::format("; {} IRD {} ORD {}", which, values->ird, values->ord);
  };
  add("request", negotiated.request);
  add("reply", negotiated.reply);
  return text;
}

}  // namespace

std::string describe_options(const Negotiated& negotiated) {
  std::vector<std::string> options;
  options.push_back(negotiated.revision ? fmt::format("revision {}", *negotiated.revision)
                                        : "revision unknown (startup not seen)");
  options.emplace_back(!negotiated.crc ? "CRC unknown" : *negotiated.crc ? "CRC" : "no CRC");
  options.push_back(describe_markers(negotiated));
  if (negotiated.enhanced)
    options.emplace_back(negotiated.peer_to_peer ? "peer-to-peer" : "client-server");
  if (negotiated.rejected) options.emplace_back("rejected");
  return fmt::format("{}{}", fmt::join(options, ", "), describe_depths(negotiated));
}

std::string describe_operations(const Sent& sent) {
  std::vector<std::string> list;
  for (std::size_t opcode = 0; opcode < sent.operations.size(); ++opcode)
    if (sent.operations[opcode] > 0)
      list.push_back(fmt::format("{} {}", sent.operations[opcode],
                                 rnic::wire::name(static_cast<rnic::wire::Opcode>(opcode))));
  return list.empty() ? "no whole message" : fmt::format("{}", fmt::join(list, ", "));
}

std::string describe_notes(const std::array<std::uint64_t, analyzer::note_kinds>& notes) {
  std::vector<std::string> list;
  for (std::size_t kind = 0; kind < notes.size(); ++kind)
    if (notes[kind] > 0)
      list.push_back(
          fmt::format("{} {}", notes[kind], analyzer::name(static_cast<analyzer::NoteKind>(kind))));
  return fmt::format("{}", fmt::join(list, ", "));
}

}  // namespace dissectors::lint
