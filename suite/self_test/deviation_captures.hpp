// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Capture files of what the reference RNIC sends with each deviation, or with each set of lawful
// variants, for judges that see only the wire.
#pragma once

#include <expected>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "dissectors/capture/frame.hpp"
#include "suite/cases/framework/outcome.hpp"

namespace suite::self_test {

/// An entry of index.json.
struct CaptureOfDeviation {
  std::string deviation, rule, file;
  std::vector<std::string> iut;  ///< addresses of the reference
  std::vector<std::string> cases;
};

/// One pcap for each deviation or set, NAME.pcap, with the connections of all cases that ran with
/// it, and index.json. The octets of the streams are real; the TCP headers are made up.
class DeviationCaptures {
 public:
  /// Makes the folder if necessary. The error is one line.
  [[nodiscard]] static std::expected<DeviationCaptures, std::string> create(
      std::filesystem::path folder);

  /// Adds the exchange of one case. Cases of one deviation follow each other; `conforming` is the
  /// name without a deviation.
  void add(std::string_view deviation, std::string_view rule, const std::string& case_id,
           const cases::CaseOutcome& outcome);
  /// Writes what is left. The error, of this or an earlier file, is one line.
  [[nodiscard]] std::expected<void, std::string> finish();

 private:
  explicit DeviationCaptures(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void write_file();

  std::filesystem::path folder_;
  std::string deviation_, rule_, problem_;
  std::vector<std::string> cases_;
  std::set<std::string> addresses_;
  std::vector<dissectors::capture::Frame> frames_;
  std::uint64_t time_ = 0;  ///< when the next case begins
  std::vector<CaptureOfDeviation> index_;
};

}  // namespace suite::self_test
