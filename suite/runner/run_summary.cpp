// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/run_summary.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/shipped_file.hpp"
#include "rules/catalogue.hpp"
#include "suite/jobs/progress.hpp"
#include "suite/runner/options.hpp"

namespace suite::runner {

namespace {

using results::GateResult;

// The whole text, as one line without control characters for the terminal.
std::string whole_line(const std::string& text) { return jobs::for_terminal(text, text.size()); }

std::string expectation_text(const results::ExpectationRecord& expectation) {
  const rules::Rule* rule = rules::find(expectation.rule);
  const std::string where = rule == nullptr ? "" : fmt::format(" ({})", rules::place(*rule));
  std::string text = fmt::format("  rule       {}{}\n", expectation.rule, where);
  if (!expectation.row.empty())
    text += fmt::format("  row        {}\n", whole_line(expectation.row));
  text += fmt::format("  admissible {}\n", fmt::join(expectation.admissible, "; or "));
  text += fmt::format("  came       {}\n", whole_line(expectation.actual));
  if (!expectation.hex.empty()) {
    text += fmt::format("  octets     {}{}\n", expectation.hex.substr(0, 128),
                        expectation.hex.size() > 128 ? "..." : "");
  }
  if (expectation.frame) text += fmt::format("  frame      {}\n", *expectation.frame);
  return text;
}

// Everything that a person needs about one failure: rule and section, what was admissible, what
// came, where in which pcap, and the command that runs this case again.
std::string failure_text(const results::CaseRecord& record, const std::string& folder) {
  std::string text = fmt::format("{}: {} - {}\n", results::name(record.outcome.verdict), record.id,
                                 whole_line(record.gate.reason));
  if (!record.outcome.reason.empty())
    text += fmt::format("  reason     {}\n", whole_line(record.outcome.reason));
  for (const results::ExpectationRecord& expectation : record.outcome.expectations) {
    if (expectation.judgement != results::Judgement::pass) text += expectation_text(expectation);
  }
  if (record.pcap) text += fmt::format("  pcap       {}/{}\n", folder, record.pcap->file);
  return text + fmt::format("  again      {}\n", record.rerun);
}

std::string finding_text(const results::FindingRecord& finding) {
  const rules::Rule* rule = rules::find(finding.rule);
  return fmt::format(
      "fail: finding:{}{} - {}\n"
      "  admissible {}\n"
      "  came       {}\n"
      "  seen in    {} cases that are about something else, first in {}\n"
      "  again      {}\n",
      finding.rule, rule == nullptr ? "" : fmt::format(" ({})", rules::place(*rule)),
      whole_line(finding.gate.reason), fmt::join(finding.admissible, "; or "),
      whole_line(fmt::format("{}", fmt::join(finding.observed, "; or "))), finding.cases,
      finding.first_case, finding.rerun);
}

// The run in one or two lines.
std::string summary_text(const results::Document& document) {
  const auto& summary = document.summary;
  std::vector<std::string> verdicts;
  for (const auto& [verdict, count] : summary.verdicts)
    verdicts.push_back(fmt::format("{} {}", count, verdict));
  std::string text = fmt::format("{} cases: {}", summary.cases, fmt::join(verdicts, ", "));
  const auto count = [&](const char* word) {
    const auto found = summary.gate.find(word);
    return found == summary.gate.end() ? std::uint64_t{0} : found->second;
  };
  text += fmt::format("; {} new failures, {} known, {} stale", count("new_failure"), count("known"),
                      count("stale"));
  if (summary.findings > 0) text += fmt::format(", {} findings", summary.findings);
  if (summary.advisories > 0) text += fmt::format(", {} advisories", summary.advisories);
  const auto total = document.run.timings.find("total");
  if (total != document.run.timings.end()) text += fmt::format("; {:.1f} s", total->second);
  if (!document.run.complete) text += fmt::format("\nnot complete: {}", document.run.ending_reason);
  return text;
}

// A failure that does not come again alone is no verdict, but worth a look.
std::string failed_beside_others_text(const results::Document& document) {
  std::set<std::string> ids;
  for (const results::CaseRecord& record : document.cases)
    if (record.failed_beside_others) ids.insert(record.id);
  for (const results::CaseRecord& record : document.cases)
    if (record.gate.result != GateResult::superseded &&
        record.outcome.verdict != results::Verdict::pass)
      ids.erase(record.id);
  if (ids.empty()) return {};
  return fmt::format("failed beside other cases, and passed alone: {}\n", fmt::join(ids, ", "));
}

// What was not judged since nobody claims what it needs, and what would bring it. The cases of a lab
// of ours need no claim.
std::string unclaimed_text(const results::Document& document) {
  std::map<std::string, std::size_t> cases;
  for (const results::CaseRecord& record : document.cases) {
    const auto& lack = record.outcome.lack;
    if (record.gate.result == GateResult::superseded || !lack ||
        lack->kind != results::Lack::Kind::not_offered)
      continue;
    ++cases[lack->name];
  }
  if (cases.empty() || document.run.lab.kind != results::LabKind::external) return {};
  std::vector<std::string> groups;
  for (const auto& [capability, count] : cases)
    groups.push_back(fmt::format("{} need {}", count, capability));
  return fmt::format(
      "cases not judged, since what they need is not claimed: {}; `{} probe` finds out what the "
      "IUT does by itself, --pics claims it, a configure_script provides configure.*\n",
      fmt::join(groups, ", "), base::typed_command());
}

// What was noted of the IUT's host: whether its kernel was watched, each reset of it.
std::string note_text(const results::LabRecord& lab) {
  if (lab.kind != results::LabKind::external || lab.note.empty()) return {};
  return fmt::format("note: {}\n", whole_line(lab.note));
}

// The command that runs what is missing. If a session that added attempts was complete, that is the
// run's own command.
std::string completing_command(const results::RunRecord& run) {
  const bool at_its_end =
      run.sessions.empty() || run.sessions.back().ending == results::Ending::finished;
  return shell_text(at_its_end ? run.command : run.sessions.back().command);
}

}  // namespace

std::optional<std::string> death_at_the_end(const results::Document& document) {
  for (const results::CaseRecord& record : document.cases) {
    const bool last =
        record.id.starts_with("harness.sentinel.alive") && record.id.ends_with(".last");
    if (last && record.gate.result != GateResult::superseded &&
        record.outcome.verdict == results::Verdict::error)
      return fmt::format(
          "the IUT did not answer at the end of the run, so any verdict before may be in doubt: {}",
          whole_line(record.outcome.reason));
  }
  return std::nullopt;
}

jobs::Findings findings_of(const results::Document& document) {
  jobs::Findings findings{.harness = !document.run.complete, .new_failure = false, .stale = false};
  bool judged = false;
  for (const results::CaseRecord& record : document.cases) {
    if (record.gate.result == GateResult::superseded) continue;
    findings.new_failure |= record.gate.result == GateResult::new_failure;
    findings.stale |= record.gate.result == GateResult::stale;
    judged |=
        record.outcome.verdict != results::Verdict::not_applicable && record.layer != "harness";
  }
  for (const results::FindingRecord& finding : document.findings)
    findings.new_failure |= finding.gate.result == GateResult::new_failure;
  findings.stale |= !document.summary.stale_entries.empty();
  // With a baseline only what got worse counts.
  if (!document.run.options.value("baseline", "").empty()) findings.stale = false;
  findings.harness |= !judged || death_at_the_end(document).has_value();
  return findings;
}

std::string outcome_text(const results::Document& document, const std::string& folder) {
  std::string text;
  for (const results::CaseRecord& record : document.cases)
    if (record.gate.result == GateResult::new_failure) text += "\n" + failure_text(record, folder);
  for (const results::FindingRecord& finding : document.findings)
    if (finding.gate.result == GateResult::new_failure) text += "\n" + finding_text(finding);
  for (const std::string& entry : document.summary.stale_entries)
    text += fmt::format("\nstale: {} passes, or no longer shows; remove the entry\n", entry);
  if (!text.empty()) text += "\n";
  if (const auto death = death_at_the_end(document)) text += *death + "\n";
  text += summary_text(document) + "\n" + failed_beside_others_text(document) +
          unclaimed_text(document) + note_text(document.run.lab);
  if (!document.run.complete && !document.run.command.empty())
    text += fmt::format("`{}` continues it\n", completing_command(document.run));
  return text;
}

}  // namespace suite::runner
