// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The pcap of each attempt: cut out of the run's capture, its frame numbers added to the complete
// record, and judged by the analyzer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/epoll_loop.hpp"
#include "suite/cases/framework/outcome.hpp"
#include "suite/jobs/run_capture.hpp"
#include "suite/jobs/worker_pool.hpp"
#include "suite/results/folder.hpp"

namespace suite::runner {

class CasePcaps {
 public:
  /// `capture` may be null: every pcap is then the tester's own record, and is not judged, since
  /// its TCP headers are made up. In a `strict` run a SHOULD that the capture shows broken fails
  /// the case.
  CasePcaps(base::EpollLoop& loop, std::filesystem::path folder,
            std::unique_ptr<jobs::RunCapture> capture, bool strict);

  /// `attempt` began; frames from now on may belong to it.
  void begin(const jobs::Attempt& attempt);
  /// Completes `record`, which has its outcome, with pcap and frame numbers; `done` is called later
  /// from the event loop.
  using Done = std::function<void(results::Result<results::CaseRecord>)>;
  void complete(results::CaseRecord record, const jobs::Attempt& attempt, Done done);
  /// `attempt` is not evidence: it will not be completed.
  void drop(const jobs::Attempt& attempt);
  /// Attempts whose record is not complete yet.
  [[nodiscard]] std::size_t pending() const { return pending_; }

  /// Sends the closing sentinel; the callback learns whether it was seen.
  void close(std::function<void(bool)> seen);
  [[nodiscard]] bool live() const { return capture_ != nullptr; }
  /// Adds its counters and doubts to the results.
  void report(results::CaptureRecord& record) const;

 private:
  struct Pieces {
    std::vector<dissectors::capture::Frame> frames;
    dissectors::capture::LinkType link = dissectors::capture::LinkType::ethernet;
    results::PcapSource source = results::PcapSource::capture;
    std::string note;
    bool unseen = false;     ///< as in results::Pcap
    std::uint64_t lost = 0;  ///< frames that the capture dropped while the attempt ran
  };
  [[nodiscard]] Pieces collect(const jobs::Attempt& attempt,
                               const std::vector<results::ConnectionRecord>& connections,
                               bool all_seen);
  [[nodiscard]] results::Result<results::CaseRecord> finish(results::CaseRecord record,
                                                            const jobs::Attempt& attempt,
                                                            bool all_seen);
  /// Frames that the capture has dropped so far, for whatever reason.
  [[nodiscard]] std::uint64_t lost() const;

  base::EpollLoop& loop_;
  std::filesystem::path folder_;
  std::unique_ptr<jobs::RunCapture> capture_;
  bool strict_;
  /// Attempts that are not complete: their starts, and what the capture had lost by then.
  std::multimap<std::uint64_t, std::uint64_t> begun_;
  std::size_t pending_ = 0;
};

}  // namespace suite::runner
