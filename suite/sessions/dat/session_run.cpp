// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A session in a process of its own, played again in parts where it finds something.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "base/line_file.hpp"
#include "base/record/json_reader.hpp"
#include "base/record/json_writer.hpp"
#include "rules/catalogue.hpp"
#include "suite/cases/dat/framework/dat_line.hpp"
#include "suite/cases/dat/framework/dat_session.hpp"
#include "suite/iut/child_words.hpp"
#include "suite/sessions/dat/finding.hpp"
#include "suite/sessions/dat/session_file.hpp"
#include "suite/sessions/dat/session_text.hpp"
#include "suite/sessions/dat/shortening.hpp"

namespace suite::cases::dat {

namespace {

namespace sessions = suite::sessions::dat;
using Clock = std::chrono::steady_clock;

// How long it may take to shorten a session, and how often it is played for it.
constexpr auto shortening_time = std::chrono::seconds(45);
constexpr int most_plays = 300;

using Lines = std::vector<DatLine>;

Lines lines_of(const std::string& text) {
  Lines lines;
  for (std::size_t start = 0, end = 0; (end = text.find('\n', start)) != std::string::npos;
       start = end + 1) {
    const auto json = base::record::Json::parse(std::string_view(text).substr(start, end - start),
                                                nullptr, false);
    DatLine line;
    if (!json.is_discarded() && !base::record::from_json(json, line))
      lines.push_back(std::move(line));
  }
  return lines;
}

/// What it writes until it ends. It has a deadline of its own. What libraries say goes on to our standard
/// error: nobody else takes it, and a full pipe would hold the session up.
std::string words_of(const iut::ChildProcess& child) {
  std::string text;
  std::array<char, 65536> chunk{};
  std::array<pollfd, 2> ready{pollfd{.fd = child.channel(), .events = POLLIN, .revents = 0},
                              pollfd{.fd = child.errors(), .events = POLLIN, .revents = 0}};
  while (true) {
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return text;
    const ssize_t said = ::read(child.errors(), chunk.data(), chunk.size());
    if (said > 0)
      static_cast<void>(base::write_all(
          STDERR_FILENO, std::string_view(chunk.data(), static_cast<std::size_t>(said))));
    else if (said == 0)
      ready[1].fd = -1;  // poll() passes it over
    const ssize_t count = ::read(child.channel(), chunk.data(), chunk.size());
    if (count > 0)
      text.append(chunk.data(), static_cast<std::size_t>(count));
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
      return text;
  }
}

bool has_end(const Lines& lines) {
  return std::ranges::any_of(
      lines, [](const DatLine& line) { return line.end || line.died || line.hung; });
}

/// A crash that the process could not write of itself.
std::optional<DatLine> unwritten_crash(iut::ChildProcess& child) {
  constexpr int grace = 5'000;  // of milliseconds, between its last word and its end
  pollfd ended{.fd = child.exited(), .events = POLLIN, .revents = 0};
  while (::poll(&ended, 1, grace) < 0 && errno == EINTR) {
  }
  const auto how = child.reap();
  if (!how || !base::is_crash(how->signal)) return std::nullopt;
  return DatLine{.died = death_without_handler(how->signal)};
}

class SessionRun {
 public:
  SessionRun(std::string id, DatTarget target, int words)
      : id_(std::move(id)), target_(std::move(target)), words_(words) {}

  void run(const sessions::Session& session) {
    const auto start = Clock::now();
    const Lines lines = play(session, target_.deadline_scale);
    const std::string rule = broken_rule(lines);
    tell(lines);
    // One that hangs takes too long.
    if (!rule.empty() && Clock::now() - start < shortening_time / 2) shorten(session, rule);
    if (!has_end(lines)) return;  // without a result there is none to pass on
    const auto end =
        std::ranges::find_if(lines, [](const DatLine& line) { return line.end.has_value(); });
    // The death of a process is a finding.
    write({.end = end == lines.end() ? DatEnd{.verdict = Verdict::pass, .reason = {}} : end->end});
  }

