// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The result of one attempt at a case: its verdict and all the evidence for it. Plain values, which
// the case fills, the worker sends, and the record of the run contains.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.hpp"
#include "base/octets.hpp"
#include "base/record/table.hpp"

namespace suite::results {

using base::record::name;

// names_of gives the names of the enumerators in the document, in the order of the enumeration.

enum class Verdict : std::uint8_t { pass, fail, inconclusive, not_applicable, error };
constexpr auto names_of(Verdict) {
  return std::array{"pass", "fail", "inconclusive", "not_applicable", "error"};
}

/// How one expectation was met. An advisory is a lawful outcome that is worth knowing, or a SHOULD
/// not followed. Also seen: a MUST that the IUT broke in a case that is about something else; it
/// counts once for the run (FindingRecord).
enum class Judgement : std::uint8_t { pass, advisory, inconclusive, fail, also_seen };
constexpr auto names_of(Judgement) {
  return std::array{"pass", "advisory", "inconclusive", "fail", "also_seen"};
}

/// None: at the IUT's API, or a remark.
enum class Direction : std::uint8_t { to_iut, from_iut, none };
constexpr auto names_of(Direction) { return std::array{"to_iut", "from_iut", "none"}; }

/// Since the start of the attempt.
using Offset = std::chrono::nanoseconds;

/// Where what the IUT sent is wrong: on which connection of the case, and how many octets of its
/// stream come before it.
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
  /// For a finding of the judge.
  std::optional<StreamPlace> place{};
  /// Of the case's pcap, from 1.
  std::optional<std::uint32_t> frame{};
};

/// What an IUT lacks, so that a case does not apply to it.
struct Lack {
  enum class Kind : std::uint8_t {
    /// A capability that its upper tester does not offer, and no PICS claims.
    not_offered,
    /// A capability that its PICS denies.
    denied,
    /// A limit of its hello, which the case exceeds.
    limit,
  };
  Kind kind = Kind::not_offered;
  std::string name;  ///< of the capability or limit
};
constexpr auto names_of(Lack::Kind) { return std::array{"not_offered", "denied", "limit"}; }

/// One data row of a case: a sub-verdict of its own.
struct RowOutcome {
  std::string name;
  Verdict verdict = Verdict::pass;
  std::string reason;
  /// As in CaseOutcome; not part of the document.
  std::optional<Lack> lack{};
};

/// One line of the exchange, as an engineer would describe it.
struct Step {
  Offset at{};
  Direction direction = Direction::none;
  std::string text;
  std::string hex;
  /// Of the case's pcap, from 1.
  std::optional<std::uint32_t> frame{};
};

/// What one TCP connection of the lower tester carried, as seen there; a pcap can be made from it.
struct ConnectionRecord {
  struct Mark {
    enum class Kind : std::uint8_t { opened, data, fin, reset } kind = Kind::data;
    Direction direction = Direction::none;
    Offset at{};
    base::Octets octets;
  };
  base::Address tester, iut;
  bool opened_by_tester = true;
  std::vector<Mark> marks;
};
constexpr auto names_of(ConnectionRecord::Mark::Kind) {
  return std::array{"opened", "data", "fin", "reset"};
}

/// What an agent's hello says about the IUT and its host. Empty: it does not say.
struct Identity {
  std::string implementation, driver, driver_version, firmware, kernel;
};

/// Every text of an outcome that a complaint of the IUT's kernel has contains this.
inline constexpr std::string_view words_for_incident = "kernel complained";

/// A lack of answers, which by itself shows nothing about the IUT: its host or the connection to it
/// may be down.
enum class Silence : std::uint8_t {
  /// The upper tester ended, or its transport did.
  agent_gone,
  /// It gave no reply to a command.
  no_reply,
  /// None could be started.
  no_agent,
  /// No connection with the IUT came up.
  no_connection,
};
constexpr auto names_of(Silence) {
  return std::array{"agent_gone", "no_reply", "no_agent", "no_connection"};
}

struct CaseOutcome {
  Verdict verdict = Verdict::error;
  std::string reason;  ///< one line; empty only for pass
  /// Of the expectation that decided the verdict; empty: something else did. Known to the run, and
  /// not part of the document.
  std::string deciding_rule{};
  std::optional<Lack> lack{};                   ///< why it is not applicable, if it is for a lack
  std::vector<ExpectationRecord> expectations;  ///< advisories are among them
  std::vector<RowOutcome> rows;
  /// Rules that the judge evaluated on what the IUT sent, whatever the case is about.
  std::vector<std::string> judged_in_frames;
  std::vector<Step> exchange;
  /// Every TCP connection used, to cut the capture by or to write a pcap from. No document holds
  /// them: the pcap does.
  std::vector<ConnectionRecord> connections;
  /// In the event loop's time.
  std::chrono::nanoseconds duration{};
  /// Set if the outcome only shows that there was no answer. Known to the run, and not part of the
  /// document.
  std::optional<Silence> silence{};
};

}  // namespace suite::results
