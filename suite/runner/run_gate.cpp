// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/run_gate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/shipped_file.hpp"
#include "suite/cases/renamed_cases.hpp"
#include "suite/expectations/baseline.hpp"
#include "suite/results/document_file.hpp"

namespace suite::runner {

namespace fs = std::filesystem;
using jobs::ExitCode;
using results::GateResult;

namespace {

std::string current_id(const std::string& id) { return cases::current_id(id); }

std::unexpected<Refusal> refuse(std::string why) {
  return std::unexpected(Refusal{ExitCode::usage, std::move(why)});
}

// An edition by its name, or by a ledger of one's own.
Checked<expectations::Edition> find_edition(const std::string& asked) {
  const fs::path folder = base::shipped_file("suite/editions");
  const bool is_file = asked.ends_with(".json");
  const fs::path file = is_file ? fs::path(asked) : folder / (asked + ".json");
  std::error_code error;
  if (!is_file && !fs::exists(file, error))
    return refuse(fmt::format("--edition: there is no edition '{}'; there are: {}", asked,
                              fmt::join(expectations::edition_names(folder), ", ")));
  auto edition = expectations::load_edition(file, current_id);
  if (!edition) return refuse("--edition: " + edition.error());
  return std::move(*edition);
}

}  // namespace

Checked<Allowances> load_allowances(const Options& options) {
  Allowances allowances{.baseline_place = options.baseline.string(), .baseline = {}, .edition = {}};
  if (!options.baseline.empty()) {
    auto run = results::read_document(options.baseline);
    if (!run) return refuse("--baseline: " + run.error());
    if (!run->run.complete)
      return refuse(fmt::format(
          "--baseline: the run in {} is not complete, so what it lacks would count as a "
          "regression; finish it first",
          options.baseline.string()));
    allowances.baseline = std::move(*run);
  }
  if (!options.edition.empty()) {
    auto edition = find_edition(options.edition);
    if (!edition) return std::unexpected(edition.error());
    allowances.edition = std::move(*edition);
  }
  return allowances;
}

RunGate::RunGate(expectations::KnownIssues known, const Allowances& allowances,
                 const results::IutRecord& iut)
    : known_(std::move(known), iut), edition_(allowances.edition) {
  if (allowances.baseline)
    baseline_.emplace(
        expectations::issues_of(*allowances.baseline, allowances.baseline_place, current_id), iut);
}

// What is new by the list of known issues may still be allowed by the baseline or the edition.
template <typename Judged, typename... Attempt>
results::Gate RunGate::judge_all(const Judged& judged, Attempt... attempt) const {
  const results::Gate gate = known_.judge(judged, attempt...);
  if (gate.result != GateResult::new_failure) return gate;
  if (baseline_) {
    const results::Gate before = baseline_->judge(judged, attempt...);
    if (before.result == GateResult::known) return before;
  }
  if (edition_) {
    if (const auto why = edition_->why_later(judged))
      return {GateResult::known, "edition " + edition_->name, *why};
  }
  return gate;
}

results::Gate RunGate::judge(const results::CaseRecord& record, std::uint32_t attempt) const {
  return judge_all(record, attempt);
}

results::Gate RunGate::judge(const results::FindingRecord& finding) const {
  return judge_all(finding);
}

void RunGate::judge_findings(results::Document& document) const {
  document.findings = results::gather_findings(document.cases);
  for (results::FindingRecord& finding : document.findings) finding.gate = judge(finding);
  document.summary.findings = document.findings.size();
  for (std::string& entry : known_.stale_findings(document))
    document.summary.stale_entries.push_back(std::move(entry));
}

}  // namespace suite::runner
