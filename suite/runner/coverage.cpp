// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/coverage.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/standard_streams.hpp"
#include "dissectors/analyzer/checked_rules.hpp"
#include "reference_rnic/deviants/also_breaks.hpp"
#include "suite/cases/rdmap/terminate_matrix.hpp"
#include "suite/results/document_file.hpp"

namespace suite::runner {

using jobs::ExitCode;

Evaluated evaluated_by_self_test() {
  SelfTestRecord record = load_self_tests();
  Evaluated evaluated;
  for (const auto& [id, one] : record.cases) {
    evaluated.judged[id] = {one.judged.begin(), one.judged.end()};
    evaluated.in_frames[id] = {one.in_frames.begin(), one.in_frames.end()};
  }
  evaluated.seen_to_fail = std::move(record.seen_to_fail_at);
  return evaluated;
}

namespace {

// An expectation without a verdict has judged nothing, and neither has a finding about another
// matter than that of the case.
bool has_judged(const results::ExpectationRecord& expectation) {
  return expectation.judgement != results::Judgement::inconclusive &&
         expectation.judgement != results::Judgement::also_seen;
}

}  // namespace

std::expected<Evaluated, std::string> evaluated_in(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / results::document_name;
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    return std::unexpected(
        fmt::format("{} cannot be read: give the folder of a run that has ended "
                    "(`rnic-suite collect DIR` completes that of a killed run)",
                    file.string()));
  const auto document = results::read_document(file);
  if (!document) return std::unexpected(document.error());
  Evaluated evaluated;
  for (const results::CaseRecord& one : document->cases) {
    if (one.gate.result == results::GateResult::superseded) continue;
    for (const results::ExpectationRecord& expectation : one.outcome.expectations)
      if (has_judged(expectation)) evaluated.judged[one.id].insert(expectation.rule);
    const auto& in_frames = one.outcome.judged_in_frames;
    evaluated.in_frames[one.id] = {in_frames.begin(), in_frames.end()};
  }
  evaluated.seen_to_fail = load_self_tests().seen_to_fail_at;
  return evaluated;
}

ChecksByRule checks_of(const SuiteParts& parts, const Evaluated& evaluated) {
  ChecksByRule checks;
  const auto of = [&](const std::string& id) -> RuleChecks* {
    const rules::Rule* rule = rules::find(id);
    return rule == nullptr ? nullptr : &checks[rule->id];
  };
  for (const cases::Case& one : parts.table) {
    for (const std::string_view rule : one.rules) checks[rule].aims.push_back(&one);
  }
  const auto add_deviations = [&](RuleChecks& found, const std::string& id,
                                  const std::string& rule) {
    const auto failed = evaluated.seen_to_fail.find(id);
    if (failed == evaluated.seen_to_fail.end()) return;
    if (const auto by = failed->second.find(rule); by != failed->second.end())
      found.seen_to_fail_by.insert(by->second.begin(), by->second.end());
  };
  for (const auto& [id, ids] : evaluated.in_frames)
    for (const std::string& rule : ids)
      if (RuleChecks* found = of(rule)) {
        ++found->in_frames;
        add_deviations(*found, id, rule);
      }
  for (const auto& [id, ids] : evaluated.judged)
    for (const std::string& rule : ids)
      if (RuleChecks* found = of(rule)) {
        found->judged_by.push_back(id);
        add_deviations(*found, id, rule);
      }
  for (const auto& info : rnic::deviants::deviations())
    checks[info.rule].deviations.push_back(&info);
  for (const auto& also : rnic::deviants::also_breaks())
    checks[also.rule].deviations.push_back(&rnic::deviants::info(also.deviation));
  for (const rules::RuleId rule : dissectors::analyzer::checked_rules())
    checks[rule.id].in_captures = true;
  return checks;
}

std::string how_judged(const rules::Rule& rule, const RuleChecks& checks) {
  std::vector<std::string_view> ways;
  if (!checks.judged_by.empty())
    ways.push_back(rule.check == rules::Check::api ? "at the API" : "actively");
  if (checks.in_frames > 0) ways.push_back("by frames");
  return ways.empty() ? "not" : fmt::format("{}", fmt::join(ways, ", "));
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

/// Sorts 7.1.10 after 7.1.9, and sections that begin with a letter after those that begin with a
/// digit.
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
    if (found != checks.end() && found->second.is_credited()) ++cell.judged;
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

namespace {

// What was seen to fail an expectation of the rule: one name, and how many more there are.
std::string seen_text(const RuleChecks& checks) {
  const auto& names = checks.seen_to_fail_by;
  if (names.empty()) return checks.in_frames > 0 ? "the captures of the corpus" : "-";
  if (names.size() == 1) return *names.begin();
  return fmt::format("{} and {} more", *names.begin(), names.size() - 1);
}

}  // namespace

ExitCode print_coverage(const SuiteParts& parts, const Evaluated& evaluated) {
  const ChecksByRule checks = checks_of(parts, evaluated);
  std::map<int, Sections> matrix = matrix_of(checks);
  print_heading();
  Row everything;
  const auto print_document = [&](int rfc, const Sections& sections) {
    const std::string name = rules::document_name(rfc);
    Row sum;
    for (const auto& [section, row] : sections) sum.add(row);
    everything.add(sum);
    print(name, sum);
    for (const auto& [section, row] : sections) print(fmt::format("  {}", section), row);
  };
  const auto first_rfc = matrix.upper_bound(rules::kdat_document);
  for (auto at = first_rfc; at != matrix.end(); ++at) print_document(at->first, at->second);
  for (auto at = matrix.begin(); at != first_rfc; ++at) print_document(at->first, at->second);
  print("all", everything);
  base::say(
      stdout,
      "\nactive: the tester provokes it; passive: it shows in what the IUT sends; api: it shows at "
      "the API only;\nnone: nobody can check it here (`explain RULE` has the reason)\n"
      "A rule counts as judged by the expectations that were evaluated, where a deviation has made "
      "one fail, and by\nthe judge where octets came that could have broken it.\n");
  for (const rules::Rule& rule : rules::all()) {
    if (!rules::is_testable(rule)) continue;
    const auto found = checks.find(rule.id);
    if (found == checks.end() || !found->second.is_judged())
      base::say(stdout, "judged by nothing: {}\n", rule.id);
    else if (!found->second.is_credited())
      base::say(stdout, "judged, never seen to fail: {}\n", rule.id);
  }
  return ExitCode::good;
}

ExitCode print_rules(const SuiteParts& parts, const Evaluated& evaluated) {
  ChecksByRule all = checks_of(parts, evaluated);
  std::size_t testable = 0, judged = 0, seen = 0, need_sctp = 0;
  constexpr std::string_view row = "{:<60} {:>5} {:<9} {:<7} {:<21} {:<44} {:<10} {:>5} {:>10}\n";
  base::say(stdout, fmt::runtime(row), "rule", "RFC", "section", "level", "judged",
            "seen to fail by", "check", "cases", "deviations");
  for (const rules::Rule& rule : rules::all()) {
    const RuleChecks& checks = all[rule.id];
    const std::string document = rules::is_of_an_rfc(rule)            ? std::to_string(rule.rfc)
                                 : rule.rfc == rules::dat_document    ? "DAT"
                                 : rule.rfc == rules::kdat_document   ? "kDAPL"
                                 : rule.rfc == rules::kernel_document ? "kmem"
                                                                      : "verbs";
    base::say(stdout, fmt::runtime(row), rule.id, document, rule.section, rules::name(rule.level),
              how_judged(rule, checks), seen_text(checks), rules::how_checked(rule),
              checks.judged_by.size(), checks.deviations.size());
    if (!rule.needs.empty()) ++need_sctp;
    if (!rules::is_testable(rule)) continue;
    ++testable;
    if (checks.is_judged()) ++judged;
    if (checks.is_credited()) ++seen;
  }
  base::say(stdout, "\n{} rules, {} testable, {} of these judged, {} by what was seen to fail\n",
            rules::all().size(), testable, judged, seen);
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
