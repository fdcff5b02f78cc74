// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The cases of the verbs under faults of the API itself: for each rule of the API in the head of a
// case there is a fault at which an expectation of that rule fails.
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "suite/runner/test_bed.hpp"

namespace suite::self_test {

/// What a case judges of the API, and by which fault each of it was seen to fail.
struct ApiFaultResult {
  std::string id;
  std::map<std::string, std::string> seen;  ///< by rule: the fault, as `name#nth`
  std::vector<std::string> unseen;          ///< rules
  std::string broken;  ///< why it does not pass without a fault; empty: it does
};

/// Each case whose id matches `select` and whose head has a rule of the API. The error is one line:
/// the test bed could not be made.
[[nodiscard]] std::expected<std::vector<ApiFaultResult>, std::string> run_api_faults(
    const runner::SuiteParts& parts, const runner::WorkerSetup& setup, const std::string& select,
    const std::function<void(const ApiFaultResult&)>& progress);

}  // namespace suite::self_test
