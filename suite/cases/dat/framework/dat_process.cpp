// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/dat/framework/dat_process.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/epoll_loop.hpp"
#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/framework/body.hpp"
#include "suite/iut/child_process.hpp"
#include "suite/lower_tester/silence.hpp"

namespace suite::cases::dat {

namespace {

using base::EpollLoop;
using nlohmann::json;

constexpr auto grace = std::chrono::seconds(2);  ///< for the process to tell that its time is up
constexpr std::size_t longest_line = std::size_t{1} << 20, kept_stderr = 4096;

Verdict verdict_from(const std::string& word) {
  for (const Verdict verdict :
       {Verdict::pass, Verdict::fail, Verdict::inconclusive, Verdict::not_applicable})
    if (word == cases::name(verdict)) return verdict;
  return Verdict::error;
}
Judgement judgement_from(const std::string& word) {
  for (const Judgement judgement : {Judgement::pass, Judgement::advisory, Judgement::inconclusive})
    if (word == lower_tester::name(judgement)) return judgement;
  return Judgement::fail;
}

bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
         signal == SIGABRT;
}

/// The process of one case, read until it ends or its time is up.
class CaseProcess {
 public:
  CaseProcess(EpollLoop& loop, iut::ChildProcess child, std::function<void(const json&)> take)
      : loop_(loop), child_(std::move(child)), take_(std::move(take)) {
    loop_.watch(child_.channel(), EPOLLIN, [this](std::uint32_t) { read_words(); });
    loop_.watch(child_.errors(), EPOLLIN, [this](std::uint32_t) { read_errors(); });
  }
  ~CaseProcess() { stop_watching(); }
  CaseProcess(const CaseProcess&) = delete;
  CaseProcess& operator=(const CaseProcess&) = delete;

  /// False: the deadline has passed.
  bool run_until(base::TimePoint deadline) {
    return loop_.run_until(deadline, [this] { return ended_; });
  }
  [[nodiscard]] std::optional<std::string> nonsense() const { return nonsense_; }
  [[nodiscard]] const std::string& last_words() const { return errors_; }
  /// How it ended, once it has hung up; nothing if it does not end.
  std::optional<base::ExitStatus> ended() {
    std::optional<base::ExitStatus> how;
    loop_.watch(child_.exited(), EPOLLIN, [&](std::uint32_t) {
      how = child_.reap();
      if (how) loop_.unwatch(child_.exited());
    });
    loop_.run_until(loop_.now() + grace, [&] { return how.has_value(); });
    if (!how) loop_.unwatch(child_.exited());
    return how;
  }

 private:
  void stop_watching() {
    loop_.unwatch(child_.channel());
    loop_.unwatch(child_.errors());
  }
  void read_words() {
    std::array<char, 65536> chunk{};
    const ssize_t count = ::read(child_.channel(), chunk.data(), chunk.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
      ended_ = true;
      return stop_watching();
    }
    pending_.append(chunk.data(), static_cast<std::size_t>(count));
    std::size_t start = 0;
    for (std::size_t end = 0; (end = pending_.find('\n', start)) != std::string::npos;
         start = end + 1)
      take_line(std::string_view(pending_).substr(start, end - start));
    pending_.erase(0, start);
    if (pending_.size() > longest_line) nonsense_ = "an endless line";
    if (nonsense_) ended_ = true;
  }
  void take_line(std::string_view line) {
    if (line.empty() || nonsense_) return;
    try {
      take_(json::parse(line));
    } catch (const json::exception&) {
      nonsense_ = std::string(line.substr(0, 200));
    }
  }
  void read_errors() {
    std::array<char, 4096> chunk{};
    const ssize_t count = ::read(child_.errors(), chunk.data(), chunk.size());
    if (count == 0) loop_.unwatch(child_.errors());
    if (count <= 0) return;
    errors_.append(chunk.data(), static_cast<std::size_t>(count));
    if (errors_.size() > kept_stderr) errors_.erase(0, errors_.size() - kept_stderr);
  }

  EpollLoop& loop_;
  iut::ChildProcess child_;
  std::function<void(const json&)> take_;
  std::string pending_, errors_;
  std::optional<std::string> nonsense_;
  bool ended_ = false;
};

std::string frames_of(const json& word) {
  std::string text;
  for (const json& frame : word.value("backtrace", json::array())) {
    if (!text.empty()) text += " < ";
    text += frame.get<std::string>();
  }
  return text;
}

class DatProcessBody final : public Body {
 public:
  DatProcessBody(const DatCase& one, const Case& row, Environment& environment, Context& context,
                 CaseOutcome& outcome)
      : Body(row, environment, context, outcome), one_(one), outcome_(outcome) {}

