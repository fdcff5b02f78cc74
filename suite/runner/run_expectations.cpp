// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/run_expectations.hpp"

#include <chrono>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "base/time_text.hpp"
#include "rules/catalogue.hpp"
#include "suite/cases/renamed_cases.hpp"
#include "suite/expectations/draft.hpp"
#include "suite/runner/output_file.hpp"

namespace suite::runner {

namespace fs = std::filesystem;
using jobs::ExitCode;

fs::path expectations_path(const Options& options) {
  if (!options.expectations.empty()) return options.expectations;
  const fs::path own = base::shipped_file("suite/expectations") / (options.choice.name() + ".yaml");
  return fs::exists(own) ? own : fs::path();
}

Checked<expectations::KnownIssues> load_expectations(const SuiteParts& parts,
                                                     const fs::path& path) {
  if (path.empty()) return expectations::KnownIssues();
  const expectations::Known known{
      .is_case = [&](const std::string& id) { return parts.find(id) != nullptr; },
      .is_rule = [](const std::string& id) { return rules::find(id) != nullptr; },
      .current_id = [](const std::string& id) { return cases::current_id(id); }};
  auto loaded = expectations::load(path, known);
  if (loaded) {
    for (const std::string& notice : loaded->notices) base::say(stderr, "rnic-suite: {}\n", notice);
    return std::move(*loaded);
  }
  std::string faults;
  for (const std::string& fault : loaded.error()) faults += (faults.empty() ? "" : "\n") + fault;
  return std::unexpected(Refusal{ExitCode::usage, faults});
}

std::optional<std::string> draft_fault(const Options& options) {
  std::ifstream file(options.write_expectations);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // A run that goes on drafts again.
  if (!file || text.empty() || expectations::is_unwritten_draft(text)) return std::nullopt;
  return fmt::format("--write-expectations: {} has reasons already; name another file",
                     options.write_expectations.string());
}

bool write_draft(const Options& options, const results::Document& document) {
  if (options.write_expectations.empty()) return true;
  const std::string date = base::time_text(std::chrono::system_clock::now()).substr(0, 10);
  const auto written =
      write_output_file(options.write_expectations, expectations::draft(document, date));
  if (!written) base::say(stderr, "rnic-suite: {}\n", written.error());
  return written.has_value();
}

}  // namespace suite::runner
