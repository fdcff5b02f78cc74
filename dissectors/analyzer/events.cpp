// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/events.hpp"

#include <array>

#include <fmt/format.h>

#include "reference_rnic/wire/notation.hpp"

namespace dissectors::analyzer {

namespace {

/// Stands for payload that is only counted.
constexpr std::array<std::byte, 65536> any_octets{};

}  // namespace

std::string describe_ulpdu(Bytes captured, std::size_t length) {
  if (captured.size() >= length) return rnic::wire::describe_ulpdu(captured);
  const std::string how_much = fmt::format("{} of {} octets captured", captured.size(), length);
  auto segment = rnic::wire::parse_segment(captured);
  if (!segment) return fmt::format("{}: {}", how_much, rnic::wire::hex(captured));
  segment->payload = Bytes(any_octets).first(length - segment->header().size());
  return fmt::format("{} ({})", rnic::wire::describe(*segment), how_much);
}

std::string_view name(NoteKind kind) {
  switch (kind) {
    case NoteKind::octets_missing:
      return "octets missing";
    case NoteKind::frame_cut:
      return "frame cut";
    case NoteKind::startup_not_seen:
      return "startup not seen";
    case NoteKind::direction_missing:
      return "direction missing";
    case NoteKind::framing_lost:
      return "framing lost";
    case NoteKind::framing_found:
      return "framing found";
    case NoteKind::segment_ignored:
      return "segment ignored";
    case NoteKind::retransmission_differs:
      return "retransmission differs";
    case NoteKind::not_iwarp:
      return "not iWARP";
    case NoteKind::memory_bound:
      return "memory bound";
    case NoteKind::aged_out:
      return "aged out";
    case NoteKind::not_judged:
      return "not judged";
    case NoteKind::no_terminate:
      return "no Terminate";
  }
  return "?";
}

}  // namespace dissectors::analyzer
