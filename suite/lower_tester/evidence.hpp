// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a case leaves: expectation records, the decoded exchange, and the octets of each
// connection. Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.hpp"

namespace suite::lower_tester {

using Offset = std::chrono::nanoseconds;  ///< since the start of the case

/// How one expectation was met. An advisory is a lawful outcome that
/// is worth knowing, or a SHOULD not followed.
enum class Judgement : std::uint8_t { pass, advisory, inconclusive, fail };
enum class Direction : std::uint8_t { to_iut, from_iut, none };
[[nodiscard]] const char* name(Judgement judgement);

/// Where what the IUT sent is wrong: on which connection of the case, and how many octets of its
/// stream stand before it.
struct StreamPlace {
  std::size_t connection = 0;
  std::uint64_t offset = 0;
  bool operator==(const StreamPlace&) const = default;
};

/// One expectation: the rule that it judges, what would have been admissible, and what came.
struct ExpectationRecord {
  std::string rule;
  std::string row;                      ///< the data row it belongs to; empty outside rows
  std::vector<std::string> admissible;  ///< each lawful outcome in words
  std::string actual;                   ///< decoded, one line
  std::string hex;                      ///< the octets of it, if any
  Judgement judgement = Judgement::pass;
  Direction direction = Direction::none;
  Offset at{};
  std::optional<StreamPlace> place{};  ///< of a finding of the judge
};

/// One line of the exchange, as an engineer would tell it.
struct Step {
  Offset at{};
  Direction direction = Direction::none;  ///< none: at the IUT's API, or a remark
  std::string text;
  std::string hex;
};

/// What one TCP connection of the lower tester carried, in its own view; a pcap can be made of it.
struct ConnectionRecord {
  struct Mark {
    enum class Kind : std::uint8_t { opened, data, fin, reset } kind = Kind::data;
    Direction direction = Direction::none;
    Offset at{};
    std::vector<std::byte> octets;
  };
  base::Address tester, iut;
  bool opened_by_tester = true;
  std::vector<Mark> marks;
};

/// Where the tester's peers write what happens; one per case.
struct Evidence {
  std::vector<Step> exchange;
  std::vector<ConnectionRecord> connections;
  /// The rules that the judge evaluated on what the IUT sent: octets that could have broken them came.
  std::set<std::string_view> judged;
};

}  // namespace suite::lower_tester
