// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/events.hpp"

namespace dissectors::analyzer {

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
  }
  return "?";
}

}  // namespace dissectors::analyzer
