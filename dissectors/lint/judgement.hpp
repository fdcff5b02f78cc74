// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One run of rnic-lint: a capture is read once and judged, and a second time to write files, if any
// are asked for.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "dissectors/lint/exit_code.hpp"
#include "dissectors/lint/options.hpp"
#include "dissectors/lint/report.hpp"
#include "dissectors/lint/sharding.hpp"
#include "dissectors/lint/split_files.hpp"
#include "dissectors/lint/spool.hpp"
#include "dissectors/lint/violations_file.hpp"

namespace dissectors::lint {

class Judgement {
 public:
  explicit Judgement(const Options& options) : options_(options) {}

  /// Reports on standard output. The error is one line, and means exit code `unreadable` unless it
  /// says otherwise.
  [[nodiscard]] std::expected<ExitCode, Stop> run();

 private:
  using Done = std::expected<void, std::string>;
  [[nodiscard]] Done judge_file();
  [[nodiscard]] Done judge_live();
  [[nodiscard]] Done prepare(capture::LinkType link, bool frames_stay);
  void take(Record&& record);
  void give(const capture::FrameView& frame);
  [[nodiscard]] Done write_files();
  [[nodiscard]] Done copy(capture::CaptureReader& reader);
  [[nodiscard]] std::expected<ExitCode, Stop> conclude() const;
  [[nodiscard]] unsigned jobs() const;

  Options options_;
  std::unique_ptr<Report> report_;
  std::optional<capture::CaptureReader> reader_;  ///< outlives the frames that are with sharding_
  std::unique_ptr<Sharding> sharding_;
  std::optional<ViolationsFile> violations_file_;
  std::optional<SplitFiles> split_files_;
  std::optional<Spool> spool_;
  std::map<std::string_view, Broken> violations_;  ///< of what is shown
  Totals totals_;
};

}  // namespace dissectors::lint
