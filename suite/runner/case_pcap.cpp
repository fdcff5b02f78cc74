// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/case_pcap.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "dissectors/capture/pcap_file.hpp"
#include "suite/runner/capture_judge.hpp"
#include "suite/runner/case_record.hpp"

namespace suite::runner {

using jobs::Attempt;
using jobs::RunCapture;

namespace {

using dissectors::capture::Flow;

std::uint64_t wall_nanoseconds(const Attempt& attempt) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(attempt.wall_start.time_since_epoch())
          .count());
}

results::Result<void> write(const std::filesystem::path& path, std::span<const std::byte> octets) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(octets.data()),
             static_cast<std::streamsize>(octets.size()));
  file.close();
  if (file) return {};
  const int code = errno;
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return std::unexpected(
      fmt::format("cannot write {}: {}", path.string(), std::generic_category().message(code)));
}

std::vector<Flow> flows_to_iut(const std::vector<results::ConnectionRecord>& connections) {
  std::vector<Flow> flows;
  for (const auto& connection : connections) flows.push_back(flow_to_iut(connection));
  return flows;
}

}  // namespace

CasePcaps::CasePcaps(base::EpollLoop& loop, std::filesystem::path folder,
                     std::unique_ptr<RunCapture> capture, bool strict)
    : loop_(loop), folder_(std::move(folder)), capture_(std::move(capture)), strict_(strict) {}

void CasePcaps::begin(const Attempt& attempt) { begun_.emplace(wall_nanoseconds(attempt), lost()); }

std::uint64_t CasePcaps::lost() const {
  if (!capture_) return 0;
  const auto counts = capture_->counts();
  return counts.dropped + counts.interface_dropped + capture_->given_up();
}

void CasePcaps::complete(results::CaseRecord record, const Attempt& attempt, Done done) {
  ++pending_;
  const bool on_the_wire = !record.outcome.connections.empty() || attempt.died;
  auto finish_now = [this, record = std::move(record), attempt,
                     done = std::move(done)](bool all_seen) {
    auto finished = finish(record, attempt, all_seen);
    --pending_;
    drop(attempt);
    done(std::move(finished));
  };
  if (capture_ && on_the_wire) {
    capture_->when_seen(std::move(finish_now));
  } else {
    loop_.defer([finish_now = std::move(finish_now)] { finish_now(true); });
  }
}

void CasePcaps::drop(const Attempt& attempt) {
  begun_.erase(begun_.find(wall_nanoseconds(attempt)));
  if (capture_ && !begun_.empty()) capture_->forget_before(begun_.begin()->first);
}

CasePcaps::Pieces CasePcaps::collect(const Attempt& attempt,
                                     const std::vector<results::ConnectionRecord>& connections,
                                     bool all_seen) {
  Pieces pieces;
  const std::uint64_t start = wall_nanoseconds(attempt);
  if (capture_) {
    const bool all_are_its_own = attempt.died && attempt.job.alone;
    pieces.frames = all_are_its_own ? capture_->take_all(start)
                                    : capture_->take(flows_to_iut(connections), start);
    if (!connections.empty()) pieces.lost = lost() - begun_.find(start)->second;
    pieces.link = capture_->link();
    if (!all_seen) pieces.note = "the capture lagged behind: later frames may be missing";
    if (capture_->given_up() > 0)
      pieces.note = "the run's capture dropped frames for lack of memory";
    if (!pieces.frames.empty()) return pieces;
    pieces.unseen = all_seen;
    if (all_seen) pieces.note = "the capture saw none of the case's connections";
  }
  pieces.link = dissectors::capture::LinkType::ethernet;
  pieces.frames = synthesize(connections, start);
  pieces.source = results::PcapSource::tester;
  return pieces;
}

results::Result<results::CaseRecord> CasePcaps::finish(results::CaseRecord record,
                                                       const Attempt& attempt, bool all_seen) {
  const std::vector<results::ConnectionRecord> connections =
      std::exchange(record.outcome.connections, {});
  const Pieces pieces = collect(attempt, connections, all_seen);
  if (pieces.frames.empty()) {
    finish_evidence(record, nullptr);
    doubt(record, pieces.lost);
    return record;
  }
  const auto file = dissectors::capture::pcap_file(pieces.link, pieces.frames);
  const std::string name = results::Folder::pcap_name(record.id, record.attempt);
  if (const auto written = write(folder_ / name, file); !written)
    return std::unexpected(written.error());
  record.pcap = results::Pcap{.file = name,
                              .sha256 = base::sha256(file),
                              .frames = pieces.frames.size(),
                              .octets = file.size(),
                              .source = pieces.source,
                              .note = pieces.note,
                              .unseen = pieces.unseen};
  const FrameFinder finder(connections,
                           dissectors::capture::StreamIndex(pieces.link, pieces.frames));
  finish_evidence(record, &finder);
  // The sentinel only shows whether the IUT answers.
  CaptureJudgement judgement;
  if (pieces.source == results::PcapSource::capture && record.layer != "harness") {
    judgement = judge_capture(pieces.link, pieces.frames, flows_to_iut(connections));
    add_findings(record, judgement.findings, wall_nanoseconds(attempt), strict_);
  }
  record.outcome.judged_in_frames = std::move(judgement.judged);
  doubt(record, pieces.lost);
  return record;
}

void CasePcaps::close(std::function<void(bool)> seen) {
  if (capture_) {
    capture_->when_seen(std::move(seen));
  } else {
    loop_.defer([seen = std::move(seen)] { seen(false); });
  }
}

void CasePcaps::report(results::CaptureRecord& record) const {
  if (!capture_) return;
  const auto counts = capture_->counts();
  record.received += counts.received;
  record.dropped += counts.dropped;
  record.interface_dropped += counts.interface_dropped;
  if (!capture_->broken().empty()) record.note = capture_->broken();
  if (capture_->given_up() > 0)
    record.note = fmt::format("{} frames were dropped for lack of memory", capture_->given_up());
}

}  // namespace suite::runner
