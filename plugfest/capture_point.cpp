// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/capture_point.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "base/line_file.hpp"
#include "base/standard_streams.hpp"
#include "dissectors/capture/capture_reader.hpp"
#include "dissectors/capture/pcap_file.hpp"
#include "plugfest/captured_end.hpp"
#include "suite/iut/agent_client.hpp"
#include "suite/iut/child_process.hpp"
#include "suite/jobs/run_capture.hpp"
#include "suite/lab/namespaces.hpp"

namespace plugfest {

namespace {

namespace capture = dissectors::capture;
using suite::jobs::ExitCode;
using suite::jobs::RunCapture;

/// What another host says once it captures.
constexpr std::string_view it_captures = "capturing\n";
constexpr std::chrono::seconds opening_time{20}, transfer_time{60};

// ---------------------------------------------------------------- here

class LocalPoint final : public CapturePoint {
 public:
  LocalPoint(base::EpollLoop& loop, CapturePlace place, std::size_t most_octets)
      : place_(std::move(place)) {
    const auto open = [&]() -> std::expected<void, std::string> {
      auto opened = RunCapture::open(loop, place_.interface, std::random_device{}(),
                                     {.by_connection = false, .capacity = most_octets});
      if (!opened) return std::unexpected(opened.error());
      capture_ = std::move(*opened);
      return {};
    };
    if (const auto done = suite::lab::in_network_namespace(place_.network_namespace, open); !done)
      fault_ = done.error();
  }
  [[nodiscard]] bool is_open() const override { return true; }
  [[nodiscard]] const std::string& fault() const override {
    return capture_ ? capture_->broken() : fault_;
  }
  void finish() override {
    if (capture_) capture_->when_seen([this](bool all) { seen_ = all; });
  }
  [[nodiscard]] bool is_finished() const override { return !capture_ || seen_.has_value(); }
  [[nodiscard]] Captured take() override {
    Captured made{
        .place = place_.text(), .link = {}, .frames = {}, .dropped = 0, .trouble = fault_};
    if (!capture_) return made;
    made.link = capture_->link();
    made.frames = capture_->take_every_frame();
    const auto counts = capture_->counts();
    made.dropped = counts.dropped + counts.interface_dropped;
    made.trouble = trouble(made.dropped);
    return made;
  }

 private:
  [[nodiscard]] std::string trouble(std::uint64_t dropped) const {
    if (!capture_->broken().empty()) return capture_->broken();
    if (capture_->given_up() > 0)
      return fmt::format("{} frames were given up for want of memory", capture_->given_up());
    if (!seen_.value_or(false)) return "the last frames did not arrive in time";
    if (dropped > 0) return fmt::format("the kernel dropped {} frames of the capture", dropped);
    return {};
  }

  CapturePlace place_;
  std::unique_ptr<RunCapture> capture_;
  std::optional<bool> seen_;
  std::string fault_;
};

// ---------------------------------------------------------------- on another host

/// Of a program's whole output: "capturing", a line of JSON, and the octets of a pcap file.
Captured parse_far_capture(const std::string& output) {
  Captured made;
  const std::size_t begin = it_captures.size(), end = output.find('\n', begin);
  const auto last = end == std::string::npos
                        ? std::nullopt
                        : parse_captured_end(std::string_view(output).substr(begin, end - begin));
  if (!last) {
    made.trouble = "the connection was lost before the frames came";
    return made;
  }
  const base::Bytes file = std::as_bytes(std::span(output)).subspan(end + 1);
  auto reader = capture::CaptureReader::read_from(capture::octets_in_memory(file), "the capture");
  std::size_t came = 0;
  if (reader) {
    made.link = reader->link();
    while (const auto frame = reader->next()) {
      ++came;
      made.frames.push_back({.time = frame->time,
                             .original_length = frame->original_length,
                             .octets = {frame->octets.begin(), frame->octets.end()}});
    }
  }
  made.dropped = last->dropped;
  made.trouble = last->trouble;
  if (made.trouble.empty() && came != last->frames)
    made.trouble = fmt::format("{} of {} frames came", came, last->frames);
  return made;
}

class RemotePoint final : public CapturePoint {
 public:
  RemotePoint(base::EpollLoop& loop, const CapturePlace& place, std::size_t most_octets)
      : loop_(loop), name_(place.text()), most_octets_(most_octets) {
    auto argv = suite::iut::through_ssh(place.host);
    argv.insert(argv.end(), {"rnic-plugfest", "capture", place.interface});
    auto started = suite::iut::ChildProcess::start(argv);
    if (!started) {
      give_up(started.error());
      return;
    }
    child_.emplace(std::move(*started));
    loop_.watch(child_->channel(), EPOLLIN, [this](std::uint32_t) { read(); });
    deadline_ = loop_.schedule(loop_.now() + opening_time,
                               [this] { give_up("it does not capture in time"); });
  }
  ~RemotePoint() override { end(); }
  RemotePoint(const RemotePoint&) = delete;
  RemotePoint& operator=(const RemotePoint&) = delete;

