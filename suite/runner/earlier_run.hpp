// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where a run writes, and which cases it runs, if there are earlier runs: it continues one that it
// repeats, and never changes another one.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suite/jobs/exit_code.hpp"
#include "suite/results/folder.hpp"
#include "suite/runner/options.hpp"
#include "suite/runner/suite_parts.hpp"

namespace suite::runner {

/// The reason why a run ends before its first case: an exit code and one line.
struct Refusal {
  jobs::ExitCode code;
  std::string why;
};
template <typename Value>
using Checked = std::expected<Value, Refusal>;

using CaseList = std::vector<const cases::Case*>;

/// The options that choose cases. They are a part of the record of a run's options, and of each
/// session.
struct CaseRequest {
  std::vector<std::string> select, rules;
  std::optional<int> rfc;
  std::vector<std::string> sections;
  bool rerun_failed = false, long_run = false;
  std::string shard;
};
/// The error is one line.
[[nodiscard]] std::expected<CaseRequest, std::string> read_request(const results::Json& options);

/// The options that choose cases, by name.
[[nodiscard]] results::Json asked_by(const Options& options);

/// Why the command line asks for a different run from this one, in a few words; nothing if it is
/// the same: suite, IUT, and everything that decides verdicts.
[[nodiscard]] std::optional<std::string> other_than(const results::RunRecord& run,
                                                    const results::RunRecord& asked);
/// The same for what the IUT's agent has reported.
[[nodiscard]] std::optional<std::string> other_iut(const results::IutRecord& before,
                                                   const results::IutRecord& now);

/// What the command line asks of an earlier run.
struct Continuation {
  CaseList play;   ///< may be empty: then the run only needs to be ended
  CaseList whole;  ///< all cases of the run
};
/// Nothing: the run is complete, or lacks some of the cases; it remains unchanged.
[[nodiscard]] Checked<std::optional<Continuation>> continue_run(const SuiteParts& parts,
                                                                const results::Journal& earlier,
                                                                const Options& options);

/// The cases of `whole` without a verdict that counts.
[[nodiscard]] CaseList without_verdict(const CaseList& whole,
                                       const std::vector<results::CaseRecord>& records);
/// How many attempts there are of each record's id.
[[nodiscard]] std::map<std::string, std::uint32_t> attempts_in(
    const std::vector<results::CaseRecord>& records);

struct Place {
  std::filesystem::path name;  ///< of the folder, as on the command line
  results::Folder folder;
  std::optional<results::Journal> earlier;  ///< of the run that is continued
  CaseList play, whole;
};
/// Finds the folder and locks it. `asked` describes the run as far as it is known before the hello
/// of the IUT. Without an explicit --out, the next numbered folder is taken if this one is in use,
/// and `tell` gets a line about that.
[[nodiscard]] Checked<Place> find_place(const SuiteParts& parts, const Options& options,
                                        const results::RunRecord& asked,
                                        const std::function<void(const std::string&)>& tell);

}  // namespace suite::runner
