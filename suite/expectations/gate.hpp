// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The gate: compares what came with what is known of an IUT, so that only new failures fail.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/expectations/expectations_file.hpp"
#include "suite/results/record.hpp"

namespace suite::expectations {

class Gate {
 public:
  /// Keeps the entries that apply to this IUT in its version; the others take no part.
  Gate(std::vector<Entry> entries, const results::IutRecord& iut);

  /// Judges one attempt by its id, verdict, reason and expectations.
  [[nodiscard]] results::Gate judge(const results::CaseRecord& record) const;

 private:
  [[nodiscard]] const Entry* find(const std::string& case_id) const;
  std::vector<Entry> entries_;
};

/// `file:line id` of each stale entry among these attempts.
[[nodiscard]] std::vector<std::string> stale_entries(const std::vector<results::CaseRecord>& cases);

}  // namespace suite::expectations
