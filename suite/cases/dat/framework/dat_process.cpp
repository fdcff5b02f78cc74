// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/dat/framework/dat_process.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/epoll_loop.hpp"
#include "base/exit_status.hpp"
#include "base/record/json_reader.hpp"
#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_line.hpp"
#include "suite/cases/dat/framework/dat_session.hpp"
#include "suite/cases/framework/body.hpp"
#include "suite/iut/child_words.hpp"
#include "suite/results/kept_session.hpp"

namespace suite::cases::dat {

namespace {

using base::EpollLoop;

/// The time for the process to report that its deadline has passed.
constexpr auto grace = std::chrono::seconds(2);
constexpr std::size_t longest_line = std::size_t{1} << 20, kept_stderr = 4096;

/// The process of one case, read until it ends or its deadline passes.
class CaseProcess {
 public:
  CaseProcess(EpollLoop& loop, iut::ChildProcess child, std::function<void(DatLine)> take)
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
    const auto json = base::record::Json::parse(line, nullptr, false);
    DatLine read;
    if (json.is_discarded() || base::record::from_json(json, read))
      nonsense_ = std::string(line.substr(0, 200));
    else
      take_(std::move(read));
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
  std::function<void(DatLine)> take_;
  std::string pending_, errors_;
  std::optional<std::string> nonsense_;
  bool ended_ = false;
};

class DatProcessBody final : public Body {
 public:
  DatProcessBody(std::shared_ptr<const DatCase> one, std::string session, const Case& row,
                 Environment& environment, Context& context, CaseOutcome& outcome)
      : Body(row, environment, context, outcome),
        one_(std::move(one)),
        session_(std::move(session)),
        outcome_(outcome) {}

  void body() override {
    auto* loop = dynamic_cast<EpollLoop*>(&environment().loop);
    if (loop == nullptr) stop(Verdict::not_applicable, "a DAT provider needs real time");
    if (!environment().dat)
      stop(Verdict::not_applicable,
           fmt::format("the IUT is no provider of {}", one_->in_kernel ? "kDAPL" : "uDAPL"));
    auto child = iut::ChildProcess::start(command());
    if (!child) stop(Verdict::error, child.error());
    iut::tell(*child, session_);
    CaseProcess process(*loop, std::move(*child), [this](DatLine line) { take(std::move(line)); });
    latest_end_ = loop->now() + scaled(one_->row.deadline + grace);
    bool ended = process.run_until(latest_end_);
    // It may have reported by then that it takes longer.
    if (!ended && loop->now() < latest_end_) ended = process.run_until(latest_end_);
    if (process.nonsense())
      stop(Verdict::error, "rnic-dat-cases wrote nonsense: " + *process.nonsense());
    if (!ended) return fail_of_call(" hung, and did not heed its deadline", {});
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
    argv.insert(argv.end(), {"--run", one_->row.id, "--ia", dat.ia, "--deadline-scale",
                             fmt::format("{}", environment().deadline_scale)});
    if (!dat.address.empty()) argv.insert(argv.end(), {"--address", dat.address});
    if (!session_.empty()) argv.emplace_back("--session");
    return argv;
  }

  void take(DatLine line) {
    if (line.expectation) {
      ExpectationRecord& made = outcome_.expectations.emplace_back(std::move(*line.expectation));
      made.judgement = cases::weighed(made.judgement, environment().strict);
      made.at = context().now();
    } else if (line.row) {
      outcome_.rows.push_back(std::move(*line.row));
    } else if (line.deadline) {
      const std::chrono::milliseconds deadline(*line.deadline);
      latest_end_ = std::max(latest_end_, environment().loop.now() + deadline + scaled(grace));
    } else if (line.step) {
      context().note(Direction::none, std::move(*line.step));
    } else if (line.session) {
      context().note(Direction::none, std::string(results::session_prefix) + *line.session);
    } else {
      last_ = std::move(line);
    }
  }

  void conclude(CaseProcess& process) {
    if (last_.end) {
      if (last_.end->verdict != Verdict::pass) stop(last_.end->verdict, last_.end->reason);
      return;
    }
    if (const auto& said = process.last_words(); !said.empty())
      context().note(Direction::none, "it wrote: " + said);
    if (last_.hung) return fail_of_call(" did not return before the case's deadline", *last_.hung);
    if (last_.died) return judge_death(*last_.died);
    if (const auto ended = process.ended(); ended && base::is_crash(ended->signal))
      return judge_death(death_without_handler(ended->signal));
    // The connection to its host may have ended instead.
    throw CaseStop{.verdict = Verdict::error,
                   .reason =
                       "the upper tester is gone: rnic-dat-cases ended without a result; "
                       "it wrote: " +
                       process.last_words(),
                   .silence = Silence::agent_gone};
  }

  // A consumer that gives a handle that no consumer may give cannot demand a certain reaction, and
  // libdat2, which reads the handle before the provider does, is not the IUT.
  void judge_death(const DatDeath& died) {
    const std::string how = fmt::format(" was {} in {}", base::ended_by(died.signal), died.place);
    if (died.in_libdat2) stop(Verdict::not_applicable, "libdat2 itself crashed on the handle");
    if (!one_->hostile) return fail_of_call(how, died);
    advise_that(false, "a return code", call_of(died) + how);
  }

  void fail_of_call(std::string_view how, const DatDeath& death) {
    if (!death.backtrace.empty())
      context().note(Direction::none, fmt::format("frames: {}", fmt::join(death.backtrace, " < ")));
    expect_that(false, "a return code", call_of(death) + std::string(how));
  }

  // A function that the case itself did not call was called by a handle that went out of scope.
  static std::string call_of(const DatDeath& death) {
    return death.call.empty() ? "the release of an object" : death.call;
  }

  std::shared_ptr<const DatCase> one_;
  std::string session_;
  CaseOutcome& outcome_;
  base::TimePoint latest_end_{};
  DatLine last_;
};

/// `session`: a line, which the process reads; empty: the process knows its case.
Case row_of(std::shared_ptr<const DatCase> one, std::string session) {
  Case row = one->row;
  row.make = [one = std::move(one), session = std::move(session)](
                 const Case& self, Environment& environment, lower_tester::Context& context,
                 CaseOutcome& outcome) -> std::unique_ptr<Body> {
    return std::make_unique<DatProcessBody>(one, session, self, environment, context, outcome);
  };
  return row;
}

}  // namespace

std::vector<Case> dat_rows() {
  std::vector<Case> rows;
  for (DatCase& one : all_dat_cases())
    rows.push_back(row_of(std::make_shared<const DatCase>(std::move(one)), {}));
  return rows;
}

std::optional<Case> dat_session_row(const std::string& id, std::string session) {
  if (session.empty() && !seed_of_session(id)) return std::nullopt;
  if (!session.empty()) session += '\n';
  return row_of(std::make_shared<const DatCase>(session_case(id)), std::move(session));
}

}  // namespace suite::cases::dat
