// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/expectations/draft.hpp"

#include <algorithm>
#include <cctype>
#include <ranges>
#include <regex>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

namespace suite::expectations {

namespace {

constexpr std::string_view first_words = "Drafts from run ";

using results::CaseRecord;
using results::ExpectationRecord;
using results::FindingRecord;
using results::GateResult;
using results::Judgement;
using results::Verdict;

// A shell pattern that fits this text; what changes from run to run, such as an STag, is left open.
std::string pattern_of(const std::string& text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("*?[]\\").contains(c)) pattern += '\\';
    pattern += c == '\n' ? '?' : c;
  }
  static const std::regex changing("0x[0-9a-f]{5,}");
  return std::regex_replace(pattern, changing, "0x*");
}

// The device's place on its host is no part of what it is: `siw0 (vendor ...)` is any siw.
std::string implementation_pattern(const results::IutRecord& iut) {
  const std::string& text = iut.identity.implementation;
  const std::size_t name = text.find_first_of("0123456789 ");
  const std::size_t rest = text.find(' ');
  if (text.empty()) return iut.kind;
  if (rest == std::string::npos || name == 0) return pattern_of(text);
  return pattern_of(text.substr(0, name)) + "*" + pattern_of(text.substr(rest));
}

// `driver_version == 2.3, firmware == 7.1`; the kernel's where the IUT says nothing of its own.
std::string versions_of(const results::IutRecord& iut) {
  std::vector<std::string> conditions;
  const auto add = [&](const char* what, const std::string& version) {
    if (version.empty() || std::isdigit(static_cast<unsigned char>(version.front())) == 0) return;
    const std::size_t end = version.find_first_not_of("0123456789.");
    conditions.push_back(fmt::format("{} == {}", what, version.substr(0, end)));
  };
  add("driver_version", iut.identity.driver_version);
  if (iut.identity.firmware.find_first_not_of("0.") != std::string::npos)
    add("firmware", iut.identity.firmware);
  if (conditions.empty()) add("kernel", iut.identity.kernel);
  return conditions.empty() ? "any" : fmt::format("{}", fmt::join(conditions, ", "));
}

class Draft {
 public:
  Draft(const results::Document& run, const std::string& date) : run_(run), date_(date) {}

  std::string text() {
    out_ << YAML::Comment(
        fmt::format("{}{} of {}.", first_words, run_.run.id, run_.run.iut.identity.implementation));
    out_ << YAML::Newline
         << YAML::Comment(
                "Read each failure in the report; then say in `reason` why it is listed.");
    out_ << YAML::BeginMap << YAML::Key << "entries" << YAML::Value << YAML::BeginSeq;
    for (const CaseRecord& record : run_.cases)
      if (record.gate.result == GateResult::new_failure && record.layer != "harness" &&
          record.outcome.verdict != Verdict::error)
        add(record);
    out_ << YAML::EndSeq;
    add_findings();
    out_ << YAML::EndMap;
    return std::string(out_.c_str()) + "\n";
  }

 private:
  void add(const CaseRecord& record) {
    std::vector<const ExpectationRecord*> broken;
    for (const ExpectationRecord& one : record.outcome.expectations)
      if (one.judgement == Judgement::fail) broken.push_back(&one);
    const bool crashed = broken.empty();
    const std::string rule = crashed ? record.rules.front() : broken.front()->rule;
    out_ << YAML::BeginMap;
    member("case", record.id);
    member("verdict", std::string(results::name(record.outcome.verdict)));
    member("rule", rule);
    member("observed", pattern_of(crashed ? record.outcome.reason : broken.front()->actual));
    std::vector<std::string> also;
    for (const ExpectationRecord* one : broken)
      if (one->rule != rule && std::ranges::find(also, one->rule) == also.end())
        also.push_back(one->rule);
    if (!also.empty()) out_ << YAML::Key << "also" << YAML::Value << YAML::Flow << also;
    key_and_reason();
    out_ << YAML::EndMap;
  }

  void add_findings() {
    std::vector<const FindingRecord*> fresh;
    for (const FindingRecord& finding : run_.findings)
      if (finding.gate.result == GateResult::new_failure) fresh.push_back(&finding);
    if (fresh.empty()) return;
    out_ << YAML::Key << "findings" << YAML::Value << YAML::BeginSeq;
    for (const FindingRecord* finding : fresh) {
      out_ << YAML::BeginMap;
      member("rule", finding->rule);
      out_ << YAML::Key << "observed" << YAML::Value << YAML::BeginSeq;
      for (const std::string& one : finding->observed)
        out_ << YAML::DoubleQuoted << pattern_of(one);
      out_ << YAML::EndSeq;
      member("case", finding->first_case);
      key_and_reason();
      out_ << YAML::EndMap;
    }
    out_ << YAML::EndSeq;
  }

  void key_and_reason() {
    member("iut", implementation_pattern(run_.run.iut));
    member("versions", versions_of(run_.run.iut));
    member("reason", "");
    member("date", date_);
  }
  void member(const char* key, const std::string& value) {
    out_ << YAML::Key << key << YAML::Value << YAML::DoubleQuoted << value;
  }

  const results::Document& run_;
  std::string date_;
  YAML::Emitter out_;
};

}  // namespace

std::string draft(const results::Document& run, const std::string& date) {
  return Draft(run, date).text();
}

bool is_unwritten_draft(std::string_view text) {
  if (!text.starts_with(fmt::format("# {}", first_words))) return false;
  return std::ranges::none_of(text | std::views::split('\n'), [](const auto& part) {
    std::string_view line(part.begin(), part.end());
    line.remove_prefix(std::min(line.find_first_not_of(" -"), line.size()));
    return line.starts_with("harm:") || (line.starts_with("reason:") && line != "reason: \"\"");
  });
}

}  // namespace suite::expectations