 private:
  Lines play(const sessions::Session& session, double scale) const {
    std::vector<std::string> argv{
        "/proc/self/exe",        "--play", id_, "--session", "--ia", target_.ia, "--deadline-scale",
        fmt::format("{}", scale)};
    if (!target_.address.empty()) argv.insert(argv.end(), {"--address", target_.address});
    auto child = iut::ChildProcess::start(argv);
    if (!child) return {{.end = DatEnd{.verdict = Verdict::error, .reason = child.error()}}};
    iut::tell(*child, sessions::text_of(session) + '\n');
    Lines lines = lines_of(words_of(*child));
    if (!has_end(lines))
      if (auto crash = unwritten_crash(*child)) lines.push_back(std::move(*crash));
    return lines;
  }

  void write(const DatLine& line) const {
    if (base::write_all(words_, base::record::one_line(base::record::to_json(line)) + '\n') != 0)
      ::_exit(3);
  }

  /// The call that a process died in, or did not come back from: the rule that it is to succeed.
  static std::string rule_of(const DatDeath& death) {
    std::string rule = death.call.starts_with("dat_") ? "dat." + death.call.substr(4) : "";
    std::ranges::replace(rule, '_', '-');
    rule += ".success";
    return rules::find(rule) != nullptr ? rule : "dat.ia-open.success";
  }
  static std::optional<ExpectationRecord> death_in(const Lines& lines) {
    bool hostile = false;
    for (const DatLine& line : lines)
      if (line.step) hostile = *line.step == sessions::hostile_note;
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
      const auto& death = line->died ? line->died : line->hung;
      if (!death) continue;
      if (hostile && death->in_libdat2) return std::nullopt;
      ExpectationRecord record;
      record.rule = rule_of(*death);
      record.admissible = {"a return code"};
      record.actual =
          line->died ? fmt::format("{}: signal {} in {}", death->call, death->signal, death->place)
                     : fmt::format("{} did not return", death->call);
      record.judgement = hostile ? Judgement::advisory : Judgement::also_seen;
      return record;
    }
    return std::nullopt;
  }

  static std::string broken_rule(const Lines& lines) {
    for (const DatLine& line : lines)
      if (line.expectation && line.expectation->judgement == Judgement::also_seen)
        return line.expectation->rule;
    const auto death = death_in(lines);
    return death && death->judgement == Judgement::also_seen ? death->rule : "";
  }

  void tell(const Lines& lines) const {
    for (const DatLine& line : lines)
      if (line.expectation || line.step || line.deadline) write(line);
    for (const DatLine& line : lines)
      if (const auto& death = line.died ? line.died : line.hung; death && !death->backtrace.empty())
        write({.step = fmt::format("frames: {}", fmt::join(death->backtrace, " < "))});
    if (const auto death = death_in(lines)) write({.expectation = death});
  }

  void shorten(const sessions::Session& session, const std::string& rule) const {
    const auto latest = Clock::now() + shortening_time;
    int plays = 0;
    write({.deadline = std::chrono::milliseconds(2 * shortening_time).count()});
    const sessions::Session shortest =
        sessions::shortened(session, [&](const sessions::Session& tried) {
          return !tried.steps.empty() && ++plays <= most_plays && Clock::now() < latest &&
                 broken_rule(play(tried, target_.deadline_scale / 4)) == rule;
        });
    write({.step = fmt::format("shortened from {} steps to {}:", session.steps.size(),
                               shortest.steps.size())});
    for (const DatLine& line : play(shortest, target_.deadline_scale / 4))
      if (line.step) write({.step = "  " + *line.step});
    const sessions::SessionFile file{.session = shortest, .rules = {rule}};
    write({.session = base::record::to_json(file).dump(1) + "\n"});
  }

  std::string id_;
  DatTarget target_;
  int words_;
};

}  // namespace

void run_session(const std::string& id, const std::string& session, const DatTarget& target,
                 int words) {
  SessionRun(id, target, words).run(sessions::session_of(session).value_or(sessions::Session()));
}

}  // namespace suite::cases::dat
