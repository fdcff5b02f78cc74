// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What rnic-dat-cases writes about its case: one JSON object per line, each with one of these
// members. The last one says how the case ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "suite/results/record_tables.hpp"

namespace suite::cases::dat {

/// The body has ended.
struct DatEnd {
  results::Verdict verdict = results::Verdict::error;
  std::string reason;
};

/// The process ends before its body: a signal handler writes this (dat_call.cpp).
struct DatDeath {
  int signal = 0;
  /// The call that was being made.
  std::string call = "the case";
  /// The shared object of the faulting instruction.
  std::string place{};
  bool in_libdat2 = false;
  std::vector<std::string> backtrace{};
};

/// Of a process that ended by this signal and wrote nothing of it: the kernel does not call a handler in
/// a thread that blocks the signal that it raises.
inline DatDeath death_without_handler(int signal) {
  return {.signal = signal, .place = "a thread that blocks it"};
}

struct DatLine {
  std::optional<results::ExpectationRecord> expectation{};
  std::optional<results::RowOutcome> row{};
  /// For the exchange.
  std::optional<std::string> step{};
  /// What is left of a session that finds something: a file of it, as JSON.
  std::optional<std::string> session{};
  /// Milliseconds until the process ends the case.
  std::optional<std::int64_t> deadline{};
  std::optional<DatEnd> end{};
  std::optional<DatDeath> died{}, hung{};
};

constexpr auto table_of(const DatEnd*) {
  using base::record::required;
  return base::record::table("end", required("verdict", &DatEnd::verdict),
                             required("reason", &DatEnd::reason));
}
constexpr auto table_of(const DatDeath*) {
  using base::record::defaulted;
  return base::record::table(
      "death", defaulted("signal", &DatDeath::signal), defaulted("call", &DatDeath::call),
      defaulted("place", &DatDeath::place), defaulted("in_libdat2", &DatDeath::in_libdat2),
      defaulted("backtrace", &DatDeath::backtrace));
}
constexpr auto table_of(const DatLine*) {
  using base::record::defaulted;
  return base::record::table(
      "line", defaulted("expectation", &DatLine::expectation), defaulted("row", &DatLine::row),
      defaulted("step", &DatLine::step), defaulted("session", &DatLine::session),
      defaulted("deadline", &DatLine::deadline), defaulted("end", &DatLine::end),
      defaulted("died", &DatLine::died), defaulted("hung", &DatLine::hung));
}

}  // namespace suite::cases::dat
