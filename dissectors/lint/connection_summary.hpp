// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What rnic-lint reports about one connection at its end: roles, options, operations, octets,
// violations and what could not be judged.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dissectors/analyzer/events.hpp"

namespace dissectors::lint {

/// What one end sent.
struct Sent {
  std::uint64_t fpdus = 0;
  std::uint64_t payload = 0;  ///< octets of DDP payload that were captured
  std::uint64_t markers = 0;
  std::array<std::uint64_t, 16> operations{};  ///< whole messages, by RDMAP opcode
  std::optional<analyzer::Ending> ending{};
};

struct ConnectionSummary {
  analyzer::Connection connection{};
  analyzer::Negotiated negotiated{};
  std::uint32_t first_frame = 0, last_frame = 0;
  std::uint64_t first_time = 0, last_time = 0;  ///< nanoseconds since 1970
  Sent from_first{}, from_second{};
  std::map<std::string_view, std::uint64_t> violations{};  ///< by rule; ids live in the catalogue
  std::array<std::uint64_t, analyzer::note_kinds> notes{};
  bool iwarp = false;  ///< MPA frames or FPDUs were seen in it

  [[nodiscard]] Sent& sent(analyzer::Direction direction) {
    return direction == analyzer::Direction::from_first ? from_first : from_second;
  }
  [[nodiscard]] const Sent& sent(analyzer::Direction direction) const {
    return direction == analyzer::Direction::from_first ? from_first : from_second;
  }
  [[nodiscard]] std::uint64_t violation_count() const;
};

[[nodiscard]] std::string_view name(analyzer::Role role);
[[nodiscard]] std::string_view name(analyzer::Ending ending);
[[nodiscard]] std::string_view name(analyzer::Certainty certainty);
/// `revision 2, CRC, Markers of the second end, peer-to-peer; request IRD 16 ORD 8`; also names
/// what was not seen.
[[nodiscard]] std::string describe_options(const analyzer::Negotiated& negotiated);
/// `3 Send, 1 RDMA Write`, or `no whole message`.
[[nodiscard]] std::string describe_operations(const Sent& sent);
/// `2 octets missing, 1 not judged`; empty where there is none.
[[nodiscard]] std::string describe_notes(
    const std::array<std::uint64_t, analyzer::note_kinds>& notes);

}  // namespace dissectors::lint
