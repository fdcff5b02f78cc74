// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/event_run.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/epoll_loop.hpp"
#include "base/time_text.hpp"
#include "plugfest/host_watch.hpp"
#include "plugfest/run_state.hpp"
#include "suite/jobs/ending_signals.hpp"
#include "suite/jobs/worker_pool.hpp"

namespace plugfest {

namespace {

namespace jobs = suite::jobs;

/// How often to check whether a host that was away is back.
constexpr std::chrono::milliseconds between_questions{100};

std::vector<jobs::Job> jobs_of(const std::vector<Cell>& cells, const Journal& journal) {
  std::vector<jobs::Job> list;
  for (const Cell& cell : cells) {
    list.push_back(job_of(cell, list.size()));
    list.back().attempt = static_cast<std::uint32_t>(journal.attempts(cell.id)) + 1;
  }
  return list;
}

class EventRun final : jobs::WorkerPool::Client {
 public:
  EventRun(std::vector<Cell> cells, Journal& journal, const RunOptions& options,
           jobs::Progress& progress)
      : cells_(std::move(cells)),
        journal_(journal),
        options_(options),
        progress_(progress),
        schedule_(jobs_of(cells_, journal),
                  {.capacity = options.capacity, .slots = options.slots, .barrier = false}),
        pool_(loop_, schedule_, static_cast<unsigned>(options.slots),
              static_cast<jobs::WorkerPool::Client&>(*this)),
        signals_(loop_, [this](int) { interrupted_ = true; }),
        watch_(options.capacity.size(), options.pause) {
    progress_.expect_more(cells_.size());
    for (std::size_t number = 0; number < cells_.size(); ++number) waiting_.insert(number);
    for (std::size_t host = 0; host < options.capacity.size(); ++host)
      if (options.met.contains(name_of(host))) watch_.meet(host);
  }
  ~EventRun() override {
    if (next_question_) loop_.cancel(*next_question_);
  }
  EventRun(const EventRun&) = delete;
  EventRun& operator=(const EventRun&) = delete;

  std::expected<RunEnd, std::string> run();

 private:
  std::optional<jobs::Message> setup(std::uint32_t) override { return std::nullopt; }
  jobs::Order order(const jobs::Attempt& attempt) override;
  std::optional<jobs::WorkerReport> read(const jobs::Message& message) override {
    return read_report(message);
  }
  void attempt_started(const jobs::Attempt& attempt) override {
    progress_.started(cell_of(attempt).id);
    playing_[cell_of(attempt).id] = base::time_text(std::chrono::system_clock::now());
    waiting_.erase(attempt.job.number);
    tell_state();
  }
  void attempt_ended(jobs::Attempt attempt, std::any result) override {
    settle(attempt, std::any_cast<Outcome>(std::move(result)));
  }
  void worker_died(jobs::Attempt attempt, const jobs::WorkerDeath& death) override {
    settle(attempt, outcome_of(death, options_.time_limit(cell_of(attempt))));
  }
  void pool_changed() override { pump(); }
  bool start_failed(const std::string&) override { return false; }
  void pool_lost(const std::string& why) override { fail(why); }

  [[nodiscard]] const Cell& cell_of(const jobs::Attempt& attempt) const {
    return cells_[attempt.job.number];
  }
  void pump();
  [[nodiscard]] bool is_over() const {
    return interrupted_ || !failure_.empty() || schedule_.done() ||
           (others_come_ && playing_.empty());
  }
  [[nodiscard]] bool look_who_is_away();
  void tell_host(std::size_t host, bool aside);
  void tell_state();
  [[nodiscard]] const std::string& name_of(std::size_t host) const;
  void settle(const jobs::Attempt& attempt, Outcome outcome);
  void show(const Cell& cell, const CellRecord& record);
  void fail(std::string why) {
    if (failure_.empty()) failure_ = std::move(why);
  }

