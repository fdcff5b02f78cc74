// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A form in which rnic-lint reports what it found.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "dissectors/lint/record.hpp"
#include "dissectors/lint/totals.hpp"

namespace dissectors::lint {

class Report {
 public:
  virtual ~Report() = default;
  virtual void record(const Record& record) = 0;
  /// The end: nothing follows.
  virtual void finish(const Totals& totals) = 0;
};

struct TextReportOptions {
  bool colour = false;
  bool summary = false;  ///< connections and totals only
};
/// For people.
[[nodiscard]] std::unique_ptr<Report> text_report(std::FILE* out, const TextReportOptions& options);
/// JSON lines, one object for each result, named by its member `type`; docs/reading-traces.md lists
/// them all. `summary`: connections and totals only.
[[nodiscard]] std::unique_ptr<Report> json_report(std::FILE* out, bool summary);
/// One SARIF 2.1.0 document; `artifact` names the capture.
[[nodiscard]] std::unique_ptr<Report> sarif_report(std::FILE* out, const std::string& artifact);

}  // namespace dissectors::lint