  void body() override {
    auto* loop = dynamic_cast<EpollLoop*>(&environment().loop);
    if (loop == nullptr) stop(Verdict::not_applicable, "a DAT provider needs real time");
    if (!environment().dat) stop(Verdict::not_applicable, "the IUT is no DAT provider");
    auto child = iut::ChildProcess::start(command());
    if (!child) stop(Verdict::error, child.error());
    CaseProcess process(*loop, std::move(*child), [this](const json& word) { take(word); });
    latest_end_ = loop->now() + scaled(one_.row.deadline + grace);
    bool ended = process.run_until(latest_end_);
    // It may have said meanwhile that it takes longer.
    if (!ended && loop->now() < latest_end_) ended = process.run_until(latest_end_);
    if (process.nonsense())
      stop(Verdict::error, "rnic-dat-cases wrote nonsense: " + *process.nonsense());
    if (!ended) return fail_of_call(" hung, and did not heed its deadline", json::object());
    conclude(process);
  }

 private:
  std::chrono::nanoseconds scaled(std::chrono::nanoseconds time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time *
                                                                environment().deadline_scale);
  }
  std::vector<std::string> command() {
    const DatAccess& dat = *environment().dat;
    std::vector<std::string> argv = dat.program;
    argv.insert(argv.end(), {"--run", one_.row.id, "--ia", dat.ia, "--deadline-scale",
                             fmt::format("{}", environment().deadline_scale)});
    if (!dat.address.empty()) argv.insert(argv.end(), {"--address", dat.address});
    return argv;
  }

  void take(const json& word) {
    if (const auto made = word.find("expectation"); made != word.end()) {
      outcome_.expectations.push_back(
          {.rule = made->at("rule").get<std::string>(),
           .row = made->at("row").get<std::string>(),
           .admissible = made->at("admissible").get<std::vector<std::string>>(),
           .actual = made->at("actual").get<std::string>(),
           .hex = {},
           .judgement = cases::weighed(judgement_from(made->at("judgement").get<std::string>()),
                                       environment().strict),
           .direction = Direction::none,
           .at = context().now()});
    } else if (const auto row = word.find("row"); row != word.end()) {
      outcome_.rows.push_back({.name = row->at("name").get<std::string>(),
                               .verdict = verdict_from(row->at("verdict").get<std::string>()),
                               .reason = row->at("reason").get<std::string>()});
    } else if (const auto limit = word.find("deadline"); limit != word.end()) {
      const auto deadline = std::chrono::milliseconds(limit->get<std::int64_t>());
      latest_end_ = std::max(latest_end_, environment().loop.now() + deadline + scaled(grace));
    } else if (const auto step = word.find("step"); step != word.end()) {
      context().note(Direction::none, step->get<std::string>());
    } else {
      last_ = word;
    }
  }

  void conclude(CaseProcess& process) {
    if (const auto end = last_.find("end"); end != last_.end()) {
      const Verdict verdict = verdict_from(end->at("verdict").get<std::string>());
      if (verdict != Verdict::pass) stop(verdict, end->at("reason").get<std::string>());
      return;
    }
    if (const auto& said = process.last_words(); !said.empty())
      context().note(Direction::none, "it wrote: " + said);
    if (const auto hung = last_.find("hung"); hung != last_.end())
      return fail_of_call(did_not_return, *hung);
    if (const auto died = last_.find("died"); died != last_.end()) return judge_death(*died);
    // The kernel does not call a handler in a thread that blocks the signal that it raises.
    if (const auto ended = process.ended(); ended && is_crash(ended->signal))
      return judge_death({{"signal", ended->signal}, {"place", "a thread that blocks it"}});
    // It may be the way to its host that ended.
    stop(Verdict::error, fmt::format("{}: rnic-dat-cases ended without a last word; it wrote: {}",
                                     lower_tester::upper_tester_gone, process.last_words()));
  }

  // Who gave a handle that no consumer may give has no claim on what the provider makes of it, and
  // libdat2, which reads the handle before the provider sees it, is not the IUT.
  void judge_death(const json& died) {
    const std::string place = died.value("place", "");
    const std::string how =
        fmt::format(" was ended by {} in {}", base::signal_name(died.value("signal", 0)), place);
    if (place.find("libdat2") != std::string::npos)
      stop(Verdict::not_applicable, "libdat2 itself crashed on the handle");
    if (!one_.hostile) return fail_of_call(how, died);
    advise_that(false, "a return code", died.value("call", "the case") + how);
  }

  void fail_of_call(std::string_view how, const json& word) {
    const std::string frames = frames_of(word);
    if (!frames.empty()) context().note(Direction::none, "frames: " + frames);
    expect_that(false, "a return code", word.value("call", "the case").append(how));
  }

  const DatCase& one_;
  CaseOutcome& outcome_;
  base::TimePoint latest_end_{};
  json last_ = json::object();
};

}  // namespace

std::vector<Case> dat_rows() {
  static const std::vector<DatCase> table = all_dat_cases();
  std::vector<Case> rows;
  for (const DatCase& one : table) {
    Case row = one.row;
    row.make = [&one](const Case& self, Environment& environment, lower_tester::Context& context,
                      CaseOutcome& outcome) -> std::unique_ptr<Body> {
      return std::make_unique<DatProcessBody>(one, self, environment, context, outcome);
    };
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace suite::cases::dat