  const std::vector<Cell> cells_;
  Journal& journal_;
  const RunOptions& options_;
  jobs::Progress& progress_;
  base::EpollLoop loop_;
  jobs::Schedule schedule_;
  jobs::WorkerPool pool_;
  jobs::EndingSignals signals_;
  HostWatch watch_;
  std::set<std::size_t> aside_;                 ///< hosts that are down
  std::map<std::string, std::string> playing_;  ///< by cell: since when
  std::set<std::size_t> waiting_;               ///< cells that were not started, by number
  std::map<std::string, int> tries_;            ///< of cells, in this session
  std::optional<base::TimerId> next_question_;
  bool interrupted_ = false, others_come_ = false;
  std::string failure_;
};

bool EventRun::look_who_is_away() {
  bool somebody_is_away = false;
  for (std::size_t host = 0; host < schedule_.hosts(); ++host) {
    // The effect of a cell on a host is seen when the cell has ended.
    const bool waits = schedule_.has_waiting(host);
    const bool aside = waits && watch_.aside(host, loop_.now());
    if (aside != aside_.contains(host)) tell_host(host, aside);
    const bool away = aside || (waits && schedule_.idle(host) && options_.away(host));
    schedule_.set_away(host, away);
    somebody_is_away |= away;
  }
  return somebody_is_away;
}

const std::string& EventRun::name_of(std::size_t host) const {
  static const std::string nobody;
  const auto found = std::ranges::find_if(cells_, [host](const Cell& cell) {
    return cell.initiator == host || cell.responder == host;
  });
  if (found == cells_.end()) return nobody;
  return found->initiator == host ? found->initiator_name : found->responder_name;
}

void EventRun::tell_host(std::size_t host, bool aside) {
  if (aside)
    aside_.insert(host);
  else
    aside_.erase(host);
  tell_state();  // first: who reads the line may look at the page at once
  progress_.tell(aside ? fmt::format("{} is set aside: its agent does not start; it will be tried "
                                     "again",
                                     name_of(host))
                       : fmt::format("{} is tried again", name_of(host)));
}

void EventRun::tell_state() {
  RunState state{.time = base::time_text(std::chrono::system_clock::now()),
                 .playing = {},
                 .waiting = {},
                 .aside = {},
                 .remaining = progress_.remaining(schedule_.bound()),
                 .over = interrupted_ || !failure_.empty() || schedule_.done()};
  for (const auto& [cell, since] : playing_) state.playing.push_back({cell, since});
  for (const std::size_t number : waiting_ | std::views::take(most_waiting))
    state.waiting.push_back(cells_[number].id);
  for (const std::size_t host : aside_) state.aside.push_back(name_of(host));
  write_state(journal_.folder(), state);
}

void EventRun::pump() {
  others_come_ = others_come_ || options_.others_come();
  if (interrupted_ || !failure_.empty() || others_come_) return;
  if (look_who_is_away() && !next_question_)
    next_question_ = loop_.schedule(loop_.now() + between_questions, [this] {
      next_question_.reset();
      pump();
    });
  pool_.pump();
}

jobs::Order EventRun::order(const jobs::Attempt& attempt) {
  const Cell& cell = cell_of(attempt);
  const auto limit = options_.time_limit(cell);
  const auto task = [&]() -> Task {
    for (const std::size_t host : {cell.initiator, cell.responder})
      if (watch_.given_up(host))
        return Unplayable{
            fmt::format("{} was tried {} times, and its agent did not start; the same "
                        "command plays its cells when it is back",
                        name_of(host), HostWatch::most_trials)};
    return options_.task(cell, attempt.worker, static_cast<int>(attempt.job.attempt));
  };
  return {.message = message_of(task()), .silence = limit, .total = limit};
}

void EventRun::settle(const jobs::Attempt& attempt, Outcome outcome) {
  const Cell& cell = cell_of(attempt);
  options_.complete(cell, outcome);
  if (outcome.start.empty() && watch_.given_up(cell.initiator)) outcome.absent = Side::initiator;
  if (outcome.start.empty() && watch_.given_up(cell.responder)) outcome.absent = Side::responder;
  const CellRecord record{.id = cell.id,
                          .initiator = cell.initiator_name,
                          .responder = cell.responder_name,
                          .scenario = cell.scenario,
                          .repeat = cell.repeat,
                          .attempt = static_cast<int>(attempt.job.attempt),
                          .outcome = std::move(outcome)};
  playing_.erase(cell.id);
  if (auto added = journal_.add(record); !added) return fail(added.error());
  watch_.ended(cell, record.outcome, loop_.now());
  // What an entry of the event lists is settled, whatever it comes from.
  const bool listed = options_.note(outline_of(record)) == jobs::Progress::Note::known;
  const bool lost = watch_.again(cell, record.outcome, tries_[cell.id]++) && !listed;
  if (lost || options_.repeat(cell)) {
    jobs::Job again = attempt.job;
    ++again.attempt;
    schedule_.repeat_last(again);
    progress_.expect_more(1);
  }
  show(cell, record);
  tell_state();
  pump();
}

void EventRun::show(const Cell& cell, const CellRecord& record) {
  progress_.ended({.id = cell.id,
                   .verdict = std::string(name(record.outcome.verdict)),
                   .reason = record.outcome.reason,
                   .seconds = record.outcome.seconds,
                   .planned = cell.length,
                   .note = options_.note(outline_of(record))},
                  schedule_.bound());
}

std::expected<RunEnd, std::string> EventRun::run() {
  pump();
  loop_.run_until(base::TimePoint::max(), [this] { return is_over(); });
  const bool complete = schedule_.done();
  pool_.dismiss(!complete);
  progress_.close();
  playing_.clear();
  tell_state();
  if (!failure_.empty()) return std::unexpected(failure_);
  if (complete) return RunEnd::complete;
  return interrupted_ ? RunEnd::interrupted : RunEnd::others_come;
}

}  // namespace

jobs::Job job_of(const Cell& cell, std::size_t number) {
  return {.number = number,
          .hosts = jobs::Job::Hosts(cell.initiator, cell.responder),
          .length = cell.length};
}

std::vector<Cell> still_to_play(const std::vector<Cell>& cells, const Journal& journal,
                                const RunOptions& options) {
  std::vector<Cell> left;
  std::ranges::copy_if(cells, std::back_inserter(left), [&](const Cell& cell) {
    return !journal.has(cell.id) || options.rerun(cell);
  });
  return left;
}

std::expected<RunEnd, std::string> run_cells(const std::vector<Cell>& cells, Journal& journal,
                                             const RunOptions& options, jobs::Progress& progress) {
  return EventRun(still_to_play(cells, journal, options), journal, options, progress).run();
}

}  // namespace plugfest
