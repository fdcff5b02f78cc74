// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/jobs/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "base/standard_streams.hpp"

namespace suite::jobs {

namespace {

constexpr const char *red = "31", *yellow = "33", *green = "32", *plain = "0";
constexpr auto redraw_interval = std::chrono::milliseconds(50);

const char* colour_of(std::string_view verdict) {
  if (verdict == "pass" || verdict == "advisory") return green;
  if (verdict == "fail" || verdict == "error") return red;
  return verdict == "inconclusive" ? yellow : plain;
}

std::size_t terminal_width(std::FILE* stream) {
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}  // namespace

std::string for_terminal(std::string_view text, std::size_t longest) {
  std::string line(text.substr(0, longest));
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; };
  std::ranges::replace_if(line, control, ' ');
  return text.size() > longest ? line + "..." : line;
}

std::string clock_text(double seconds) {
  constexpr long minute = 60, hour = 3600;
  const long all = std::lround(std::ceil(seconds));
  if (all >= hour)
    return fmt::format("{}:{:02}:{:02}", all / hour, all % hour / minute, all % minute);
  return fmt::format("{}:{:02}", all / minute, all % minute);
}

Progress::Progress(std::FILE* stream)
    : stream_(stream),
      live_(::isatty(::fileno(stream)) != 0),
      colour_(live_ && std::getenv("NO_COLOR") == nullptr) {}

Progress::~Progress() { close(); }

void Progress::tell(const std::string& line) { write_line(for_terminal(line, line.size())); }

void Progress::started(const std::string& id) {
  running_.insert(id);
  draw();
}

void Progress::returned(const std::string& id) {
  running_.erase(id);
  draw();
}

void Progress::ended(const Ended& one, double bound) {
  running_.erase(one.id);
  ++done_;
  planned_ += one.planned;
  taken_ += one.seconds;
  bound_ = bound;
  if (one.note == Note::new_failure) ++new_failures_;
  if (one.note == Note::known) ++known_;
  if (live_ && one.note != Note::new_failure && one.note != Note::stale) return draw();
  const std::string word = coloured(fmt::format("{:14}", one.verdict), colour_of(one.verdict));
  const std::string left = done_ < total_ ? ", " + clock_text(remaining(bound)) + " left" : "";
  const std::string why = one.reason.empty() ? "" : " - " + for_terminal(one.reason);
  write_line(fmt::format("[{}/{}] {} {} ({:.2f} s{}){}", done_, total_, word, one.id, one.seconds,
                         left, why));
}

void Progress::close() { erase(); }

// The run does not wait for a terminal that is stopped or a reader that sleeps: what these cannot
// take now is left out, and counted.
void Progress::write_line(const std::string& line) {
  if (!base::takes_a_line(stream_)) {
    ++left_out_;
    return;
  }
  erase();
  if (left_out_ > 0) base::say(stream_, "({} lines were not read in time)\n", left_out_);
  left_out_ = 0;
  base::say(stream_, "{}\n", line);
  draw();
}

void Progress::draw() {
  const auto now = std::chrono::steady_clock::now();
  if (!live_ || total_ == 0 || (drawn_ && now - last_drawn_ < redraw_interval)) return;
  if (!base::takes_a_line(stream_)) return;
  erase();
  base::say(stream_, live_line().substr(0, terminal_width(stream_) - 1));
  drawn_ = true;
  last_drawn_ = now;
}

void Progress::erase() {
  if (!drawn_ || !base::takes_a_line(stream_)) return;
  base::say(stream_, "\r\033[K");
  drawn_ = false;
}

std::string Progress::live_line() const {
  std::string line = fmt::format("{}/{}", done_, total_);
  if (done_ > 0 && done_ < total_) line += fmt::format(", {} left", clock_text(remaining(bound_)));
  if (new_failures_ > 0) line += fmt::format(", {} new failures", new_failures_);
  if (known_ > 0) line += fmt::format(", {} known", known_);
  if (!running_.empty()) line += ": " + *running_.begin();
  if (running_.size() > 1) line += fmt::format(" and {} more", running_.size() - 1);
  return line;
}

std::string Progress::coloured(const std::string& text, const char* colour) const {
  return colour_ ? fmt::format("\033[{}m{}\033[0m", colour, text) : text;
}

}  // namespace suite::jobs
