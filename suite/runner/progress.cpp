// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/standard_streams.hpp"
#include "rules/catalogue.hpp"

namespace suite::runner {

namespace {

constexpr const char *red = "31", *yellow = "33", *green = "32", *plain = "0";
constexpr auto redraw_interval = std::chrono::milliseconds(50);

const char* colour_of(results::Verdict verdict) {
  switch (verdict) {
    case results::Verdict::pass:
      return green;
    case results::Verdict::fail:
    case results::Verdict::error:
      return red;
    case results::Verdict::inconclusive:
      return yellow;
    case results::Verdict::not_applicable:
      return plain;
  }
  return plain;
}

std::size_t terminal_width(std::FILE* stream) {
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

// Text from an IUT does not get to steer the terminal.
std::string harmless(const std::string& text) {
  std::string result;
  for (const char c : text) result += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  return result;
}

}  // namespace

Progress::Progress(std::FILE* stream)
    : stream_(stream),
      live_(::isatty(::fileno(stream)) != 0),
      colour_(live_ && std::getenv("NO_COLOR") == nullptr) {}

Progress::~Progress() { close(); }

void Progress::tell(const std::string& line) { write_line(harmless(line)); }

void Progress::started(const std::string& id) {
  running_.insert(id);
  draw();
}

void Progress::returned(const std::string& id) {
  running_.erase(id);
  draw();
}

void Progress::ended(const results::CaseRecord& record) {
  running_.erase(record.id);
  ++done_;
  if (record.gate.result == results::GateResult::new_failure) ++new_failures_;
  if (record.gate.result == results::GateResult::known) ++known_;
  const bool worth_a_line = !live_ || record.gate.result == results::GateResult::new_failure ||
                            record.gate.result == results::GateResult::stale;
  if (worth_a_line) {
    const std::string word = fmt::format("{:14}", results::name(record.verdict));
    const std::string why = record.reason.empty() ? "" : " - " + harmless(record.reason);
    write_line(fmt::format("{} {} ({:.2f} s){}", coloured(word, colour_of(record.verdict)),
                           record.id, record.duration, why));
  } else {
    draw();
  }
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
  const double elapsed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  std::string line = fmt::format("{}/{}", done_, total_);
  if (done_ > 0 && done_ < total_) {
    line += fmt::format(", {:.0f} s left",
                        elapsed / static_cast<double>(done_) * static_cast<double>(total_ - done_));
  }
  if (new_failures_ > 0) line += fmt::format(", {} new failures", new_failures_);
  if (known_ > 0) line += fmt::format(", {} known", known_);
  if (!running_.empty()) line += ": " + *running_.begin();
  if (running_.size() > 1) line += fmt::format(" and {} more", running_.size() - 1);
  return line;
}

std::string Progress::coloured(const std::string& text, const char* colour) const {
  return colour_ ? fmt::format("\033[{}m{}\033[0m", colour, text) : text;
}

// ---------------------------------------------------------------- at the end

namespace {

std::string expectation_text(const results::Expectation& expectation) {
  const rules::Rule* rule = rules::find(expectation.rule);
  const std::string where = rule == nullptr ? "" : fmt::format(" ({})", rules::place(*rule));
  std::string text = fmt::format("  rule       {}{}\n", expectation.rule, where);
  if (!expectation.row.empty()) text += fmt::format("  row        {}\n", harmless(expectation.row));
  text += fmt::format("  admissible {}\n", fmt::join(expectation.admissible, "; or "));
  text += fmt::format("  came       {}\n", harmless(expectation.actual));
  if (!expectation.hex.empty()) {
    text += fmt::format("  octets     {}{}\n", expectation.hex.substr(0, 128),
                        expectation.hex.size() > 128 ? "..." : "");
  }
  if (expectation.frame) text += fmt::format("  frame      {}\n", *expectation.frame);
  return text;
}

}  // namespace

std::string failure_text(const results::CaseRecord& record, const std::string& folder) {
  std::string text = fmt::format("{}: {} - {}\n", results::name(record.verdict), record.id,
                                 harmless(record.gate.reason));
  if (!record.reason.empty()) text += fmt::format("  reason     {}\n", harmless(record.reason));
  for (const results::Expectation& expectation : record.expectations) {
    if (expectation.verdict != results::Judgement::pass) text += expectation_text(expectation);
  }
  if (record.pcap) text += fmt::format("  pcap       {}/{}\n", folder, record.pcap->file);
  return text + fmt::format("  again      {}\n", record.rerun);
}

std::string summary_text(const results::Document& document) {
  const auto& summary = document.summary;
  std::vector<std::string> verdicts;
  for (const auto& [verdict, count] : summary.verdicts)
    verdicts.push_back(fmt::format("{} {}", count, verdict));
  std::string text = fmt::format("{} cases: {}", summary.cases, fmt::join(verdicts, ", "));
  const auto count = [&](const char* word) {
    const auto found = summary.gate.find(word);
    return found == summary.gate.end() ? std::uint64_t{0} : found->second;
  };
  text += fmt::format("; {} new failures, {} known, {} stale", count("new_failure"), count("known"),
                      count("stale"));
  if (summary.advisories > 0) text += fmt::format(", {} advisories", summary.advisories);
  const auto total = document.run.timings.find("total");
  if (total != document.run.timings.end()) text += fmt::format("; {:.1f} s", total->second);
  if (!document.run.complete) text += fmt::format("\nnot complete: {}", document.run.ending_reason);
  return text;
}

}  // namespace suite::runner
