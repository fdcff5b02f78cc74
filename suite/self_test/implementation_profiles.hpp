// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Implementation profiles: sets of traits of the reference, deviations and lawful variants together, and the rules
// that an implementation with these traits breaks. The cases blame these rules and no others.
#pragma once

#include <expected>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "suite/runner/test_bed.hpp"

namespace suite::self_test {

struct ImplementationProfile {
  std::string name, what;
  std::vector<std::string> deviations, lawful;
  std::set<std::string> breaks;  ///< rules
};

/// Each error is one line, beginning with file:line.
[[nodiscard]] std::expected<std::vector<ImplementationProfile>, std::vector<std::string>>
load_profiles(const std::filesystem::path& file);

struct ProfileResult {
  const ImplementationProfile* profile = nullptr;
  /// Rules of failed expectations and of findings, each with the first case that blames it.
  std::map<std::string, std::string> blamed;
  /// Cases that fail without naming a rule, or end in an error, each with its reason.
  std::vector<std::string> unexplained;

  [[nodiscard]] std::vector<std::string> wrongly_blamed() const;
  [[nodiscard]] std::vector<std::string> not_blamed() const;
  [[nodiscard]] bool good() const {
    return unexplained.empty() && wrongly_blamed().empty() && not_blamed().empty();
  }
};

/// Runs the controls and every case against each of them, over the link of `setup`. The error is
/// one line: the test bed could not be made.
[[nodiscard]] std::expected<std::vector<ProfileResult>, std::string> run_profiles(
    const runner::SuiteParts& parts, const runner::WorkerSetup& setup,
    const std::vector<ImplementationProfile>& profiles);

}  // namespace suite::self_test
