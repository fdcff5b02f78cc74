// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/self_test/deviation_captures.hpp"

#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/record/json_writer.hpp"
#include "dissectors/capture/pcap_file.hpp"
#include "suite/runner/frame_finder.hpp"

namespace suite::self_test {

constexpr auto table_of(const CaptureOfDeviation*) {
  using base::record::required;
  using Entry = CaptureOfDeviation;
  return base::record::table("capture", required("deviation", &Entry::deviation),
                             required("rule", &Entry::rule), required("file", &Entry::file),
                             required("iut", &Entry::iut), required("cases", &Entry::cases));
}

namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t beginning = 1'000'000'000 * second;  // arbitrary; the same in every run

bool write(const std::filesystem::path& path, const char* octets, std::size_t size) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(octets, static_cast<std::streamsize>(size));
  file.close();
  return static_cast<bool>(file);
}

}  // namespace

std::expected<DeviationCaptures, std::string> DeviationCaptures::create(
    std::filesystem::path folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return std::unexpected(fmt::format("cannot make {}: {}", folder.string(), error.message()));
  return DeviationCaptures(std::move(folder));
}

void DeviationCaptures::add(std::string_view deviation, std::string_view rule,
                            const std::string& case_id, const cases::CaseOutcome& outcome) {
  if (deviation != deviation_) {
    write_file();
    deviation_ = deviation;
    rule_ = rule;
    time_ = beginning;
  }
  if (outcome.connections.empty()) return;
  cases_.push_back(case_id);
  for (const auto& connection : outcome.connections) addresses_.insert(connection.iut.host());
  auto frames = runner::synthesize(outcome.connections, time_);
  // All frames of the next case are later than the last one of this case.
  if (!frames.empty()) time_ = frames.back().time + second;
  frames_.insert(frames_.end(), std::make_move_iterator(frames.begin()),
                 std::make_move_iterator(frames.end()));
}

void DeviationCaptures::write_file() {
  if (!frames_.empty()) {
    const auto file =
        dissectors::capture::pcap_file(dissectors::capture::LinkType::ethernet, frames_);
    const auto path = folder_ / (deviation_ + ".pcap");
    if (!write(path, reinterpret_cast<const char*>(file.data()), file.size()))
      problem_ = fmt::format("cannot write {}", path.string());
    index_.push_back({.deviation = deviation_,
                      .rule = rule_,
                      .file = deviation_ + ".pcap",
                      .iut = {addresses_.begin(), addresses_.end()},
                      .cases = cases_});
  }
  frames_.clear();
  cases_.clear();
  addresses_.clear();
}

std::expected<void, std::string> DeviationCaptures::finish() {
  write_file();
  const auto path = folder_ / "index.json";
  const std::string text = base::record::to_json(index_).dump(1) + "\n";
  if (!write(path, text.data(), text.size()))
    problem_ = fmt::format("cannot write {}", path.string());
  if (problem_.empty()) return {};
  return std::unexpected(problem_);
}

}  // namespace suite::self_test
