// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/lint/judgement.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/standard_streams.hpp"
#include "dissectors/capture/live_capture.hpp"
#include "dissectors/lint/wording.hpp"

namespace dissectors::lint {

namespace {

// For smaller files, threads cost more than they save.
constexpr std::uintmax_t small_file = std::uintmax_t{16} << 20;

// While it lives, Ctrl-C and a request to end can be read instead of ending the program.
class EndRequests {
 public:
  EndRequests() {
    sigset_t set{};
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGINT);
    ::sigaddset(&set, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &set, &before_);
    fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~EndRequests() {
    // Pending signals are taken; otherwise they would end the program here.
    signalfd_siginfo taken{};
    while (::read(fd_, &taken, sizeof taken) > 0) {
    }
    ::close(fd_);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  EndRequests(const EndRequests&) = delete;
  EndRequests& operator=(const EndRequests&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  sigset_t before_{};
  int fd_ = -1;
};

// Ctrl-C reaches both ends of a pipe: the writer ends, and then this program reports what it has
// judged. A second one ends this program.
void survive_one_interrupt() {
  struct sigaction action{};
  action.sa_handler = [](int) {};
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
}

// Without a reader there is no use in judging on.
bool nobody_reads() { return ::ferror_unlocked(stdout) != 0; }  // asked after each frame

std::unique_ptr<Report> make_report(const Options& options) {
  if (options.json) return json_report(stdout, options.summary);
  if (options.sarif)
    return sarif_report(stdout, options.input.empty() ? options.interface : options.input);
  const bool colour = ::isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  return text_report(stdout, {.colour = colour, .summary = options.summary});
}

}  // namespace

unsigned Judgement::jobs() const {
  if (options_.jobs > 0) return options_.jobs;
  // Results of live captures and pipes are reported immediately, not when a round is full.
  if (options_.input.empty() || options_.input == "-") return 1;
  std::error_code error;
  const auto size = std::filesystem::file_size(options_.input, error);
  if (error || size < small_file) return 1;
  return std::max(1U, std::thread::hardware_concurrency());
}

Judgement::Done Judgement::prepare(capture::LinkType link, bool frames_stay) {
  if (!options_.violations.empty()) {
    auto file = ViolationsFile::create(options_.violations);
    if (!file) return std::unexpected(file.error());
    violations_file_ = std::move(*file);
  }
  if (!options_.split.empty()) {
    auto files = SplitFiles::create(options_.split);
    if (!files) return std::unexpected(files.error());
    split_files_ = std::move(*files);
  }
  const bool once = options_.input.empty() || options_.input == "-";
  if (once && (violations_file_ || split_files_)) {
    const auto beside = std::filesystem::path(options_.violations).parent_path().string();
    const std::string folder = split_files_ ? options_.split : beside.empty() ? "." : beside;
    auto spool = Spool::create(folder, link);
    if (!spool) return std::unexpected(spool.error());
    spool_ = std::move(*spool);
  }
  if (once) std::setvbuf(stdout, nullptr, _IOLBF, 0);
  report_ = make_report(options_);
  ShardingOptions sharding;
  sharding.jobs = jobs();
  sharding.collector = {
      .rules = options_.rules, .level = options_.level, .messages = options_.follow};
  sharding.ports = options_.ports;
  sharding.frames_stay = frames_stay;
  sharding_ = std::make_unique<Sharding>(link, sharding,
                                         [this](Record&& record) { take(std::move(record)); });
  return {};
}

void Judgement::take(Record&& record) {
  const bool wanted = !options_.connection || record.connection.number == *options_.connection;
  // A later connection between the same ports ends the one before it, whether it is wanted or not.
  if (split_files_ && (wanted || std::holds_alternative<Opened>(record.what)))
    split_files_->learn(record);
  if (!wanted) return;
  if (const auto* violation = std::get_if<Violation>(&record.what)) {
    Broken& broken = violations_[violation->finding.rule.id];
    if (broken.times++ == 0) broken.first_frame = frame_of(record, violation->finding.place);
  }
  if (violations_file_) violations_file_->learn(record);
  report_->record(record);
}

void Judgement::give(const capture::FrameView& frame) {
  if (spool_) spool_->add(frame);
  sharding_->frame(frame);
}

Judgement::Done Judgement::judge_file() {
  if (options_.input == "-") survive_one_interrupt();
  auto reader = capture::CaptureReader::open(options_.input);
  if (!reader) return std::unexpected(reader.error());
  reader_ = std::move(*reader);
  if (auto done = prepare(reader_->link(), reader_->frames_stay()); !done) return done;
  reader_->octets_follow(jobs() == 1);
  while (const auto frame = reader_->next()) {
    give(*frame);
    if (nobody_reads()) return std::unexpected(*base::unwritten_output());
  }
  totals_ = sharding_->finish();
  totals_.tear = reader_->tear();
  return {};
}

Judgement::Done Judgement::judge_live() {
  auto capture = capture::LiveCapture::open(options_.interface);
  if (!capture) return std::unexpected(capture.error());
  if (auto done = prepare(capture->link(), false); !done) return done;
  const auto deliver = [this](const capture::Frame& frame) {
    give({.time = frame.time, .original_length = frame.original_length, .octets = frame.octets});
  };
  const EndRequests requests;
  for (bool ending = false; !ending;) {
    std::array<pollfd, 2> waits{{{.fd = capture->fd(), .events = POLLIN, .revents = 0},
                                 {.fd = requests.fd(), .events = POLLIN, .revents = 0}}};
    if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR)
      return std::unexpected(std::generic_category().message(errno));
    ending = waits[1].revents != 0;
    if (auto polled = capture->poll(deliver); !polled) return polled;
    sharding_->flush();
    if (nobody_reads()) return std::unexpected(*base::unwritten_output());
  }
  totals_ = sharding_->finish();
  totals_.live = capture->counts();
  return {};
}

Judgement::Done Judgement::copy(capture::CaptureReader& reader) {
  if (violations_file_)
    violations_file_->begin(reader.link(),
                            options_.input.empty() ? options_.interface : options_.input);
  if (split_files_) split_files_->begin(reader.link());
  // If a file has grown since it was judged, only the judged part is copied.
  while (reader.frames() < totals_.frames.frames) {
    const auto frame = reader.next();
    if (!frame) break;
    const auto number = static_cast<std::uint32_t>(reader.frames());
    if (violations_file_) violations_file_->frame(number, *frame);
    if (split_files_) split_files_->frame(number, *frame);
  }
  if (violations_file_)
    if (auto done = violations_file_->finish(); !done) return done;
  if (split_files_) return split_files_->finish();
  return {};
}

Judgement::Done Judgement::write_files() {
  if (!violations_file_ && !split_files_) return {};
  auto reader = spool_ ? spool_->read() : capture::CaptureReader::open(options_.input);
  if (!reader) return std::unexpected(reader.error());
  return copy(*reader);
}

std::expected<ExitCode, Stop> Judgement::conclude() const {
  if (options_.connection && *options_.connection > totals_.connections)
    return std::unexpected(
        Stop{ExitCode::usage, fmt::format("--connection {}: the capture has {} TCP connections",
                                          *options_.connection, totals_.connections)});
  const ExitCode code = exit_code(totals_);
  if (code == ExitCode::unreadable)
    return std::unexpected(Stop{
        code, fmt::format("cannot read {} from {}", options_.input, describe_tear(*totals_.tear))});
  return code;
}

std::expected<ExitCode, Stop> Judgement::run() {
  const auto unreadable = [](std::string why) {
    return std::unexpected(Stop{ExitCode::unreadable, std::move(why)});
  };
  if (auto judged = options_.input.empty() ? judge_live() : judge_file(); !judged)
    return unreadable(judged.error());
  totals_.violations = violations_;
  report_->finish(totals_);
  if (const auto fault = base::unwritten_output()) return unreadable(*fault);
  if (auto written = write_files(); !written) return unreadable(written.error());
  return conclude();
}

}  // namespace dissectors::lint
