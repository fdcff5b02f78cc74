// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The gate: compares the outcomes with what is known of an IUT, so that only new failures fail.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/expectations/expectations_file.hpp"
#include "suite/results/record.hpp"

namespace suite::expectations {

class Gate {
 public:
  /// Keeps what applies to this IUT in its version; the rest is ignored.
  Gate(KnownIssues known, const results::IutRecord& iut);

  /// Judges one attempt by its id, verdict, the cause of the verdict, reason and expectations.
  /// `superseded`: the case has to be attempted again, since a known race did not show, or a known
  /// message of the kernel or a known random crash did.
  [[nodiscard]] results::Gate judge(const results::CaseRecord& record) const {
    return judge(record, record.attempt);
  }
  /// The same for a record that is the `attempt`-th in its session.
  [[nodiscard]] results::Gate judge(const results::CaseRecord& record, std::uint32_t attempt) const;

  /// Judges a finding of the run: known if each wording of it is listed.
  [[nodiscard]] results::Gate judge(const results::FindingRecord& finding) const;
  /// The listed findings whose case was judged and that the run does not show, `file:line finding:RULE`.
  [[nodiscard]] std::vector<std::string> stale_findings(const results::Document& run) const;

  /// The listed message that this excerpt of the kernel's log matches, or null.
  [[nodiscard]] const KnownIncident* known_kernel_message(const std::string& excerpt) const;

 private:
  [[nodiscard]] const Entry* find(const std::string& case_id) const;
  /// The listed crash that ended the case, unless the case's own entry covers it.
  [[nodiscard]] const KnownIncident* random_crash(const results::CaseRecord& record,
                                                  const Entry* entry) const;
  KnownIssues known_;
};

}  // namespace suite::expectations
