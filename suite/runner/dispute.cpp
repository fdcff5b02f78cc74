// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/dispute.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/did_you_mean.hpp"
#include "base/record/json_writer.hpp"
#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "reference_rnic/lawful/lawful.hpp"
#include "rules/catalogue.hpp"
#include "suite/results/journal.hpp"
#include "suite/results/record_tables.hpp"
#include "suite/runner/output_file.hpp"

namespace suite::runner {

using jobs::ExitCode;

namespace {

namespace fs = std::filesystem;
using results::CaseRecord;
using results::ExpectationRecord;
using results::Judgement;

constexpr std::string_view finding_prefix = "finding:";

/// One row of the table in docs/disputes.md, unchanged.
struct DisputeEntry {
  std::string texts, line;
};

std::vector<DisputeEntry> dispute_entries() {
  std::vector<DisputeEntry> entries;
  std::ifstream page(base::shipped_file("docs/disputes.md"));
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| D")) continue;
    const auto begin = line.find('|', 1);
    const auto end = line.find('|', begin + 1);
    if (end != std::string::npos)
      entries.push_back({line.substr(begin + 1, end - begin - 1), line});
  }
  return entries;
}

/// Whether the texts of an entry ("RFC 5040 4.8, 5.3, RFC 5041 7.1", "ibv_poll_cq(3)") include the
/// section of the rule; of a document that is no RFC, the section is a call.
bool is_about(const DisputeEntry& entry, const rules::Rule& rule) {
  std::string sections = entry.texts;
  if (rules::is_of_an_rfc(rule)) {
    const std::string name = fmt::format("RFC {} ", rule.rfc);
    const auto at = entry.texts.find(name);
    if (at == std::string::npos) return false;
    sections = entry.texts.substr(at + name.size());
    sections = sections.substr(0, sections.find("RFC "));
  }
  std::ranges::replace_if(sections, [](char each) { return each == ',' || each == '('; }, ' ');
  std::istringstream words(sections);
  for (std::string word; words >> word;)
    if (word == rule.section) return true;
  return false;
}

std::string text_of_rule(const std::string& id) {
  const rules::Rule* rule = rules::find(id);
  if (rule == nullptr) return fmt::format("{}: not in the catalogue\n", id);
  std::string text = fmt::format("{}\n  {}, {}, binds {}\n  {}\n", id, rules::place(*rule),
                                 rules::name(rule->level), rule->binds, rule->text);
  if (!rule->quote.empty()) text += fmt::format("  the RFC: \"{}\"\n", rule->quote);
  if (rules::is_of_an_rfc(*rule)) text += fmt::format("  the section: {}\n", rules::href(*rule));
  for (const auto& variant : rnic::lawful::lawful_variants())
    if (variant.rule == id)
      text += fmt::format("  also lawful: an implementation that {} {}\n", variant.text,
                          variant.dispute);
  for (const DisputeEntry& entry : dispute_entries())
    if (is_about(entry, *rule)) text += fmt::format("  docs/disputes.md: {}\n", entry.line);
  return text;
}

std::string text_of_expectation(const ExpectationRecord& one) {
  std::string text =
      fmt::format("{} {}{}\n  admissible: {}\n  came:       {}\n", results::name(one.judgement),
                  one.rule, one.row.empty() ? "" : ", row " + one.row,
                  fmt::join(one.admissible, "\n          or: "), one.actual);
  if (!one.hex.empty()) text += fmt::format("  octets:     {}\n", one.hex);
  if (one.frame) text += fmt::format("  frame:      {} of the capture\n", *one.frame);
  return text;
}

std::string text_of_step(const results::Step& step) {
  const char* arrow = step.direction == results::Direction::to_iut     ? "->"
                      : step.direction == results::Direction::from_iut ? "<-"
                                                                       : "  ";
  return fmt::format("{:9.3f} ms {} {}\n",
                     std::chrono::duration<double, std::milli>(step.at).count(), arrow, step.text);
}

std::string text_of(const CaseRecord& record, const results::RunRecord& run) {
  std::string text = fmt::format(
      "{}: {}\n{}\n{}\n\nIUT: {} {} {} {}, kernel {}\nsuite: {} {}, catalogue {}\nrun: {}, {}\n",
      results::name(record.outcome.verdict), record.id, record.title, record.outcome.reason,
      run.iut.kind, run.iut.identity.implementation, run.iut.identity.driver,
      run.iut.identity.driver_version, run.iut.identity.kernel, run.suite.version, run.suite.commit,
      run.catalogue, run.id, record.start);
  if (record.pcap)
    text +=
        fmt::format("capture: {}, sha256 {}{}\n", fs::path(record.pcap->file).filename().string(),
                    record.pcap->sha256, record.pcap->note.empty() ? "" : ", " + record.pcap->note);
  text += fmt::format("again: {}\n\n== Not met\n\n", record.rerun);
  std::vector<std::string> named;
  for (const ExpectationRecord& one : record.outcome.expectations) {
    if (one.judgement == Judgement::pass) continue;
    text += text_of_expectation(one) + "\n";
    if (std::ranges::find(named, one.rule) == named.end()) named.push_back(one.rule);
  }
  if (named.empty()) named = record.rules;
  text += "== The rules, and what else is lawful\n\n";
  for (const std::string& id : named) text += text_of_rule(id) + "\n";
  if (!record.seen_to_fail_by.empty())
    text += fmt::format("The case fails for these deviations of the reference: {}\n\n",
                        fmt::join(record.seen_to_fail_by, ", "));
  text += "== The exchange\n\n";
  for (const results::Step& step : record.outcome.exchange) text += text_of_step(step);
  return text;
}

/// The attempt that counts, or null.
const CaseRecord* find_case(const results::Document& document, std::string subject) {
  if (subject.starts_with(finding_prefix)) {
    const auto found = std::ranges::find(document.findings,
                                         std::string_view(subject).substr(finding_prefix.size()),
                                         &results::FindingRecord::rule);
    if (found == document.findings.end()) return nullptr;
    subject = found->first_case;
  }
  const auto found = std::ranges::find_if(document.cases, [&](const CaseRecord& record) {
    return record.id == subject && record.gate.result != results::GateResult::superseded;
  });
  return found == document.cases.end() ? nullptr : &*found;
}

ExitCode complain(ExitCode code, const std::string& why) {
  base::say(stderr, "rnic-suite: {}\n", why);
  return code;
}

/// The fault in one line; nothing if everything is written.
std::optional<std::string> write_bundle(const fs::path& folder, const fs::path& run,
                                        const CaseRecord& record, const results::RunRecord& about) {
  std::error_code error;
  if (!fs::create_directories(folder, error))
    return error
               ? fmt::format("cannot create {}: {}", folder.string(), error.message())
               : fmt::format("{} already exists; give another folder with --out", folder.string());
  const auto json = base::record::to_json(record).dump(1) + "\n";
  for (const auto& [name, text] : {std::pair{"verdict.txt", text_of(record, about)},
                                   std::pair{"case.json", std::string(json)}})
    if (const auto written = write_output_file(folder / name, text); !written)
      return written.error();
  if (!record.pcap) return std::nullopt;
  const fs::path pcap = run / record.pcap->file;
  fs::copy_file(pcap, folder / pcap.filename(), error);
  if (error) return fmt::format("cannot copy {}: {}", pcap.string(), error.message());
  return std::nullopt;
}

}  // namespace

ExitCode bundle_dispute(const Options& options) {
  const fs::path run = options.results.empty() ? "out" : options.results;
  const auto journal = results::read_journal(run / results::journal_name);
  if (!journal) return complain(ExitCode::usage, "--results: " + journal.error());
  const results::Document& document = journal->document;
  const CaseRecord* record = find_case(document, options.subject);
  if (record == nullptr) {
    std::vector<std::string> known;
    for (const auto& finding : document.findings)
      known.push_back(std::string(finding_prefix) + finding.rule);
    for (const CaseRecord& each : document.cases) known.push_back(each.id);
    return complain(ExitCode::usage, fmt::format("{} has no '{}'{}", run.string(), options.subject,
                                                 base::did_you_mean(options.subject, known)));
  }
  fs::path folder = options.out;
  if (!options.out_given) folder = fmt::format("dispute-{}", options.subject);
  if (const auto fault = write_bundle(folder, run, *record, document.run))
    return complain(ExitCode::harness, *fault);
  base::say(stdout, "{}\n", (folder / "verdict.txt").string());
  return ExitCode::good;
}

}  // namespace suite::runner
