// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/lint/split_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "dissectors/capture/pcap_file.hpp"

namespace dissectors::lint {

std::expected<SplitFiles, std::string> SplitFiles::create(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return std::unexpected(fmt::format("cannot make the folder {}: {}", folder, error.message()));
  return SplitFiles(folder);
}

void SplitFiles::learn(const Record& record) {
  const analyzer::Connection& connection = record.connection;
  if (std::holds_alternative<Opened>(record.what)) {
    const capture::Flow flow{connection.first, connection.second};
    lives_[flow.canonical()].push_back({.since = record.frame, .number = connection.number});
  } else if (const auto* summary = std::get_if<ConnectionSummary>(&record.what)) {
    if (summary->iwarp) wanted_.insert(connection.number);
  }
}

std::optional<std::uint64_t> SplitFiles::connection_of(std::uint32_t number,
                                                       const capture::FrameView& frame) const {
  const auto segment = capture::parse_segment(link_, frame.octets);
  if (!segment) return {};
  const auto found = lives_.find(segment->flow.canonical());
  if (found == lives_.end()) return {};
  const auto& lives = found->second;
  const auto later = std::ranges::upper_bound(lives, number, {}, &Life::since);
  const Life& life = later == lives.begin() ? lives.front() : *std::prev(later);
  if (!wanted_.contains(life.number)) return {};
  return life.number;
}

void SplitFiles::frame(std::uint32_t number, const capture::FrameView& frame) {
  const auto connection = connection_of(number, frame);
  if (!connection || !fault_.empty()) return;
  OutputFile* file = file_of(*connection);
  if (file == nullptr) return;
  std::vector<std::byte> record;
  capture::append_pcap_frame(record, frame);
  file->write(record);
}

OutputFile* SplitFiles::file_of(std::uint64_t number) {
  if (const auto found = places_.find(number); found != places_.end()) {
    open_.splice(open_.begin(), open_, found->second);
    return &open_.front().file;
  }
  if (open_.size() >= most_open) close_oldest();
  const bool first = begun_.insert(number).second;
  auto file = OutputFile::open(fmt::format("{}/connection-{:06}.pcap", folder_, number),
                               first ? OutputFile::Mode::fresh : OutputFile::Mode::append);
  if (!file) {
    fault_ = file.error();
    return nullptr;
  }
  open_.push_front({.number = number, .file = std::move(*file)});
  places_[number] = open_.begin();
  if (first) open_.front().file.write(capture::pcap_header(link_));
  return &open_.front().file;
}

void SplitFiles::keep(const std::expected<void, std::string>& done) {
  if (!done && fault_.empty()) fault_ = done.error();
}

void SplitFiles::close_oldest() {
  keep(open_.back().file.close());
  places_.erase(open_.back().number);
  open_.pop_back();
}

std::expected<void, std::string> SplitFiles::finish() {
  while (!open_.empty()) close_oldest();
  if (!fault_.empty()) return std::unexpected(fault_);
  return {};
}

}  // namespace dissectors::lint