  [[nodiscard]] bool is_open() const override { return over_ || output_.starts_with(it_captures); }
  [[nodiscard]] const std::string& fault() const override { return fault_; }
  void finish() override {
    if (over_) return;
    ::shutdown(child_->channel(), SHUT_WR);
    deadline_ = loop_.schedule(loop_.now() + transfer_time,
                               [this] { give_up("its frames did not come in time"); });
  }
  [[nodiscard]] bool is_finished() const override { return over_; }
  [[nodiscard]] Captured take() override {
    Captured made = fault_.empty() ? parse_far_capture(output_) : Captured{};
    if (!fault_.empty()) made.trouble = fault_;
    made.place = name_;
    return made;
  }

 private:
  void read() {
    std::array<char, 65'536> octets{};
    for (;;) {
      const ssize_t count = ::read(child_->channel(), octets.data(), octets.size());
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) break;
      if (count <= 0) return ended();
      output_.append(octets.data(), static_cast<std::size_t>(count));
      if (output_.size() > 2 * most_octets_) return give_up("it sends more than can be kept");
    }
    if (deadline_ && !waits_ && is_open()) {
      loop_.cancel(*std::exchange(deadline_, std::nullopt));
      waits_ = true;
    }
  }
  void ended() {
    if (output_.starts_with(it_captures)) return end();
    give_up(last_words());
  }
  /// The last line that the program, or ssh, wrote to its standard error.
  [[nodiscard]] std::string last_words() const {
    std::array<char, 4096> octets{};
    const ssize_t count = ::read(child_->errors(), octets.data(), octets.size());
    std::string text(octets.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const std::size_t line = text.rfind('\n');
    return text.empty() ? "it does not capture" : text.substr(line == text.npos ? 0 : line + 1);
  }
  void give_up(std::string why) {
    fault_ = std::move(why);
    end();
  }
  void end() {
    if (!over_ && child_) loop_.unwatch(child_->channel());
    if (deadline_) loop_.cancel(*std::exchange(deadline_, std::nullopt));
    over_ = true;
  }

  base::EpollLoop& loop_;
  std::string name_;
  std::size_t most_octets_;
  std::optional<suite::iut::ChildProcess> child_;
  std::optional<base::TimerId> deadline_;
  std::string output_, fault_;
  bool waits_ = false;  ///< for finish()
  bool over_ = false;
};

}  // namespace

CellCapture::CellCapture(base::EpollLoop& loop, const std::vector<CapturePlace>& places,
                         std::size_t most_octets)
    : loop_(loop) {
  for (const CapturePlace& place : places)
    if (place.host.empty())
      points_.push_back(std::make_unique<LocalPoint>(loop, place, most_octets));
    else
      points_.push_back(std::make_unique<RemotePoint>(loop, place, most_octets));
  loop.run_until(base::TimePoint::max(), [this] {
    return std::ranges::all_of(points_, [](const auto& point) { return point->is_open(); });
  });
}

std::string CellCapture::fault() const {
  const auto failed = [](const auto& point) { return !point->fault().empty(); };
  return std::ranges::all_of(points_, failed) ? points_.front()->fault() : std::string();
}

std::vector<Captured> CellCapture::finish() {
  for (const auto& point : points_) point->finish();
  loop_.run_until(base::TimePoint::max(), [this] {
    return std::ranges::all_of(points_, [](const auto& point) { return point->is_finished(); });
  });
  std::vector<Captured> all;
  for (const auto& point : points_) all.push_back(point->take());
  return all;
}

ExitCode serve_capture(const std::string& interface) {
  base::EpollLoop loop;
  LocalPoint point(loop, {.interface = interface}, usual_capture);
  if (point.is_finished()) {  // it could not begin
    base::say(stderr, "rnic-plugfest: capture: {}\n", point.take().trouble);
    return ExitCode::harness;
  }
  if (base::write_all(STDOUT_FILENO, it_captures) != 0) return ExitCode::harness;
  bool ended = false;
  ::fcntl(STDIN_FILENO, F_SETFL, ::fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
  const auto read = [&](std::uint32_t) {
    std::array<char, 256> ignored{};
    ssize_t count = 0;
    while ((count = ::read(STDIN_FILENO, ignored.data(), ignored.size())) > 0) {
    }
    ended = count == 0 || (errno != EAGAIN && errno != EINTR);
  };
  loop.watch(STDIN_FILENO, EPOLLIN, read);
  loop.run_until(base::TimePoint::max(), [&] { return ended; });
  loop.unwatch(STDIN_FILENO);
  point.finish();
  loop.run_until(base::TimePoint::max(), [&] { return point.is_finished(); });
  const Captured made = point.take();
  const auto file = capture::pcap_file(made.link, made.frames);
  const std::string head = text_of(
      CapturedEnd{.frames = made.frames.size(), .dropped = made.dropped, .trouble = made.trouble});
  const std::string_view octets(reinterpret_cast<const char*>(file.data()), file.size());
  const bool written = base::write_all(STDOUT_FILENO, head + "\n") == 0 &&
                       base::write_all(STDOUT_FILENO, octets) == 0;
  return written ? ExitCode::good : ExitCode::harness;
}

}  // namespace plugfest
