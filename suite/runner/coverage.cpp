// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/coverage.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/standard_streams.hpp"
#include "dissectors/analyzer/checked_rules.hpp"
#include "suite/cases/rdmap/terminate_matrix.hpp"

namespace suite::runner {

using jobs::ExitCode;

ChecksByRule checks_of(const SuiteParts& parts) {
  ChecksByRule checks;
  for (const cases::Case& one : parts.table) {
    for (const std::string_view rule : one.rules) checks[rule].cases.push_back(&one);
  }
  for (const auto& info : rnic::deviants::deviations())
    checks[info.rule].deviations.push_back(&info);
  for (const rules::RuleId rule : dissectors::analyzer::checked_rules())
    checks[rule.id].in_captures = true;
  return checks;
}

std::string_view why_out_of_reach() {
  return "needs SCTP: it is about DDP over SCTP (RFC 5043), and the links between tester and IUT "
         "carry TCP only";
}

namespace {

// ---- the matrix ----

constexpr std::size_t levels = 3, ways = 4;
constexpr std::size_t untestable = ways - 1;

struct Cell {
  std::size_t rules = 0, judged = 0;
};
struct Row {
  std::array<std::array<Cell, ways>, levels> cells{};

  void add(const Row& other) {
    for (std::size_t level = 0; level < levels; ++level)
      for (std::size_t way = 0; way < ways; ++way) {
        cells[level][way].rules += other.cells[level][way].rules;
        cells[level][way].judged += other.cells[level][way].judged;
      }
  }
};

/// Sorts 7.1.10 behind 7.1.9, and what begins with a letter behind what begins with a digit.
struct InTheOrderOfTheText {
  bool operator()(std::string_view left, std::string_view right) const {
    return key(left) < key(right);
  }
  static std::string key(std::string_view section) {
    constexpr std::size_t width = 4;
    std::string padded, number;
    const auto flush = [&] {
      if (!number.empty()) padded.append(width - std::min(width, number.size()), '0');
      padded += number;
      number.clear();
    };
    for (const char c : section) {
      if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
        number += c;
        continue;
      }
      flush();
      padded += c;
    }
    flush();
    return padded;
  }
};
using Sections = std::map<std::string_view, Row, InTheOrderOfTheText>;

std::map<int, Sections> matrix_of(const ChecksByRule& checks) {
  std::map<int, Sections> matrix;
  for (const rules::Rule& rule : rules::all()) {
    const std::size_t way =
        rules::is_testable(rule) ? static_cast<std::size_t>(rule.check) : untestable;
    Cell& cell = matrix[rule.rfc][rule.section].cells[static_cast<std::size_t>(rule.level)][way];
    ++cell.rules;
    const auto found = checks.find(rule.id);
    if (found != checks.end() && found->second.is_judged()) ++cell.judged;
  }
  return matrix;
}

std::string text_of(const Cell& cell, bool testable) {
  if (cell.rules == 0) return "-";
  return testable ? fmt::format("{}/{}", cell.judged, cell.rules) : std::to_string(cell.rules);
}

void print(std::string_view name, const Row& row) {
  std::string line = fmt::format("{:<34}", name);
  for (const auto& level : row.cells) {
    line += " |";
    for (std::size_t way = 0; way < ways; ++way)
      line += fmt::format(" {:>7}", text_of(level[way], way != untestable));
  }
  base::say(stdout, "{}\n", line);
}

void print_heading() {
  base::say(stdout, "{:<34}", "judged/rules of each kind");
  for (const char* level : {"must", "should", "may"}) base::say(stdout, " | {:<31}", level);
  base::say(stdout, "\n{:<34}", "");
  for (std::size_t level = 0; level < levels; ++level)
    base::say(stdout, " | {:>7} {:>7} {:>7} {:>7}", "active", "passive", "api", "none");
  base::say(stdout, "\n");
}

}  // namespace

ExitCode print_coverage(const SuiteParts& parts) {
  const ChecksByRule checks = checks_of(parts);
  std::map<int, Sections> matrix = matrix_of(checks);
  print_heading();
  Row everything;
  const auto print_document = [&](int rfc, const Sections& sections) {
    const std::string name = rfc == 0 ? "DAT 2.0" : fmt::format("RFC {}", rfc);
    Row sum;
    for (const auto& [section, row] : sections) sum.add(row);
    everything.add(sum);
    print(name, sum);
    for (const auto& [section, row] : sections) print(fmt::format("  {}", section), row);
  };
  for (const auto& [rfc, sections] : matrix)
    if (rfc != 0) print_document(rfc, sections);
  if (const auto dat = matrix.find(0); dat != matrix.end()) print_document(0, dat->second);
  print("all", everything);
  base::say(
      stdout,
      "\nactive: the tester provokes it; passive: it shows in what the IUT sends; api: it shows at "
      "the API only;\nnone: nobody can check it here (`explain RULE` has the reason)\n");
  for (const rules::Rule& rule : rules::all()) {
    const auto found = checks.find(rule.id);
    if (rules::is_testable(rule) && (found == checks.end() || !found->second.is_judged()))
      base::say(stdout, "judged by nothing: {}\n", rule.id);
  }
  return ExitCode::good;
}

ExitCode print_rules(const SuiteParts& parts) {
  ChecksByRule all = checks_of(parts);
  std::size_t testable = 0, covered = 0, need_sctp = 0;
  base::say(stdout, "{:<60} {:>4} {:<9} {:<7} {:<10} {:>5} {:>10}\n", "rule", "RFC", "section",
            "level", "check", "cases", "deviations");
  for (const rules::Rule& rule : rules::all()) {
    const RuleChecks& checks = all[rule.id];
    base::say(stdout, "{:<60} {:>4} {:<9} {:<7} {:<10} {:>5} {:>10}\n", rule.id,
              rule.rfc == 0 ? "DAT" : std::to_string(rule.rfc), rule.section,
              rules::name(rule.level), rules::how_checked(rule), checks.cases.size(),
              checks.deviations.size());
    if (!rule.needs.empty()) ++need_sctp;
    if (!rules::is_testable(rule)) continue;
    ++testable;
    if (!checks.cases.empty()) ++covered;
  }
  base::say(stdout, "\n{} rules, {} testable, {} of these judged by a case\n", rules::all().size(),
            testable, covered);
  base::say(stdout, "{} of the others have a reason in the catalogue; {}: {}\n",
            rules::all().size() - testable - need_sctp, need_sctp, why_out_of_reach());
  return ExitCode::good;
}

ExitCode print_terminate_matrix() {
  const std::string_view row = "{:<10} {:<42} {:<74} {}\n";
  base::say(stdout, fmt::runtime(row), "cause", "what went wrong", "case", "note");
  std::size_t judged = 0;
  for (const cases::MatrixEntry& entry : cases::terminate_matrix()) {
    const std::string code = entry.any_code ? "ALL" : fmt::format("{:#04x}", entry.cause.code);
    const bool reached = !entry.case_id.empty();
    judged += reached ? 1 : 0;
    base::say(stdout, fmt::runtime(row),
              fmt::format("{}/{}/{}", entry.cause.layer, entry.cause.type, code), entry.name,
              reached ? entry.case_id : "none", entry.note);
  }
  base::say(stdout, "\n{} registered causes, {} of these judged by a case\n",
            cases::terminate_matrix().size(), judged);
  return ExitCode::good;
}

}  // namespace suite::runner
