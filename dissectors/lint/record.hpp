// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One result of rnic-lint, with what is needed to report it later and elsewhere: the analyzer's
// events, without views into frames.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dissectors/lint/connection_summary.hpp"

namespace dissectors::lint {

/// A connection was seen for the first time.
struct Opened {};

struct Violation {
  analyzer::Finding finding;             ///< without `also`, which views the analyzer's
  std::vector<std::string_view> also{};  ///< other rules that the same fault breaks
  std::string
      octets{};  ///< the first of the FPDU or frame that broke the rule, in hex; may be empty
};

/// What an end sent, decoded: a startup frame, or one FPDU.
struct Message {
  analyzer::Place place{};
  std::string text{};
  std::uint32_t request_frame = 0;  ///< the request that this answers; 0: none
  std::uint64_t response_time = 0;  ///< nanoseconds
  std::uint32_t blamed_frame = 0;   ///< of the segment that this Terminate reports; 0: none
};

struct Record {
  std::uint32_t frame = 0;  ///< the frame that caused it
  std::uint64_t time = 0;   ///< of that frame
  analyzer::Connection connection{};
  /// The summary of a connection comes after all its other records.
  std::variant<Opened, Violation, analyzer::Note, Message, ConnectionSummary> what{};
};

}  // namespace dissectors::lint
